//! Did the same happen on two targets?
//!
//! This is a reader's comparison, for showing targets side by side: the same steps waited, answered with the same rows,
//! counts and classes of errors, and left the same state. What engines say in their own words (texts of errors, tags,
//! type names, the order of unordered rows) does not count. Whether a difference is a *bug* is for an oracle to judge.

use txloom_core::sql::one_line;

use super::model::Difference;
use super::model::cell::Cell;
use super::model::trace::{OutcomeReport, StepReport, TableReport, TraceReport};

/// The first thing in which two executions differ.
pub fn first_difference(first: &TraceReport, other: &TraceReport) -> Option<Difference> {
    let steps = first.steps.iter().zip(&other.steps).find_map(|(first, other)| step_difference(first, other));
    steps.or_else(|| count_difference(first, other)).or_else(|| state_difference(first, other))
}

fn step_difference(first: &StepReport, other: &StepReport) -> Option<Difference> {
    if (&first.session, &first.sql) != (&other.session, &other.sql) {
        let sent = |step: &StepReport| format!("{}: {}", step.session, one_line(&step.sql));
        return Some(Difference { at: format!("step {}", first.name), first: sent(first), other: sent(other) });
    }
    let same = first.waited == other.waited
        && first.cancelled == other.cancelled
        && sorted(&first.resumed) == sorted(&other.resumed)
        && same_outcome(first.outcome.as_ref(), other.outcome.as_ref());
    (!same).then(|| Difference {
        at: format!("step {} ({})", first.name, one_line(&first.sql)),
        first: fate(first),
        other: fate(other),
    })
}

fn same_outcome(first: Option<&OutcomeReport>, other: Option<&OutcomeReport>) -> bool {
    let (Some(first), Some(other)) = (first, other) else { return first.is_none() && other.is_none() };
    let class = |outcome: &OutcomeReport| outcome.error.as_ref().map(|error| error.class.clone());
    // An engine that does not count does not differ from one that does.
    let same_count = match (affected(first), affected(other)) {
        (Some(first), Some(other)) => first == other,
        _ => true,
    };
    class(first) == class(other) && same_count && rows(first) == rows(other)
}

fn affected(outcome: &OutcomeReport) -> Option<u64> {
    outcome.results.iter().rev().find_map(|result| result.affected)
}

/// The rows of all results that have any, each in an order of its own.
fn rows(outcome: &OutcomeReport) -> Vec<Vec<Vec<Cell>>> {
    let results = outcome.results.iter().filter(|result| !result.columns.is_empty());
    results.map(|result| sorted(&result.rows)).collect()
}

fn sorted<T: Ord + Clone>(values: &[T]) -> Vec<T> {
    let mut values = values.to_vec();
    values.sort();
    values
}

/// What became of a step, in a few words: `waits for a, then error deadlock`.
fn fate(step: &StepReport) -> String {
    let mut parts = Vec::new();
    if step.waited {
        let holders = step.holders.join(", ");
        parts.push(if holders.is_empty() { "waits".to_string() } else { format!("waits for {holders}") });
    }
    parts.push(match (&step.cancelled, &step.outcome) {
        (Some(_), _) => "cancelled".to_string(),
        (None, None) => "no answer".to_string(),
        (None, Some(outcome)) => answer(outcome),
    });
    let resumed = step.resumed.join(" and ");
    let goes_on = if resumed.is_empty() { String::new() } else { format!("; {resumed} goes on") };
    parts.join(", then ") + &goes_on
}

fn answer(outcome: &OutcomeReport) -> String {
    if let Some(error) = &outcome.error {
        return format!("error {}", error.class);
    }
    match (outcome.results.iter().rev().find(|result| !result.columns.is_empty()), affected(outcome)) {
        (Some(result), _) => tuples(&result.rows),
        (None, Some(1)) => "1 row changed".to_string(),
        (None, Some(count)) => format!("{count} rows changed"),
        (None, None) => "ok".to_string(),
    }
}

fn tuples(rows: &[Vec<Cell>]) -> String {
    let tuple = |row: &Vec<Cell>| {
        let cells: Vec<String> = row.iter().map(Cell::to_string).collect();
        format!("({})", cells.join(", "))
    };
    if rows.is_empty() { "(empty)".to_string() } else { rows.iter().map(tuple).collect::<Vec<_>>().join(" ") }
}

fn count_difference(first: &TraceReport, other: &TraceReport) -> Option<Difference> {
    let steps = |trace: &TraceReport| format!("{} steps", trace.steps.len());
    let differ = first.steps.len() != other.steps.len();
    differ.then(|| Difference { at: "the number of steps".to_string(), first: steps(first), other: steps(other) })
}

fn state_difference(first: &TraceReport, other: &TraceReport) -> Option<Difference> {
    let (first, other) = match (&first.final_state, &other.final_state) {
        (Some(first), Some(other)) => (first, other),
        (None, None) => return None,
        (first, _) => {
            let words = |known: bool| if known { "known" } else { "unknown, the server died" }.to_string();
            let at = "the final state".to_string();
            return Some(Difference { at, first: words(first.is_some()), other: words(first.is_none()) });
        }
    };
    let find = |tables: &[TableReport], name: &str| tables.iter().find(|table| table.table == name).cloned();
    let names = first.iter().chain(other).map(|table| table.table.as_str());
    names.into_iter().find_map(|name| {
        let contents = |table: Option<TableReport>| table.map(|table| table.rows);
        let (first, other) = (contents(find(first, name)), contents(find(other, name)));
        let words =
            |rows: &Option<Vec<Vec<Cell>>>| rows.as_ref().map_or("no such table".to_string(), |rows| tuples(rows));
        let at = format!("the final state of {name}");
        (first != other).then(|| Difference { at, first: words(&first), other: words(&other) })
    })
}

#[cfg(test)]
mod tests {
    use txloom_core::case::Case;
    use txloom_core::outcome::ErrorClass;

    use super::*;
    use crate::report::build::trace_report;
    use crate::report::fixtures::{Play, changed, error, ok, rows, table, tagged};

    fn check(first: Play, other: Play, expect: Option<(&str, &str, &str)>) {
        let report = |play: Play| trace_report(&Case::default(), &play.end());
        let found = first_difference(&report(first), &report(other));
        let found = found.as_ref().map(|d| (d.at.as_str(), d.first.as_str(), d.other.as_str()));
        assert_eq!(found, expect);
    }

    fn select(values: &[&[&str]]) -> Play {
        Play::new("a b").done("a", "SELECT v FROM t", rows("v", values))
    }

    #[test]
    fn the_order_of_rows_and_the_words_of_an_engine_do_not_count() {
        check(select(&[&["1"], &["2"]]), select(&[&["2"], &["1"]]), None);
        let refused = |message| Play::new("a").done("a", "INSERT", error(ErrorClass::Unique, "1", message));
        check(refused("duplicate key"), refused("UNIQUE constraint failed"), None);
        let commit = |outcome| Play::new("a").done("a", "COMMIT", outcome);
        check(commit(ok()), commit(tagged("COMMIT")), None);
    }

    #[test]
    fn rows_waits_errors_and_state_count() {
        let at = "step a1 (SELECT v FROM t)";
        check(select(&[&["1"]]), select(&[&["2"]]), Some((at, "(1)", "(2)")));
        check(select(&[&["1"]]), select(&[]), Some((at, "(1)", "(empty)")));
        let update = |play: Play| play.done("b", "COMMIT", ok());
        let waits = Play::new("a b").waits("a", "UPDATE t", "b").done("b", "COMMIT", ok()).goes_on("a", changed(1));
        let goes = update(Play::new("a b").done("a", "UPDATE t", changed(1)));
        check(waits, goes, Some(("step a1 (UPDATE t)", "waits for b, then 1 row changed", "1 row changed")));
        let ends = |v: &str| select(&[]).ends_with("t", table("v", &[&[v]]));
        check(ends("1"), ends("2"), Some(("the final state of t", "(1)", "(2)")));
        check(ends("1"), select(&[]), Some(("the final state of t", "(1)", "no such table")));
    }
}
