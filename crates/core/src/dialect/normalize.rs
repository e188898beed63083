//! From bytes and type names to values. Each rule has a test where it hides noise and one where it must not hide a bug.

use crate::value::{Number, Value};

/// SQLite types values, not columns. So a cell is one byte for the storage class and the value's text: `i` integer, `r`
/// real, `t` text, `b` blob (raw bytes).
pub(super) fn sqlite(_type_name: &str, bytes: &[u8]) -> Value {
    let Some((tag, content)) = bytes.split_first() else { return Value::Text(String::new()) };
    match tag {
        b'b' => Value::Bytes(content.to_vec()),
        b'i' | b'r' => number_or_text(content),
        _ => text(content),
    }
}

/// PostgreSQL's text format, by type name.
pub(super) fn postgres(type_name: &str, bytes: &[u8]) -> Value {
    match type_name {
        "bool" => match bytes {
            b"t" => Value::Bool(true),
            b"f" => Value::Bool(false),
            other => text(other),
        },
        "int2" | "int4" | "int8" | "oid" | "numeric" | "float4" | "float8" => number_or_text(bytes),
        "bytea" => hex_bytes(bytes).map_or_else(|| text(bytes), Value::Bytes),
        // char(n) pads with blanks that mean nothing, in comparisons and everywhere else.
        "bpchar" => match text(bytes) {
            Value::Text(padded) => Value::Text(padded.trim_end_matches(' ').to_string()),
            other => other,
        },
        _ => text(bytes),
    }
}

/// A number; `NaN` and `Infinity` stay text.
pub(super) fn number_or_text(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes).ok().and_then(Number::parse) {
        Some(number) => Value::Number(number),
        None => text(bytes),
    }
}

/// Text; bytes that are not UTF-8 stay bytes.
pub(super) fn text(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => Value::Text(text.to_string()),
        Err(_) => Value::Bytes(bytes.to_vec()),
    }
}

/// `\x00ff`.
fn hex_bytes(bytes: &[u8]) -> Option<Vec<u8>> {
    let digits = std::str::from_utf8(bytes).ok()?.strip_prefix("\\x")?;
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailing_zeros_are_noise_but_digits_are_not() {
        assert_eq!(postgres("numeric", b"1.50"), postgres("numeric", b"1.5"));
        assert_ne!(postgres("numeric", b"1.50"), postgres("numeric", b"1.51"));
        assert_ne!(postgres("numeric", b"0.1"), postgres("float8", b"0.10000000000000001"));
    }

    #[test]
    fn a_number_in_a_text_column_stays_text() {
        assert_eq!(postgres("text", b"1.50"), Value::text("1.50"));
        assert_ne!(postgres("text", b"1.50"), postgres("text", b"1.5"));
        assert_ne!(sqlite("", b"t1"), sqlite("", b"i1"));
    }

    #[test]
    fn padding_is_noise_in_char_but_not_in_varchar() {
        assert_eq!(postgres("bpchar", b"x  "), postgres("bpchar", b"x"));
        assert_ne!(postgres("varchar", b"x  "), postgres("varchar", b"x"));
        assert_ne!(postgres("bpchar", b"  x"), postgres("bpchar", b"x"));
    }

    #[test]
    fn truth_values_and_bytes_have_their_types() {
        assert_eq!(postgres("bool", b"t"), Value::Bool(true));
        assert_eq!(postgres("text", b"t"), Value::text("t"));
        assert_eq!(postgres("bytea", b"\\x00ff"), Value::Bytes(vec![0, 255]));
        assert_eq!(postgres("bytea", b"\\x0"), Value::text("\\x0"));
        assert_eq!(sqlite("", b"b\x00\xff"), Value::Bytes(vec![0, 255]));
    }

    #[test]
    fn what_is_not_a_number_is_not_hidden() {
        assert_eq!(postgres("float8", b"NaN"), Value::text("NaN"));
        assert_eq!(sqlite("", b"r1e999999"), Value::text("1e999999"));
    }
}
