//! Waiting for quiet.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use txloom_core::engine::{EngineError, EngineErrorKind, Holder, KnownWaits, SessionId, Waits};
use txloom_core::oracle::RunError;
use txloom_core::outcome::{ErrorClass, Outcome, TxStatus};
use txloom_core::schedule::quiet::is_quiet;
use txloom_core::trace::{CancelReason, StepId, TraceEvent};

use super::run::Run;

/// How long we wait for a completion before we ask the engine who waits. Most statements are faster.
const POLL_FIRST: Duration = Duration::from_micros(300);
/// The longest pause between two questions, for statements that take long.
const POLL_MAX: Duration = Duration::from_millis(5);
/// How long a cancelled statement may take to end.
const CANCEL_GRACE: Duration = Duration::from_secs(5);

impl Run<'_> {
    /// Waits until the engine is quiet, then records what happened since the last quiet point. Returns the steps that
    /// completed: the one just submitted (`current`) first, then in order of submission.
    pub(super) fn settle(&mut self, current: StepId) -> Result<Vec<StepId>, RunError> {
        let mut arrived: BTreeMap<SessionId, Outcome> = BTreeMap::new();
        let waits = self.await_quiet(&mut arrived)?;
        let mut completed = Vec::new();
        let mut order: Vec<SessionId> = arrived.keys().copied().collect();
        order.sort_by_key(|session| {
            let id = self.sessions[session.0].in_flight;
            (id != Some(current), id)
        });
        for session in order {
            let Some(outcome) = arrived.remove(&session) else { continue };
            let Some(id) = self.complete(session, outcome) else { continue };
            if self.trace.step(id).waited {
                self.trace.events.push(TraceEvent::Resumed(id));
            }
            self.trace.events.push(TraceEvent::Completed(id));
            completed.push(id);
        }
        self.record_waits(&waits);
        Ok(completed)
    }

    /// Collects completions until every statement in flight waits, or the server has died.
    fn await_quiet(&mut self, arrived: &mut BTreeMap<SessionId, Outcome>) -> Result<Waits, RunError> {
        let start = Instant::now();
        let mut limit = self.options.statement_limit;
        let mut pause = POLL_FIRST;
        let mut cancelled = false;
        let mut asked = false;
        loop {
            let in_flight = self.in_flight(arrived);
            if in_flight.is_empty() {
                return Ok(Waits::none(""));
            }
            // Who waited before, and has no reason to go on, will not answer: no need to listen first.
            let patience = if !asked && self.is_undisturbed(&in_flight, arrived) { Duration::ZERO } else { pause };
            match self.completions.recv_timeout(patience) {
                Ok(completion) => {
                    let outcome = completion.result?;
                    let lost = outcome.error_class() == Some(ErrorClass::ConnectionLost);
                    arrived.insert(completion.session, outcome);
                    if lost {
                        self.note_death();
                    }
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.lost("all session threads ended").into()),
            }
            self.check_interrupt()?;
            asked = true;
            let waits = match self.ask_waits(&in_flight) {
                Some(waits) => waits?,
                // The server is dead: the sessions will say so one after the other.
                None => Waits::none(""),
            };
            let ending = self.trace.death.is_some() || in_flight.iter().any(|session| self.is_cancelled(*session));
            if !ending && is_quiet(&in_flight, &waits) {
                return Ok(waits);
            }
            if start.elapsed() > limit {
                if cancelled {
                    return Err(self.lost("a statement did not end after it was cancelled").into());
                }
                self.cancel_running(&in_flight, &waits)?;
                cancelled = true;
                limit += CANCEL_GRACE;
            }
            // Locks are granted and refused within a few polls; what takes longer is a statement that works.
            if start.elapsed() > 20 * POLL_FIRST {
                pause = (pause * 3 / 2).min(POLL_MAX);
            }
        }
    }

    /// Whether all that is in flight was waiting before, and what has been done since left its transaction open: that
    /// rarely lets anybody go on.
    fn is_undisturbed(&self, in_flight: &BTreeSet<SessionId>, arrived: &BTreeMap<SessionId, Outcome>) -> bool {
        let waited = |session: &SessionId| self.sessions[session.0].waits_for.is_some();
        in_flight.iter().all(waited) && arrived.values().all(|outcome| outcome.status == TxStatus::Open)
    }

    /// The sessions whose completion has not arrived.
    fn in_flight(&self, arrived: &BTreeMap<SessionId, Outcome>) -> BTreeSet<SessionId> {
        (0..self.sessions.len())
            .filter(|position| self.sessions[*position].in_flight.is_some())
            .map(SessionId)
            .filter(|session| !arrived.contains_key(session))
            .collect()
    }

    /// Whether the statement in flight of a session was cancelled: it will end, though it may still be seen waiting.
    fn is_cancelled(&self, session: SessionId) -> bool {
        self.sessions[session.0].in_flight.is_some_and(|id| self.trace.step(id).cancelled.is_some())
    }

    /// Who waits for whom; `None` if the server turns out to be dead.
    fn ask_waits(&mut self, in_flight: &BTreeSet<SessionId>) -> Option<Result<Waits, EngineError>> {
        if self.trace.death.is_some() {
            return None;
        }
        let sessions: Vec<SessionId> = in_flight.iter().copied().collect();
        let answer = self.engine.waits(&sessions);
        if answer.is_err() {
            self.note_death();
        }
        if self.trace.death.is_some() { None } else { Some(answer) }
    }

    fn note_death(&mut self) {
        if self.trace.death.is_none() {
            self.trace.death = self.engine.death();
        }
    }

    /// Cancels what has been running for too long; if everything waits (a circle that the engine does not resolve),
    /// the statement submitted last.
    fn cancel_running(&mut self, in_flight: &BTreeSet<SessionId>, waits: &Waits) -> Result<(), EngineError> {
        let is_waiting = |session: &SessionId| match &waits.known {
            KnownWaits::Edges(edges) => edges.contains_key(session),
            KnownWaits::Count(_) => self.sessions[session.0].waits_for.is_some(),
        };
        let mut running: Vec<SessionId> = in_flight.iter().copied().filter(|session| !is_waiting(session)).collect();
        if running.is_empty() {
            running.extend(in_flight.iter().copied().max_by_key(|session| self.sessions[session.0].in_flight));
        }
        running.into_iter().try_for_each(|session| self.cancel(session.0, CancelReason::TimeLimit))
    }

    /// Records who waits now: steps that were not waiting before, and steps that wait for others than before.
    fn record_waits(&mut self, waits: &Waits) {
        for session in self.in_flight(&BTreeMap::new()) {
            let holders = match &waits.known {
                KnownWaits::Edges(edges) => edges.get(&session).cloned().unwrap_or_default(),
                KnownWaits::Count(_) => Vec::new(),
            };
            let holders = canonical(holders);
            let running = &mut self.sessions[session.0];
            let Some(step) = running.in_flight else { continue };
            if running.waits_for.as_ref() == Some(&holders) {
                continue;
            }
            running.waits_for = Some(holders.clone());
            self.trace.steps[step.0].waited = true;
            self.trace.events.push(TraceEvent::Waiting { step, holders, source: waits.source });
        }
    }

    fn lost(&self, what: &str) -> EngineError {
        EngineError::new(&self.trace.engine.target, EngineErrorKind::Lost(what.to_string()))
    }
}

fn canonical(mut holders: Vec<Holder>) -> Vec<Holder> {
    holders.sort();
    holders.dedup();
    holders
}
