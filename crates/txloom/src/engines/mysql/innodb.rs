//! Who waits for whom inside InnoDB, read from `SHOW ENGINE INNODB STATUS`.
//!
//! **Problem.** MariaDB's tables about locks (`information_schema.INNODB_LOCK_WAITS` and its relatives) are copies that are
//! refreshed only when nobody has looked for 100 ms: too slow, and useless for who must look often. The monitor's text is
//! written at once, and costs a tenth of a millisecond.
//!
//! **Idea.** With `innodb_status_output_locks` the text lists the locks of every transaction, those that it waits for
//! included. Who holds what somebody waits for follows from InnoDB's own rules of conflict:
//!
//! ```text
//!   ---TRANSACTION 2123, ACTIVE 0 sec starting index read
//!   LOCK WAIT 2 lock struct(s), heap size 1128, 1 row lock(s)
//!   MariaDB thread id 206, OS thread handle …                            thread 206 …
//!   RECORD LOCKS space id 305 page no 3 … trx id 2123 lock_mode X locks rec but not gap waiting
//!   Record lock, heap no 2 PHYSICAL RECORD: …                            … waits for record 305:3:2
//!   ---TRANSACTION 2122, ACTIVE 0 sec
//!   MariaDB thread id 205, …
//!   RECORD LOCKS space id 305 page no 3 … trx id 2122 lock_mode X locks rec but not gap
//!   Record lock, heap no 2 PHYSICAL RECORD: …                            which thread 205 holds
//! ```
//!
//! A lock that was granted to somebody *after* we began to wait is not waited for: inserts let later gap locks pass. The
//! text does not tell what came first; who asks again and again can tell ([`Queues`]).
//!
//! **Limits.** The text shows ten locks per transaction. Who waits for the eleventh is still seen to wait, but not for
//! whom; the same holds on servers that are not ours, where the locks are usually not listed at all.

use std::collections::BTreeMap;

/// A transaction that waits for a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowWait {
    /// The connection that waits.
    pub(super) thread: u32,
    /// The connections that hold what it waits for; `None` for a transaction without one (a prepared one).
    pub(super) holders: Vec<Option<u32>>,
    /// Whether it waits for a record; otherwise for a whole table.
    pub(super) for_record: bool,
    /// What it waits for, as the text describes it.
    pub(super) place: String,
}

/// Remembers for whom each connection was first seen waiting: whoever turns up later got his lock later.
#[derive(Debug, Default)]
pub(super) struct Queues(BTreeMap<u32, (u64, RowWait)>);

impl Queues {
    /// Removes those who came later. `statement` numbers what a connection executes: another statement is another wait.
    pub(super) fn keep_first(&mut self, waits: &mut [RowWait], statement: impl Fn(u32) -> u64) {
        let mut now = BTreeMap::new();
        for wait in waits {
            let number = statement(wait.thread);
            let first = self.0.remove(&wait.thread).filter(|(n, first)| *n == number && first.place == wait.place);
            if let Some((_, first)) = first {
                let (still, later): (Vec<_>, Vec<_>) = wait.holders.iter().partition(|h| first.holders.contains(h));
                wait.holders = if still.is_empty() { later } else { still };
            }
            now.insert(wait.thread, (number, wait.clone()));
        }
        self.0 = now;
    }
}

/// A transaction of the text.
#[derive(Debug, Default)]
struct Transaction {
    thread: Option<u32>,
    is_waiting: bool,
    /// For how long, in microseconds.
    waited: u64,
    locks: Vec<Lock>,
    /// How many locks it has, listed or not.
    lock_count: usize,
    is_cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Lock {
    place: Place,
    mode: Mode,
    /// Locks only the gap before the record.
    gap: bool,
    /// Locks only the record, not the gap before it.
    record: bool,
    insert_intention: bool,
    waiting: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Table(String),
    /// Records of a page, by their heap numbers.
    Records {
        page: String,
        heaps: Vec<u32>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    IntentionShared,
    IntentionExclusive,
    Shared,
    Exclusive,
    AutoIncrement,
}

/// The heap number of the end of a page: it has a gap before it, but is no record.
const SUPREMUM: u32 = 1;

/// All transactions that wait for a lock of InnoDB.
pub(super) fn waits(text: &str) -> Vec<RowWait> {
    let transactions = transactions(text);
    let wait = |waiter: &Transaction| {
        let lock = waiter.locks.iter().find(|lock| lock.waiting);
        let for_record = lock.is_none_or(|lock| matches!(lock.place, Place::Records { .. }));
        let holders = lock.map_or(Vec::new(), |lock| holders(&transactions, waiter, lock));
        let place = lock.map_or(String::new(), |lock| format!("{:?}", lock.place));
        waiter.thread.filter(|_| waiter.is_waiting).map(|thread| RowWait { thread, holders, for_record, place })
    };
    transactions.iter().filter_map(wait).collect()
}

/// Who holds a conflicting lock; if nobody does, who waits for one, and so stands before us in the queue. (But if not all
/// locks are listed, somebody may well hold one.)
fn holders(transactions: &[Transaction], waiter: &Transaction, lock: &Lock) -> Vec<Option<u32>> {
    let with_conflict = |waiting: bool| -> Vec<Option<u32>> {
        let conflicts =
            |other: &&Transaction| other.locks.iter().any(|held| held.waiting == waiting && lock.has_to_wait_for(held));
        let others = transactions.iter().filter(|other| !std::ptr::eq(*other, waiter));
        let before = others.filter(|other| !waiting || other.waited >= waiter.waited);
        before.filter(conflicts).map(|other| other.thread).collect()
    };
    let granted = with_conflict(false);
    let all_listed = transactions.iter().all(Transaction::is_listed_whole);
    if granted.is_empty() && all_listed { with_conflict(true) } else { granted }
}

impl Lock {
    /// InnoDB's rules (`lock_rec_has_to_wait`, `lock_table_has_to_wait`) for the locks of two transactions.
    fn has_to_wait_for(&self, held: &Lock) -> bool {
        if self.mode.is_compatible(held.mode) {
            return false;
        }
        match (&self.place, &held.place) {
            (Place::Table(mine), Place::Table(theirs)) => mine == theirs,
            (Place::Records { page, heaps }, Place::Records { page: their_page, heaps: their_heaps }) => {
                let shared = heaps.iter().find(|heap| their_heaps.contains(heap));
                page == their_page && shared.is_some_and(|heap| self.conflicts_on(*heap, held))
            }
            _ => false,
        }
    }

    fn conflicts_on(&self, heap: u32, held: &Lock) -> bool {
        let only_gap = self.gap || heap == SUPREMUM;
        // Gaps are locked against inserts only: nobody else waits for a gap.
        if !self.insert_intention && (only_gap || held.gap) {
            return false;
        }
        // And an insert into a gap does not wait for a lock of the record alone, nor for another insert.
        let only_meet_in_the_gap = self.gap && held.record;
        !only_meet_in_the_gap && !held.insert_intention
    }
}

impl Mode {
    fn read(text: &str) -> Option<Mode> {
        match text {
            "IS" => Some(Mode::IntentionShared),
            "IX" => Some(Mode::IntentionExclusive),
            "S" => Some(Mode::Shared),
            "X" => Some(Mode::Exclusive),
            "AUTO-INC" => Some(Mode::AutoIncrement),
            _ => None,
        }
    }

    fn is_compatible(self, other: Mode) -> bool {
        use Mode::{AutoIncrement, Exclusive, IntentionExclusive, IntentionShared, Shared};
        match (self, other) {
            (Exclusive, _) | (_, Exclusive) | (AutoIncrement, AutoIncrement) => false,
            (IntentionExclusive | AutoIncrement, Shared) | (Shared, IntentionExclusive | AutoIncrement) => false,
            (IntentionShared | IntentionExclusive | Shared | AutoIncrement, _) => true,
        }
    }
}

fn transactions(text: &str) -> Vec<Transaction> {
    let list = text.split_once("\nLIST OF TRANSACTIONS FOR EACH SESSION:").map_or("", |(_, list)| list);
    let mut transactions: Vec<Transaction> = Vec::new();
    for line in list.lines().take_while(|line| *line != "FILE I/O") {
        if line.starts_with("---TRANSACTION ") {
            transactions.push(Transaction::default());
        } else if let Some(transaction) = transactions.last_mut() {
            transaction.take(line);
        }
    }
    transactions
}

impl Transaction {
    /// Whether every lock that it has is listed.
    fn is_listed_whole(&self) -> bool {
        self.locks.len() >= self.lock_count && !self.is_cut
    }

    fn take(&mut self, line: &str) {
        if let Some((before, _)) = line.split_once(" lock struct(s), ") {
            self.is_waiting = before.starts_with("LOCK WAIT ");
            self.lock_count = before.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or_default();
        } else if let Some(rest) = line.strip_prefix("------- TRX HAS BEEN WAITING ") {
            self.waited = waited(rest).unwrap_or_default();
        } else if line.contains("SUPPRESSING FURTHER PRINTS") {
            self.is_cut = true;
        } else if let Some(rest) = ["MariaDB thread id ", "MySQL thread id "].iter().find_map(|p| line.strip_prefix(p))
        {
            self.thread = self.thread.or_else(|| rest.split(',').next()?.parse().ok());
        } else if let Some(rest) = line.strip_prefix("TABLE LOCK table ") {
            self.locks.extend(table_lock(rest));
        } else if let Some(rest) = line.strip_prefix("RECORD LOCKS space id ") {
            self.locks.extend(record_lock(rest));
        } else if let Some(rest) = line.strip_prefix("Record lock, heap no ") {
            let heap = rest.split(' ').next().and_then(|heap| heap.parse().ok());
            if let (Some(heap), Some(Lock { place: Place::Records { heaps, .. }, .. })) = (heap, self.locks.last_mut())
            {
                heaps.push(heap);
            }
        }
    }
}

/// `100040 us FOR THIS LOCK TO BE GRANTED:`, or in seconds.
fn waited(text: &str) -> Option<u64> {
    let (number, unit) = text.split_once(' ')?;
    let factor = if unit.starts_with("us") { 1 } else { 1_000_000 };
    Some(number.parse::<u64>().ok()? * factor)
}

/// `` `d`.`t` trx id 2124 lock mode IX waiting ``
fn table_lock(text: &str) -> Option<Lock> {
    let (table, rest) = text.rsplit_once(" trx id ")?;
    let mut words = rest.split_once("lock mode ")?.1.split(' ');
    let mode = Mode::read(words.next()?)?;
    let waiting = words.next() == Some("waiting");
    let place = Place::Table(table.to_string());
    Some(Lock { place, mode, gap: false, record: false, insert_intention: false, waiting })
}

/// `` 305 page no 3 n bits 72 index PRIMARY of table `d`.`t` trx id 2123 lock_mode X locks rec but not gap waiting ``
fn record_lock(text: &str) -> Option<Lock> {
    let (page, _) = text.split_once(" n bits ")?;
    let (_, rest) = text.rsplit_once(" trx id ")?;
    let (_, what) = rest.split_once("lock_mode ").or_else(|| rest.split_once("lock mode "))?;
    Some(Lock {
        place: Place::Records { page: page.to_string(), heaps: Vec::new() },
        mode: Mode::read(what.split(' ').next()?)?,
        gap: what.contains("locks gap before rec"),
        record: what.contains("locks rec but not gap"),
        insert_intention: what.contains("insert intention"),
        waiting: what.ends_with("waiting"),
    })
}

/// How many committed transactions purge has still to look at.
pub(super) fn history_length(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("\nHistory list length ")?;
    rest.lines().next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text with these transactions, each with a connection and a lock of a record: `"1: X only @2"`. `wait` marks a lock
    /// that is waited for; a number at the end says for how long, `more` that there are more locks than are listed, `cut`
    /// that the text says so.
    fn check(locks: &[&str], expect: &[(u32, &[u32])]) {
        let mut text = String::from("History list length 3\nLIST OF TRANSACTIONS FOR EACH SESSION:\n");
        for line in locks {
            let (thread, lock) = line.split_once(": ").unwrap();
            let (mode, place) = lock.split_once(" @").unwrap();
            let (heap, extra) = place.split_once(' ').unwrap_or((place, "5"));
            let mode = mode.replace("gap", "locks gap before rec").replace("only", "locks rec but not gap");
            let mode = mode.replace("insert", "locks gap before rec insert intention").replace("wait", "waiting");
            let state = if lock.contains("wait") { "LOCK WAIT " } else { "" };
            let count = if extra == "more" { 3 } else { 2 };
            let cut = if extra == "cut" { "10 LOCKS PRINTED FOR THIS TRX: SUPPRESSING FURTHER PRINTS\n" } else { "" };
            text += &format!(
                "---TRANSACTION 9{thread}, ACTIVE 0 sec\n{state}{count} lock struct(s), heap size 1128\n\
                 MariaDB thread id {thread}, OS thread handle 1, query id 4\nupdate t set v = 1\n\
                 ------- TRX HAS BEEN WAITING {extra} us FOR THIS LOCK TO BE GRANTED:\n\
                 TABLE LOCK table `d`.`t` trx id 9{thread} lock mode IX\n\
                 RECORD LOCKS space id 5 page no 3 n bits 320 index PRIMARY of table `d`.`t` trx id 9{thread} \
                 lock_mode {mode}\n\
                 Record lock, heap no {heap} PHYSICAL RECORD: n_fields 4; compact format; info bits 0\n 0: len 4;\n\n{cut}"
            );
        }
        text += "--------\nFILE I/O\n--------\n---TRANSACTION no\n";
        let found: Vec<(u32, Vec<u32>)> = waits(&text)
            .into_iter()
            .map(|wait| (wait.thread, wait.holders.into_iter().map(Option::unwrap).collect()))
            .collect();
        let expect: Vec<(u32, Vec<u32>)> = expect.iter().map(|(waiter, holders)| (*waiter, holders.to_vec())).collect();
        assert_eq!(found, expect, "{locks:?}");
    }

    #[test]
    fn waiters_and_holders_follow_from_the_locks() {
        check(&["1: X only @2"], &[]);
        check(&["2: X only wait @2", "1: X only @2"], &[(2, &[1])]);
        check(&["2: S only wait @2", "1: S only @2", "3: X @2", "4: X only @3"], &[(2, &[3])]);
        check(&["2: X only wait @2", "1: S only @2", "3: S @2"], &[(2, &[1, 3])]);
    }

    #[test]
    fn gaps_are_locked_against_inserts_only() {
        check(&["2: X wait @2", "1: X gap @2", "3: X only @2"], &[(2, &[3])]);
        check(&["2: X insert wait @2", "1: X gap @2", "3: X only @2", "4: S @2"], &[(2, &[1, 4])]);
        check(&["2: X insert wait @1", "1: X @1", "3: X insert @1"], &[(2, &[1])]);
    }

    #[test]
    fn who_stands_before_us_in_the_queue_counts_if_nobody_holds() {
        check(&["3: S only wait @2", "2: X only wait @2", "1: S only @2"], &[(3, &[2]), (2, &[1])]);
    }

    #[test]
    fn somebody_who_only_waits_is_not_blamed_for_a_holder_that_is_not_listed() {
        let locks = ["3: X only wait @2", "2: X only wait @2"];
        check(&locks, &[(3, &[2]), (2, &[3])]);
        check(&["3: X only wait @2", "2: X only wait @2 6"], &[(3, &[2]), (2, &[])]);
        check(&[&locks[..], &["1: X only @7 cut"]].concat(), &[(3, &[]), (2, &[])]);
        check(&[&locks[..], &["1: X only @7 more"]].concat(), &[(3, &[]), (2, &[])]);
        check(&["3: S only wait @2 20", "2: X only wait @2 10", "1: S only @2"], &[(3, &[]), (2, &[1])]);
    }

    fn wait(thread: u32, holders: &[Option<u32>], for_record: bool, place: &str) -> RowWait {
        RowWait { thread, holders: holders.to_vec(), for_record, place: place.to_string() }
    }

    #[test]
    fn who_got_a_lock_later_is_not_waited_for() {
        let mut queues = Queues::default();
        let mut check = |statement: u64, place: &str, holders: &[Option<u32>], expect: &[Option<u32>]| {
            let mut waits = [wait(7, holders, true, place)];
            queues.keep_first(&mut waits, |_| statement);
            assert_eq!(waits[0].holders, expect, "{statement} {place} {holders:?}");
        };
        let (one, two, both) = ([Some(1)], [Some(2)], [Some(1), Some(2)]);
        check(1, "x", &one, &one);
        check(1, "x", &both, &one);
        check(1, "x", &two, &two);
        check(1, "y", &both, &both);
        check(1, "y", &one, &one);
        check(2, "y", &both, &both);
    }

    #[test]
    fn tables_are_locked_too() {
        let text = "\nLIST OF TRANSACTIONS FOR EACH SESSION:\n---TRANSACTION 8, ACTIVE 0 sec\nLOCK WAIT 1 lock struct(s), h\n\
                    MySQL thread id 7, OS thread handle 1\nTABLE LOCK table `d`.`t` trx id 8 lock mode AUTO-INC waiting\n\
                    ---TRANSACTION 6, ACTIVE 0 sec\nTABLE LOCK table `d`.`t` trx id 6 lock mode AUTO-INC\n";
        assert_eq!(waits(text), [wait(7, &[None], false, "Table(\"`d`.`t`\")")]);
    }

    #[test]
    fn a_text_without_locks_still_tells_who_waits() {
        let text = "\nLIST OF TRANSACTIONS FOR EACH SESSION:\n---TRANSACTION 8, ACTIVE 0 sec\nLOCK WAIT 1 lock struct(s), h\n\
                    MySQL thread id 7, OS thread handle 1\n---TRANSACTION 421, not started\n0 lock struct(s), h\n";
        assert_eq!(waits(text), [wait(7, &[], true, "")]);
        assert_eq!(waits(""), []);
    }

    #[test]
    fn the_length_of_the_history_is_read() {
        assert_eq!(history_length("x\nHistory list length 27\nLIST"), Some(27));
        assert_eq!(history_length("nothing"), None);
    }
}
