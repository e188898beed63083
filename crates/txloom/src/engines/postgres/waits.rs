//! Who waits for whom, and since when it is certain.
//!
//! **Problem.** `pg_blocking_pids` tells who is blocked *now*. That is not enough: a statement that waits looks for
//! a deadlock once, when it has waited for `deadlock_timeout`. If the next statement closes a cycle *before* that, the
//! first waiter finds the cycle and dies; if *after*, the one that closed it does. Which of the two happens must not be
//! left to chance.
//!
//! **Idea.** A waiter is listed only after it has looked. On our own servers it says so in the log, synchronously and
//! before it goes back to sleep (`log_lock_waits`):
//!
//! ```text
//!   backend 71   waits ─── 1 ms ─── looks for a deadlock, finds none, writes "process 71 still waiting …" ─── …
//!   waits()        │  read log      │              read log   ask pg_blocking_pids   read log
//!                  └ 71: no line, so not listed    └ 71: line ──→ blocked by 64 ──→ same line: listed
//! ```
//!
//! A statement may wait many times, so the line must belong to *this* wait. It does if it was there before the question
//! and no other line of the process has come after it, and if it is younger than the wait (`pg_locks.waitstart`): a
//! wait that ended without a word, by an error that a procedure caught, must not speak for the next one.
//!
//! On servers that we did not start there is no log to read. There the age of the wait decides: older than
//! `deadlock_timeout` and some slack. With the usual setting of one second every wait costs a second: the price of
//! being certain. (Sessions of superusers get a shorter one, for themselves only.)
//!
//! **Limits.** Two statements that are released by one commit, run on at the same time, and then close a cycle
//! together, are in a race that no outsider decides.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use txloom_core::outcome::Row;

use super::monitor::text;
use crate::servers::log::LogReader;

/// Where waits are known from.
pub(super) const SOURCE: &str = "pg_blocking_pids";

/// The same, when a wait was believed only because it lasted.
pub(super) const SOURCE_TIME_OUT: &str = "pg_blocking_pids, after a time-out";

/// How much later than `deadlock_timeout` a backend may get round to looking for a deadlock.
const SLACK: Duration = Duration::from_millis(30);

/// A wait that lasts this much longer than expected, without proof that it has settled, is believed anyway: the case
/// may have changed the settings that the proof rests on.
const PATIENCE: Duration = Duration::from_secs(1);

/// A backend that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wait {
    /// Who waits.
    pub(super) pid: i32,
    /// For whom; 0 stands for a prepared transaction.
    pub(super) holders: Vec<i32>,
    /// Since when, in microseconds of the server's clock; unknown before version 14 and in the first moment.
    since: Option<u64>,
    /// The server's clock when it was asked.
    now: u64,
    /// Whether it waits for a lock; waits for a safe snapshot cannot be part of a deadlock.
    for_lock: bool,
}

impl Wait {
    /// Reads an answer of [`Monitor::waits`](super::monitor::Monitor::waits).
    pub(super) fn read(row: &Row) -> Option<Wait> {
        let pids = |column| text(row, column).split(' ').filter_map(|pid| pid.parse().ok());
        let mut holders: Vec<i32> = pids(1).chain(pids(2)).collect();
        holders.sort_unstable();
        holders.dedup();
        Some(Wait {
            pid: text(row, 0).parse().ok()?,
            holders,
            since: text(row, 3).parse().ok(),
            now: text(row, 4).parse().ok()?,
            for_lock: !text(row, 1).is_empty(),
        })
    }

    fn age(&self) -> Option<Duration> {
        self.since.map(|since| Duration::from_micros(self.now.saturating_sub(since)))
    }
}

/// Decides which waits have settled.
pub(super) struct Settling {
    proof: Proof,
    /// Waits that have not settled: for whom, and when they were first seen.
    unsettled: BTreeMap<i32, (Vec<i32>, Instant)>,
}

enum Proof {
    Log(LockLog),
    Clock { deadlock_timeout: Duration },
}

impl Settling {
    /// Proof by the log of our own server.
    pub(super) fn by_log(path: &Path, major: u32) -> io::Result<Settling> {
        let log = LockLog { reader: LogReader::at_end(path)?, lines: BTreeMap::new(), count: 0, dated: major >= 14 };
        Ok(Settling { proof: Proof::Log(log), unsettled: BTreeMap::new() })
    }

    /// Proof by the age of the wait.
    pub(super) fn by_clock(deadlock_timeout: Duration) -> Settling {
        Settling { proof: Proof::Clock { deadlock_timeout }, unsettled: BTreeMap::new() }
    }

    /// Asks who waits, and keeps the waits that have settled. The second value is where they are known from.
    pub(super) fn settled<E: From<io::Error>>(
        &mut self,
        ask: impl FnOnce() -> Result<Vec<Wait>, E>,
    ) -> Result<(Vec<Wait>, &'static str), E> {
        let before = self.proof.read()?;
        let waits = ask()?;
        let after = self.proof.read()?;
        self.unsettled.retain(|pid, (holders, _)| waits.iter().any(|w| w.pid == *pid && w.holders == *holders));
        let mut source = SOURCE;
        let mut settled = Vec::new();
        for wait in waits {
            let certain = !wait.for_lock || self.proof.settles(&wait, &before, &after);
            if !certain && !self.has_lasted(&wait) {
                continue;
            }
            if !certain && !self.proof.is_by_own_clock(&wait) {
                source = SOURCE_TIME_OUT;
            }
            settled.push(wait);
        }
        Ok((settled, source))
    }

    /// Whether a wait for the same holders has been seen long enough, by our own clock.
    fn has_lasted(&mut self, wait: &Wait) -> bool {
        let (_, first) = self.unsettled.entry(wait.pid).or_insert_with(|| (wait.holders.clone(), Instant::now()));
        let limit = match &self.proof {
            Proof::Clock { deadlock_timeout } if wait.since.is_none() => *deadlock_timeout + SLACK,
            Proof::Clock { deadlock_timeout } => *deadlock_timeout + SLACK + PATIENCE,
            Proof::Log(_) => PATIENCE,
        };
        first.elapsed() > limit
    }

    /// Forgets what was seen of the processes of an earlier case.
    pub(super) fn forget(&mut self) {
        self.unsettled.clear();
        if let Proof::Log(log) = &mut self.proof {
            log.lines.clear();
        }
    }
}

/// For each process that said that it still waits, the line in which it did.
type Lines = BTreeMap<i32, Line>;

impl Proof {
    fn read(&mut self) -> io::Result<Lines> {
        match self {
            Proof::Log(log) => log.read().map(|()| log.lines.clone()),
            Proof::Clock { .. } => Ok(Lines::new()),
        }
    }

    fn settles(&self, wait: &Wait, before: &Lines, after: &Lines) -> bool {
        match self {
            Proof::Clock { deadlock_timeout } => wait.age().is_some_and(|age| age > *deadlock_timeout + SLACK),
            Proof::Log(log) => match (before.get(&wait.pid), after.get(&wait.pid)) {
                (Some(line), Some(still)) if line == still => match wait.since {
                    // A backend looks one whole millisecond after the wait began, so the digits must differ.
                    Some(since) => line.milliseconds > since / 1000,
                    None => !log.dated,
                },
                _ => false,
            },
        }
    }

    /// Before version 14 the age of a wait is ours to measure: that is the rule there, and no exception to it.
    fn is_by_own_clock(&self, wait: &Wait) -> bool {
        matches!(self, Proof::Clock { .. }) && wait.since.is_none()
    }
}

/// What the log of our own server says about waits.
struct LockLog {
    reader: LogReader,
    lines: Lines,
    /// Counts lines, so that no two are the same.
    count: u64,
    /// Whether the server tells when a wait began.
    dated: bool,
}

/// A line of the log by which a process says that it has looked for a deadlock and still waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Line {
    number: u64,
    milliseconds: u64,
}

impl LockLog {
    fn read(&mut self) -> io::Result<()> {
        for line in self.reader.new_lines()? {
            self.count += 1;
            match Said::by(&line) {
                Some((pid, Said::StillWaiting { milliseconds })) => {
                    self.lines.insert(pid, Line { number: self.count, milliseconds });
                }
                Some((pid, Said::WaitIsOver)) => {
                    self.lines.remove(&pid);
                }
                None => {}
            }
        }
        Ok(())
    }
}

/// What a process says about its wait.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    StillWaiting { milliseconds: u64 },
    WaitIsOver,
}

impl Said {
    /// Reads a line that begins with process and time: `71 1700000000.123 LOG:  process 71 still waiting for …`.
    fn by(line: &str) -> Option<(i32, Said)> {
        let mut parts = line.splitn(4, ' ');
        let (pid, time, severity, message) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let said = match severity {
            "ERROR:" | "FATAL:" => Said::WaitIsOver,
            "LOG:" => {
                let about = message.trim_start().strip_prefix("process ")?.strip_prefix(pid)?.strip_prefix(' ')?;
                if about.starts_with("still waiting for ") {
                    let (seconds, fraction) = time.split_once('.')?;
                    let milliseconds = seconds.parse::<u64>().ok()? * 1000 + fraction.parse::<u64>().ok()?;
                    Said::StillWaiting { milliseconds }
                } else {
                    // It acquired the lock, or found a deadlock, or avoided one (and then says what came of it).
                    Said::WaitIsOver
                }
            }
            _ => return None,
        };
        Some((pid.parse().ok()?, said))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::servers::ScratchDir;
    use std::fs::File;
    use std::io::Write;

    #[test]
    fn the_log_is_understood() {
        let check = |line: &str, expected: Option<(i32, Said)>| assert_eq!(Said::by(line), expected, "{line}");
        check(
            "71 1700000000.123 LOG:  process 71 still waiting for ShareLock on transaction 745 after 1.045 ms",
            Some((71, Said::StillWaiting { milliseconds: 1_700_000_000_123 })),
        );
        let over = || Some((71, Said::WaitIsOver));
        check("71 1.123 LOG:  process 71 acquired ShareLock on transaction 745 after 8.045 ms", over());
        check("71 1.123 LOG:  process 71 detected deadlock while waiting for ShareLock on …", over());
        check("71 1.123 ERROR:  canceling statement due to lock timeout", over());
        check("71 1.123 DETAIL:  Process holding the lock: 64. Wait queue: 71.", None);
        check("71 1.123 LOG:  process 64 still waiting for x", None);
        check("\tcontinued", None);
        check("", None);
    }

    /// A server's log and the waits that it shows, in a world where 71 waits for 64.
    struct World {
        _scratch: ScratchDir,
        log: File,
        settling: Settling,
    }

    impl World {
        fn new(major: u32) -> World {
            let scratch = ScratchDir::create().unwrap();
            let path = scratch.path().join("log");
            let log = crate::servers::log::create(&path).unwrap();
            World { settling: Settling::by_log(&path, major).unwrap(), _scratch: scratch, log }
        }

        fn says(&mut self, line: &str) {
            writeln!(self.log, "{line}").unwrap();
        }

        fn is_listed(&mut self, since: Option<u64>) -> bool {
            let wait = Wait { pid: 71, holders: vec![64], since, now: 0, for_lock: true };
            let (settled, source) = self.settling.settled(|| Ok::<_, io::Error>(vec![wait])).unwrap();
            assert_eq!(source, SOURCE);
            !settled.is_empty()
        }
    }

    const STILL: &str = "71 5.007 LOG:  process 71 still waiting for ShareLock on transaction 745 after 1.045 ms";

    #[test]
    fn a_waiter_is_listed_after_it_has_looked_for_a_deadlock() {
        let mut world = World::new(15);
        assert!(!world.is_listed(Some(5_005_900)));
        world.says(STILL);
        assert!(world.is_listed(Some(5_005_900)));
        world.says("71 5.010 LOG:  process 71 acquired ShareLock on transaction 745 after 4.000 ms");
        assert!(!world.is_listed(Some(5_010_100)), "this is another wait");
    }

    #[test]
    fn a_line_of_an_earlier_wait_proves_nothing() {
        let mut world = World::new(15);
        world.says(STILL);
        assert!(!world.is_listed(Some(5_007_900)), "that wait ended without a word");
        assert!(!world.is_listed(None), "the server has not yet noted when this wait began");
        let mut old = World::new(13);
        old.says(STILL);
        assert!(old.is_listed(None), "before version 14 the line is all there is");
    }

    #[test]
    fn a_wait_that_moves_on_while_we_ask_is_not_listed() {
        let mut world = World::new(15);
        world.says(STILL);
        let wait = Wait { pid: 71, holders: vec![64], since: Some(5_005_900), now: 0, for_lock: true };
        let World { log, settling, .. } = &mut world;
        let asked = settling.settled(|| {
            writeln!(log, "71 5.010 LOG:  process 71 acquired ShareLock on transaction 745 after 4.000 ms")?;
            writeln!(log, "71 5.012 LOG:  process 71 still waiting for ShareLock on transaction 746 after 1.1 ms")?;
            Ok::<_, io::Error>(vec![wait])
        });
        assert!(asked.unwrap().0.is_empty());
    }

    #[test]
    fn without_a_log_the_age_decides() {
        let mut settling = Settling::by_clock(Duration::from_millis(100));
        let mut listed = |age: u64| {
            let wait = Wait { pid: 71, holders: vec![64], since: Some(1_000), now: 1_000 + age, for_lock: true };
            !settling.settled(|| Ok::<_, io::Error>(vec![wait])).unwrap().0.is_empty()
        };
        assert!(!listed(50_000));
        assert!(!listed(110_000), "the backend may be late");
        assert!(listed(140_000));
    }

    #[test]
    fn waits_for_a_safe_snapshot_need_no_proof() {
        let mut settling = Settling::by_clock(Duration::from_secs(1));
        let wait = Wait { pid: 71, holders: vec![64], since: None, now: 0, for_lock: false };
        assert_eq!(settling.settled(|| Ok::<_, io::Error>(vec![wait])).unwrap().0.len(), 1);
    }

    #[test]
    fn answers_of_the_server_are_read() {
        let row = |cells: [Option<&str>; 5]| -> Row { cells.map(|cell| cell.map(|text| text.into())).into() };
        let wait = Wait::read(&row([Some("71"), Some("64 0 64"), Some(""), Some("12"), Some("20")])).unwrap();
        assert_eq!((wait.pid, wait.holders, wait.since, wait.for_lock), (71, vec![0, 64], Some(12), true));
        let wait = Wait::read(&row([Some("71"), Some(""), Some("64"), None, Some("20")])).unwrap();
        assert_eq!((wait.holders, wait.since, wait.for_lock), (vec![64], None, false));
    }
}
