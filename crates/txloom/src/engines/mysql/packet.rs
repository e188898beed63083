//! Packets: what the MySQL protocol is made of.
//!
//! A packet is three bytes of length, a sequence number and the payload. A payload of 16 MB or more comes in several
//! packets, of which all but the last are full. The sequence starts at 0 with each command and counts both directions; a
//! packet out of sequence belongs to something else, or comes from somebody else.

use std::io::{self, Read, Write};

use super::super::wire::limits::Allowance;
use super::super::wire::stream::Stream;

/// The longest payload of one packet.
const PAYLOAD_MAX: usize = 0xff_ffff;

/// Sends and receives payloads.
#[derive(Debug)]
pub(super) struct Packets {
    stream: Stream,
    sequence: u8,
    incoming: Vec<u8>,
    /// Where the unread part of `incoming` begins.
    at: usize,
    allowance: Allowance,
}

impl Packets {
    /// Packets over a fresh connection.
    pub(super) fn new(stream: Stream) -> Packets {
        Packets { stream, sequence: 0, incoming: Vec::with_capacity(8192), at: 0, allowance: Allowance::login() }
    }

    /// The socket.
    pub(super) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The socket, to be changed: encrypted, or given other limits. Nothing unread may be left over, since it would not
    /// be what the server says from then on.
    pub(super) fn stream_mut(&mut self) -> io::Result<&mut Stream> {
        if self.at < self.incoming.len() {
            return Err(malformed("the server says more than it was asked for"));
        }
        Ok(&mut self.stream)
    }

    /// Counts the cells of a row.
    pub(super) fn take_cells(&mut self, count: usize) -> io::Result<()> {
        self.allowance.take_cells(count)
    }

    /// Sends the first payload of a command.
    pub(super) fn command(&mut self, code: u8, argument: &[u8]) -> io::Result<()> {
        self.sequence = 0;
        self.allowance = Allowance::answer();
        let mut payload = Vec::with_capacity(argument.len() + 1);
        payload.push(code);
        payload.extend_from_slice(argument);
        self.send(&payload)
    }

    /// Sends a payload that continues an exchange.
    pub(super) fn send(&mut self, payload: &[u8]) -> io::Result<()> {
        let mut message = Vec::with_capacity(payload.len() + 4);
        let mut rest = payload;
        loop {
            let (now, later) = rest.split_at(rest.len().min(PAYLOAD_MAX));
            message.extend_from_slice(&(now.len() as u32).to_le_bytes()[..3]);
            message.push(self.sequence);
            message.extend_from_slice(now);
            self.sequence = self.sequence.wrapping_add(1);
            if now.len() < PAYLOAD_MAX {
                return self.stream.write_all(&message);
            }
            rest = later;
        }
    }

    /// Receives a payload.
    pub(super) fn receive(&mut self) -> io::Result<Vec<u8>> {
        let mut payload = Vec::new();
        loop {
            self.fill(4)?;
            let header = &self.incoming[self.at..self.at + 4];
            let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
            let number = header[3];
            self.at += 4;
            self.allowance.announce(length)?;
            self.fill(length)?;
            self.allowance.take(length)?;
            // A server that throws us out numbers its last words as it likes.
            let is_error = self.incoming.get(self.at) == Some(&0xff) && length > 0;
            if number != self.sequence && !is_error {
                return Err(malformed("a packet is out of sequence"));
            }
            self.sequence = number.wrapping_add(1);
            payload.extend_from_slice(&self.incoming[self.at..self.at + length]);
            self.at += length;
            if length < PAYLOAD_MAX {
                return Ok(payload);
            }
        }
    }

    /// Receives the first payload of a command, as a server does.
    #[cfg(test)]
    pub(super) fn receive_command(&mut self) -> io::Result<Vec<u8>> {
        self.sequence = 0;
        self.receive()
    }

    /// Reads until so many unread bytes are there.
    fn fill(&mut self, wanted: usize) -> io::Result<()> {
        while self.incoming.len() - self.at < wanted {
            if self.at > 0 {
                self.incoming.drain(..self.at);
                self.at = 0;
            }
            let mut buffer = [0; 8192];
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.incoming.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Reads the parts of a payload.
#[derive(Debug, Clone)]
pub(super) struct Parts<'a>(&'a [u8]);

impl<'a> Parts<'a> {
    /// From the beginning of a payload.
    pub(super) fn of(payload: &'a [u8]) -> Parts<'a> {
        Parts(payload)
    }

    /// What has not been read.
    pub(super) fn rest(self) -> &'a [u8] {
        self.0
    }

    /// So many bytes.
    pub(super) fn bytes(&mut self, count: usize) -> io::Result<&'a [u8]> {
        let (now, later) = self.0.split_at_checked(count).ok_or_else(|| malformed("a packet ends too early"))?;
        self.0 = later;
        Ok(now)
    }

    /// A number of one byte.
    pub(super) fn u8(&mut self) -> io::Result<u8> {
        Ok(self.bytes(1)?[0])
    }

    /// A number of two bytes.
    pub(super) fn u16(&mut self) -> io::Result<u16> {
        Ok(self.uint(2)? as u16)
    }

    /// A number of four bytes.
    pub(super) fn u32(&mut self) -> io::Result<u32> {
        Ok(self.uint(4)? as u32)
    }

    /// A number of so many bytes, the lowest first.
    fn uint(&mut self, count: usize) -> io::Result<u64> {
        Ok(self.bytes(count)?.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// A number whose first byte tells how long it is.
    pub(super) fn lenenc(&mut self) -> io::Result<u64> {
        match self.u8()? {
            0xfc => self.uint(2),
            0xfd => self.uint(3),
            0xfe => self.uint(8),
            0xfb | 0xff => Err(malformed("a length has an impossible first byte")),
            small => Ok(u64::from(small)),
        }
    }

    /// Bytes after their length.
    pub(super) fn lenenc_bytes(&mut self) -> io::Result<&'a [u8]> {
        let count = self.lenenc()?;
        self.bytes(usize::try_from(count).map_err(|_| malformed("a length is out of range"))?)
    }

    /// Bytes up to a NUL, or to the end.
    pub(super) fn until_nul(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| *byte == 0);
        let text = &self.0[..end.unwrap_or(self.0.len())];
        self.0 = &self.0[end.map_or(self.0.len(), |end| end + 1)..];
        text
    }

    /// Whether this is a cell that is NULL; reads it if so.
    pub(super) fn null(&mut self) -> bool {
        let is_null = self.0.first() == Some(&0xfb);
        if is_null {
            self.0 = &self.0[1..];
        }
        is_null
    }
}

/// The error for bytes that make no sense.
pub(super) fn malformed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    fn pair() -> (Packets, Packets) {
        let (left, right) = UnixStream::pair().unwrap();
        (Packets::new(Stream::unix(left)), Packets::new(Stream::unix(right)))
    }

    #[test]
    fn payloads_of_any_length_come_out_as_they_went_in() {
        for length in [0, 1, 8191, 70_000, PAYLOAD_MAX - 1, PAYLOAD_MAX, PAYLOAD_MAX + 1] {
            let (mut left, mut right) = pair();
            let payload: Vec<u8> = (0..length).map(|n| (n % 251) as u8).collect();
            let sent = payload.clone();
            right.allowance = Allowance::answer();
            let sender = std::thread::spawn(move || left.send(&sent).unwrap());
            assert!(right.receive().unwrap() == payload, "{length}");
            sender.join().unwrap();
        }
    }

    #[test]
    fn numbers_tell_their_own_length() {
        let check = |bytes: &[u8], expect: Option<u64>| assert_eq!(Parts::of(bytes).lenenc().ok(), expect, "{bytes:?}");
        check(&[250], Some(250));
        check(&[0xfc, 1, 2], Some(0x0201));
        check(&[0xfd, 1, 2, 3], Some(0x03_0201));
        check(&[0xfe, 1, 0, 0, 0, 0, 0, 0, 1], Some(0x0100_0000_0000_0001));
        check(&[0xfc, 1], None);
        check(&[0xff], None);
        check(&[], None);
    }

    #[test]
    fn malformed_payloads_are_errors_not_panics() {
        assert!(Parts::of(&[5, 1, 2]).lenenc_bytes().is_err());
        assert!(Parts::of(&[0xfe, 255, 255, 255, 255, 255, 255, 255, 255]).lenenc_bytes().is_err());
        assert!(Parts::of(&[1]).u32().is_err());
        assert_eq!(Parts::of(b"abc").until_nul(), b"abc");
        let mut parts = Parts::of(b"a\0b");
        assert_eq!((parts.until_nul(), parts.rest()), (&b"a"[..], &b"b"[..]));
    }

    #[test]
    fn packets_out_of_sequence_and_long_ones_before_the_login_are_refused() {
        for (packet, expected) in
            [(&[1, 0, 0, 7, 1][..], "out of sequence"), (&[0xff, 0xff, 0xff, 0], "more than 64 kB")]
        {
            let (mut left, mut right) = pair();
            left.stream.write_all(packet).unwrap();
            let error = right.receive().unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
    }

    #[test]
    fn an_end_in_the_middle_of_a_packet_is_noticed() {
        let (mut left, mut right) = pair();
        left.stream.write_all(&[10, 0, 0, 0, 1, 2]).unwrap();
        drop(left);
        assert_eq!(right.receive().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
