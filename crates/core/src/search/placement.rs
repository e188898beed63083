//! Which node of a cluster answers each statement of a test, and what is delivered before it.
//!
//! # The problem
//!
//! A plan says of each statement whose writes it sees, and whose it does not. A node cannot forget, and a cluster can be
//! told only so much: `replicas:N` delivers single write statements from any node to any other, and sessions go to another
//! node between two statements; a ring delivers along its direction, whole transactions in their order, and sessions stay.
//!
//! ```text
//!   plan       a1 writes   b1 sees a1   b2 does not            reads go backwards
//!   placement  a1 at 1     b1 at 1      b2 at 2                b's second statement is answered by another node
//! ```
//!
//! # The idea
//!
//! What each node knows is followed from statement to statement. A statement may be answered by a node that knows nothing
//! which it must not see; what it must see and the node does not know is delivered. Nodes are tried in turn, the one where
//! the session is first.
//!
//! # Limits
//!
//! Writes of tables that a statement does not touch do not matter to it. Where no placement is found, the cluster has too
//! few nodes, or cannot be told to make a delivery; that says nothing about the plan.

use std::collections::BTreeSet;
use std::fmt;

/// A cluster, as far as tests can be placed on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cluster {
    /// The number of its nodes.
    pub nodes: u32,
    /// True if it is a ring: deliveries go along it, whole transactions in order, and sessions stay on their nodes.
    pub is_ring: bool,
}

/// What a move of a plan asks of the node that answers it.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    /// The call.
    pub(super) call: usize,
    /// True if it is a statement that touches tables; anything else needs no particular node.
    pub(super) is_statement: bool,
    /// True if it writes.
    pub(super) writes: bool,
    /// True if its call has a transaction open behind it.
    pub(super) is_open: bool,
    /// The moves whose writes it sees.
    pub(super) sees: BTreeSet<usize>,
    /// The moves whose writes it must not see.
    pub(super) misses: BTreeSet<usize>,
}

/// A delivery: from a node, to a node, and which of the write statements at the first, if not all that it knows.
pub(super) type Delivery = (usize, usize, Option<u32>);

/// The node that answers a move, and the deliveries before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) node: usize,
    pub(super) deliveries: Vec<Delivery>,
}

/// The reason why a test cannot be placed on a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unplaceable {
    /// The calls need more nodes than there are.
    TooFewNodes {
        /// The number of nodes that the calls need.
        needed: usize,
        /// The number that there are.
        nodes: u32,
    },
    /// No choice of nodes lets each statement see what it is to see.
    NoChoice {
        /// The number of nodes.
        nodes: u32,
    },
    /// A ring cannot be told to make the deliveries.
    Ring,
}

impl fmt::Display for Unplaceable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unplaceable::TooFewNodes { needed, nodes } => write!(f, "it needs {needed} nodes, and there are {nodes}"),
            Unplaceable::NoChoice { nodes } => {
                write!(f, "no choice among {nodes} nodes lets each statement see what it is to see")
            }
            Unplaceable::Ring => f.write_str(
                "it needs a delivery that a ring cannot be told to make: a ring delivers along its direction, whole \
                 transactions in order, to sessions that stay on their nodes",
            ),
        }
    }
}

/// How many choices are tried.
const CHOICES_MAX: usize = 50_000;

/// Places moves on a cluster. `roams` says whether a session may go to another node between two statements.
pub(super) fn place(moves: &[Wanted], calls: usize, cluster: Cluster, roams: bool) -> Result<Vec<Placed>, Unplaceable> {
    let nodes = cluster.nodes;
    if cluster.is_ring {
        if calls > nodes as usize {
            return Err(Unplaceable::TooFewNodes { needed: calls, nodes });
        }
        return arrangements(calls, nodes as usize)
            .iter()
            .find_map(|homes| Ring::new(homes, nodes as usize).place(moves))
            .ok_or(Unplaceable::Ring);
    }
    if !roams && calls > nodes as usize {
        return Err(Unplaceable::TooFewNodes { needed: calls, nodes });
    }
    let mut search = Search { moves, roams, nodes: nodes as usize, left: CHOICES_MAX, placed: Vec::new() };
    let homes = (0..calls).map(|call| call % nodes as usize).collect();
    let known = vec![BTreeSet::new(); nodes as usize];
    let found = search.extend(&Knowledge { at: homes, known, written: vec![Vec::new(); nodes as usize] });
    found.then_some(search.placed).ok_or(Unplaceable::NoChoice { nodes })
}

/// What each node knows at a moment.
#[derive(Debug, Clone)]
struct Knowledge {
    /// Where each session is.
    at: Vec<usize>,
    /// The writes that each node knows.
    known: Vec<BTreeSet<usize>>,
    /// The write statements that sessions executed at each node, in order.
    written: Vec<Vec<usize>>,
}

struct Search<'a> {
    moves: &'a [Wanted],
    roams: bool,
    nodes: usize,
    left: usize,
    placed: Vec<Placed>,
}

impl Search<'_> {
    /// Places the moves that are left.
    fn extend(&mut self, now: &Knowledge) -> bool {
        let Some(next) = self.moves.get(self.placed.len()) else { return true };
        let home = now.at[next.call];
        let may_go = self.roams && next.is_statement;
        let others = (0..self.nodes).filter(move |node| *node != home && may_go);
        for node in std::iter::once(home).chain(others) {
            if self.left == 0 {
                return false;
            }
            self.left -= 1;
            let Some((deliveries, then)) = now.with(next, self.placed.len(), node) else { continue };
            self.placed.push(Placed { node, deliveries });
            if self.extend(&then) {
                return true;
            }
            self.placed.pop();
        }
        false
    }
}

impl Knowledge {
    /// What is known once a move was made at a node, and the deliveries before it; `None` if the node knows too much.
    fn with(&self, next: &Wanted, number: usize, node: usize) -> Option<(Vec<Delivery>, Knowledge)> {
        if next.is_statement && !self.known[node].is_disjoint(&next.misses) {
            return None;
        }
        let mut then = self.clone();
        then.at[next.call] = node;
        let mut deliveries = Vec::new();
        if next.is_statement {
            for from in (0..self.written.len()).filter(|from| *from != node) {
                let news: BTreeSet<usize> = then.known[from].difference(&then.known[node]).copied().collect();
                let wanted: Vec<usize> =
                    self.written[from].iter().copied().filter(|one| next.sees.contains(one)).collect();
                let missing: Vec<usize> = wanted.into_iter().filter(|one| news.contains(one)).collect();
                if missing.is_empty() {
                    continue;
                }
                if news.is_subset(&next.sees) {
                    deliveries.push((from, node, None));
                    then.known[node].extend(news);
                    continue;
                }
                for one in missing {
                    let ordinal = self.written[from].iter().position(|other| *other == one)?;
                    deliveries.push((from, node, Some(ordinal as u32 + 1)));
                    then.known[node].insert(one);
                }
            }
            if !next.sees.is_subset(&then.known[node]) {
                return None;
            }
        }
        if next.writes {
            then.known[node].insert(number);
            then.written[node].push(number);
        }
        Some((deliveries, then))
    }
}

/// What the nodes of a ring know: what is committed goes along the ring, and what is not stays.
struct Ring {
    homes: Vec<usize>,
    /// The committed writes that each node knows.
    known: Vec<BTreeSet<usize>>,
    /// The writes of each call that are not committed.
    open: Vec<BTreeSet<usize>>,
}

impl Ring {
    fn new(homes: &[usize], nodes: usize) -> Ring {
        Ring { homes: homes.to_vec(), known: vec![BTreeSet::new(); nodes], open: vec![BTreeSet::new(); homes.len()] }
    }

    fn place(mut self, moves: &[Wanted]) -> Option<Vec<Placed>> {
        let placed = moves.iter().enumerate().map(|(number, next)| self.step(number, next));
        placed.collect()
    }

    fn step(&mut self, number: usize, next: &Wanted) -> Option<Placed> {
        let node = self.homes[next.call];
        let mut deliveries = Vec::new();
        if next.is_statement {
            let count = self.known.len();
            // The nearest one first: what it does not know, one farther back may.
            for from in (1..count).map(|back| (node + count - back) % count) {
                let knows = self.known[node].union(&self.open[next.call]).copied().collect::<BTreeSet<_>>();
                let is_useful = next.sees.difference(&knows).any(|one| self.known[from].contains(one));
                if is_useful {
                    self.deliver(from, node)?;
                    deliveries.push((from, node, None));
                }
            }
            let knows: BTreeSet<usize> = self.known[node].union(&self.open[next.call]).copied().collect();
            if !next.sees.is_subset(&knows) || !knows.is_disjoint(&next.misses) {
                return None;
            }
        }
        if next.writes {
            self.open[next.call].insert(number);
        }
        if !next.is_open {
            let committed = std::mem::take(&mut self.open[next.call]);
            self.known[node].extend(committed);
        }
        Some(Placed { node, deliveries })
    }

    /// Everybody from one node to another applies what the one before has committed. `None` if one of them may have to wait
    /// for a call that has written there and not committed.
    fn deliver(&mut self, from: usize, to: usize) -> Option<()> {
        let mut at = from;
        while at != to {
            let next = (at + 1) % self.known.len();
            let news: Vec<usize> = self.known[at].difference(&self.known[next]).copied().collect();
            let holds_locks = (0..self.homes.len()).any(|call| self.homes[call] == next && !self.open[call].is_empty());
            if holds_locks && !news.is_empty() {
                return None;
            }
            self.known[next].extend(news);
            at = next;
        }
        Some(())
    }
}

/// All ways to give each call a node of its own.
fn arrangements(calls: usize, nodes: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..calls {
        let longer = |homes: &Vec<usize>| {
            let free = (0..nodes).filter(|node| !homes.contains(node)).collect::<Vec<_>>();
            free.into_iter().map(|node| [homes.as_slice(), &[node]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPLICAS: Cluster = Cluster { nodes: 3, is_ring: false };
    const RING: Cluster = Cluster { nodes: 3, is_ring: true };

    fn write(call: usize, sees: &[usize], misses: &[usize]) -> Wanted {
        Wanted { writes: true, ..read(call, sees, misses) }
    }

    fn read(call: usize, sees: &[usize], misses: &[usize]) -> Wanted {
        let set = |all: &[usize]| all.iter().copied().collect();
        Wanted { call, is_statement: true, sees: set(sees), misses: set(misses), ..Wanted::default() }
    }

    fn nodes(moves: &[Wanted], calls: usize, cluster: Cluster, roams: bool) -> Option<Vec<usize>> {
        place(moves, calls, cluster, roams).ok().map(|placed| placed.iter().map(|one| one.node).collect())
    }

    /// A read sees a write, and the next one does not: the session goes to another node.
    #[test]
    fn reads_that_go_backwards_need_another_node() {
        let moves = [write(0, &[], &[]), read(1, &[0], &[]), read(1, &[], &[0])];
        assert_eq!(nodes(&moves, 2, REPLICAS, true), Some(vec![0, 1, 2]));
        assert_eq!(place(&moves, 2, REPLICAS, false), Err(Unplaceable::NoChoice { nodes: 3 }));
        assert_eq!(place(&moves, 2, RING, true), Err(Unplaceable::Ring));
    }

    /// A call does not see what it wrote itself.
    #[test]
    fn own_writes_are_missed_at_another_node() {
        let moves = [write(0, &[], &[]), write(0, &[], &[0]), read(0, &[0, 1], &[])];
        let placed = place(&moves, 1, REPLICAS, true).expect("there are nodes enough");
        assert_eq!(placed[1].node, 1);
        assert_eq!(placed[2].deliveries, [(0, 1, None)]);
    }

    /// One write of two is delivered by its number.
    #[test]
    fn single_writes_are_delivered_by_number() {
        let moves = [write(0, &[], &[]), write(0, &[], &[]), read(1, &[1], &[0])];
        let placed = place(&moves, 2, REPLICAS, false).expect("there are nodes enough");
        assert_eq!(placed[2], Placed { node: 1, deliveries: vec![(0, 1, Some(2))] });
        assert_eq!(place(&moves, 2, RING, false), Err(Unplaceable::Ring));
    }

    /// What is not committed goes nowhere in a ring, and what is goes by way of those in between.
    #[test]
    fn rings_deliver_what_is_committed_along_their_direction() {
        let open = Wanted { is_open: true, ..write(0, &[], &[]) };
        let end = Wanted { call: 0, ..Wanted::default() };
        assert_eq!(place(&[open.clone(), read(1, &[0], &[])], 2, RING, false), Err(Unplaceable::Ring));
        let placed = place(&[open, end, read(1, &[0], &[])], 2, RING, false).expect("it is committed");
        assert_eq!(placed[2].deliveries, [(0, 1, None)]);
        // Who has written and not committed may hold what a delivery needs.
        let open = Wanted { is_open: true, ..write(1, &[], &[]) };
        assert_eq!(place(&[open, write(0, &[], &[]), read(1, &[1], &[])], 2, RING, false), Err(Unplaceable::Ring));
        // c sees a's write by way of b's node, and must not see b's: another order of the nodes does it.
        let moves = [write(0, &[], &[]), write(1, &[], &[0]), read(2, &[0], &[1])];
        assert_eq!(nodes(&moves, 3, RING, false), Some(vec![0, 2, 1]));
        assert_eq!(place(&moves, 4, RING, false), Err(Unplaceable::TooFewNodes { needed: 4, nodes: 3 }));
    }
}
