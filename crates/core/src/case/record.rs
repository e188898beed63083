//! The outcomes of runs, written down as expectations.
//!
//! With one trace every observation becomes an expectation. With several (of several targets) what all of them share
//! is written once, and what only some show is guarded by engine, and by version and level where one engine ran in
//! several ways.

use crate::case::expect::{Bound, Expect, Expectation, Guard, Relation, Term};
use crate::case::{Case, Entry, Final, Line};
use crate::engine::SessionId;
use crate::level::LevelName;
use crate::sql::tokens;
use crate::trace::compare::sorted;
use crate::trace::{StepId, StepRun, Trace};

/// The case with its expectations replaced by what was observed. Marks (`[anomaly]`) and assertions stay.
pub fn record(case: &Case, traces: &[&Trace]) -> Case {
    let mut recorded = case.clone();
    recorded.entries.retain(|entry| match &entry.line {
        Line::Final(expected) => expected.guard == Some(Guard::Anomaly),
        _ => true,
    });
    let mut items_seen = std::collections::BTreeMap::new();
    for entry in &mut recorded.entries {
        match &mut entry.line {
            Line::Init(_, expectations) => expectations.clear(),
            Line::Step(name, _, expectations) => {
                let item = items_seen.entry(name.clone()).or_insert(0);
                let observed: Vec<Vec<Expect>> = traces
                    .iter()
                    .map(|trace| {
                        let session = trace.sessions.iter().position(|run| run.name == *name);
                        session.map_or(Vec::new(), |session| observe(trace, SessionId(session), *item))
                    })
                    .collect();
                *item += 1;
                expectations.retain(|expectation| expectation.guard == Some(Guard::Anomaly));
                expectations.splice(0..0, merge(traces, &observed));
            }
            _ => {}
        }
    }
    recorded.entries.extend(finals(traces));
    recorded
}

/// What one trace shows of one item.
fn observe(trace: &Trace, session: SessionId, item: usize) -> Vec<Expect> {
    let steps: Vec<(StepId, &StepRun)> = (0..trace.steps.len())
        .map(|at| (StepId(at), &trace.steps[at]))
        .filter(|(_, step)| step.session == session && step.item == item)
        .collect();
    let mut observed = Vec::new();
    if steps.iter().any(|(_, step)| step.waited) {
        observed.push(Expect::Blocked);
    }
    let resumed: Vec<_> = steps.iter().flat_map(|(id, _)| trace.resumed_by(*id)).collect();
    if !resumed.is_empty() {
        observed.push(Expect::Resumes(resumed.into_iter().map(|session| trace.name(session).clone()).collect()));
    }
    observed.extend(steps.last().and_then(|(_, step)| answer(trace, step)));
    let tag = steps.last().and_then(|(_, step)| surprising_tag(trace, step));
    observed.extend(tag.map(Expect::Tag));
    observed
}

/// The answer, unless it is the unremarkable success of a statement without rows.
fn answer(trace: &Trace, step: &StepRun) -> Option<Expect> {
    if step.cancelled.is_some() {
        return Some(Expect::Cancelled);
    }
    let outcome = step.outcome.as_ref()?;
    if let Some(class) = outcome.error_class() {
        return Some(Expect::Error(class));
    }
    if let Some(result) = outcome.rows() {
        let rows = trace.engine.dialect.values(result);
        let ordered = tokens(&step.sql).windows(2).any(|pair| pair[0].is_word("ORDER") && pair[1].is_word("BY"));
        return Some(if ordered { Expect::Ordered(rows) } else { Expect::Rows(sorted(rows)) });
    }
    outcome.affected().map(Expect::Affected)
}

/// A COMMIT that the server answered with another tag, e.g. `ROLLBACK`.
fn surprising_tag(trace: &Trace, step: &StepRun) -> Option<String> {
    let tag = step.outcome.as_ref()?.tag()?;
    let is_commit = trace.engine.dialect.kind(&step.sql) == crate::sql::StatementKind::Commit;
    (is_commit && tag != "COMMIT").then(|| tag.to_string())
}

/// What all observed, once; what only some did, guarded.
fn merge(traces: &[&Trace], observed: &[Vec<Expect>]) -> Vec<Expectation> {
    let mut merged: Vec<Expectation> = Vec::new();
    for expect in observed.iter().flatten() {
        if merged.iter().any(|expectation| expectation.expect == *expect) {
            continue;
        }
        let seen_by: Vec<usize> = (0..traces.len()).filter(|at| observed[*at].contains(expect)).collect();
        merged.push(Expectation { guard: guard_for(traces, &seen_by), expect: expect.clone() });
    }
    merged
}

fn finals(traces: &[&Trace]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let states: Vec<Vec<(String, crate::case::Rows)>> = traces
        .iter()
        .map(|trace| {
            let tables = trace.final_state.iter().flat_map(|state| &state.tables);
            tables.map(|(name, result)| (name.clone(), sorted(trace.engine.dialect.values(result)))).collect()
        })
        .collect();
    let mut done = Vec::new();
    for table in states.iter().flatten() {
        if done.contains(&table) {
            continue;
        }
        done.push(table);
        let seen_by: Vec<usize> = (0..traces.len()).filter(|at| states[*at].contains(table)).collect();
        let guard = guard_for(traces, &seen_by);
        entries.push(Line::Final(Final { guard, table: table.0.clone(), rows: table.1.clone() }).into());
    }
    entries
}

/// The guard that tells these traces from the others; none if they are all.
fn guard_for(traces: &[&Trace], seen_by: &[usize]) -> Option<Guard> {
    if seen_by.len() == traces.len() {
        return None;
    }
    let mut terms: Vec<Term> = Vec::new();
    for at in seen_by {
        let term = shortest_term(traces, seen_by, *at);
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
    Some(Guard::Any(terms))
}

/// The shortest term that matches this trace and none of those that did not see it: the engine alone, a version of it, a
/// level of it, or both.
fn shortest_term(traces: &[&Trace], seen_by: &[usize], at: usize) -> Term {
    let (family, version, level) = kind(traces[at]);
    let holds_for_all = |like: &dyn Fn(&Trace) -> bool| {
        let alike = |other: &usize| traces[*other].engine.family == family && like(traces[*other]);
        (0..traces.len()).filter(alike).all(|other| seen_by.contains(&other))
    };
    let of_version = |trace: &Trace| kind(trace).1 == version;
    let of_level = |trace: &Trace| kind(trace).2 == level;
    let (with_version, with_level) = if holds_for_all(&|_| true) {
        (false, false)
    } else if holds_for_all(&of_level) {
        (false, true)
    } else if holds_for_all(&of_version) {
        (true, false)
    } else {
        (true, true)
    };
    let bound = Bound { relation: Relation::Equal, version };
    Term {
        engine: Some(family.to_string()),
        bounds: with_version.then_some(bound).into_iter().collect(),
        level: level.filter(|_| with_level),
    }
}

/// What guards can tell of a trace: the family, the first two numbers of the version, the level of its first session.
fn kind(trace: &Trace) -> (&'static str, Vec<u32>, Option<LevelName>) {
    let version = trace.engine.version.numbers.iter().take(2).copied().collect();
    (trace.engine.family, version, trace.sessions.first().map(|session| session.level.clone()))
}
