//! Values as people write and compare them.
//!
//! An [`Outcome`](crate::outcome::Outcome) keeps what came over the wire: bytes and type names. A [`Value`] is what a
//! dialect makes of them when two outcomes are compared, and what a case file says with its literals. Numbers are
//! exact: they are kept as canonical decimal text, so `1`, `1.0` and `10e-1` are one value and no digit is lost.

use std::fmt;

/// One value, independent of any engine's types.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// SQL's NULL. Two NULLs are equal here: this is a comparison of observations, not of SQL expressions.
    Null,
    /// A truth value, on engines that have the type.
    Bool(bool),
    /// A finite number of any SQL numeric type.
    Number(Number),
    /// Text; also dates, times and every other type whose text form is canonical.
    Text(String),
    /// Raw bytes.
    Bytes(Vec<u8>),
}

impl Value {
    /// A whole number.
    pub fn int(value: i64) -> Value {
        Value::Number(Number::from(value))
    }

    /// A text value.
    pub fn text(value: impl Into<String>) -> Value {
        Value::Text(value.into())
    }
}

/// A finite decimal number in canonical text form.
///
/// Invariant: an optional `-`, digits without leading zeros, and optionally a point followed by digits that do not
/// end in zero. Zero is `0`, never `-0`. So equality of numbers is equality of texts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Number(String);

/// Beyond this exponent a number is not expanded to digits; no SQL type holds such a value.
const EXPONENT_MAX: i64 = 2_000;

impl Number {
    /// Reads `12`, `-0.50`, `1e3`, `.5`; `None` for anything else (also for `NaN` and infinities).
    pub fn parse(text: &str) -> Option<Number> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], unsigned[at + 1..].parse::<i64>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        if exponent.abs() > EXPONENT_MAX {
            return None;
        }
        Some(Number::canonical(negative, whole, fraction, exponent))
    }

    fn canonical(negative: bool, whole: &str, fraction: &str, exponent: i64) -> Number {
        let digits = format!("{whole}{fraction}");
        let point = whole.len() as i64 + exponent;
        let (mut int_part, mut frac_part) = if point <= 0 {
            (String::new(), "0".repeat(point.unsigned_abs() as usize) + &digits)
        } else if point as usize >= digits.len() {
            (digits.clone() + &"0".repeat(point as usize - digits.len()), String::new())
        } else {
            (digits[..point as usize].to_string(), digits[point as usize..].to_string())
        };
        int_part = int_part.trim_start_matches('0').to_string();
        frac_part = frac_part.trim_end_matches('0').to_string();
        if int_part.is_empty() {
            int_part.push('0');
        }
        let zero = int_part == "0" && frac_part.is_empty();
        let sign = if negative && !zero { "-" } else { "" };
        let point = if frac_part.is_empty() { "" } else { "." };
        Number(format!("{sign}{int_part}{point}{frac_part}"))
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn split(&self) -> (bool, &str, &str) {
        let negative = self.0.starts_with('-');
        let unsigned = self.0.trim_start_matches('-');
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        (negative, whole, fraction)
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> std::cmp::Ordering {
        let (a_negative, a_whole, a_fraction) = self.split();
        let (b_negative, b_whole, b_fraction) = other.split();
        let magnitude = (a_whole.len(), a_whole, a_fraction).cmp(&(b_whole.len(), b_whole, b_fraction));
        match (a_negative, b_negative) {
            (false, false) => magnitude,
            (true, true) => magnitude.reverse(),
            (true, false) => std::cmp::Ordering::Less,
            (false, true) => std::cmp::Ordering::Greater,
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Number {
        Number(value.to_string())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The literal of a case file: `NULL`, `TRUE`, `12.5`, `'it''s'`, `X'00ff'`; text with control characters, which would
/// not fit on the line of an expectation, as SQL's `U&'one\000Atwo'`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("NULL"),
            Value::Bool(true) => f.write_str("TRUE"),
            Value::Bool(false) => f.write_str("FALSE"),
            Value::Number(number) => number.fmt(f),
            Value::Text(text) if text.chars().any(char::is_control) => write_escaped(f, text),
            Value::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
            Value::Bytes(bytes) => {
                f.write_str("X'")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str("'")
            }
        }
    }
}

fn write_escaped(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("U&'")?;
    for c in text.chars() {
        match c {
            '\'' => f.write_str("''")?,
            '\\' => f.write_str("\\\\")?,
            c if c.is_control() => write!(f, "\\{:04X}", u32::from(c))?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_canonical() {
        let check = |input: &str, expect: Option<&str>| {
            assert_eq!(Number::parse(input).map(|n| n.to_string()).as_deref(), expect, "{input}");
        };
        check("1", Some("1"));
        check("+007", Some("7"));
        check("1.50", Some("1.5"));
        check("-0.0", Some("0"));
        check(".5", Some("0.5"));
        check("1e3", Some("1000"));
        check("12.5e-3", Some("0.0125"));
        check("1.25e1", Some("12.5"));
        check("", None);
        check(".", None);
        check("NaN", None);
        check("1e99999999", None);
        check("0x10", None);
    }

    #[test]
    fn numbers_order_by_value_not_by_text() {
        let mut numbers: Vec<Number> =
            ["10", "9", "-1", "-10", "0.5", "0.25", "0"].iter().map(|t| Number::parse(t).unwrap()).collect();
        numbers.sort();
        let texts: Vec<&str> = numbers.iter().map(Number::as_str).collect();
        assert_eq!(texts, ["-10", "-1", "0", "0.25", "0.5", "9", "10"]);
    }

    #[test]
    fn values_print_as_literals() {
        assert_eq!(Value::text("it's").to_string(), "'it''s'");
        assert_eq!(Value::Bytes(vec![0, 255]).to_string(), "X'00ff'");
        assert_eq!(Value::text("a\nb\\'").to_string(), "U&'a\\000Ab\\\\'''");
    }
}
