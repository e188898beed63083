//! A case with other statements, or without some of its steps and everything else adjusted to that.

use std::collections::BTreeSet;

use crate::case::{Case, Entry, Expect, Expectation, Item, Line, SessionItems, SessionName, Sql};
use crate::schedule::Schedule;

/// The SQL of an entry.
pub(super) fn statement(case: &Case, position: usize) -> Option<String> {
    match &case.entries[position].line {
        Line::Init(sql, _) | Line::Step(_, Item::Sql(sql), _) => Some(sql.as_str().to_string()),
        _ => None,
    }
}

/// The case with another SQL in an entry.
pub(super) fn with_statement(case: &Case, position: usize, text: &str) -> Option<Case> {
    let mut changed = case.clone();
    let new = Sql::new(text).ok()?;
    match &mut changed.entries[position].line {
        Line::Init(sql, _) | Line::Step(_, Item::Sql(sql), _) => *sql = new,
        _ => return None,
    }
    Some(changed)
}

/// The case with every SQL text changed: those of the setup and of the steps. `None` if one of them becomes invalid.
pub(super) fn map_statements(case: &Case, mut change: impl FnMut(&str) -> Option<String>) -> Option<Case> {
    let mut changed = case.clone();
    for entry in &mut changed.entries {
        if let Line::Init(sql, _) | Line::Step(_, Item::Sql(sql), _) = &mut entry.line {
            let new = change(sql.as_str())?;
            if new != sql.as_str() {
                *sql = Sql::new(&new).ok()?;
            }
        }
    }
    Some(changed)
}

/// The SQL of the setup and of the steps, in file order.
pub(super) fn statements(case: &Case) -> impl Iterator<Item = &str> {
    case.entries.iter().filter_map(|entry| match &entry.line {
        Line::Init(sql, _) | Line::Step(_, Item::Sql(sql), _) => Some(sql.as_str()),
        _ => None,
    })
}

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
            Line::Isolation(Some(name), _) | Line::Node(name, _) | Line::First(name) if gone.contains(&name) => {
                return None;
            }
            Line::Step(name, item, expectations) => {
                Line::Step(name.clone(), item.clone(), without_sessions(expectations, &gone))
            }
            other => other.clone(),
        };
        Some(Entry { prose: entry.prose.clone(), line })
    });
    Case { entries: adjusted.collect(), epilogue: case.epilogue.clone(), program: case.program.clone() }
}

/// A schedule without the turns of removed items; `None` if no turn is left.
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
    let kept: Schedule = schedule.0.iter().filter(|entry| entry.session().is_none_or(&mut keeps)).cloned().collect();
    let has_turns = kept.sessions().next().is_some();
    has_turns.then_some(kept)
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
