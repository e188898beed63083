//! Who waits for whom for metadata locks, read from `performance_schema.metadata_locks`.
//!
//! A statement takes a metadata lock on each table that it uses, and a transaction keeps it to its end; DDL needs the
//! strong ones. `GET_LOCK` takes locks of the same kind.
//!
//! The table shows the locks that are granted and those that are pending. A lock that has just been granted may still be
//! called pending, until the thread that waited for it has woken up. So who is pending *waits* only if somebody else has a
//! conflicting lock: that one goes when it is released, before the releasing statement is answered.

use txloom_core::outcome::Row;

use super::connection::text;

/// All metadata locks of connections: whose, of what (three columns), which, and whether it is granted.
pub(super) const QUESTION: &str = "SELECT t.PROCESSLIST_ID, m.OBJECT_TYPE, m.OBJECT_SCHEMA, m.OBJECT_NAME, m.LOCK_TYPE, \
                                   m.LOCK_STATUS FROM performance_schema.metadata_locks AS m \
                                   JOIN performance_schema.threads AS t ON t.THREAD_ID = m.OWNER_THREAD_ID";

/// Whether metadata locks are kept: the answer is one row if they are.
pub(super) const IS_KEPT: &str = "SELECT 1 FROM performance_schema.setup_instruments \
                                  WHERE NAME = 'wait/lock/metadata/sql/mdl' AND ENABLED = 'YES'";

/// A connection that waits for a metadata lock.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MetadataWait {
    pub(super) thread: u32,
    pub(super) holders: Vec<u32>,
}

struct Lock<'a> {
    thread: u32,
    object: (&'a str, &'a str, &'a str),
    mode: &'a str,
    status: &'a str,
}

/// All connections that wait for a metadata lock, from the answer to [`QUESTION`].
pub(super) fn waits(rows: &[Row]) -> Vec<MetadataWait> {
    let locks: Vec<Lock<'_>> = rows.iter().filter_map(Lock::read).collect();
    let pending = locks.iter().filter(|lock| lock.status == "PENDING");
    let wait = |lock: &Lock<'_>| {
        let holders = holders(&locks, lock);
        (!holders.is_empty()).then_some(MetadataWait { thread: lock.thread, holders })
    };
    pending.filter_map(wait).collect()
}

/// Who has a conflicting lock; if nobody does, who waits for one, and so stands before us in the queue.
fn holders(locks: &[Lock<'_>], wanted: &Lock<'_>) -> Vec<u32> {
    let with_status = |status: &str| -> Vec<u32> {
        let others = locks.iter().filter(|lock| lock.thread != wanted.thread && lock.object == wanted.object);
        let mut threads: Vec<u32> = others
            .filter(|lock| lock.status == status && conflict(wanted.mode, lock.mode))
            .map(|lock| lock.thread)
            .collect();
        threads.sort_unstable();
        threads.dedup();
        threads
    };
    let granted = with_status("GRANTED");
    if granted.is_empty() { with_status("PENDING") } else { granted }
}

impl<'a> Lock<'a> {
    fn read(row: &'a Row) -> Option<Lock<'a>> {
        let object = (text(row, 1), text(row, 2), text(row, 3));
        Some(Lock { thread: text(row, 0).parse().ok()?, object, mode: text(row, 4), status: text(row, 5) })
    }
}

/// Which modes exclude each other (the matrix in the server's `mdl.cc`). A mode that is not known excludes all others.
fn conflict(one: &str, other: &str) -> bool {
    const WEAK: [&str; 2] = ["SHARED", "SHARED_HIGH_PRIO"];
    const WRITE: [&str; 2] = ["SHARED_WRITE", "SHARED_WRITE_LOW_PRIO"];
    let excluded_by = |mode: &str, other: &str| match mode {
        _ if mode == "EXCLUSIVE" || other == "EXCLUSIVE" => true,
        "INTENTION_EXCLUSIVE" => other == "SHARED",
        _ if WEAK.contains(&mode) => false,
        "SHARED_READ" => other == "SHARED_NO_READ_WRITE",
        _ if WRITE.contains(&mode) => ["SHARED_READ_ONLY", "SHARED_NO_WRITE", "SHARED_NO_READ_WRITE"].contains(&other),
        "SHARED_UPGRADABLE" => ["SHARED_UPGRADABLE", "SHARED_NO_WRITE", "SHARED_NO_READ_WRITE"].contains(&other),
        "SHARED_READ_ONLY" => other == "SHARED_NO_READ_WRITE",
        "SHARED_NO_WRITE" => ["SHARED_NO_WRITE", "SHARED_NO_READ_WRITE"].contains(&other),
        "SHARED_NO_READ_WRITE" => other == "SHARED_NO_READ_WRITE",
        _ => !(is_backed_up(mode) && is_backed_up(other)),
    };
    excluded_by(one, other) || excluded_by(other, one)
}

/// The locks with which MariaDB's statements keep a backup away; they do not mind each other.
fn is_backed_up(mode: &str) -> bool {
    let modes = ["DML", "TRANS_DML", "SYS_DML", "DDL", "ALTER_COPY", "COMMIT"];
    mode.strip_prefix("BACKUP_").is_some_and(|mode| modes.contains(&mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `"1 TABLE t SHARED_READ GRANTED"`.
    fn check(locks: &[&str], expect: &[(u32, &[u32])]) {
        let row = |line: &&str| -> Row {
            let words: Vec<&str> = line.split(' ').collect();
            let cells = [words[0], words[1], "d", words[2], words[3], words[4]];
            cells.iter().map(|cell| Some(cell.as_bytes().to_vec())).collect()
        };
        let rows: Vec<Row> = locks.iter().map(row).collect();
        let found: Vec<(u32, Vec<u32>)> = waits(&rows).into_iter().map(|wait| (wait.thread, wait.holders)).collect();
        let expect: Vec<(u32, Vec<u32>)> = expect.iter().map(|(waiter, holders)| (*waiter, holders.to_vec())).collect();
        assert_eq!(found, expect, "{locks:?}");
    }

    #[test]
    fn ddl_waits_for_readers_and_readers_behind_it_wait_for_ddl() {
        check(
            &[
                "1 TABLE t SHARED_READ GRANTED",
                "2 TABLE t SHARED_UPGRADABLE GRANTED",
                "2 TABLE t EXCLUSIVE PENDING",
                "3 TABLE t SHARED_READ PENDING",
                "4 TABLE u EXCLUSIVE GRANTED",
            ],
            &[(2, &[1]), (3, &[2])],
        );
    }

    #[test]
    fn a_lock_that_nobody_contests_is_about_to_be_granted() {
        check(&["2 TABLE t EXCLUSIVE PENDING", "2 TABLE t SHARED_UPGRADABLE GRANTED"], &[]);
        check(&["2 TABLE t SHARED_READ PENDING", "1 TABLE t SHARED_WRITE GRANTED"], &[]);
    }

    #[test]
    fn other_locks_are_of_the_same_kind() {
        check(
            &["1 USER_LEVEL_LOCK x SHARED_NO_WRITE GRANTED", "2 USER_LEVEL_LOCK x SHARED_NO_WRITE PENDING"],
            &[(2, &[1])],
        );
        check(
            &["1 BACKUP - BACKUP_FTWRL2 GRANTED", "3 BACKUP - BACKUP_DDL GRANTED", "2 BACKUP - BACKUP_DML PENDING"],
            &[(2, &[1])],
        );
    }

    #[test]
    fn the_matrix_is_that_of_the_server() {
        for (one, other, expect) in [
            ("SHARED_READ", "SHARED_WRITE", false),
            ("SHARED_READ", "SHARED_NO_READ_WRITE", true),
            ("SHARED_WRITE", "SHARED_READ_ONLY", true),
            ("SHARED_READ_ONLY", "SHARED_READ_ONLY", false),
            ("SHARED_UPGRADABLE", "SHARED_WRITE", false),
            ("SHARED_UPGRADABLE", "SHARED_UPGRADABLE", true),
            ("SHARED_NO_WRITE", "SHARED_READ", false),
            ("SHARED_HIGH_PRIO", "SHARED_NO_READ_WRITE", false),
            ("SHARED", "EXCLUSIVE", true),
            ("INTENTION_EXCLUSIVE", "INTENTION_EXCLUSIVE", false),
            ("SHARED", "INTENTION_EXCLUSIVE", true),
            ("SOMETHING_NEW", "SHARED", true),
        ] {
            assert_eq!((conflict(one, other), conflict(other, one)), (expect, expect), "{one} {other}");
        }
    }
}
