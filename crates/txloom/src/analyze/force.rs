//! Forcing a schedule: calls, one whole transaction at a time, in a given order.
//!
//! The paper's tool needed a patched database or a patched application for this. An interpreter that sends one message at
//! a time needs neither: whoever is not asked for its next message does not go on. Since a transaction is always
//! finished before another one begins, nobody ever waits.

use std::collections::BTreeMap;
use std::time::Duration;

use txloom_core::case::expect::Rows;
use txloom_core::case::{Call, SessionName};
use txloom_core::dialect::Dialect;
use txloom_core::engine::{Engine, EngineError, Session, SessionId, SessionSpec, State};
use txloom_core::flow::program::Place;
use txloom_core::level::LevelName;
use txloom_core::oracle::RunError;
use txloom_core::outcome::{Outcome, TxStatus};
use txloom_core::program::Program;
use txloom_core::program::interpret::Instance;
use txloom_core::script::EndedCall;

use super::watchdog::Watchdog;
use crate::execute::reset;

/// How far an instance goes before it is somebody else's turn.
#[derive(Debug, Clone)]
pub enum Until {
    /// Up to the beginning of a transaction of this kind.
    Before(Place),
    /// Up to the end of a transaction of this kind.
    Behind(Place),
    /// To its end.
    End,
}

/// A turn: an instance, and how far it goes.
pub type Leg = (usize, Until);

/// What the calls run on.
#[derive(Debug, Clone, Copy)]
pub struct Ground<'a> {
    /// What creates and fills the tables.
    pub setup: &'a [String],
    /// The procedures.
    pub program: &'a Program,
    /// The level of all sessions.
    pub level: Option<&'a LevelName>,
    /// How long a statement may take.
    pub limit: Duration,
    /// Whether what each transaction changes is looked at.
    pub looks: bool,
}

/// A transaction that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// The instance, from 0.
    pub instance: usize,
    /// The positions of its first and last message in the procedure.
    pub from: usize,
    /// See `from`.
    pub to: usize,
    /// What it changed, table by table: the rows that went and those that came.
    pub changes: BTreeMap<String, (Rows, Rows)>,
}

/// What became of the turns.
#[derive(Debug, Default)]
pub struct Forced {
    /// Whose message each one was, in order.
    pub turns: Vec<usize>,
    /// The messages, if what transactions change is looked at.
    pub messages: Vec<String>,
    /// The transactions, in order.
    pub done: Vec<Done>,
    /// How many messages had been sent when each leg was over.
    pub marks: Vec<usize>,
    /// The first leg that did not get where it should.
    pub stuck: Option<usize>,
    /// How the calls ended; `None` for one that did not.
    pub ended: Vec<Option<EndedCall>>,
}

/// Resets the engine and runs the calls, leg by leg. A leg that ends elsewhere ends the run.
pub fn force(engine: &mut dyn Engine, ground: Ground<'_>, calls: &[Call], legs: &[Leg]) -> Result<Forced, RunError> {
    Stage::set(engine, ground, calls)?.play(engine, legs)
}

/// Calls that are ready to begin, each on a connection of its own.
pub struct Stage {
    players: Vec<Player>,
    looks: bool,
}

impl Stage {
    /// Resets the engine and opens the connections.
    pub fn set(engine: &mut dyn Engine, ground: Ground<'_>, calls: &[Call]) -> Result<Stage, RunError> {
        reset(engine, ground.setup)?;
        let dialect = engine.info().dialect;
        let mut players = Vec::new();
        for (at, call) in calls.iter().enumerate() {
            let name = SessionName::new(NAMES[at % NAMES.len()]).expect("the names are names");
            let spec = SessionSpec { id: SessionId(at), name, node: None, level: ground.level.cloned() };
            let instance = Instance::new(ground.program, call, dialect)?;
            players.push(Player::new(engine.open(&spec)?, instance, ground.limit));
        }
        Ok(Stage { players, looks: ground.looks })
    }

    /// Runs the calls, leg by leg. A leg that ends elsewhere ends the run.
    pub fn play(&mut self, engine: &mut dyn Engine, legs: &[Leg]) -> Result<Forced, RunError> {
        let mut state = if self.looks { Some(engine.snapshot()?) } else { None };
        let mut forced = Forced::default();
        for (number, (who, until)) in legs.iter().enumerate() {
            let arrived = run_leg(engine, &mut self.players, *who, until, &mut state, &mut forced)?;
            forced.marks.push(forced.turns.len());
            if !arrived {
                forced.stuck = Some(number);
                break;
            }
        }
        forced.ended = self.players.iter().map(|player| player.instance.ended(0)).collect();
        Ok(forced)
    }
}

/// What the sessions are called.
pub const NAMES: [&str; 2] = ["a", "b"];

/// Lets an instance go as far as it should; false if it ended before.
fn run_leg(
    engine: &mut dyn Engine,
    players: &mut [Player],
    who: usize,
    until: &Until,
    state: &mut Option<State>,
    forced: &mut Forced,
) -> Result<bool, RunError> {
    let dialect = engine.info().dialect;
    loop {
        let player = &mut players[who];
        let Some(at) = player.prepare() else { return Ok(matches!(until, Until::End)) };
        if matches!(until, Until::Before(place) if player.from.is_none() && place.begins.contains(&at)) {
            return Ok(true);
        }
        forced.turns.push(who);
        if state.is_some() {
            forced.messages.extend(player.next.as_ref().map(|(message, _)| message.clone()));
        }
        let Some((from, to)) = player.step()? else { continue };
        let changes = match state {
            Some(before) => {
                let now = engine.snapshot()?;
                let changes = changes(dialect, before, &now);
                *before = now;
                changes
            }
            None => BTreeMap::new(),
        };
        forced.done.push(Done { instance: who, from, to, changes });
        let is_it = |place: &Place| place.begins.contains(&from) && place.ends.contains(&to);
        if matches!(until, Until::Behind(place) if is_it(place)) {
            return Ok(true);
        }
    }
}

/// An instance with its connection.
struct Player {
    session: Box<dyn Session>,
    watchdog: Watchdog,
    instance: Instance,
    /// The next message, with its position, once it is known.
    next: Option<(String, usize)>,
    last: Option<Outcome>,
    has_started: bool,
    /// Where the open transaction began.
    from: Option<usize>,
}

impl Player {
    fn new(session: Box<dyn Session>, instance: Instance, limit: Duration) -> Player {
        let watchdog = Watchdog::new(session.canceller(), limit);
        Player { session, watchdog, instance, next: None, last: None, has_started: false, from: None }
    }

    /// Finds out what comes next, and where in the procedure that is; `None` at the end.
    fn prepare(&mut self) -> Option<usize> {
        if self.next.is_none() && !(self.has_started && self.last.is_none()) {
            let message = self.instance.next(self.last.take().as_ref());
            self.has_started = true;
            self.next = message.map(|message| (message, self.instance.at()));
        }
        self.next.as_ref().map(|(_, at)| *at)
    }

    /// Sends the next message. If a transaction ended with it: the positions where it began and ended.
    fn step(&mut self) -> Result<Option<(usize, usize)>, EngineError> {
        let Some((message, at)) = self.next.take() else { return Ok(None) };
        self.watchdog.note();
        let outcome = self.session.execute(&message)?;
        self.watchdog.note();
        let from = *self.from.get_or_insert(at);
        let is_over = matches!(outcome.status, TxStatus::Idle | TxStatus::Lost);
        self.last = Some(outcome);
        if is_over {
            self.from = None;
        }
        Ok(is_over.then_some((from, at)))
    }
}

/// The rows that went and came, in the tables where some did.
fn changes(dialect: &dyn Dialect, before: &State, now: &State) -> BTreeMap<String, (Rows, Rows)> {
    let mut changes = BTreeMap::new();
    for (table, result) in &now.tables {
        let (mut came, mut went) = (dialect.values(result), Rows::new());
        let old = before.tables.get(table).map(|result| dialect.values(result)).unwrap_or_default();
        for row in old {
            match came.iter().position(|other| *other == row) {
                Some(at) => drop(came.swap_remove(at)),
                None => went.push(row),
            }
        }
        came.sort();
        went.sort();
        if !came.is_empty() || !went.is_empty() {
            changes.insert(table.clone(), (went, came));
        }
    }
    changes
}
