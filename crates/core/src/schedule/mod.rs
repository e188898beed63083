//! Schedules: in which order the steps of a run are submitted, and what happens when one cannot be.
//!
//! A schedule is a printable value, `a a b b a`: each entry means "the next step of that session". What an entry means
//! when its session is waiting is the [`Policy`]'s business. Between the steps there may be events, in brackets:
//! `[partition 1|2] a b [heal] a`.

pub mod quiet;

use std::fmt;

use crate::case::{Event, SessionName};

/// An order of submission. Prints as session names, and events in brackets, separated by spaces.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schedule(pub Vec<ScheduleEntry>);

/// An entry of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScheduleEntry {
    /// The next step of the session.
    Step(SessionName),
    /// Something happens to the nodes.
    Event(Event),
}

impl ScheduleEntry {
    /// The session whose turn it is; none if this is an event.
    pub fn session(&self) -> Option<&SessionName> {
        match self {
            ScheduleEntry::Step(name) => Some(name),
            ScheduleEntry::Event(_) => None,
        }
    }
}

impl fmt::Display for ScheduleEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScheduleEntry::Step(name) => f.write_str(name.as_str()),
            ScheduleEntry::Event(event) => write!(f, "[{event}]"),
        }
    }
}

impl Schedule {
    /// The sessions whose turns it is, one after the other.
    pub fn sessions(&self) -> impl Iterator<Item = &SessionName> {
        self.0.iter().filter_map(ScheduleEntry::session)
    }

    /// The events, in order.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.0.iter().filter_map(|entry| match entry {
            ScheduleEntry::Event(event) => Some(event),
            ScheduleEntry::Step(_) => None,
        })
    }

    /// How often the schedule goes from one session to another, whatever happens in between.
    pub fn switch_count(&self) -> usize {
        let sessions: Vec<&SessionName> = self.sessions().collect();
        sessions.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }
}

impl FromIterator<ScheduleEntry> for Schedule {
    fn from_iter<T: IntoIterator<Item = ScheduleEntry>>(entries: T) -> Schedule {
        Schedule(entries.into_iter().collect())
    }
}

/// A schedule without events.
impl FromIterator<SessionName> for Schedule {
    fn from_iter<T: IntoIterator<Item = SessionName>>(names: T) -> Schedule {
        names.into_iter().map(ScheduleEntry::Step).collect()
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries: Vec<String> = self.0.iter().map(ScheduleEntry::to_string).collect();
        f.write_str(&entries.join(" "))
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

impl From<ScheduleEntry> for Turn {
    fn from(entry: ScheduleEntry) -> Turn {
        match entry {
            ScheduleEntry::Step(name) => Turn::Step(name),
            ScheduleEntry::Event(event) => Turn::Event(event),
        }
    }
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
        // A session's name may end with a digit: `s1:2` is its second step, not the twelfth of `s`.
        let separator = if self.session.as_str().ends_with(|c: char| c.is_ascii_digit()) { ":" } else { "" };
        write!(f, "{}{separator}{}", self.session, self.index + 1)
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} before {}", self.first, self.then)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_stand_between_steps_and_are_no_switches() {
        let step = |name: &str| ScheduleEntry::Step(SessionName::new(name).unwrap());
        let event = |text: &str| ScheduleEntry::Event(Event::parse(text).unwrap());
        let entries = [event("partition 1|2"), step("a"), event("deliver 1>2 #1"), step("a"), step("b"), event("heal")];
        let schedule: Schedule = entries.into_iter().collect();
        assert_eq!(schedule.to_string(), "[partition 1|2] a [deliver 1>2 #1] a b [heal]");
        assert_eq!(schedule.switch_count(), 1);
        assert_eq!(schedule.sessions().count(), 3);
        assert_eq!(schedule.events().last(), Some(&Event::Heal));
    }

    #[test]
    fn the_name_of_a_step_is_read_in_one_way_only() {
        let named = |session: &str| StepRef { session: SessionName::new(session).unwrap(), index: 1 }.to_string();
        assert_eq!([named("a"), named("s1")], ["a2", "s1:2"]);
    }
}
