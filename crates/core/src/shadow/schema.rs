//! What a shadow is made from: tables, how their keys are divided, what attributes hold, what refers to what.
//!
//! ```text
//!   a fixed workload (written by hand) ──────────────┐
//!                                                    ├─→ Schema ──check──→ Shadow
//!   a random schema (a profile) ──generated──────────┘
//! ```
//!
//! A schema is plain data. [`Schema::load_order`] checks all of it and says in which order tables can be filled;
//! everything that would later make a workload impossible is an error here, with the table's name: references in a
//! circle, a key with fewer values than there are keys, a table of which nothing is certain to be there.

use super::column::{ColumnError, Columns, VirtualColumn};
use super::distribution::{Distribution, DistributionError};
use super::keys::KeyPlan;

/// The tables of a workload.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schema {
    /// The tables, in any order.
    pub tables: Vec<Table>,
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// The columns of the primary key. Virtual keys are the numbers `0..keys.count`, with the columns as digits.
    pub key: Vec<NamedColumn>,
    /// How the keys are divided and accessed.
    pub keys: KeyPlan,
    /// What rows hold beside key and references.
    pub attributes: Vec<AttributePlan>,
    /// What rows refer to.
    pub references: Vec<ReferencePlan>,
}

/// A column with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedColumn {
    /// The name in the database.
    pub name: String,
    /// The values.
    pub column: VirtualColumn,
}

/// An attribute: one or more columns whose values belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct AttributePlan {
    /// The columns.
    pub columns: Vec<NamedColumn>,
    /// The distribution G over their combinations.
    pub distribution: Distribution,
    /// Whether updates leave it alone and inserts compute it from the key: then what a row holds is always known.
    pub fixed: bool,
}

/// A reference to the whole primary key of another table.
#[derive(Debug, Clone, PartialEq)]
pub struct ReferencePlan {
    /// The referring columns. For a prefix they are the first columns of the key.
    pub columns: Vec<String>,
    /// The table that is referred to.
    pub table: String,
    /// How the parent is chosen.
    pub link: LinkPlan,
}

/// How a row's parent is chosen.
#[derive(Debug, Clone, PartialEq)]
pub enum LinkPlan {
    /// Drawn.
    Drawn {
        /// The distribution over the parents.
        distribution: Distribution,
        /// Whether rows that are inserted may refer to parents that come and go.
        dynamic_parents: bool,
    },
    /// The row's key begins with it.
    Prefix,
}

/// Why there can be no shadow of a schema.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("table {table}: {kind}")]
pub struct SchemaError {
    /// The table.
    pub table: String,
    /// What is wrong with it.
    pub kind: SchemaErrorKind,
}

/// What is wrong with a table.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SchemaErrorKind {
    /// Two tables of one name.
    #[error("there are two tables of this name; give them different ones")]
    Twice,
    /// A reference to a table that there is not.
    #[error("it refers to a table {0}, which there is not; name one of the schema's")]
    UnknownTable(String),
    /// References in a circle: no table could be filled first.
    #[error("its references lead back to it ({0}), so that no table can be filled first; leave one of them out")]
    Cycle(String),
    /// A share that is none.
    #[error("the share of {what} is {found}; it must be between 0 and 1")]
    Share {
        /// The share of what.
        what: &'static str,
        /// What it is.
        found: f64,
    },
    /// Nothing to fill the table with.
    #[error("it has no keys; there must be at least one")]
    NoKeys,
    /// Every key is dynamic.
    #[error("all of its keys are dynamic, so that nothing is certain to be there; use a dynamic share below 1")]
    AllDynamic,
    /// No key is dynamic, but rows should come and go.
    #[error("none of its keys is dynamic, so that nothing can be inserted or deleted; use a dynamic share above 0")]
    NothingDynamic,
    /// More dynamic keys than can be counted.
    #[error("{0} of its keys are dynamic; there can be at most 4294967294, so use a smaller dynamic share")]
    TooManyDynamic(u64),
    /// Fewer key values than keys.
    #[error("its key has {domain} different values, too few for {keys} keys; widen the key or use fewer keys")]
    DomainTooSmall {
        /// How many values the key has.
        domain: u64,
        /// How many keys there should be.
        keys: u64,
    },
    /// A column that cannot be.
    #[error("{0}")]
    Column(ColumnError),
    /// A distribution that cannot be.
    #[error("{what}: {error}")]
    Distribution {
        /// The distribution of what.
        what: String,
        /// What is wrong with it.
        error: DistributionError,
    },
    /// A reference with more or fewer columns than the key that it refers to.
    #[error("its reference to {table} has {found} columns, and the key there has {expected}; they must be as many")]
    ReferenceColumns {
        /// The table that is referred to.
        table: String,
        /// How many columns the reference has.
        found: usize,
        /// How many the key has.
        expected: usize,
    },
    /// A key that does not begin with its parent's.
    #[error("its key does not begin with the key of {table}: {why}; use a drawn reference")]
    Prefix {
        /// The table that is referred to.
        table: String,
        /// Why not.
        why: &'static str,
    },
    /// Something of a generated schema that the shadow does not follow.
    #[error("it has {0}, which a shadow does not follow; use a profile without")]
    Unfollowed(&'static str),
}

impl Schema {
    /// The position of a table.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|table| table.name == name)
    }

    /// Checks everything, and says in which order the tables can be filled: parents before children.
    pub fn load_order(&self) -> Result<Vec<usize>, SchemaError> {
        for (at, table) in self.tables.iter().enumerate() {
            let checked = if self.position(&table.name) == Some(at) { Ok(()) } else { Err(SchemaErrorKind::Twice) };
            checked
                .and_then(|()| table.check())
                .and_then(|()| table.references.iter().try_for_each(|reference| self.check_reference(table, reference)))
                .map_err(|kind| table.error(kind))?;
        }
        let mut order = Vec::new();
        let mut path = Vec::new();
        for at in 0..self.tables.len() {
            self.visit(at, &mut order, &mut path)?;
        }
        Ok(order)
    }

    /// Whether rows of a table can come and go.
    pub fn check_changes(&self, table: usize) -> Result<(), SchemaError> {
        let table = &self.tables[table];
        match table.keys.dynamic_count() {
            0 => Err(table.error(SchemaErrorKind::NothingDynamic)),
            _ => Ok(()),
        }
    }

    fn visit(&self, at: usize, order: &mut Vec<usize>, path: &mut Vec<usize>) -> Result<(), SchemaError> {
        if order.contains(&at) {
            return Ok(());
        }
        let table = &self.tables[at];
        if let Some(start) = path.iter().position(|before| *before == at) {
            let names: Vec<&str> =
                path[start..].iter().chain([&at]).map(|table| self.tables[*table].name.as_str()).collect();
            return Err(table.error(SchemaErrorKind::Cycle(names.join(" → "))));
        }
        path.push(at);
        for parent in table.references.iter().filter_map(|reference| self.position(&reference.table)) {
            self.visit(parent, order, path)?;
        }
        path.pop();
        order.push(at);
        Ok(())
    }

    fn check_reference(&self, table: &Table, reference: &ReferencePlan) -> Result<(), SchemaErrorKind> {
        let name = reference.table.clone();
        let parent = self.position(&name).ok_or(SchemaErrorKind::UnknownTable(name.clone()))?;
        let parent = &self.tables[parent];
        let (found, expected) = (reference.columns.len(), parent.key.len());
        if found != expected {
            return Err(SchemaErrorKind::ReferenceColumns { table: name, found, expected });
        }
        if reference.link != LinkPlan::Prefix {
            return Ok(());
        }
        let begins = table.key.len() >= expected
            && table.key.iter().zip(&reference.columns).all(|(key, column)| key.name == *column)
            && table.key.iter().zip(&parent.key).all(|(child, parent)| child.column == parent.column);
        match parent.columns().map_err(SchemaErrorKind::Column)?.domain() {
            _ if !begins => Err(SchemaErrorKind::Prefix { table: name, why: "their columns differ" }),
            _ if parent.keys.dynamic_count() > 0 => {
                Err(SchemaErrorKind::Prefix { table: name, why: "keys there come and go" })
            }
            domain if domain != parent.keys.count => {
                Err(SchemaErrorKind::Prefix { table: name, why: "not all keys are in use there" })
            }
            _ => Ok(()),
        }
    }
}

impl Table {
    /// The columns of the key, as one number.
    pub fn columns(&self) -> Result<Columns, ColumnError> {
        Columns::new(self.key.iter().map(|named| named.column.clone()).collect())
    }

    pub(super) fn error(&self, kind: SchemaErrorKind) -> SchemaError {
        SchemaError { table: self.name.clone(), kind }
    }

    fn check(&self) -> Result<(), SchemaErrorKind> {
        let plan = &self.keys;
        for (what, found) in [("dynamic keys", plan.dynamic), ("keys that exist at the start", plan.present)] {
            if !(0.0..=1.0).contains(&found) {
                return Err(SchemaErrorKind::Share { what, found });
            }
        }
        let domain = self.columns().map_err(SchemaErrorKind::Column)?.domain();
        match plan.dynamic_count() {
            _ if plan.count == 0 => Err(SchemaErrorKind::NoKeys),
            _ if domain < plan.count => Err(SchemaErrorKind::DomainTooSmall { domain, keys: plan.count }),
            dynamic if dynamic == plan.count => Err(SchemaErrorKind::AllDynamic),
            dynamic if dynamic >= u64::from(u32::MAX) => Err(SchemaErrorKind::TooManyDynamic(dynamic)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
