//! Orders: in which order the steps of all sessions are submitted.
//!
//! All interleavings of some sessions could be enumerated, but there are too many of them: some are drawn. How often
//! to switch from one session to another decides what a case is like: seldom, and transactions run almost one after
//! the other; at every step, and all of them are open all the time. So that is a feature of the model.

use super::features;
use super::model::Model;
use super::random::Random;

/// How often an order is drawn that is not there yet.
const DRAWS_MAX: usize = 8;

/// Some different orders of sessions with so many steps each. An order is a list of sessions, each entry meaning the
/// next step of it; every step appears.
pub fn orders(steps: &[usize], model: &Model, random: &mut Random) -> Vec<Vec<usize>> {
    let count = model.count(&features::ORDERS, random).max(1);
    let mut orders: Vec<Vec<usize>> = Vec::new();
    for _ in 0..count {
        let new = (0..DRAWS_MAX).map(|_| order(steps, model, random)).find(|order| !orders.contains(order));
        orders.extend(new);
    }
    orders
}

fn order(steps: &[usize], model: &Model, random: &mut Random) -> Vec<usize> {
    let mut left: Vec<u64> = steps.iter().map(|count| *count as u64).collect();
    let mut order: Vec<usize> = Vec::with_capacity(steps.iter().sum());
    let mut current = None;
    loop {
        let stay = current.filter(|session: &usize| left[*session] > 0);
        let next = match stay {
            Some(session) if !model.flag(&features::SWITCH, random) => Some(session),
            // Sessions with more steps come up more often: so all end at about the same time.
            _ => {
                let others: Vec<u64> =
                    left.iter().enumerate().map(|(s, left)| if Some(s) == current { 0 } else { *left }).collect();
                random.weighted(&others).or(stay)
            }
        };
        let Some(session) = next else { return order };
        left[session] -= 1;
        order.push(session);
        current = Some(session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_appears_once_and_no_two_orders_are_the_same() {
        let model = Model::usual("test");
        for seed in 0..200 {
            let mut random = Random::new(seed, &[]);
            let steps = [3, 1 + random.below(6), 0, 4];
            let orders = orders(&steps, &model, &mut random);
            assert!(!orders.is_empty());
            for (at, order) in orders.iter().enumerate() {
                let counts: Vec<usize> = (0..4).map(|s| order.iter().filter(|other| **other == s).count()).collect();
                assert_eq!(counts, steps);
                assert!(!orders[..at].contains(order), "{orders:?}");
            }
        }
    }

    #[test]
    fn a_single_session_has_one_order() {
        assert_eq!(orders(&[2], &Model::usual("test"), &mut Random::new(1, &[])), [[0, 0]]);
    }
}
