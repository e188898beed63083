//! Who waits for whom, as an isolation test wants to know it.
//!
//! PostgreSQL's runner asks the server whether a step is blocked by another session of the test, but only after ten
//! milliseconds of silence, because it must not mistake a passing wait for a lasting one:
//!
//! ```text
//!   c: COMMIT ── releases a and b ── b: UPDATE … (takes what a wants next) … done
//!                                    a: UPDATE …           waits for b, for a moment
//! ```
//!
//! We need not sit out those ten milliseconds where the server says more. A wait is *certain* to last if whoever is
//! waited for, directly or through others, does nothing: is idle, or waits itself. A circle is not certain (somebody will
//! find it), nor is a wait for anybody outside the test. What is not certain is decided by time, as PostgreSQL does.

use std::collections::{BTreeMap, BTreeSet};

use txloom_core::outcome::Row;

use super::super::monitor::text;

/// The preparation of the question.
pub(super) const PREPARE: &str = "PREPARE watch(int[], int[]) AS
    SELECT pid, pg_catalog.pg_isolation_test_session_is_blocked(pid, $2),
           array_to_string(pg_catalog.pg_blocking_pids(pid) || pg_catalog.pg_safe_snapshot_blocking_pids(pid), ' ')
    FROM unnest($1) AS pid";

/// The question: which of the busy processes wait for processes of the test?
pub(super) fn question(busy: &[i32], all: &[i32]) -> String {
    let list = |pids: &[i32]| pids.iter().map(i32::to_string).collect::<Vec<_>>().join(",");
    format!("EXECUTE watch('{{{}}}', '{{{}}}')", list(busy), list(all))
}

/// What the server said about the busy processes.
#[derive(Debug, Default)]
pub(super) struct Blocked {
    /// Whether each waits for one of the test's.
    blocked: BTreeMap<i32, bool>,
    /// For whom each waits.
    holders: BTreeMap<i32, Vec<i32>>,
}

impl Blocked {
    /// Reads the answer.
    pub(super) fn read(rows: &[Row]) -> Blocked {
        let mut read = Blocked::default();
        for row in rows {
            let Ok(pid) = text(row, 0).parse() else { continue };
            read.blocked.insert(pid, text(row, 1) == "t");
            read.holders.insert(pid, text(row, 2).split(' ').filter_map(|pid| pid.parse().ok()).collect());
        }
        read
    }

    /// Whether a process waits for another one of the test now.
    pub(super) fn is_blocked(&self, pid: i32) -> bool {
        self.blocked.get(&pid).copied().unwrap_or(false)
    }

    /// Whether it is certain that the wait lasts until another step is launched. `all` are the processes of the test.
    pub(super) fn is_certain(&self, pid: i32, all: &[i32]) -> bool {
        self.is_blocked(pid) && self.ends_idle(pid, all, &mut BTreeSet::new())
    }

    /// Follows the waits of a process; `path` holds those that led here.
    fn ends_idle(&self, pid: i32, all: &[i32], path: &mut BTreeSet<i32>) -> bool {
        let Some(holders) = self.holders.get(&pid) else { return all.contains(&pid) };
        if holders.is_empty() || !path.insert(pid) {
            return false;
        }
        let certain = holders.iter().all(|holder| self.ends_idle(*holder, all, path));
        path.remove(&pid);
        certain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `"2>1 3>"`: process 2 waits for 1, 3 is running; 1, 2, 3 and 4 are the test's.
    fn check(waits: &str, pid: i32, blocked: bool, certain: bool) {
        let row = |wait: &str| -> Row {
            let (pid, holders) = wait.split_once('>').unwrap();
            let blocked =
                if holders.split(',').any(|holder| "1234".contains(holder) && !holder.is_empty()) { "t" } else { "f" };
            [pid, blocked, &holders.replace(',', " ")].map(|cell| Some(cell.as_bytes().to_vec())).into()
        };
        let rows: Vec<Row> = waits.split_whitespace().map(row).collect();
        let read = Blocked::read(&rows);
        assert_eq!((read.is_blocked(pid), read.is_certain(pid, &[1, 2, 3, 4])), (blocked, certain), "{waits}");
    }

    #[test]
    fn a_wait_is_certain_if_it_ends_at_somebody_idle() {
        check("2>1", 2, true, true);
        check("2>1 3>2", 3, true, true);
        check("2>1 3>2,1", 3, true, true);
    }

    #[test]
    fn a_wait_is_not_certain_otherwise() {
        check("2>", 2, false, false);
        check("2>3 3>", 2, true, false);
        check("2>3 3>2", 2, true, false);
        check("4>2 2>3 3>2", 4, true, false);
        check("2>99", 2, false, false);
        check("2>1,99", 2, true, false);
        check("2>0", 2, false, false);
    }
}
