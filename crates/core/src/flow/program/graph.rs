//! Where transactions begin and end, on every way.

use std::collections::{BTreeMap, BTreeSet};

use super::Cut;
use crate::program::access::{Node, ProcedureAccess};
use crate::program::code::OperationKind;

/// What is known of the connection on a way to a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// No transaction is open, and a statement is one of its own.
    Closed,
    /// No transaction is open; the next statement begins one.
    Armed,
    /// A transaction is open.
    Open,
}

/// What happens at a position in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Happening {
    /// Nothing of interest.
    Nothing,
    /// Host code outside all transactions.
    Host,
    /// A transaction begins.
    Begins,
    /// A transaction begins and ends.
    Single,
    /// A transaction goes on.
    Inside,
    /// The transaction ends, with a commit or not.
    Ends { commits: bool },
}

/// A node of the transaction control-flow graph.
#[derive(Debug, Clone, Default)]
pub(super) struct Unit {
    pub(super) is_transaction: bool,
    /// What belongs to it, in order.
    pub(super) positions: Vec<usize>,
    pub(super) begins: Vec<usize>,
    pub(super) ends: Vec<usize>,
    /// The positions that every way passes on which something follows.
    pub(super) certain: BTreeSet<usize>,
    /// Whether all of its ends roll back.
    pub(super) never_commits: bool,
    pub(super) successors: Vec<usize>,
    pub(super) may_end: bool,
}

/// A procedure as a graph of transactions and host code. The first unit is where it starts, and does nothing.
pub(super) struct Graph<'a> {
    nodes: &'a [Node],
    autocommit: bool,
    cut: Cut,
    pub(super) units: Vec<Unit>,
}

/// A position in a state.
type Spot = (usize, State);

impl<'a> Graph<'a> {
    pub(super) fn of(access: &'a ProcedureAccess, autocommit: bool, cut: Cut) -> Graph<'a> {
        let mut graph = Graph { nodes: &access.nodes, autocommit, cut, units: Vec::new() };
        let visited = graph.visited();
        let mut units = graph.transactions(&visited);
        units.extend(graph.host_code(&visited));
        units.sort_by_key(|unit| (unit.positions.first().copied(), unit.is_transaction));
        units.insert(0, Unit::default());
        graph.units = units;
        graph.connect();
        graph
    }

    fn closed(&self) -> State {
        if self.autocommit || self.cut == Cut::EachQuery { State::Closed } else { State::Armed }
    }

    /// What happens at a position, and the state behind it.
    fn happens(&self, (position, state): Spot) -> (Happening, State) {
        let Some(node) = self.nodes.get(position) else { return self.ending(state, true) };
        match &node.operation.kind {
            OperationKind::Send(_) | OperationKind::Open(..) if !node.access.tables.is_empty() => match state {
                State::Closed => (Happening::Single, State::Closed),
                State::Armed => (Happening::Begins, State::Open),
                State::Open => (Happening::Inside, State::Open),
            },
            OperationKind::Send(_)
            | OperationKind::Open(..)
            | OperationKind::Assign(..)
            | OperationKind::Unless(..)
            | OperationKind::Fetch(..) => match state {
                State::Open => (Happening::Inside, State::Open),
                outside => (Happening::Host, outside),
            },
            OperationKind::Begin if self.cut == Cut::AsWritten => (self.ending(state, true).0, State::Armed),
            OperationKind::Commit | OperationKind::Return(_) => self.ending(state, true),
            OperationKind::Rollback | OperationKind::Raise(_) => self.ending(state, false),
            _ => (Happening::Nothing, state),
        }
    }

    fn ending(&self, state: State, commits: bool) -> (Happening, State) {
        match state {
            State::Open => (Happening::Ends { commits }, self.closed()),
            State::Closed | State::Armed => (Happening::Nothing, self.closed()),
        }
    }

    /// What may come next; nothing behind the end.
    fn next(&self, spot: Spot) -> Vec<Spot> {
        let (_, state) = self.happens(spot);
        let successors = self.nodes.get(spot.0).map(|node| node.successors.as_slice()).unwrap_or_default();
        successors.iter().map(|position| (*position, state)).collect()
    }

    /// Every spot that can be reached.
    fn visited(&self) -> BTreeSet<Spot> {
        let mut visited = BTreeSet::new();
        let mut open = vec![(0, self.closed())];
        while let Some(spot) = open.pop() {
            if visited.insert(spot) {
                open.extend(self.next(spot));
            }
        }
        visited
    }

    fn host_code(&self, visited: &BTreeSet<Spot>) -> Vec<Unit> {
        let hosts = visited.iter().filter(|spot| self.happens(**spot).0 == Happening::Host);
        // In whichever state, it is the same host code, but for what follows it.
        let unit = |spot: &Spot| Unit { positions: vec![spot.0], certain: [spot.0].into(), ..Unit::default() };
        let mut units: Vec<Unit> = hosts.map(unit).collect();
        units.dedup_by_key(|unit| unit.positions.clone());
        units
    }

    fn transactions(&self, visited: &BTreeSet<Spot>) -> Vec<Unit> {
        let mut units: Vec<Unit> = Vec::new();
        let mut singles = BTreeSet::new();
        for spot in visited {
            match self.happens(*spot).0 {
                Happening::Single => drop(singles.insert(spot.0)),
                Happening::Begins => self.merge(&mut units, self.extent(*spot)),
                _ => {}
            }
        }
        let single = |position| {
            let (only, ends) = (vec![position], vec![position]);
            let certain = [position].into();
            Unit { is_transaction: true, begins: only.clone(), positions: only, ends, certain, ..Unit::default() }
        };
        units.iter_mut().for_each(|unit| self.settle(unit));
        units.extend(singles.into_iter().map(single));
        units
    }

    /// Everything from a beginning to the ends that can be reached from it.
    fn extent(&self, begin: Spot) -> Unit {
        let (mut positions, mut ends) = (BTreeSet::from([begin.0]), BTreeSet::new());
        let mut seen = BTreeSet::new();
        let mut open = self.next(begin);
        while let Some(spot) = open.pop() {
            if !seen.insert(spot) {
                continue;
            }
            match self.happens(spot).0 {
                Happening::Ends { .. } => drop(ends.insert(spot.0)),
                happening => {
                    if happening == Happening::Inside {
                        positions.insert(spot.0);
                    }
                    open.extend(self.next(spot));
                }
            }
        }
        let (positions, ends) = (positions.into_iter().collect(), ends.into_iter().collect());
        Unit { is_transaction: true, begins: vec![begin.0], positions, ends, ..Unit::default() }
    }

    /// Adds a transaction; those that share an end become one.
    fn merge(&self, units: &mut Vec<Unit>, mut unit: Unit) {
        let shares = |other: &Unit, unit: &Unit| other.ends.iter().any(|end| unit.ends.contains(end));
        while let Some(at) = units.iter().position(|other| shares(other, &unit)) {
            let other = units.remove(at);
            for (mine, its) in
                [(&mut unit.begins, other.begins), (&mut unit.positions, other.positions), (&mut unit.ends, other.ends)]
            {
                mine.extend(its);
                mine.sort_unstable();
                mine.dedup();
            }
        }
        units.push(unit);
    }

    /// What is certain in a transaction, and whether it ever commits.
    fn settle(&self, unit: &mut Unit) {
        let commits = |end: &usize| self.happens((*end, State::Open)).0 == Happening::Ends { commits: true };
        unit.never_commits = !unit.ends.iter().any(commits);
        let goes_on = |end: &&usize| self.nodes.get(**end).is_some_and(|node| !self.is_over(node));
        let mut goals: BTreeSet<usize> = unit.ends.iter().filter(goes_on).copied().collect();
        if goals.is_empty() {
            goals = unit.ends.iter().copied().collect();
        }
        let certain = |position: &&usize| !self.reaches(&unit.begins, &goals, **position);
        unit.certain = unit.positions.iter().filter(certain).copied().collect();
    }

    /// Whether nothing but the end of the procedure can follow.
    fn is_over(&self, node: &Node) -> bool {
        let mut seen = BTreeSet::new();
        let mut open: Vec<Spot> = node.successors.iter().map(|next| (*next, self.closed())).collect();
        while let Some(spot) = open.pop() {
            if !seen.insert(spot) {
                continue;
            }
            if !matches!(self.happens(spot).0, Happening::Nothing | Happening::Host) {
                return false;
            }
            open.extend(self.next(spot));
        }
        true
    }

    /// Whether an end can be reached from a beginning without a position.
    fn reaches(&self, begins: &[usize], goals: &BTreeSet<usize>, without: usize) -> bool {
        let mut seen = BTreeSet::new();
        let mut open: Vec<usize> = begins.iter().copied().filter(|begin| *begin != without).collect();
        while let Some(position) = open.pop() {
            if !seen.insert(position) {
                continue;
            }
            let successors = self.nodes.get(position).map(|node| node.successors.as_slice()).unwrap_or_default();
            for next in successors.iter().filter(|next| **next != without) {
                if matches!(self.happens((*next, State::Open)).0, Happening::Ends { .. }) {
                    if goals.contains(next) {
                        return true;
                    }
                } else {
                    open.push(*next);
                }
            }
        }
        false
    }

    fn connect(&mut self) {
        let index = Index::of(&self.units);
        for at in 0..self.units.len() {
            let starts = self.exits(at);
            let (successors, may_end) = self.followers(starts, &index);
            self.units[at].successors = successors;
            self.units[at].may_end = may_end;
        }
    }

    /// The spots at which the rest of the procedure goes on behind a unit.
    fn exits(&self, at: usize) -> Vec<Spot> {
        let unit = &self.units[at];
        if at == 0 {
            return vec![(0, self.closed())];
        }
        let leaving = if unit.is_transaction { &unit.ends } else { &unit.positions };
        let mut exits = Vec::new();
        for position in leaving {
            let successors = self.nodes.get(*position).map(|node| node.successors.as_slice()).unwrap_or_default();
            let is_begin = |node: &Node| matches!(node.operation.kind, OperationKind::Begin);
            let armed = self.nodes.get(*position).is_some_and(is_begin) && self.cut == Cut::AsWritten;
            let state = if armed { State::Armed } else { self.closed() };
            exits.extend(successors.iter().map(|next| (*next, state)));
            if successors.is_empty() {
                exits.push((self.nodes.len(), self.closed()));
            }
        }
        exits
    }

    /// The units that can be next, and whether the end can.
    fn followers(&self, starts: Vec<Spot>, index: &Index) -> (Vec<usize>, bool) {
        let (mut seen, mut found, mut may_end) = (BTreeSet::new(), BTreeSet::new(), false);
        let mut open = starts;
        while let Some(spot) = open.pop() {
            if !seen.insert(spot) {
                continue;
            }
            match self.happens(spot).0 {
                Happening::Host => found.extend(index.hosts.get(&spot.0)),
                Happening::Begins | Happening::Single => found.extend(index.begins.get(&spot.0)),
                _ => {
                    let next = self.next(spot);
                    may_end |= next.is_empty();
                    open.extend(next);
                }
            }
        }
        (found.into_iter().collect(), may_end)
    }
}

/// Which unit begins at, or is, a position.
struct Index {
    begins: BTreeMap<usize, usize>,
    hosts: BTreeMap<usize, usize>,
}

impl Index {
    fn of(units: &[Unit]) -> Index {
        let mut index = Index { begins: BTreeMap::new(), hosts: BTreeMap::new() };
        for (at, unit) in units.iter().enumerate() {
            if unit.is_transaction {
                index.begins.extend(unit.begins.iter().map(|begin| (*begin, at)));
            } else {
                index.hosts.extend(unit.positions.iter().map(|position| (*position, at)));
            }
        }
        index
    }
}
