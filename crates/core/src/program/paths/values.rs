//! How values come out of a model.

use super::symbol::{FREE_CODE, Shape, Symbol, Symbols};
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
                let constant = self.constants.get(code).cloned();
                Some(constant.unwrap_or_else(|| other_value(column_type, code, &self.constants)))
            }
            Shape::Opaque => None,
        }
    }
}

/// A value of a type that is none of the constants; another one for each code.
fn other_value(column_type: &ColumnType, code: usize, constants: &[Value]) -> Value {
    let code = code.checked_sub(FREE_CODE as usize).unwrap_or(code);
    let length = column_type.length.map_or(usize::MAX, |length| length as usize);
    let candidates = (0..=constants.len()).map(|round| {
        let at = code + round * 1_000;
        match column_type.kind {
            TypeKind::Date => Value::text(day(at)),
            TypeKind::Time => Value::text(time(at)),
            TypeKind::Timestamp => Value::text(format!("{} {}", day(at), time(at))),
            TypeKind::Bytes => Value::Bytes(vec![(at >> 8) as u8, at as u8]),
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
