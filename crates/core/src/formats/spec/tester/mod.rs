//! What PostgreSQL's own runner of isolation tests does, without a server.
//!
//! **Problem.** A transcript must be the same on every run, although sessions run at the same time. The runner does not
//! record what happens when it happens; it *looks*, at fixed moments, in a fixed order, and prints what it sees:
//!
//! ```text
//!   launch w1 ─ look at w1 until it has answered or waits for a lock ─ look at those that wait, longest first
//!   launch w2 ─ look at w2: waits                                    ─ (nobody waited before)
//!   launch c1 ─ look at c1: has answered                             ─ look at w2: has answered: "<... completed>"
//!   …
//!   wait for whoever is left ─ teardown
//! ```
//!
//! So what is printed depends on when it looks. This module is that order, and nothing else: [`Connections`] brings the
//! messages of the sessions and says who waits, [`Transcript`] sets the lines. Notices are printed when their session
//! is looked at, which may be long before its step has completed; notifications when a step of the listener completes.
//! A session that must take its next step while one is under way is waited for.
//!
//! [`Marker`]s make a step's completion be *seen* later than it happens; never is a launch delayed by one.
//!
//! **Limits.** Where the runner would end with an error (a setup that fails, a step that never ends), the transcript ends
//! with the same words, except that the line of the SQL text at fault is not repeated.

use core::time::Duration;
use std::collections::VecDeque;

use super::transcript::{Notification, Report, Transcript, full_text};
use super::{Marker, Permutation, PermutationStep, Spec, StepAt};
use crate::outcome::StatementResult;

/// Which connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// The one that executes the setup and teardown of the whole test.
    Control,
    /// The session at that position.
    Session(usize),
}

/// Something that a connection said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// A statement has completed; with or without rows.
    Result(StatementResult),
    /// A statement has failed.
    Error(Report),
    /// A statement wants to copy data from or to us. The name is libpq's: `PGRES_COPY_IN`.
    Copy(&'static str),
    /// A notice or warning.
    Notice(Report),
    /// Somebody notifies those who listen.
    Notification(Notification),
    /// The connection is gone.
    Lost,
    /// Everything that was sent has been answered.
    Ready,
}

/// What came of waiting for a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Awaited {
    /// The next message.
    Message(Message),
    /// None came, and none will before another session goes on: the server says that the session waits.
    Blocked,
    /// None came for a while. Asked again.
    Nothing,
}

/// The connections of a test.
pub trait Connections {
    /// Why they cannot be used.
    type Error;

    /// Sends a message; does not wait. False if the connection is gone.
    fn send(&mut self, who: Who, sql: &str) -> Result<bool, Self::Error>;

    /// Waits for the next message. `Blocked` is an answer only where the caller can do something else.
    fn wait(&mut self, who: Who, may_be_blocked: bool) -> Result<Awaited, Self::Error>;

    /// Asks the server to cancel what a session executes.
    fn cancel(&mut self, session: usize) -> Result<(), Self::Error>;

    /// The time since an arbitrary moment.
    fn now(&self) -> Duration;
}

/// Whether a test goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// With the next permutation.
    Continue,
    /// It cannot: the transcript says why.
    Stop,
}

/// Runs the permutations of a spec and writes their transcript.
pub struct Tester<'a, C> {
    spec: &'a Spec,
    connections: C,
    transcript: Transcript,
    sessions: Vec<SessionState>,
    /// After this long a step is cancelled; after twice as long, given up.
    step_limit: Duration,
    /// Whether a notice was printed since somebody last cleared this.
    any_new_notice: bool,
}

/// What is known of a session.
#[derive(Default)]
struct SessionState {
    /// The step under way, as a position in the permutation. A step whose completion was not yet seen is under way.
    active: Option<usize>,
    /// Messages that were received but not yet looked at.
    unread: VecDeque<Message>,
    /// Notifications that were received but not yet printed.
    notifications: Vec<Notification>,
    /// How many notices have been printed.
    notice_count: u64,
}

/// A step that was launched.
struct Launched<'a> {
    step: &'a PermutationStep,
    /// What its completion depends on, with the number of notices to be reached.
    blockers: Vec<Blocker>,
}

enum Blocker {
    Step(StepAt),
    Notices { session: usize, count: u64 },
}

/// How a step is looked at.
#[derive(Clone, Copy)]
struct Look {
    /// Whether it has been reported as waiting.
    again: bool,
    /// Whether we go on if it waits.
    may_be_blocked: bool,
}

/// Why a permutation ended early.
enum Stop<E> {
    /// The transcript says why.
    Said,
    /// We could not observe.
    Failed(E),
}

impl<E> From<E> for Stop<E> {
    fn from(error: E) -> Stop<E> {
        Stop::Failed(error)
    }
}

/// What libpq says of a lost connection.
const LOST: &str = "server closed the connection unexpectedly\n\
                    \tThis probably means the server terminated abnormally\n\
                    \tbefore or while processing the request.\n";

impl<'a, C: Connections> Tester<'a, C> {
    /// Begins the transcript.
    pub fn new(spec: &'a Spec, connections: C, step_limit: Duration) -> Tester<'a, C> {
        let mut transcript = Transcript::default();
        for name in spec.unused_steps() {
            transcript.line(&format!("unused step name: {name}"));
        }
        transcript.line(&format!("Parsed test spec with {} sessions", spec.sessions.len()));
        let sessions = spec.sessions.iter().map(|_| SessionState::default()).collect();
        Tester { spec, connections, transcript, sessions, step_limit, any_new_notice: false }
    }

    /// What has been written since the last call.
    pub fn take_transcript(&mut self) -> Vec<u8> {
        self.transcript.take()
    }

    /// The connections, when the last permutation has run.
    pub fn into_connections(self) -> C {
        self.connections
    }

    /// Runs one permutation: setup, steps, teardown. `Err` means that the connections failed us.
    pub fn run(&mut self, permutation: &Permutation) -> Result<Flow, C::Error> {
        match self.permutation(permutation) {
            Ok(()) => Ok(Flow::Continue),
            Err(Stop::Said) => Ok(Flow::Stop),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    fn permutation(&mut self, permutation: &Permutation) -> Result<(), Stop<C::Error>> {
        let spec = self.spec;
        self.transcript.starting(permutation.steps.iter().map(|step| spec.step(step.at).name.as_str()));
        self.set_up()?;
        let mut launched: Vec<Launched<'_>> = Vec::new();
        let mut waiting: Vec<usize> = Vec::new();
        for step in &permutation.steps {
            self.await_idle(step.at.session, &launched, &mut waiting)?;
            launched.push(self.launch(step, launched.len())?);
            let current = launched.len() - 1;
            let completed = self.look_at(&launched, current, Look { again: false, may_be_blocked: true })?;
            self.look_at_waiting(&launched, &mut waiting, true)?;
            if !completed {
                waiting.push(current);
            }
        }
        self.look_at_waiting(&launched, &mut waiting, false)?;
        if !waiting.is_empty() {
            return self.stop("failed to complete permutation due to mutually-blocking steps");
        }
        self.tear_down()
    }

    fn set_up(&mut self) -> Result<(), Stop<C::Error>> {
        let spec = self.spec;
        for sql in &spec.setup {
            if let Err(said) = self.execute(Who::Control, sql)? {
                return self.stop_with("setup failed: ", &said);
            }
        }
        for (position, session) in spec.sessions.iter().enumerate() {
            if let Some(sql) = &session.setup
                && let Err(said) = self.execute(Who::Session(position), sql)?
            {
                return self.stop_with(&format!("setup of session {} failed: ", session.name), &said);
            }
        }
        Ok(())
    }

    /// A teardown that fails is told of, and the next permutation begins all the same.
    fn tear_down(&mut self) -> Result<(), Stop<C::Error>> {
        let spec = self.spec;
        for (position, session) in spec.sessions.iter().enumerate() {
            if let Some(sql) = &session.teardown
                && let Err(said) = self.execute(Who::Session(position), sql)?
            {
                self.complain(&format!("teardown of session {} failed: ", session.name), &said);
            }
        }
        if let Some(sql) = &spec.teardown
            && let Err(said) = self.execute(Who::Control, sql)?
        {
            self.complain("teardown failed: ", &said);
        }
        Ok(())
    }

    /// Executes a setup or teardown. Shows the last result, if that has rows; the inner error is what the server said.
    fn execute(&mut self, who: Who, sql: &str) -> Result<Result<(), String>, Stop<C::Error>> {
        if !self.connections.send(who, sql)? {
            return Ok(Err("no connection to the server\n".to_string()));
        }
        let mut last = Ok(StatementResult::default());
        loop {
            match self.connections.wait(who, false)? {
                Awaited::Message(Message::Ready) => break,
                Awaited::Message(Message::Lost) => {
                    last = Err(LOST.to_string());
                    break;
                }
                Awaited::Message(Message::Result(result)) => last = Ok(result),
                Awaited::Message(Message::Error(report)) => last = Err(full_text(&report)),
                Awaited::Message(message) => {
                    if let Who::Session(session) = who {
                        self.take_aside(session, message);
                    }
                }
                Awaited::Blocked | Awaited::Nothing => {}
            }
        }
        Ok(last.map(|result| self.transcript.table(&result)))
    }

    /// Before a session takes its next step, the one before must have completed.
    fn await_idle(
        &mut self,
        session: usize,
        launched: &[Launched<'_>],
        waiting: &mut Vec<usize>,
    ) -> Result<(), Stop<C::Error>> {
        let start = self.connections.now();
        while let Some(active) = self.sessions[session].active {
            // It may have completed without being allowed to be seen: then the others must be looked at, too.
            if self.look_at(launched, active, Look { again: true, may_be_blocked: false })? {
                waiting.retain(|step| *step != active);
            }
            self.look_at_waiting(launched, waiting, true)?;
            let elapsed = self.connections.now().saturating_sub(start);
            if self.sessions[session].active.is_some() && elapsed > 2 * self.step_limit {
                return self.give_up(launched, active, elapsed);
            }
        }
        Ok(())
    }

    fn launch<'p>(&mut self, step: &'p PermutationStep, index: usize) -> Result<Launched<'p>, Stop<C::Error>> {
        let SpecStepRef { name, sql } = self.named(step.at);
        if !self.connections.send(Who::Session(step.at.session), sql)? {
            return self.stop(&format!("failed to send query for step {name}: no connection to the server\n"));
        }
        self.sessions[step.at.session].active = Some(index);
        let blocker = |marker: &Marker| match *marker {
            Marker::Once => None,
            Marker::Step(other) => Some(Blocker::Step(other)),
            Marker::Notices(other, more) => {
                let session = other.session;
                Some(Blocker::Notices { session, count: self.sessions[session].notice_count + u64::from(more) })
            }
        };
        Ok(Launched { step, blockers: step.markers.iter().filter_map(blocker).collect() })
    }

    /// Looks at those that wait, longest first; again, as long as one that is held back by a marker might go on because
    /// of what was seen.
    fn look_at_waiting(
        &mut self,
        launched: &[Launched<'_>],
        waiting: &mut Vec<usize>,
        may_be_blocked: bool,
    ) -> Result<(), Stop<C::Error>> {
        loop {
            self.any_new_notice = false;
            let count_before = waiting.len();
            let mut some_are_marked = false;
            let mut at = 0;
            while at < waiting.len() {
                if self.look_at(launched, waiting[at], Look { again: true, may_be_blocked })? {
                    waiting.remove(at);
                } else {
                    some_are_marked |= !launched[waiting[at]].step.markers.is_empty();
                    at += 1;
                }
            }
            if !some_are_marked || (waiting.len() == count_before && !self.any_new_notice) {
                return Ok(());
            }
        }
    }

    /// Looks at a step until it has completed (true), or waits, or is held back by a marker.
    fn look_at(&mut self, launched: &[Launched<'_>], index: usize, look: Look) -> Result<bool, Stop<C::Error>> {
        let step = launched[index].step;
        let SpecStepRef { name, sql } = self.named(step.at);
        let must_wait = !look.again && step.markers.contains(&Marker::Once);
        let completed = !must_wait && self.await_answer(step.at, look.may_be_blocked)?;
        if !completed || self.is_held_back(launched, index) {
            if !look.again {
                self.transcript.line(&format!("step {name}: {sql} <waiting ...>"));
            }
            return Ok(false);
        }
        self.transcript.line(&match look.again {
            true => format!("step {name}: <... completed>"),
            false => format!("step {name}: {sql}"),
        });
        self.show_answer(step.at)?;
        self.sessions[step.at.session].active = None;
        Ok(true)
    }

    /// Waits for the first answer of a step; false if the step waits for another session.
    fn await_answer(&mut self, at: StepAt, may_be_blocked: bool) -> Result<bool, Stop<C::Error>> {
        while self.sessions[at.session].unread.is_empty() {
            let Some(message) = self.next_message(at, may_be_blocked)? else { return Ok(false) };
            if let Some(message) = self.take_aside(at.session, message) {
                self.sessions[at.session].unread.push_back(message);
            }
        }
        Ok(true)
    }

    /// The next message of a step's session; `None` if the step waits for another session. A step that takes too long is
    /// cancelled, and given up if that does not help.
    fn next_message(&mut self, at: StepAt, may_be_blocked: bool) -> Result<Option<Message>, Stop<C::Error>> {
        let start = self.connections.now();
        let mut cancelled = false;
        loop {
            match self.connections.wait(Who::Session(at.session), may_be_blocked)? {
                Awaited::Blocked => return Ok(None),
                Awaited::Message(message) => return Ok(Some(message)),
                Awaited::Nothing => {}
            }
            let elapsed = self.connections.now().saturating_sub(start);
            let SpecStepRef { name, .. } = self.named(at);
            if elapsed > 2 * self.step_limit {
                return self.stop(&format!("step {name} timed out after {} seconds", elapsed.as_secs()));
            }
            if elapsed > self.step_limit && !cancelled {
                self.connections.cancel(at.session)?;
                let seconds = elapsed.as_secs();
                self.transcript.line(&format!("isolationtester: canceling step {name} after {seconds} seconds"));
                cancelled = true;
            }
        }
    }

    /// Prints a notice at once, keeps a notification for later, and gives back everything else.
    fn take_aside(&mut self, session: usize, message: Message) -> Option<Message> {
        match message {
            Message::Notice(report) => {
                self.transcript.notice(&self.spec.sessions[session].name, &report);
                self.sessions[session].notice_count += 1;
                self.any_new_notice = true;
                None
            }
            Message::Notification(notification) => {
                self.sessions[session].notifications.push(notification);
                None
            }
            other => Some(other),
        }
    }

    /// Shows everything that a step was answered, to the end, and the notifications that came with it.
    fn show_answer(&mut self, at: StepAt) -> Result<(), Stop<C::Error>> {
        let session = at.session;
        loop {
            let message = match self.sessions[session].unread.pop_front() {
                Some(message) => message,
                // A step whose second statement waits holds up everybody: its first result has been seen.
                None => match self.next_message(at, false)? {
                    Some(message) => message,
                    None => continue,
                },
            };
            match self.take_aside(session, message) {
                None | Some(Message::Notice(_) | Message::Notification(_)) => {}
                Some(Message::Result(result)) => self.transcript.table(&result),
                Some(Message::Error(report)) => self.transcript.error(&report),
                Some(Message::Copy(status)) => self.transcript.line(&format!("unexpected result status: {status}")),
                Some(Message::Lost) => {
                    self.transcript.line(LOST);
                    break;
                }
                Some(Message::Ready) => break,
            }
        }
        for notification in std::mem::take(&mut self.sessions[session].notifications) {
            self.transcript.notification(&self.spec.sessions[session].name, &notification);
        }
        Ok(())
    }

    /// Whether a marker forbids to see that the step has completed.
    fn is_held_back(&self, launched: &[Launched<'_>], index: usize) -> bool {
        launched[index].blockers.iter().any(|blocker| match *blocker {
            Blocker::Step(other) => {
                self.sessions[other.session].active.is_some_and(|active| launched[active].step.at == other)
            }
            Blocker::Notices { session, count } => self.sessions[session].notice_count < count,
        })
    }

    fn give_up<T>(&mut self, launched: &[Launched<'_>], active: usize, elapsed: Duration) -> Result<T, Stop<C::Error>> {
        let name = |index: usize| self.named(launched[index].step.at).name;
        let all: Vec<&str> = self.sessions.iter().filter_map(|session| session.active).map(name).collect();
        let (name, seconds) = (name(active), elapsed.as_secs());
        let said = format!("step {name} timed out after {seconds} seconds\nactive steps are: {}", all.join(" "));
        self.stop(&said)
    }

    fn named(&self, at: StepAt) -> SpecStepRef<'a> {
        let step = self.spec.step(at);
        SpecStepRef { name: &step.name, sql: &step.sql }
    }

    fn stop<T>(&mut self, said: &str) -> Result<T, Stop<C::Error>> {
        self.transcript.line(said);
        Err(Stop::Said)
    }

    fn stop_with<T>(&mut self, what: &str, said: &str) -> Result<T, Stop<C::Error>> {
        self.complain(what, said);
        Err(Stop::Said)
    }

    /// What the server said ends with a line break of its own.
    fn complain(&mut self, what: &str, said: &str) {
        self.transcript.line(&format!("{what}{}", said.trim_end_matches('\n')));
    }
}

/// A step's name and text, borrowed from the spec for as long as that lives.
struct SpecStepRef<'a> {
    name: &'a str,
    sql: &'a str,
}

#[cfg(test)]
mod tests;
