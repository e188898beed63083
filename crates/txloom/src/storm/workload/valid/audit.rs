//! What is there when nobody is at work: every row of every table.

use std::sync::{Arc, PoisonError};

use txloom_core::shadow::keys::Slot;
use txloom_core::value::Value;

use super::super::super::log::{Item, Log, Seen};
use super::super::super::validity::Stability;
use super::super::{Answer, Next, Transactions, whole};
use super::Plan;

/// Reads one table after the other.
pub(super) struct Audit {
    plan: Arc<Plan>,
    /// How many tables have been asked for.
    asked: usize,
}

impl Audit {
    pub(super) fn new(plan: Arc<Plan>) -> Audit {
        Audit { plan, asked: 0 }
    }

    fn table(&self) -> Option<usize> {
        self.plan.shadow.load_order().get(self.asked).copied()
    }

    /// How far the attributes of a table are from their distributions.
    fn measure(&self, table: usize, rows: &[Vec<Value>]) {
        let (of, schema) = (&self.plan.shadow.tables()[table], &self.plan.shadow.schema().tables[table]);
        // After the columns of the key comes the version.
        let mut first = schema.key.len() + 1;
        for (attribute, plan) in of.attributes().iter().zip(&schema.attributes) {
            let cells = first..first + plan.columns.len();
            first = cells.end;
            let number = |row: &Vec<Value>| attribute.columns().number(row.get(cells.clone())?);
            let mut numbers: Vec<u64> = rows.iter().filter_map(number).collect();
            let stability = Stability {
                table: schema.name.clone(),
                attribute: plan.columns[0].name.clone(),
                deviation: attribute.deviation(&mut numbers),
                bound: Stability::bound(of.keys().static_count()),
            };
            let mut all = self.plan.stability.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|other| (&other.table, &other.attribute) != (&stability.table, &stability.attribute));
            all.push(stability);
        }
    }
}

impl Transactions for Audit {
    fn begin(&mut self) {
        self.asked = 0;
    }

    fn next(&mut self) -> Next {
        match self.table() {
            Some(table) => Next::Execute(self.plan.sql.read_all(table)),
            None => Next::Commit,
        }
    }

    fn answered(&mut self, answer: &Answer<'_>, log: &mut Log) {
        let Some(table) = self.table().filter(|_| !answer.is_error()) else { return };
        self.asked += 1;
        let of = &self.plan.shadow.tables()[table];
        let key_columns = of.key().columns().len();
        let rows = answer.rows();
        let mut seen: Vec<Option<Seen>> = vec![None; of.keys().count() as usize];
        for row in &rows {
            let Some((key, rest)) = row.split_at_checked(key_columns) else { continue };
            let place = of.key().number(key).and_then(|key| seen.get_mut(key as usize));
            if let (Some(place), Some(version)) = (place, rest.first()) {
                *place = Some(Seen::of(whole(version), version));
            }
        }
        for (seen, key) in seen.into_iter().zip(0..) {
            let item = Item { table: table as u32, key };
            match (seen, of.keys().slot(key as u64)) {
                (Some(seen), _) => log.read(item, seen),
                (None, Slot::Static(_)) => log.read(item, Seen::NoRow),
                (None, Slot::Dynamic(_)) => log.absent(item),
            }
        }
        self.measure(table, &rows);
    }
}
