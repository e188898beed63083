//! A case without some of its steps, and everything else adjusted to that.

use std::collections::BTreeSet;

use crate::case::{Case, Entry, Expect, Expectation, Item, Line, SessionItems, SessionName};
use crate::schedule::Schedule;

/// The case without the steps at these positions of its entries.
///
/// Schedules lose the turns of what is gone, and so do lines about sessions that are gone.
pub(super) fn without_steps(case: &Case, removed: &BTreeSet<usize>) -> Case {
    let before = case.sessions();
    let gone = |session: &&SessionItems| session.entries.iter().all(|entry| removed.contains(entry));
    let gone: Vec<&SessionName> = before.iter().filter(gone).map(|session| &session.name).collect();
    let kept = case.entries.iter().enumerate().filter(|(position, _)| !removed.contains(position));
    let adjusted = kept.filter_map(|(_, entry)| {
        let line = match &entry.line {
            Line::Schedule(schedule) => Line::Schedule(adjust(schedule, &before, removed)?),
            Line::Isolation(Some(name), _) | Line::Node(name, _) if gone.contains(&name) => return None,
            Line::Step(name, item, expectations) => {
                Line::Step(name.clone(), item.clone(), without_sessions(expectations, &gone))
            }
            other => other.clone(),
        };
        Some(Entry { prose: entry.prose.clone(), line })
    });
    Case { entries: adjusted.collect(), epilogue: case.epilogue.clone(), program: case.program.clone() }
}

/// A schedule without the turns of removed items; `None` if nothing is left of it.
///
/// A SQL item has one step, so up to the first call the n-th turn of a session belongs to its n-th item. The turns
/// behind that go when the items behind that do.
fn adjust(schedule: &Schedule, sessions: &[SessionItems], removed: &BTreeSet<usize>) -> Option<Schedule> {
    let mut turns = vec![0usize; sessions.len()];
    let mut keeps = |name: &SessionName| {
        let Some(index) = sessions.iter().position(|session| session.name == *name) else { return false };
        let session = &sessions[index];
        let turn = turns[index];
        turns[index] += 1;
        let plain = session.items.iter().take_while(|item| matches!(item, Item::Sql(_))).count();
        let rest = &session.entries[plain..];
        if turn < plain {
            !removed.contains(&session.entries[turn])
        } else {
            rest.iter().any(|entry| !removed.contains(entry))
        }
    };
    let kept: Vec<SessionName> = schedule.0.iter().filter(|name| keeps(name)).cloned().collect();
    (!kept.is_empty()).then_some(Schedule(kept))
}

/// `resumes` cannot name a session that is gone.
fn without_sessions(expectations: &[Expectation], gone: &[&SessionName]) -> Vec<Expectation> {
    let adjust = |expectation: &Expectation| match &expectation.expect {
        Expect::Resumes(names) => {
            let names: Vec<SessionName> = names.iter().filter(|name| !gone.contains(name)).cloned().collect();
            let expect = Expect::Resumes(names.clone());
            (!names.is_empty()).then(|| Expectation { guard: expectation.guard.clone(), expect })
        }
        _ => Some(expectation.clone()),
    };
    expectations.iter().filter_map(adjust).collect()
}
