//! Transactions done again in memory: what they read, and what they leave.

use super::collect::Collector;
use super::deed::Deed;
use super::rows::{Known, key};
use super::shape::{Instance, Transaction};

impl Collector<'_> {
    pub(super) fn look_up(&self, transaction: &mut Transaction, one: &mut Instance) {
        let template = &self.templates.all[one.template as usize];
        let row = match &template.deed {
            Deed::Read { row, .. } | Deed::Update { row, .. } | Deed::Insert { row, .. } | Deed::Delete(row) => row,
            Deed::Nothing | Deed::Aggregate { .. } | Deed::Anything(_) => return,
        };
        let values = &transaction.values[one.values.start as usize..];
        one.key = key(row, |slot| values.get(slot).map(|value| value.said).unwrap_or_default());
        let Deed::Read { outputs, .. } = &template.deed else { return };
        let start = transaction.answers.len() as u32;
        for column in outputs {
            let known = match column {
                Some(column) => self.read(transaction, row.table, one.key, *column),
                None => Known::default(),
            };
            transaction.answers.push(known);
        }
        one.answers = start..transaction.answers.len() as u32;
    }

    /// What a column holds for a transaction: what is stored, and its own writes.
    pub(super) fn read(&self, transaction: &Transaction, table: usize, key: u64, column: usize) -> Known {
        let mut known = self.rows.read(table, key, column);
        for one in &transaction.statements {
            let value = |slot: usize| transaction.values_of(one).get(slot).map(|value| value.said).unwrap_or_default();
            match &self.templates.all[one.template as usize].deed {
                Deed::Update { assigned, .. } | Deed::Insert { assigned, .. } if one.key == key => {
                    for (_, given) in assigned.iter().filter(|(at, _)| *at == column) {
                        known = Known { last: given.of(known.last, value), before: None };
                    }
                }
                Deed::Delete(_) if one.key == key => known = Known::default(),
                Deed::Anything(tables) if tables.contains(&table) => known = Known::default(),
                _ => {}
            }
        }
        known
    }

    /// What it wrote was not written after all: nothing is known of these rows any more.
    pub(super) fn unwrite(&mut self, transaction: &Transaction) {
        for one in transaction.statements.iter().filter(|one| one.key != 0) {
            if self.templates.all[one.template as usize].writes {
                self.rows.remove(one.key);
            }
        }
    }

    /// Does its writes again, from a statement on.
    pub(super) fn write(&mut self, transaction: &Transaction, from: usize) {
        for one in transaction.statements.iter().skip(from) {
            let value = |slot: usize| transaction.values_of(one).get(slot).map(|value| value.said).unwrap_or_default();
            match &self.templates.all[one.template as usize].deed {
                Deed::Update { row, assigned } | Deed::Insert { row, assigned } => {
                    self.rows.write(row.table, one.key, assigned, value);
                }
                Deed::Delete(_) => self.rows.remove(one.key),
                Deed::Anything(tables) => tables.iter().for_each(|table| self.rows.forget(*table)),
                Deed::Read { .. } | Deed::Aggregate { .. } | Deed::Nothing => {}
            }
        }
    }
}
