//! Values of columns, new ones and as literals.
//!
//! Values come from small domains, so that transactions meet: ten whole numbers, a dozen texts, five days. A few lie at
//! the edges of their type. All of them look the same wherever they are printed: numbers with decimals are quarters,
//! which floats hold exactly; texts consist of small letters, which every collation compares alike (edges apart, which a
//! column has only where all targets agree on them); dates and times are written as ISO 8601 says.

use super::features;
use super::language::Language;
use super::model::Model;
use super::random::Random;
use super::schema::{Column, Kind};
use crate::dialect::Construct;
use crate::value::{Number, Value};

/// How often a value is tried before a column's CHECK is given one that meets it for certain.
const ATTEMPTS: usize = 8;

/// A new value for a column: one that it accepts, as far as the column alone decides.
pub fn fresh(column: &Column, model: &Model, random: &mut Random) -> Value {
    if !column.not_null && model.flag(&features::NULL, random) {
        return Value::Null;
    }
    let candidate = |random: &mut Random| {
        let extreme = model.flag(&features::EXTREME, random).then(|| random.pick(&column.extremes)).flatten();
        extreme.cloned().unwrap_or_else(|| ordinary(column.kind, model, random))
    };
    let Some(check) = &column.check else { return candidate(random) };
    let found = (0..ATTEMPTS).map(|_| candidate(random)).find(|value| check.holds(value));
    found.unwrap_or_else(|| check.witness().clone())
}

/// An ordinary value of a kind.
pub(super) fn ordinary(kind: Kind, model: &Model, random: &mut Random) -> Value {
    match kind {
        Kind::Integer => Value::int(model.number(&features::INTEGER, random)),
        Kind::Decimal | Kind::Float => quarters(model.number(&features::INTEGER, random)),
        Kind::Text => {
            let length = model.count(&features::LENGTH, random);
            Value::Text((0..length).map(|_| letter(model, random)).collect())
        }
        Kind::Date => Value::Text(date(model.number(&features::DAY, random))),
        Kind::Time => Value::Text(time(model.number(&features::DAY, random))),
        Kind::Timestamp => {
            let day = date(model.number(&features::DAY, random));
            Value::Text(format!("{day} {}", time(model.number(&features::DAY, random))))
        }
        Kind::Bytes => {
            let length = model.count(&features::LENGTH, random);
            Value::Bytes((0..length).map(|_| *random.pick(&[0x00, 0x01, 0xff]).unwrap_or(&0)).collect())
        }
        Kind::Boolean => Value::Bool(random.chance(1, 2)),
    }
}

fn letter(model: &Model, random: &mut Random) -> char {
    let letters = model.count(&features::LETTERS, random).clamp(1, 26);
    char::from(b'a' + random.below(letters) as u8)
}

fn quarters(number: i64) -> Value {
    let sign = if number < 0 { "-" } else { "" };
    let (whole, rest) = (number.unsigned_abs() / 4, number.unsigned_abs() % 4 * 25);
    let text = format!("{sign}{whole}.{rest:02}");
    Number::parse(&text).map_or(Value::Null, Value::Number)
}

/// A day of the year 2024, from 0.
fn date(day: i64) -> String {
    const MONTHS: [i64; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut left = day.clamp(0, 365);
    let mut month = 0;
    while month < 11 && left >= MONTHS[month] {
        left -= MONTHS[month];
        month += 1;
    }
    format!("2024-{:02}-{:02}", month + 1, left + 1)
}

/// A minute of the day, from 0.
fn time(minute: i64) -> String {
    format!("{:02}:{:02}:00", minute / 60 % 24, minute % 60)
}

/// What no engine tells apart: some collations ignore case, some blanks at the end.
pub(super) fn folded(value: &Value) -> Value {
    match value {
        Value::Text(text) => Value::Text(text.trim_end_matches(' ').to_ascii_lowercase()),
        other => other.clone(),
    }
}

/// A value of a kind as all targets write it. Texts that are generated contain no backslash, which MySQL would take for
/// an escape.
pub fn literal(kind: Kind, value: &Value, language: &Language) -> String {
    match value {
        Value::Bytes(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{}{digits}'", language.spelling(Construct::BytesLiteral).unwrap_or("X'"))
        }
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Number(number) if kind == Kind::Boolean => {
            if *number == Number::from(0) { "FALSE" } else { "TRUE" }.into()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_minutes_are_written_as_iso_8601_says() {
        let days = [0, 30, 31, 59, 60, 365, 400].map(date);
        let expect = ["01-01", "01-31", "02-01", "02-29", "03-01", "12-31", "12-31"].map(|day| format!("2024-{day}"));
        assert_eq!(days, expect);
        assert_eq!([0, 61, 365].map(time), ["00:00:00", "01:01:00", "06:05:00"]);
    }

    #[test]
    fn quarters_are_exact() {
        let texts = [0, 1, -1, 9, -8].map(|number| quarters(number).to_string());
        assert_eq!(texts, ["0", "0.25", "-0.25", "2.25", "-2"]);
    }

    #[test]
    fn keys_that_some_collation_takes_for_equal_are_equal() {
        assert_eq!(folded(&Value::text("A ")), folded(&Value::text("a")));
        assert_ne!(folded(&Value::text(" a")), folded(&Value::text("a")));
        assert_ne!(folded(&Value::Null), folded(&Value::text("")));
    }
}
