//! Copying one database in memory over another.

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ffi};

/// Makes a database the same as another one. Temporary objects of the connections are no part of them.
pub(crate) fn copy_contents(from: &Connection, to: &mut Connection) -> rusqlite::Result<()> {
    match Backup::new(from, to)?.step(-1)? {
        StepResult::Done => Ok(()),
        other => {
            let failure = ffi::Error::new(ffi::SQLITE_INTERNAL);
            Err(rusqlite::Error::SqliteFailure(failure, Some(format!("copying a database ended with {other:?}"))))
        }
    }
}
