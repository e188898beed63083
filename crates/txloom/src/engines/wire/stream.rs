//! A blocking byte stream to a server, over a Unix or a TCP socket.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::set_tcp_quickack;

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engines) enum Address {
    /// A socket in the file system.
    Unix(PathBuf),
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
            Address::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Tcp { host, port } => write!(f, "{host}:{port}"),
        }
    }
}

/// A connected socket.
#[derive(Debug)]
pub(in crate::engines) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    /// Connects, within the time limit.
    pub(in crate::engines) fn connect(address: &Address, limit: Duration) -> io::Result<Stream> {
        match address {
            Address::Unix(path) => UnixStream::connect(path).map(Stream::Unix),
            Address::Tcp { host, port } => {
                let deadline = Instant::now() + limit;
                let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
                for candidate in (host.as_str(), *port).to_socket_addrs()? {
                    let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
                    match TcpStream::connect_timeout(&candidate, left) {
                        // Small messages go out at once: every step is a round trip.
                        Ok(stream) => return stream.set_nodelay(true).map(|()| Stream::Tcp(stream)),
                        Err(error) => last = error,
                    }
                }
                Err(last)
            }
        }
    }

    /// How long one read or write may take; for ever without a limit.
    pub(in crate::engines) fn set_limit(&self, limit: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Unix(stream) => stream.set_read_timeout(limit).and_then(|()| stream.set_write_timeout(limit)),
            Stream::Tcp(stream) => stream.set_read_timeout(limit).and_then(|()| stream.set_write_timeout(limit)),
        }
    }

    /// Whether nothing has arrived: neither bytes nor the end.
    pub(in crate::engines) fn is_silent(&self) -> bool {
        let read = || -> io::Result<usize> {
            self.set_nonblocking(true)?;
            let read = match self {
                Stream::Unix(stream) => Read::read(&mut &*stream, &mut [0]),
                Stream::Tcp(stream) => Read::read(&mut &*stream, &mut [0]),
            };
            self.set_nonblocking(false)?;
            read
        };
        read().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Whether something arrives within the limit: bytes, or the end.
    pub(in crate::engines) fn is_readable_within(&self, limit: Duration) -> io::Result<bool> {
        let fd = match self {
            Stream::Unix(stream) => stream.as_fd(),
            Stream::Tcp(stream) => stream.as_fd(),
        };
        // Finer than a read limit, which the kernel rounds up to its clock ticks.
        let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
        match poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], Some(&limit)) {
            Ok(count) => Ok(count > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        match self {
            Stream::Unix(stream) => stream.set_nonblocking(nonblocking),
            Stream::Tcp(stream) => stream.set_nonblocking(nonblocking),
        }
    }

    /// Reads until the other side has closed; false if that took longer than the limit.
    pub(in crate::engines) fn closes_within(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        let mut rest = [0; 1024];
        loop {
            let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            match self.set_limit(Some(left)).and_then(|()| self.read(&mut rest)) {
                Ok(0) => return true,
                Ok(_) if Instant::now() < deadline => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(_) => return false,
                Err(error) => return !is_timeout(&error),
            }
        }
    }

    /// A second handle to the same socket, with which another thread can [end](Stream::end) it.
    pub(in crate::engines) fn second_handle(&self) -> io::Result<Stream> {
        match self {
            Stream::Unix(stream) => stream.try_clone().map(Stream::Unix),
            Stream::Tcp(stream) => stream.try_clone().map(Stream::Tcp),
        }
    }

    /// Ends the connection at once: whoever is reading from it reads its end.
    pub(in crate::engines) fn end(&self) {
        // A connection that is gone already needs no end.
        let _ = match self {
            Stream::Unix(stream) => stream.shutdown(Shutdown::Both),
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Both),
        };
    }

    /// Whether what is sent can be read by nobody but the server: a socket of this machine.
    pub(in crate::engines) fn is_local(&self) -> bool {
        matches!(self, Stream::Unix(_))
    }

    /// Says that nothing more will be sent.
    pub(in crate::engines) fn finish(&self) {
        // A connection that is gone already needs no goodbye.
        let _ = match self {
            Stream::Unix(stream) => stream.shutdown(Shutdown::Write),
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Write),
        };
    }
}

/// Whether a read ended because of its time limit: the system calls that by two names.
pub(in crate::engines) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.read(buffer),
            Stream::Tcp(stream) => {
                // What arrives is acknowledged at once, and not after 40 ms: there are servers (H2) that send an answer in
                // small pieces, each after the last one was acknowledged. The kernel forgets this from time to time.
                let _ = set_tcp_quickack(&*stream, true);
                stream.read(buffer)
            }
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.write(buffer),
            Stream::Tcp(stream) => stream.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
