//! Races: two statements that one step set free.
//!
//! The executor lets an engine come to rest before it submits the next step, so that everything has one order. There is
//! one exception that it cannot prevent: two sessions wait for the same transaction, and its end lets both of them go on.
//!
//! ```text
//!   a  UPDATE t …                 COMMIT
//!   b        UPDATE t … waits      │ goes on ──→ ┐
//!   c               DELETE t … waits │ goes on ──→ ┴ who comes first to what both want?
//! ```
//!
//! From there on the engine chooses, and may choose differently the next time. What is observed is still true; but two
//! runs that part there do not contradict each other. (A chain, in which c waits for b, is no race; nor is a queue, in
//! which c stays where it is and merely has fewer ahead of it. Unless the engine lets waiters overtake one another, as
//! PostgreSQL does: there c, which is listed behind b, may be the first to reach the row.)

use std::collections::BTreeMap;

use crate::engine::Holder;
use crate::outcome::{ErrorClass, Outcome};
use crate::trace::{StepId, Trace, TraceEvent};

/// Where the first race of a trace begins: the position of the event that set two statements free, and whose step it was.
pub fn first_race(trace: &Trace) -> Option<(usize, StepId)> {
    let is_cause = |event: &TraceEvent| matches!(event, TraceEvent::Submitted(_) | TraceEvent::Cancelled(..));
    let mut waiting: Waiting = BTreeMap::new();
    let causes: Vec<usize> = (0..trace.events.len()).filter(|at| is_cause(&trace.events[*at])).collect();
    for (number, at) in causes.iter().enumerate() {
        let end = causes.get(number + 1).copied().unwrap_or(trace.events.len());
        let (cause, came) = trace.events[*at..end].split_first()?;
        let step = cause.step()?;
        if is_race(trace, &waiting, step, came) {
            return Some((*at, step));
        }
        for event in came {
            match event {
                TraceEvent::Completed(step) => drop(waiting.remove(step)),
                TraceEvent::Waiting { step, holders, .. } => drop(waiting.insert(*step, holders.clone())),
                _ => {}
            }
        }
    }
    None
}

/// The steps that wait, with those that they wait for.
type Waiting = BTreeMap<StepId, Vec<Holder>>;

/// Whether what came of a step is a race. Not only who does the step may set others free: the victim of a deadlock does,
/// too, and then the step that closed the circle is one of those that go on.
fn is_race(trace: &Trace, waiting: &Waiting, cause: StepId, came: &[TraceEvent]) -> bool {
    let is_victim = |event: &TraceEvent| match event {
        TraceEvent::Completed(step) => {
            let outcome = trace.step(*step).outcome.as_ref();
            outcome.and_then(Outcome::error_class) == Some(ErrorClass::Deadlock)
        }
        _ => false,
    };
    let victims: Vec<StepId> = came.iter().filter(|event| is_victim(event)).filter_map(TraceEvent::step).collect();
    let releasers: Vec<StepId> = victims.iter().copied().chain([cause]).collect();
    let is_released = |holders: &[Holder]| releasers.iter().any(|step| waited_for(trace, holders, *step));
    let freed = came.iter().filter(|event| match event {
        TraceEvent::Completed(step) if victims.contains(step) => false,
        TraceEvent::Completed(step) if *step == cause => !victims.is_empty(),
        TraceEvent::Completed(step) => waiting.get(step).is_some_and(|holders| is_released(holders)),
        TraceEvent::Waiting { step, holders, .. } => waiting.get(step).is_some_and(|before| {
            let moved_on = holders.iter().any(|holder| !before.contains(holder));
            moved_on && is_released(before)
        }),
        _ => false,
    });
    let freed_count = freed.count();
    let behind = || waiting.keys().filter(|other| waits_through(trace, waiting, **other, cause)).count();
    freed_count > 1 || (trace.engine.capabilities.overtaking && freed_count > 0 && behind() > 1)
}

/// Whether the session of a step was among the holders; engines that do not name them may mean anybody.
fn waited_for(trace: &Trace, holders: &[Holder], step: StepId) -> bool {
    holders.is_empty() || holders.contains(&Holder::Session(trace.step(step).session))
}

/// Whether a step waits, directly or through others, for the session of another step.
fn waits_through(trace: &Trace, waiting: &Waiting, step: StepId, holder: StepId) -> bool {
    let mut open = vec![step];
    let mut seen = Vec::new();
    while let Some(step) = open.pop() {
        let Some(holders) = waiting.get(&step) else { continue };
        if waited_for(trace, holders, holder) {
            return true;
        }
        seen.push(step);
        let is_holder = |other: &StepId| holders.contains(&Holder::Session(trace.step(*other).session));
        open.extend(waiting.keys().copied().filter(|other| is_holder(other) && !seen.contains(other)));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::SessionId;

    /// `S0` submits, `W1:0` waits for, `C1` completes: steps and sessions have the same number.
    fn race(text: &str) -> Option<usize> {
        race_on(false, text)
    }

    fn race_on(overtaking: bool, text: &str) -> Option<usize> {
        let mut trace = crate::trace::sample::sample("a x > idle; b x > idle; c x > idle");
        trace.engine.capabilities.overtaking = overtaking;
        let number = |text: &str| text.parse::<usize>().unwrap();
        trace.events = text
            .split(' ')
            .map(|word| match word.split_at(1) {
                ("S", step) => TraceEvent::Submitted(StepId(number(step))),
                ("C", step) => TraceEvent::Completed(StepId(number(step))),
                (_, wait) => {
                    let (step, holders) = wait.split_once(':').unwrap();
                    let holders = holders.split(',').filter(|holder| !holder.is_empty());
                    let holders = holders.map(|holder| Holder::Session(SessionId(number(holder)))).collect();
                    TraceEvent::Waiting { step: StepId(number(step)), holders, source: "test" }
                }
            })
            .collect();
        first_race(&trace).map(|(_, step)| step.0)
    }

    #[test]
    fn two_that_one_step_sets_free_race() {
        assert_eq!(race("S1 W1:0 S2 W2:0 S0 C0 C1 C2"), Some(0));
        assert_eq!(race("S1 W1:0 S2 W2:0 S0 C0 C1 W2:1"), Some(0));
        assert_eq!(race("S1 W1: S2 W2: S0 C0 C1 C2"), Some(0));
    }

    #[test]
    fn whoever_may_overtake_races_in_a_queue() {
        assert_eq!(race_on(true, "S1 W1:0 S2 W2:1 S0 C0 C1"), Some(0));
        assert_eq!(race_on(true, "S1 W1:0 S2 W2:1 S0 C0"), None);
        assert_eq!(race_on(true, "S1 W1:0 S0 C0 C1"), None);
    }

    #[test]
    fn the_victim_of_a_deadlock_sets_others_free() {
        let mut trace = crate::trace::sample::sample("a x > idle; b x > error deadlock idle; c x > idle");
        let wait = |step: usize, holder: usize| TraceEvent::Waiting {
            step: StepId(step),
            holders: vec![Holder::Session(SessionId(holder))],
            source: "test",
        };
        let (submit, complete) =
            (|step| TraceEvent::Submitted(StepId(step)), |step| TraceEvent::Completed(StepId(step)));
        let start = [submit(1), wait(1, 0), submit(2), wait(2, 1), submit(0), complete(0), complete(1)];
        trace.events = start.to_vec();
        assert_eq!(first_race(&trace), None);
        trace.events.push(complete(2));
        assert_eq!(first_race(&trace), Some((4, StepId(0))));
    }

    #[test]
    fn chains_and_queues_do_not() {
        assert_eq!(race("S1 W1:0 S0 C0 C1"), None);
        assert_eq!(race("S1 W1:0 S2 W2:1 S0 C0 C1 C2"), None);
        assert_eq!(race("S1 W1:0 S2 W2:0,1 S0 C0 C1 W2:1"), None);
    }
}
