//! From what statements saw and replaced to who had to run before whom.
//!
//! For every row that was written, and every statement that refers to its table:
//!
//! ```text
//!               writer of v ──→ reader of v ──→ replacer of v            and  writer of v ──→ replacer of v
//!                       (read)           (anti)                                       (write)
//! ```
//!
//! where a row that was not found is a version, too: its "writer" is who deleted it, its "replacer" who inserted it
//! (see `absence`). What the reader did with the version names the edge, and it may have done several
//! things: returned it (item), chosen by it what to return or to write (predicate), computed from it (value).
//!
//! # Why these suffice
//!
//! Take any order of the statements that respects all edges, and run them one after the other. By induction each of them
//! sees what it saw: of each row of its tables, the writer of the version comes before it, and whoever replaced the
//! version after it; what lies further back or ahead follows along the chain of writes. So it does what it did. Statements
//! that touch the same value of a unique or foreign key look it up in what is there *now*, whatever their snapshot shows:
//! these keep the order in which they ran. A statement that may have skipped rows because of such values (INSERT IGNORE)
//! does not say which values these were: it keeps its place among all statements that touch any value of the constraint.
//! The order of a transaction's statements is no dependency by itself.
//!
//! # Too many edges
//!
//! Not every row of a table matters to a statement that refers to the table, so predicate edges may be spurious. They
//! allow fewer orders, never wrong ones; but they can make cycles, which cost statements (see [`decycle`](super::decycle)).

use std::collections::{BTreeMap, BTreeSet};

use super::absence::{Absence, absence};
use super::lives::{Life, lives};
use super::odd::{self, Odd};
use super::{Edge, EdgeKind, Graph, Probe, Row, Statement, Uses, Version};
use crate::schedule::StepRef;

/// The dependencies between statements of committed transactions, or why the observations contradict each other.
/// `strangers`: the versions that statements of other transactions assigned, with the statement.
pub fn infer(mut statements: Vec<Statement>, strangers: &BTreeMap<i64, StepRef>) -> Result<Graph, Odd> {
    statements.sort_by_key(|statement| statement.done);
    let lives = lives(&statements);
    if let Some(odd) = odd::find(&statements, &lives, strangers) {
        return Err(odd);
    }
    let mut inference = Inference { statements: &statements, found: BTreeMap::new(), open: BTreeMap::new() };
    for (row, life) in &lives {
        inference.row(row, life);
    }
    inference.keys();
    inference.settle();
    let edges = inference.finish();
    Ok(Graph { statements, edges })
}

/// The evidence of an edge.
#[derive(Default)]
struct Evidence {
    rows: BTreeSet<(Row, Version)>,
    probes: BTreeSet<Probe>,
}

struct Inference<'a> {
    statements: &'a [Statement],
    found: BTreeMap<(usize, usize, EdgeKind), Evidence>,
    /// Rows that a statement did not find, either before their birth or after their death: by statement, birth, death.
    open: BTreeMap<(usize, usize, usize), Vec<&'a Row>>,
}

impl<'a> Inference<'a> {
    fn row(&mut self, row: &'a Row, life: &Life) {
        for (version, writer) in &life.writers {
            if let Some(replacer) = life.replacer(*version) {
                self.add((*writer, replacer), [EdgeKind::ItemWrite], row, Some(*version));
            }
        }
        for (at, statement) in self.statements.iter().enumerate() {
            match statement.seen.get(row).copied() {
                Some(version) => {
                    if let Some(writer) = life.writers.get(&version) {
                        self.read(*writer, at, row, Some(version));
                    }
                    if let Some(replacer) = life.replacer(version) {
                        self.anti(at, replacer, row, Some(version));
                    }
                }
                None if uses(statement, row).is_any() => match absence(self.statements, life, at) {
                    Absence::Unborn(birth) => self.anti(at, birth, row, None),
                    Absence::Dead(death) => self.read(death, at, row, None),
                    Absence::Either { birth, death } => self.open.entry((at, birth, death)).or_default().push(row),
                    Absence::Alone => {}
                },
                None => {}
            }
        }
    }

    /// The reader met what the writer made.
    fn read(&mut self, writer: usize, reader: usize, row: &Row, version: Version) {
        let kinds = self.kinds(reader, row, version, [EdgeKind::ItemRead, EdgeKind::PredicateRead]);
        self.add((writer, reader), kinds, row, version);
    }

    /// The reader met what the replacer made an end of.
    fn anti(&mut self, reader: usize, replacer: usize, row: &Row, version: Version) {
        let kinds = self.kinds(reader, row, version, [EdgeKind::ItemAnti, EdgeKind::PredicateAnti]);
        self.add((reader, replacer), kinds, row, version);
    }

    /// What the reader did with a version; it is told what to call it if it returned it, and if it chose by it what to
    /// return.
    fn kinds(&self, reader: usize, row: &Row, version: Version, [item, predicate]: [EdgeKind; 2]) -> Vec<EdgeKind> {
        let statement = &self.statements[reader];
        let output =
            |version: i64| statement.output.as_ref().is_some_and(|rows| rows.contains(&(row.clone(), version)));
        let Uses { read, write, value } = uses(statement, row);
        let kinds = [
            (version.is_some_and(output), item),
            (read, predicate),
            (write, EdgeKind::PredicateWrite),
            (value, EdgeKind::ValueWrite),
        ];
        kinds.into_iter().filter(|(applies, _)| *applies).map(|(_, kind)| kind).collect()
    }

    /// Statements that touched the same value of a key keep their order.
    fn keys(&mut self) {
        let mut touched: BTreeMap<&Probe, Vec<usize>> = BTreeMap::new();
        for (at, statement) in self.statements.iter().enumerate() {
            statement.probes.iter().for_each(|probe| touched.entry(probe).or_default().push(at));
        }
        for (probe, by) in touched {
            for (place, first) in by.iter().enumerate() {
                by[place + 1..].iter().for_each(|second| self.key(*first, *second, probe));
            }
            let looks_up = |at: &usize| self.statements[*at].lookups.contains(&probe.constraint);
            for lookup in (0..self.statements.len()).filter(looks_up).collect::<Vec<_>>() {
                by.iter().for_each(|at| self.key(lookup.min(*at), lookup.max(*at), probe));
            }
        }
    }

    fn key(&mut self, first: usize, second: usize, probe: &Probe) {
        if first != second {
            self.found.entry((first, second, EdgeKind::Key)).or_default().probes.insert(probe.clone());
        }
    }

    /// Decides between birth and death, where that is open, so that no cycle arises if that can be.
    fn settle(&mut self) {
        for ((reader, birth, death), rows) in std::mem::take(&mut self.open) {
            let is_dead = !self.reaches(reader, death) || self.reaches(birth, reader);
            for row in rows {
                match is_dead {
                    true => self.read(death, reader, row, None),
                    false => self.anti(reader, birth, row, None),
                }
            }
        }
    }

    /// Whether there is a way from one statement to another.
    fn reaches(&self, from: usize, to: usize) -> bool {
        let mut reached = BTreeSet::from([from]);
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            let edges = self.found.range((at, 0, EdgeKind::ItemRead)..(at + 1, 0, EdgeKind::ItemRead));
            open.extend(edges.map(|((_, next, _), _)| *next).filter(|next| reached.insert(*next)));
        }
        reached.contains(&to)
    }

    fn add(&mut self, (from, to): (usize, usize), kinds: impl IntoIterator<Item = EdgeKind>, row: &Row, of: Version) {
        for kind in kinds.into_iter().filter(|_| from != to) {
            self.found.entry((from, to, kind)).or_default().rows.insert((row.clone(), of));
        }
    }

    fn finish(self) -> Vec<Edge> {
        let edges = self.found.into_iter().map(|((from, to, kind), evidence)| Edge {
            from,
            to,
            kind,
            rows: evidence.rows.into_iter().collect(),
            probes: evidence.probes.into_iter().collect(),
        });
        edges.collect()
    }
}

/// What for a statement refers to the table of a row.
fn uses(statement: &Statement, row: &Row) -> Uses {
    statement.uses.get(&row.table).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests;
