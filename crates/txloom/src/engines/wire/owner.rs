//! The names of our databases on servers that are not ours: they say which process made them, so that what a killed
//! process left can be told from what another one is using.
//!
//! ```text
//!   txloom _ 8f03a1c2d4 _ 4711 _ 83b2f _ 5e10c2a9
//!            machine      pid    start   nonce
//! ```
//!
//! *Machine* is a hash of the running kernel and of the process namespace: two containers differ in it, and so do two
//! starts of one machine. *Start* is when the process began, so that a process with a reused number is another one. The
//! *nonce* is random. A database of another machine is never known to be left over.

use std::fs;
use std::io::Read as _;

/// What all names of our databases begin with.
pub(in crate::engines) const PREFIX: &str = "txloom_";

/// The process that made a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engines) struct DatabaseOwner {
    machine: String,
    pid: u32,
    start: u64,
}

impl DatabaseOwner {
    /// This process.
    pub(in crate::engines) fn this_process() -> DatabaseOwner {
        let pid = std::process::id();
        DatabaseOwner { machine: machine(), pid, start: start_of(pid).unwrap_or(0) }
    }

    /// The owner that a name tells; `None` for names of another form.
    pub(in crate::engines) fn of(name: &str) -> Option<DatabaseOwner> {
        let mut parts = name.strip_prefix(PREFIX)?.split('_');
        let (machine, pid) = (parts.next()?.to_string(), parts.next()?.parse().ok()?);
        let (start, nonce) = (u64::from_str_radix(parts.next()?, 16).ok()?, parts.next()?);
        let is_whole = machine.len() == 10 && nonce.len() == 8 && parts.next().is_none();
        is_whole.then_some(DatabaseOwner { machine, pid, start })
    }

    /// A name for one more database of this owner.
    pub(in crate::engines) fn new_name(&self) -> String {
        let mut nonce = [0; 4];
        // Without randomness the rest of the name still tells owners apart.
        let _ = fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut nonce));
        format!("{PREFIX}{}_{}_{:x}_{:08x}", self.machine, self.pid, self.start, u32::from_ne_bytes(nonce))
    }

    /// Returns true if the process was one of this machine, and is no more.
    pub(in crate::engines) fn is_dead(&self) -> bool {
        self.machine == machine() && start_of(self.pid) != Some(self.start)
    }
}

/// The names of databases whose owners are dead.
pub(in crate::engines) fn left_over<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let is_left = |name: &&str| DatabaseOwner::of(name).is_some_and(|owner| owner.is_dead());
    names.into_iter().filter(is_left).map(str::to_string).collect()
}

/// The running kernel and the process namespace, as ten digits.
fn machine() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = fs::read_link("/proc/self/ns/pid").map(|path| path.display().to_string()).unwrap_or_default();
    // FNV-1a: the same in every build, unlike the hash of the standard library.
    let hash = (boot + &namespace)
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{:010x}", hash >> 24)
}

/// When a process began, in the kernel's ticks since its start; `None` if there is no such process.
fn start_of(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is a name in parentheses that may hold anything.
    let after_name = &stat[stat.rfind(')')? + 1..];
    after_name.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_their_owner() {
        let owner = DatabaseOwner::this_process();
        let (one, other) = (owner.new_name(), owner.new_name());
        assert_ne!(one, other);
        assert!(one.len() < 60, "{one}");
        assert_eq!(DatabaseOwner::of(&one), Some(owner.clone()));
        assert!(!owner.is_dead());
        let earlier = DatabaseOwner { start: owner.start + 1, ..owner.clone() };
        assert!(earlier.is_dead(), "another process had the number");
        let elsewhere = DatabaseOwner { machine: "0000000000".into(), ..earlier.clone() };
        assert!(!elsewhere.is_dead(), "nothing is known of other machines");
        let names = [one, earlier.new_name(), elsewhere.new_name(), "txloom_mine".into(), "txloomstore_x".into()];
        assert_eq!(left_over(names.iter().map(String::as_str)), [names[1].clone()]);
    }
}
