//! A value of a result in JSON.
//!
//! | value | JSON |
//! |---|---|
//! | NULL, truth values, text | `null`, `true`, `"text"` |
//! | a number that every JSON reader keeps exactly | `10`, `0.5` |
//! | any other number | `{"number": "12345678901234567890"}` |
//! | bytes | `{"bytes": "00ff"}` |
//!
//! JSON readers commonly hold numbers as 64-bit floats, and a tool that judges databases must not lose a digit on the
//! way to its own report.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value as Json;
use txloom_core::value::{Number, Value};

/// Beyond this magnitude (2^53), neighbouring integers are the same 64-bit float.
const EXACT_INTEGER_MAX: u64 = 1 << 53;

/// A decimal number of so many characters comes back from a 64-bit float with the same digits.
const EXACT_DECIMAL_LENGTH_MAX: usize = 15;

/// One value of a row. Prints as the literal of a case file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell(pub Value);

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        to_json(&self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Cell, D::Error> {
        let json = Json::deserialize(deserializer)?;
        from_json(&json).map(Cell).ok_or_else(|| serde::de::Error::custom(format!("{json} is not a value of a row")))
    }
}

fn to_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Text(text) => Json::String(text.clone()),
        Value::Number(number) => exact_number(number).unwrap_or_else(|| json_object("number", number.to_string())),
        Value::Bytes(bytes) => json_object("bytes", bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
    }
}

fn json_object(key: &str, text: String) -> Json {
    Json::Object([(key.to_string(), Json::String(text))].into_iter().collect())
}

/// The number as a JSON number, if reading that as a 64-bit float gives the same number back.
fn exact_number(number: &Number) -> Option<Json> {
    if let Some(integer) = number.to_i64() {
        return (integer.unsigned_abs() <= EXACT_INTEGER_MAX).then(|| Json::from(integer));
    }
    let text = number.to_text();
    let exact = text.len() <= EXACT_DECIMAL_LENGTH_MAX;
    exact.then(|| text.parse::<f64>().ok().map(Json::from))?
}

fn from_json(json: &Json) -> Option<Value> {
    match json {
        Json::Null => Some(Value::Null),
        Json::Bool(truth) => Some(Value::Bool(*truth)),
        Json::String(text) => Some(Value::Text(text.clone())),
        Json::Number(number) => Number::parse(&number.to_string()).map(Value::Number),
        Json::Object(fields) => match (fields.get("number"), fields.get("bytes")) {
            (Some(Json::String(digits)), None) => Number::parse(digits).map(Value::Number),
            (None, Some(Json::String(hex))) => parse_hex(hex).map(Value::Bytes),
            _ => None,
        },
        Json::Array(_) => None,
    }
}

fn parse_hex(hex: &str) -> Option<Vec<u8>> {
    if !hex.len().is_multiple_of(2) {
        return None;
    }
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(value: Value, expect: &str) {
        let json = serde_json::to_string(&Cell(value.clone())).unwrap();
        assert_eq!(json, expect);
        assert_eq!(serde_json::from_str::<Cell>(&json).unwrap(), Cell(value));
    }

    fn number(text: &str) -> Value {
        Value::Number(Number::parse(text).unwrap())
    }

    #[test]
    fn cells_have_plain_json_where_nothing_is_lost() {
        check(Value::Null, "null");
        check(Value::Bool(true), "true");
        check(Value::text("it's \"so\""), r#""it's \"so\"""#);
        check(number("-10"), "-10");
        check(number("0.1"), "0.1");
        check(number("1e30"), r#"{"number":"1000000000000000000000000000000"}"#);
        check(number("9007199254740992"), "9007199254740992");
        check(number("9007199254740993"), r#"{"number":"9007199254740993"}"#);
        check(number("0.12345678901234567890123"), r#"{"number":"0.12345678901234567890123"}"#);
        check(Value::Bytes(vec![0, 255]), r#"{"bytes":"00ff"}"#);
    }

    #[test]
    fn what_is_no_cell_is_refused() {
        for json in ["[1]", "{}", r#"{"bytes":"0"}"#, r#"{"bytes":"zz"}"#, r#"{"bytes":"é"}"#, r#"{"number":"x"}"#] {
            assert!(serde_json::from_str::<Cell>(json).is_err(), "{json}");
        }
    }

    proptest! {
        #[test]
        fn numbers_survive(text in "-?[0-9]{1,25}(\\.[0-9]{1,12})?(e-?[0-9]{1,2})?") {
            let cell = Cell(number(&text));
            let json = serde_json::to_string(&cell).unwrap();
            prop_assert_eq!(serde_json::from_str::<Cell>(&json).unwrap(), cell);
        }
    }
}
