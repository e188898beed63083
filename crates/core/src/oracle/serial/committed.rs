//! What committed in a run, as a case of its own.
//!
//! A rolled-back transaction has no place in a serial order, so its statements are left out. So are statements that
//! failed because of others (a lock time-out that leaves the transaction open): they did nothing, and run alone they
//! would not have failed. Calls are kept or left out as a whole, since nobody but the program knows what they do next.

use std::collections::BTreeMap;

use crate::case::{Case, Item, Line, SessionName};
use crate::engine::SessionId;
use crate::oracle::observe::{Observations, Place};
use crate::outcome::{ErrorClass, TxStatus};
use crate::sql;
use crate::trace::transactions::{Fate, Start, Transaction, transactions};
use crate::trace::{StepId, StepRun, Trace};

/// The committed part of a run.
pub(super) struct Committed {
    /// The case without what did not commit, and without schedules, events, assertions and expectations.
    pub(super) case: Case,
    /// The transactions, in the order of their commits.
    pub(super) units: Vec<Unit>,
    /// Where the steps of the run stand in [`Committed::case`].
    places: BTreeMap<StepId, Place>,
}

/// A committed transaction: what a serial order arranges.
pub(super) struct Unit {
    pub(super) session: SessionName,
    /// When it began, as the position of its first step.
    pub(super) began: StepId,
    /// What the orders call it: the session, with a number where it has several.
    pub(super) label: String,
    /// What it is: a call, or its statements.
    pub(super) what: What,
    /// The statements that it sent.
    pub(super) statements: Vec<String>,
}

/// Where a transaction comes from.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum What {
    /// All of its steps belong to one call.
    Call {
        /// The procedure.
        procedure: String,
        /// The call with its arguments.
        text: String,
    },
    /// SQL, one item per statement.
    Statements,
}

impl Committed {
    /// Takes a run apart; the error says why it cannot be judged.
    pub(super) fn of(case: &Case, trace: &Trace) -> Result<Committed, String> {
        let mut transactions = transactions(trace);
        transactions.retain(|transaction| !is_idle_control(trace, transaction));
        let kept = kept_items(case, trace, &transactions)?;
        let reduced = reduced_case(case, trace, &kept);
        let places = places(trace, &kept);
        let units = units(case, trace, &transactions)?;
        Ok(Committed { case: reduced, units, places })
    }

    /// What the run observed in its committed transactions, and its final state.
    pub(super) fn observations(&self, trace: &Trace) -> Observations {
        Observations::of(trace, |id| self.places.get(&id).cloned())
    }
}

/// A COMMIT or ROLLBACK when nothing was open: it did nothing, and would only multiply the orders.
fn is_idle_control(trace: &Trace, transaction: &Transaction) -> bool {
    let [id] = transaction.steps[..] else { return false };
    let text = &trace.step(id).sql;
    let single = !sql::tokens(text).iter().any(|token| token.is_symbol(";"));
    transaction.start == Start::Autocommit && single && trace.engine.dialect.kind(text).is_transaction_control()
}

/// An item, by its session and its position among the session's items.
type ItemId = (SessionId, usize);

/// The items that committed.
fn kept_items(case: &Case, trace: &Trace, transactions: &[Transaction]) -> Result<Vec<ItemId>, String> {
    let mut fates: BTreeMap<ItemId, Vec<bool>> = BTreeMap::new();
    for transaction in transactions {
        if matches!(transaction.fate, Fate::Lost | Fate::Unknown) {
            let name = trace.name(transaction.session);
            return Err(format!("it is not known whether a transaction of {name} committed"));
        }
        for id in &transaction.steps {
            let step = trace.step(*id);
            let failed_by_others = transaction.is_committed() && check_failed_by_others(case, trace, step)?;
            fates.entry((step.session, step.item)).or_default().push(transaction.is_committed() && !failed_by_others);
        }
    }
    let mut kept = Vec::new();
    for (item, committed) in fates {
        match (committed.contains(&true), committed.contains(&false)) {
            (true, true) => {
                let name = trace.name(item.0);
                return Err(format!("a call of {name} committed one transaction and rolled back another"));
            }
            (true, false) => kept.push(item),
            (false, _) => {}
        }
    }
    Ok(kept)
}

/// Whether a statement of a committed transaction failed because of others, without having done anything.
fn check_failed_by_others(case: &Case, trace: &Trace, step: &StepRun) -> Result<bool, String> {
    let Some(outcome) = &step.outcome else { return Ok(false) };
    let class = outcome.error_class();
    if !class.is_some_and(|class| class.is_concurrency() || class == ErrorClass::Cancelled) {
        return Ok(false);
    }
    let is_call = matches!(item_of(case, trace, step), Some(Item::Call(_)));
    if is_call || !outcome.results.is_empty() {
        let name = trace.name(step.session);
        return Err(format!("a transaction of {name} committed although a part of a step failed because of others"));
    }
    Ok(true)
}

fn item_of(case: &Case, trace: &Trace, step: &StepRun) -> Option<Item> {
    let name = trace.name(step.session);
    let session = case.sessions().into_iter().find(|session| session.name == *name)?;
    session.items.into_iter().nth(step.item)
}

fn reduced_case(case: &Case, trace: &Trace, kept: &[ItemId]) -> Case {
    let session_id = |name: &SessionName| trace.sessions.iter().position(|session| session.name == *name);
    let mut kept_entries = Vec::new();
    for session in case.sessions() {
        let Some(id) = session_id(&session.name).map(SessionId) else { continue };
        let entries = session.entries.iter().enumerate().filter(|(item, _)| kept.contains(&(id, *item)));
        kept_entries.extend(entries.map(|(_, entry)| *entry));
    }
    let mut reduced = Case { program: case.program.clone(), ..Case::default() };
    for (position, entry) in case.entries.iter().enumerate() {
        let line = match &entry.line {
            Line::Step(name, item, _) if kept_entries.contains(&position) => {
                Line::Step(name.clone(), item.clone(), Vec::new())
            }
            Line::Init(sql, _) => Line::Init(sql.clone(), Vec::new()),
            Line::Isolation(..) | Line::Node(..) | Line::Program(_) => entry.line.clone(),
            _ => continue,
        };
        reduced.entries.push(line.into());
    }
    reduced
}

/// Where each kept step stands: its session, its item among the kept ones, its position in the item.
fn places(trace: &Trace, kept: &[ItemId]) -> BTreeMap<StepId, Place> {
    let mut places = BTreeMap::new();
    let mut counts: BTreeMap<ItemId, usize> = BTreeMap::new();
    for (id, step) in trace.steps.iter().enumerate() {
        let item = (step.session, step.item);
        let Some(found) = kept.iter().position(|kept| *kept == item) else { continue };
        let before = kept[..found].iter().filter(|kept| kept.0 == step.session).count();
        let position = counts.entry(item).or_default();
        let session = trace.name(step.session).clone();
        places.insert(StepId(id), Place { session, item: before, position: *position });
        *position += 1;
    }
    places
}

/// The committed transactions as units of serial orders.
///
/// A serial run goes from one point where the server reports no open transaction to the next. DDL that commits what is
/// open has no such point before it: it makes one unit with the transaction that it ended. Transactions that follow
/// each other without such a point in any other way cannot be separated, and so not be judged.
fn units(case: &Case, trace: &Trace, transactions: &[Transaction]) -> Result<Vec<Unit>, String> {
    let mut groups: Vec<Vec<&Transaction>> = Vec::new();
    for (position, transaction) in transactions.iter().enumerate() {
        let of_session = |other: &&Transaction| other.session == transaction.session;
        let before = transactions[..position].iter().rev().find(of_session);
        let joined = before.filter(|before| ends_open(trace, before));
        let committed = transaction.is_committed();
        match joined {
            None if committed => groups.push(vec![transaction]),
            Some(before) if committed && before.is_committed() && transaction.start == Start::Autocommit => {
                let group = groups.iter_mut().find(|group| group.contains(&before));
                group.expect("a committed transaction is in a group").push(transaction);
            }
            Some(before) if committed || before.is_committed() => {
                let name = trace.name(transaction.session);
                return Err(format!(
                    "a transaction of {name} began where another ended: no serial order separates them"
                ));
            }
            _ => {}
        }
    }
    let mut units: Vec<Unit> = groups.iter().map(|group| unit(case, trace, group)).collect();
    label(&mut units);
    Ok(units)
}

/// Whether the status after the last step of a transaction is that of the next one.
fn ends_open(trace: &Trace, transaction: &Transaction) -> bool {
    let last = transaction.steps.last().and_then(|id| trace.step(*id).outcome.as_ref());
    last.is_some_and(|outcome| outcome.status == TxStatus::Open)
}

fn unit(case: &Case, trace: &Trace, group: &[&Transaction]) -> Unit {
    let ids: Vec<StepId> = group.iter().flat_map(|transaction| transaction.steps.iter().copied()).collect();
    let first = trace.step(ids[0]);
    let one_item = ids.iter().all(|id| trace.step(*id).item == first.item);
    let what = match item_of(case, trace, first) {
        Some(Item::Call(call)) if one_item => What::Call { procedure: call.procedure.clone(), text: call.to_string() },
        _ => What::Statements,
    };
    Unit {
        session: trace.name(first.session).clone(),
        began: ids[0],
        label: String::new(),
        what,
        statements: ids.iter().map(|id| sql::one_line(&trace.step(*id).sql)).collect(),
    }
}

/// `a` for the only transaction of a session, else `a.1`, `a.2`.
fn label(units: &mut [Unit]) {
    let sessions: Vec<SessionName> = units.iter().map(|unit| unit.session.clone()).collect();
    for (position, unit) in units.iter_mut().enumerate() {
        let total = sessions.iter().filter(|name| **name == unit.session).count();
        let number = sessions[..=position].iter().filter(|name| **name == unit.session).count();
        unit.label = if total == 1 { unit.session.to_string() } else { format!("{}.{number}", unit.session) };
    }
}
