//! The definitions, tried out: every version order, every commit order.
//!
//! This checker is here to be believed. It follows the definitions word by word, knows no shortcut, and is hopeless on
//! anything but a handful of transactions. The fast checker must agree with it on every small history. The two share no
//! code, but for the types of what is known: `evidence` collects that again, as the definitions have it.
//!
//! Where a level has two definitions, it uses the other one: the fast checker looks for cycles in dependency graphs, while
//! monotonic atomic view, read atomic, causal, prefix, snapshot isolation and serializable are decided here by Biswas and
//! Enea's axioms over all commit orders (OOPSLA 2019, §2). Adya's levels and parallel snapshot isolation are cycles here,
//! too, over all version orders.

mod evidence;

use super::History;
use super::facts::{self, DuplicateWrite, Facts, INITIAL, NOBODY, Node};
use crate::level::formal::{Level, Order, Requirement};
use evidence::{Evidence, evidence};

/// Whether a history satisfies a level. Eight transactions are many.
pub fn satisfies(history: &History, requirement: impl Into<Requirement>) -> Result<bool, DuplicateWrite> {
    Ok(holds(history, &evidence(history)?, requirement.into()))
}

/// Every level with every order, and whether the history satisfies it. None of the answers is derived from another one.
pub fn all(history: &History) -> Result<Vec<(Requirement, bool)>, DuplicateWrite> {
    let evidence = evidence(history)?;
    Ok(Requirement::all().map(|requirement| (requirement, holds(history, &evidence, requirement))).collect())
}

fn holds(history: &History, evidence: &Evidence, requirement: Requirement) -> bool {
    if evidence.broken.iter().any(|level| requirement.level.implies(*level)) {
        return false;
    }
    let facts = &evidence.facts;
    let trial = Trial { order: given_order(history, facts, requirement.order), facts };
    match requirement.level {
        Level::ReadUncommitted
        | Level::ReadCommitted
        | Level::CursorStability
        | Level::ParallelSnapshotIsolation
        | Level::RepeatableRead => trial.some_version_order(requirement.level),
        Level::MonotonicAtomicView
        | Level::ReadAtomic
        | Level::Causal
        | Level::Prefix
        | Level::SnapshotIsolation
        | Level::Serializable => trial.some_commit_order(requirement.level),
    }
}

/// Whether a transaction must be seen by a read.
type Visible<'s> = Box<dyn Fn(Node, &facts::Read) -> bool + 's>;

/// A relation between nodes, as a matrix of bits: one row per node that it leads from. At most 32 nodes.
#[derive(Clone, PartialEq)]
struct Relation(Vec<u32>);

impl Relation {
    fn empty(count: usize) -> Relation {
        assert!(count <= 32, "a brute-force check of more than 31 transactions would never end");
        Relation(vec![0; count])
    }

    fn add(&mut self, from: Node, to: Node) {
        self.0[from as usize] |= 1 << to;
    }

    fn has(&self, from: Node, to: Node) -> bool {
        self.0[from as usize] >> to & 1 == 1
    }

    fn count(&self) -> Node {
        self.0.len() as Node
    }

    fn union(&self, other: &Relation) -> Relation {
        Relation(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    /// Pairs that this relation and then the other one lead through.
    fn then(&self, other: &Relation) -> Relation {
        let through = |row: &u32| {
            let reached = (0..other.0.len()).filter(|between| row >> between & 1 == 1);
            reached.fold(0, |all, between| all | other.0[between])
        };
        Relation(self.0.iter().map(through).collect())
    }

    fn closure(&self) -> Relation {
        let mut closed = self.clone();
        loop {
            let longer = closed.union(&closed.then(&closed));
            if longer == closed {
                return closed;
            }
            closed = longer;
        }
    }

    fn is_irreflexive(&self) -> bool {
        (0..self.count()).all(|node| !self.has(node, node))
    }

    fn is_acyclic(&self) -> bool {
        self.closure().is_irreflexive()
    }
}

/// Sessions or real time, as relations; the initial transaction comes before all others whatever is asked.
fn given_order(history: &History, facts: &Facts, order: Order) -> Relation {
    let mut relation = Relation::empty(facts.node_count());
    let nodes = 1..facts.node_count() as Node;
    for from in nodes.clone() {
        relation.add(INITIAL, from);
        for to in nodes.clone().filter(|to| *to != from) {
            let (Some(a), Some(b)) = (facts.transaction(from), facts.transaction(to)) else { continue };
            let (first, second) = (history.transaction(a), history.transaction(b));
            let in_session = first.session == second.session && a < b;
            let in_time = matches!((first.ended, second.began), (Some(ended), Some(began)) if ended < began);
            match order {
                Order::Free => {}
                Order::Session if in_session => relation.add(from, to),
                Order::RealTime if in_session || in_time => relation.add(from, to),
                Order::Session | Order::RealTime => {}
            }
        }
    }
    relation
}

struct Trial<'a> {
    facts: &'a Facts,
    order: Relation,
}

impl Trial<'_> {
    /// T wr U.
    fn wr(&self) -> Relation {
        let mut wr = Relation::empty(self.facts.node_count());
        self.facts.reads.iter().for_each(|read| wr.add(self.facts.writer_of(read), read.reader));
        wr
    }

    /// Whether some order of every key's versions leaves the level's relation without a cycle. What one transaction
    /// appended stands together, as every level forbids anybody in between: so it is writers that are put in order.
    fn some_version_order(&self, level: Level) -> bool {
        let orders = self.facts.keys.iter().map(|key| {
            let chain = 0..key.chain.len() as u32;
            let loose = key.chain.len() as u32..(key.chain.len() + key.loose.len()) as u32;
            let mut writers = key.loose.clone();
            writers.sort_unstable();
            writers.dedup();
            let whole = |writers: Vec<Node>| {
                let of = |writer: Node| loose.clone().filter(move |version| key.writer(*version) == writer);
                chain.clone().chain(writers.into_iter().flat_map(of)).collect::<Vec<u32>>()
            };
            permutations(&writers).into_iter().map(whole).collect::<Vec<_>>()
        });
        self.some_combination(level, &orders.collect::<Vec<_>>(), &mut Vec::new())
    }

    /// Whether the orders taken for the first keys can be continued. Further keys only add to the relation: a cycle stays.
    fn some_combination(&self, level: Level, orders: &[Vec<Vec<u32>>], taken: &mut Vec<Vec<u32>>) -> bool {
        if !self.holds(level, taken) {
            return false;
        }
        let Some(choice) = orders.get(taken.len()) else { return true };
        choice.iter().any(|order| {
            taken.push(order.clone());
            let is_found = self.some_combination(level, orders, taken);
            taken.pop();
            is_found
        })
    }

    /// Whether a level's relation has no cycle under one choice of version orders.
    fn holds(&self, level: Level, versions: &[Vec<u32>]) -> bool {
        let count = self.facts.node_count();
        let (mut ww, mut rw) = (Relation::empty(count), Relation::empty(count));
        let mut no_cursor_cycle = true;
        for (key, order) in self.facts.keys.iter().zip(versions) {
            let key_id = crate::history::KeyId(position(&self.facts.keys, key));
            let (mut key_ww, mut key_rw) = (Relation::empty(count), Relation::empty(count));
            let at = |version: u32| order.iter().position(|other| *other == version);
            let differ = |a: Node, b: Node| a != b && a != NOBODY && b != NOBODY;
            for (later_at, later) in order.iter().enumerate() {
                let later_writer = key.writer(*later);
                for earlier in &order[..later_at] {
                    if differ(key.writer(*earlier), later_writer) {
                        key_ww.add(key.writer(*earlier), later_writer);
                    }
                }
                for read in self.facts.reads.iter().filter(|read| read.key == key_id) {
                    if at(read.version) < Some(later_at) && differ(read.reader, later_writer) {
                        key_rw.add(read.reader, later_writer);
                    }
                }
            }
            no_cursor_cycle &= key_ww.closure().then(&key_rw).is_irreflexive();
            (ww, rw) = (ww.union(&key_ww), rw.union(&key_rw));
        }
        let dependencies = ww.union(&self.wr()).union(&self.order);
        match level {
            Level::ReadUncommitted => ww.union(&self.order).is_acyclic(),
            Level::ReadCommitted => dependencies.is_acyclic(),
            Level::CursorStability => dependencies.is_acyclic() && no_cursor_cycle,
            Level::ParallelSnapshotIsolation => {
                dependencies.is_acyclic() && dependencies.closure().then(&rw).is_irreflexive()
            }
            _ => dependencies.union(&rw).is_acyclic(),
        }
    }

    /// Whether some total order of all transactions keeps the level's axiom.
    fn some_commit_order(&self, level: Level) -> bool {
        let base = self.wr().union(&self.order);
        let before = base.union(&self.observed());
        self.some_continuation(level, (&base, &before), &mut vec![INITIAL])
    }

    /// Whether the beginning of a commit order can be continued by those whose predecessors are all in it.
    fn some_continuation(&self, level: Level, known: (&Relation, &Relation), order: &mut Vec<Node>) -> bool {
        let (base, before) = known;
        if order.len() == self.facts.node_count() {
            return self.keeps_axiom(level, base, order);
        }
        let is_free = |node: Node, order: &[Node]| {
            let is_missing = |other: Node| before.has(other, node) && !order.contains(&other);
            !order.contains(&node) && !(0..before.count()).any(is_missing)
        };
        (0..before.count()).any(|node| {
            is_free(node, order) && {
                order.push(node);
                let is_found = self.some_continuation(level, known, order);
                order.pop();
                is_found
            }
        })
    }

    fn keeps_axiom(&self, level: Level, base: &Relation, order: &[Node]) -> bool {
        let mut co = Relation::empty(order.len());
        for (at, node) in order.iter().enumerate() {
            order[at + 1..].iter().for_each(|later| co.add(*node, *later));
        }
        let visible = self.visible(level, base, &co);
        self.facts.reads.iter().all(|read| {
            let t1 = self.facts.writer_of(read);
            let others = self.facts.keys[read.key.0 as usize].writers().filter(|t2| *t2 != t1 && *t2 != read.reader);
            others.filter(|t2| visible(*t2, read)).all(|t2| co.has(t2, t1))
        })
    }

    /// Versions whose order was observed were committed in that order, and the others behind them.
    fn observed(&self) -> Relation {
        let mut observed = Relation::empty(self.facts.node_count());
        for key in &self.facts.keys {
            let chain: Vec<Node> = key.chain.iter().copied().filter(|node| *node != NOBODY).collect();
            let neighbours = chain.windows(2).map(|pair| (pair[0], pair[1]));
            let behind = key.loose.iter().flat_map(|loose| chain.iter().map(move |node| (*node, *loose)));
            let pairs = neighbours.chain(behind).filter(|(earlier, later)| earlier != later);
            pairs.for_each(|(earlier, later)| observed.add(earlier, later));
        }
        observed
    }

    /// Whether the level says that a transaction must be seen by a read.
    fn visible<'s>(&'s self, level: Level, base: &'s Relation, co: &'s Relation) -> Visible<'s> {
        let by = |relation: Relation| Box::new(move |t2, read: &facts::Read| relation.has(t2, read.reader));
        let prefix = || base.union(&co.then(base));
        match level {
            Level::MonotonicAtomicView => Box::new(|t2, read: &facts::Read| {
                let earlier = |other: &&facts::Read| other.reader == read.reader && other.op < read.op;
                self.facts.reads.iter().filter(earlier).any(|other| self.facts.writer_of(other) == t2)
            }),
            Level::ReadAtomic => by(base.clone()),
            Level::Causal => by(base.closure()),
            Level::Prefix => by(prefix()),
            Level::SnapshotIsolation => {
                let prefix = prefix();
                Box::new(move |t2, read| prefix.has(t2, read.reader) || self.is_before_conflict(t2, read.reader, co))
            }
            _ => by(co.clone()),
        }
    }

    /// Whether `t2` is, or comes before, somebody who writes something that `t3` writes, and committed before `t3`.
    fn is_before_conflict(&self, t2: Node, t3: Node, co: &Relation) -> bool {
        let conflict = |t4: Node| {
            co.has(t4, t3)
                && self.facts.keys.iter().any(|key| {
                    let writes = |node: Node| key.writers().any(|writer| writer == node);
                    writes(t4) && writes(t3)
                })
        };
        (0..co.count()).any(|t4| conflict(t4) && (t2 == t4 || co.has(t2, t4)))
    }
}

fn position(keys: &[facts::KeyFacts], key: &facts::KeyFacts) -> u32 {
    keys.iter().position(|other| std::ptr::eq(other, key)).unwrap_or(0) as u32
}

/// Every order of the items.
fn permutations<T: Copy>(items: &[T]) -> Vec<Vec<T>> {
    let Some((first, rest)) = items.split_first() else { return vec![Vec::new()] };
    let shorter = permutations(rest);
    let insert = |order: &Vec<T>, at: usize| {
        let mut longer = order.clone();
        longer.insert(at, *first);
        longer
    };
    shorter.iter().flat_map(|order| (0..=order.len()).map(move |at| insert(order, at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::micro::micro;

    /// The strongest levels that hold, by their short names.
    fn check(text: &str, strongest: &str) {
        let history = micro(text).unwrap();
        let holds = |level: Level| satisfies(&history, level).unwrap();
        let levels: Vec<Level> =
            crate::level::formal::LEVELS.iter().map(|row| row.level).filter(|l| holds(*l)).collect();
        for level in &levels {
            for weaker in crate::level::formal::LEVELS.iter().filter(|row| level.implies(row.level)) {
                assert!(holds(weaker.level), "{text}: {level} holds, {} does not", weaker.name);
            }
        }
        let is_strongest = |level: &&Level| !levels.iter().any(|other| other != *level && other.implies(**level));
        let names: Vec<&str> = levels.iter().filter(is_strongest).map(|level| level.row().name).collect();
        assert_eq!(names.join(", "), strongest, "{text}");
    }

    #[test]
    fn textbook_anomalies_are_where_they_belong() {
        check("wx1 ry_ / wy1 rx_", "snapshot isolation"); // write skew
        check("rx_ wx1 / rx_ wx2", "prefix"); // lost update
        check("wx1 / wy1 / rx1 ry_ / ry1 rx_", "parallel snapshot isolation"); // long fork
        check("wx1 wy1 / ry_ rx1", "cursor stability, monotonic atomic view"); // fractured, the good way round
        check("wx1 wy1 / ry1 rx_", "cursor stability"); // observed transaction vanishes
        check("wx1 / rx1 wy1 / ry1 rx_", "cursor stability, read atomic"); // causality
        check("wx1 ry1 / wy1 rx1", "read uncommitted"); // circular information flow
        check("wx1 ! / rx1", "read uncommitted"); // aborted read
        check("wx1 / rx1 / rx1 wx2 / rx2", "serializable");
    }

    #[test]
    fn lists_tell_their_order() {
        check("ax1 ay1 / ax2 ay2 / rx12 ry21", ""); // dirty write
        check("ax1 / ax2 / rx12", "serializable");
        check("ax1 / rx ax2 / rx12", "prefix"); // lost update
    }

    #[test]
    fn sessions_count_only_when_asked() {
        let history = micro("wx1 | rx_").unwrap();
        assert!(satisfies(&history, Level::Serializable).unwrap());
        assert!(!satisfies(&history, Level::ReadAtomic.with(Order::Session)).unwrap());
        let history = micro("@1-2 wx1 / @3-4 rx_").unwrap();
        assert!(satisfies(&history, Level::Serializable.with(Order::Session)).unwrap());
        assert!(!satisfies(&history, Level::SnapshotIsolation.with(Order::RealTime)).unwrap());
    }
}
