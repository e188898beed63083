//! What every connection has.

use rusqlite::Connection;

use crate::engines::embedded::registers::Registers;
use crate::engines::embedded::turns::Interrupt;

/// What every connection has.
#[derive(Clone, Default)]
pub(super) struct Tools {
    pub(super) interrupt: Interrupt,
    pub(super) registers: Registers,
}

impl Tools {
    /// A connection to a new, empty database. Foreign keys are not enforced.
    pub(super) fn connect(&self) -> rusqlite::Result<Connection> {
        let mut connection = Connection::open_in_memory()?;
        connection.execute_batch("PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = OFF")?;
        self.interrupt.attach(&mut connection)?;
        self.registers.attach(&connection)?;
        Ok(connection)
    }
}
