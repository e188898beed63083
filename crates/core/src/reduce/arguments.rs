//! Makes whole numbers among the arguments of calls smaller.
//!
//! An argument that has the same name and the same value in several calls is changed in all of them: two calls that are
//! to meet on one row must go on meeting.

use std::collections::BTreeSet;

use crate::case::{Call, Case, Item, Line};
use crate::reduce::{Pass, Tests};
use crate::value::Value;

pub(super) struct Arguments;

impl Pass for Arguments {
    fn reduce(&self, case: &Case, tests: &mut Tests<'_>) -> Case {
        let arguments: BTreeSet<(String, i64)> = calls(case).flat_map(numbers).collect();
        arguments.into_iter().fold(case.clone(), |case, (name, value)| smaller(case, &name, value, tests))
    }
}

/// Replaces a value by smaller ones as long as that works.
fn smaller(mut case: Case, name: &str, mut value: i64, tests: &mut Tests<'_>) -> Case {
    loop {
        let simpler = [0, 1, value / 10, value / 2];
        let found = simpler.into_iter().filter(|new| new.unsigned_abs() < value.unsigned_abs()).find_map(|new| {
            let candidate = replaced(&case, name, value, new);
            tests.reproduces(&candidate).then_some((candidate, new))
        });
        match found {
            Some((smaller, new)) => (case, value) = (smaller, new),
            None => return case,
        }
    }
}

fn calls(case: &Case) -> impl Iterator<Item = &Call> {
    case.entries.iter().filter_map(|entry| match &entry.line {
        Line::Step(_, Item::Call(call), _) => Some(call),
        _ => None,
    })
}

fn numbers(call: &Call) -> Vec<(String, i64)> {
    let whole = |(name, value): &(String, Value)| match value {
        Value::Number(number) => Some((name.clone(), number.to_i64()?)),
        _ => None,
    };
    call.arguments.iter().filter_map(whole).collect()
}

fn replaced(case: &Case, name: &str, old: i64, new: i64) -> Case {
    let mut changed = case.clone();
    for entry in &mut changed.entries {
        let Line::Step(_, Item::Call(call), _) = &mut entry.line else { continue };
        let same = call.arguments.iter_mut().filter(|(its_name, value)| its_name == name && *value == Value::int(old));
        same.for_each(|(_, value)| *value = Value::int(new));
    }
    changed
}
