//! Sample values: what a tester knows about the data, in groups.

use std::collections::BTreeMap;

use crate::value::Value;

/// How many rows a table gets if nobody says.
pub const ROWS_USUAL: usize = 3;

/// What a file of sample values says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Samples {
    /// Rows per table, for tables that say nothing.
    pub rows: Option<usize>,
    /// By table.
    pub tables: BTreeMap<String, TableSamples>,
}

/// What a file says about a table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableSamples {
    /// How many rows it gets.
    pub rows: Option<usize>,
    /// The groups of values of its columns.
    pub columns: BTreeMap<String, Vec<Group>>,
}

impl Samples {
    /// How many rows a table gets.
    pub fn rows_of(&self, table: &str) -> usize {
        let own = self.tables.get(table).and_then(|samples| samples.rows);
        own.or(self.rows).unwrap_or(ROWS_USUAL)
    }

    /// The groups of a column, if the file names it.
    pub fn groups_of(&self, table: &str, column: &str) -> Option<&[Group]> {
        Some(self.tables.get(table)?.columns.get(column)?.as_slice())
    }
}

/// A data group: values that the application is expected to treat alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// How often it is chosen, relative to the other groups of the column.
    pub weight: u64,
    /// Its values.
    pub values: Values,
}

/// The values of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Values {
    /// These; at least one.
    List(Vec<Value>),
    /// The whole numbers between the two, both included.
    Range(i64, i64),
}

impl Values {
    /// The values that are worth a row of their own: all that are listed, the ends of a range.
    pub fn notable(&self) -> Vec<Value> {
        match self {
            Values::List(values) => values.clone(),
            Values::Range(low, high) if low == high => vec![Value::int(*low)],
            Values::Range(low, high) => vec![Value::int(*low), Value::int(*high)],
        }
    }

    /// At most `limit` of its values, each once.
    pub(super) fn some(&self, limit: usize) -> Vec<Value> {
        match self {
            Values::List(values) => values.iter().take(limit).cloned().collect(),
            Values::Range(low, high) => (*low..=*high).take(limit).map(Value::int).collect(),
        }
    }
}
