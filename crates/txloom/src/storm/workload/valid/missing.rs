//! Static rows that a condition must find, and did not.
//!
//! Of most conditions nobody can tell which rows they find, since updates change what rows hold. But a condition on the
//! key alone, or on attributes that never change, finds the same static rows at any time. They are few where the
//! condition has a range of keys; others are not looked at.

use std::ops::Range;

use txloom_core::shadow::TableShadow;
use txloom_core::shadow::keys::Slot;
use txloom_core::shadow::predicate::{Comparison, Predicate, Subject};

/// Larger ranges of keys are not looked through.
const KEYS_MAX: u64 = 4_096;

/// The static keys that satisfy a condition and are not among those found (which are sorted here).
pub(super) fn keys(table: &TableShadow, predicate: &Predicate, found: &mut [u64]) -> Vec<u64> {
    let range = range(table, predicate);
    if !is_certain(table, predicate) || range.end.saturating_sub(range.start) > KEYS_MAX {
        return Vec::new();
    }
    found.sort_unstable();
    let must_be_found = |key: &u64| {
        let value = |subject| match subject {
            Subject::Key => *key,
            Subject::Attribute(at) => table.attributes()[at].initial(*key),
        };
        matches!(table.keys().slot(*key), Slot::Static(_)) && predicate.holds(&value)
    };
    range.filter(must_be_found).filter(|key| found.binary_search(key).is_err()).collect()
}

/// Whether nothing that anybody does changes whether a static row satisfies it.
fn is_certain(table: &TableShadow, predicate: &Predicate) -> bool {
    match predicate {
        Predicate::Leaf(condition) => match condition.subject {
            Subject::Key => true,
            Subject::Attribute(at) => table.attributes()[at].fixed(),
        },
        Predicate::And(parts) | Predicate::Or(parts) => parts.iter().all(|part| is_certain(table, part)),
    }
}

/// A range that holds all keys which satisfy a condition.
fn range(table: &TableShadow, predicate: &Predicate) -> Range<u64> {
    let all = 0..table.keys().count();
    match predicate {
        Predicate::Leaf(condition) if condition.subject == Subject::Key => match condition.comparison {
            Comparison::Equal | Comparison::Within => condition.low..condition.high.min(all.end),
            Comparison::Less => 0..condition.high.min(all.end),
            Comparison::AtLeast => condition.low..all.end,
            Comparison::NotEqual | Comparison::Outside => all,
        },
        Predicate::Leaf(_) => all,
        Predicate::And(parts) => parts.iter().map(|part| range(table, part)).fold(all, |within, part| {
            let start = within.start.max(part.start);
            start..within.end.min(part.end).max(start)
        }),
        Predicate::Or(parts) => {
            let ranges: Vec<Range<u64>> = parts.iter().map(|part| range(table, part)).collect();
            let start = ranges.iter().map(|range| range.start).min().unwrap_or(0);
            start..ranges.iter().map(|range| range.end).max().unwrap_or(all.end)
        }
    }
}
