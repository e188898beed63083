//! Values as people write and compare them.
//!
//! An [`Outcome`](crate::outcome::Outcome) keeps what came over the wire: bytes and type names. A [`Value`] is what a
//! dialect makes of them when two outcomes are compared, and what a case file says with its literals. Numbers are
//! exact decimals, so `1`, `1.0` and `10e-1` are one value and no digit is lost.

mod number;

use std::fmt::{self, Write as _};

pub use number::Number;

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

    /// Appends the literal of a case file; what `to_string` gives.
    pub fn push_to(&self, text: &mut String) {
        match self {
            Value::Null => text.push_str("NULL"),
            Value::Number(number) => number.push_to(text),
            other => write!(text, "{other}").expect("a string takes all there is"),
        }
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
    fn values_print_as_literals() {
        assert_eq!(Value::text("it's").to_string(), "'it''s'");
        assert_eq!(Value::Bytes(vec![0, 255]).to_string(), "X'00ff'");
        assert_eq!(Value::text("a\nb\\'").to_string(), "U&'a\\000Ab\\\\'''");
    }
}
