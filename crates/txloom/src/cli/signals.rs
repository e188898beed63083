//! Signals: the first asks everything to stop at the next safe point, the second ends the process at once.
//!
//! SIGINT (Ctrl-C), SIGTERM and SIGHUP (a closed terminal) are handled alike. Not all work polls often enough to stop in
//! time: a program that initialises a server, a file of a gigabyte, a check. So a command that has not stopped a while
//! after the first signal is ended, with its servers and their directories.
//!
//! A signal handler may do next to nothing, so it only writes a byte into a socket; a thread reads it and acts.

use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::Exit;
use crate::{interrupt, servers};

/// How long a command may take to stop of its own accord.
const ORDERLY_LIMIT: Duration = Duration::from_millis(1_500);

/// How long ending servers and removing their directories may take then. The next start does what is left.
const REMOVAL_LIMIT: Duration = Duration::from_millis(400);

/// Set when the process is being ended from here.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Listens for Ctrl-C and for requests to terminate. If that cannot be set up, signals keep their default effect.
pub fn install() {
    let Ok((reader, writer)) = UnixStream::pair() else { return };
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let Ok(writer) = writer.try_clone() else { return };
        if signal_hook::low_level::pipe::register(signal, writer).is_err() {
            return;
        }
    }
    // Without the thread a signal would be swallowed; it is started first thing, when threads are still to be had.
    let listener = std::thread::Builder::new().name("signals".to_string());
    listener.spawn(move || listen(reader)).expect("the first thread of a process can be started");
}

/// Removes what a command that was asked to stop has left for later, after its report.
pub fn finish() {
    servers::abandon();
}

/// Does not return if the process is being ended: what its servers' end looks like from here is no error to report.
pub(super) fn wait_if_ending() {
    while ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

fn listen(mut reader: UnixStream) {
    let mut byte = [0];
    if reader.read_exact(&mut byte).is_err() {
        return;
    }
    interrupt::request();
    tell("stopping; press Ctrl-C again to stop at once");
    let limited = reader.set_read_timeout(Some(ORDERLY_LIMIT));
    match limited.and_then(|()| reader.read_exact(&mut byte)) {
        Ok(()) => {}
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
            tell("what is under way does not stop, and is ended");
        }
        Err(_) => return,
    }
    end();
}

/// Ends the process at once, without any server left.
fn end() -> ! {
    ENDING.store(true, Ordering::SeqCst);
    let (done, ended) = channel();
    let abandoning = std::thread::Builder::new().spawn(move || {
        servers::abandon();
        // Whoever waited may have stopped waiting.
        let _ = done.send(());
    });
    if abandoning.is_ok() {
        let _ = ended.recv_timeout(REMOVAL_LIMIT);
    }
    std::process::exit(i32::from(Exit::Interrupted.code()))
}

/// On a terminal, a line of progress may stand where this is to be said. The terminal may be gone already.
fn tell(what: &str) {
    let clear = if io::stderr().is_terminal() { "\r\x1b[2K" } else { "" };
    let _ = writeln!(io::stderr(), "{clear}txloom: {what}");
}
