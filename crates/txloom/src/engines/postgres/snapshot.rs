//! The committed contents of all user tables, in two round trips: which tables there are, then all of them at once.

use std::collections::BTreeMap;

use txloom_core::engine::State;
use txloom_core::outcome::{Outcome, Row};

use super::monitor::text;

/// The tables of a snapshot that is being taken.
pub(super) struct Tables(Vec<Table>);

struct Table {
    name: String,
    sql_name: String,
    is_partitioned: bool,
}

impl Tables {
    /// Reads the monitor's answer.
    pub(super) fn read(rows: &[Row]) -> Tables {
        let table = |row: &Row| Table {
            name: text(row, 0).to_string(),
            sql_name: text(row, 1).to_string(),
            is_partitioned: text(row, 2) == "p",
        };
        Tables(rows.iter().map(table).collect())
    }

    /// One message that reads all tables, as of one moment. A partitioned table stands for its partitions; a table that
    /// others inherit from stands for itself only.
    pub(super) fn question(&self) -> String {
        let mut message = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ".to_string();
        for table in &self.0 {
            let only = if table.is_partitioned { "" } else { "ONLY " };
            message.push_str(&format!("SELECT * FROM {only}{}; ", table.sql_name));
        }
        message + "COMMIT"
    }

    /// The answer by table. Rows are sorted by their bytes: their order means nothing, so let it be the same always.
    pub(super) fn state(self, answer: Outcome) -> State {
        let begin = 1;
        let mut results = answer.results;
        let tables: BTreeMap<_, _> = self
            .0
            .into_iter()
            .zip(results.drain(begin..))
            .map(|(table, mut result)| {
                result.rows.sort_unstable();
                result.tag = None;
                (table.name, result)
            })
            .collect();
        State { tables }
    }
}
