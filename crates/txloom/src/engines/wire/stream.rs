//! A blocking byte stream to a server, over a Unix or a TCP socket, encrypted or not.
//!
//! A login has one deadline for all of its reads and writes ([`Stream::connect`]); after it, each read has a limit of
//! its own ([`Stream::end_login`]).

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::set_tcp_quickack;

use super::tls::{TlsError, TlsOptions, TlsSession};
use crate::servers::ServerSocket;

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engines) enum Address {
    /// A socket in the file system.
    Unix(PathBuf),
    /// The socket of a private server.
    Private(ServerSocket),
    /// A host and a port.
    Tcp {
        /// A name or an address.
        host: String,
        /// The port.
        port: u16,
    },
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => path.display().fmt(f),
            Address::Private(socket) => socket.fmt(f),
            Address::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Tcp { host, port } => write!(f, "{host}:{port}"),
        }
    }
}

/// A connected socket.
#[derive(Debug)]
pub(super) struct Socket {
    kind: SocketKind,
    /// The end of the login, while there is one.
    deadline: Option<Instant>,
}

#[derive(Debug)]
enum SocketKind {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    /// Limits one read or write; no limit with `None`.
    fn set_limit(&self, limit: Option<Duration>) -> io::Result<()> {
        match &self.kind {
            SocketKind::Unix(stream) => stream.set_read_timeout(limit).and_then(|()| stream.set_write_timeout(limit)),
            SocketKind::Tcp(stream) => stream.set_read_timeout(limit).and_then(|()| stream.set_write_timeout(limit)),
        }
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        match &self.kind {
            SocketKind::Unix(stream) => stream.set_nonblocking(nonblocking),
            SocketKind::Tcp(stream) => stream.set_nonblocking(nonblocking),
        }
    }

    fn shutdown(&self, how: Shutdown) {
        // A connection that is gone already needs no end.
        let _ = match &self.kind {
            SocketKind::Unix(stream) => stream.shutdown(how),
            SocketKind::Tcp(stream) => stream.shutdown(how),
        };
    }

    /// Returns true if something arrives within the limit: bytes, or the end.
    fn is_readable_within(&self, limit: Duration) -> io::Result<bool> {
        let fd = match &self.kind {
            SocketKind::Unix(stream) => stream.as_fd(),
            SocketKind::Tcp(stream) => stream.as_fd(),
        };
        // Finer than a read limit, which the kernel rounds up to its clock ticks.
        let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
        match poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], Some(&limit)) {
            Ok(count) => Ok(count > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives the next read or write what is left until the deadline.
    fn keep_deadline(&self) -> io::Result<()> {
        let Some(deadline) = self.deadline else { return Ok(()) };
        match deadline.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
            left => self.set_limit(Some(left)),
        }
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.keep_deadline()?;
        match &mut self.kind {
            SocketKind::Unix(stream) => stream.read(buffer),
            SocketKind::Tcp(stream) => {
                // What arrives is acknowledged at once, and not after 40 ms: there are servers (H2) that send an answer in
                // small pieces, each after the last one was acknowledged. The kernel forgets this from time to time.
                let _ = set_tcp_quickack(&*stream, true);
                stream.read(buffer)
            }
        }
    }
}

impl Write for Socket {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.keep_deadline()?;
        match &mut self.kind {
            SocketKind::Unix(stream) => stream.write(buffer),
            SocketKind::Tcp(stream) => stream.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A connection to a server.
#[derive(Debug)]
pub(in crate::engines) struct Stream {
    socket: Socket,
    tls: Option<Box<TlsSession>>,
}

impl Stream {
    /// Connects. Everything up to [`Stream::end_login`] must happen before the deadline.
    pub(in crate::engines) fn connect(address: &Address, deadline: Instant) -> io::Result<Stream> {
        match address {
            Address::Unix(path) => Ok(Stream::over(SocketKind::Unix(UnixStream::connect(path)?), Some(deadline))),
            Address::Private(socket) => Ok(Stream::over(SocketKind::Unix(socket.connect()?), Some(deadline))),
            Address::Tcp { host, port } => {
                let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
                for candidate in (host.as_str(), *port).to_socket_addrs()? {
                    let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
                    match TcpStream::connect_timeout(&candidate, left) {
                        Ok(stream) => {
                            // Small messages go out at once: every step is a round trip.
                            stream.set_nodelay(true)?;
                            return Ok(Stream::over(SocketKind::Tcp(stream), Some(deadline)));
                        }
                        Err(error) => last = error,
                    }
                }
                Err(last)
            }
        }
    }

    fn over(kind: SocketKind, deadline: Option<Instant>) -> Stream {
        Stream { socket: Socket { kind, deadline }, tls: None }
    }

    /// A stream over a socket of a test.
    #[cfg(test)]
    pub(in crate::engines) fn unix(socket: UnixStream) -> Stream {
        Stream::over(SocketKind::Unix(socket), None)
    }

    /// A stream over a socket of a test.
    #[cfg(test)]
    pub(in crate::engines) fn tcp(socket: TcpStream) -> Stream {
        Stream::over(SocketKind::Tcp(socket), None)
    }

    /// Encrypts everything from here on.
    pub(in crate::engines) fn encrypt(&mut self, options: &TlsOptions) -> Result<(), TlsError> {
        self.tls = Some(Box::new(TlsSession::begin(&mut self.socket, options)?));
        Ok(())
    }

    /// What the server's certificate binds a login to (`tls-server-end-point`), if the connection is encrypted.
    pub(in crate::engines) fn end_point(&self) -> Option<Vec<u8>> {
        self.tls.as_ref()?.end_point()
    }

    /// Returns true if everything is encrypted.
    pub(in crate::engines) fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// Ends the time of the login; from now on, one read or write may take this long, or for ever without a limit.
    pub(in crate::engines) fn end_login(&mut self, limit: Option<Duration>) -> io::Result<()> {
        self.socket.deadline = None;
        self.socket.set_limit(limit)
    }

    /// Returns true if nothing has arrived: neither bytes nor the end.
    pub(in crate::engines) fn is_silent(&mut self) -> bool {
        if self.socket.set_nonblocking(true).is_err() {
            return false;
        }
        let read = self.read(&mut [0]);
        let is_blocking = self.socket.set_nonblocking(false).is_ok();
        is_blocking && read.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Returns true if something arrives within the limit: bytes, or the end.
    pub(in crate::engines) fn is_readable_within(&mut self, limit: Duration) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else { return self.socket.is_readable_within(limit) };
        let deadline = Instant::now() + limit;
        loop {
            if tls.has_plaintext()? {
                return Ok(true);
            }
            if !self.socket.is_readable_within(deadline.saturating_duration_since(Instant::now()))? {
                return Ok(false);
            }
            // A record may carry nothing for us: tickets, for instance.
            if tls.take_in(&mut self.socket)? == 0 {
                return Ok(true);
            }
        }
    }

    /// Reads until the other side has closed; false if that took longer than the limit.
    pub(in crate::engines) fn closes_within(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        let mut rest = [0; 1024];
        loop {
            let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            match self.socket.set_limit(Some(left)).and_then(|()| self.socket.read(&mut rest)) {
                Ok(0) => return true,
                Ok(_) if Instant::now() < deadline => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(_) => return false,
                Err(error) => return !is_timeout(&error),
            }
        }
    }

    /// A second handle to the same socket, with which another thread can end the connection.
    pub(in crate::engines) fn second_handle(&self) -> io::Result<SocketHandle> {
        let kind = match &self.socket.kind {
            SocketKind::Unix(stream) => stream.try_clone().map(SocketKind::Unix)?,
            SocketKind::Tcp(stream) => stream.try_clone().map(SocketKind::Tcp)?,
        };
        Ok(SocketHandle(Socket { kind, deadline: None }))
    }

    /// Returns true if nobody but the server can read what is sent: encrypted, or over a socket of this machine.
    pub(in crate::engines) fn is_private(&self) -> bool {
        self.is_encrypted() || matches!(self.socket.kind, SocketKind::Unix(_))
    }

    /// Says that nothing more will be sent.
    pub(in crate::engines) fn finish(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.finish(&mut self.socket);
        }
        self.socket.shutdown(Shutdown::Write);
    }
}

/// A second handle to the socket of a [`Stream`].
#[derive(Debug)]
pub(in crate::engines) struct SocketHandle(Socket);

impl SocketHandle {
    /// Ends the connection at once: a thread that reads from it reads its end.
    pub(in crate::engines) fn end(&self) {
        self.0.shutdown(Shutdown::Both);
    }
}

/// Returns true if a read ended because of its time limit: the system calls that by two names.
pub(in crate::engines) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.socket.read(buffer),
            Some(tls) => tls.read(&mut self.socket, buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.socket.write(buffer),
            Some(tls) => tls.write(&mut self.socket, buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
