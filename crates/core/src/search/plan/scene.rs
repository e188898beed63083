//! Calls in an order: who is where, who writes, when transactions end.

use super::arrange::Item;
use super::rows::SameRows;
use super::steps::{Call, Step, Transaction};
use super::{Apart, Move, Plan, Question};
use crate::search::conflicts::{Kind, Touch};

/// A dependency of the cycle: from a node of a call to a node of another one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hop {
    /// The call and which of its nodes.
    pub(super) from: (usize, usize),
    pub(super) to: (usize, usize),
    pub(super) kind: Kind,
    pub(super) table: u16,
    /// Whether who reads may touch nothing: a row that is not there yet, or is not among those that are wanted.
    pub(super) may_miss: bool,
    /// Whether it leads to where a transaction is undone.
    pub(super) to_undo: bool,
}

impl Hop {
    /// The hops of a cycle.
    pub(super) fn all(question: &Question<'_>) -> Vec<Hop> {
        let (conflicts, cycle) = (question.conflicts, question.cycle);
        let hop = |(instance, visit): (usize, &crate::search::cycles::Visit)| {
            let edge = conflicts.edge(visit.hop);
            let next = cycle.next(instance);
            let name = &conflicts.tables[usize::from(edge.table)];
            let mut reads = conflicts.touches(edge.from).iter().filter(|touch| touch.table == *name);
            Hop {
                may_miss: edge.kind == Kind::Rw && reads.any(|touch| touch.may_miss(&edge.columns)),
                from: (instance, visit.left()),
                to: (next, cycle.visits[next].entered()),
                kind: edge.kind,
                table: edge.table,
                to_undo: conflicts.site(edge.to).undoes,
            }
        };
        cycle.visits.iter().enumerate().map(hop).collect()
    }

    /// Whether its first end must be executed before its second one, whatever is seen.
    pub(super) fn is_ordered(&self) -> bool {
        self.kind != Kind::Rw || self.to_undo
    }

    /// Whether its writes last. What is rolled back overwrites nothing; it can only be seen while it is there.
    pub(super) fn lasts(&self, calls: &[Call]) -> bool {
        let commits = |(call, number): (usize, usize)| calls[call].transaction(calls[call].nodes[number]).commits;
        match self.kind {
            Kind::Wr => true,
            Kind::Rw => self.to_undo || commits(self.to),
            Kind::Ww => commits(self.from) && commits(self.to),
        }
    }
}

/// Calls in an order.
pub(super) struct Scene<'a> {
    pub(super) question: &'a Question<'a>,
    pub(super) calls: &'a [Call],
    pub(super) hops: &'a [Hop],
    pub(super) same: &'a SameRows,
    pub(super) items: Vec<Item>,
    /// For each call, for each of its steps, its position in `items`.
    places: Vec<Vec<usize>>,
}

impl<'a> Scene<'a> {
    pub(super) fn new(
        question: &'a Question<'a>,
        calls: &'a [Call],
        hops: &'a [Hop],
        same: &'a SameRows,
        items: Vec<Item>,
    ) -> Scene<'a> {
        let mut places: Vec<Vec<usize>> = calls.iter().map(|call| vec![0; call.steps.len()]).collect();
        for (place, (call, step)) in items.iter().enumerate() {
            places[*call][*step] = place;
        }
        Scene { question, calls, hops, same, items, places }
    }

    /// The place of a node of the cycle.
    pub(super) fn node(&self, (call, number): (usize, usize)) -> usize {
        self.places[call][self.calls[call].nodes[number]]
    }

    pub(super) fn step(&self, place: usize) -> &Step {
        let (call, step) = self.items[place];
        &self.calls[call].steps[step]
    }

    pub(super) fn transaction(&self, place: usize) -> &Transaction {
        let (call, step) = self.items[place];
        self.calls[call].transaction(step)
    }

    /// Where the transaction ends to which a place belongs.
    pub(super) fn end(&self, place: usize) -> usize {
        self.places[self.items[place].0][self.transaction(place).end]
    }

    /// Where the steps of the transaction are to which a place belongs, ascending.
    pub(super) fn transaction_places(&self, place: usize) -> impl Iterator<Item = usize> {
        let call = self.items[place].0;
        let (steps, wanted) = (&self.calls[call].steps, self.step(place).transaction);
        let own = steps.iter().enumerate().filter(move |(_, step)| step.transaction == wanted);
        own.map(move |(step, _)| self.places[call][step])
    }

    pub(super) fn is_other_call(&self, a: usize, b: usize) -> bool {
        self.items[a].0 != self.items[b].0
    }

    pub(super) fn touches(&self, place: usize) -> &[Touch] {
        self.step(place).site.map_or(&[], |site| self.question.conflicts.touches(site))
    }

    pub(super) fn is_write(&self, place: usize) -> bool {
        self.touches(place).iter().any(Touch::is_write)
    }

    /// Whether what was written at a place has been taken back before another one.
    pub(super) fn is_undone_before(&self, write: usize, place: usize) -> bool {
        !self.transaction(write).commits && self.end(write) < place
    }

    /// The tables in which two places may touch the same row.
    pub(super) fn meetings(&self, a: usize, b: usize) -> &[u16] {
        match (self.step(a).site, self.step(b).site) {
            (Some(a), Some(b)) => self.question.conflicts.meetings(a, b),
            _ => &[],
        }
    }

    /// The plan, if nobody who must meet is to be kept apart.
    pub(super) fn plan(&self, sees: Vec<Vec<usize>>, apart: Vec<Apart>) -> Option<Plan> {
        let is_hop = |pair: &Apart| {
            self.hops.iter().filter(|hop| !hop.may_miss).any(|hop| {
                let (from, to) = (self.node(hop.from), self.node(hop.to));
                hop.table == pair.table && [(from, to), (to, from)].contains(&(pair.first, pair.second))
            })
        };
        let meets = |pair: &Apart| is_hop(pair) || self.same.is_same(self, pair);
        let moves =
            self.items.iter().map(|(call, step)| Move { instance: *call, at: self.calls[*call].steps[*step].at });
        (!apart.iter().any(meets)).then(|| Plan { moves: moves.collect(), sees, apart, ..Plan::default() })
    }
}
