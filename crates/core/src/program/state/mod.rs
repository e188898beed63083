//! States and inputs: rows that keep all constraints, and arguments that make calls meet on them.
//!
//! An application can only be run on data, and which data there is decides what can be found: a booking of the last
//! seat needs a flight with one seat left. The tester knows such values, and puts them into *data groups*, each of
//! values that the application treats alike (AGENDA's State Generator; Chays et al., "A Framework for Testing
//! Database Applications", ISSTA 2000; after the category-partition method). What nobody gave values for is filled
//! by type.
//!
//! # Sample values
//!
//! ```toml
//! rows = 5                                      # per table; 3 if nothing is said
//!
//! [flights]
//! rows = 2
//! carrier = ["LH", "BA"]                        # one group
//!
//! [flights.avail]                               # groups by name
//! full = { values = [0], percent = 20 }
//! last = [1]                                    # without a percentage: shares what the others leave
//! many = { range = [2, 150], percent = 70 }
//! open = { null = true, percent = 5 }           # NULL, where the column allows it
//! ```
//!
//! Columns of a foreign key take no values: theirs are those that they refer to. Bytes are hexadecimal digits in
//! quotes. All problems of a file are told at once ([`read()`]).
//!
//! # The heuristics
//!
//! As long as rows are left, every group appears; then every value that is listed and both ends of every range;
//! after that, groups are chosen by their percentages. Without a file the groups are `usual` (ten values, few
//! enough to meet), `edges` (what the column's checks just allow, or 0) and `null`. Columns that are a key on their
//! own count up.
//!
//! ```text
//!   schema ─→ order ─→ for each table, for each row:  foreign keys → columns → check, key? ─→ next row
//!                                                        ↑______________________│ back
//! ```
//!
//! * [`schema`]: the little that must be known of tables
//! * [`samples`], [`read()`]: the file
//! * `domain`: the values of a column; `order`: which table comes first; [`fill()`]: the search
//! * [`inputs`](mod@inputs): the rows that calls shall meet on
//!
//! # Limits
//!
//! A check compares a column with a constant or another column. The search is local to a row: a table whose first
//! rows leave no room for later ones gets fewer rows, which is said ([`Shortfall`]). In a circle of tables, one
//! foreign key stays NULL.

pub mod schema;
pub mod samples;
mod read;
mod domain;
mod order;
mod fill;
pub mod inputs;
#[cfg(test)]
mod tests;

use std::fmt;

pub use domain::fresh;
pub use fill::fill;
pub use inputs::{Focus, Parameter, inputs};
pub use read::read;
pub use samples::Samples;
pub use schema::Schema;

use crate::value::Value;

/// The rows of all tables. Each table comes behind those that it refers to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct State {
    /// The tables.
    pub tables: Vec<TableState>,
    /// Tables that got fewer rows than they should.
    pub shortfalls: Vec<Shortfall>,
}

/// The rows of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableState {
    /// The table.
    pub name: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// Its rows, with a value for each column.
    pub rows: Vec<Vec<Value>>,
}

impl State {
    /// The rows of a table; none if there is no such table.
    pub fn rows_of(&self, table: &str) -> &[Vec<Value>] {
        self.table(table).map(|table| table.rows.as_slice()).unwrap_or_default()
    }

    fn table(&self, name: &str) -> Option<&TableState> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// One INSERT per row, in an order that foreign keys allow. Names are written as in the definitions.
    pub fn inserts(&self, definitions: &crate::program::schema::Schema) -> Vec<String> {
        let insert = |table: &TableState, row: &[Value]| {
            let names = table.columns.iter().map(|column| definitions.written_column(&table.name, column));
            let columns = names.collect::<Vec<_>>().join(", ");
            let values: Vec<String> = row.iter().map(Value::to_string).collect();
            let is_forced =
                definitions.table(&table.name).is_some_and(|table| table.columns.iter().any(|one| one.forced));
            let insists = if is_forced { " OVERRIDING SYSTEM VALUE" } else { "" };
            let name = definitions.written(&table.name);
            format!("INSERT INTO {name} ({columns}){insists} VALUES ({})", values.join(", "))
        };
        self.tables.iter().flat_map(|table| table.rows.iter().map(move |row| insert(table, row))).collect()
    }
}

impl TableState {
    /// The values of some columns, row by row.
    fn values_of(&self, columns: &[String]) -> Vec<Vec<Value>> {
        let positions: Vec<usize> =
            columns.iter().filter_map(|name| self.columns.iter().position(|column| column == name)).collect();
        self.rows.iter().map(|row| positions.iter().map(|at| row[*at].clone()).collect()).collect()
    }
}

/// A table that got fewer rows than it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortfall {
    /// The table.
    pub table: String,
    /// How many rows it should have.
    pub wanted: usize,
    /// How many it has.
    pub made: usize,
    /// What stood in the way of one more.
    pub reason: String,
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shortfall { table, wanted, made, reason } = self;
        write!(
            f,
            "made {made} of {wanted} rows of {table}: {reason} leaves no other; give more sample values or fewer rows"
        )
    }
}

/// Why there is no state at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// A constraint names something that does not exist.
    #[error("cannot fill {table}: {problem}")]
    Schema {
        /// The table whose constraint it is.
        table: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Tables refer to one another, and no foreign key among them may be NULL.
    #[error("cannot fill {}: they refer to one another, and each needs the others first; make one of the columns nullable", .0.join(", "))]
    Circle(Vec<String>),
    /// Not a single row keeps the constraints of a table.
    #[error("{0}")]
    NoRow(Shortfall),
}
