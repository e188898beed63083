//! What a type name means: enough to make values of the type.

use std::fmt;

use crate::value::Value;

/// A type, as written and as understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnType {
    /// As written, on one line.
    pub name: String,
    /// What kind of values it has.
    pub kind: TypeKind,
    /// The first number in parentheses: a length, or how many digits.
    pub length: Option<u32>,
    /// The second number: how many of them stand behind the point.
    pub scale: Option<u32>,
    /// The values of an enumeration.
    pub values: Vec<String>,
}

/// A kind of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeKind {
    /// Whole numbers.
    Integer,
    /// Exact decimals.
    Decimal,
    /// Floating-point numbers.
    Float,
    /// Truth values.
    Boolean,
    /// Strings.
    Text,
    /// Byte strings.
    Bytes,
    /// Days.
    Date,
    /// Times of day.
    Time,
    /// Days with a time.
    Timestamp,
    /// One of a few strings.
    Enumeration,
    /// Anything else.
    Other,
}

/// Type names by their first word, with what they mean.
#[rustfmt::skip]
const KINDS: &[(TypeKind, &[&str])] = &[
    (TypeKind::Integer, &["int", "integer", "bigint", "smallint", "tinyint", "mediumint", "int2", "int4", "int8",
        "serial", "bigserial", "smallserial", "serial4", "serial8", "year"]),
    (TypeKind::Decimal, &["decimal", "numeric", "dec", "fixed", "money", "number"]),
    (TypeKind::Float, &["float", "double", "real", "float4", "float8"]),
    (TypeKind::Boolean, &["bool", "boolean"]),
    (TypeKind::Text, &["char", "varchar", "character", "text", "tinytext", "mediumtext", "longtext", "nchar",
        "nvarchar", "string", "bpchar", "name", "uuid", "clob"]),
    (TypeKind::Bytes, &["blob", "tinyblob", "mediumblob", "longblob", "binary", "varbinary", "bytea"]),
    (TypeKind::Date, &["date"]),
    (TypeKind::Time, &["time", "timetz"]),
    (TypeKind::Timestamp, &["timestamp", "timestamptz", "datetime"]),
    (TypeKind::Enumeration, &["enum"]),
];

impl ColumnType {
    /// Reads a type name.
    pub fn parse(text: &str) -> ColumnType {
        let name = crate::sql::one_line(text);
        let lower = name.to_lowercase();
        let word = lower.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
        let is_array = lower.trim_end().ends_with(']');
        let kind = KINDS.iter().find(|(_, words)| words.contains(&word) && !is_array);
        let kind = kind.map_or(TypeKind::Other, |(kind, _)| *kind);
        let arguments: Vec<String> = match (name.find('('), name.rfind(')')) {
            (Some(open), Some(close)) if open < close => arguments(&name[open + 1..close]),
            _ => Vec::new(),
        };
        let number = |at: usize| arguments.get(at).and_then(|argument| argument.parse().ok());
        let values = if kind == TypeKind::Enumeration { arguments.clone() } else { Vec::new() };
        ColumnType { kind, length: number(0), scale: number(1), values, name }
    }
}

/// Types whose values are written as strings of a form of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextForm {
    Uuid,
    Json,
    Array,
    Interval,
    Address,
    Range,
    Bits,
}

/// Type names by their first word, with the form of their values.
const FORMS: &[(TextForm, &[&str])] = &[
    (TextForm::Uuid, &["uuid", "uniqueidentifier"]),
    (TextForm::Json, &["json", "jsonb"]),
    (TextForm::Interval, &["interval"]),
    (TextForm::Address, &["inet", "cidr", "inet4"]),
    (TextForm::Range, &["int4range", "int8range", "numrange"]),
    (TextForm::Bits, &["bit", "varbit"]),
];

impl ColumnType {
    fn form(&self) -> Option<TextForm> {
        let lower = self.name.to_lowercase();
        let word = lower.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
        if lower.trim_end().ends_with(']') {
            return Some(TextForm::Array);
        }
        FORMS.iter().find(|(_, words)| words.contains(&word)).map(|(form, _)| *form)
    }

    /// True if not every string is a value: a UUID, JSON, an array.
    pub fn has_form(&self) -> bool {
        self.form().is_some()
    }

    /// The value of that number of a type whose strings have a form of their own; another one for each number.
    pub fn formed(&self, number: usize) -> Option<Value> {
        let text = match self.form()? {
            TextForm::Uuid => format!("00000000-0000-4000-8000-{number:012x}"),
            TextForm::Json => format!("{{\"n\": {number}}}"),
            TextForm::Array => "{}".to_string(),
            TextForm::Interval => format!("{} days", number + 1),
            TextForm::Address => format!("10.{}.{}.{}", number >> 16 & 255, number >> 8 & 255, number & 255),
            TextForm::Range => format!("[{},{})", number, number + 1),
            TextForm::Bits => {
                let width = self.length.unwrap_or(1) as usize;
                let bits = format!("{number:0width$b}");
                bits[bits.len() - width..].to_string()
            }
        };
        Some(Value::Text(text))
    }
}

/// The arguments of a type; strings without their quotes.
fn arguments(list: &str) -> Vec<String> {
    let tokens = crate::sql::tokens(list);
    let is_argument = |token: &&crate::sql::Token<'_>| !token.is_symbol(",");
    tokens.iter().filter(is_argument).map(|token| token.text.trim_matches('\'').replace("''", "'")).collect()
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_names_are_understood() {
        for (text, kind, length, scale) in [
            ("INT", TypeKind::Integer, None, None),
            ("int(11) unsigned", TypeKind::Integer, Some(11), None),
            ("DECIMAL(12, 2)", TypeKind::Decimal, Some(12), Some(2)),
            ("double  precision", TypeKind::Float, None, None),
            ("character varying(20)", TypeKind::Text, Some(20), None),
            ("timestamp without time zone", TypeKind::Timestamp, None, None),
            ("text[]", TypeKind::Other, None, None),
            ("ENUM('a','it''s')", TypeKind::Enumeration, None, None),
            ("geometry", TypeKind::Other, None, None),
            ("", TypeKind::Other, None, None),
        ] {
            let found = ColumnType::parse(text);
            assert_eq!((found.kind, found.length, found.scale), (kind, length, scale), "{text}");
        }
        assert_eq!(ColumnType::parse("ENUM('a','it''s')").values, ["a", "it's"]);
    }

    #[test]
    fn values_with_a_form_have_it() {
        for (name, text) in [
            ("uuid", "00000000-0000-4000-8000-00000000000a"),
            ("jsonb", "{\"n\": 10}"),
            ("integer[]", "{}"),
            ("inet", "10.0.0.10"),
            ("bit(3)", "010"),
        ] {
            assert_eq!(ColumnType::parse(name).formed(10), Some(Value::text(text)), "{name}");
        }
        assert_eq!(ColumnType::parse("varchar(3)").formed(10), None);
    }
}
