//! Small histories of all kinds, and what the two checkers say of them.

use std::cell::Cell;

use super::violations::PLANTS;
use super::{Workload, key_name, simulate};
use crate::generate::random::Random;
use crate::history::brute;
use crate::history::build::{Builder, Head};
use crate::history::check::{Checker, Verdict};
use crate::history::facts::DuplicateWrite;
use crate::history::{History, Op, Scalar, Status};
use crate::level::formal::{LEVELS, Level, Requirement};

/// How many transactions a small history has at most.
pub const TRANSACTIONS_MAX: usize = 6;
/// How many keys a small history has at most.
pub const KEYS_MAX: usize = 3;
/// How often the fast checker may be asked whether its time is over; on a small history that is an eternity.
const QUESTIONS_MAX: usize = 10_000;

/// A history that the brute force can judge: nonsense, simulated at some level, or with a planted violation. Of those with
/// lists, one in five is about transactions that read what they appended.
pub fn random_small(random: &mut Random, is_list: bool) -> History {
    if is_list && random.chance(1, 5) {
        return own_reads(random);
    }
    match random.below(4) {
        0 => {
            let level = random.pick(LEVELS).map_or(Level::Serializable, |row| row.level);
            let transactions = 1 + random.below(TRANSACTIONS_MAX);
            let keys = 1 + random.below(KEYS_MAX);
            simulate(level, &workload(transactions, keys, is_list), random)
        }
        1 => planted(random, is_list),
        _ => nonsense(random, is_list),
    }
}

fn workload(transactions: usize, keys: usize, is_list: bool) -> Workload {
    Workload { sessions: 3, transactions, keys, ops_per_transaction: 3, is_list, ..Workload::default() }
}

fn planted(random: &mut Random, is_list: bool) -> History {
    let fitting: Vec<_> = PLANTS.iter().filter(|plant| plant.is_list() == is_list).collect();
    let Some(plant) = random.pick(&fitting) else { return History::default() };
    let violation = plant.history();
    let keys = KEYS_MAX - violation.keys.len();
    let transactions = if keys == 0 { 0 } else { random.below(TRANSACTIONS_MAX - violation.len() + 1) };
    let healthy = match transactions {
        0 => History::default(),
        _ => simulate(Level::Serializable, &workload(transactions, keys, is_list), random),
    };
    plant.add_to(&healthy, random)
}

/// Mostly sensible, sometimes not.
fn nonsense(random: &mut Random, is_list: bool) -> History {
    let mut builder = Builder::default();
    let keys: Vec<_> = (0..1 + random.below(KEYS_MAX)).map(|at| builder.key(&key_name(at))).collect();
    let sessions = 1 + random.below(3);
    let mut lists: Vec<Vec<Scalar>> = vec![Vec::new(); keys.len()];
    let mut last = 0;
    for at in 0..1 + random.below(TRANSACTIONS_MAX) {
        let status = match random.below(12) {
            0 => Status::Aborted,
            1 => Status::Unknown,
            _ => Status::Committed,
        };
        let began = at as u64 * 2 + random.below(3) as u64;
        let ended = began + 1 + random.below(6) as u64;
        let session = random.below(sessions) as u32;
        builder.begin(Head { session, status, began: Some(began), ended: Some(ended), line: at as u32 + 1 });
        for _ in 0..random.between(1, 3) {
            let key = random.below(keys.len());
            if random.chance(1, 2) {
                last += 1;
                let value = Scalar(last);
                builder.push(if is_list { Op::Append(keys[key], value) } else { Op::Write(keys[key], value) });
                if random.chance(4, 5) {
                    lists[key].push(value);
                }
            } else if is_list {
                let length = if random.chance(1, 2) { lists[key].len() } else { random.below(lists[key].len() + 1) };
                builder.push_list(keys[key], &lists[key][..length]);
            } else {
                let value = random.pick(&lists[key]).copied().filter(|_| random.chance(4, 5));
                builder.push(Op::Read(keys[key], value));
            }
        }
    }
    builder.finish()
}

/// A transaction of [`own_reads`]: its head, and what it did so far.
struct Interleaved {
    head: Head,
    ops: Vec<(usize, Option<Scalar>, Vec<Scalar>)>,
}

/// Transactions whose operations interleave, on few lists, so that each reads its own appends before, behind and
/// between those of others. A read may also miss the end of a list, or what its reader appended.
fn own_reads(random: &mut Random) -> History {
    let mut builder = Builder::default();
    let keys: Vec<_> = (0..1 + random.below(2)).map(|at| builder.key(&key_name(at))).collect();
    let sessions = 1 + random.below(3);
    let mut lists: Vec<Vec<Scalar>> = vec![Vec::new(); keys.len()];
    let mut transactions: Vec<Interleaved> = (0..2 + random.below(3))
        .map(|at| {
            let status = match random.below(10) {
                0 => Status::Aborted,
                1 => Status::Unknown,
                _ => Status::Committed,
            };
            let began = random.below(4) as u64;
            let (session, ended) = (random.below(sessions) as u32, began + 1 + random.below(6) as u64);
            let head = Head { session, status, began: Some(began), ended: Some(ended), line: at as u32 + 1 };
            Interleaved { head, ops: Vec::new() }
        })
        .collect();
    let mut last = 0;
    for _ in 0..2 * transactions.len() + random.below(2 * transactions.len()) {
        let at = random.below(transactions.len());
        let key = random.below(keys.len());
        let has_appended = transactions[at].ops.iter().any(|(other, value, _)| *other == key && value.is_some());
        if random.chance(if has_appended { 1 } else { 4 }, 5) {
            last += 1;
            lists[key].push(Scalar(last));
            transactions[at].ops.push((key, Some(Scalar(last)), Vec::new()));
            // What is taken back or was never there is missing in the lists of others.
            if random.chance(1, 12) {
                lists[key].pop();
            }
        } else {
            let length = if random.chance(3, 4) { lists[key].len() } else { random.below(lists[key].len() + 1) };
            transactions[at].ops.push((key, None, lists[key][..length].to_vec()));
        }
    }
    for Interleaved { head, ops } in transactions {
        builder.begin(head);
        for (key, value, list) in ops {
            match value {
                Some(value) => builder.push(Op::Append(keys[key], value)),
                None => builder.push_list(keys[key], &list),
            }
        }
    }
    builder.finish()
}

/// What the two checkers say of a history.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The requirements on which they disagree.
    pub disagreements: Vec<Requirement>,
    /// The requirements that the fast one left open.
    pub undecided: Vec<Requirement>,
}

/// Asks both checkers for every level with every order.
pub fn compare(history: &History) -> Result<Comparison, DuplicateWrite> {
    let checker = Checker::new(history)?;
    let mut comparison = Comparison::default();
    for (requirement, holds) in brute::all(history)? {
        let questions = Cell::new(0);
        let should_stop = || questions.replace(questions.get() + 1) > QUESTIONS_MAX;
        match checker.check(requirement, &should_stop) {
            Verdict::Undecided(_) => comparison.undecided.push(requirement),
            verdict if verdict.holds() != holds => comparison.disagreements.push(requirement),
            Verdict::Holds(_) | Verdict::Violated(_) => {}
        }
    }
    Ok(comparison)
}
