//! Causes of differences between txloom and adya.
//!
//! A cause is never assigned by a difference alone. It is tested: adya is told what it does not infer and must then
//! agree; or txloom must agree as soon as the reads that adya ignores are left out; or the violation is a single read
//! of a kind that adya's model does not forbid. What passes no test has no cause.

use std::collections::BTreeMap;

use txloom_core::history::build::{Builder, Head};
use txloom_core::history::check::{Reason, Verdict, check};
use txloom_core::history::facts::OddityKind;
use txloom_core::history::{History, Op};
use txloom_core::level::formal::{Level, Order, Requirement};

use super::answer::{Answer, Hints, ask_with};
use super::input::Input;

/// Why adya accepts what txloom and brute force reject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    NoCycleCondition,
    CursorReads,
    GarbageRead,
    OwnOrder,
    IncompatibleOrder,
    FutureRead,
    Internal,
    LaterReads,
    Orders,
    Seen,
    Aborted,
    Several,
}

/// A row of the table of causes.
pub(super) struct CauseRow {
    pub(super) cause: Cause,
    /// The name, as it stands in the table and in the saved results.
    pub(super) name: &'static str,
    /// The definition that decides, and how the cause is tested.
    pub(super) explanation: &'static str,
}

const fn row(cause: Cause, name: &'static str, explanation: &'static str) -> CauseRow {
    CauseRow { cause, name, explanation }
}

pub(super) const CAUSES: &[CauseRow] = &[
    row(
        Cause::NoCycleCondition,
        "model without a cycle condition",
        "adya forbids no cycles of its own in monotonic atomic view, read atomic, causal and prefix, only G1, internal and \
         future reads. Bailis et al., Biswas & Enea and Cerone et al. forbid fractured and non-causal views. Test: txloom's \
         reason at one of these levels is a cycle.",
    ),
    row(
        Cause::CursorReads,
        "cursor stability: one reader",
        "adya forbids a lost update only if two transactions read the same version before they write. Adya's G-cursor forbids \
         every `T rw U ww T` on one key: also if U writes without reading, or if the read follows the write. Test: txloom's \
         reason at cursor stability is a cycle, and adya reports no `lost-update`.",
    ),
    row(
        Cause::GarbageRead,
        "garbage read",
        "adya accepts reads of values that nothing wrote. No history of Adya's model contains them. Test: txloom's reason is \
         such a read.",
    ),
    row(
        Cause::OwnOrder,
        "own appends out of order",
        "A list shows a later append of a transaction without the earlier one, or before it. adya puts the missing element \
         after the list. Adya: a transaction's versions of an object follow each other in its order. Test: txloom's reason \
         is such a list, and adya reports no `incompatible-order`.",
    ),
    row(
        Cause::IncompatibleOrder,
        "incompatible order allowed at read uncommitted",
        "Two lists of which neither is a prefix of the other. adya, like Elle, derives G1a and forbids it from read committed \
         on. No version order exists, so txloom forbids it everywhere. Test: adya reports `incompatible-order`.",
    ),
    row(
        Cause::FutureRead,
        "future read of a register",
        "A transaction reads a value that it writes later. adya looks for this in lists only. Test: the history has \
         registers, and txloom's reason is such a read.",
    ),
    row(
        Cause::Internal,
        "internal, allowed by the model",
        "A read contradicts what the transaction itself wrote or read before. adya forbids `internal` in read atomic, snapshot \
         isolation and serializable, but not in monotonic atomic view and repeatable read. Adya's rules for histories demand \
         that transactions read their own writes. Test: txloom's reason is such a read, and adya reports `internal` itself.",
    ),
    row(
        Cause::LaterReads,
        "later reads of a register",
        "adya takes dependencies only from a transaction's first read of a register before it writes it; later ones can only \
         be `internal`. Adya: every read is a read dependency. Test: txloom agrees with adya once the later reads are left \
         out.",
    ),
    row(
        Cause::Orders,
        "no order of versions works",
        "No read orders some writes. txloom and brute force try every order, adya only follows what was observed. Test: adya \
         is told each order (`transaction_order`; for lists a final read) and rejects all of them.",
    ),
    row(
        Cause::Seen,
        "unknown end, but seen",
        "A committed transaction read from one of unknown end, so that one committed. adya gives it no dependencies (register \
         writes) or no place in its session. Test: adya agrees if the end is given as `ok`.",
    ),
    row(
        Cause::Aborted,
        "aborted versions interrupt the order",
        "A list contains elements of an aborted transaction. adya orders neighbours only and loses the write dependency \
         across such an element. Test: adya agrees once these elements are left out.",
    ),
    row(
        Cause::Several,
        "several of the above at once",
        "adya agrees only if it is given more than one of the three hints before: orders, ends, lists without aborted \
         elements.",
    ),
];

/// The verdicts of both checkers on one history.
pub(super) struct Verdicts<'a> {
    pub(super) input: &'a Input,
    pub(super) ours: &'a BTreeMap<Requirement, Verdict>,
    pub(super) theirs: &'a BTreeMap<Order, Answer>,
}

impl Verdicts<'_> {
    /// The cause of a difference; `None` if there is no known one.
    pub(super) fn cause(&self, requirement: Requirement) -> Option<Cause> {
        let Verdict::Violated(reason) = &self.ours[&requirement] else { return None };
        match reason {
            Reason::Odd(oddity) => self.of_oddity(oddity.kind, requirement).or_else(|| self.of_hints(requirement)),
            Reason::Cycle { .. } => {
                self.of_level(requirement.level, requirement.order).or_else(|| self.of_hints(requirement))
            }
        }
    }

    fn reports(&self, order: Order, anomaly: &str) -> bool {
        self.theirs[&order].anomalies.contains(anomaly)
    }

    fn of_oddity(&self, kind: OddityKind, requirement: Requirement) -> Option<Cause> {
        let order = requirement.order;
        match kind {
            OddityKind::ThinAirRead => Some(Cause::GarbageRead),
            OddityKind::IncompatibleOrder if !self.reports(Order::Free, "incompatible-order") => Some(Cause::OwnOrder),
            OddityKind::IncompatibleOrder if requirement.level == Level::ReadUncommitted => {
                Some(Cause::IncompatibleOrder)
            }
            OddityKind::FutureRead if !self.input.is_list => Some(Cause::FutureRead),
            OddityKind::Internal | OddityKind::Unrepeatable if self.reports(order, "internal") => {
                let allows = [Level::MonotonicAtomicView, Level::RepeatableRead].contains(&requirement.level);
                allows.then_some(Cause::Internal)
            }
            _ => None,
        }
    }

    fn of_level(&self, level: Level, order: Order) -> Option<Cause> {
        match level {
            Level::MonotonicAtomicView | Level::ReadAtomic | Level::Causal | Level::Prefix => {
                Some(Cause::NoCycleCondition)
            }
            Level::CursorStability if !self.reports(order, "lost-update") => Some(Cause::CursorReads),
            _ => None,
        }
    }

    /// The smallest set of hints that makes the two agree.
    fn of_hints(&self, requirement: Requirement) -> Option<Cause> {
        let hints = |bits: u32| Hints { orders: bits & 1 > 0, seen: bits & 2 > 0, aborted: bits & 4 > 0 };
        let agrees = |bits: &u32| {
            let answer = ask_with(&self.input.theirs, self.input.is_list, requirement.order, hints(*bits));
            answer.holds(requirement) == Some(false)
        };
        let singles = [(1, Cause::Orders), (2, Cause::Seen), (4, Cause::Aborted)];
        if let Some((_, cause)) = singles.iter().find(|(bits, _)| agrees(bits)) {
            return Some(*cause);
        }
        if !self.input.is_list {
            let first_reads = first_reads(&self.input.ours);
            let holds = |requirement| check(&first_reads, requirement).is_ok_and(|verdict| verdict.holds());
            if holds(requirement) {
                return Some(Cause::LaterReads);
            }
        }
        (3..8_u32).filter(|bits| bits.count_ones() > 1).any(|bits| agrees(&bits)).then_some(Cause::Several)
    }
}

/// The history of registers without the reads that adya ignores: those of a key that the transaction read or wrote
/// before.
fn first_reads(history: &History) -> History {
    let mut builder = Builder::default();
    history.keys.iter().for_each(|name| {
        builder.key(name);
    });
    for (id, transaction) in history.transactions() {
        let (session, status, began, ended, line) =
            (transaction.session, transaction.status, transaction.began, transaction.ended, transaction.line);
        builder.begin(Head { session, status, began, ended, line });
        let ops = history.ops(id);
        for (at, op) in ops.iter().enumerate() {
            let is_ignored = matches!(op, Op::Read(..)) && ops[..at].iter().any(|before| before.key() == op.key());
            if !is_ignored {
                builder.push(*op);
            }
        }
    }
    builder.finish()
}
