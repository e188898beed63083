//! Leaves out events: of the line order, and of the schedules.

use crate::case::{Case, Line};
use crate::reduce::{Pass, Tests};
use crate::schedule::ScheduleEntry;

pub(super) struct Events;

impl Pass for Events {
    fn reduce(&self, case: &Case, tests: &mut Tests<'_>) -> Case {
        let all: Vec<usize> = (0..case.events().count()).collect();
        tests.minimize(case, &all, |kept: &[usize]| Some(with_events(case, kept)))
    }
}

/// The case with those of its events, numbered in the order of [`Case::events`], that are kept.
fn with_events(case: &Case, kept: &[usize]) -> Case {
    let mut number = 0;
    let mut stays = |is_event: bool| {
        number += usize::from(is_event);
        !is_event || kept.contains(&(number - 1))
    };
    let mut changed = case.clone();
    changed.entries.retain_mut(|entry| match &mut entry.line {
        Line::Schedule(schedule) => {
            schedule.0.retain(|entry| stays(matches!(entry, ScheduleEntry::Event(_))));
            true
        }
        line => stays(matches!(line, Line::Event(_))),
    });
    changed
}
