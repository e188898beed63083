//! The committed versions of the database, and copies of them.
//!
//! A version never changes. Each commit copies the newest version, changes the copy, and publishes it under the next
//! number; a version is kept while a transaction is based on it. The first version is kept for good: the next case
//! often starts from it, too. A copy of a small database costs some microseconds, more after it, since SQLite reads the
//! schema anew; so copies that are no longer needed are used again, best where they still have the right contents.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rusqlite::Connection;
use txloom_core::outcome::DbError;

use super::capture;
use super::changes::Changes;
use super::errors::foreign_key;
use super::rules::Rules;
use super::schema::Schema;
use crate::engines::embedded::copy::copy_contents;
use crate::engines::embedded::errors::db_error;
use crate::engines::embedded::registers::Registers;
use crate::engines::embedded::turns::Interrupt;

/// How many connections are kept for further copies.
const SPARE_MAX: usize = 8;

/// A database in memory, with what the model knows of its schema.
pub(super) struct Database {
    pub(super) connection: Connection,
    pub(super) schema: Arc<Schema>,
    /// Whether changes to it are written down.
    captures: bool,
    /// Whose contents it has as soon as no transaction is open in it: every version has a number of its own, across
    /// cases. `None` if it has been changed since.
    contents: Cell<Option<u64>>,
}

impl Database {
    /// It will no longer have the contents of a version.
    pub(super) fn will_differ(&self) {
        self.contents.set(None);
    }
}

/// All versions that somebody may still look at.
pub(super) struct Store {
    versions: BTreeMap<u64, Database>,
    newest: u64,
    /// How many versions there have been, forgotten ones and those of earlier cases included.
    published: u64,
    spare: Vec<Database>,
    tools: Tools,
}

/// What every connection has.
#[derive(Clone, Default)]
pub(super) struct Tools {
    pub(super) interrupt: Interrupt,
    pub(super) registers: Registers,
}

impl Tools {
    /// A connection to a new, empty database.
    pub(super) fn connect(&self) -> rusqlite::Result<Connection> {
        let mut connection = Connection::open_in_memory()?;
        connection.execute_batch("PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = ON")?;
        self.interrupt.attach(&mut connection)?;
        self.registers.attach(&connection)?;
        Ok(connection)
    }
}

impl Store {
    /// A store whose first version is this database.
    pub(super) fn new(connection: Connection, schema: Schema, tools: Tools) -> Store {
        let first = Database { connection, schema: Arc::new(schema), captures: false, contents: Cell::new(Some(0)) };
        Store { versions: BTreeMap::from([(0, first)]), newest: 0, published: 0, spare: Vec::new(), tools }
    }

    /// The number of the newest version.
    pub(super) fn newest(&self) -> u64 {
        self.newest
    }

    /// The version before this one, if it has the same tables.
    pub(super) fn version_before(&self, number: u64) -> Option<u64> {
        let (later, before) = (self.versions.get(&number)?, number.checked_sub(1)?);
        let earlier = self.versions.get(&before)?;
        Arc::ptr_eq(&earlier.schema, &later.schema).then_some(before)
    }

    /// A version that some transaction is based on, or the newest.
    pub(super) fn version(&self, number: u64) -> &Database {
        self.versions.get(&number).expect("versions in use are kept")
    }

    /// A copy of a version that writes down what is changed in it.
    pub(super) fn copy(&mut self, number: u64) -> rusqlite::Result<Database> {
        let source = self.versions.get(&number).expect("versions in use are kept");
        let same_schema = |spare: &&Database| Arc::ptr_eq(&spare.schema, &source.schema);
        // One that was only used within a transaction, and rolled back, is a copy already: nothing is cheaper.
        let same = self.spare.iter().position(|spare| spare.contents == source.contents && same_schema(&spare));
        if let Some(at) = same {
            return Ok(self.spare.swap_remove(at));
        }
        if let Some(at) = self.spare.iter().position(|spare| same_schema(&spare)) {
            let mut copy = self.spare.swap_remove(at);
            copy_contents(&source.connection, &mut copy.connection)?;
            copy.contents = source.contents.clone();
            return Ok(copy);
        }
        let mut connection = self.tools.connect()?;
        copy_contents(&source.connection, &mut connection)?;
        capture::install(&connection, &source.schema)?;
        let contents = source.contents.clone();
        Ok(Database { connection, schema: Arc::clone(&source.schema), captures: true, contents })
    }

    /// Takes back a copy that is no longer needed.
    pub(super) fn give_back(&mut self, copy: Database) -> rusqlite::Result<()> {
        if copy.captures && self.spare.len() < SPARE_MAX {
            if !copy.connection.is_autocommit() {
                copy.connection.execute_batch("ROLLBACK")?;
            }
            capture::clear(&copy.connection)?;
            self.spare.push(copy);
        }
        Ok(())
    }

    /// Makes a new version: the newest one with these changes. An error, such as a foreign key that is violated only by
    /// the changes of two transactions together, leaves everything as it was.
    pub(super) fn install(&mut self, changes: &Changes, rules: &Rules) -> rusqlite::Result<Result<u64, DbError>> {
        let copy = self.copy(self.newest)?;
        let problem = match changes.apply(&copy) {
            Ok(_) if rules.references_hold => violated_foreign_key(&copy)?,
            Ok(_) => None,
            Err(error) => Some(db_error(&error).ok_or(error)?),
        };
        if let Some(problem) = problem {
            self.give_back(copy)?;
            return Ok(Err(problem));
        }
        Ok(Ok(self.publish(copy)))
    }

    /// Makes a new version by changing the schema: `define` is given a copy and says what the schema is then.
    pub(super) fn redefine(
        &mut self,
        define: impl FnOnce(&Connection) -> rusqlite::Result<Result<Schema, DbError>>,
    ) -> rusqlite::Result<Result<u64, DbError>> {
        let mut connection = self.tools.connect()?;
        copy_contents(&self.version(self.newest).connection, &mut connection)?;
        match define(&connection)? {
            Ok(schema) => {
                let schema = Arc::new(schema);
                Ok(Ok(self.publish(Database { connection, schema, captures: false, contents: Cell::new(None) })))
            }
            Err(error) => Ok(Err(error)),
        }
    }

    /// Makes a database the next version.
    pub(super) fn publish(&mut self, database: Database) -> u64 {
        self.newest += 1;
        self.published += 1;
        database.contents.set(Some(self.published));
        self.versions.insert(self.newest, database);
        self.newest
    }

    /// Goes back to the first version.
    pub(super) fn rewind(&mut self) -> rusqlite::Result<()> {
        self.newest = 0;
        self.forget_except(&BTreeSet::new())
    }

    /// Forgets all versions but the first, the newest and those in use, each with the one before it.
    pub(super) fn forget_except(&mut self, in_use: &BTreeSet<u64>) -> rusqlite::Result<()> {
        let is_used = |number: u64| number == self.newest || in_use.contains(&number);
        let unused = |number: &u64| *number != 0 && !is_used(*number) && !is_used(*number + 1);
        let numbers: Vec<u64> = self.versions.keys().copied().filter(unused).collect();
        for number in numbers {
            if let Some(database) = self.versions.remove(&number) {
                self.give_back(database)?;
            }
        }
        Ok(())
    }
}

fn violated_foreign_key(database: &Database) -> rusqlite::Result<Option<DbError>> {
    if !database.schema.has_foreign_keys {
        return Ok(None);
    }
    let mut statement = database.connection.prepare_cached("PRAGMA main.foreign_key_check")?;
    let mut rows = statement.query([])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let (child, parent): (String, String) = (row.get(0)?, row.get(2)?);
    Ok(Some(foreign_key(&child, &parent)))
}
