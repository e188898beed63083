//! The runs of several targets as one interleaving.
//!
//! ```text
//!       a                       │ b
//!  ─────────────────────────────┼──────────────────────────
//!   1   UPDATE t SET v = 1      │                              what went the same way is told once
//!         → 1 row changed       │
//! ✗ 2                           │ SELECT v FROM t
//!                               │   mariadb → (0)              where answers differ, each target is named
//!                               │   mysql → (1)
//! ✗ 3                           │ DELETE FROM t
//!                               │   mariadb … waits for a      where they part, too;
//!                               │   mysql → 1 row changed
//!
//!  Then, on mariadb                                            after that, each goes its own way
//! ```

use super::super::model::trace::{EventReport, TableReport, TraceReport};
use super::super::model::{ComparisonReport, FindingReport};
use super::answer::answer;
use super::line::Line;
use super::moments::{Said, Teller, and, labelled};
use super::page::Page;
use super::table;
use super::trace::{write_death, write_left_open, write_moments};

/// Runs that agree, by the first of them.
struct Group<'a> {
    labels: Vec<String>,
    trace: &'a TraceReport,
    /// Where the events begin that it does not share with others.
    own: usize,
}

/// The interleaving and the final states of all runs.
pub(crate) fn write(page: &mut Page, finding: &FindingReport, comparison: &ComparisonReport) {
    let traces: Vec<&TraceReport> =
        [&finding.trace].into_iter().chain(finding.others.iter().map(|other| &other.trace)).collect();
    let groups = groups(&traces, comparison);
    let marked: Vec<usize> = comparison.step.into_iter().collect();
    let mut teller = Teller::new(&finding.trace, &marked);
    for step in &comparison.unlike_steps {
        teller.answers.insert(*step, answers(&traces, &comparison.labels, *step));
    }
    let shared = comparison.shared_events.first().copied().unwrap_or(0);
    finding.trace.events.iter().take(shared).for_each(|event| teller.tell(event));
    let ends = tell_parting(&mut teller, &groups);
    write_moments(page, &finding.trace, &teller.moments);
    groups.iter().zip(ends).for_each(|(group, end)| write_rest(page, group, end, &marked));
    write_states(page, &groups, comparison);
}

fn groups<'a>(traces: &[&'a TraceReport], comparison: &ComparisonReport) -> Vec<Group<'a>> {
    let mut groups: Vec<(&Vec<usize>, Group<'a>)> = Vec::new();
    for members in &comparison.groups {
        let Some(first) = members.first().filter(|first| **first < traces.len()) else { continue };
        let labels: Vec<String> = members.iter().filter_map(|at| comparison.labels.get(*at).cloned()).collect();
        let own = comparison.shared_events.get(*first).copied().unwrap_or(0);
        groups.push((members, Group { labels, trace: traces[*first], own }));
    }
    // In the order in which the targets were named: who is the norm, the sentence says.
    groups.sort_by_key(|(members, _)| members.first().copied());
    groups.into_iter().map(|(_, group)| group).collect()
}

/// What each target answered to a step, told together by those who say the same.
fn answers(traces: &[&TraceReport], labels: &[String], step: usize) -> Vec<Said> {
    let mut told: Vec<(Vec<Line>, Vec<String>)> = Vec::new();
    for (trace, label) in traces.iter().zip(labels) {
        let lines = trace.step(step).map(answer).unwrap_or_default();
        match told.iter_mut().find(|(other, _)| *other == lines) {
            Some((_, who)) => who.push(label.clone()),
            None => told.push((lines, vec![label.clone()])),
        }
    }
    told.into_iter().flat_map(|(lines, who)| labelled(&and(&who), lines)).collect()
}

/// Tells of the round in which the groups part: what they have in common, which is its beginning, and then what each of
/// them made of it. Returns where the events of each group go on after that.
fn tell_parting<'a>(teller: &mut Teller<'a>, groups: &[Group<'a>]) -> Vec<usize> {
    let begins: Vec<Option<&EventReport>> = groups.iter().map(|group| group.trace.events.get(group.own)).collect();
    let own = || groups.iter().map(|group| group.own).collect();
    let Some(Some(begin)) = begins.first() else { return own() };
    if !is_cause(begin) || begins.iter().any(|other| *other != Some(*begin)) {
        return own();
    }
    teller.tell(begin);
    let rounds: Vec<&[EventReport]> = groups.iter().map(round_after).collect();
    let answered = answered_alike(groups, begin, &rounds);
    answered.iter().for_each(|event| teller.tell(event));
    for (group, round) in groups.iter().zip(&rounds) {
        teller.turn_to(group.trace, &and(&group.labels));
        round.iter().filter(|event| Some(*event) != answered.as_ref()).for_each(|event| teller.tell(event));
    }
    groups.iter().zip(rounds).map(|(group, round)| group.own + 1 + round.len()).collect()
}

/// What came of the first thing that a group did alone.
fn round_after<'a>(group: &Group<'a>) -> &'a [EventReport] {
    let rest = group.trace.events.get(group.own + 1..).unwrap_or_default();
    &rest[..rest.iter().position(is_cause).unwrap_or(rest.len())]
}

/// The completion of the step that a round began with, if all groups were answered alike: it need not be told by each.
fn answered_alike(groups: &[Group<'_>], begin: &EventReport, rounds: &[&[EventReport]]) -> Option<EventReport> {
    let EventReport::Submitted { step } = begin else { return None };
    let completed = EventReport::Completed { step: *step };
    let answers: Vec<Vec<Line>> =
        groups.iter().map(|group| group.trace.step(*step).map(answer).unwrap_or_default()).collect();
    let alike = answers.iter().all(|lines| *lines == answers[0]);
    (alike && rounds.iter().all(|round| round.contains(&completed))).then_some(completed)
}

/// Whether an event is something that was done, and not something that came of it.
fn is_cause(event: &EventReport) -> bool {
    !matches!(event, EventReport::Waiting { .. } | EventReport::Resumed { .. } | EventReport::Completed { .. })
}

/// What a group did after the groups had parted.
fn write_rest(page: &mut Page, group: &Group<'_>, from: usize, marked: &[usize]) {
    let mut teller = Teller::new(group.trace, marked);
    group.trace.events.iter().skip(from).for_each(|event| teller.tell(event));
    if !teller.moments.is_empty() {
        page.heading(format!("Then, on {}", and(&group.labels)));
        write_moments(page, group.trace, &teller.moments);
        write_left_open(page, group.trace);
    }
    if let Some(death) = &group.trace.death {
        page.heading(format!("On {}", and(&group.labels)));
        write_death(page, death);
    }
}

/// The tables that are the same everywhere once, and the others for each group.
fn write_states(page: &mut Page, groups: &[Group<'_>], comparison: &ComparisonReport) {
    let mut names: Vec<&String> = Vec::new();
    for contents in groups.iter().flat_map(|group| group.trace.final_state.iter().flatten()) {
        if !names.contains(&&contents.table) {
            names.push(&contents.table);
        }
    }
    for name in names {
        if comparison.tables.contains(name) {
            write_each(page, groups, name);
        } else if let Some(contents) = groups.first().and_then(|group| contents(group, name)) {
            page.heading(format!("Final state of {name}"));
            table::write_contents(page, contents);
        }
    }
}

fn contents<'a>(group: &Group<'a>, name: &str) -> Option<&'a TableReport> {
    group.trace.final_state.iter().flatten().find(|contents| contents.table == name)
}

/// What a table holds, for each that holds something else.
fn write_each(page: &mut Page, groups: &[Group<'_>], name: &str) {
    let mut told: Vec<(Option<&TableReport>, Vec<String>)> = Vec::new();
    for group in groups.iter().filter(|group| group.trace.final_state.is_some()) {
        let holds = contents(group, name);
        let same = |other: Option<&TableReport>| other.map(|table| &table.rows) == holds.map(|table| &table.rows);
        match told.iter_mut().find(|(other, _)| same(*other)) {
            Some((_, who)) => who.extend(group.labels.clone()),
            None => told.push((holds, group.labels.clone())),
        }
    }
    for (holds, who) in told {
        page.heading(format!("Final state of {name} on {}", and(&who)));
        match holds {
            Some(holds) => table::write_contents(page, holds),
            None => page.line(Line::plain("  (there is no such table)")),
        }
    }
}
