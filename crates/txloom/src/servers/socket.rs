//! The socket of a private server: it counts only if that server listens there.
//!
//! **Problem.** The socket lies in a directory that a case can write to, too. If the case replaced it by a link to the
//! socket of another server, txloom would run its cases there, and drop what they leave.
//!
//! **Idea.** The kernel tells which process listens on a socket (`SO_PEERCRED`). Before a byte is sent, its number is
//! compared with that of the server.

use std::fmt;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::net::sockopt::socket_peercred;

/// A socket in the file system and the process that must listen on it.
#[derive(Debug, Clone)]
pub(crate) struct ServerSocket {
    path: PathBuf,
    /// Changes when the server is started again.
    listener: Arc<AtomicU32>,
}

impl ServerSocket {
    /// The socket of a server that has not been started yet.
    pub(super) fn at(path: PathBuf) -> ServerSocket {
        ServerSocket { path, listener: Arc::default() }
    }

    /// From now on, that process must listen.
    pub(super) fn belongs_to(&self, process: u32) {
        self.listener.store(process, Ordering::SeqCst);
    }

    /// Connects, if the server listens.
    pub(crate) fn connect(&self) -> io::Result<UnixStream> {
        let stream = UnixStream::connect(&self.path)?;
        let listener = socket_peercred(&stream)?.pid.as_raw_nonzero().get();
        match u32::try_from(listener) == Ok(self.listener.load(Ordering::SeqCst)) {
            true => Ok(stream),
            false => {
                let what = "another process than the private server listens there";
                Err(io::Error::new(io::ErrorKind::ConnectionRefused, what))
            }
        }
    }
}

impl fmt::Display for ServerSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)
    }
}

impl PartialEq for ServerSocket {
    fn eq(&self, other: &ServerSocket) -> bool {
        self.path == other.path
    }
}

impl Eq for ServerSocket {}

#[cfg(test)]
mod tests {
    use super::super::ScratchDir;
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_link_to_the_socket_of_another_server_is_refused() {
        let scratch = ScratchDir::create().unwrap();
        let real = scratch.path().join("real");
        let _listener = UnixListener::bind(&real).unwrap();
        let socket = ServerSocket::at(real.clone());
        socket.belongs_to(std::process::id());
        assert!(socket.connect().is_ok());
        let planted = ServerSocket::at(scratch.path().join("planted"));
        symlink(&real, scratch.path().join("planted")).unwrap();
        planted.belongs_to(1);
        assert_eq!(planted.connect().unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    }
}
