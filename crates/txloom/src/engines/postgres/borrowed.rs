//! A database of our own on a server that is not ours.
//!
//! On a running server txloom creates one database, `txloom_…`, works only in it, and drops it at the end. Nothing else
//! is touched: no other database, no role, no setting of the server.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use txloom_core::engine::EngineError;
use txloom_core::outcome::{DbError, Outcome};

use super::connection::{Connection, Login};
use super::explain;
use super::monitor::text;
use super::reset::roll_back_prepared;
use super::session::not_understood;

/// A database that is dropped when this value is.
pub(super) struct ScratchDatabase {
    target: String,
    /// Where we came in: a database of somebody else's, in which nothing is done but creating and dropping ours.
    login: Login,
    connection: Connection,
    name: String,
    major: u32,
}

impl ScratchDatabase {
    /// Logs in and creates the database.
    pub(super) fn create(target: &str, login: Login) -> Result<ScratchDatabase, EngineError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let connection = Connection::open(&login).map_err(|error| explain::unreachable(target, &login, &error))?;
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("txloom_{}_{:x}_{count}", std::process::id(), since_epoch.as_millis());
        let major = super::major_version(connection.server_version());
        let mut database = ScratchDatabase { target: target.to_string(), login, connection, name, major };
        database.create_empty()?;
        Ok(database)
    }

    /// The database's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Drops the database with all that is in it, and creates it again.
    pub(super) fn recreate(&mut self) -> Result<(), EngineError> {
        if let Some(error) = self.drop_database()?.error {
            return Err(explain::cannot_create_database(&self.target, &self.login, &error));
        }
        self.create_empty()
    }

    fn create_empty(&mut self) -> Result<(), EngineError> {
        // template0 cannot have been changed by anybody; the locale makes every comparison one of bytes.
        let sql =
            format!("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'", self.name);
        match self.command(&sql)?.error {
            None => Ok(()),
            Some(error) => Err(explain::cannot_create_database(&self.target, &self.login, &error)),
        }
    }

    /// Drops the database; whoever is still connected to it is thrown out, since it is ours alone.
    fn drop_database(&mut self) -> Result<Outcome, EngineError> {
        self.end_prepared()?;
        if self.major >= 13 {
            return self.command(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
        }
        self.command(&format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'",
            self.name
        ))?;
        self.command(&format!("DROP DATABASE IF EXISTS {}", self.name))
    }

    /// Ends the prepared transactions of our database: they outlive every connection, and keep it from being dropped.
    fn end_prepared(&mut self) -> Result<(), EngineError> {
        let sql = format!("SELECT gid FROM pg_prepared_xacts WHERE database = '{}'", self.name);
        let outcome = self.command(&sql)?;
        let rows = outcome.rows().map_or(&[][..], |result| &result.rows);
        if rows.is_empty() {
            return Ok(());
        }
        let login = Login { database: self.name.clone(), ..self.login.clone() };
        let opened = Connection::open(&login);
        let mut inside = opened.map_err(|error| explain::unreachable(&self.target, &login, &error))?;
        for row in rows {
            let sql = roll_back_prepared(text(row, 0));
            // If it cannot be ended, the database cannot be dropped, and that is what will be told.
            inside.execute(&sql, |_| String::new()).map_err(|error| not_understood(&self.target, &sql, &error))?;
        }
        Ok(())
    }

    /// Executes a statement where we came in, on a new connection if the old one is gone.
    fn command(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        if !self.connection.is_silent() {
            let reopened = Connection::open(&self.login);
            self.connection = reopened.map_err(|error| explain::unreachable(&self.target, &self.login, &error))?;
        }
        self.connection.execute(sql, |_| String::new()).map_err(|error| not_understood(&self.target, sql, &error))
    }

    /// One setting of the server, in the server's own unit.
    pub(super) fn setting(&mut self, name: &str) -> Result<Option<String>, EngineError> {
        let outcome = self.command(&format!("SELECT setting FROM pg_settings WHERE name = '{name}'"))?;
        let cell = outcome.rows().and_then(|result| result.rows.first()?.first()?.clone());
        Ok(cell.and_then(|bytes| String::from_utf8(bytes).ok()))
    }

    /// Whether we may change a setting, for a connection of our own.
    pub(super) fn may_set(&mut self, name: &str, value: &str) -> Result<bool, EngineError> {
        let refusal: Option<DbError> = self.command(&format!("SET {name} = '{value}'"))?.error;
        Ok(refusal.is_none())
    }
}

impl Drop for ScratchDatabase {
    fn drop(&mut self) {
        // Nobody is there to be told. What cannot be dropped has our name on it.
        let _ = self.drop_database();
    }
}
