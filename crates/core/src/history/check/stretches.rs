//! The parts of a history that can hold cycles.
//!
//! Transactions have an obvious order: the one in which they ended. On a healthy database nearly every edge leads
//! forward in it, and a graph whose edges all lead forward has no cycle. Where an edge leads back, a cycle has to stay
//! within the *stretch* of transactions that such edges span:
//!
//! ```text
//!   ended   1   2   3   4   5   6   7   8   9
//!                   ↑───────┘       ↑───┘          edges that lead back
//!                   └ 3 4 5 ┘       └7 8┘          a cycle lies within 3 4 5, or within 7 8
//! ```
//!
//! *Proof.* A cycle returns to where it began, so it goes back as often as it goes forward, by edges that lead back. Its
//! first place in the order is where such an edge leads, its last one where such an edge comes from, and between any two
//! neighbouring places of it one of these edges passes. So all of its transactions lie under them.
//!
//! So a graph is made of those stretches alone, and most histories need none. Edges are compared one by one and not kept,
//! which is why millions of transactions are checked in the memory that they take themselves.

use super::super::History;
use super::super::facts::{Facts, Node};

/// The stretches of an order that edges lead back over.
#[derive(Debug)]
pub(super) struct Stretches {
    /// By node: its position in the order. The initial transaction is the first.
    positions: Vec<u32>,
    /// By position: the number of edges that begin to span it, less those that end; then, how many span it.
    depths: Vec<i32>,
}

impl Stretches {
    /// No stretches, in the order in which transactions ended. Whose end is not known counts where it began, and without
    /// any times the order of the input counts. Real time agrees with that order.
    pub(super) fn new(history: &History, facts: &Facts) -> Stretches {
        let key = |node: Node| match facts.transaction(node) {
            None => (0, 0),
            Some(id) => {
                let transaction = history.transaction(id);
                (transaction.ended.or(transaction.began).unwrap_or(u64::from(id.0)), node)
            }
        };
        let mut order: Vec<Node> = (0..facts.node_count() as Node).collect();
        order.sort_unstable_by_key(|node| key(*node));
        let mut positions = vec![0; order.len()];
        (0..).zip(&order).for_each(|(position, node)| positions[*node as usize] = position);
        Stretches { positions, depths: vec![0; order.len() + 1] }
    }

    /// Notes an edge if it leads back.
    pub(super) fn compare(&mut self, from: Node, to: Node) {
        let (from, to) = (self.positions[from as usize], self.positions[to as usize]);
        if to < from {
            self.depths[to as usize] += 1;
            self.depths[from as usize + 1] -= 1;
        }
    }

    /// Ends the comparison. Returns true if there is a stretch.
    pub(super) fn close(&mut self) -> bool {
        let mut depth = 0;
        for here in &mut self.depths {
            depth += *here;
            *here = depth;
        }
        self.depths.iter().any(|depth| *depth > 0)
    }

    /// True if a node lies within a stretch. Moments in time do if they are there at all.
    pub(super) fn holds(&self, node: Node) -> bool {
        self.positions.get(node as usize).is_none_or(|position| self.depths[*position as usize] > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::facts;
    use crate::history::micro::micro;

    /// The nodes within stretches, after comparing edges between nodes.
    fn check(text: &str, edges: &[(Node, Node)], expected: &[Node]) {
        let history = micro(text).unwrap();
        let facts = facts::collect(&history).unwrap();
        let mut stretches = Stretches::new(&history, &facts);
        edges.iter().for_each(|(from, to)| stretches.compare(*from, *to));
        assert_eq!(stretches.close(), !expected.is_empty(), "{edges:?}");
        let within: Vec<Node> = (0..facts.node_count() as Node).filter(|node| stretches.holds(*node)).collect();
        assert_eq!(within, expected, "{edges:?}");
    }

    #[test]
    fn only_what_edges_lead_back_over_can_be_on_a_cycle() {
        let serial = "wx1 / wx2 / wx3 / wx4 / wx5";
        check(serial, &[], &[]);
        check(serial, &[(1, 2), (2, 5), (0, 3)], &[]);
        check(serial, &[(1, 5), (3, 2)], &[2, 3]);
        check(serial, &[(2, 1), (5, 4)], &[1, 2, 4, 5]);
        check(serial, &[(4, 2), (5, 3)], &[2, 3, 4, 5]);
        check(serial, &[(2, 0)], &[0, 1, 2]);
    }

    #[test]
    fn transactions_stand_in_the_order_in_which_they_ended() {
        // The first one ends last.
        let timed = "@0-9 wx1 / @1-2 wx2 / @3-4 wx3";
        check(timed, &[(2, 3), (3, 1)], &[]);
        check(timed, &[(1, 3)], &[1, 3]);
        check(timed, &[(1, 2)], &[1, 2, 3]);
    }
}
