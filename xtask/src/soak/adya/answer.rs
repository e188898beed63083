//! Answers of adya: which of its models correspond to which levels, and what it rules out.

use std::collections::{BTreeSet, HashMap};

use ::adya::history::{Mop, Op, OpType, ReadValue};
use ::adya::{Opts, Valid, Workload, check};
use txloom_core::level::formal::{Level, Order, Requirement};

/// The models of adya that together correspond to a requirement; none if it has no such model.
pub(super) fn models(requirement: Requirement) -> &'static [&'static str] {
    match (requirement.order, requirement.level) {
        (Order::Free, Level::ReadUncommitted) => &["read-uncommitted"],
        (Order::Free, Level::ReadCommitted) => &["read-committed"],
        (Order::Free, Level::CursorStability) => &["cursor-stability"],
        (Order::Free, Level::MonotonicAtomicView) => &["monotonic-atomic-view"],
        (Order::Free, Level::ReadAtomic) => &["read-atomic"],
        (Order::Free, Level::Causal) => &["causal-cerone"],
        (Order::Free, Level::Prefix) => &["prefix"],
        (Order::Free, Level::ParallelSnapshotIsolation) => &["parallel-snapshot-isolation", "consistent-view"],
        (Order::Free, Level::SnapshotIsolation) => &["snapshot-isolation"],
        (Order::Free, Level::RepeatableRead) => &["repeatable-read"],
        (Order::Free, Level::Serializable) => &["serializable"],
        (Order::Session, Level::ReadUncommitted) => &["strong-session-read-uncommitted"],
        (Order::Session, Level::ReadCommitted) => &["strong-session-read-committed"],
        (Order::Session, Level::SnapshotIsolation) => &["strong-session-snapshot-isolation"],
        (Order::Session, Level::Serializable) => &["strong-session-serializable"],
        (Order::RealTime, Level::ReadUncommitted) => &["strong-read-uncommitted"],
        (Order::RealTime, Level::ReadCommitted) => &["strong-read-committed"],
        (Order::RealTime, Level::SnapshotIsolation) => &["strong-snapshot-isolation"],
        (Order::RealTime, Level::Serializable) => &["strict-serializable"],
        _ => &[],
    }
}

/// The requirements for which adya has a model.
pub(super) fn answered() -> impl Iterator<Item = Requirement> {
    Requirement::all().filter(|requirement| !models(*requirement).is_empty())
}

/// The result of one run of adya, for all of its models with one order of transactions.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    /// The models that do not hold.
    pub(super) ruled_out: BTreeSet<String>,
    /// The anomalies found.
    pub(super) anomalies: BTreeSet<String>,
    /// Whether adya saw no dependency at all: then it calls models that it cannot rule out *unknown*.
    pub(super) is_empty: bool,
}

impl Answer {
    /// Whether a requirement holds; `None` if adya does not know.
    pub(super) fn holds(&self, requirement: Requirement) -> Option<bool> {
        match models(requirement).iter().any(|model| self.ruled_out.contains(*model)) {
            true => Some(false),
            false if self.is_empty => None,
            false => Some(true),
        }
    }
}

/// Asks adya for all of its models with an order of transactions.
///
/// Which anomalies adya looks for does not depend on the models, only on whether one of them needs sessions or real
/// time.
pub(super) fn ask(
    history: &::adya::History,
    is_list: bool,
    order: Order,
    commits: Option<&HashMap<u64, i64>>,
) -> Answer {
    let asked = answered().filter(|requirement| requirement.order == order).flat_map(models);
    let options = Opts {
        models: asked.map(ToString::to_string).collect(),
        transaction_order: commits.cloned(),
        ..Opts::default()
    };
    let report = check(history, if is_list { Workload::ListAppend } else { Workload::RwRegister }, &options);
    let is_violated = report.valid == Valid::False;
    Answer {
        is_empty: report.anomalies.contains_key("empty-transaction-graph"),
        anomalies: report.anomalies.into_keys().collect(),
        ruled_out: report.not.into_iter().chain(report.also_not).filter(|_| is_violated).collect(),
    }
}

/// What to tell adya beside the history itself. Each field changes nothing for definitions over all version orders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Hints {
    /// Calls a transaction of unknown end committed if a committed one read something that it wrote.
    pub(super) seen: bool,
    /// Asks again with the elements of aborted transactions left out of lists, and adds the cycles found.
    pub(super) aborted: bool,
    /// Asks once for every order of the writes that no read orders: ruled out is what every order rules out.
    pub(super) orders: bool,
}

/// Asks adya with hints.
pub(super) fn ask_with(history: &::adya::History, is_list: bool, order: Order, hints: Hints) -> Answer {
    let history = if hints.seen { with_seen(history) } else { history.clone() };
    let ask = |history: &::adya::History, commits: Option<&HashMap<u64, i64>>| {
        let mut answer = ask(history, is_list, order, commits);
        if is_list && hints.aborted {
            let cut = ask(&without_aborted(history), is_list, order, commits);
            // A list that was cut may contradict what the transaction itself did.
            let is_real = |name: &&String| !["internal", "lost-update", "incompatible-order"].contains(&name.as_str());
            let names: Vec<&str> = cut.anomalies.iter().filter(is_real).map(String::as_str).collect();
            answer.ruled_out.extend(::adya::model::impossible_models(&names));
        }
        answer
    };
    let answers: Vec<Answer> = match (hints.orders, is_list) {
        (false, _) => vec![ask(&history, None)],
        (true, true) => with_final_reads(&history).iter().map(|history| ask(history, None)).collect(),
        (true, false) => commit_orders(&history).iter().map(|commits| ask(&history, Some(commits))).collect(),
    };
    let both = |all: Answer, answer: Answer| Answer {
        ruled_out: all.ruled_out.intersection(&answer.ruled_out).cloned().collect(),
        anomalies: all.anomalies.union(&answer.anomalies).cloned().collect(),
        is_empty: all.is_empty || answer.is_empty,
    };
    answers.into_iter().reduce(both).unwrap_or_default()
}

/// The history in which transactions of unknown end are committed if a committed one read what they wrote.
fn with_seen(history: &::adya::History) -> ::adya::History {
    let is_read = |key: u32, value: u32| {
        let all = committed(history);
        let mops = all.iter().flat_map(|at| &history.ops[*at].value);
        mops.into_iter().any(|mop| match mop {
            Mop::Read { key: other, value: ReadValue::List(list) } => *other == key && list.contains(&value),
            Mop::Read { key: other, value: ReadValue::Scalar(read) } => *other == key && *read == value,
            _ => false,
        })
    };
    let mut ops = history.ops.clone();
    for op in ops.iter_mut().filter(|op| op.kind == OpType::Info) {
        let is_seen = |mop: &Mop| match mop {
            Mop::Append { key, value } | Mop::Write { key, value } => is_read(*key, *value),
            Mop::Read { .. } => false,
        };
        if op.value.iter().any(is_seen) {
            op.kind = OpType::Ok;
            op.value.retain(|mop| !matches!(mop, Mop::Read { .. }));
        }
    }
    ::adya::History::from_ops(ops, history.interner.clone())
}

/// The history of lists whose reads lack the elements of aborted transactions.
fn without_aborted(history: &::adya::History) -> ::adya::History {
    let failed = history.ops.iter().filter(|op| op.kind == OpType::Fail).flat_map(|op| &op.value);
    let append = |mop: &Mop| match mop {
        Mop::Append { key, value } => Some((*key, *value)),
        _ => None,
    };
    let failed: BTreeSet<(u32, u32)> = failed.filter_map(append).collect();
    let mut ops = history.ops.clone();
    for mop in ops.iter_mut().flat_map(|op| &mut op.value) {
        if let Mop::Read { key, value: ReadValue::List(list) } = mop {
            list.retain(|value| !failed.contains(&(*key, *value)));
        }
    }
    ::adya::History::from_ops(ops, history.interner.clone())
}

/// The positions of the completions of transactions that committed for certain.
fn committed(history: &::adya::History) -> Vec<usize> {
    (0..history.ops.len()).filter(|at| history.ops[*at].kind == OpType::Ok).collect()
}

/// Orders of the writers of registers, by index of the completion: one for each way to order the writes of every key.
fn commit_orders(history: &::adya::History) -> Vec<HashMap<u64, i64>> {
    let keys = |at: usize| -> BTreeSet<u32> {
        let written = |mop: &Mop| matches!(mop, Mop::Write { .. }).then(|| mop.key());
        history.ops[at].value.iter().filter_map(written).collect()
    };
    let all = committed(history);
    let is_shared = |key: &u32| all.iter().filter(|at| keys(**at).contains(key)).count() > 1;
    let writers: Vec<usize> = all.iter().copied().filter(|at| keys(*at).iter().any(is_shared)).collect();
    let mut seen = BTreeSet::new();
    let mut orders = Vec::new();
    for order in permutations(&writers) {
        let of_key = |key: u32| order.iter().copied().filter(|at| keys(*at).contains(&key)).collect::<Vec<_>>();
        let shared: BTreeSet<u32> = order.iter().flat_map(|at| keys(*at)).filter(is_shared).collect();
        if seen.insert(shared.into_iter().map(of_key).collect::<Vec<_>>()) {
            let place = |(place, at): (usize, &usize)| (history.ops[*at].index, place as i64);
            orders.push(order.iter().enumerate().map(place).collect());
        }
    }
    orders
}

/// The history of lists with one more transaction for each list that has unread appends of several transactions: it
/// comes last and reads everything. One history for each order of these appends.
fn with_final_reads(history: &::adya::History) -> Vec<::adya::History> {
    let all = committed(history);
    let ops = || all.iter().flat_map(|at| history.ops[*at].value.iter().map(move |mop| (*at, mop)));
    let keys: BTreeSet<u32> = ops().map(|(_, mop)| mop.key()).collect();
    let mut histories = vec![history.clone()];
    for key in keys {
        let lists = ops().filter_map(|(_, mop)| match mop {
            Mop::Read { key: other, value: ReadValue::List(list) } if *other == key => Some(list.clone()),
            _ => None,
        });
        let longest = lists.max_by_key(Vec::len).unwrap_or_default();
        let unread: Vec<(usize, u32)> = ops()
            .filter_map(|(at, mop)| match mop {
                Mop::Append { key: other, value } if *other == key && !longest.contains(value) => Some((at, *value)),
                _ => None,
            })
            .collect();
        let writers: Vec<usize> = unread.iter().map(|(at, _)| *at).collect::<BTreeSet<_>>().into_iter().collect();
        if writers.len() < 2 {
            continue;
        }
        let read = |order: &[usize]| {
            let of = |writer: usize| unread.iter().filter(move |(at, _)| *at == writer).map(|(_, value)| *value);
            longest.iter().copied().chain(order.iter().flat_map(|writer| of(*writer))).collect::<Vec<u32>>()
        };
        let orders = permutations(&writers);
        let longer =
            histories.iter().flat_map(|history| orders.iter().map(|order| with_read(history, key, read(order))));
        histories = longer.collect();
    }
    histories
}

/// The history with a transaction at its end, of a process of its own, that reads a list.
fn with_read(history: &::adya::History, key: u32, list: Vec<u32>) -> ::adya::History {
    let mut ops = history.ops.clone();
    let process = ops.iter().filter_map(|op| op.process).max().map(|last| last + 1);
    for (kind, value) in [(OpType::Invoke, ReadValue::Nil), (OpType::Ok, ReadValue::List(list))] {
        let index = ops.iter().map(|op| op.index).max().map_or(0, |last| last + 1);
        ops.push(Op { index, kind, process, value: vec![Mop::Read { key, value }], time: None });
    }
    ::adya::History::from_ops(ops, history.interner.clone())
}

/// Every order of the items.
fn permutations<T: Copy>(items: &[T]) -> Vec<Vec<T>> {
    let Some((first, rest)) = items.split_first() else { return vec![Vec::new()] };
    let insert = |order: &Vec<T>, at: usize| {
        let mut longer = order.clone();
        longer.insert(at, *first);
        longer
    };
    let shorter = permutations(rest);
    shorter.iter().flat_map(|order| (0..=order.len()).map(move |at| insert(order, at))).collect()
}
