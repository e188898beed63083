//! Private servers: database servers that txloom starts for itself and throws away.
//!
//! **Problem.** Isolation bugs depend on timing, settings and leftovers. A server that somebody else uses, with
//! settings that somebody else chose, cannot be made repeatable; and a test must never be able to hurt real data. So a
//! run gets a server of its own, from the programs that are installed on this machine, in a directory of its own,
//! reachable only through a socket in that directory. (H2 and servers that replicate listen on the loopback device, and
//! ask for a password that nobody else knows.)
//!
//! **Idea.** Everything that belongs to a server lies under one [`ScratchDir`], and the server's processes have a user of
//! their own, or else their working directory there. Both can be read by any process at any time, so nothing has to be
//! remembered: a lock file tells whether the owner is alive, `/proc` tells which processes belong to a directory.
//!
//! ```text
//!   txloom 1                         guard                        txloom 2
//!   ScratchDir::for_server, lock ──── reads from a pipe
//!   initdb, start                     …
//!   …runs cases…                      …
//!   killed with -9, lock is free ──── the pipe has ended:
//!                                     kills the processes
//!                                                                 sweep: lock taken, so the owner is dead
//!                                                                   end the processes, if any are left
//!                                                                   remove the directory
//! ```
//!
//! **A case is a program.** A statement of a superuser can start programs with the rights of the server, and write
//! whatever the server may write. So nothing is done with our own rights in a directory that the server owns, no file of
//! the server is trusted, and a socket counts only if the server itself listens on it (`socket`).
//!
//! Files, in reading order: [`scratch`] (the directory, its lock, the sweep; `roots`: where such directories may be),
//! [`user`] (the server's user), `files` (work on files as that user), [`confinement`] (namespaces, privileges),
//! [`process`] (start, notice the end, stop), `guard` (ends servers when txloom is killed), `shared_memory` (frees what
//! killed servers left), [`log`] (what the server wrote), `socket` (who listens), [`alarms`] (complaints in the log),
//! `disk` and `fault` (how servers are broken), [`postgres`], `pristine` (data directories that are made once and copied),
//! [`mysql`], [`h2`].
//!
//! **Limits.** Linux only: `/proc` and process descriptors are what makes "only ever signal our own" certain.

pub mod scratch;
mod roots;
pub mod user;
mod files;
pub mod confinement;
pub mod process;
mod guard;
mod shared_memory;
pub mod log;
mod socket;
pub mod alarms;
pub(crate) mod disk;
pub(crate) mod fault;
pub mod postgres;
mod pristine;
pub mod mysql;
pub mod h2;
#[cfg(test)]
pub(crate) mod testing;

pub use h2::PrivateH2;
pub use mysql::PrivateMySql;
pub use postgres::PrivatePostgres;
pub(crate) use scratch::abandon;
pub use scratch::{ScratchDir, sweep};
pub(crate) use socket::ServerSocket;
pub use user::ServerUser;

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use txloom_core::engine::{EngineError, EngineErrorKind};

use self::confinement::Network;

/// From which programs a private server is started.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Programs {
    /// The newest that are installed.
    #[default]
    Newest,
    /// Those whose version begins with these numbers: `[15]`, `[10, 11]`.
    Version(Vec<u32>),
    /// Those in this directory, or in its `bin`.
    Dir(PathBuf),
}

/// What a private server can be told beyond txloom's own settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerOptions {
    /// Settings of the server, name and value; they come after ours, so they win.
    pub extra: Vec<(String, String)>,
    /// Statements that it executes at every start, before it lets anybody in, each on one line. MariaDB and MySQL only.
    pub first: Vec<String>,
    /// Whether the server is left running for the user to look inside.
    pub keep: bool,
    /// Whether it synchronises with the disk and protects its pages, as it would by default. Servers that only run cases
    /// need not; those that are to be killed must.
    pub durable: bool,
    /// Whether it has a small disk of its own, which can be filled.
    pub small_disk: bool,
    /// The user that it runs as if root starts it, for whom files may have been prepared; no two servers may share one.
    /// Without it, the server is given one of its own.
    pub user: Option<ServerUser>,
    /// How many sessions it must have room for at least.
    pub sessions: usize,
    /// How long it may take to accept connections, recovery after a kill included.
    pub start_limit: StartLimit,
}

/// The number of connections that every private server has room for.
const CONNECTIONS: usize = 100;

/// Connections beside those of sessions: for setting up, watching, cancelling, and those that are still being closed.
const CONNECTIONS_BESIDE: usize = 20;

/// The settings by which servers are told to listen on a port.
const LISTENING: &[&str] = &["listen_addresses", "skip-networking", "skip_networking"];

impl ServerOptions {
    /// The network that the server needs: that of the machine, if it is to listen on a port.
    fn network(&self) -> Network {
        match self.extra.iter().any(|(name, _)| LISTENING.contains(&name.as_str())) {
            true => Network::Machine,
            false => Network::None,
        }
    }

    /// The number of connections that the server is to have room for.
    fn connections(&self) -> usize {
        CONNECTIONS.max(self.sessions + CONNECTIONS_BESIDE)
    }
}

/// How long a server may take to accept connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartLimit(pub Duration);

impl Default for StartLimit {
    fn default() -> StartLimit {
        StartLimit(Duration::from_secs(60))
    }
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The programs are not on this machine: the user must install them, or say where they are.
    #[error("{0}")]
    Missing(String),
    /// The programs are there, but did not do what they should.
    #[error("{0}")]
    Failed(String),
    /// The user asked to stop while the server was starting.
    #[error("interrupted")]
    Interrupted,
}

impl ServerError {
    /// The same as an engine's error: whatever keeps a server from starting makes its target unreachable.
    pub fn for_target(self, target: &str) -> EngineError {
        let kind = match self {
            ServerError::Interrupted => EngineErrorKind::Interrupted,
            ServerError::Missing(why) | ServerError::Failed(why) => EngineErrorKind::Unreachable(why),
        };
        EngineError::new(target, kind)
    }
}

/// A password that nobody else knows.
pub(crate) fn new_password() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// `map_err` helper: what was attempted, and what the operating system said.
fn failed(attempt: impl std::fmt::Display) -> impl FnOnce(std::io::Error) -> ServerError {
    move |error| ServerError::Failed(format!("cannot {attempt}: {error}"))
}
