//! Makes the interleaving simpler: fewer schedules, fewer switches between sessions.
//!
//! ```text
//!   a a b a b b      the second run of a moves back to the first:  a a a b b b
//!                    or the first moves forward to the second:     b a a a b b
//! ```
//!
//! The order within each session stays as it is; only who comes before whom changes.

use crate::case::{Case, Entry, Line, SessionName};
use crate::reduce::{Pass, Tests};
use crate::schedule::{Schedule, ScheduleEntry};

pub(super) struct Switches;

impl Pass for Switches {
    fn reduce(&self, case: &Case, tests: &mut Tests<'_>) -> Case {
        let case = fewer_schedules(case, tests);
        match case.schedules().first() {
            Some(schedule) => {
                let entries = schedule.0.clone();
                let with = |entries: &[ScheduleEntry]| with_schedule(&case, entries);
                let mut passes = |entries: &[ScheduleEntry]| tests.reproduces(&with(entries));
                let fewer = fewer_switches(&entries, ScheduleEntry::session, &mut passes);
                if fewer == entries { case.clone() } else { with(&fewer) }
            }
            None => fewer_line_switches(&case, tests),
        }
    }
}

/// One schedule instead of several, and none if the line order does as well.
fn fewer_schedules(case: &Case, tests: &mut Tests<'_>) -> Case {
    let is_schedule = |position: &usize| matches!(case.entries[*position].line, Line::Schedule(_));
    let schedules: Vec<usize> = (0..case.entries.len()).filter(is_schedule).collect();
    tests.minimize(case, &schedules, |kept: &[usize]| {
        let stays = |position: &usize| !is_schedule(position) || kept.contains(position);
        let entries = (0..case.entries.len()).filter(stays).map(|position| case.entries[position].clone());
        Some(Case { entries: entries.collect(), ..case.clone() })
    })
}

/// The case with its first schedule replaced, in place.
fn with_schedule(case: &Case, entries: &[ScheduleEntry]) -> Case {
    let mut changed = case.clone();
    let first = changed.entries.iter_mut().find(|entry| matches!(entry.line, Line::Schedule(_)));
    first.into_iter().for_each(|entry| entry.line = Line::Schedule(Schedule(entries.to_vec())));
    changed
}

/// Rearranges the lines that take turns; all others stay where they are.
fn fewer_line_switches(case: &Case, tests: &mut Tests<'_>) -> Case {
    let takes_turn = |position: &usize| matches!(case.entries[*position].line, Line::Step(..) | Line::Event(_));
    let positions: Vec<usize> = (0..case.entries.len()).filter(takes_turn).collect();
    let lines: Vec<Entry> = positions.iter().map(|position| case.entries[*position].clone()).collect();
    let with = |lines: &[Entry]| {
        let mut changed = case.clone();
        positions.iter().zip(lines).for_each(|(position, line)| changed.entries[*position] = line.clone());
        changed
    };
    let fewer = fewer_switches(&lines, crate::reduce::size::step_session, &mut |lines| tests.reproduces(&with(lines)));
    if fewer == lines { case.clone() } else { with(&fewer) }
}

/// Joins runs of one session as long as that passes the test. An element without a session (an event) is never joined.
fn fewer_switches<T: Clone>(
    elements: &[T],
    session: impl Fn(&T) -> Option<&SessionName>,
    passes: &mut dyn FnMut(&[T]) -> bool,
) -> Vec<T> {
    let mut current = elements.to_vec();
    while let Some(joined) = joined(&current, &session).into_iter().find(|candidate| passes(candidate)) {
        current = joined;
    }
    current
}

/// Every arrangement in which a run of a session has been moved to the one before it, or that one to it.
fn joined<T: Clone>(elements: &[T], session: &impl Fn(&T) -> Option<&SessionName>) -> Vec<Vec<T>> {
    let runs: Vec<&[T]> =
        elements.chunk_by(|left, right| session(left).is_some() && session(left) == session(right)).collect();
    let mut arrangements = Vec::new();
    for (later, run) in runs.iter().enumerate() {
        let Some(name) = session(&run[0]) else { continue };
        let Some(earlier) = runs[..later].iter().rposition(|run| session(&run[0]) == Some(name)) else { continue };
        let (before, between, after) = (&runs[..earlier], &runs[earlier + 1..later], &runs[later + 1..]);
        let pair = [runs[earlier], run];
        arrangements.push([before, &pair, between, after].concat().concat());
        arrangements.push([before, between, &pair, after].concat().concat());
    }
    arrangements
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Event;

    fn entries(text: &str) -> Vec<ScheduleEntry> {
        let entry = |word: &str| match word {
            "[heal]" => ScheduleEntry::Event(Event::Heal),
            name => ScheduleEntry::Step(SessionName::new(name).unwrap()),
        };
        text.split_whitespace().map(entry).collect()
    }

    #[test]
    fn runs_are_joined_as_far_as_the_test_allows() {
        let check = |schedule: &str, test: &dyn Fn(&str) -> bool, expect: &str| {
            let mut passes = |candidate: &[ScheduleEntry]| test(&Schedule(candidate.to_vec()).to_string());
            let fewer = fewer_switches(&entries(schedule), ScheduleEntry::session, &mut passes);
            assert_eq!(Schedule(fewer).to_string(), expect);
        };
        check("a b a b a b", &|_| true, "a a a b b b");
        check("a b a b a b", &|_| false, "a b a b a b");
        check("a b a b", &|candidate| candidate.starts_with('b'), "b b a a");
        check("a b [heal] a b", &|_| true, "a a b b [heal]");
        check("a b [heal] a b", &|candidate| candidate.ends_with("[heal] a b"), "a b [heal] a b");
        // Both must begin before either ends: then one runs inside the other.
        let before = |candidate: &str, one: char, other: char| candidate.find(one) < candidate.rfind(other);
        let overlap = |candidate: &str| before(candidate, 'a', 'b') && before(candidate, 'b', 'a');
        check("a a b b a a b b", &overlap, "b b a a a a b b");
    }
}
