//! Do two engines give the same answer to a step?

use crate::case::expect::Rows;
use crate::dialect::Dialect;
use crate::oracle::diff::compare::Kind;
use crate::oracle::diff::order;
use crate::outcome::{ErrorClass, Notice, Outcome, StatementResult};
use crate::sql::{StatementKind, tokens};
use crate::value::{Number, Value};

/// An answer, and what is needed to understand it.
pub(super) struct Answer<'a> {
    pub(super) sql: &'a str,
    pub(super) outcome: &'a Outcome,
    pub(super) dialect: &'static dyn Dialect,
}

impl Answer<'_> {
    fn queries(&self) -> Vec<&StatementResult> {
        self.outcome.results.iter().filter(|result| result.is_query()).collect()
    }

    /// A COMMIT that the server answered with ROLLBACK; `None` where it does not say what it did.
    fn is_refused_commit(&self) -> Option<bool> {
        let is_commit = self.dialect.kind(self.sql) == StatementKind::Commit;
        is_commit.then(|| self.outcome.tag())?.map(|tag| tag.eq_ignore_ascii_case("rollback"))
    }

    /// Whether the step did not do what it says.
    fn is_failed(&self) -> bool {
        self.outcome.error.is_some() || self.is_refused_commit() == Some(true)
    }

    /// Whether this is a COMMIT that does not say what it did, beside one that was refused without an error.
    fn is_silent_beside(&self, refused: &Answer<'_>) -> bool {
        let refused_quietly = refused.outcome.error.is_none() && refused.is_refused_commit() == Some(true);
        refused_quietly && self.outcome.error.is_none() && self.is_refused_commit().is_none()
    }

    fn has_warning(&self) -> bool {
        self.outcome.notices.iter().any(is_warning)
    }
}

/// Whether a notice is a warning, and not just a remark.
pub(super) fn is_warning(notice: &Notice) -> bool {
    notice.severity.eq_ignore_ascii_case("warning")
}

/// In what two answers to the same step differ, if they do.
pub(super) fn difference(left: &Answer<'_>, right: &Answer<'_>) -> Option<Kind> {
    let same_dialect = left.dialect.name() == right.dialect.name();
    match (left.is_failed(), right.is_failed()) {
        (false, false) => {}
        (true, true) => return differ_in_fate(left, right).then_some(Kind::Error),
        // One says that it rolled back; the other has no word for what it did, which may be just that.
        _ if left.is_silent_beside(right) || right.is_silent_beside(left) => {}
        _ => return Some(Kind::Error),
    }
    if same_dialect && left.has_warning() != right.has_warning() {
        return Some(Kind::Warning);
    }
    if differ_in_rows(left, right) {
        return Some(Kind::Rows);
    }
    let counts = (left.outcome.affected(), right.outcome.affected());
    let counted = matches!(counts, (Some(left), Some(right)) if left != right);
    (counted && (same_dialect || is_counted_alike(left.sql))).then_some(Kind::Count)
}

/// What becomes of somebody who meets an error.
#[derive(PartialEq)]
enum Fate {
    /// Others were in the way; the same again may succeed.
    Conflict,
    /// The statement itself is not acceptable.
    Refused,
    /// Nothing is acceptable before the transaction ends.
    Aborted,
    /// There is nobody left to talk to.
    Gone,
}

/// Whether two failures mean different fates. Which of several constraints is named, or whether a value does not fit or
/// cannot be converted, is a matter of taste; a class that says nothing differs from none.
fn differ_in_fate(left: &Answer<'_>, right: &Answer<'_>) -> bool {
    let fate = |answer: &Answer<'_>| answer.outcome.error_class().and_then(fate);
    matches!((fate(left), fate(right)), (Some(left), Some(right)) if left != right)
}

fn fate(class: ErrorClass) -> Option<Fate> {
    match class {
        ErrorClass::Deadlock | ErrorClass::SerializationFailure | ErrorClass::LockTimeout => Some(Fate::Conflict),
        ErrorClass::Unique
        | ErrorClass::ForeignKey
        | ErrorClass::Check
        | ErrorClass::NotNull
        | ErrorClass::OutOfRange
        | ErrorClass::Conversion
        | ErrorClass::DivisionByZero
        | ErrorClass::Syntax
        | ErrorClass::UnknownObject => Some(Fate::Refused),
        ErrorClass::TransactionAborted => Some(Fate::Aborted),
        ErrorClass::ConnectionLost => Some(Fate::Gone),
        ErrorClass::Cancelled | ErrorClass::DiskFull | ErrorClass::Other => None,
    }
}

fn differ_in_rows(left: &Answer<'_>, right: &Answer<'_>) -> bool {
    let (left_queries, right_queries) = (left.queries(), right.queries());
    let differs = |(left_result, right_result): (&&StatementResult, &&StatementResult)| {
        let left_rows = comparable(left.dialect, right.dialect, left_result);
        let right_rows = comparable(right.dialect, left.dialect, right_result);
        if order::may_choose_rows(left.sql) {
            return left_rows.len() != right_rows.len();
        }
        sorted(&left_rows) != sorted(&right_rows)
            || (left_rows != right_rows && order::is_total(left.sql, left_result, &left_rows))
    };
    left_queries.len() != right_queries.len() || left_queries.iter().zip(&right_queries).any(differs)
}

/// The rows of a result, as they are compared with those of another dialect: where only one of them has a type for truth
/// values, they are 0 and 1.
pub(super) fn comparable(dialect: &dyn Dialect, other: &dyn Dialect, result: &StatementResult) -> Rows {
    let mut rows = dialect.values(result);
    if dialect.name() != other.name() {
        rows.iter_mut().flatten().for_each(|value| {
            if let Value::Bool(truth) = value {
                *value = Value::Number(Number::from(i64::from(*truth)));
            }
        });
    }
    rows
}

/// Rows in an order that does not depend on how they came.
pub(super) fn sorted(rows: &Rows) -> Rows {
    let mut rows = rows.clone();
    rows.sort();
    rows
}

/// Whether engines of all dialects count the rows of this statement in the same way. An UPDATE counts the rows that it
/// finds, or those that it changes; an upsert counts by rules of its own.
fn is_counted_alike(sql: &str) -> bool {
    let tokens = tokens(sql);
    let has = |word: &str| tokens.iter().any(|token| token.is_word(word));
    match tokens.first() {
        Some(first) if first.is_word("DELETE") => true,
        Some(first) if first.is_word("INSERT") => !has("CONFLICT") && !has("DUPLICATE") && !has("IGNORE") && !has("OR"),
        _ => false,
    }
}
