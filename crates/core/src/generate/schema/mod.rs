//! A generated schema: tables with keys, constraints, indexes and rows.
//!
//! Tables and what refers to what form a directed graph without circles (DBStorm §3). It is instantiated in topological
//! order, so that whatever a table depends on exists when it is made:
//!
//! ```text
//!   t0 (c0 …  primary key) ←── t1 (c0 …, c1 → t0) ←── t2 (…, c1 → t1, c2 → t0)
//!
//!   for each table:   primary key → foreign keys → attributes → unique keys, indexes → rows
//!                     make.rs       make.rs        make.rs      keys.rs            rows.rs
//! ```
//!
//! An *attribute* has one or more columns, all of one type; keys and indexes are made of whole attributes. A table has
//! its columns in the order above, and they are called `c0`, `c1`, ….
//!
//! Schemas are valid by construction: rows keep the unique keys, checks and foreign keys ([`rows`]), only types and
//! constraints that all targets share are used. What the constraints promise of *every* committed state can be asked
//! ([`assertions`]).
//!
//! Two properties are for those who follow rows through a run: a *version column*, which the statements do not know, and
//! *keys that are used once*, so that a key is a row's name for ever.
//!
//! Limits: a foreign key refers to a whole primary key of an earlier table, never to its own table, and has no actions
//! (`ON DELETE …`); a CHECK concerns one column.

pub mod types;
pub mod check;
pub mod make;
mod keys;
mod rows;
pub mod print;
pub mod assertions;

pub use check::Check;

use crate::value::Value;

/// The tables of a case. A table refers only to tables before it: the order is a topological one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schema {
    /// The tables.
    pub tables: Vec<Table>,
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns. Positions here are what keys and indexes speak of.
    pub columns: Vec<Column>,
    /// The columns of the primary key; empty if there is none.
    pub primary_key: Vec<usize>,
    /// Further unique keys.
    pub unique_keys: Vec<Vec<usize>>,
    /// What it refers to.
    pub foreign_keys: Vec<ForeignKey>,
    /// Columns of indexes that are not keys.
    pub indexes: Vec<Vec<usize>>,
    /// The rows at the start, one value per column.
    pub rows: Vec<Vec<Value>>,
    /// Whether it has a version column, [`VERSION`], beside its columns. No statement ever speaks of it.
    pub versioned: bool,
    /// Whether its primary key, one whole number, is used once: no statement changes it, and no two rows ever have the
    /// same, not even one after the other.
    pub keys_once: bool,
}

/// The definition of the version column: whoever wants to know which statement wrote a row has it written there.
pub const VERSION: &str = "ver INT NOT NULL DEFAULT 0";

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// Its type, as all targets write it: `VARCHAR(10)`.
    pub type_text: String,
    /// Whether it refuses NULL.
    pub not_null: bool,
    /// Its default, if it has one.
    pub default: Option<Value>,
    /// Whether the server hands out its values.
    pub auto_increment: bool,
    /// The condition of a CHECK constraint on it.
    pub check: Option<Check>,
    /// Values at the edges of its type, as far as all targets treat them alike.
    pub extremes: Vec<Value>,
}

/// A reference to another table, by its whole primary key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKey {
    /// The referring columns.
    pub columns: Vec<usize>,
    /// The table that is referred to: a position in [`Schema::tables`], before this one's.
    pub table: usize,
}

/// What a value is, for typing: expressions compare and combine only what fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A whole number.
    Integer,
    /// A number with a fixed number of decimals.
    Decimal,
    /// A floating-point number.
    Float,
    /// A text.
    Text,
    /// A day.
    Date,
    /// A time of the day.
    Time,
    /// A day and a time.
    Timestamp,
    /// Bytes.
    Bytes,
    /// True or false.
    Boolean,
}

impl Table {
    /// The definition of the primary key's columns, in key order.
    pub fn key_columns(&self) -> impl Iterator<Item = &Column> {
        self.primary_key.iter().map(|at| &self.columns[*at])
    }
}

#[cfg(test)]
mod tests;
