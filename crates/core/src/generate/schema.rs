//! A generated schema: tables with keys, constraints, indexes and rows.
//!
//! These are the plain values that statements are made for; how they are made stands elsewhere.

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
}

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
    /// The condition of a CHECK constraint on it, as SQL.
    pub check: Option<String>,
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
