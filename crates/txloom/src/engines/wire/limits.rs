//! Bounds on what a server may send: a hostile or broken one must not fill the memory, nor keep a login for ever.

use std::io;
use std::time::Duration;

use txloom_core::engine::{EngineError, EngineErrorKind};

use super::super::access::AccessOptions;

/// How long connecting and logging in may take, from the first packet to the last.
pub(in crate::engines) const LOGIN_TIME: Duration = Duration::from_secs(10);

/// How many bytes a server may send before the login is over.
const LOGIN_BYTES: usize = 64 * 1024;

/// How many bytes the answer to one message may have.
const ANSWER_BYTES: usize = 256 << 20;

/// How much memory the answer to one message may take: many small cells take more than their bytes.
const ANSWER_MEMORY: usize = 1 << 30;

/// What a message and a cell take in memory beside their bytes, at least.
const MESSAGE_OVERHEAD: usize = 96;
const CELL_OVERHEAD: usize = 56;

/// How many columns a result may have.
pub(in crate::engines) const COLUMNS_MAX: u64 = 65_535;

/// What is left of the bounds on a login, or on the answer to one message.
#[derive(Debug)]
pub(in crate::engines) struct Allowance {
    bytes: usize,
    memory: usize,
    is_login: bool,
}

impl Allowance {
    /// For everything before the login is over.
    pub(in crate::engines) fn login() -> Allowance {
        Allowance { bytes: LOGIN_BYTES, memory: ANSWER_MEMORY, is_login: true }
    }

    /// For the answer to one message.
    pub(in crate::engines) fn answer() -> Allowance {
        Allowance { bytes: ANSWER_BYTES, memory: ANSWER_MEMORY, is_login: false }
    }

    /// Refuses an announced length that is too long, before there is memory for it.
    pub(in crate::engines) fn announce(&self, bytes: usize) -> io::Result<()> {
        if bytes <= self.bytes { Ok(()) } else { Err(self.exceeded()) }
    }

    /// Takes a message of that length.
    pub(in crate::engines) fn take(&mut self, bytes: usize) -> io::Result<()> {
        self.bytes = self.bytes.checked_sub(bytes).ok_or_else(|| self.exceeded())?;
        self.take_memory(bytes.saturating_add(MESSAGE_OVERHEAD))
    }

    /// Takes the cells of a row.
    pub(in crate::engines) fn take_cells(&mut self, count: usize) -> io::Result<()> {
        self.take_memory(count.saturating_mul(CELL_OVERHEAD))
    }

    fn take_memory(&mut self, bytes: usize) -> io::Result<()> {
        self.memory = self.memory.checked_sub(bytes).ok_or_else(|| self.exceeded())?;
        Ok(())
    }

    fn exceeded(&self) -> io::Error {
        let what = if self.is_login {
            "the server sends more than 64 kB before the login is over".to_string()
        } else {
            format!("the answer is longer than {} MB (or takes more than 1 GB of memory)", ANSWER_BYTES >> 20)
        };
        io::Error::new(io::ErrorKind::InvalidData, what)
    }
}

/// How many sessions may be open at once on a server that is not ours: what the user says, or half of what the server
/// has left. `None` if the server does not say.
pub(in crate::engines) fn sessions_max(access: &AccessOptions, left: Option<u32>) -> Option<u32> {
    access.max_connections.or(left.map(|left| left / 2))
}

/// Refuses one more session than there may be.
pub(in crate::engines) fn check_sessions(target: &str, open: usize, max: Option<u32>) -> Result<(), EngineError> {
    match max {
        Some(max) if open >= max as usize => {
            let why = format!(
                "a session more than {max} is not opened: the rest of the server's connections is left to others (half of \
                 what it has left; --max-connections N allows N)"
            );
            Err(EngineError::new(target, EngineErrorKind::Unreachable(why)))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_messages_count_like_one_long_one() {
        let mut login = Allowance::login();
        assert!(login.announce(LOGIN_BYTES).is_ok() && login.announce(LOGIN_BYTES + 1).is_err());
        assert!((0..LOGIN_BYTES / 64).all(|_| login.take(64).is_ok()) && login.take(1).is_err());
        let mut answer = Allowance::answer();
        assert!((0..ANSWER_MEMORY).any(|_| answer.take(0).is_err()), "empty messages take memory, too");
        assert!(Allowance::answer().take_cells(usize::MAX).is_err());
    }
}
