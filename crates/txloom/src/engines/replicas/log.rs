//! The log: which writes there are, who knows them, and what a row is to whom.
//!
//! ```text
//!   base ──┬── write 4 ──┬── write 5 ──┬── write 7 (open) ──→ time
//!          │  known: 1 2 │  known: 1   │  known: 2
//!   everybody agrees     └ node 1 sees base + 4 + 5; node 2 sees base + 4 + 7; the ledger base + 4 + 5
//! ```
//!
//! A write is *settled* when its transaction has ended, and *stable* when it is settled and everybody knows it. Stable
//! writes at the beginning become part of the base: nothing with an earlier stamp can arrive any more, and nothing of it be
//! taken back. So the log is as long as a partition or a transaction lasts, and empty when all is quiet.
//!
//! What everybody agrees on is not kept here: it is what the ledger's database holds for rows without writes.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::effects::{Cells, Effect, RowId, Stamp, fold};
use crate::engines::embedded::cell::Cell;
use crate::engines::nodes::Nodes;

/// A write statement that not everybody knows, or that may still be taken back.
#[derive(Debug)]
struct Write {
    /// Where it was executed.
    node: usize,
    /// The how many-th write statement of that node it is, from 1.
    number: u32,
    /// Whether its transaction is open.
    open: bool,
    known: Nodes,
    effects: BTreeMap<RowId, Effect>,
}

/// A row with writes in the log.
#[derive(Debug)]
struct Tracked {
    /// The values of the primary key, to find it by.
    key: Vec<Cell>,
    /// What everybody agrees on.
    base: Option<Cells>,
    /// The writes since then, in order.
    stamps: VecDeque<Stamp>,
}

/// A row that a statement touched.
#[derive(Debug)]
pub(super) struct Touched {
    pub(super) row: RowId,
    /// The values of its primary key.
    pub(super) key: Vec<Cell>,
    pub(super) effect: Effect,
}

impl Touched {
    /// Whether the row is new.
    pub(super) fn is_insert(&self) -> bool {
        matches!(self.effect, Effect::Insert(_))
    }
}

/// The writes.
#[derive(Debug)]
pub(super) struct Log {
    /// Nodes, the ledger included: whoever must know a write before it is forgotten.
    everybody: Nodes,
    clock: Stamp,
    /// How many write statements each node has executed.
    counts: Vec<u32>,
    writes: BTreeMap<Stamp, Write>,
    rows: HashMap<RowId, Tracked>,
}

impl Log {
    /// An empty log of so many nodes and the ledger.
    pub(super) fn new(nodes: usize) -> Log {
        Log {
            everybody: Nodes::first(nodes + 1),
            clock: 0,
            counts: vec![0; nodes],
            writes: BTreeMap::new(),
            rows: HashMap::new(),
        }
    }

    /// Whether there is nothing to remember.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.rows.is_empty()
    }

    /// Whether a row has writes here.
    pub(super) fn tracks(&self, row: &RowId) -> bool {
        self.rows.contains_key(row)
    }

    /// Begins to track a row, which is this to everybody.
    pub(super) fn track(&mut self, row: RowId, key: Vec<Cell>, base: Option<Cells>) {
        self.rows.insert(row, Tracked { key, base, stamps: VecDeque::new() });
    }

    /// The stamp of the next write.
    pub(super) fn next_stamp(&self) -> Stamp {
        self.clock + 1
    }

    /// Adds a write that was executed at a node just now. Its rows are tracked already. `None` if it has no effects.
    pub(super) fn add(&mut self, node: usize, open: bool, touched: Vec<Touched>) -> Option<Stamp> {
        self.clock += 1;
        self.counts[node] += 1;
        if touched.is_empty() {
            return None;
        }
        let effects: BTreeMap<RowId, Effect> = touched.into_iter().map(|one| (one.row, one.effect)).collect();
        for row in effects.keys() {
            self.rows.get_mut(row).expect("the rows of a write are tracked").stamps.push_back(self.clock);
        }
        let (number, known) = (self.counts[node], Nodes::from_iter([node]));
        self.writes.insert(self.clock, Write { node, number, open, known, effects });
        Some(self.clock)
    }

    /// Lets a node know some writes; which rows may look different to it now?
    pub(super) fn tell(&mut self, node: usize, stamps: &[Stamp]) -> BTreeSet<RowId> {
        let mut rows = BTreeSet::new();
        for stamp in stamps {
            let Some(write) = self.writes.get_mut(stamp).filter(|write| !write.known.contains(node)) else { continue };
            write.known.insert(node);
            rows.extend(write.effects.keys().cloned());
        }
        rows
    }

    /// What a row is to a node, and the key to find it by.
    pub(super) fn look(&self, row: &RowId, node: usize) -> (&[Cell], Option<Cells>) {
        let tracked = self.rows.get(row).expect("only rows of writes are looked at");
        let known = tracked.stamps.iter().filter_map(|stamp| self.writes.get(stamp));
        let effects = known.filter(|write| write.known.contains(node)).filter_map(|write| write.effects.get(row));
        (&tracked.key, fold(tracked.base.clone(), effects))
    }

    /// The writes that one node knows and another does not.
    pub(super) fn news(&self, from: usize, to: usize) -> Vec<Stamp> {
        let is_news = |write: &Write| write.known.contains(from) && !write.known.contains(to);
        self.writes.iter().filter(|(_, write)| is_news(write)).map(|(stamp, _)| *stamp).collect()
    }

    /// The write of that number at a node, if it is still in the log; or how many write statements the node has executed.
    pub(super) fn numbered(&self, node: usize, number: u32) -> Result<Option<Stamp>, u32> {
        if number == 0 || number > self.counts[node] {
            return Err(self.counts[node]);
        }
        let is_it = |write: &Write| write.node == node && write.number == number;
        Ok(self.writes.iter().find(|(_, write)| is_it(write)).map(|(stamp, _)| *stamp))
    }

    /// The transaction of a write has ended: it cannot be taken back any more.
    pub(super) fn settle(&mut self, stamp: Stamp) {
        self.writes.get_mut(&stamp).into_iter().for_each(|write| write.open = false);
    }

    /// Forgets a write, as if it had never been: who may see which rows differently now? The rows are still tracked, until
    /// they are released.
    pub(super) fn take_back(&mut self, stamp: Stamp) -> Vec<(usize, RowId)> {
        let Some(write) = self.writes.remove(&stamp) else { return Vec::new() };
        for row in write.effects.keys() {
            self.rows.get_mut(row).into_iter().for_each(|tracked| tracked.stamps.retain(|other| *other != stamp));
        }
        let rows = |node: usize| write.effects.keys().map(move |row| (node, row.clone()));
        write.known.iter().flat_map(rows).collect()
    }

    /// No longer tracks those of these rows that have no writes.
    pub(super) fn release<'a>(&mut self, rows: impl IntoIterator<Item = &'a RowId>) {
        for row in rows {
            if self.rows.get(row).is_some_and(|tracked| tracked.stamps.is_empty()) {
                self.rows.remove(row);
            }
        }
    }

    /// Makes stable writes at the beginning part of the base.
    pub(super) fn prune(&mut self) {
        while let Some(first) = self.writes.first_entry() {
            if first.get().open || first.get().known != self.everybody {
                break;
            }
            let write = first.remove();
            for (row, effect) in &write.effects {
                let Some(tracked) = self.rows.get_mut(row) else { continue };
                tracked.base = fold(tracked.base.take(), [effect]);
                tracked.stamps.pop_front();
            }
            self.release(write.effects.keys());
        }
    }
}
