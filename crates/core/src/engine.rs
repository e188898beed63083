//! What txloom asks of a database system: the traits that every engine implements.
//!
//! An engine is *driven*, never asked to decide: the executor alone chooses what runs next. It opens sessions, resets
//! the database to a setup, tells who waits for whom, and takes snapshots. Everything that the DBMS says is data (an
//! [`Outcome`]); an [`EngineError`] means that *we* failed to observe, and ends the run.
//!
//! ```text
//!   executor thread                 session thread a          session thread b
//!   reset(setup)
//!   open(a), open(b)
//!   submit ───────────────────────→ execute("UPDATE …")
//!     ←──────────────────────────── Outcome
//!   submit ──────────────────────────────────────────────────→ execute("UPDATE …")   blocks in the server
//!   waits([b]) = b waits for a      (idle, in a transaction)
//!   submit ───────────────────────→ execute("COMMIT")
//!     ←──────────────────────────── Outcome
//!     ←─────────────────────────────────────────────────────── Outcome
//!   snapshot()
//! ```
//!
//! A database that is developed in Rust becomes a target by implementing [`Engine`], [`Session`] and [`Cancel`] in one
//! file. The contract suite of the `txloom` crate says whether the implementation keeps the promises written here.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::bulk::{self, Bulk};
use crate::case::{Event, SessionName};
use crate::dialect::Dialect;
use crate::level::LevelName;
use crate::outcome::{Outcome, StatementResult};

/// The position of a session among the sessions of a run: the executor's handle for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub usize);

/// How a session is to be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSpec {
    /// The executor's handle; [`Waits`] speak of sessions by it.
    pub id: SessionId,
    /// The name in the case.
    pub name: SessionName,
    /// The node to connect to, on engines with several.
    pub node: Option<u32>,
    /// The isolation level of the session's transactions; `None` is the engine's default.
    pub level: Option<LevelName>,
}

/// A database system under test.
pub trait Engine: Send {
    /// What this engine is. Does not change during its life.
    fn info(&self) -> &EngineInfo;

    /// Removes everything that an earlier case left, then executes the setup, one message each, on a connection of the
    /// engine's own. Returns one outcome per message; an error in one of them is data, and the rest is not executed.
    ///
    /// All sessions of the earlier case have been dropped when this is called. A server that died is restarted here.
    fn reset(&mut self, setup: &[String]) -> Result<Vec<Outcome>, EngineError>;

    /// Loads rows into a table that the setup made, by the fastest way that the database has, on at most so many
    /// connections and threads at once. Returns how many rows there were; they are committed then. After an error some of
    /// them may be there.
    ///
    /// Called between a reset and the first session. What is not overridden goes through one session, by INSERT.
    fn load(&mut self, bulk: &dyn Bulk, _threads: usize) -> Result<u64, EngineError> {
        let (target, dialect) = (self.info().target.clone(), self.info().dialect);
        let name = SessionName::new("load").expect("it is a name");
        let mut session = self.open(&SessionSpec { id: SessionId(0), name, node: None, level: None })?;
        bulk::insert(&target, dialect, bulk, 0..bulk.positions(), &mut |sql| session.execute(sql))
    }

    /// Opens a session: exactly one connection, which lives until the session is dropped. Dropping it rolls back what
    /// is open.
    fn open(&mut self, spec: &SessionSpec) -> Result<Box<dyn Session>, EngineError>;

    /// Who waits for whom *now*, among the sessions with a statement in flight.
    ///
    /// A session that is listed waits until one of its holders does something: engines that check for deadlocks after
    /// a while list a waiter only once that check has passed. A session that is not listed is running.
    fn waits(&mut self, in_flight: &[SessionId]) -> Result<Waits, EngineError>;

    /// The committed contents of all user tables.
    fn snapshot(&mut self) -> Result<State, EngineError>;

    /// Executes a query outside all sessions, on committed data: assertions ask their questions here.
    fn probe(&mut self, sql: &str) -> Result<Outcome, EngineError>;

    /// Whether the server died since the last reset, and how. Asked when a session reports a lost connection.
    fn death(&mut self) -> Option<Death> {
        None
    }

    /// What the server complained of in its log since the last reset's setup began: failed assertions, reports of
    /// sanitizers; one text of a few lines for each. Asked at the end of a run, and cheap when there is nothing.
    fn alarms(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Carries out a positioned event of a case: partition, heal, deliver, kill.
    fn event(&mut self, event: &Event) -> Result<(), EngineError> {
        Err(EngineError::new(&self.info().target, EngineErrorKind::Unsupported(format!("the event `@{event}`"))))
    }

    /// Breaks the server while sessions are at work, and mends it again. Engines can do this only to servers of their own
    /// (see [`Capabilities::kill`]). `Err` if the server could not be mended: it does not start again, for example.
    ///
    /// Sessions whose connection does not survive notice that by themselves; new ones can be opened afterwards.
    fn fault(&mut self, fault: Fault) -> Result<(), EngineError> {
        Err(EngineError::new(&self.info().target, EngineErrorKind::Unsupported(format!("the fault `{fault}`"))))
    }
}

/// Something that befalls a server of our own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// All of its processes are killed with SIGKILL at once; then it is started, and recovers.
    Kill,
    /// It is stopped as its manual says, and started.
    Restart,
    /// Its processes stand still for so long (SIGSTOP), and go on. No connection is lost.
    Pause(Duration),
    /// There is no room left on its disk. It may refuse to write, or die of it.
    FillDisk,
    /// There is room again. If it died, it is started, and recovers.
    FreeDisk,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::Kill => "kill",
            Fault::Restart => "restart",
            Fault::Pause(_) => "pause",
            Fault::FillDisk => "fill the disk",
            Fault::FreeDisk => "free the disk",
        })
    }
}

/// One connection. Lives on a thread of its own, since [`Session::execute`] blocks as long as the server does.
pub trait Session: Send {
    /// Sends one message and waits for its whole answer, however long the server takes.
    fn execute(&mut self, sql: &str) -> Result<Outcome, EngineError>;

    /// Begins a transaction and executes its first statement: what became of the statement, or of `begin` if that
    /// failed. One round trip where an engine lets several statements share a message.
    fn begin_with(&mut self, begin: &str, sql: &str) -> Result<Outcome, EngineError> {
        let outcome = self.execute(begin)?;
        if outcome.error.is_some() { Ok(outcome) } else { self.execute(sql) }
    }

    /// A handle with which another thread ends the statement that is being executed.
    fn canceller(&self) -> Box<dyn Cancel>;
}

/// Ends the statement in flight of one session; the session's `execute` then returns an outcome with an error of class
/// *cancelled* (or its normal outcome, if it completed first).
pub trait Cancel: Send {
    /// Asks for the cancellation. Harmless when nothing is in flight.
    fn cancel(&self) -> Result<(), EngineError>;
}

/// An engine's answer to "who waits for whom?".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waits {
    /// What is known.
    pub known: KnownWaits,
    /// Where this is known from, e.g. `pg_blocking_pids`: the evidence for "blocked".
    pub source: &'static str,
}

impl Waits {
    /// Nobody waits.
    pub fn none(source: &'static str) -> Waits {
        Waits { known: KnownWaits::Edges(BTreeMap::new()), source }
    }
}

/// How much an engine can tell of its waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnownWaits {
    /// Every waiter with those it waits for. A holder that is no session of the run is [`Holder::Outside`].
    Edges(BTreeMap<SessionId, Vec<Holder>>),
    /// Only how many of the sessions wait.
    Count(usize),
}

/// Whom a session waits for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    /// Another session of the run.
    Session(SessionId),
    /// Somebody else, described in the engine's words.
    Outside(String),
}

/// What an engine is.
#[derive(Debug, Clone)]
pub struct EngineInfo {
    /// The target as the user wrote it: `postgres:15`, `model+lost-update`.
    pub target: String,
    /// The engine's family, as guards name it: `postgres`, `sqlite`, `model`, `mariadb`.
    pub family: &'static str,
    /// The version, as the server tells it.
    pub version: Version,
    /// Settings that decide what its levels are worth, as `name=value`: those that the table of
    /// [guarantees](crate::level::guarantees) asks for.
    pub settings: Vec<String>,
    /// The language that its statements are written in.
    pub dialect: &'static dyn Dialect,
    /// The isolation levels that sessions may ask for, weakest first, by the engine's own names.
    pub levels: Vec<LevelName>,
    /// The level of a session that asks for none.
    pub default_level: LevelName,
    /// What else it can do.
    pub capabilities: Capabilities,
    /// How a person looks inside a private server: a command line.
    pub client: Option<String>,
}

impl EngineInfo {
    /// Finds the engine's level of that name, or says which names it has.
    pub fn require_level(&self, wanted: &LevelName) -> Result<(), EngineError> {
        if self.levels.contains(wanted) {
            return Ok(());
        }
        let have = self.levels.iter().map(LevelName::as_str).collect::<Vec<_>>().join(", ");
        let what = format!("the isolation level `{wanted}` (it has: {have})");
        Err(EngineError::new(&self.target, EngineErrorKind::Unsupported(what)))
    }
}

/// What an engine can do beyond running transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// How many nodes there are, of which sessions can be told one to use; partitions, healing and delivery can be
    /// scripted. 0 where there is no choice.
    pub nodes: u32,
    /// Deliveries between nodes go along a ring, whole transactions in order, and sessions stay where they are. Otherwise
    /// single writes can be delivered, and sessions go to another node between two statements.
    pub is_ring: bool,
    /// The server is ours: it can be killed, paused and restarted.
    pub kill: bool,
    /// It has a small disk of its own, which can be filled.
    pub small_disk: bool,
    /// Sessions that wait for one row may overtake one another: who came first is not sure to go on first.
    pub overtaking: bool,
    /// Nobody ever waits: writes that meet are settled in another way.
    pub lock_free: bool,
    /// Foreign keys are checked against what others did when a transaction commits, not when a statement ends.
    pub late_references: bool,
}

/// A version as numbers that compare and the text that the server sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// `[15, 18]` of `15.18 (Debian 15.18-0+deb12u1)`.
    pub numbers: Vec<u32>,
    /// What the server says.
    pub text: String,
}

impl Version {
    /// Takes the leading dotted numbers of a server's version text.
    pub fn parse(text: &str) -> Version {
        let start = text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len());
        let numbers = text[start..]
            .split(|c: char| !c.is_ascii_digit() && c != '.')
            .next()
            .unwrap_or("")
            .split('.')
            .map_while(|part| part.parse().ok())
            .collect();
        Version { numbers, text: text.to_string() }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.numbers.iter().map(u32::to_string).collect();
        f.write_str(&numbers.join("."))
    }
}

/// The committed contents of a database, by table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct State {
    /// Tables by name (qualified with their schema where it is not the default one). Row order means nothing.
    pub tables: BTreeMap<String, StatementResult>,
}

/// How a server died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Death {
    /// `signal 11`, `exit code 1`.
    pub how: String,
    /// The last lines of the server's log.
    pub log: Vec<String>,
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server died ({})", self.how)?;
        self.log.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

/// We failed to observe: which target, what was attempted, and why it failed.
#[derive(Debug, thiserror::Error)]
#[error("{target}: {kind}")]
pub struct EngineError {
    /// The target, as the user wrote it.
    pub target: String,
    /// What went wrong.
    pub kind: EngineErrorKind,
}

impl EngineError {
    /// An error about `target`.
    pub fn new(target: &str, kind: EngineErrorKind) -> EngineError {
        EngineError { target: target.to_string(), kind }
    }
}

/// Why an engine could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum EngineErrorKind {
    /// The server cannot be reached, started or logged in to: the user must act.
    #[error("{0}")]
    Unreachable(String),
    /// The engine lacks what the case or the command asks for: the user must ask for something else.
    #[error("this target does not have {0}")]
    Unsupported(String),
    /// A statement reaches beyond what is ours on the server, and was not sent: the user must leave it out or allow it.
    #[error("{0}")]
    Refused(String),
    /// The server died, or a connection of our own was lost: the next reset starts anew.
    #[error("{0}")]
    Lost(String),
    /// The server sent something that we do not understand, or the operating system refused: a defect to be reported.
    #[error("{0}")]
    Protocol(String),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl EngineErrorKind {
    /// Returns true if the case or the command asks for something that cannot be: trying again changes nothing.
    pub fn is_users(&self) -> bool {
        matches!(self, EngineErrorKind::Unsupported(_) | EngineErrorKind::Refused(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_servers_say() {
        assert_eq!(Version::parse("15.18 (Debian 15.18-0+deb12u1)").numbers, [15, 18]);
        assert_eq!(Version::parse("10.11.14-MariaDB-0+deb12u2").numbers, [10, 11, 14]);
        assert_eq!(Version::parse("PostgreSQL 17beta1").numbers, [17]);
        assert!(Version::parse("unknown").numbers.is_empty());
    }
}
