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
//! which c stays where it is and merely has fewer ahead of it.)

use std::collections::BTreeMap;

use crate::engine::Holder;
use crate::trace::{StepId, Trace, TraceEvent};

/// Where the first race of a trace begins: the position of the event that set two statements free, and whose step it was.
pub fn first_race(trace: &Trace) -> Option<(usize, StepId)> {
    let mut waiting: BTreeMap<StepId, Vec<Holder>> = BTreeMap::new();
    let mut cause: Option<(usize, StepId)> = None;
    let mut freed: Vec<StepId> = Vec::new();
    for (at, event) in trace.events.iter().enumerate() {
        match event {
            TraceEvent::Submitted(step) | TraceEvent::Cancelled(step, _) => {
                cause = Some((at, *step));
                freed.clear();
            }
            TraceEvent::Completed(step) => {
                if let (Some(holders), Some((_, by))) = (waiting.remove(step), cause) {
                    freed.extend(waited_for(trace, &holders, by).then_some(*step));
                }
            }
            TraceEvent::Waiting { step, holders, .. } => {
                let before = waiting.insert(*step, holders.clone());
                if let (Some(before), Some((_, by))) = (before, cause) {
                    let moved_on = holders.iter().any(|holder| !before.contains(holder));
                    freed.extend((moved_on && waited_for(trace, &before, by)).then_some(*step));
                }
            }
            TraceEvent::Resumed(_) | TraceEvent::Happened(_) | TraceEvent::Infeasible(_) => {}
        }
        if freed.len() > 1 {
            return cause;
        }
    }
    None
}

/// Whether the session of a step was among the holders; engines that do not name them may mean anybody.
fn waited_for(trace: &Trace, holders: &[Holder], step: StepId) -> bool {
    holders.is_empty() || holders.contains(&Holder::Session(trace.step(step).session))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::SessionId;

    /// `S0` submits, `W1:0` waits for, `C1` completes: steps and sessions have the same number.
    fn race(text: &str) -> Option<usize> {
        let mut trace = crate::trace::sample::sample("a x > idle; b x > idle; c x > idle");
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
    fn chains_and_queues_do_not() {
        assert_eq!(race("S1 W1:0 S0 C0 C1"), None);
        assert_eq!(race("S1 W1:0 S2 W2:1 S0 C0 C1 C2"), None);
        assert_eq!(race("S1 W1:0 S2 W2:0,1 S0 C0 C1 W2:1"), None);
    }
}
