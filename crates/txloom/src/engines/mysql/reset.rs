//! From one case to the next: everything that the last one did is undone, and the setup of the next one executed.

use std::time::{Duration, Instant};

use txloom_core::engine::EngineError;
use txloom_core::outcome::{Outcome, StatementResult};

use super::connection::{Connection, text};
use super::layout::{self, Layout};
use super::reach::Reach;
use super::{CONTROL_LIMIT, Home, MySqlEngine, UNLOGGED, explain, innodb, limited, quoted};

/// How long the server may take to roll back what a session left open, before the connection is killed.
const ENDING_LIMIT: Duration = Duration::from_secs(2);

/// How long purge may take to become idle. It is a matter of milliseconds; a server that somebody else uses never is.
const PURGE_LIMIT: Duration = Duration::from_secs(1);

/// How long a statement of the engine's own waits for a lock that a connection of a case has not given back.
const LOCK_LIMIT: Duration = Duration::from_secs(5);

/// After so many questions in a row, there is a pause before the next.
const EAGER_POLLS: u32 = 50;
const POLL_PAUSE: Duration = Duration::from_millis(1);

impl MySqlEngine {
    /// Undoes the last case and sets the next one up.
    pub(super) fn begin_case(&mut self, setup: &[String]) -> Result<Vec<Outcome>, EngineError> {
        self.sessions.clear();
        self.watch.forget();
        let must_renew = self.needs_renewal() || !self.endings_are_over()?;
        let outcomes = match self.set_up_again(setup, must_renew)? {
            Some(outcomes) => outcomes,
            None => self.set_up_anew(setup, must_renew)?,
        };
        self.shared.forget_reach();
        setup
            .iter()
            .filter(|message| Reach::of(message) == Reach::Server)
            .for_each(|message| self.shared.note(message));
        if layout::leaves_history(setup) {
            self.await_purge()?;
        }
        self.hold_purge()?;
        if let Home::Private(server) = &mut self.home {
            // A log that cannot be cut is no reason to stop.
            let _ = server.trim_log();
        }
        Ok(outcomes)
    }

    /// Whether our own server is dead, or has been changed in ways that only a new one undoes.
    fn needs_renewal(&mut self) -> bool {
        let (reach, is_silent) = (self.shared.reach(), self.shared.monitor.is_silent());
        match &mut self.home {
            Home::Private(server) => server.died().is_some() || is_silent || reach == Reach::Server,
            Home::Borrowed => false,
        }
    }

    /// The cheap way: the tables are there, they are emptied and filled. `None` if that is not possible.
    fn set_up_again(&mut self, setup: &[String], must_renew: bool) -> Result<Option<Vec<Outcome>>, EngineError> {
        let untouched = !must_renew && self.shared.reach() == Reach::Rows;
        let Some((layout, rest)) = self.layout.as_ref().filter(|_| untouched).and_then(|l| Some((l, l.rest(setup)?)))
        else {
            return Ok(None);
        };
        let mut outcomes = layout.outcomes.clone();
        let database = quoted(&self.database);
        let truncate = |table: &String| format!("TRUNCATE TABLE {database}.{}", quoted(table));
        let message = layout.tables.iter().map(truncate).collect::<Vec<_>>().join("; ");
        // Whatever stands against it (a lock that is not given back, a table that cannot be truncated) ends with
        // everything being created again.
        if !message.is_empty() && self.command(&message, "empty the tables").is_err() {
            return Ok(None);
        }
        outcomes.extend(self.execute_setup(rest)?);
        Ok(Some(outcomes))
    }

    /// The thorough way: everything is created again.
    fn set_up_anew(&mut self, setup: &[String], must_renew: bool) -> Result<Vec<Outcome>, EngineError> {
        self.layout = None;
        if must_renew {
            self.renew()?;
        } else if let Err(error) = self.drop_databases() {
            if !self.is_private() {
                return Err(error);
            }
            self.renew()?;
        }
        self.create_database()?;
        let outcomes = self.execute_setup(setup)?;
        if Layout::of(setup, &outcomes, Vec::new()).is_some() {
            let database = self.database.clone();
            let tables = self.tables_of(&database)?;
            self.layout = Layout::of(setup, &outcomes, tables);
        }
        Ok(outcomes)
    }

    /// A new server with pristine data.
    fn renew(&mut self) -> Result<(), EngineError> {
        self.disconnect();
        match &mut self.home {
            Home::Private(server) => server.renew().map_err(|error| error.for_target(&self.info.target)),
            Home::Borrowed => Err(explain::lost(&self.info.target, "go on", "a session does not end")),
        }
    }

    /// Forgets all connections of our own: their server is gone.
    pub(super) fn disconnect(&mut self) {
        (self.control, self.keeper) = (None, None);
        self.shared.monitor.disconnect();
        self.shared.take_endings();
    }

    fn drop_databases(&mut self) -> Result<(), EngineError> {
        for database in self.databases()? {
            let sql = format!("DROP DATABASE IF EXISTS {}", quoted(&database));
            self.command(&sql, "drop what the last case left")?;
        }
        Ok(())
    }

    /// Creates the database of the cases, where it is missing.
    pub(super) fn create_database(&mut self) -> Result<(), EngineError> {
        let sql = format!("CREATE DATABASE IF NOT EXISTS {0}; USE {0}", quoted(&self.database));
        match self.execute_own(&sql)?.error {
            None => Ok(()),
            Some(error) => Err(explain::cannot_create_database(&self.info.target, &self.login, &self.database, &error)),
        }
    }

    /// Drops the database of the cases.
    pub(super) fn drop_own_database(&mut self) -> Result<Vec<StatementResult>, EngineError> {
        let sql = format!("DROP DATABASE IF EXISTS {}", quoted(&self.database));
        self.command(&sql, "drop the database of the cases")
    }

    /// Executes messages of a setup, up to the first error, as a connection with no history.
    ///
    /// The keeper's read view ends here and not before: as long as it is there, purge leaves the old tables alone. It would
    /// be in the way of their end (the server then pauses for 20 ms), and all its work would be for nothing.
    fn execute_setup(&mut self, messages: &[String]) -> Result<Vec<Outcome>, EngineError> {
        self.clean_keeper();
        if let Home::Private(server) = &mut self.home {
            server.alarms().forget();
        }
        let (target, database) = (self.info.target.clone(), quoted(&self.database));
        let is_member = self.is_member;
        let keeper = self.keeper()?;
        let mut exchange =
            |sql: &str| keeper.execute(sql).map_err(|error| explain::not_understood(&target, sql, &error));
        if is_member {
            exchange(UNLOGGED)?;
        }
        exchange(&format!("USE {database}"))?;
        let mut outcomes = Vec::new();
        for message in messages {
            let outcome = exchange(message)?;
            let failed = outcome.error.is_some();
            outcomes.push(outcome);
            if failed {
                break;
            }
        }
        Ok(outcomes)
    }

    /// Waits until the server has forgotten the sessions of the last case, and with them all their locks. One that
    /// does not end is killed; false if even that does not help.
    fn endings_are_over(&mut self) -> Result<bool, EngineError> {
        let mut ids = self.shared.take_endings();
        let start = Instant::now();
        let mut killed = false;
        let mut polls = Polls::default();
        while !ids.is_empty() {
            let processes = match self.monitor_rows("SHOW PROCESSLIST", "list the connections") {
                Err(_) if self.is_private() => return Ok(false),
                listed => listed?,
            };
            ids.retain(|id| processes.iter().any(|row| text(row, 0) == id.to_string()));
            if start.elapsed() > ENDING_LIMIT && !killed {
                // Only what is surely ours: a restarted server gives numbers a second time.
                let is_ours = |id: &&u32| {
                    processes.iter().any(|row| text(row, 0) == id.to_string() && text(row, 3) == self.database)
                };
                for id in ids.iter().filter(is_ours) {
                    // It may have ended meanwhile.
                    let _ = self.shared.monitor.ask(&format!("KILL CONNECTION {id}"));
                }
                killed = true;
            }
            if start.elapsed() > 2 * ENDING_LIMIT {
                return Ok(ids.is_empty());
            }
            polls.pause();
        }
        Ok(true)
    }

    fn monitor_rows(&self, sql: &str, attempt: &str) -> Result<Vec<txloom_core::outcome::Row>, EngineError> {
        let results = self.shared.monitor.ask(sql);
        let results = results.map_err(|error| explain::unanswered(&self.info.target, attempt, &error))?;
        Ok(results.into_iter().next_back().map(|result| result.rows).unwrap_or_default())
    }

    /// Waits until purge has removed what can be removed. On a server that somebody else uses that may never be.
    fn await_purge(&self) -> Result<(), EngineError> {
        let start = Instant::now();
        let mut polls = Polls::default();
        while start.elapsed() < PURGE_LIMIT {
            let Ok(rows) = self.monitor_rows("SHOW ENGINE INNODB STATUS", "ask for the history") else { return Ok(()) };
            match rows.first().and_then(|row| innodb::history_length(text(row, 2))) {
                None | Some(0) => return Ok(()),
                Some(_) => polls.pause(),
            }
        }
        Ok(())
    }

    /// From now on, purge removes nothing that is deleted.
    pub(super) fn hold_purge(&mut self) -> Result<(), EngineError> {
        const VIEW: &str =
            "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION WITH CONSISTENT SNAPSHOT";
        let target = self.info.target.clone();
        self.clean_keeper();
        let outcome = self.keeper()?.execute(VIEW).map_err(|error| explain::not_understood(&target, VIEW, &error))?;
        match outcome.error {
            // Others who speak the protocol may have neither purge nor such a view.
            Some(_) if !self.is_private() => Ok(()),
            None => Ok(()),
            Some(error) => Err(explain::lost(&target, "open a read view that keeps purge away", error)),
        }
    }

    /// Takes everything from the keeper: transaction, locks, variables, temporary tables.
    fn clean_keeper(&mut self) {
        if self.keeper.as_mut().is_some_and(|keeper| !keeper.reset()) {
            let lost = self.keeper.take();
            // Its end is awaited like that of a session.
            self.shared.await_ending(lost);
        }
    }

    fn keeper(&mut self) -> Result<&mut Connection, EngineError> {
        if self.keeper.as_ref().is_none_or(Connection::is_lost) {
            self.keeper = Some(self.open_own()?);
        }
        Ok(self.keeper.as_mut().expect("it was opened above"))
    }

    /// Executes a statement of the engine's own on the control connection. If a case has thrown that one out, another one
    /// is opened: all statements of the engine's own may be repeated.
    pub(super) fn execute_own(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        let target = self.info.target.clone();
        let mut once = || {
            let control = self.control()?;
            let outcome = control.execute(sql).map_err(|error| explain::not_understood(&target, sql, &error))?;
            Ok((outcome, control.is_lost() && !control.is_silent()))
        };
        match once()? {
            (_, true) => Ok(once()?.0),
            (outcome, false) => Ok(outcome),
        }
    }

    /// The control connection; a new one, if the old one was found to be gone.
    fn control(&mut self) -> Result<&mut Connection, EngineError> {
        if self.control.as_ref().is_none_or(Connection::is_lost) {
            let seconds = LOCK_LIMIT.as_secs();
            let settings = format!(
                "SET SESSION foreign_key_checks = 0, lock_wait_timeout = {seconds}, innodb_lock_wait_timeout = {seconds}; \
                 SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"
            );
            let mut control = self.open_own()?;
            let exchange = |control: &mut Connection, sql: &str| {
                control.execute(sql).map_err(|error| explain::not_understood(&self.info.target, sql, &error))
            };
            if let Some(error) = exchange(&mut control, &settings)?.error {
                return Err(explain::lost(&self.info.target, "prepare a connection of our own", error));
            }
            // The database may not be there yet.
            let _ = exchange(&mut control, &format!("USE {}", quoted(&self.database)))?;
            self.control = Some(control);
        }
        Ok(self.control.as_mut().expect("it was opened above"))
    }

    fn open_own(&self) -> Result<Connection, EngineError> {
        let login = limited(&self.login, CONTROL_LIMIT);
        let connection = Connection::open(&login);
        let mut connection = connection.map_err(|error| explain::unreachable(&self.info.target, &login, &error))?;
        if self.is_member {
            let told = connection.execute(UNLOGGED);
            told.map_err(|error| explain::not_understood(&self.info.target, UNLOGGED, &error))?;
        }
        Ok(connection)
    }
}

/// Paces questions: eagerly at first, since most answers come at once.
#[derive(Default)]
struct Polls(u32);

impl Polls {
    fn pause(&mut self) {
        self.0 += 1;
        if self.0 > EAGER_POLLS {
            std::thread::sleep(POLL_PAUSE);
        }
    }
}
