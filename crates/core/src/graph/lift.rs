//! From statements to transactions: T is before U if a statement of T is before a statement of U.
//!
//! With all kinds of edges this tells how far a run is from being serializable, as far as anybody can tell: predicate
//! edges may be spurious, so a cycle is no accusation. With item edges alone it is one; [`isolation`](super::isolation)
//! says of which level.

use std::collections::{BTreeMap, BTreeSet};

use super::{EdgeKind, Graph};

impl Graph {
    /// Which transaction is before which other one, by edges of the kinds that are kept.
    pub fn transaction_edges(&self, keep: impl Fn(EdgeKind) -> bool) -> BTreeSet<(usize, usize)> {
        let transaction = |at: usize| self.statements[at].transaction;
        let kept = self.edges.iter().filter(|edge| keep(edge.kind));
        kept.map(|edge| (transaction(edge.from), transaction(edge.to))).filter(|(from, to)| from != to).collect()
    }

    /// Whether some transaction is before itself, by edges of the kinds that are kept.
    pub fn is_transaction_cyclic(&self, keep: impl Fn(EdgeKind) -> bool) -> bool {
        let mut edges = self.transaction_edges(keep);
        // Nobody who waits for nobody is on a cycle.
        loop {
            let followers: BTreeSet<usize> = edges.iter().map(|(_, to)| *to).collect();
            let count = edges.len();
            edges.retain(|(from, _)| followers.contains(from));
            if edges.len() == count {
                return count > 0;
            }
        }
    }

    /// The statements of each transaction, as positions, in the order in which they completed.
    pub fn transactions(&self) -> BTreeMap<usize, Vec<usize>> {
        let mut transactions: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, statement) in self.statements.iter().enumerate() {
            transactions.entry(statement.transaction).or_default().push(at);
        }
        for statements in transactions.values_mut() {
            statements.sort_by_key(|at| self.statements[*at].done);
        }
        transactions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::notation::graph;

    #[test]
    fn edges_inside_a_transaction_are_left_out() {
        let graph = graph("a1 T0 sees t1=0 writes t1:0>5\na2 T0 sees t1=5\nb1 T1 sees t1=5 outputs t1=5");
        assert_eq!(graph.transaction_edges(|_| true), BTreeSet::from([(0, 1)]));
        assert_eq!(graph.transaction_edges(|kind| kind == EdgeKind::ItemWrite), BTreeSet::new());
        assert_eq!(graph.transactions(), BTreeMap::from([(0, vec![0, 1]), (1, vec![2])]));
    }

    #[test]
    fn a_cycle_of_transactions_need_not_be_one_of_statements() {
        // Read skew: b reads one row from before a and one from after it.
        let graph = graph(
            "b1 T1 sees t1=0 t2=0 outputs t1=0
             a1 T0 sees t1=0 t2=0 writes t1:0>5 t2:0>5
             b2 T1 sees t1=5 t2=5 outputs t2=5",
        );
        assert!(graph.cyclic().is_empty());
        assert!(graph.is_transaction_cyclic(|_| true) && graph.is_transaction_cyclic(EdgeKind::is_item));
        assert!(!graph.is_transaction_cyclic(|kind| kind == EdgeKind::ItemRead));
    }

    #[test]
    fn what_leads_to_a_cycle_is_none() {
        let graph = graph("a1 T0 sees t1=0 writes t1:0>5\nb1 T1 sees t1=5 writes t1:5>6\nc1 T2 sees t1=6");
        assert!(!graph.is_transaction_cyclic(|_| true));
    }
}
