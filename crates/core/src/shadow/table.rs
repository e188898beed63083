//! The shadow itself: all tables, and the clock that orders what happens to their keys.

use std::sync::atomic::{AtomicU64, Ordering};

use super::attribute::Attribute;
use super::column::Columns;
use super::keys::Keys;
use super::locks::Locking;
use super::reference::Reference;
use super::schema::{AttributePlan, LinkPlan, ReferencePlan, Schema, SchemaError, SchemaErrorKind, Table};
use crate::generate::random::Random;

/// The shadow of a database. Sessions share it.
#[derive(Debug)]
pub struct Shadow {
    schema: Schema,
    tables: Vec<TableShadow>,
    load_order: Vec<usize>,
    locking: Locking,
    /// How many transactions have changed keys.
    clock: AtomicU64,
}

/// The shadow of a table.
#[derive(Debug)]
pub struct TableShadow {
    key: Columns,
    keys: Keys,
    attributes: Vec<Attribute>,
    references: Vec<Reference>,
}

/// What a permutation is for: the path of its seed.
const KEYS: u64 = 0;
const ATTRIBUTES: u64 = 1;
const REFERENCES: u64 = 2;

impl Shadow {
    /// The shadow of a schema at the start. Everything in it is a function of the seed.
    pub fn new(schema: Schema, locking: Locking, seed: u64) -> Result<Shadow, SchemaError> {
        let load_order = schema.load_order()?;
        let path = |table: usize, what: u64, at: usize| {
            Random::new(seed, &[table as u64, what, at as u64]).below(usize::MAX) as u64
        };
        let mut tables = Vec::new();
        for (at, table) in schema.tables.iter().enumerate() {
            let made = TableShadow::new(table, |what, number| path(at, what, number));
            tables.push(made.map_err(|kind| table.error(kind))?);
        }
        for (at, table) in schema.tables.iter().enumerate() {
            for (number, plan) in table.references.iter().enumerate() {
                // Late claims let readers in, and a pin is a reader that does not go.
                let pins = locking == Locking::Early;
                let made = reference(&schema, &tables, at, plan, pins, path(at, REFERENCES, number));
                let made = made.map_err(|kind| table.error(kind))?;
                tables[at].references.push(made);
            }
        }
        Ok(Shadow { schema, tables, load_order, locking, clock: AtomicU64::new(0) })
    }

    /// What it was made from.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The tables, in the order of the schema.
    pub fn tables(&self) -> &[TableShadow] {
        &self.tables
    }

    /// The positions of the tables, parents before children.
    pub fn load_order(&self) -> &[usize] {
        &self.load_order
    }

    /// How claims and shares get along.
    pub fn locking(&self) -> Locking {
        self.locking
    }

    /// The stamp of the last change that is known to have been committed: take it *before* the database takes the
    /// transaction's snapshot. Everything up to this stamp is then visible to the transaction.
    pub fn snapshot(&self) -> u64 {
        self.clock.load(Ordering::Acquire)
    }

    /// The stamp of a change whose commit has just been acknowledged.
    pub(super) fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Says what became of a key that a transaction of unknown fate had claimed ([`Instance::abandon`]), after looking
    /// at the database.
    ///
    /// [`Instance::abandon`]: super::instance::Instance::abandon
    pub fn resolve(&self, table: usize, at: u32, exists: bool) {
        let word = self.tables.get(table).and_then(|table| table.keys.word(at));
        if let Some(word) = word.filter(|word| word.see().claimed) {
            word.settle(exists, self.tick());
        }
    }
}

impl TableShadow {
    fn new(table: &Table, seed: impl Fn(u64, usize) -> u64) -> Result<TableShadow, SchemaErrorKind> {
        let failed = |what: &str| {
            let what = what.to_string();
            move |error| SchemaErrorKind::Distribution { what, error }
        };
        let keys = Keys::new(&table.keys, seed(KEYS, 0)).map_err(failed("accesses to its keys"))?;
        let mut attributes = Vec::new();
        for (at, plan) in table.attributes.iter().enumerate() {
            let columns = Columns::new(plan.columns.iter().map(|named| named.column.clone()).collect());
            let columns = columns.map_err(SchemaErrorKind::Column)?;
            let AttributePlan { distribution, fixed, .. } = plan;
            let made = Attribute::new(columns, distribution, keys.count(), *fixed, seed(ATTRIBUTES, at));
            attributes.push(made.map_err(failed(&plan.columns[0].name))?);
        }
        let key = table.columns().map_err(SchemaErrorKind::Column)?;
        Ok(TableShadow { key, keys, attributes, references: Vec::new() })
    }

    /// The columns of the key.
    pub fn key(&self) -> &Columns {
        &self.key
    }

    /// The keys, and which of them exist.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The attributes, in the order of the schema.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// The references, in the order of the schema.
    pub fn references(&self) -> &[Reference] {
        &self.references
    }
}

fn reference(
    schema: &Schema,
    tables: &[TableShadow],
    child: usize,
    plan: &ReferencePlan,
    pins: bool,
    seed: u64,
) -> Result<Reference, SchemaErrorKind> {
    let unknown = || SchemaErrorKind::UnknownTable(plan.table.clone());
    let parent = schema.position(&plan.table).ok_or_else(unknown)?;
    match &plan.link {
        LinkPlan::Prefix => Ok(Reference::by_prefix(parent, tables[child].key.domain() / tables[parent].key.domain())),
        LinkPlan::Drawn { distribution, dynamic_parents } => {
            let (children, parents) = (&tables[child].keys, &tables[parent].keys);
            let failed = |error| SchemaErrorKind::Distribution { what: format!("references to {}", plan.table), error };
            Reference::drawn(parent, distribution, *dynamic_parents && pins, children, parents, seed).map_err(failed)
        }
    }
}
