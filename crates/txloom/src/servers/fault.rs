//! Faults of a private server, whatever kind of server it is: killed, stopped and started, paused, its disk filled.
//!
//! ```text
//!   Kill       all processes at once, SIGKILL  → start → ready?
//!   Restart    the signal of its manual, ended → start → ready?
//!   Pause      SIGSTOP to all processes, a while, SIGCONT
//!   FillDisk   its disk is full: it refuses to write, or dies
//!   FreeDisk   there is room again; if it died → start → ready?
//! ```
//!
//! A server that is to be broken is *durable* ([`ServerOptions::durable`](super::ServerOptions)): it synchronises with the
//! disk and protects its pages as it would by default. A kill leaves the kernel and its cache alone, so this is no test of
//! a loss of power; but a write can be cut off between two pages, and then what protects pages is needed.

use std::time::{Duration, Instant};

use txloom_core::engine::{Death, Fault};

use super::ServerError;
use super::disk::SmallDisk;
use super::process::ServerProcesses;
use crate::interrupt;

/// How often somebody who waits looks whether the user wants to stop.
const NAP: Duration = Duration::from_millis(20);

/// A private server that can be broken.
pub(crate) trait Breakable {
    /// All of its processes.
    fn processes(&self) -> ServerProcesses<'_>;

    /// Whether it died, and how.
    fn died(&mut self) -> Option<Death>;

    /// Kills all of its processes with SIGKILL.
    fn kill(&mut self);

    /// Asks it to stop in good order; says whether it did.
    fn stop_in_order(&mut self) -> bool;

    /// Starts it on the data that it has, and waits until it is ready.
    fn start_again(&mut self) -> Result<(), ServerError>;

    /// Its small disk, if it has one.
    fn disk(&mut self) -> Option<&mut SmallDisk>;
}

/// Breaks a server and mends it. Says whether it was started anew, upon which all connections lead nowhere.
pub(crate) fn befall(server: &mut dyn Breakable, fault: Fault) -> Result<bool, ServerError> {
    match fault {
        Fault::Kill => server.kill(),
        Fault::Restart if server.stop_in_order() => {}
        Fault::Restart => return Err(not_stopped(server)),
        Fault::Pause(time) => {
            server.processes().pause(|| sleep(time));
            return Ok(false);
        }
        Fault::FillDisk => return disk(server)?.fill().map(|()| false),
        Fault::FreeDisk => {
            disk(server)?.free()?;
            if server.died().is_none() {
                return Ok(false);
            }
        }
    }
    server.start_again().map(|()| true)
}

fn disk(server: &mut dyn Breakable) -> Result<&mut SmallDisk, ServerError> {
    server.disk().ok_or_else(|| ServerError::Failed("the server has no small disk that could be filled".to_string()))
}

fn not_stopped(server: &mut dyn Breakable) -> ServerError {
    let why = "the server was asked to stop, and did not end in time";
    server.kill();
    if interrupt::requested() { ServerError::Interrupted } else { ServerError::Failed(why.to_string()) }
}

/// Sleeps, unless the user wants to stop.
pub(super) fn sleep(time: Duration) {
    let deadline = Instant::now() + time;
    while !interrupt::requested() && Instant::now() < deadline {
        std::thread::sleep(NAP.min(deadline.saturating_duration_since(Instant::now())));
    }
}
