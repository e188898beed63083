//! Schedules: in which order the steps of a run are submitted, and what happens when one cannot be.
//!
//! A schedule is a printable value, `a a b b a`: each entry means "the next step of that session". What an entry means
//! when its session is waiting is the [`Policy`]'s business.

pub mod quiet;

use std::fmt;

use crate::case::{Event, SessionName};

/// An order of submission. Prints as session names separated by spaces.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schedule(pub Vec<SessionName>);

impl Schedule {
    /// How often the schedule goes from one session to another.
    pub fn switch_count(&self) -> usize {
        self.0.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(SessionName::as_str).collect();
        f.write_str(&names.join(" "))
    }
}

/// One entry of what a run is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// The next step of the session: an entry of an explicit `@schedule`.
    Step(SessionName),
    /// The next item of the session, to its end: a line of the case. (A call has as many steps as it has.)
    Item(SessionName),
    /// A positioned event: partition, heal, deliver, kill.
    Event(Event),
}

/// What to do when the next entry's session waits for another one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Policy {
    /// Go on with the entries of other sessions; come back as soon as the session can go on (DT², Algorithm 1).
    #[default]
    Skip,
    /// Submit nothing before that session goes on; if it never does, its statement is cancelled (isolationtester).
    Wait,
    /// As `Skip`, but some steps are held back until others have completed (AGENDA's partial orders).
    Partial(Vec<Constraint>),
}

/// `then` may be submitted only after `first` has completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraint {
    /// The step that must have completed.
    pub first: StepRef,
    /// The step that is held back.
    pub then: StepRef,
}

/// A step of a session, by its position in it (from 0).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepRef {
    /// The session.
    pub session: SessionName,
    /// The position of the step among the steps of that session, from 0.
    pub index: usize,
}

impl fmt::Display for StepRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.session, self.index + 1)
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} before {}", self.first, self.then)
    }
}
