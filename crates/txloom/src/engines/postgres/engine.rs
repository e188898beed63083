//! The engine's side of the contract: what the executor asks for, in terms of the parts.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use txloom_core::bulk::Bulk;
use txloom_core::case::Event;
use txloom_core::engine::{
    Death, Engine, EngineError, EngineErrorKind, EngineInfo, Fault, Holder, KnownWaits, Session, SessionId,
    SessionSpec, State, Waits,
};
use txloom_core::outcome::{Outcome, TxStatus};

use super::super::wire::limits;
use super::connection::Connection;
use super::monitor::{AskError, text};
use super::reset::{Leftovers, changes_logins};
use super::session::{PostgresSession, not_understood};
use super::snapshot::Tables;
use super::waits::{self, Wait};
use super::{Home, Opened, PostgresEngine, explain};
use crate::servers::process;

/// How long the server may take to roll back what a session left open.
const ENDING_LIMIT: Duration = Duration::from_secs(2);

/// How long the process of a lost connection may take to end.
const DYING_LIMIT: Duration = Duration::from_secs(2);

/// After so many cases, the catalogs are rid of the remains of dropped tables: without autovacuum they would only grow.
const CASES_PER_VACUUM: u32 = 500;

/// The number of cases that one control connection sets up. A backend caches every table that it has ever created: after
/// 5,000 cases each costs it twice the time of the first ones.
const CASES_PER_LOGIN: u32 = 100;

impl Engine for PostgresEngine {
    fn info(&self) -> &EngineInfo {
        &self.info
    }

    fn reset(&mut self, setup: &[String]) -> Result<Vec<Outcome>, EngineError> {
        setup.iter().try_for_each(|message| self.guard.check(&self.info.target, message))?;
        let died = self.private_death().is_some();
        self.sessions.clear();
        self.settling.forget();
        self.types.forget();
        if died {
            self.replace_everything()?;
        } else {
            self.await_endings();
            self.forget_case()?;
        }
        self.keep_tidy()?;
        if let Home::Private(server) = &mut self.home {
            server.alarms().forget();
        }
        let outcomes = self.set_up(setup)?;
        let tainted = setup.iter().any(|message| changes_logins(message));
        if tainted || self.idle_tainted {
            self.idle.discard(tainted);
            self.idle_tainted = tainted;
        }
        Ok(outcomes)
    }

    fn load(&mut self, bulk: &dyn Bulk, threads: usize) -> Result<u64, EngineError> {
        self.load_rows(bulk, threads)
    }

    fn open(&mut self, spec: &SessionSpec) -> Result<Box<dyn Session>, EngineError> {
        if spec.node.is_some() {
            return Err(self.unsupported("several nodes"));
        }
        if let Some(level) = &spec.level {
            self.info.require_level(level)?;
        }
        limits::check_sessions(&self.info.target, self.sessions.len(), self.sessions_max)?;
        let used = self.idle.take(spec.level.as_ref());
        let used = used.map_err(|error| explain::lost(&self.info.target, "open a session", error))?;
        let opened = Opened { pid: used.connection.pid(), lost: Arc::default() };
        let (types, ends) = (Arc::clone(&self.types), (Arc::clone(&self.idle), Arc::clone(&self.endings)));
        let session = PostgresSession::new(&self.info.target, used, types, ends, Arc::clone(&opened.lost));
        let session = session.guarded(Arc::clone(&self.guard));
        self.sessions.insert(spec.id, opened);
        Ok(Box::new(session))
    }

    fn waits(&mut self, in_flight: &[SessionId]) -> Result<Waits, EngineError> {
        let pids: Vec<i32> = in_flight.iter().filter_map(|id| Some(self.sessions.get(id)?.pid)).collect();
        if pids.is_empty() {
            return Ok(Waits::none(waits::SOURCE));
        }
        let monitor = Arc::clone(&self.monitor);
        let ask = || Ok::<_, AskError>(monitor.waits(&pids)?.iter().filter_map(Wait::read).collect());
        match self.settling.settled(ask) {
            Ok((waits, source)) => {
                let edges = waits.into_iter().filter_map(|wait| self.edge(&wait)).collect();
                Ok(Waits { known: KnownWaits::Edges(edges), source })
            }
            // A dead server keeps nobody waiting: the sessions will tell.
            Err(_) if self.private_death().is_some() => Ok(Waits::none(waits::SOURCE)),
            Err(error) => Err(explain::lost(&self.info.target, "ask who waits for whom", error)),
        }
    }

    fn snapshot(&mut self) -> Result<State, EngineError> {
        let attempt = "take a snapshot of all tables";
        let rows = self.monitor.tables().map_err(|error| explain::lost(&self.info.target, attempt, error))?;
        let tables = Tables::read(&rows);
        let answer = self.execute_whole(&tables.question())?;
        match &answer.error {
            None => Ok(tables.state(answer)),
            Some(error) => Err(explain::lost(&self.info.target, attempt, error)),
        }
    }

    fn probe(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        self.guard.check(&self.info.target, sql)?;
        self.execute_whole(sql)
    }

    fn death(&mut self) -> Option<Death> {
        self.private_death()
    }

    fn alarms(&mut self) -> Vec<String> {
        match &mut self.home {
            Home::Private(server) => server.alarms().read(),
            Home::Borrowed(_) => Vec::new(),
        }
    }

    fn event(&mut self, event: &Event) -> Result<(), EngineError> {
        match (event, &self.home) {
            (Event::Kill, Home::Private(_)) => self.fault(Fault::Kill),
            _ => Err(self.unsupported(&format!("the event `@{event}`"))),
        }
    }

    fn fault(&mut self, fault: Fault) -> Result<(), EngineError> {
        let Home::Private(server) = &mut self.home else {
            return Err(self.unsupported(&format!("the fault `{fault}`")));
        };
        let mended = server.fault(fault).map_err(|error| error.for_target(&self.info.target));
        if !matches!(mended, Ok(false)) {
            self.disconnect();
        }
        if fault == Fault::FillDisk {
            // The present piece of the log of changes has room for a while; a new one has not.
            let _ = self.probe("SELECT pg_switch_wal()");
        }
        mended.map(drop)
    }
}

impl PostgresEngine {
    fn unsupported(&self, what: &str) -> EngineError {
        EngineError::new(&self.info.target, EngineErrorKind::Unsupported(what.to_string()))
    }

    /// The control connection; a new one, if the server or a case has thrown the old one out.
    fn control(&mut self) -> Result<&mut Connection, EngineError> {
        if !self.control.as_mut().is_some_and(Connection::is_silent) {
            let opened = Connection::open(&self.control_login);
            let opened = opened.map_err(|error| explain::lost(&self.info.target, "connect to the server", error))?;
            self.control = Some(opened);
        }
        Ok(self.control.as_mut().expect("it has just been opened"))
    }

    /// Executes a message on the control connection.
    fn execute(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        let types = Arc::clone(&self.types);
        let executed = self.control()?.execute(sql, |oid| types.name(oid));
        executed.map_err(|error| not_understood(&self.info.target, sql, &error))
    }

    /// Executes a message on the control connection, and leaves no transaction open.
    fn execute_whole(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        let mut outcome = self.execute(sql)?;
        if matches!(outcome.status, TxStatus::Open | TxStatus::Failed) {
            outcome.status = self.execute("ROLLBACK")?.status;
        }
        Ok(outcome)
    }

    /// Executes the setup message by message, up to the first error. What it did to the connection itself (settings,
    /// temporary tables, advisory locks, a transaction without an end) goes with it.
    fn set_up(&mut self, setup: &[String]) -> Result<Vec<Outcome>, EngineError> {
        let (target, types) = (self.info.target.clone(), Arc::clone(&self.types));
        // One connection for all of it, so that one message can build on what another one set.
        let connection = self.control()?;
        let mut outcomes: Vec<Outcome> = Vec::new();
        for message in setup {
            let executed = connection.execute(message, |oid| types.name(oid));
            outcomes.push(executed.map_err(|error| not_understood(&target, message, &error))?);
            if outcomes.last().is_some_and(|outcome| outcome.error.is_some()) {
                break;
            }
        }
        match outcomes.last().map(|outcome| outcome.status) {
            None | Some(TxStatus::Lost) => return Ok(outcomes),
            Some(TxStatus::Idle) => {}
            Some(TxStatus::Open | TxStatus::Failed) => drop(self.execute("ROLLBACK")?),
        }
        self.execute("DISCARD ALL")?;
        Ok(outcomes)
    }

    /// Waits until the server has rolled back what the old sessions left open; who takes too long is thrown out.
    fn await_endings(&mut self) {
        let stuck = self.endings.wait(ENDING_LIMIT);
        for pid in &stuck {
            // If it cannot be thrown out, dropping its tables will fail, and then everything is replaced.
            let _ = self.monitor.ask(&format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = {pid} AND datname = current_database()"));
        }
        if !stuck.is_empty() {
            self.endings.wait(ENDING_LIMIT);
            self.endings.forget();
        }
    }

    /// Removes what the last case left: the little that is usual, or else everything.
    fn forget_case(&mut self) -> Result<(), EngineError> {
        let asked = self.monitor.leftovers();
        let rows = asked.map_err(|error| explain::lost(&self.info.target, "ask what the last case left", error))?;
        let leftovers = Leftovers::read(&rows);
        let reconfigured = matches!(&self.home, Home::Private(server) if server.is_reconfigured());
        if leftovers.needs_replacement || reconfigured || !self.drop_leftovers(&leftovers)? {
            self.replace_everything()?;
        }
        Ok(())
    }

    /// Drops what is usual; says whether that succeeded.
    fn drop_leftovers(&mut self, leftovers: &Leftovers) -> Result<bool, EngineError> {
        for message in leftovers.drop_all(self.major) {
            if self.execute_whole(&message)?.error.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A pristine server, or a new database.
    fn replace_everything(&mut self) -> Result<(), EngineError> {
        self.disconnect();
        match &mut self.home {
            Home::Private(server) => server.renew().map_err(|error| error.for_target(&self.info.target)),
            Home::Borrowed(database) => database.recreate(),
        }
    }

    /// Gives up all connections: the server that they lead to is not the one that we shall work with.
    fn disconnect(&mut self) {
        self.idle.discard(false);
        self.idle_tainted = false;
        self.endings.forget();
        self.monitor.disconnect();
        self.control = None;
    }

    /// Renews the connections that live long, and keeps our own server from filling the disk in a long hunt.
    fn keep_tidy(&mut self) -> Result<(), EngineError> {
        self.cases_since_login += 1;
        if self.cases_since_login >= CASES_PER_LOGIN {
            self.cases_since_login = 0;
            self.control = None;
            self.monitor.disconnect();
        }
        self.cases_since_vacuum += 1;
        let Home::Private(server) = &mut self.home else { return Ok(()) };
        if self.cases_since_vacuum < CASES_PER_VACUUM {
            return Ok(());
        }
        self.cases_since_vacuum = 0;
        // A log that cannot be emptied is no reason to stop.
        let _ = server.trim_log();
        self.execute("VACUUM").map(drop)
    }

    /// Who waits for whom, in the executor's terms; nobody, if the waiter is none of the sessions.
    fn edge(&self, wait: &Wait) -> Option<(SessionId, Vec<Holder>)> {
        let session_of = |pid: i32| self.sessions.iter().find(|(_, opened)| opened.pid == pid).map(|(id, _)| *id);
        let holder = |pid: &i32| match session_of(*pid) {
            Some(id) => Holder::Session(id),
            None => Holder::Outside(self.outsider(*pid)),
        };
        let mut holders: Vec<Holder> = wait.holders.iter().map(holder).collect();
        holders.sort();
        Some((session_of(wait.pid)?, holders))
    }

    /// Who holds what a session waits for, in words that are the same in every run: no process numbers.
    fn outsider(&self, pid: i32) -> String {
        if pid == 0 {
            return "a prepared transaction".to_string();
        }
        let question = format!("SELECT backend_type, application_name FROM pg_stat_activity WHERE pid = {pid}");
        let rows = self.monitor.ask(&question).unwrap_or_default();
        let words = rows.first().map(|row| format!("{} {}", text(row, 0), text(row, 1)).trim().to_string());
        words.filter(|words| !words.is_empty()).unwrap_or_else(|| "another process".to_string())
    }

    /// How our own server died, if it did.
    ///
    /// A connection is lost a moment before the server's main process learns that the backend has crashed. So wait for
    /// the ends of those processes; then connect once, whatever comes of it: the main process sees to its dead before
    /// it answers. Then the log says what happened, and everybody else has been thrown out.
    fn private_death(&mut self) -> Option<Death> {
        let Home::Private(server) = &mut self.home else { return None };
        let is_lost = |opened: &&Opened| opened.lost.load(Ordering::SeqCst);
        let lost: Vec<i32> = self.sessions.values().filter(is_lost).map(|opened| opened.pid).collect();
        if lost.is_empty() && server.died().is_none() {
            return None;
        }
        let _ = lost.iter().all(|pid| process::is_gone_within(*pid, DYING_LIMIT));
        if Connection::open(&self.session_login).is_err() && server.died().is_none() {
            // The main process may be ending: its children notice before it is quite gone.
            server.ends_within(DYING_LIMIT);
        }
        server.died()
    }
}
