//! CHECK constraints: a column compared with a constant.
//!
//! A condition is kept beside its SQL, so that rows and new values can be chosen that meet it. Texts are compared only
//! by inequality, and only those differ that differ to every engine's collation.

use super::Kind;
use crate::generate::language::Language;
use crate::generate::model::Model;
use crate::generate::random::Random;
use crate::generate::values;
use crate::value::Value;

/// How often a value is tried that meets a new condition.
const ATTEMPTS: usize = 8;

/// A CHECK constraint on one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The condition as SQL: `c1 >= 3`.
    pub sql: String,
    operator: Operator,
    value: Value,
    /// A value that meets it.
    witness: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    NotEqual,
    AtLeast,
    AtMost,
}

impl Operator {
    fn text(self) -> &'static str {
        match self {
            Operator::NotEqual => "<>",
            Operator::AtLeast => ">=",
            Operator::AtMost => "<=",
        }
    }
}

impl Check {
    /// A condition on a column of this name and kind that some ordinary value meets; `None` for kinds that are not
    /// worth it.
    pub(super) fn make(
        name: &str,
        kind: Kind,
        model: &Model,
        language: &Language,
        random: &mut Random,
    ) -> Option<Check> {
        let operators: &[Operator] = match kind {
            Kind::Bytes | Kind::Boolean => return None,
            Kind::Text => &[Operator::NotEqual],
            _ => &[Operator::NotEqual, Operator::AtLeast, Operator::AtMost],
        };
        let operator = *random.pick(operators)?;
        let value = values::ordinary(kind, model, random);
        let sql = format!("{name} {} {}", operator.text(), values::literal(kind, &value, language));
        let mut check = Check { sql, operator, value: value.clone(), witness: value };
        // A profile may leave so few values that `<>` refuses all of them.
        let mut candidates = (0..ATTEMPTS).map(|_| values::ordinary(kind, model, random));
        check.witness = candidates.find(|candidate| check.holds(candidate))?;
        Some(check)
    }

    /// Whether a value meets it. NULL does: SQL refuses only what is false.
    pub fn holds(&self, value: &Value) -> bool {
        match (self.operator, value) {
            (_, Value::Null) => true,
            (Operator::NotEqual, value) => values::folded(value) != values::folded(&self.value),
            (Operator::AtLeast, value) => *value >= self.value,
            (Operator::AtMost, value) => *value <= self.value,
        }
    }

    /// A value that meets it.
    pub fn witness(&self) -> &Value {
        &self.witness
    }
}
