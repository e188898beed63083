//! All interleavings of the sessions of a spec.

use super::{Permutation, Spec, StepAt};

/// The interleavings, in the order of PostgreSQL's runner: the session that is declared first goes first.
///
/// An interleaving is an order of session numbers, `0 0 1 1 2`, each as often as the session has steps; the runner's
/// order is the lexicographic one, so the next interleaving can be made from the last without keeping any other.
#[derive(Debug, Clone)]
pub struct Interleavings {
    order: Option<Vec<usize>>,
}

impl Interleavings {
    /// From the first to the last.
    pub fn new(spec: &Spec) -> Interleavings {
        let sessions = spec.sessions.iter().enumerate();
        let order = sessions.flat_map(|(session, steps)| vec![session; steps.steps.len()]).collect();
        Interleavings { order: Some(order) }
    }
}

impl Iterator for Interleavings {
    type Item = Permutation;

    fn next(&mut self) -> Option<Permutation> {
        let order = self.order.take()?;
        let permutation = in_order(&order);
        self.order = successor(order);
        Some(permutation)
    }
}

fn in_order(order: &[usize]) -> Permutation {
    let mut taken = vec![0; order.iter().max().map_or(0, |last| last + 1)];
    let step = |session: &usize| {
        taken[*session] += 1;
        StepAt { session: *session, step: taken[*session] - 1 }.into()
    };
    Permutation { prose: Vec::new(), steps: order.iter().map(step).collect() }
}

/// The next order in the lexicographic sense; `None` after the last.
fn successor(mut order: Vec<usize>) -> Option<Vec<usize>> {
    // What descends to the end is already as large as it can be: the entry before it must grow, by as little as
    // possible, and the rest starts over.
    let grows = (1..order.len()).rev().find(|at| order[at - 1] < order[*at])? - 1;
    let larger = (grows + 1..order.len()).rev().find(|at| order[*at] > order[grows])?;
    order.swap(grows, larger);
    order[grows + 1..].reverse();
    Some(order)
}
