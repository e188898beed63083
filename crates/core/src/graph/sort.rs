//! Orders of the statements that respect every dependency.
//!
//! Any of them will do (see [`infer`](super::infer())); different ones exercise the engine differently, so one is chosen
//! by chance: again and again one of the statements that wait for nobody. How many orders there are says how much room
//! the dependencies leave.

use std::collections::BTreeMap;

use super::Graph;
use crate::generate::random::Random;

impl Graph {
    /// An order by chance; `None` if there is a cycle.
    pub fn order(&self, random: &mut Random) -> Option<Vec<usize>> {
        self.order_by(|ready| random.below(ready.len()))
    }

    /// The order that is nearest to how it was: always the statement next that completed first. `None` if there is a cycle.
    pub fn first_order(&self) -> Option<Vec<usize>> {
        let done = |at: usize| (self.statements[at].done, at);
        self.order_by(|ready| (0..ready.len()).min_by_key(|place| done(ready[*place])).unwrap_or(0))
    }

    /// Takes one statement after the other; `choose` says which one of those that wait for nobody.
    fn order_by(&self, mut choose: impl FnMut(&[usize]) -> usize) -> Option<Vec<usize>> {
        let followers = self.followers();
        let mut waits = self.leader_counts();
        let mut ready: Vec<usize> = (0..waits.len()).filter(|at| waits[*at] == 0).collect();
        let mut order = Vec::with_capacity(waits.len());
        while !ready.is_empty() {
            let at = ready.remove(choose(&ready));
            order.push(at);
            for next in &followers[at] {
                waits[*next] -= 1;
                if waits[*next] == 0 {
                    ready.push(*next);
                }
            }
        }
        (order.len() == waits.len()).then_some(order)
    }

    /// By statement: how many have to run before it.
    fn leader_counts(&self) -> Vec<usize> {
        let followers = self.followers();
        let mut counts = vec![0; followers.len()];
        followers.iter().flatten().for_each(|next| counts[*next] += 1);
        counts
    }

    /// The statements that wait for nobody.
    pub fn zero_in_degree(&self) -> Vec<usize> {
        let counts = self.leader_counts();
        (0..counts.len()).filter(|at| counts[*at] == 0).collect()
    }

    /// Whether an order has every statement once, and every dependency the right way round.
    pub fn respects(&self, order: &[usize]) -> bool {
        let places: BTreeMap<usize, usize> = order.iter().enumerate().map(|(place, at)| (*at, place)).collect();
        let count = self.statements.len();
        let is_complete = order.len() == count && places.len() == count && places.keys().all(|at| *at < count);
        let is_forward = |from: usize, to: usize| match (places.get(&from), places.get(&to)) {
            (Some(first), Some(second)) => first < second,
            _ => false,
        };
        is_complete && self.edges.iter().filter(|edge| edge.from != edge.to).all(|edge| is_forward(edge.from, edge.to))
    }

    /// How many orders there are, exactly if there are fewer than `max`, else `max`; 0 if there is a cycle.
    ///
    /// A set of statements that can have run so far (a down-set) is reached in as many ways as the sets that lack one of
    /// its statements, taken together. Every way can be completed, so that no more than `max` of them are ever counted:
    /// time and memory are proportional to `max` at worst.
    pub fn order_count(&self, max: u64) -> u64 {
        if self.first_order().is_none() {
            return 0;
        }
        let leaders = self.leader_sets();
        let mut ways: BTreeMap<Vec<u64>, u64> = BTreeMap::from([(vec![0; words(leaders.len())], 1)]);
        for _ in 0..leaders.len() {
            let mut longer: BTreeMap<Vec<u64>, u64> = BTreeMap::new();
            let mut sum: u64 = 0;
            for (ran, count) in &ways {
                let can_run = |at: &usize| !has(ran, *at) && is_within(&leaders[*at], ran);
                for at in (0..leaders.len()).filter(can_run) {
                    let mut ran = ran.clone();
                    insert(&mut ran, at);
                    *longer.entry(ran).or_default() += count;
                    sum = sum.saturating_add(*count);
                    if sum >= max {
                        return max;
                    }
                }
            }
            ways = longer;
        }
        ways.values().sum::<u64>().min(max)
    }

    /// By statement: those that have to run before it.
    fn leader_sets(&self) -> Vec<Vec<u64>> {
        let count = self.statements.len();
        let mut leaders = vec![vec![0; words(count)]; count];
        for edge in self.edges.iter().filter(|edge| edge.from != edge.to) {
            insert(&mut leaders[edge.to], edge.from);
        }
        leaders
    }
}

/// How many words a set of so many statements takes.
fn words(count: usize) -> usize {
    count.div_ceil(64)
}

fn insert(set: &mut [u64], at: usize) {
    set[at / 64] |= 1 << (at % 64);
}

fn has(set: &[u64], at: usize) -> bool {
    set[at / 64] >> (at % 64) & 1 == 1
}

fn is_within(inner: &[u64], outer: &[u64]) -> bool {
    inner.iter().zip(outer).all(|(inner, outer)| inner & !outer == 0)
}

#[cfg(test)]
mod tests;
