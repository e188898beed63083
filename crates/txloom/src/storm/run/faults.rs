//! Faults, while clients are at work.
//!
//! ```text
//!   working ──fault──→ broken, mended ──everybody called back──→ audit ──new connections──→ working
//!              └─ full disk: ─→ full for a while, with clients at work ─┘ free
//! ```
//!
//! A pause and a partition are nothing but that: nobody is called back, and what they did is seen at the end.

use std::time::{Duration, Instant};

use txloom_core::case::Event;
use txloom_core::engine::{EngineError, Fault};
use txloom_core::generate::random::Random;

use super::{Message, Run, State, TICK, open};
use crate::interrupt;
use crate::storm::fault::{FaultKind, Recurring};
use crate::storm::watch::Ended;

/// How long a pause is.
const PAUSE: Duration = Duration::from_secs(1);

/// How long a disk stays full.
const FULL_FOR: Duration = Duration::from_secs(2);

/// How long a partition lasts.
const CUT_FOR: Duration = Duration::from_secs(1);

/// When what comes next.
pub(super) struct Timetable {
    faults: Vec<(Recurring, Instant)>,
    /// Since when the disk is full.
    full_since: Option<Instant>,
    /// Since when there is a partition.
    cut_since: Option<Instant>,
}

impl Timetable {
    pub(super) fn new(faults: &[Recurring]) -> Timetable {
        let now = Instant::now();
        Timetable { faults: faults.iter().map(|fault| (*fault, now)).collect(), full_since: None, cut_since: None }
    }

    /// Whether the disk is full now: then servers may die, and nobody is to blame.
    pub(super) fn is_full(&self) -> bool {
        self.full_since.is_some()
    }

    /// What is due now.
    fn due(&self) -> Option<FaultKind> {
        let is_due = |(fault, last): &&(Recurring, Instant)| last.elapsed() >= fault.every;
        self.faults.iter().find(is_due).map(|(fault, _)| fault.kind)
    }

    /// It is over; counts from now.
    fn over(&mut self, kind: FaultKind) {
        let now = Instant::now();
        self.faults.iter_mut().filter(|(fault, _)| fault.kind == kind).for_each(|(_, last)| *last = now);
    }
}

impl Run<'_> {
    /// Lets happen what is due.
    pub(super) fn break_what_is_due(&mut self) {
        if let Some(since) = self.timetable.full_since {
            if since.elapsed() >= FULL_FOR || self.shared.is_over() || !self.is_working() {
                self.free_disk();
            }
            return;
        }
        let is_over = self.shared.is_over() || !self.is_working();
        if let Some(since) = self.timetable.cut_since {
            if since.elapsed() >= CUT_FOR || is_over {
                self.heal();
            }
            return;
        }
        if is_over {
            return;
        }
        match self.timetable.due() {
            None => {}
            Some(FaultKind::Kill) => self.restart(FaultKind::Kill, Fault::Kill),
            Some(FaultKind::Restart) => self.restart(FaultKind::Restart, Fault::Restart),
            Some(FaultKind::Pause) => {
                self.faults.add(FaultKind::Pause);
                self.shared.begin_fault();
                if let Err(error) = self.engine.fault(Fault::Pause(PAUSE)) {
                    self.give_up(error);
                }
                self.shared.end_fault();
                self.timetable.over(FaultKind::Pause);
            }
            Some(FaultKind::FullDisk) => {
                self.shared.begin_fault();
                match self.engine.fault(Fault::FillDisk) {
                    Ok(()) => self.timetable.full_since = Some(Instant::now()),
                    Err(error) => self.give_up(error),
                }
            }
            Some(FaultKind::Partition) => self.cut(),
        }
    }

    /// Leaves nothing broken.
    pub(super) fn mend(&mut self) {
        if self.timetable.is_full() {
            self.free_disk();
        }
        if self.timetable.cut_since.is_some() {
            self.heal();
        }
    }

    /// Cuts some nodes off from the others. Which ones follows from the seed, and from how often that has happened.
    fn cut(&mut self) {
        let nodes = self.engine.info().capabilities.nodes;
        let mut random = Random::new(self.storm.seed, &[self.faults.add(FaultKind::Partition)]);
        // Every set of nodes but none and all, as the digits of a number.
        let sides = 1 + random.below((1 << nodes) - 2);
        let (here, there) = (1..=nodes).partition(|node| sides & (1 << (node - 1)) != 0);
        self.shared.begin_fault();
        match self.engine.event(&Event::Partition(vec![here, there])) {
            Ok(()) => self.timetable.cut_since = Some(Instant::now()),
            Err(error) => self.give_up(error),
        }
    }

    /// Connects everybody again.
    fn heal(&mut self) {
        self.timetable.cut_since = None;
        self.timetable.over(FaultKind::Partition);
        if let Err(error) = self.engine.event(&Event::Heal) {
            self.give_up(error);
        }
        self.shared.end_fault();
    }

    /// The server does not come back: that counts more than why the storm was ended before.
    fn give_up(&mut self, error: EngineError) {
        if interrupt::requested() {
            return self.stop(Ended::Interrupted);
        }
        self.stop(Ended::Budget);
        self.ended = Some(Ended::NotRecovered(error));
    }

    /// Stops the server one way or another, starts it, and looks whether everything is there.
    fn restart(&mut self, kind: FaultKind, fault: Fault) {
        self.shared.begin_fault();
        let restarted = self.engine.fault(fault);
        self.go_on(kind, restarted);
    }

    /// Gives the room back. Whoever is at work then, works on: only what is there counts.
    fn free_disk(&mut self) {
        let freed = self.engine.fault(Fault::FreeDisk);
        self.timetable.full_since = None;
        self.go_on(FaultKind::FullDisk, freed);
    }

    /// After a fault: everybody is called back, everything is read and compared, and everybody gets a new connection.
    fn go_on(&mut self, kind: FaultKind, mended: Result<(), EngineError>) {
        let nth = self.faults.add(kind);
        self.shared.call_back();
        if let Err(error) = mended {
            return self.give_up(error);
        }
        self.await_lost();
        if self.shared.is_over() {
            return;
        }
        self.audit(Some((kind, nth)));
        self.inquire(Some((kind, nth)));
        if !self.damage.is_empty() || self.breaches.iter().any(|breach| !breach.is_allowed()) {
            return self.stop(Ended::Damaged);
        }
        self.reconnect_all();
        self.shared.end_fault();
        self.timetable.over(kind);
    }

    fn reconnect_all(&mut self) {
        for number in 0..self.storm.scale.sessions {
            if self.handles[number].state != State::Lost {
                continue;
            }
            match open(self.storm, self.engine, number) {
                Ok(session) => self.connect(number, session),
                Err(error) => return self.stop(Ended::Failed(error)),
            }
        }
    }

    /// Listens until nobody works any more: everybody notices that the connection is gone, or is called back.
    fn await_lost(&mut self) {
        while self.is_working() {
            match self.told.recv_timeout(TICK) {
                Ok(Message::Lost { number, done }) => {
                    self.keep(number, done);
                    self.handles[number].state = State::Lost;
                }
                Ok(message) => self.hear(message),
                Err(_) => self.cancel_slow(),
            }
        }
    }
}
