//! Leaves out what a reduced case no longer promises: expectations, final states, assertions, the name of an anomaly.
//!
//! They were written for the larger case. Those that the test depends on stay.

use crate::case::{Case, Entry, Line};
use crate::reduce::{Pass, Tests};

pub(super) struct Marks;

/// Something that can be left out.
#[derive(Clone, PartialEq)]
enum Mark {
    /// A whole line.
    Line(usize),
    /// An expectation of a line.
    Expectation(usize, usize),
}

impl Pass for Marks {
    fn reduce(&self, case: &Case, tests: &mut Tests<'_>) -> Case {
        let marks: Vec<Mark> = case.entries.iter().enumerate().flat_map(|(at, entry)| marks(at, entry)).collect();
        tests.minimize(case, &marks, |kept: &[Mark]| {
            let entries = case.entries.iter().enumerate();
            let entries = entries.filter_map(|(at, entry)| with_marks(at, entry, &marks, kept)).collect();
            Some(Case { entries, ..case.clone() })
        })
    }
}

fn marks(at: usize, entry: &Entry) -> Vec<Mark> {
    match &entry.line {
        Line::Assert(_) | Line::Final(_) | Line::Anomaly(_) => vec![Mark::Line(at)],
        Line::Init(_, expectations) | Line::Step(_, _, expectations) => {
            (0..expectations.len()).map(|index| Mark::Expectation(at, index)).collect()
        }
        _ => Vec::new(),
    }
}

/// The entry with those of its marks that are kept; `None` if it is itself one that is not.
fn with_marks(at: usize, entry: &Entry, all: &[Mark], kept: &[Mark]) -> Option<Entry> {
    let dropped = |mark: Mark| all.contains(&mark) && !kept.contains(&mark);
    if dropped(Mark::Line(at)) {
        return None;
    }
    let mut entry = entry.clone();
    if let Line::Init(_, expectations) | Line::Step(_, _, expectations) = &mut entry.line {
        let stays = |(index, expectation)| (!dropped(Mark::Expectation(at, index))).then_some(expectation);
        *expectations = std::mem::take(expectations).into_iter().enumerate().filter_map(stays).collect();
    }
    Some(entry)
}
