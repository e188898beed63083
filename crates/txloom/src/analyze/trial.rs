//! Does a schedule go wrong? Tried on real data, on a real database.

use std::sync::Arc;
use std::time::Duration;

use txloom_core::case::{Call, Case, Item, Line, SessionName, Sql};
use txloom_core::engine::Engine;
use txloom_core::finding::Finding;
use txloom_core::flow::program::Place;
use txloom_core::flow::{Schedule, TransactionId};
use txloom_core::level::LevelName;
use txloom_core::oracle::calls::Calls;
use txloom_core::oracle::{Oracle, RunError, Verdict};
use txloom_core::program::state::{Samples, StateError};
use txloom_core::schedule::{Constraint, Policy, Schedule as Order, StepRef};

use super::aim::{Aim, aim};
use super::data::{self, Start, Wishes};
use super::force::{Done, Forced, Ground, Leg, NAMES, Until, force};
use super::{Analysis, Project};
use crate::execute::{EngineRunner, reset};

/// How many different rows and arguments are tried before a schedule counts as harmless.
pub const TRIES: u64 = 6;

/// The name that cases give to the program beside them.
pub const PROGRAM_FILE: &str = "program.sql";

/// What is asked of the runs.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The level of all sessions.
    pub level: LevelName,
    /// What tables are filled with, if the application's files do not say.
    pub samples: Samples,
    /// What all random choices follow from.
    pub seed: u64,
    /// How long a statement may take.
    pub limit: Duration,
}

/// What became of a schedule.
#[derive(Debug)]
pub enum Fate {
    /// It goes wrong.
    Manifest(Box<Manifest>),
    /// It can be run, and what it does is what some order of the calls does.
    Harmless {
        /// The order, on the last data that was tried.
        witness: String,
        /// On how many different data.
        tries: u64,
    },
    /// It cannot be run: conditions contradict each other.
    Impossible(String),
    /// It was not possible to get there with any data that was tried.
    NotReached {
        /// What happened instead, the last time.
        instead: String,
        /// How often it was tried.
        tries: u64,
    },
    /// Nothing can be concluded.
    Undecided(String),
}

/// A run that went wrong.
#[derive(Debug)]
pub struct Manifest {
    /// What is wrong, with the case that shows it.
    pub finding: Finding,
    /// What each transaction changed.
    pub done: Vec<Done>,
    /// The calls.
    pub calls: Vec<Call>,
}

/// Why schedules cannot be tried at all.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// No rows can be made.
    #[error("{0}; put INSERT statements into the schema file, or give sample values with --samples")]
    State(#[from] StateError),
}

/// Tries schedules of one program on one target.
pub struct Trials<'a> {
    project: &'a Project,
    analysis: &'a Analysis,
    settings: &'a Settings,
    runner: &'a mut EngineRunner,
}

impl<'a> Trials<'a> {
    /// Prepares to try schedules on the runner's first target.
    pub fn new(
        project: &'a Project,
        analysis: &'a Analysis,
        settings: &'a Settings,
        runner: &'a mut EngineRunner,
    ) -> Trials<'a> {
        Trials { project, analysis, settings, runner }
    }

    /// Tries a schedule on several data, until it goes wrong.
    pub fn of(&mut self, schedule: &Schedule) -> Result<Fate, TrialError> {
        let aimed = match aim(self.project, self.analysis, schedule) {
            Aim::Values(wishes) => Some(wishes),
            Aim::Impossible(why) => return Ok(Fate::Impossible(why)),
            Aim::Unknown => None,
        };
        let mut last = Fate::Undecided("nothing was tried".to_string());
        for attempt in 0..TRIES {
            let seed = self.settings.seed.wrapping_add(attempt);
            let wishes = self.wishes(attempt, aimed.as_ref());
            let start = self.start(&wishes, seed)?;
            let procedures = [schedule.first.procedure, schedule.between.procedure];
            let call = |(instance, procedure): (usize, usize)| {
                data::call(self.project, (procedure, instance), &start, &wishes, seed)
            };
            let calls: Vec<Call> = procedures.into_iter().enumerate().map(call).collect();
            let fate = self.attempt(schedule, &start, calls, attempt + 1)?;
            let is_better =
                !matches!(last, Fate::Harmless { .. }) || matches!(fate, Fate::Manifest(_) | Fate::Harmless { .. });
            if is_better {
                last = fate;
            }
            if matches!(last, Fate::Manifest(_)) {
                break;
            }
        }
        Ok(last)
    }

    /// What the solver says; what it says and plenty of everything else; plenty of everything; nothing in particular.
    fn wishes(&self, attempt: u64, aimed: Option<&Wishes>) -> Wishes {
        const PLENTY: i64 = 100;
        let plenty = Wishes::plenty(&self.project.schema, PLENTY + i64::try_from(attempt).unwrap_or(0));
        match (attempt % 4, aimed) {
            (0, Some(aimed)) => aimed.clone().or(plenty),
            (1, Some(aimed)) => aimed.clone(),
            (0 | 2, _) => plenty,
            _ => Wishes::default(),
        }
    }

    pub(super) fn level(&self) -> &LevelName {
        &self.settings.level
    }

    pub(super) fn project(&self) -> &'a Project {
        self.project
    }

    pub(super) fn engine(&mut self) -> &mut dyn Engine {
        self.runner.engines_mut()[0].as_mut()
    }

    /// The seeds of several tries.
    pub(super) fn seeds(&self, tries: u64) -> impl Iterator<Item = u64> + use<> {
        let seed = self.settings.seed;
        (0..tries).map(move |attempt| seed.wrapping_add(attempt))
    }

    /// Rows to begin with.
    pub(super) fn start(&mut self, wishes: &Wishes, seed: u64) -> Result<Start, TrialError> {
        if self.project.rows.is_empty() {
            return Ok(data::invented(self.project, &self.settings.samples, wishes, seed)?);
        }
        let setup: Vec<String> = self.project.definitions.iter().chain(&self.project.rows).cloned().collect();
        let engine = self.engine();
        reset(engine, &setup)?;
        let held = engine.snapshot().map_err(RunError::from)?;
        let dialect = engine.info().dialect;
        Ok(data::given(self.project, &held, dialect, seed)?)
    }

    fn attempt(
        &mut self,
        schedule: &Schedule,
        start: &Start,
        calls: Vec<Call>,
        tries: u64,
    ) -> Result<Fate, TrialError> {
        let legs = self.legs(schedule, tries.is_multiple_of(2));
        let forced = self.force(start, &calls, &legs)?;
        if let Some(leg) = forced.stuck {
            let instead = self.instead(schedule, &forced, leg + 6 - legs.len());
            return Ok(Fate::NotReached { instead, tries });
        }
        let case = self.case(start, &calls, &forced);
        let policy = Policy::Partial(constraints(&forced));
        let oracle = Calls { policy };
        let found = match oracle.judge(&case, self.runner)? {
            Verdict::Holds(witness) | Verdict::Vacuous(witness) => return Ok(Fate::Harmless { witness, tries }),
            Verdict::Unknown(reason) | Verdict::Unstable(reason) => return Ok(Fate::Undecided(reason)),
            Verdict::Violated(findings) => findings.into_iter().next(),
        };
        // Nothing is told that does not happen again.
        let again = match oracle.judge(&case, self.runner)? {
            Verdict::Violated(findings) => findings.into_iter().next(),
            _ => None,
        };
        Ok(match (found, again) {
            (Some(finding), Some(again)) if finding.fingerprint == again.fingerprint => {
                Fate::Manifest(Box::new(Manifest { finding, done: forced.done, calls }))
            }
            _ => Fate::Undecided("it went wrong once, and not the second time".to_string()),
        })
    }

    pub(super) fn force(&mut self, start: &Start, calls: &[Call], legs: &[Leg]) -> Result<Forced, RunError> {
        let ground = Ground {
            setup: &start.setup,
            program: &self.project.program,
            level: Some(&self.settings.level),
            limit: self.settings.limit,
            looks: true,
        };
        force(self.runner.engines_mut()[0].as_mut(), ground, calls, legs)
    }

    /// A up to the end of Ti, B up to the end of Tj, A's Tk; then both to their ends. What B does before Tj comes before
    /// everything else, or in between, too.
    fn legs(&self, schedule: &Schedule, prepares: bool) -> Vec<Leg> {
        let place = |id: TransactionId| self.place(id).clone();
        let (first, between, last) = (place(schedule.first), place(schedule.between), place(schedule.last));
        let before = prepares.then(|| (1, Until::Before(between.clone())));
        let rest = [
            (0, Until::Behind(first)),
            (1, Until::Behind(between)),
            (0, Until::Behind(last)),
            (0, Until::End),
            (1, Until::End),
        ];
        before.into_iter().chain(rest).collect()
    }

    pub(super) fn place(&self, id: TransactionId) -> &Place {
        &self.analysis.flowing.places[id.procedure][id.node]
    }

    /// What happened instead of the transaction that a leg should have come to.
    fn instead(&self, schedule: &Schedule, forced: &Forced, leg: usize) -> String {
        let wanted = [schedule.between, schedule.first, schedule.between, schedule.last];
        let Some(wanted) = wanted.get(leg) else { return "a call did not end".to_string() };
        let instance = usize::from(leg.is_multiple_of(2));
        let name = &self.analysis.flowing.application.node(*wanted).name;
        let who = ["A", "B"][instance];
        match forced.ended.get(instance).and_then(Option::as_ref).map(|call| &call.end) {
            Some(txloom_core::program::interpret::CallEnd::Failed(failure)) => {
                format!("{who} failed before it came to {name}: {failure}")
            }
            _ => format!("{who} took another way and never came to {name}"),
        }
    }

    /// The run as a case: calls, rows, and the order of their messages.
    fn case(&self, start: &Start, calls: &[Call], forced: &Forced) -> Case {
        let mut case = Case { program: Some(Arc::clone(&self.project.program)), ..Case::default() };
        let names: Vec<SessionName> = NAMES.iter().filter_map(|name| SessionName::new(name)).collect();
        let mut lines =
            vec![Line::Isolation(None, self.settings.level.clone()), Line::Program(PROGRAM_FILE.to_string())];
        lines.extend(start.setup.iter().filter_map(|sql| Sql::new(sql).ok()).map(|sql| Line::Init(sql, Vec::new())));
        lines.extend(self.project.asserts.iter().map(|(_, assert)| Line::Assert(assert.clone())));
        let step = |(name, call): (&SessionName, &Call)| Line::Step(name.clone(), Item::Call(call.clone()), Vec::new());
        lines.extend(names.iter().zip(calls).map(step));
        lines.push(Line::Schedule(forced.turns.iter().map(|who| names[*who].clone()).collect::<Order>()));
        case.entries = lines.into_iter().map(Into::into).collect();
        case
    }
}

/// What must come before what: the end of each leg before the beginning of the next one.
fn constraints(forced: &Forced) -> Vec<Constraint> {
    let step = |at: usize| {
        let who = forced.turns[at];
        let index = forced.turns[..at].iter().filter(|other| **other == who).count();
        SessionName::new(NAMES[who]).map(|session| StepRef { session, index })
    };
    let boundaries = forced.marks.iter().filter(|mark| **mark > 0 && **mark < forced.turns.len());
    let between = boundaries.filter(|mark| forced.turns[**mark - 1] != forced.turns[**mark]);
    between.filter_map(|mark| Some(Constraint { first: step(mark - 1)?, then: step(*mark)? })).collect()
}
