//! The engine's side of the contract: what the executor asks for, in terms of the parts.

use std::sync::Arc;
use std::time::Duration;

use txloom_core::bulk::Bulk;
use txloom_core::case::Event;
use txloom_core::engine::{
    Death, Engine, EngineError, EngineErrorKind, EngineInfo, Fault, Holder, KnownWaits, Session, SessionId,
    SessionSpec, State, Waits,
};
use txloom_core::outcome::Outcome;

use super::super::wire::limits;
use super::connection::{Connection, text};
use super::session::MySqlSession;
use super::waits::InFlight;
use super::{Home, MySqlEngine, Opened, explain};

/// How long a server that has lost its connections may take to be gone.
const DYING_LIMIT: Duration = Duration::from_secs(5);

/// What sessions need on servers that are not ours, where only they may be told: the executor ends waits, no clock does.
const PATIENT: &str = "SET SESSION lock_wait_timeout = 31536000, innodb_lock_wait_timeout = 100000000";

impl Engine for MySqlEngine {
    fn info(&self) -> &EngineInfo {
        &self.info
    }

    fn reset(&mut self, setup: &[String]) -> Result<Vec<Outcome>, EngineError> {
        self.look_around()?;
        setup.iter().try_for_each(|message| self.guard.check(&self.info.target, message))?;
        self.begin_case(setup)
    }

    fn load(&mut self, bulk: &dyn Bulk, threads: usize) -> Result<u64, EngineError> {
        self.load_rows(bulk, threads)
    }

    fn open(&mut self, spec: &SessionSpec) -> Result<Box<dyn Session>, EngineError> {
        if spec.node.is_some() {
            return Err(self.unsupported("several nodes"));
        }
        let level = spec.level.as_ref().unwrap_or(&self.info.default_level);
        self.info.require_level(level)?;
        let target = &self.info.target;
        limits::check_sessions(target, self.sessions.len(), self.sessions_max)?;
        let mut connection =
            Connection::open(&self.login).map_err(|error| explain::unreachable(target, &self.login, &error))?;
        let mut exchange =
            |sql: &str| connection.execute(sql).map_err(|error| explain::not_understood(target, sql, &error));
        if !self.is_private() {
            // Others who speak the protocol may not have these variables.
            let _ = exchange(PATIENT)?;
        }
        let set_level = format!("SET SESSION TRANSACTION ISOLATION LEVEL {}", level.as_str().to_uppercase());
        if let Some(error) = exchange(&set_level)?.error {
            return Err(explain::lost(target, &format!("open a session at {level}"), error));
        }
        let opened = Opened { connection: connection.id(), progress: Arc::default() };
        let session = MySqlSession::new(connection, Arc::clone(&self.shared), Arc::clone(&opened.progress));
        let session = session.guarded(Arc::clone(&self.guard));
        self.sessions.insert(spec.id, opened);
        Ok(Box::new(session))
    }

    fn waits(&mut self, in_flight: &[SessionId]) -> Result<Waits, EngineError> {
        let executing: Vec<InFlight> = in_flight
            .iter()
            .filter_map(|id| self.sessions.get(id))
            .filter(|session| !session.progress.is_ending())
            .map(|session| InFlight { thread: session.connection, statement: session.progress.begun() })
            .collect();
        let shared = Arc::clone(&self.shared);
        match self.watch.ask(&shared.monitor, &executing) {
            Ok((edges, source)) => {
                let edge = |(waiter, holders): (u32, Vec<Option<u32>>)| {
                    let mut holders: Vec<Holder> = holders.into_iter().map(|holder| self.holder(holder)).collect();
                    holders.sort();
                    Some((self.session_of(waiter)?, holders))
                };
                Ok(Waits { known: KnownWaits::Edges(edges.into_iter().filter_map(edge).collect()), source })
            }
            // A dead server keeps nobody waiting: the sessions will tell.
            Err(_) if self.death().is_some() => Ok(Waits::none("")),
            Err(error) => Err(explain::unanswered(&self.info.target, "ask who waits for whom", &error)),
        }
    }

    fn snapshot(&mut self) -> Result<State, EngineError> {
        self.read_tables()
    }

    fn probe(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        self.guard.check(&self.info.target, sql)?;
        self.execute_own(sql)
    }

    fn death(&mut self) -> Option<Death> {
        let Home::Private(server) = &mut self.home else { return None };
        if let Some(death) = server.died() {
            return Some(death);
        }
        // A connection may be lost because a case killed it, or because the server is about to be gone.
        if self.shared.monitor.is_silent() || self.shared.monitor.ask("DO 0").is_ok() {
            return None;
        }
        server.ends_within(DYING_LIMIT);
        server.died()
    }

    fn alarms(&mut self) -> Vec<String> {
        match &mut self.home {
            Home::Private(server) => server.alarms().read(),
            Home::Borrowed => Vec::new(),
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
        if matches!(mended, Ok(false)) {
            return Ok(());
        }
        self.disconnect();
        mended?;
        self.hold_purge()
    }
}

impl MySqlEngine {
    /// Tells the guard which databases there are now: others may have made new ones.
    fn look_around(&mut self) -> Result<(), EngineError> {
        if self.guard.is_open() {
            return Ok(());
        }
        let outcome = self.execute_own("SELECT schema_name FROM information_schema.schemata")?;
        let rows = outcome.rows().map_or(&[][..], |result| &result.rows);
        self.guard.set_databases(rows.iter().map(|row| text(row, 0).to_string()));
        Ok(())
    }

    fn unsupported(&self, what: &str) -> EngineError {
        EngineError::new(&self.info.target, EngineErrorKind::Unsupported(what.to_string()))
    }

    fn session_of(&self, connection: u32) -> Option<SessionId> {
        self.sessions.iter().find(|(_, opened)| opened.connection == connection).map(|(id, _)| *id)
    }

    fn holder(&self, connection: Option<u32>) -> Holder {
        match connection {
            None => Holder::Outside("a transaction without a connection".to_string()),
            Some(connection) => self
                .session_of(connection)
                .map_or_else(|| Holder::Outside(format!("connection {connection}")), Holder::Session),
        }
    }
}
