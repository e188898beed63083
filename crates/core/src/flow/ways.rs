//! Ways through a procedure, and the equations that hold along them.
//!
//! Everything that asks "can this follow that?" is here: which nodes are ever reached, a shortest way that avoids some
//! nodes, which decisions a node depends on, and the work-list by which facts are carried along edges.

use std::collections::{BTreeSet, VecDeque};

use super::input::Procedure;
use crate::budget::WorkBudget;

/// Whether each node can be reached from the first one.
pub(super) fn reached(procedure: &Procedure) -> Vec<bool> {
    reached_from(procedure, (0..procedure.nodes.len().min(1)).collect())
}

/// Whether each node can be reached from behind one of them.
pub(super) fn reached_behind(procedure: &Procedure, node: usize) -> Vec<bool> {
    reached_from(procedure, procedure.nodes[node].successors.clone())
}

fn reached_from(procedure: &Procedure, mut open: Vec<usize>) -> Vec<bool> {
    let mut reached = vec![false; procedure.nodes.len()];
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut reached[node], true) {
            open.extend(&procedure.nodes[node].successors);
        }
    }
    reached
}

/// The nodes before each node, without those that are never reached.
fn predecessors(procedure: &Procedure) -> Vec<Vec<usize>> {
    let reached = reached(procedure);
    let mut predecessors = vec![Vec::new(); procedure.nodes.len()];
    for (from, node) in procedure.nodes.iter().enumerate().filter(|(from, _)| reached[*from]) {
        for to in &node.successors {
            predecessors[*to].push(from);
        }
    }
    predecessors
}

/// A shortest way of at least one edge, with both ends, whose inner nodes are not `blocked`.
pub(super) fn way(
    procedure: &Procedure,
    from: usize,
    to: usize,
    blocked: impl Fn(usize) -> bool,
) -> Option<Vec<usize>> {
    let mut before: Vec<Option<usize>> = vec![None; procedure.nodes.len()];
    let mut open = VecDeque::from([from]);
    while let Some(node) = open.pop_front() {
        for next in &procedure.nodes[node].successors {
            if *next == to {
                return Some(retrace(&before, from, node, to));
            }
            if *next != from && before[*next].is_none() && !blocked(*next) {
                before[*next] = Some(node);
                open.push_back(*next);
            }
        }
    }
    None
}

fn retrace(before: &[Option<usize>], from: usize, last: usize, to: usize) -> Vec<usize> {
    let mut way = vec![to, last];
    let mut at = last;
    while at != from {
        at = before[at].expect("every node but the first was reached from another one");
        way.push(at);
    }
    way.reverse();
    way
}

/// For each node, the nodes whose choice of a successor decides whether it runs (control dependence: Ferrante,
/// Ottenstein and Warren, TOPLAS 1987).
///
/// A node depends on a branch if one way out of the branch leads to it inevitably and another one can avoid it. A place
/// from which the end cannot be reached can avoid everything: rather too many dependences than too few. Nodes that the
/// budget does not last for depend on none.
pub(super) fn decided_by(procedure: &Procedure, budget: &WorkBudget) -> Vec<Vec<usize>> {
    let count = procedure.nodes.len();
    let predecessors = predecessors(procedure);
    let ends = |node: &usize| procedure.nodes[*node].may_end || procedure.nodes[*node].successors.is_empty();
    let endless: Vec<bool> = can_end(count, &predecessors, ends, None).iter().map(|ending| !ending).collect();
    (0..count)
        .map(|node| {
            if budget.is_spent() {
                return Vec::new();
            }
            let avoids = can_end(count, &predecessors, ends, Some(node));
            let avoids = |at: usize| at != node && (avoids[at] || endless[at]);
            let depends = |branch: &usize| {
                let successors = &procedure.nodes[*branch].successors;
                successors.iter().any(|next| !avoids(*next))
                    && (ends(branch) || successors.iter().any(|next| avoids(*next)))
            };
            (0..count).filter(depends).collect()
        })
        .collect()
}

/// Whether each node can reach an end without passing `without`.
fn can_end(
    count: usize,
    predecessors: &[Vec<usize>],
    ends: impl Fn(&usize) -> bool,
    without: Option<usize>,
) -> Vec<bool> {
    let mut found = vec![false; count];
    let mut open: Vec<usize> = (0..count).filter(ends).collect();
    while let Some(node) = open.pop() {
        if Some(node) != without && !std::mem::replace(&mut found[node], true) {
            open.extend(&predecessors[node]);
        }
    }
    found
}

/// The solution of the data-flow equations: which facts come into and go out of each node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flow {
    pub(super) into: Vec<BTreeSet<usize>>,
    pub(super) out: Vec<BTreeSet<usize>>,
}

/// Solves `IN[n] = ∪ OUT[p]`, `OUT[n] = (IN[n] − KILL[n]) ∪ GEN[n]` by a work-list, from below. Nodes that are never
/// reached get and give nothing. If the budget is spent before, facts are missing.
pub(super) fn solve(
    procedure: &Procedure,
    generated: &[BTreeSet<usize>],
    kills: impl Fn(usize, usize) -> bool,
    budget: &WorkBudget,
) -> Flow {
    let count = procedure.nodes.len();
    let facts = generated.iter().filter_map(|own| own.last()).max().map_or(0, |last| last + 1);
    let (reached, predecessors) = (reached(procedure), predecessors(procedure));
    let generated: Vec<Bits> = generated.iter().map(|own| Bits::of(facts, own.iter().copied())).collect();
    let is_kept = |node: usize, fact: &usize| !budget.is_spent() && !kills(node, *fact);
    let kept: Vec<Bits> =
        (0..count).map(|node| Bits::of(facts, (0..facts).filter(|fact| is_kept(node, fact)))).collect();
    let mut into = vec![Bits::of(facts, []); count];
    let mut out = into.clone();
    // Round after round in the order of the nodes: whoever has just changed waits until all others had their turn.
    let mut open = reached;
    while open.contains(&true) {
        for node in 0..count {
            if !std::mem::replace(&mut open[node], false) || budget.is_spent() {
                continue;
            }
            for from in &predecessors[node] {
                into[node].add(&out[*from]);
            }
            let mut new = into[node].clone();
            new.keep(&kept[node]);
            new.add(&generated[node]);
            if new != out[node] {
                out[node] = new;
                procedure.nodes[node].successors.iter().for_each(|next| open[*next] = true);
            }
        }
    }
    let sets = |all: Vec<Bits>| all.iter().map(|bits| bits.iter().collect()).collect();
    Flow { into: sets(into), out: sets(out) }
}

/// A set of facts, one bit each: a long procedure has thousands, and they are put together again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Bits(Vec<u64>);

impl Bits {
    fn of(count: usize, facts: impl IntoIterator<Item = usize>) -> Bits {
        let mut words = vec![0; count.div_ceil(64)];
        facts.into_iter().for_each(|fact| words[fact / 64] |= 1 << (fact % 64));
        Bits(words)
    }

    fn add(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
    }

    fn keep(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= other);
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        let words = self.0.iter().enumerate().filter(|(_, word)| **word != 0);
        words.flat_map(|(at, word)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::notation::parse;

    fn procedure(text: &str) -> Procedure {
        parse(text).unwrap().procedures.remove(0)
    }

    #[test]
    fn ways_are_shortest_and_avoid_what_is_blocked() {
        let procedure = procedure("a:\nb:\nc:\nd:\ne:\na -> b -> d -> a\na -> c -> c -> e -> d");
        assert_eq!(way(&procedure, 0, 3, |_| false), Some(vec![0, 1, 3]));
        assert_eq!(way(&procedure, 0, 3, |node| node == 1), Some(vec![0, 2, 4, 3]));
        assert_eq!(way(&procedure, 0, 3, |node| node == 1 || node == 4), None);
        assert_eq!(way(&procedure, 2, 2, |_| false), Some(vec![2, 2]));
        assert_eq!(way(&procedure, 0, 0, |_| false), Some(vec![0, 1, 3, 0]));
    }

    #[test]
    fn a_node_depends_on_the_branches_that_may_avoid_it() {
        // if / else / join / loop with a body
        let procedure = procedure("a:\nb:\nc:\nd:\ne:\na -> b | c -> d\nd -> e | end\ne -> d");
        assert_eq!(decided_by(&procedure, &WorkBudget::unlimited()), [vec![], vec![0], vec![0], vec![3], vec![3]]);
    }

    #[test]
    fn what_can_go_on_for_ever_avoids_everything() {
        let procedure = procedure("a:\nb:\nc:\na -> b | c\nb -> b\nc -> end");
        assert_eq!(decided_by(&procedure, &WorkBudget::unlimited())[2], [0]);
    }

    #[test]
    fn nodes_that_are_never_reached_say_nothing() {
        let procedure = procedure("a:\nb:\nc:\na -> c\nb -> c");
        let generated: Vec<BTreeSet<usize>> = (0..3).map(|node| BTreeSet::from([node])).collect();
        let flow = solve(&procedure, &generated, |_, _| false, &WorkBudget::unlimited());
        assert_eq!(flow.into[2], BTreeSet::from([0]));
        assert_eq!(flow.out[1], BTreeSet::new());
    }
}
