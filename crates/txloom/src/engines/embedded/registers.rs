//! `last_insert_rowid()` and `changes()`, which belong to a session.
//!
//! To SQLite they belong to a connection; but a session of our own engines has no connection to itself, its statements
//! run on whatever copy they need. So these two functions are replaced on all connections, and read what is kept here for
//! the session whose statement is running. Limit: within one statement, as in a trigger, they do not change.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};

use super::run::Answer;

/// The values that the functions return now.
#[derive(Clone, Default)]
pub(crate) struct Registers(Arc<[AtomicI64; 2]>);

/// The values as a session keeps them between its statements.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Values {
    pub(crate) last_insert_rowid: i64,
    pub(crate) changes: i64,
}

impl Values {
    /// The values after a statement, which may have inserted a row.
    pub(crate) fn after(self, answer: &Answer, last_insert_rowid: Option<i64>) -> Values {
        let affected = answer.as_ref().ok().and_then(|result| result.affected);
        Values {
            last_insert_rowid: last_insert_rowid.unwrap_or(self.last_insert_rowid),
            changes: affected.and_then(|count| i64::try_from(count).ok()).unwrap_or(self.changes),
        }
    }
}

impl Registers {
    /// Replaces the functions of a connection.
    pub(crate) fn attach(&self, connection: &Connection) -> rusqlite::Result<()> {
        for (index, name) in ["last_insert_rowid", "changes"].into_iter().enumerate() {
            let values = Arc::clone(&self.0);
            let read = move |_: &Context<'_>| Ok(values[index].load(Ordering::SeqCst));
            connection.create_scalar_function(name, 0, FunctionFlags::SQLITE_UTF8, read)?;
        }
        Ok(())
    }

    /// A session begins a statement.
    pub(crate) fn load(&self, values: Values) {
        self.0[0].store(values.last_insert_rowid, Ordering::SeqCst);
        self.0[1].store(values.changes, Ordering::SeqCst);
    }
}
