//! The one who watches: opens connections, cancels what takes too long, kills the server, listens.
//!
//! ```text
//!             ┌──────────────── connections ─────────────────┐
//!            run  ── cancel, kill ──→ engine                 ↓
//!             ↑                                            client
//!             └──── Lost (wants another), Ended (all done) ──┘
//! ```
//!
//! The engine belongs to this thread alone; clients have only their sessions. A client that lost its connection gets a
//! new one here, after it was asked whether the server died. A client whose statement does not even end when it is
//! cancelled is left behind: the storm ends without it, and says so, but it never hangs.

mod faults;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use txloom_core::case::SessionName;
use txloom_core::engine::{Cancel, Engine, EngineError, EngineErrorKind, EngineInfo, Session, SessionId, SessionSpec};
use txloom_core::history::Status;

use super::Storm;
use super::choice::{Choices, ROLL_BACK_TO, RollbackShares, SET_SAVEPOINT};
use super::client::{Client, Message, Share};
use super::contention::Contention;
use super::fault::{FaultCounts, FaultKind};
use super::invariant::{Breach, Inquiry};
use super::judge::{Promise, promise};
use super::log;
use super::recording::Recording;
use super::recovery::losses;
use super::shared::{Shared, Tally};
use super::watch::{Damage, Ended, Plan, Progress, Summary, Watcher};
use super::workload::Transactions;
use crate::interrupt;
use faults::Timetable;

/// How often the clients are looked after.
const TICK: Duration = Duration::from_millis(20);
/// How often a watcher is told of progress.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);
/// How long a cancelled statement may take to end before its session is left behind.
const CANCEL_GRACE: Duration = Duration::from_secs(5);

/// A client, seen from here.
struct Handle {
    canceller: Box<dyn Cancel>,
    /// Where it waits for connections; `None`: there will be none.
    connections: Option<Sender<Box<dyn Session>>>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Working,
    Lost,
    Ended,
    /// Its statement does not end: nobody waits for it any more.
    LeftBehind,
}

/// A storm that is under way.
pub(super) struct Run<'a> {
    storm: &'a Storm<'a>,
    engine: &'a mut dyn Engine,
    shared: Arc<Shared>,
    tell: Sender<Message>,
    told: Receiver<Message>,
    handles: Vec<Handle>,
    rollbacks: RollbackShares,
    tally: Tally,
    done: Recording,
    /// The transaction that was last run while nobody else was at work.
    alone: Recording,
    ended: Option<Ended>,
    audited: u64,
    /// Whether everything was read and compared at the end.
    is_audited_at_end: bool,
    damage: Vec<Damage>,
    /// How many invariants were answered, the last time.
    invariants: usize,
    breaches: Vec<Breach>,
    troubles: Vec<String>,
    timetable: Timetable,
    faults: FaultCounts,
    last_progress: Instant,
}

impl<'a> Run<'a> {
    /// Opens all sessions; when all are there, they begin.
    pub(super) fn start(storm: &'a Storm<'a>, engine: &'a mut dyn Engine) -> Result<Run<'a>, EngineError> {
        let count = storm.scale.sessions;
        let mut sessions = Vec::new();
        for number in 0..count {
            match open(storm, engine, number) {
                Ok(session) => sessions.push(session),
                Err(error) => return Err(too_few(error, number, count)),
            }
        }
        let mut rollbacks = storm.workload.rollbacks();
        if !sessions.first_mut().is_some_and(|session| has_savepoints(session.as_mut(), engine.info())) {
            rollbacks.to_savepoint = 0;
        }
        let (tell, told) = channel();
        // One place more, for audits.
        let shared = Arc::new(Shared::new(storm.budget, storm.rate, count + 1));
        let mut run = Run {
            storm,
            engine,
            shared,
            tell,
            told,
            handles: Vec::new(),
            rollbacks,
            tally: Tally::default(),
            done: Recording::default(),
            alone: Recording::default(),
            ended: None,
            audited: 0,
            is_audited_at_end: false,
            damage: Vec::new(),
            invariants: 0,
            breaches: Vec::new(),
            troubles: Vec::new(),
            timetable: Timetable::new(&storm.faults),
            faults: FaultCounts::default(),
            last_progress: Instant::now(),
        };
        for (number, session) in sessions.into_iter().enumerate() {
            let transactions = storm.workload.session(storm.seed, number);
            if let Err(error) = run.spawn(number, session, transactions, Share::OfBudget) {
                run.stop(Ended::ByWatcher);
                run.until_all_ended(&mut ());
                return Err(too_few(error, number, count));
            }
        }
        Ok(run)
    }

    /// Sets a client to work on a thread of its own.
    fn spawn(
        &mut self,
        number: usize,
        session: Box<dyn Session>,
        transactions: Box<dyn Transactions>,
        share: Share,
    ) -> Result<(), EngineError> {
        let canceller = session.canceller();
        let (give, connections) = channel();
        let client = Client {
            number,
            session,
            transactions,
            dialect: self.engine.info().dialect,
            shared: Arc::clone(&self.shared),
            share,
            is_recording: self.storm.is_recording,
            choices: match share {
                Share::OfBudget => Choices::new(self.rollbacks, self.storm.seed, number),
                Share::One => Choices::none(),
            },
            undone_session: (self.storm.scale.sessions + 1 + number) as u32,
            tell: self.tell.clone(),
            connections,
            tally: Tally::default(),
            done: Recording::default(),
            calls_known: self.shared.calls(),
        };
        // Not a scoped thread: one that hangs must not make us hang.
        let thread = std::thread::Builder::new().name(format!("session {number}"));
        thread.spawn(move || client.run()).map_err(|error| {
            let what = format!("cannot start a thread for a session: {error}");
            EngineError::new(&self.engine.info().target, EngineErrorKind::Unreachable(what))
        })?;
        let handle = Handle { canceller, connections: Some(give), state: State::Working };
        match self.handles.get_mut(number) {
            Some(place) => *place = handle,
            None => self.handles.push(handle),
        }
        Ok(())
    }

    /// Begins nothing any more. The first reason counts.
    pub(super) fn stop(&mut self, why: Ended) {
        self.ended.get_or_insert(why);
        self.shared.end();
        self.handles.iter_mut().for_each(|handle| handle.connections = None);
    }

    /// Listens until every client has ended, or is left behind.
    pub(super) fn until_all_ended(&mut self, watcher: &mut dyn Watcher) {
        while self.handles.iter().any(|handle| matches!(handle.state, State::Working | State::Lost)) {
            match self.told.recv_timeout(TICK) {
                Ok(message) => self.hear(message),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            self.look(watcher);
        }
        self.mend();
    }

    fn hear(&mut self, message: Message) {
        match message {
            Message::Lost { number, done } => {
                self.keep(number, done);
                self.handles[number].state = State::Lost;
                self.replace_lost(number);
            }
            Message::Ended { number, result, tally, done } => {
                self.keep(number, done);
                // An audit is no part of the storm.
                if number < self.storm.scale.sessions {
                    self.tally.merge(&tally);
                }
                self.handles[number].state = State::Ended;
                if let Err(error) = result {
                    self.stop(Ended::Failed(error));
                }
            }
        }
    }

    fn keep(&mut self, number: usize, done: Recording) {
        let is_alone = number >= self.storm.scale.sessions;
        if is_alone { &mut self.alone } else { &mut self.done }.append(done);
    }

    /// Gives a client another connection; if the server died, that is the end.
    fn replace_lost(&mut self, number: usize) {
        if self.shared.is_over() {
            return self.handles[number].connections = None;
        }
        if self.timetable.is_full() {
            // A server may refuse connections now, or die; when there is room again everybody gets a new one.
            return;
        }
        if let Some(death) = self.engine.death() {
            return self.stop(Ended::Died(death));
        }
        match open(self.storm, self.engine, number) {
            Ok(session) => self.connect(number, session),
            Err(error) => self.stop(Ended::Failed(error)),
        }
    }

    fn connect(&mut self, number: usize, session: Box<dyn Session>) {
        let handle = &mut self.handles[number];
        handle.canceller = session.canceller();
        handle.state = State::Working;
        // A client that is lost listens.
        let _ = handle.connections.as_ref().map(|connections| connections.send(session));
    }

    /// Whatever has to be looked after from time to time.
    fn look(&mut self, watcher: &mut dyn Watcher) {
        if interrupt::requested() {
            self.stop(Ended::Interrupted);
        }
        if self.storm.budget.time.is_some_and(|time| self.shared.elapsed() >= time) {
            self.stop(Ended::Budget);
        }
        self.cancel_slow();
        self.break_what_is_due();
        if self.last_progress.elapsed() >= PROGRESS_EVERY {
            self.last_progress = Instant::now();
            if watcher.progress(&self.progress()).is_break() {
                self.stop(Ended::ByWatcher);
            }
        }
    }

    fn is_working(&self) -> bool {
        self.handles.iter().any(|handle| handle.state == State::Working)
    }

    fn progress(&self) -> Progress {
        Progress {
            committed: self.shared.committed.load(Ordering::Relaxed),
            rolled_back: self.shared.rolled_back.load(Ordering::Relaxed),
            faults: self.faults,
            elapsed: self.shared.elapsed(),
        }
    }

    /// Cancels statements that take too long, and gives up those that do not end.
    fn cancel_slow(&mut self) {
        let limit = self.storm.statement_limit;
        for number in 0..self.handles.len() {
            let busy = self.shared.busy_for(number).unwrap_or_default();
            if self.handles[number].state != State::Working || busy <= limit {
                continue;
            }
            if busy > limit + CANCEL_GRACE {
                self.handles[number].state = State::LeftBehind;
                let what = format!("a statement did not end within {CANCEL_GRACE:?} after it was cancelled");
                let error = EngineError::new(&self.engine.info().target, EngineErrorKind::Lost(what));
                self.stop(Ended::Failed(error));
            }
            // One that cannot be cancelled now is tried again.
            let _ = self.handles[number].canceller.cancel();
        }
    }

    /// Reads everything while nobody is at work, and compares it with what was acknowledged. `after` is what happened
    /// last; nothing at the end.
    fn audit(&mut self, after: Option<(FaultKind, u64)>) {
        if !self.storm.is_recording {
            return;
        }
        // A transaction that isolates nobody may write rows, by a condition, that it did not see; then what it wrote is not
        // what we wrote down.
        let promises_nothing = self.promise() == Some(Promise::Nothing);
        if let Err(error) = self.alone(self.storm.workload.audit()) {
            return self.troubles.push(format!("what is there at the end could not be read: {error}"));
        }
        let recording = std::mem::take(&mut self.alone);
        let mut found = None;
        recording.visit(|audit| found = (audit.status == Status::Committed).then(|| audit.accesses.clone()));
        match found {
            Some(found) => {
                self.storm.workload.at_rest(&found);
                self.audited += u64::from(after.is_some() && !promises_nothing);
                self.is_audited_at_end = after.is_none() && !promises_nothing;
                if !promises_nothing {
                    let losses = losses(&self.done, &found);
                    self.damage.extend((!losses.is_empty()).then_some(Damage { after, losses }));
                }
            }
            None => {
                self.troubles.push("what is there at the end could not be read: the transaction failed".to_string())
            }
        }
        self.done.append(recording);
    }

    /// Asks whether the invariants hold while nobody is at work. Of each that does not, the first time is told.
    fn inquire(&mut self, after: Option<(FaultKind, u64)>) {
        let invariants = self.storm.workload.invariants();
        if !self.storm.is_recording || invariants.is_empty() {
            return;
        }
        let (tell, answers) = channel();
        if let Err(error) = self.alone(Box::new(Inquiry::new(&invariants, tell))) {
            return self.troubles.push(format!("the invariants could not be asked for: {error}"));
        }
        // It is no part of the history.
        self.alone = Recording::default();
        let promised = self.promise();
        let answers: Vec<_> = answers.try_iter().collect();
        self.invariants = answers.iter().filter(|answer| answer.is_ok()).count();
        if self.invariants < invariants.len() {
            let why = answers.iter().find_map(|answer| answer.as_ref().err());
            let (what, why) = (invariants[self.invariants].name, why.map_or("the connection was lost", String::as_str));
            self.troubles.push(format!("whether the invariant `{what}` holds could not be asked for: {why}"));
        }
        for (invariant, found) in invariants.into_iter().zip(answers.into_iter().flatten()) {
            let is_known = self.breaches.iter().any(|breach| breach.invariant.name == invariant.name);
            if found.row_count > 0 && !is_known {
                self.breaches.push(Breach { invariant, after, promised, found });
            }
        }
    }

    /// What the engine promises at the level of the storm.
    fn promise(&self) -> Option<Promise> {
        let info = self.engine.info();
        promise(info, self.storm.level.as_ref().unwrap_or(&info.default_level))
    }

    /// Lets one transaction run while nobody else is at work.
    fn alone(&mut self, transactions: Box<dyn Transactions>) -> Result<(), EngineError> {
        let number = self.storm.scale.sessions;
        let session = open(self.storm, self.engine, number)?;
        self.spawn(number, session, transactions, Share::One)?;
        while self.handles[number].state == State::Working {
            match self.told.recv_timeout(TICK) {
                Ok(message) => self.hear(message),
                Err(_) => self.cancel_slow(),
            }
        }
        Ok(())
    }

    /// Looks at what is left, and puts everything together.
    pub(super) fn finish(mut self, plan: Plan) -> Summary {
        let elapsed = self.shared.elapsed();
        self.shared.end();
        let is_complete = self.handles.iter().all(|handle| handle.state == State::Ended);
        let has_server = !matches!(self.ended, Some(Ended::Died(_) | Ended::NotRecovered(_)));
        if is_complete && has_server && !matches!(self.ended, Some(Ended::Damaged)) {
            self.audit(None);
            self.inquire(None);
        }
        let workload = self.storm.workload;
        let name = |item| workload.item_name(item);
        let is_recorded = self.storm.is_recording && is_complete;
        let contention = is_recorded.then(|| Contention::of(&self.done));
        let history = is_recorded.then(|| log::history(&self.done, &name));
        Summary {
            plan,
            elapsed,
            contention,
            figures: workload.figures(),
            history,
            tally: self.tally,
            faults: self.faults,
            ended: self.ended.unwrap_or(Ended::Budget),
            audited: self.audited,
            is_audited_at_end: self.is_audited_at_end,
            damage: self.damage,
            invariants: self.invariants,
            breaches: self.breaches,
            troubles: self.troubles,
        }
    }
}

fn open(storm: &Storm<'_>, engine: &mut dyn Engine, number: usize) -> Result<Box<dyn Session>, EngineError> {
    let name = SessionName::new(&format!("s{number}")).expect("a letter and digits are a session name");
    engine.open(&SessionSpec { id: SessionId(number), name, node: None, level: storm.level.clone() })
}

/// True if the engine sets savepoints and rolls back to them. A session that cannot be asked has none, and is found to be
/// lost when it is used.
fn has_savepoints(session: &mut dyn Session, engine: &EngineInfo) -> bool {
    let mut succeeds = |sql: &str| session.execute(sql).is_ok_and(|outcome| outcome.error.is_none());
    let begun = succeeds(engine.dialect.begin());
    let has_savepoints = begun && succeeds(SET_SAVEPOINT) && succeeds(ROLL_BACK_TO);
    (!begun || succeeds("ROLLBACK")) && has_savepoints
}

/// Not all sessions could be opened.
fn too_few(error: EngineError, opened: usize, wanted: usize) -> EngineError {
    let hint = "ask for fewer sessions, or let the server have more connections (max_connections, open files)";
    let what = format!("only {opened} of {wanted} sessions could be opened: {}; {hint}", error.kind);
    EngineError::new(&error.target, EngineErrorKind::Unreachable(what))
}
