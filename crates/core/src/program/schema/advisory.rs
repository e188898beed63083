//! Advisory locks as tables: `pg_advisory_xact_lock(:id)` locks the row `:id` of a table that no database has.
//!
//! Who takes an advisory lock waits like somebody who locks a row. So such a lock is one, of a table whose rows are all
//! there, and nothing else needs to know. Locks of one number, of two numbers and of a name never meet, as on engines;
//! a hash of a text stands for the text.

use std::sync::LazyLock;

use super::{Column, ColumnType, Table};
use crate::program::ir::Span;

/// Locks of a number.
pub const NUMBERED: &str = "advisory lock";
/// Locks of two numbers.
pub const PAIRED: &str = "advisory lock of two numbers";
/// Locks of a name.
pub const NAMED: &str = "advisory lock of a name";

/// The columns of a lock's key; each table has the first ones.
pub const COLUMNS: [&str; 2] = ["key", "second"];

static TABLES: LazyLock<[Table; 3]> =
    LazyLock::new(|| [table(NUMBERED, "bigint", 1), table(PAIRED, "int", 2), table(NAMED, "text", 1)]);

/// The table of that name, if it stands for advisory locks.
pub fn find(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name)
}

fn table(name: &str, type_name: &str, count: usize) -> Table {
    let span = Span { start: 0, end: 0, line: 1 };
    let column = |name: &&str| Column {
        name: name.to_string(),
        written: name.to_string(),
        column_type: ColumnType::parse(type_name),
        nullable: false,
        default: None,
        numbered: false,
        forced: false,
        generated: false,
        span,
    };
    Table {
        columns: COLUMNS.iter().take(count).map(column).collect(),
        primary_key: COLUMNS.iter().take(count).map(ToString::to_string).collect(),
        ..Table::new(name.to_string(), name.to_string(), span)
    }
}
