//! The language of MySQL and MariaDB; cells are in the text protocol.

use super::normalize::{number_or_text, text};
use super::{Construct, Dialect, Spelling, push_quoted, spellings};
use crate::engine::Version;
use crate::value::{Number, Value};

/// The language of MySQL and MariaDB, with their default `sql_mode`.
#[derive(Debug)]
pub struct MySql;

impl Dialect for MySql {
    fn name(&self) -> &'static str {
        "mysql"
    }

    fn push_literal(&self, value: &Value, sql: &mut String) {
        match value {
            // There are no U& strings, and a backslash begins an escape.
            Value::Text(text) => push_quoted(text, b"'\\", sql),
            other => other.push_to(sql),
        }
    }

    fn normalize(&self, type_name: &str, bytes: &[u8]) -> Value {
        match type_name.strip_suffix(" unsigned").unwrap_or(type_name) {
            "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "decimal" | "float" | "double" | "year" => {
                number_or_text(bytes)
            }
            "bit" => bits(bytes),
            "binary" | "varbinary" | "blob" | "geometry" | "vector" => Value::Bytes(bytes.to_vec()),
            _ => text(bytes),
        }
    }

    fn counts_changed_rows(&self) -> bool {
        true
    }

    fn spelling(&self, construct: Construct, version: &Version) -> Option<Spelling> {
        spellings::find(spellings::MYSQL, construct, version)
    }
}

/// `BIT(n)` comes as its bytes, the highest first. It has at most 64 bits.
fn bits(bytes: &[u8]) -> Value {
    if bytes.len() > 8 {
        return Value::Bytes(bytes.to_vec());
    }
    let number = bytes.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    Number::parse(&number.to_string()).map_or_else(|| Value::Bytes(bytes.to_vec()), Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(type_name: &str, bytes: &[u8]) -> Value {
        MySql.normalize(type_name, bytes)
    }

    #[test]
    fn how_a_number_is_padded_is_noise_but_its_digits_are_not() {
        assert_eq!(value("decimal", b"1.50"), value("decimal", b"1.5"));
        assert_eq!(value("int unsigned", b"00042"), value("int", b"42"));
        assert_eq!(value("double", b"1e10"), value("bigint", b"10000000000"));
        assert_ne!(value("decimal", b"1.50"), value("decimal", b"1.51"));
        assert_ne!(value("bigint unsigned", b"18446744073709551615"), value("bigint", b"-1"));
    }

    #[test]
    fn a_number_in_a_text_column_stays_text() {
        assert_eq!(value("varchar", b"1.50"), Value::text("1.50"));
        assert_ne!(value("varchar", b"1.50"), value("varchar", b"1.5"));
        assert_ne!(value("text", b"x "), value("text", b"x"));
    }

    #[test]
    fn bits_are_numbers_and_bytes_are_bytes() {
        assert_eq!(value("bit", &[1, 0]), Value::int(256));
        assert_eq!(value("bit", &[255; 8]), Value::Number(Number::parse("18446744073709551615").unwrap()));
        assert_ne!(value("bit", b"1"), value("tinyint", b"1"));
        assert_eq!(value("blob", b"1"), Value::Bytes(vec![b'1']));
        assert_ne!(value("varbinary", b"a"), value("varchar", b"a"));
    }

    #[test]
    fn literals_survive_the_escapes_of_the_language() {
        assert_eq!(MySql.literal(&Value::text("it's \\ \n")), "'it''s \\\\ \n'");
        assert_eq!(MySql.literal(&Value::Bytes(vec![0, 255])), "X'00ff'");
        assert_eq!(MySql.literal(&Value::Bool(true)), "TRUE");
    }
}
