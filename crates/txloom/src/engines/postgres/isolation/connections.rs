//! The connections of one isolation test.

use std::io;
use std::time::{Duration, Instant};

use txloom_core::engine::{EngineError, EngineErrorKind};
use txloom_core::formats::spec::Spec;
use txloom_core::formats::spec::tester::{Awaited, Connections, Message, Who};

use super::super::connection::{CancelKey, Connection, Login};
use super::super::explain;
use super::SETTINGS;
use super::messages::Decoder;
use super::watch::{self, Blocked};
use crate::interrupt;

/// After this long without a word, whoever is blocked is believed to be; PostgreSQL's runner does the same.
const SILENCE: Duration = Duration::from_millis(10);

/// How long we wait for an answer before we ask for the first time who waits. Most statements are faster.
const PAUSE_FIRST: Duration = Duration::from_micros(500);

/// How long the server may take to end the connections of a test.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

/// One connection of a test.
struct SpecConnection {
    name: String,
    connection: Connection,
    key: CancelKey,
    decoder: Decoder,
    /// Whether it was sent something that it has not answered to the end.
    busy: bool,
    /// Whether it was blocked when it was last looked at: then that is asked first.
    was_blocked: bool,
    lost: bool,
}

/// The connections of a test.
pub(super) struct SpecConnections {
    target: String,
    /// The control connection, then the sessions.
    all: Vec<SpecConnection>,
    /// The processes of the sessions.
    pids: Vec<i32>,
    watch: Connection,
    start: Instant,
}

impl SpecConnections {
    /// Opens them all.
    pub(super) fn open(target: &str, login: &Login, test: &str, spec: &Spec) -> Result<SpecConnections, EngineError> {
        let open = |login: &Login| {
            Connection::open(login).map_err(|error| explain::lost(target, "connect to the server", error))
        };
        let names = ["control connection"].into_iter().chain(spec.sessions.iter().map(|session| session.name.as_str()));
        let mut all = Vec::new();
        for name in names {
            let mut login = login.clone().with("application_name", format!("isolation/{test}/{name}"));
            for (setting, value) in SETTINGS {
                login = login.with(setting, value);
            }
            all.push(SpecConnection::new(name, open(&login)?));
        }
        let elsewhere = Login { database: "postgres".to_string(), ..login.clone() };
        let pids = all[1..].iter().map(|session| session.connection.pid()).collect();
        let watch = open(&elsewhere.with("application_name", "txloom"))?;
        let mut connections = SpecConnections { target: target.to_string(), all, pids, watch, start: Instant::now() };
        connections.ask(watch::PREPARE)?;
        Ok(connections)
    }

    /// Says goodbye, and waits until the server has seen to it: a database with connections cannot be dropped.
    pub(super) fn close(self) {
        let streams: Vec<_> = self.all.into_iter().map(|connection| connection.connection.end()).collect();
        let deadline = Instant::now() + CLOSE_LIMIT;
        for mut stream in streams {
            stream.closes_within(deadline.saturating_duration_since(Instant::now()));
        }
    }

    fn at(&mut self, who: Who) -> &mut SpecConnection {
        match who {
            Who::Control => &mut self.all[0],
            Who::Session(session) => &mut self.all[session + 1],
        }
    }

    /// The next message of a connection, if one arrives in time.
    fn next_message(&mut self, who: Who, limit: Duration) -> Result<Option<Message>, EngineError> {
        let deadline = Instant::now() + limit;
        let senders: Vec<(i32, String)> = match who {
            // Few sessions listen; but the names are at hand.
            Who::Session(_) => self.pids.iter().copied().zip(self.all[1..].iter().map(|s| s.name.clone())).collect(),
            Who::Control => Vec::new(),
        };
        let sender = |pid: i32| {
            let found = senders.iter().find(|(sender, _)| *sender == pid);
            found.map_or_else(|| format!("PID {pid}"), |(_, name)| name.clone())
        };
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.at(who).read(left, &sender) {
                Ok(Read::Message(message)) => return Ok(Some(message)),
                Ok(Read::Part) => {}
                Ok(Read::Nothing) => return Ok(None),
                Err(error) => {
                    let why = format!("cannot read from the server: {error}");
                    return Err(EngineError::new(&self.target, EngineErrorKind::Protocol(why)));
                }
            }
        }
    }

    /// Who waits for whom among the sessions that are busy.
    fn who_waits(&mut self) -> Result<Blocked, EngineError> {
        let sessions = self.all[1..].iter().zip(&self.pids);
        let busy: Vec<i32> = sessions.filter(|(session, _)| session.busy).map(|(_, pid)| *pid).collect();
        self.ask(&watch::question(&busy, &self.pids)).map(|rows| Blocked::read(&rows))
    }

    fn ask(&mut self, sql: &str) -> Result<Vec<txloom_core::outcome::Row>, EngineError> {
        let attempt = "ask who waits for whom";
        let outcome = self.watch.execute(sql, |_| String::new());
        let outcome = outcome.map_err(|error| explain::lost(&self.target, attempt, error))?;
        match outcome.error {
            Some(error) => Err(explain::lost(&self.target, attempt, error)),
            None => Ok(outcome.results.into_iter().next_back().map(|result| result.rows).unwrap_or_default()),
        }
    }

    fn check_interrupt(&self) -> Result<(), EngineError> {
        match interrupt::requested() {
            true => Err(EngineError::new(&self.target, EngineErrorKind::Interrupted)),
            false => Ok(()),
        }
    }
}

impl Connections for SpecConnections {
    type Error = EngineError;

    fn send(&mut self, who: Who, sql: &str) -> Result<bool, EngineError> {
        let connection = self.at(who);
        if connection.lost {
            return Ok(false);
        }
        // If the server has hung up, its last words are still there to be read.
        let _ = connection.connection.send(sql);
        (connection.busy, connection.was_blocked) = (true, false);
        Ok(true)
    }

    fn wait(&mut self, who: Who, may_be_blocked: bool) -> Result<Awaited, EngineError> {
        self.check_interrupt()?;
        let (Who::Session(session), true) = (who, may_be_blocked) else {
            return Ok(self.next_message(who, SILENCE)?.map_or(Awaited::Nothing, Awaited::Message));
        };
        let start = Instant::now();
        let mut pause = if self.at(who).was_blocked { Duration::ZERO } else { PAUSE_FIRST };
        loop {
            if let Some(message) = self.next_message(who, pause)? {
                self.at(who).was_blocked = false;
                return Ok(Awaited::Message(message));
            }
            let silence = start.elapsed();
            let blocked = self.who_waits()?;
            let pid = self.pids[session];
            if blocked.is_certain(pid, &self.pids) || (silence >= SILENCE && blocked.is_blocked(pid)) {
                // It may have said something before it began to wait.
                let said = self.next_message(who, Duration::ZERO)?;
                self.at(who).was_blocked = said.is_none();
                return Ok(said.map_or(Awaited::Blocked, Awaited::Message));
            }
            if silence >= SILENCE {
                return Ok(Awaited::Nothing);
            }
            pause = (pause * 2).clamp(PAUSE_FIRST, SILENCE.saturating_sub(silence).max(PAUSE_FIRST));
        }
    }

    fn cancel(&mut self, session: usize) -> Result<(), EngineError> {
        let cancelled = self.all[session + 1].key.cancel();
        cancelled.map_err(|error| explain::lost(&self.target, "cancel a step", error))
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

/// What came of reading.
enum Read {
    Message(Message),
    /// Something that is only part of a message to us.
    Part,
    Nothing,
}

impl SpecConnection {
    fn new(name: &str, connection: Connection) -> SpecConnection {
        SpecConnection {
            name: name.to_string(),
            key: connection.cancel_key(),
            connection,
            decoder: Decoder::default(),
            busy: false,
            was_blocked: false,
            lost: false,
        }
    }

    fn read(&mut self, limit: Duration, sender: &impl Fn(i32) -> String) -> io::Result<Read> {
        if self.lost {
            return Ok(Read::Message(Message::Lost));
        }
        let wire = match self.connection.poll(limit) {
            Ok(Some(wire)) => wire,
            Ok(None) => return Ok(Read::Nothing),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Err(error),
            Err(_) => {
                (self.lost, self.busy) = (true, false);
                return Ok(Read::Message(Message::Lost));
            }
        };
        let Some(message) = self.decoder.take(wire, sender)? else { return Ok(Read::Part) };
        match message {
            Message::Ready => self.busy = false,
            // A refused copy is answered with an error.
            Message::Copy("PGRES_COPY_IN") => self.connection.refuse_copy()?,
            _ => {}
        }
        Ok(Read::Message(message))
    }
}
