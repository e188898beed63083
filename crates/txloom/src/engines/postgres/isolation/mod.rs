//! Isolation tests on a private server, as PostgreSQL's own harness runs them.
//!
//! What comes out is that harness's transcript, byte for byte, so everything that can show in one is as it is there: the
//! name of the database, the style of dates, a `deadlock_timeout` of one second. (The quiet rule of
//! `waits` would choose other victims of deadlocks than the tests expect: they choose them themselves, by
//! the timeouts of their sessions.) The order of things is [`Tester`]'s; here are the connections.
//!
//! ```text
//!   control  ── setup and teardown of every permutation ──→  database isolation_regression
//!   s1, s2 … ── one connection each, for all permutations ─→  "
//!   watch    ── who waits for whom? ──────────────────────→  another database: what looks must not be in the way
//! ```
//!
//! A spec finds a new database, and a new server if an earlier one left more than a database can hold: what one spec
//! leaves behind cannot change the transcript of another.

mod connections;
mod messages;
mod watch;

use std::fmt::Display;
use std::time::Duration;

use txloom_core::engine::EngineError;
use txloom_core::formats::spec::Spec;
use txloom_core::formats::spec::tester::{Flow, Tester};

use self::connections::SpecConnections;
use super::super::wire::security::Security;
use super::super::wire::stream::Address;
use super::connection::{Connection, Login};
use super::{explain, limited};
use crate::servers::{PrivatePostgres, Programs, ServerOptions};

/// The database that tests run in; some of them name it.
const DATABASE: &str = "isolation_regression";

/// The settings of a test's connections.
const SETTINGS: &[(&str, &str)] =
    &[("TimeZone", "PST8PDT"), ("DateStyle", "Postgres, MDY"), ("IntervalStyle", "postgres_verbose")];

/// How long a step may take before it is cancelled, unless the user says otherwise.
pub const STEP_LIMIT: Duration = Duration::from_secs(360);

/// How long the commands around a spec may take: creating and dropping its database.
const ADMIN_LIMIT: Duration = Duration::from_secs(60);

/// What a spec may leave that does not go away with its database. (What comes with PostgreSQL has lower numbers.)
const LEFTOVERS: &str = "SELECT 1 FROM pg_roles WHERE oid >= 16384
    UNION ALL SELECT 1 FROM pg_tablespace WHERE oid >= 16384
    UNION ALL SELECT 1 FROM pg_prepared_xacts
    UNION ALL SELECT 1 FROM pg_replication_slots
    LIMIT 1";

/// A private server on which isolation tests are run.
pub struct IsolationHarness {
    target: String,
    server: PrivatePostgres,
}

impl IsolationHarness {
    /// Starts a server.
    pub fn start(target: &str, programs: &Programs) -> Result<IsolationHarness, EngineError> {
        let setting = |(name, value): (&str, &str)| (name.to_string(), value.to_string());
        // As the tests expect it; their steps have a limit of their own.
        let settings = [("deadlock_timeout", "1s"), ("log_lock_waits", "off"), ("statement_timeout", "0")];
        let extra = settings.map(setting).to_vec();
        let server = PrivatePostgres::start(programs, ServerOptions { extra, ..ServerOptions::default() });
        let server = server.map_err(|error| error.for_target(target))?;
        Ok(IsolationHarness { target: target.to_string(), server })
    }

    /// Runs all permutations of a spec and hands out the transcript piece by piece. `name` is that of the test, which
    /// is part of its connections' names. A test that cannot be run to its end says so in its transcript; `Err` means
    /// that the server failed us.
    pub fn run(
        &mut self,
        name: &str,
        spec: &Spec,
        step_limit: Duration,
        mut write: impl FnMut(&[u8]),
    ) -> Result<Flow, EngineError> {
        self.renew_database()?;
        let connections = SpecConnections::open(&self.target, &self.login(DATABASE), name, spec)?;
        let mut tester = Tester::new(spec, connections, step_limit);
        write(&tester.take_transcript());
        let mut flow = Flow::Continue;
        let mut permutations = spec.all_permutations();
        while flow == Flow::Continue
            && let Some(permutation) = permutations.next()
        {
            flow = tester.run(&permutation)?;
            write(&tester.take_transcript());
        }
        tester.into_connections().close();
        Ok(flow)
    }

    fn login(&self, database: &str) -> Login {
        Login {
            address: Address::Private(self.server.socket()),
            user: self.server.superuser().to_string(),
            password: None,
            security: Security::default(),
            database: database.to_string(),
            settings: Vec::new(),
            patience: None,
        }
    }

    /// Makes a new database; a new server, if an earlier spec left something outside of its database.
    fn renew_database(&mut self) -> Result<(), EngineError> {
        let is_usable = self.server.died().is_none() && !self.server.is_reconfigured();
        if is_usable && self.create_database().is_ok() {
            return Ok(());
        }
        self.server.renew().map_err(|error| error.for_target(&self.target))?;
        self.create_database()
    }

    /// Makes a new database in place of the old one; fails if the server holds more than its databases do.
    fn create_database(&self) -> Result<(), EngineError> {
        let lost = |error: &dyn Display| explain::lost(&self.target, "create the database of an isolation test", error);
        let admin = Connection::open(&limited(&self.login("postgres"), ADMIN_LIMIT));
        let mut admin = admin.map_err(|error| lost(&error))?;
        let drop = format!("DROP DATABASE IF EXISTS {DATABASE}");
        let create = format!("CREATE DATABASE {DATABASE} TEMPLATE template0");
        for sql in [LEFTOVERS, &drop, &create] {
            let outcome = admin.execute(sql, |_| String::new()).map_err(|error| lost(&error))?;
            if let Some(error) = outcome.error {
                return Err(lost(&error));
            }
            if outcome.rows().is_some_and(|result| !result.rows.is_empty()) {
                return Err(lost(&"an earlier test left something behind"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
