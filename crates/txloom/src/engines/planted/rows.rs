//! `extra-row` and `missing-row`: an UPDATE that is mistaken about one row.
//!
//! TxCheck's Figure 1: within a transaction, beside another one, a SELECT and an UPDATE with the same condition follow
//! one another, and the UPDATE changes a row more than the SELECT has shown.

use txloom_core::engine::EngineError;
use txloom_core::outcome::{ErrorClass, Outcome, TxStatus};
use txloom_core::sql::write::{Verb, Write};
use txloom_core::value::Value;

use super::Defect;
use super::session::{Below, View};

/// An UPDATE also changes the row with the greatest key among those that do not match.
pub(super) struct ExtraRow;

/// An UPDATE leaves out the row with the greatest key among those that match.
pub(super) struct MissingRow;

impl Defect for ExtraRow {
    fn execute(&self, sql: &str, view: &View<'_>, below: &mut Below<'_>) -> Result<Outcome, EngineError> {
        meddle(sql, view, below, &|condition| format!("({condition}) IS NOT TRUE"), &|condition, row| {
            format!("({condition}) OR ({row})")
        })
    }
}

impl Defect for MissingRow {
    fn execute(&self, sql: &str, view: &View<'_>, below: &mut Below<'_>) -> Result<Outcome, EngineError> {
        meddle(sql, view, below, &str::to_string, &|condition, row| format!("({condition}) AND NOT ({row})"))
    }
}

/// Chooses a row among those that `among` makes of the condition, and executes the UPDATE with what `with` makes of the
/// condition and the row.
fn meddle(
    sql: &str,
    view: &View<'_>,
    below: &mut Below<'_>,
    among: &dyn Fn(&str) -> String,
    with: &dyn Fn(&str, &str) -> String,
) -> Result<Outcome, EngineError> {
    let Some(update) = Update::read(sql, view) else { return below.execute(sql) };
    let key = update.key.join(", ");
    let order = update.key.iter().map(|column| format!("{column} DESC")).collect::<Vec<_>>().join(", ");
    let (source, among) = (update.source, among(update.condition));
    let hidden = below.execute_hidden(&format!("SELECT {key} FROM {source} WHERE {among} ORDER BY {order} LIMIT 1"))?;
    if hidden.status != TxStatus::Open || hidden.error_class() == Some(ErrorClass::Cancelled) {
        // The UPDATE would have met the same deadlock, serialization failure or cancellation.
        return Ok(hidden);
    }
    let chosen = hidden.rows().and_then(|result| view.dialect.values(result).into_iter().next());
    let Some(row) = chosen.and_then(|values| update.row(&values, view)) else { return below.execute(sql) };
    let (before, after) = update.around;
    below.execute(&format!("{before}{}{after}", with(update.condition, &row)))
}

/// An UPDATE that can be meddled with.
struct Update<'a> {
    key: &'a [String],
    source: &'a str,
    condition: &'a str,
    /// The text before and after the condition.
    around: (&'a str, &'a str),
}

impl<'a> Update<'a> {
    /// Reads an UPDATE with a condition of a table with a key, inside a transaction and beside another one.
    fn read(sql: &'a str, view: &View<'a>) -> Option<Update<'a>> {
        if !view.transaction.is_open() || !view.other_open {
            return None;
        }
        let write = Write::read(sql).filter(|write| write.verb == Verb::Update)?;
        let key = view.world.key_of(&write.table)?;
        let reach = write.reach?;
        let span = reach.condition?;
        let around = (&sql[..span.start], &sql[span.end..]);
        Some(Update { key, source: reach.source, condition: &sql[span], around })
    }

    /// The condition that only the row with this key meets.
    fn row(&self, values: &[Value], view: &View<'_>) -> Option<String> {
        if values.contains(&Value::Null) || values.len() != self.key.len() {
            return None;
        }
        let equal = |(column, value): (&String, &Value)| format!("{column} = {}", view.dialect.literal(value));
        Some(self.key.iter().zip(values).map(equal).collect::<Vec<_>>().join(" AND "))
    }
}
