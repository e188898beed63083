//! Ways through a procedure, and the equations that hold along them.
//!
//! Everything that asks "can this follow that?" is here: which nodes are ever reached, a shortest way that avoids some
//! nodes, which decisions a node depends on, and the work-list by which facts are carried along edges.

use std::collections::{BTreeSet, VecDeque};

use super::input::Procedure;

/// Whether each node can be reached from the first one.
pub(super) fn reached(procedure: &Procedure) -> Vec<bool> {
    let mut reached = vec![false; procedure.nodes.len()];
    let mut open: Vec<usize> = (0..procedure.nodes.len().min(1)).collect();
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
/// from which the end cannot be reached can avoid everything: rather too many dependences than too few.
pub(super) fn decided_by(procedure: &Procedure) -> Vec<Vec<usize>> {
    let count = procedure.nodes.len();
    let predecessors = predecessors(procedure);
    let ends = |node: &usize| procedure.nodes[*node].may_end || procedure.nodes[*node].successors.is_empty();
    let endless: Vec<bool> = can_end(count, &predecessors, ends, None).iter().map(|ending| !ending).collect();
    (0..count)
        .map(|node| {
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
/// reached get and give nothing.
///
/// Facts only ever come in, so that each is asked once per node whether it goes on.
pub(super) fn solve(
    procedure: &Procedure,
    generated: &[BTreeSet<usize>],
    kills: impl Fn(usize, usize) -> bool,
) -> Flow {
    let count = procedure.nodes.len();
    let (reached, predecessors) = (reached(procedure), predecessors(procedure));
    let facts = generated.iter().filter_map(|some| some.last()).max().map_or(0, |last| last + 1);
    let (mut into, mut out) = (vec![Facts::none(facts); count], vec![Facts::none(facts); count]);
    for node in (0..count).filter(|node| reached[*node]) {
        for fact in &generated[node] {
            out[node].insert(*fact);
        }
    }
    let mut open: BTreeSet<usize> = (0..count).filter(|node| reached[*node]).collect();
    let mut is_first = vec![true; count];
    while let Some(node) = open.pop_first() {
        let mut all = Facts::none(facts);
        predecessors[node].iter().for_each(|from| all.unite(&out[*from]));
        let mut grows = std::mem::replace(&mut is_first[node], false) && !out[node].is_empty();
        for fact in all.without(&into[node]).iter().filter(|fact| !kills(node, *fact)) {
            grows |= out[node].insert(fact);
        }
        into[node] = all;
        if grows {
            open.extend(&procedure.nodes[node].successors);
        }
    }
    let sets = |all: Vec<Facts>| all.iter().map(|facts| facts.iter().collect()).collect();
    Flow { into: sets(into), out: sets(out) }
}

/// A set of facts, a bit for each.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Facts(Vec<u64>);

impl Facts {
    fn none(count: usize) -> Facts {
        Facts(vec![0; count.div_ceil(64)])
    }

    /// Whether the fact is new.
    fn insert(&mut self, fact: usize) -> bool {
        let (word, bit) = (&mut self.0[fact / 64], 1 << (fact % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    fn unite(&mut self, other: &Facts) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }

    fn without(&self, other: &Facts) -> Facts {
        Facts(self.0.iter().zip(&other.0).map(|(word, less)| word & !less).collect())
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(at, word)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| at * 64 + bit)
        })
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
        assert_eq!(decided_by(&procedure), [vec![], vec![0], vec![0], vec![3], vec![3]]);
    }

    #[test]
    fn what_can_go_on_for_ever_avoids_everything() {
        let procedure = procedure("a:\nb:\nc:\na -> b | c\nb -> b\nc -> end");
        assert_eq!(decided_by(&procedure)[2], [0]);
    }

    #[test]
    fn nodes_that_are_never_reached_say_nothing() {
        let procedure = procedure("a:\nb:\nc:\na -> c\nb -> c");
        let generated: Vec<BTreeSet<usize>> = (0..3).map(|node| BTreeSet::from([node])).collect();
        let flow = solve(&procedure, &generated, |_, _| false);
        assert_eq!(flow.into[2], BTreeSet::from([0]));
        assert_eq!(flow.out[1], BTreeSet::new());
    }
}
