//! Why do targets differ? Asked by running variants of the case.
//!
//! ```text
//!   variant                            if they still differ                 if they agree
//!   one session alone                  nothing to do with transactions
//!   the sessions one after the other   nothing to do with concurrency       concurrency is needed
//!   at another level                   the level has no part in it          the level matters
//!   without one of the sessions        that session has no part in it       that session is needed
//! ```
//!
//! A variant counts as differing only if it differs in the same kind of thing. And there is one question that needs no
//! run: whether the targets even promise the same at this level. If not, they may differ and both be right.

use crate::anomaly;
use crate::case::{Case, Line, SessionName};
use crate::engine::EngineInfo;
use crate::finding::{Finding, labels};
use crate::level::LevelName;
use crate::level::guarantees::{self, Guarantee};
use crate::oracle::diff::words::and;
use crate::oracle::diff::{Comparison, Diff, Kind};
use crate::oracle::{Mode, RunError, Runner, unobserved};
use crate::schedule::Schedule;
use crate::trace::Trace;

/// What a variant of the case shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shows {
    /// The targets differ in the same kind of thing.
    Same,
    /// They differ in something else.
    Other,
    /// They agree.
    Nothing,
    /// It cannot be told.
    Open,
}

/// The finding with what the variants show.
pub(super) fn explain(oracle: &Diff, mut finding: Finding, runner: &mut dyn Runner) -> Result<Finding, RunError> {
    let comparison = Comparison::of(&finding.traces());
    let names: Vec<SessionName> = finding.case.sessions().into_iter().map(|session| session.name).collect();
    let step = comparison.first.and_then(|first| first.step);
    let owner = step.and_then(|id| finding.trace.steps.get(id.0)).map(|step| finding.trace.name(step.session).clone());
    let mut questions = Questions { oracle, case: &finding.case, kind: comparison.kind(), runner };
    let concurrency = questions.concurrency(&names, owner.as_ref())?;
    let mut clauses: Vec<String> = concurrency.iter().map(|(_, clause)| clause.clone()).collect();
    if concurrency.as_ref().is_none_or(|(needed, _)| *needed) {
        clauses.extend(questions.sessions(&names, owner.as_ref())?);
    }
    clauses.extend(questions.levels(&finding.trace)?);
    let promises = promises(&finding.traces(), &comparison);
    match (&concurrency, &promises) {
        (Some((false, clause)), _) => finding.sentence.push_str(&format!(" ({clause})")),
        (_, Some(_)) => finding.sentence.push_str(" (the targets promise different things at this level)"),
        (Some((true, _)), None) => finding.sentence.push_str(" (this takes concurrency)"),
        (None, None) => {}
    }
    finding.explanation.thens.extend(clauses.into_iter().chain(promises));
    Ok(finding)
}

/// Asks by running variants.
struct Questions<'a> {
    oracle: &'a Diff,
    case: &'a Case,
    kind: Kind,
    runner: &'a mut dyn Runner,
}

impl Questions<'_> {
    /// Whether it takes concurrency, and the clause that says so; `None` if that cannot be told.
    fn concurrency(
        &mut self,
        names: &[SessionName],
        owner: Option<&SessionName>,
    ) -> Result<Option<(bool, String)>, RunError> {
        if matches!(self.kind, Kind::Waiting | Kind::Deadlock) {
            return Ok(Some((true, "a session waits only for another one: this takes concurrency".to_string())));
        }
        let mut is_open = false;
        let others = names.iter().filter(|name| Some(*name) != owner);
        for name in owner.into_iter().chain(others) {
            let alone = only(self.case, |other| other == name);
            match self.ask(&alone, &Mode::Scheduled(None))? {
                Shows::Same => {
                    return Ok(Some((false, format!("it takes no concurrency: {name} alone shows it"))));
                }
                shown => is_open |= shown == Shows::Open,
            }
        }
        match self.ask(&only(self.case, |_| true), &Mode::Serial(Vec::new()))? {
            Shows::Same => {
                let clause = "not a matter of concurrency: the sessions one after the other show it".to_string();
                Ok(Some((false, clause)))
            }
            Shows::Open => Ok(None),
            Shows::Other | Shows::Nothing if is_open => Ok(None),
            Shows::Other | Shows::Nothing => {
                let clause = "neither one session alone nor the sessions one after the other show it".to_string();
                Ok(Some((true, clause)))
            }
        }
    }

    /// Which of the sessions are needed, besides the one that sees it.
    fn sessions(&mut self, names: &[SessionName], owner: Option<&SessionName>) -> Result<Option<String>, RunError> {
        let (mut needed, mut idle) = (Vec::new(), Vec::new());
        for name in names.iter().filter(|name| Some(*name) != owner && names.len() > 1) {
            let without = without(self.case, name);
            let mode = Mode::Scheduled(without.schedules().first().map(|schedule| (*schedule).clone()));
            match self.ask(&without, &mode)? {
                Shows::Same => idle.push(name.to_string()),
                Shows::Nothing | Shows::Other => needed.push(name.to_string()),
                Shows::Open => {}
            }
        }
        let has_part = (!needed.is_empty()).then(|| format!("it takes {}: without, it is gone", and(&needed)));
        let no_part = (!idle.is_empty()).then(|| format!("it does not take {}", and(&idle)));
        let clauses: Vec<String> = has_part.into_iter().chain(no_part).collect();
        Ok((!clauses.is_empty()).then(|| clauses.join("; ")))
    }

    /// At which other levels it is to be seen; asked only where all sessions run at one.
    fn levels(&mut self, trace: &Trace) -> Result<Option<String>, RunError> {
        let Some(level) = trace.sessions.first().map(|session| session.level.clone()) else { return Ok(None) };
        if trace.sessions.iter().any(|session| session.level != level) {
            return Ok(None);
        }
        let (mut same, mut other, mut none) = (Vec::new(), Vec::new(), Vec::new());
        for shared in shared_levels(&self.runner.targets()).into_iter().filter(|shared| *shared != level) {
            let mut variant = self.case.clone();
            variant.set_level(shared.clone());
            let mode = Mode::Scheduled(variant.schedules().first().map(|schedule| (*schedule).clone()));
            match self.ask(&variant, &mode)? {
                Shows::Same => same.push(shared.to_string()),
                Shows::Other => other.push(shared.to_string()),
                Shows::Nothing => none.push(shared.to_string()),
                Shows::Open => {}
            }
        }
        let clause = |words: &str, levels: &[String]| (!levels.is_empty()).then(|| format!("{words} {}", and(levels)));
        let clauses: Vec<String> =
            [clause("also at", &same), clause("in another way at", &other), clause("not at", &none)]
                .into_iter()
                .flatten()
                .collect();
        Ok((!clauses.is_empty()).then(|| format!("they differ at {level}, {}", clauses.join(", "))))
    }

    fn ask(&mut self, case: &Case, mode: &Mode) -> Result<Shows, RunError> {
        let traces = match self.oracle.run(case, mode, self.runner) {
            Ok(traces) => traces,
            Err(RunError::Engine(error)) if !error.kind.is_users() => {
                return Err(error.into());
            }
            Err(_) => return Ok(Shows::Open),
        };
        if traces.iter().any(|trace| unobserved(trace).is_some()) {
            return Ok(Shows::Open);
        }
        let comparison = Comparison::of(&traces.iter().collect::<Vec<_>>());
        Ok(match comparison.kind() {
            _ if comparison.agrees() => Shows::Nothing,
            kind if kind == self.kind => Shows::Same,
            _ => Shows::Other,
        })
    }
}

/// The levels that all targets have, weakest first.
fn shared_levels(targets: &[EngineInfo]) -> Vec<LevelName> {
    let Some((first, others)) = targets.split_first() else { return Vec::new() };
    let is_shared = |level: &&LevelName| others.iter().all(|other| other.levels.contains(level));
    first.levels.iter().filter(is_shared).cloned().collect()
}

/// The case with the steps of some sessions, in line order: without schedules, events and assertions.
fn only(case: &Case, keep: impl Fn(&SessionName) -> bool) -> Case {
    let mut case = case.clone();
    case.entries.retain(|entry| match &entry.line {
        Line::Step(name, ..) | Line::Isolation(Some(name), _) | Line::Node(name, _) | Line::First(name) => keep(name),
        Line::Schedule(_) | Line::Event(_) | Line::Assert(_) => false,
        _ => true,
    });
    case
}

/// The case without a session.
fn without(case: &Case, gone: &SessionName) -> Case {
    let mut case = case.clone();
    case.entries.retain(|entry| match &entry.line {
        Line::Step(name, ..) | Line::Isolation(Some(name), _) | Line::Node(name, _) | Line::First(name) => name != gone,
        _ => true,
    });
    for entry in &mut case.entries {
        if let Line::Schedule(Schedule(turns)) = &mut entry.line {
            turns.retain(|entry| entry.session() != Some(gone));
        }
    }
    case
}

/// Whether the targets promise different things at the level of the run, and which.
fn promises(traces: &[&Trace], comparison: &Comparison) -> Option<String> {
    let [norm, other, ..] = comparison.groups.as_slice() else { return None };
    let labels = labels(traces);
    let promise = |at: usize| {
        let level = &traces[at].sessions.first()?.level;
        Some((guarantees::of(&traces[at].engine, level)?, level, labels[at].clone()))
    };
    let ((one, level, one_label), (two, two_level, two_label)) = (promise(norm[0])?, promise(other[0])?);
    let extra = |lax: &Guarantee, strict: &Guarantee| {
        let allowed = anomaly::ALL.iter().filter(|anomaly| !lax.prevents(anomaly) && strict.prevents(anomaly));
        allowed.map(|anomaly| anomaly.name.to_string()).collect::<Vec<_>>()
    };
    let (by_one, by_two) = (extra(one, two), extra(two, one));
    let clause = |allowed: &[String], lax: &str, level: &LevelName, strict: &str| {
        (!allowed.is_empty()).then(|| format!("{level} of {lax} allows {}, that of {strict} does not", and(allowed)))
    };
    let clauses: Vec<String> =
        [clause(&by_one, &one_label, level, &two_label), clause(&by_two, &two_label, two_level, &one_label)]
            .into_iter()
            .flatten()
            .collect();
    let note = "where that is the reason, this is a difference in compatibility, and no bug";
    (!clauses.is_empty()).then(|| format!("{}: {note}", clauses.join("; ")))
}
