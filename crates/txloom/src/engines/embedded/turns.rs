//! Taking turns: one statement at a time, and a repeatable answer to "who goes on first?".
//!
//! A server decides by its threads' luck which of two waiting sessions gets a lock. An embedded engine must not: the
//! same case has to give the same trace, a thousand times out of a thousand. So a statement is executed only by the
//! session whose *turn* it is. A session that has to wait gives its turn away and says for whom it waits; when one of
//! those releases something, the waiter becomes ready, and among the ready the one that was submitted first goes first.
//! The next one goes when that one has completed or waits again.
//!
//! ```text
//!   a  ──UPDATE──                      ──COMMIT──
//!   b             ─ticket 2─ waits for a ········ ready ──UPDATE──
//!   c                        ─ticket 3─ waits for a ··· ready ······ its turn: waits for b ····
//! ```
//!
//! **Nobody is seen running who waits, nor waiting who can go on.** A releasing session marks its waiters ready before
//! its own statement returns, in one critical section with giving the turn away. Whoever then asks [`Turns::waits`]
//! finds a session either waiting for somebody who is not about to do anything, or not waiting.
//!
//! **Deadlock.** A wait is recorded only if it closes no cycle; otherwise the one that would have closed it is told so,
//! while it still has its turn. Sessions that are ready count as not waiting: should they wait again, they ask again.
//!
//! **Cancellation** makes a waiter ready, with the mark that it was cancelled. For the statement that is running it
//! raises a flag that SQLite's progress handler looks at ([`Interrupt`]); the flag is looked at only while a statement
//! of the user is executed, never during an engine's own bookkeeping.
//!
//! Limits: a turn is held for as long as its statement runs, so embedded engines show no effects of true parallelism.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use txloom_core::engine::{Cancel, EngineError, Holder, KnownWaits, SessionId, Waits};

/// The line of sessions with a statement in flight.
#[derive(Default)]
pub(crate) struct Turns {
    line: Mutex<Line>,
    changed: Condvar,
    interrupt: Interrupt,
}

#[derive(Default)]
struct Line {
    next_ticket: u64,
    running: Option<SessionId>,
    places: BTreeMap<SessionId, Place>,
}

/// A statement in flight.
struct Place {
    /// Order of submission. A statement keeps its ticket however often it waits.
    ticket: u64,
    phase: Phase,
    cancelled: bool,
}

enum Phase {
    Ready,
    Running,
    Waiting(BTreeSet<SessionId>),
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woken {
    /// A holder released something: try again.
    Again,
    /// Somebody cancelled the statement.
    Cancelled,
    /// There was no wait, since it would have closed a cycle.
    Deadlock,
}

impl Turns {
    /// Stands in line with a new statement and blocks until it is the session's turn.
    pub(crate) fn take(&self, id: SessionId) -> Turn<'_> {
        let mut line = self.lock();
        let ticket = line.next_ticket;
        line.next_ticket += 1;
        let place = Place { ticket, phase: Phase::Ready, cancelled: false };
        assert!(line.places.insert(id, place).is_none(), "a session has one statement in flight");
        self.await_turn(line, id);
        Turn { turns: self, id }
    }

    /// Who waits for whom, among these sessions.
    pub(crate) fn waits(&self, in_flight: &[SessionId], source: &'static str) -> Waits {
        let line = self.lock();
        let edges = line.places.iter().filter(|(id, _)| in_flight.contains(id)).filter_map(|(id, place)| {
            let Phase::Waiting(holders) = &place.phase else { return None };
            Some((*id, holders.iter().copied().map(Holder::Session).collect()))
        });
        Waits { known: KnownWaits::Edges(edges.collect()), source }
    }

    /// Ends the statement in flight of a session; nothing happens if there is none.
    pub(crate) fn cancel(&self, id: SessionId) {
        let mut line = self.lock();
        let Some(place) = line.places.get_mut(&id) else { return };
        place.cancelled = true;
        match place.phase {
            Phase::Waiting(_) => place.phase = Phase::Ready,
            Phase::Running => self.interrupt.request(),
            Phase::Ready => {}
        }
        self.changed.notify_all();
    }

    /// The flag by which cancellation reaches the running statement.
    pub(crate) fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Blocks until nobody runs and no session with an earlier ticket is ready, then runs. True if cancelled meanwhile.
    fn await_turn(&self, mut line: MutexGuard<'_, Line>, id: SessionId) -> bool {
        while !line.may_run(id) {
            line = self.changed.wait(line).unwrap_or_else(PoisonError::into_inner);
        }
        line.running = Some(id);
        let place = line.place(id);
        place.phase = Phase::Running;
        self.interrupt.begin_turn(place.cancelled);
        place.cancelled
    }

    fn lock(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Line {
    fn place(&mut self, id: SessionId) -> &mut Place {
        self.places.get_mut(&id).expect("the session stands in line from take() until its turn is dropped")
    }

    fn may_run(&self, id: SessionId) -> bool {
        let ready = self.places.iter().filter(|(_, place)| matches!(place.phase, Phase::Ready));
        let first = ready.min_by_key(|(_, place)| place.ticket).map(|(id, _)| *id);
        self.running.is_none() && first == Some(id)
    }

    /// Whether one of the holders waits, directly or through others, for `id`.
    fn would_close_cycle(&self, id: SessionId, holders: &BTreeSet<SessionId>) -> bool {
        let mut seen = BTreeSet::new();
        let mut open: Vec<SessionId> = holders.iter().copied().collect();
        while let Some(next) = open.pop() {
            if next == id {
                return true;
            }
            if seen.insert(next)
                && let Some(Place { phase: Phase::Waiting(further), .. }) = self.places.get(&next)
            {
                open.extend(further);
            }
        }
        false
    }

    fn wake(&mut self, wanted: impl Fn(&BTreeSet<SessionId>) -> bool) {
        for place in self.places.values_mut() {
            if matches!(&place.phase, Phase::Waiting(holders) if wanted(holders)) {
                place.phase = Phase::Ready;
            }
        }
    }
}

/// The right to execute, held by one session at a time; given back when dropped.
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    id: SessionId,
}

impl Turn<'_> {
    /// Gives the turn away until one of the holders has released something and it is this session's turn again. With
    /// any answer, it is this session's turn.
    pub(crate) fn wait_for(&mut self, holders: BTreeSet<SessionId>) -> Woken {
        assert!(!holders.is_empty() && !holders.contains(&self.id), "a session waits for others");
        let mut line = self.turns.lock();
        if line.place(self.id).cancelled {
            return Woken::Cancelled;
        }
        if line.would_close_cycle(self.id, &holders) {
            return Woken::Deadlock;
        }
        line.place(self.id).phase = Phase::Waiting(holders);
        line.running = None;
        self.turns.changed.notify_all();
        if self.turns.await_turn(line, self.id) { Woken::Cancelled } else { Woken::Again }
    }

    /// Those who wait for this session can go on: it has released what it held.
    pub(crate) fn wake_waiters(&self) {
        self.turns.lock().wake(|holders| holders.contains(&self.id));
    }

    /// Everybody who waits is to try again.
    pub(crate) fn wake_all(&self) {
        self.turns.lock().wake(|_| true);
    }

    /// Whether the statement of this turn has been cancelled.
    pub(crate) fn cancelled(&self) -> bool {
        self.turns.lock().place(self.id).cancelled
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut line = self.turns.lock();
        line.running = None;
        line.places.remove(&self.id);
        self.turns.changed.notify_all();
    }
}

/// A session's handle for cancellation.
pub(crate) struct CancelTurn {
    /// The line that the session stands in.
    pub(crate) turns: Arc<Turns>,
    /// The session.
    pub(crate) id: SessionId,
}

impl Cancel for CancelTurn {
    fn cancel(&self) -> Result<(), EngineError> {
        self.turns.cancel(self.id);
        Ok(())
    }
}

/// How cancellation reaches a statement that SQLite is executing: a request, heard only while somebody listens.
#[derive(Clone, Default)]
pub(crate) struct Interrupt(Arc<Flags>);

#[derive(Default)]
struct Flags {
    requested: AtomicBool,
    listening: AtomicBool,
}

/// Virtual-machine instructions of SQLite between two looks at the flag: some microseconds.
const INSTRUCTIONS_PER_LOOK: i32 = 1_000;

impl Interrupt {
    /// Makes statements on this connection end when a request is heard.
    pub(crate) fn attach(&self, connection: &mut Connection) -> rusqlite::Result<()> {
        let flags = Arc::clone(&self.0);
        let heard = move || flags.listening.load(Ordering::SeqCst) && flags.requested.load(Ordering::SeqCst);
        connection.progress_handler(INSTRUCTIONS_PER_LOOK, Some(heard))
    }

    /// Executes a statement of the user's, ready to be interrupted.
    pub(crate) fn listening<T>(&self, execute: impl FnOnce() -> T) -> T {
        self.0.listening.store(true, Ordering::SeqCst);
        let result = execute();
        self.0.listening.store(false, Ordering::SeqCst);
        result
    }

    fn request(&self) {
        self.0.requested.store(true, Ordering::SeqCst);
    }

    fn begin_turn(&self, requested: bool) {
        self.0.requested.store(requested, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn ids(ids: &[usize]) -> BTreeSet<SessionId> {
        ids.iter().copied().map(SessionId).collect()
    }

    /// Blocks until the session is seen waiting.
    fn await_waiting(turns: &Turns, id: usize) {
        let mut line = turns.lock();
        while !matches!(line.places.get(&SessionId(id)), Some(Place { phase: Phase::Waiting(_), .. })) {
            line = turns.changed.wait(line).unwrap();
        }
    }

    #[test]
    fn the_earliest_waiter_goes_first_and_the_next_one_after_it() {
        for _ in 0..50 {
            let turns = Turns::default();
            let (tell, told) = mpsc::channel();
            std::thread::scope(|scope| {
                for id in [1, 2, 3] {
                    let (turns, tell) = (&turns, tell.clone());
                    scope.spawn(move || {
                        let mut turn = turns.take(SessionId(id));
                        assert_eq!(turn.wait_for(ids(&[0])), Woken::Again);
                        tell.send(id).unwrap();
                    });
                    await_waiting(turns, id);
                }
                let turn = turns.take(SessionId(0));
                turn.wake_waiters();
                assert_eq!(turns.waits(&[SessionId(1), SessionId(2)], "test"), Waits::none("test"));
                drop(turn);
            });
            assert_eq!(told.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
        }
    }

    #[test]
    fn the_one_that_would_close_a_cycle_is_told() {
        let turns = Turns::default();
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(turns.take(SessionId(1)).wait_for(ids(&[0])), Woken::Again));
            await_waiting(&turns, 1);
            scope.spawn(|| assert_eq!(turns.take(SessionId(2)).wait_for(ids(&[1])), Woken::Again));
            await_waiting(&turns, 2);
            let mut turn = turns.take(SessionId(0));
            assert_eq!(turn.wait_for(ids(&[2])), Woken::Deadlock);
            turn.wake_all();
        });
    }

    #[test]
    fn a_waiter_that_is_cancelled_wakes_up() {
        let turns = Turns::default();
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(turns.take(SessionId(1)).wait_for(ids(&[0])), Woken::Cancelled));
            await_waiting(&turns, 1);
            turns.cancel(SessionId(1));
        });
        turns.cancel(SessionId(1));
        assert!(!turns.take(SessionId(1)).cancelled(), "a cancellation is not remembered for the next statement");
    }
}
