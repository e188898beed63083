//! A database of our own on a server that is not ours.
//!
//! On a running server txloom creates one database, `txloom_…`, works only in it, and drops it at the end. Nothing else
//! is touched: no other database, no role, no setting of the server.

use txloom_core::engine::{EngineError, EngineErrorKind};
use txloom_core::outcome::{DbError, Outcome};

use super::super::access::{AccessOptions, AccessReport};
use super::super::wire::owner::{self, DatabaseOwner};
use super::connection::{Connection, Login};
use super::explain;
use super::monitor::text;
use super::reset::roll_back_prepared;
use super::session::not_understood;

/// What the user can do beyond databases of ours, one sentence a row.
const EXCESS_QUESTION: &str = "
    SELECT 'is a superuser: can do anything' FROM pg_roles WHERE rolname = current_user AND rolsuper
    UNION ALL SELECT 'can create and change roles' FROM pg_roles WHERE rolname = current_user AND rolcreaterole
    UNION ALL SELECT 'can replicate' FROM pg_roles WHERE rolname = current_user AND rolreplication
    UNION ALL SELECT 'is a member of ' || rolname FROM pg_roles
        WHERE rolname <> current_user AND pg_has_role(current_user, oid, 'MEMBER')
              AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
    UNION ALL SELECT 'can connect to the database ' || datname FROM pg_database
        WHERE datallowconn AND NOT datistemplate AND NOT left(datname, 7) = 'txloom_'
              AND has_database_privilege(oid, 'CONNECT') AND datname <> current_database()
    UNION ALL SELECT 'owns the database ' || datname FROM pg_database
        WHERE NOT left(datname, 7) = 'txloom_' AND pg_get_userbyid(datdba) = current_user";

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
    /// Logs in, looks at the role, drops what a dead process left, and creates the database.
    pub(super) fn create(target: &str, login: Login, access: &AccessOptions) -> Result<ScratchDatabase, EngineError> {
        let connection = Connection::open(&login).map_err(|error| explain::unreachable(target, &login, &error))?;
        let name = DatabaseOwner::this_process().new_name();
        let major = super::major_version(connection.server_version());
        let mut database = ScratchDatabase { target: target.to_string(), login, connection, name, major };
        database.check_role(access)?;
        database.sweep()?;
        database.create_empty()?;
        Ok(database)
    }

    /// What the user can do on the server; nothing is created.
    pub(super) fn examine(target: &str, login: Login, sweeps: bool) -> Result<AccessReport, EngineError> {
        let connection = Connection::open(&login).map_err(|error| explain::unreachable(target, &login, &error))?;
        let major = super::major_version(connection.server_version());
        let (target, user) = (target.to_string(), login.user.clone());
        // Never created, so that dropping it at the end does nothing.
        let name = DatabaseOwner::this_process().new_name();
        let mut database = ScratchDatabase { target, login, connection, name, major };
        let dropped = if sweeps { database.sweep()? } else { Vec::new() };
        let left = database.column("SELECT datname FROM pg_database WHERE left(datname, 7) = 'txloom_'")?;
        let grants = vec![
            "CREATE ROLE txloom LOGIN CREATEDB NOSUPERUSER NOCREATEROLE PASSWORD '...';".to_string(),
            "REVOKE CONNECT ON DATABASE other_database FROM PUBLIC; -- for each database with data, if nobody needs it"
                .into(),
        ];
        Ok(AccessReport { user, excess: database.column(EXCESS_QUESTION)?, grants, dropped, left })
    }

    /// The first column of an answer; an error of the server is one.
    fn column(&mut self, sql: &str) -> Result<Vec<String>, EngineError> {
        let outcome = self.command(sql)?;
        if let Some(error) = &outcome.error {
            return Err(explain::lost(&self.target, "ask about the user and its databases", error));
        }
        let rows = outcome.rows().map_or(&[][..], |result| &result.rows);
        Ok(rows.iter().map(|row| text(row, 0).to_string()).collect())
    }

    /// Refuses a user who may do anything, unless that is allowed.
    fn check_role(&mut self, access: &AccessOptions) -> Result<(), EngineError> {
        let outcome = self.command("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")?;
        let is_super = outcome.rows().and_then(|result| result.rows.first()).is_some_and(|row| text(row, 0) == "t");
        if !is_super || access.allow_superuser {
            return Ok(());
        }
        let why = format!(
            "the user `{}` is a superuser at {}, for whom no statement of a case would be beyond reach: name another one \
             (`txloom doctor URL` prints how to make it), or say --allow-superuser if nothing there matters",
            self.login.user, self.login.address
        );
        Err(EngineError::new(&self.target, EngineErrorKind::Unreachable(why)))
    }

    /// Drops the databases of processes of this machine that are no more; returns their names.
    pub(super) fn sweep(&mut self) -> Result<Vec<String>, EngineError> {
        let outcome = self.command("SELECT datname FROM pg_database WHERE left(datname, 7) = 'txloom_'")?;
        let names: Vec<String> =
            outcome.rows().map_or(&[][..], |result| &result.rows).iter().map(|row| text(row, 0).to_string()).collect();
        let own = self.name.clone();
        let mut dropped = Vec::new();
        for name in owner::left_over(names.iter().map(String::as_str)) {
            self.name.clone_from(&name);
            // What cannot be dropped stays for somebody who may.
            if self.drop_database().is_ok_and(|outcome| outcome.error.is_none()) {
                dropped.push(name);
            }
        }
        self.name = own;
        Ok(dropped)
    }

    /// How many connections the server has left, and how many of them may be ours.
    pub(super) fn connections_left(&mut self) -> Result<Option<u32>, EngineError> {
        let sql = "SELECT current_setting('max_connections')::int
                          - current_setting('superuser_reserved_connections')::int - count(*) FROM pg_stat_activity";
        let outcome = self.command(sql)?;
        let row = outcome.rows().and_then(|result| result.rows.first());
        Ok(row.and_then(|row| text(row, 0).parse::<i64>().ok()).map(|left| u32::try_from(left).unwrap_or(0)))
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
