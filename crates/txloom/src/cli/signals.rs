//! Ctrl-C: the first asks everything to stop at the next safe point, the second ends the process at once.
//!
//! A signal handler may do next to nothing, so it only writes a byte into a socket; a thread reads it and acts.

use std::io::{IsTerminal, Read, Write};
use std::os::unix::net::UnixStream;

use signal_hook::consts::{SIGINT, SIGTERM};

use crate::exit::Exit;
use crate::interrupt;

/// Listens for Ctrl-C and for requests to terminate. If that cannot be set up, signals keep their default effect.
pub fn install() {
    let Ok((reader, writer)) = UnixStream::pair() else { return };
    for signal in [SIGINT, SIGTERM] {
        let Ok(writer) = writer.try_clone() else { return };
        if signal_hook::low_level::pipe::register(signal, writer).is_err() {
            return;
        }
    }
    // Without the thread a signal would be swallowed; it is started first thing, when threads are still to be had.
    let listener = std::thread::Builder::new().name("signals".to_string());
    listener.spawn(move || listen(reader)).expect("the first thread of a process can be started");
}

fn listen(mut reader: UnixStream) {
    let mut byte = [0];
    if reader.read_exact(&mut byte).is_err() {
        return;
    }
    interrupt::request();
    // On a terminal, a line of progress may stand where this is to be said. The terminal may be gone already.
    let clear = if std::io::stderr().is_terminal() { "\r\x1b[2K" } else { "" };
    let _ = writeln!(std::io::stderr(), "{clear}txloom: stopping; press Ctrl-C again to stop at once");
    if reader.read_exact(&mut byte).is_ok() {
        std::process::exit(i32::from(Exit::Interrupted.code()));
    }
}
