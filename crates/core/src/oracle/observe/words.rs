//! The words for a difference between two runs.

use crate::case::expect::{Rows, print_rows};

use super::{Answer, Difference, Seen};

/// How many rows a clause shows.
const ROWS_SHOWN: usize = 5;
/// How much of a statement a clause shows, in characters.
pub(in crate::oracle) const STATEMENT_SHOWN: usize = 60;

/// What is different, as the word that a fingerprint begins with.
pub(in crate::oracle) fn aspect(difference: &Difference) -> &'static str {
    match difference {
        Difference::Answer { did, would } if did.answer.error != would.error => "error",
        Difference::Answer { .. } => "result",
        Difference::Missing(_) | Difference::Extra(_) => "steps",
        Difference::State { .. } => "state",
    }
}

/// `step b2 (SELECT …) would have returned (20), but it returned (100)`
pub(in crate::oracle) fn difference(difference: &Difference) -> String {
    match difference {
        Difference::Answer { did, would } => {
            format!("{} would have {}, but it {}", step(did), answer(would), answer(&did.answer))
        }
        Difference::Missing(did) => format!("{} would not have been sent", step(did)),
        Difference::Extra(would) => format!("{} would have followed", step(would)),
        Difference::State { table, did, would } => match (would.is_empty(), did.is_empty()) {
            (true, true) => format!("the table {table} would not have been the same"),
            (true, false) => format!("the table {table} would not have held {} at the end", rows(did)),
            (false, true) => format!("the table {table} would have held {} at the end, but it did not", rows(would)),
            (false, false) => {
                format!("the table {table} would have held {} at the end, but it held {}", rows(would), rows(did))
            }
        },
    }
}

fn step(seen: &Seen) -> String {
    format!("step {} ({})", seen.name, shortened(&seen.sql, STATEMENT_SHOWN))
}

/// A verb that serves as past tense and as participle, and what goes with it.
pub(in crate::oracle) fn answer(answer: &Answer) -> String {
    if let Some(class) = answer.error {
        return format!("failed with the error {class}");
    }
    let results = answer.results.iter().filter_map(|result| match result {
        (Some(returned), _) => Some(format!("returned {}", rows(returned))),
        (None, Some(1)) => Some("changed 1 row".to_string()),
        (None, Some(count)) => Some(format!("changed {count} rows")),
        (None, None) => None,
    });
    match results.collect::<Vec<_>>().join(" and ") {
        nothing if nothing.is_empty() => "succeeded".to_string(),
        something => something,
    }
}

pub(in crate::oracle) fn rows(rows: &Rows) -> String {
    let shown = print_rows(&rows[..rows.len().min(ROWS_SHOWN)]);
    if rows.len() > ROWS_SHOWN { format!("{shown} … ({} rows)", rows.len()) } else { shown }
}

pub(in crate::oracle) fn shortened(text: &str, length_max: usize) -> String {
    match text.char_indices().nth(length_max) {
        Some((cut, _)) => format!("{}…", text[..cut].trim_end()),
        None => text.to_string(),
    }
}
