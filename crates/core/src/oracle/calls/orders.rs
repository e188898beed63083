//! Orders of calls.

use crate::case::{Case, Line, SessionName};
use crate::trace::{CallRun, Trace};

/// The entries of a case that are calls.
pub(super) fn entries(case: &Case) -> Vec<usize> {
    let is_step = |at: &usize| matches!(case.entries[*at].line, Line::Step(..));
    (0..case.entries.len()).filter(is_step).collect()
}

/// The entry of a call of a run.
pub(super) fn entry(case: &Case, trace: &Trace, run: &CallRun) -> Option<usize> {
    let name = trace.name(run.session);
    let session = case.sessions().into_iter().find(|session| session.name == *name)?;
    session.entries.get(run.call.item).copied()
}

/// The number of a call among the calls of a case, from 0.
pub(super) fn nth(case: &Case, entry: usize) -> Option<usize> {
    entries(case).iter().position(|at| *at == entry)
}

/// Every order of these entries that keeps those of a session in sequence, and sessions first that are to be. The first
/// order is that of the file.
pub(super) fn all(case: &Case, entries: &[usize]) -> Vec<Vec<usize>> {
    let mut orders = Vec::new();
    arrange(case, &mut Vec::new(), entries, &mut orders);
    orders
}

fn arrange(case: &Case, prefix: &mut Vec<usize>, left: &[usize], orders: &mut Vec<Vec<usize>>) {
    if left.is_empty() {
        return orders.push(prefix.clone());
    }
    let session = |entry: &usize| match &case.entries[*entry].line {
        Line::Step(session, ..) => Some(session),
        _ => None,
    };
    let is_first = |session: &SessionName| case.is_first(session);
    let waits_for_first = left.iter().filter_map(session).any(is_first);
    let mut begun: Vec<&SessionName> = Vec::new();
    for (at, entry) in left.iter().enumerate() {
        let Some(session) = session(entry) else { continue };
        if begun.contains(&session) || (waits_for_first && !is_first(session)) {
            continue;
        }
        begun.push(session);
        let rest: Vec<usize> = left.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, it)| *it).collect();
        prefix.push(*entry);
        arrange(case, prefix, &rest, orders);
        prefix.pop();
    }
}

/// The case with nothing but these calls, in this order; without schedules and expectations.
pub(super) fn arranged(case: &Case, order: &[usize]) -> Case {
    let mut arranged = Case { program: case.program.clone(), ..Case::default() };
    for entry in &case.entries {
        let line = match &entry.line {
            Line::Init(sql, _) => Line::Init(sql.clone(), Vec::new()),
            Line::Isolation(..) | Line::Node(..) | Line::First(_) | Line::Program(_) | Line::Assert(_) => {
                entry.line.clone()
            }
            _ => continue,
        };
        arranged.entries.push(line.into());
    }
    for at in order {
        if let Line::Step(session, item, _) = &case.entries[*at].line {
            arranged.entries.push(Line::Step(session.clone(), item.clone(), Vec::new()).into());
        }
    }
    arranged
}
