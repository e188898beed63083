//! Filling in parameters: from an operation of a template to one that touches rows.
//!
//! ```text
//!   Operation ──fill──→ Filled ──sql──→ text ──→ database
//!                ↑                                  │
//!             Instance  ←── commit, abort, abandon ─┘
//! ```
//!
//! One [`Filler`] belongs to a session. It draws access parameters from samplers of their own, one for each table and
//! kind, so that even draws stay even; and data parameters from another.

use super::instance::{ChangeKind, Conversion, Instance, Refused};
use super::keys::Key;
use super::measure::OperationKind;
use super::predicate::{self, Wanted};
use super::sampler::{Access, Sampler};
use super::table::Shadow;
use super::template::{Action, Operation};
use crate::generate::random::Random;

/// An operation with parameters, all of them virtual values.
#[derive(Debug, Clone, Default)]
pub struct Filled {
    /// The position of the table.
    pub table: usize,
    /// What it does; not always what the template says, as inserts may become deletes.
    pub kind: Option<OperationKind>,
    /// The row, if there is one.
    pub key: Option<Key>,
    /// What attributes become, by their position.
    pub attributes: Vec<(usize, u64)>,
    /// What references become, by their position.
    pub references: Vec<(usize, u64)>,
    /// The condition of a predicate-read.
    pub condition: Option<predicate::Filled>,
    /// The position of the reference that a predicate-read follows.
    pub join: Option<usize>,
}

/// Where all samplers of a workload come from. Sessions share it.
#[derive(Debug)]
pub struct Samplers {
    /// By table, then by kind.
    access: Vec<Vec<Sampler>>,
    data: Sampler,
    seed: u64,
}

impl Samplers {
    /// Samplers for so many tables.
    pub fn new(access: Access, tables: usize, seed: u64) -> Samplers {
        let sampler = |table: usize, kind: OperationKind| Sampler::new(access, seed, &[table as u64, kind as u64]);
        let of_table = |table| OperationKind::ALL.map(|kind| sampler(table, kind)).to_vec();
        let access = (0..tables).map(of_table).collect();
        // Data need no even draws: they decide what is found, not what is accessed.
        Samplers { access, data: Sampler::new(Access::Independent, seed, &[DATA]), seed }
    }
}

/// The path of draws that are not accesses.
const DATA: u64 = u64::MAX;

/// Fills in the parameters of a session's transactions.
#[derive(Debug)]
pub struct Filler {
    instance: Instance,
    access: Vec<Vec<Sampler>>,
    data: Sampler,
    random: Random,
    conversion: Conversion,
    wanted: Wanted,
}

impl Filler {
    /// The filler of a session.
    pub fn new(samplers: &Samplers, session: u64, conversion: Conversion, wanted: Wanted) -> Filler {
        let own = |sampler: &Sampler| sampler.for_session(session);
        Filler {
            instance: Instance::new(),
            access: samplers.access.iter().map(|table| table.iter().map(own).collect()).collect(),
            data: own(&samplers.data),
            random: Random::new(samplers.seed, &[DATA, session]),
            conversion,
            wanted,
        }
    }

    /// The transaction's part in the shadow.
    pub fn instance(&mut self) -> &mut Instance {
        &mut self.instance
    }

    /// Choices that concern no parameter: which template, how often a loop runs.
    pub fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// Fills in the parameters of an operation. `Err` if no key could be had.
    pub fn fill(&mut self, shadow: &Shadow, operation: &Operation, filled: &mut Filled) -> Result<(), Refused> {
        let kind = operation.kind();
        filled.table = operation.table;
        filled.kind = Some(kind);
        filled.attributes.clear();
        filled.references.clear();
        (filled.key, filled.condition, filled.join) = (None, None, None);
        match &operation.action {
            Action::ItemRead => filled.key = Some(self.existing(shadow, operation.table, kind)?),
            Action::PredicateRead { condition, join } => {
                let table = &shadow.tables()[operation.table];
                filled.condition = Some(predicate::instantiate(table, condition, self.wanted, &mut self.random));
                filled.join = *join;
            }
            Action::Update { attributes, references } => {
                let key = self.existing(shadow, operation.table, kind)?;
                filled.key = Some(key);
                self.draw_data(shadow, key, attributes, references, filled);
            }
            Action::Insert => self.change(shadow, ChangeKind::Insert, filled)?,
            Action::Delete => self.change(shadow, ChangeKind::Delete, filled)?,
        }
        Ok(())
    }

    fn existing(&mut self, shadow: &Shadow, table: usize, kind: OperationKind) -> Result<Key, Refused> {
        self.instance.existing(shadow, table, &mut self.access[table][kind as usize])
    }

    fn change(&mut self, shadow: &Shadow, kind: ChangeKind, filled: &mut Filled) -> Result<(), Refused> {
        let table = filled.table;
        // If the row decides what is done, inserts and deletes are one kind of access.
        let drawn_as = match (self.conversion, kind) {
            (Conversion::OnDraw, _) | (_, ChangeKind::Insert) => OperationKind::Insert,
            (_, ChangeKind::Delete) => OperationKind::Delete,
        };
        let sampler = &mut self.access[table][drawn_as as usize];
        let change = self.instance.change(shadow, table, kind, self.conversion, sampler)?;
        filled.key = Some(change.key);
        filled.kind = Some(match change.kind {
            ChangeKind::Insert => OperationKind::Insert,
            ChangeKind::Delete => OperationKind::Delete,
        });
        if change.kind == ChangeKind::Insert {
            self.draw_row(shadow, change.key, filled);
        }
        Ok(())
    }

    /// A whole new row.
    fn draw_row(&mut self, shadow: &Shadow, key: Key, filled: &mut Filled) {
        let table = &shadow.tables()[filled.table];
        for (at, attribute) in table.attributes().iter().enumerate() {
            let value = if attribute.fixed() { attribute.initial(key.number) } else { attribute.draw(&mut self.data) };
            filled.attributes.push((at, value));
        }
        for at in 0..table.references().len() {
            let parent = self.instance.parent(shadow, filled.table, at, key, true, &mut self.data);
            filled.references.push((at, parent));
        }
    }

    fn draw_data(
        &mut self,
        shadow: &Shadow,
        key: Key,
        attributes: &[usize],
        references: &[usize],
        filled: &mut Filled,
    ) {
        let table = &shadow.tables()[filled.table];
        for at in attributes {
            filled.attributes.push((*at, table.attributes()[*at].draw(&mut self.data)));
        }
        for at in references {
            let parent = self.instance.parent(shadow, filled.table, *at, key, false, &mut self.data);
            filled.references.push((*at, parent));
        }
    }
}
