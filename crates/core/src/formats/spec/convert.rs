//! A spec as cases, and a case as a spec.
//!
//! ```text
//!   spec                                   case
//!   setup { CREATE …; INSERT …; }          /*init*/ CREATE …    /*init*/ INSERT …
//!   session s1                             /*s1*/ BEGIN;        the session's setup comes first,
//!   setup { BEGIN; }                       -- step w1
//!   step w1 { UPDATE …; }                  /*s1*/ UPDATE …;     then the steps of the permutation,
//!   teardown { COMMIT; }                   /*s1*/ COMMIT;       then the session's teardown
//!   permutation w1 r2 w1                   (the order of the lines)
//! ```
//!
//! A permutation becomes the order of the lines; permutations that make every session do the same become schedules of one
//! case. The teardown of the whole test is left out: a run of a case begins with an empty database. In the other
//! direction a teardown is made up from what the case creates, and an isolation level becomes a session's setup, which is
//! recognised again.
//!
//! **Limits.** Markers only matter to the transcript and are lost. A spec cannot hold a `}` inside SQL.

use std::collections::{BTreeMap, BTreeSet};

use super::cleanup::{leaves_open, removals, split_statements};
use super::{Permutation, PermutationStep, Spec, SpecSession, SpecStep, StepAt};
use crate::case::{Case, Entry, Item, Line, SessionName, Sql};
use crate::formats::interleaving::{CannotExport, ExportStep, interleaving, refuse_events};
use crate::level::LevelName;
use crate::schedule::Schedule;
use crate::sql::StatementKind;
use crate::trace::Trace;

/// A case made from a spec.
#[derive(Debug, Clone, PartialEq)]
pub struct SpecCase {
    /// The permutations that it stands for, counted from 1 in the order of the spec.
    pub permutations: Vec<usize>,
    /// The case.
    pub case: Case,
}

/// More interleavings than this are not written out as schedules.
const SCHEDULES_MAX: usize = 10_000;

/// The maximum number of steps of all interleavings together.
const STEPS_MAX: usize = 2_000_000;

/// How a level is written in a session's setup.
const SET_LEVEL: &str = "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL ";

/// How a step's name is written above it in a case.
const STEP_PROSE: &str = " step ";

/// The cases that a spec stands for: one per permutation, except that permutations which only differ in their order are
/// schedules of one case. Fails with the reason if a case file cannot hold a step, or if there are too many.
pub fn to_cases(spec: &Spec) -> Result<Vec<SpecCase>, String> {
    let names = session_names(spec);
    let mut groups: Vec<Group> = Vec::new();
    let mut steps_left = STEPS_MAX;
    for (index, permutation) in spec.all_permutations().enumerate() {
        if index >= SCHEDULES_MAX {
            return Err(format!("there are more than {SCHEDULES_MAX} interleavings: name permutations in the spec"));
        }
        let work = permutation.steps.len() + spec.sessions.len();
        let Some(left) = steps_left.checked_sub(work) else {
            return Err(format!(
                "its interleavings have more than {STEPS_MAX} steps together: name fewer permutations"
            ));
        };
        steps_left = left;
        let steps = steps_by_session(spec, &permutation);
        let at = groups.iter().position(|group| group.steps == steps).unwrap_or_else(|| {
            groups.push(Group { steps, numbers: Vec::new(), permutations: Vec::new() });
            groups.len() - 1
        });
        groups[at].numbers.push(index + 1);
        groups[at].permutations.push(permutation);
    }
    let case = |group: Group| {
        let case = to_case(spec, &names, &group.permutations)?;
        Ok(SpecCase { permutations: group.numbers, case })
    };
    groups.into_iter().map(case).collect()
}

/// Permutations that make every session do the same.
struct Group {
    /// For each session, its steps.
    steps: Vec<Vec<usize>>,
    numbers: Vec<usize>,
    permutations: Vec<Permutation>,
}

fn steps_by_session(spec: &Spec, permutation: &Permutation) -> Vec<Vec<usize>> {
    let mut steps = vec![Vec::new(); spec.sessions.len()];
    for StepAt { session, step } in permutation.steps.iter().map(|step| step.at) {
        steps[session].push(step);
    }
    steps
}

/// A case's sessions have simpler names than a spec's; no two become the same.
fn session_names(spec: &Spec) -> Vec<SessionName> {
    let mut names: Vec<SessionName> = Vec::new();
    for session in &spec.sessions {
        let lower = session.name.to_lowercase();
        let mut text: String =
            lower.chars().map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '_' }).collect();
        if !text.starts_with(|c: char| c.is_ascii_lowercase()) {
            text.insert(0, 's');
        }
        let candidates = (1..).map(|n| if n == 1 { text.clone() } else { format!("{text}_{n}") });
        let free = candidates.filter_map(|name| SessionName::new(&name)).find(|name| !names.contains(name));
        names.push(free.expect("there are infinitely many candidates"));
    }
    names
}

fn to_case(spec: &Spec, names: &[SessionName], permutations: &[Permutation]) -> Result<Case, String> {
    let mut builder = Builder { names, entries: Vec::new() };
    for statement in spec.setup.iter().flat_map(|block| split_statements(block)) {
        let sql = Sql::new(statement).map_err(|why| format!("the setup cannot be part of a case: {why}"))?;
        builder.entries.push(Line::Init(sql, Vec::new()).into());
    }
    let mut before: Vec<usize> = Vec::new();
    for (session, text) in spec.sessions.iter().map(|session| session.setup.as_deref().unwrap_or("")).enumerate() {
        for statement in split_statements(text) {
            match statement.strip_prefix(SET_LEVEL).and_then(LevelName::parse) {
                Some(level) => builder.entries.push(Line::Isolation(Some(names[session].clone()), level).into()),
                None => {
                    before.push(session);
                    builder.step(session, statement, Vec::new())?;
                }
            }
        }
    }
    let first = permutations.first().map_or(&[][..], |permutation| &permutation.steps[..]);
    for PermutationStep { at, .. } in first {
        let SpecStep { name, sql } = spec.step(*at);
        // A step without a statement is still a message.
        let sql = if split_statements(sql).is_empty() { "/* nothing */" } else { sql };
        builder.step(at.session, sql, vec![format!("{STEP_PROSE}{name}")])?;
    }
    let mut after: Vec<usize> = Vec::new();
    for (session, text) in spec.sessions.iter().map(|session| session.teardown.as_deref().unwrap_or("")).enumerate() {
        // A run of a case rolls back what is open at its end.
        let is_rollback = |statement: &&str| StatementKind::of(statement) == StatementKind::Rollback;
        for statement in split_statements(text).into_iter().filter(|statement| !is_rollback(statement)) {
            after.push(session);
            builder.step(session, statement, Vec::new())?;
        }
    }
    Ok(builder.finish(spec, permutations, &before, &after))
}

/// A case that is being put together.
struct Builder<'a> {
    names: &'a [SessionName],
    entries: Vec<Entry>,
}

impl Builder<'_> {
    fn step(&mut self, session: usize, sql: &str, prose: Vec<String>) -> Result<(), String> {
        let sql =
            Sql::new(sql).map_err(|why| format!("{} cannot be part of a case: {why}", crate::sql::one_line(sql)))?;
        self.entries.push(Entry { prose, line: Line::Step(self.names[session].clone(), Item::Sql(sql), Vec::new()) });
        Ok(())
    }

    fn finish(mut self, spec: &Spec, permutations: &[Permutation], before: &[usize], after: &[usize]) -> Case {
        if permutations.len() > 1 {
            let schedule = |permutation: &Permutation| {
                let steps = permutation.steps.iter().map(|step| step.at.session);
                let sessions = before.iter().copied().chain(steps).chain(after.iter().copied());
                let schedule = sessions.map(|session| self.names[session].clone()).collect::<Schedule>();
                Entry { prose: permutation.prose.clone(), line: Line::Schedule(schedule) }
            };
            let schedules: Vec<Entry> = permutations.iter().map(schedule).collect();
            self.entries.splice(0..0, schedules);
        } else if let (Some(permutation), Some(entry)) = (permutations.first(), self.entries.first_mut()) {
            entry.prose.splice(0..0, permutation.prose.iter().cloned());
        }
        if let Some(entry) = self.entries.first_mut() {
            entry.prose.splice(0..0, spec.prose.iter().cloned());
        }
        Case { entries: self.entries, ..Case::default() }
    }
}

/// A case as a spec. The permutations are the case's schedules; with a trace, the order in which steps really were
/// submitted, which is the one that PostgreSQL's runner can follow when sessions wait.
pub fn from_case(case: &Case, trace: Option<&Trace>) -> Result<Spec, CannotExport> {
    refuse_events(trace)?;
    let schedules = case.schedules();
    let orders: Vec<Vec<ExportStep>> = match (trace, schedules.as_slice()) {
        (Some(_), _) | (None, []) => vec![interleaving(case, None, trace)?],
        (None, schedules) => {
            schedules.iter().map(|schedule| interleaving(case, Some(schedule), None)).collect::<Result<_, _>>()?
        }
    };
    let mut spec = Spec { prose: claim(case), ..Spec::default() };
    spec.setup = case.setup().iter().map(|sql| block(sql)).collect::<Result<_, _>>()?;
    let steps = || orders.iter().flatten();
    let setup = case.setup();
    let drops = removals(setup.iter().map(String::as_str).chain(steps().map(|step| step.sql.as_str())));
    if !drops.is_empty() {
        spec.teardown = Some(drops.iter().map(|drop| format!("{drop};")).collect::<Vec<_>>().join("\n"));
    }
    let names = spec_sessions(case, &mut spec, &orders)?;
    for order in &orders {
        let mut taken = BTreeMap::new();
        let step = |step: &ExportStep| {
            let index = taken.entry(step.session.clone()).or_insert(0);
            *index += 1;
            StepAt { session: names[&step.session], step: *index - 1 }.into()
        };
        spec.permutations.push(Permutation { prose: Vec::new(), steps: order.iter().map(step).collect() });
    }
    Ok(spec)
}

/// Declares the sessions with their steps; says at which position each session stands.
fn spec_sessions(
    case: &Case,
    spec: &mut Spec,
    orders: &[Vec<ExportStep>],
) -> Result<BTreeMap<SessionName, usize>, CannotExport> {
    let mut positions = BTreeMap::new();
    let mut names: BTreeSet<String> = BTreeSet::new();
    // Every order makes a session do the same: the first tells all.
    let first = orders.first().map_or(&[][..], Vec::as_slice);
    for session in case.sessions() {
        let own: Vec<&ExportStep> = first.iter().filter(|step| step.session == session.name).collect();
        let mut steps = Vec::new();
        for (index, step) in own.iter().enumerate() {
            let name = step_name(step, index, &names);
            names.insert(name.clone());
            steps.push(SpecStep { name, sql: block(&step.sql)? });
        }
        if steps.is_empty() {
            continue;
        }
        let level = case.level_of(&session.name).map(|level| format!("{SET_LEVEL}{};", level.as_str().to_uppercase()));
        let is_open = leaves_open(own.iter().map(|step| step.sql.as_str()));
        let teardown = is_open.then(|| "ROLLBACK;".to_string());
        positions.insert(session.name.clone(), spec.sessions.len());
        spec.sessions.push(SpecSession { name: session.name.to_string(), setup: level, steps, teardown });
    }
    Ok(positions)
}

/// The name that the step had in a spec, or `a1` for the first step of `a` (`t1_1` for that of `t1`); never one that is
/// taken.
fn step_name(step: &ExportStep, index: usize, taken: &BTreeSet<String>) -> String {
    let given = step.prose.iter().find_map(|line| line.strip_prefix(STEP_PROSE)).map(str::trim);
    let given = given.filter(|name| !name.is_empty() && !name.contains(['"', '\n', '\r']) && !taken.contains(*name));
    if let Some(name) = given {
        return name.to_string();
    }
    let is_numbered = step.session.as_str().ends_with(|c: char| c.is_ascii_digit());
    let mut name = format!("{}{}{}", step.session, if is_numbered { "_" } else { "" }, index + 1);
    while taken.contains(&name) {
        name.insert(step.session.as_str().len(), '_');
    }
    name
}

fn claim(case: &Case) -> Vec<String> {
    let first = case.entries.iter().map(|entry| &entry.prose).find(|prose| !prose.is_empty());
    let lines = first.into_iter().flatten().filter(|line| !line.starts_with(STEP_PROSE));
    lines.flat_map(|line| line.lines()).map(|line| line.trim_end().to_string()).collect()
}

/// The text of a block.
fn block(sql: &str) -> Result<String, CannotExport> {
    if sql.contains('}') {
        let what = format!("a spec cannot hold the `}}` in: {}", crate::sql::one_line(sql));
        return Err(CannotExport::Step(what));
    }
    Ok(format!("{sql};"))
}
