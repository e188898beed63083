//! When may the next step be submitted? When the engine is *quiet*.
//!
//! ```text
//!   a: idle, in a transaction      b waits for a            quiet: only a step of a can change anything
//!   a: idle                        b running                not quiet: b may complete, or begin to wait
//!   a waits for b                  b waits for a            not quiet: the engine is about to choose a victim
//! ```
//!
//! Every statement in flight waits, directly or through others, for an idle session; and there is no cycle. So quiet
//! is a property of what the server says, not of how long we have waited: it holds on a slow machine as on a fast one.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::{Holder, KnownWaits, SessionId, Waits};

/// Whether nothing will change before another step is submitted.
pub fn is_quiet(in_flight: &BTreeSet<SessionId>, waits: &Waits) -> bool {
    match &waits.known {
        KnownWaits::Count(count) => *count >= in_flight.len(),
        KnownWaits::Edges(edges) => {
            in_flight.iter().all(|session| edges.get(session).is_some_and(|holders| all_inside(holders)))
                && !has_cycle(in_flight, edges)
        }
    }
}

/// Somebody outside of the run may go on at any moment.
fn all_inside(holders: &[Holder]) -> bool {
    holders.iter().all(|holder| matches!(holder, Holder::Session(_)))
}

/// Whether statements in flight wait for each other in a circle.
fn has_cycle(in_flight: &BTreeSet<SessionId>, edges: &BTreeMap<SessionId, Vec<Holder>>) -> bool {
    // Remove sessions that wait for nobody in flight until none is left, or only those in or before a circle.
    let mut left: BTreeSet<SessionId> = in_flight.clone();
    loop {
        let waits_inside = |session: &SessionId| {
            let holders = edges.get(session).map_or(&[][..], Vec::as_slice);
            holders.iter().any(|holder| matches!(holder, Holder::Session(other) if left.contains(other)))
        };
        let next: BTreeSet<SessionId> = left.iter().copied().filter(waits_inside).collect();
        if next.len() == left.len() {
            return !left.is_empty();
        }
        left = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `"1>0 2>1,0"`: session 1 waits for 0, 2 for 1 and 0; in flight are those listed first.
    fn check(in_flight: &[usize], edges: &str, expect: bool) {
        let edges = edges
            .split_whitespace()
            .map(|edge| {
                let (waiter, holders) = edge.split_once('>').unwrap();
                let holder = |text: &str| match text.parse() {
                    Ok(id) => Holder::Session(SessionId(id)),
                    Err(_) => Holder::Outside(text.to_string()),
                };
                (SessionId(waiter.parse().unwrap()), holders.split(',').map(holder).collect())
            })
            .collect();
        let waits = Waits { known: KnownWaits::Edges(edges), source: "test" };
        let in_flight = in_flight.iter().copied().map(SessionId).collect();
        assert_eq!(is_quiet(&in_flight, &waits), expect, "{waits:?}");
    }

    #[test]
    fn quiet_is_a_property_of_the_wait_graph() {
        check(&[], "", true);
        check(&[1], "", false);
        check(&[1], "1>0", true);
        check(&[1, 2], "1>0 2>1", true);
        check(&[1, 2], "1>0", false);
        check(&[0, 1], "0>1 1>0", false);
        check(&[0, 1, 2], "0>1 1>0 2>0", false);
        check(&[1, 2], "1>2,0 2>1", false);
        check(&[1], "1>outsider", false);
    }

    #[test]
    fn a_number_of_waits_is_enough_where_the_server_tells_no_more() {
        let waits = |count| Waits { known: KnownWaits::Count(count), source: "test" };
        let in_flight = [SessionId(0), SessionId(1)].into_iter().collect();
        assert!(!is_quiet(&in_flight, &waits(1)));
        assert!(is_quiet(&in_flight, &waits(2)));
    }
}
