//! How values come out of a model.

use super::symbol::{FREE_CODE, LAST_CODE, Shape, Symbol, Symbols};
use crate::program::schema::{ColumnType, TypeKind};
use crate::solve::Valuation;
use crate::value::{Number, Value};

impl Symbols {
    /// What a symbol of a type is; `None` if it has no value here.
    pub(crate) fn value(&self, symbol: &Symbol, column_type: &ColumnType, values: &Valuation) -> Option<Value> {
        if values.truth(symbol.null) == Some(true) {
            return Some(Value::Null);
        }
        match symbol.shape {
            Shape::Number { digits, scale } => {
                let digits = values.integer(digits)?;
                Number::parse(&format!("{digits}e-{scale}")).map(Value::Number)
            }
            Shape::Truth(truth) => values.truth(truth).map(Value::Bool),
            Shape::Code(code) => {
                let code = usize::try_from(values.integer(code)?).ok()?;
                Some(match self.constants.get(code) {
                    Some(constant) if fits(constant, column_type) => constant.clone(),
                    // Nobody can mean this constant: the column cannot hold it.
                    Some(_) => other_value(column_type, LAST_CODE as usize + 1 + code, &self.constants),
                    None => other_value(column_type, code, &self.constants),
                })
            }
            Shape::Opaque => None,
        }
    }
}

/// Whether a column can hold a constant.
fn fits(constant: &Value, column_type: &ColumnType) -> bool {
    let Value::Text(text) = constant else { return true };
    if column_type.has_form() {
        return text.contains(|c: char| !c.is_ascii_alphabetic());
    }
    match column_type.kind {
        TypeKind::Date | TypeKind::Timestamp => text.len() >= 8 && text.starts_with(|c: char| c.is_ascii_digit()),
        TypeKind::Time => text.contains(':') && text.starts_with(|c: char| c.is_ascii_digit()),
        TypeKind::Text => column_type.length.is_none_or(|length| text.chars().count() <= length as usize),
        _ => true,
    }
}

/// A value of a type that is none of the constants; another one for each code.
fn other_value(column_type: &ColumnType, code: usize, constants: &[Value]) -> Value {
    let code = code.checked_sub(FREE_CODE as usize).unwrap_or(code);
    let length = column_type.length.map_or(usize::MAX, |length| length as usize);
    let candidates = (0..=constants.len()).map(|round| {
        let at = code + round * 1_000;
        if let Some(value) = column_type.formed(at) {
            return value;
        }
        match column_type.kind {
            TypeKind::Date => Value::text(day(at)),
            TypeKind::Time => Value::text(time(at)),
            TypeKind::Timestamp => Value::text(format!("{} {}", day(at), time(at))),
            _ => Value::text(word(at).chars().take(length).collect::<String>()),
        }
    });
    let mut candidates: Vec<Value> = candidates.filter(|value| !constants.contains(value)).collect();
    if candidates.is_empty() { Value::text(word(code)) } else { candidates.swap_remove(0) }
}

/// `a`, `b`, …, `z`, `ba`, …
fn word(at: usize) -> String {
    let letter = char::from(b'a' + (at % 26) as u8);
    if at < 26 { letter.to_string() } else { format!("{}{letter}", word(at / 26)) }
}

/// Months of 28 days are enough.
fn day(at: usize) -> String {
    format!("{:04}-{:02}-{:02}", 2024 + at / (12 * 28), at / 28 % 12 + 1, at % 28 + 1)
}

fn time(at: usize) -> String {
    format!("{:02}:{:02}:00", at / 60 % 24, at % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_gets_what_it_can_hold() {
        for (type_name, text, fits_it) in [
            ("TIME", "BC", false),
            ("TIME", "10:30:00", true),
            ("DATE", "2024-02-01", true),
            ("TIMESTAMP", "x", false),
            ("CHAR(1)", "BC", false),
            ("CHAR(2)", "BC", true),
            ("TEXT", "BC", true),
        ] {
            assert_eq!(fits(&Value::text(text), &ColumnType::parse(type_name)), fits_it, "{text} in {type_name}");
        }
    }
}
