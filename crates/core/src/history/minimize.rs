//! The smallest part of a history that still violates a level, in the same way.
//!
//! Most of a long history has nothing to do with what is wrong in it. Left are a few transactions of which none, and a few
//! operations of which none can go. What is read stays as it was read: a list keeps its elements, and with them those who
//! appended them.
//!
//! First a guess, which nearly always is right: the transactions of the cycle, and those parts of others that wrote what
//! they read. Then delta debugging, over transactions and over operations.

use std::collections::{BTreeMap, HashMap};

use super::anomaly::Named;
use super::build::{Builder, Head};
use super::check::{Checker, Reason, Verdict};
use super::explain::concerned;
use super::facts::{Oddity, OddityKind};
use super::{History, Op, TxnId};
use crate::level::formal::Requirement;
use crate::reduce::ddmin::ddmin;

/// An operation: whose, and which.
type Place = (TxnId, u32);

/// The smallest part; the history itself, if the time is over before anything smaller is found. `None` if the level is not
/// violated.
pub fn smallest(history: &History, requirement: Requirement, should_stop: &dyn Fn() -> bool) -> Option<History> {
    let checker = Checker::new(history).ok()?;
    let Verdict::Violated(reason) = checker.check(requirement, should_stop) else { return None };
    let name = Named::of(&reason);
    let writers = writers(history);
    let is_same = |places: &[Place]| {
        if should_stop() {
            return false;
        }
        let part = part(history, places);
        let Ok(checker) = Checker::new(&part) else { return false };
        if checker.facts.oddities.iter().any(|oddity| is_orphan(history, &writers, &part, oddity)) {
            return false;
        }
        matches!(checker.check(requirement, should_stop), Verdict::Violated(reason) if Named::of(&reason) == name)
    };
    let guess = guess(history, &writers, &checker, &reason);
    drop(checker);
    let all = || history.transactions().flat_map(|(id, _)| places(history, id)).collect::<Vec<Place>>();
    let mut kept = if is_same(&guess) { guess } else { all() };
    let ids: Vec<TxnId> = by_transaction(&kept).into_keys().collect();
    let with = |ids: &[TxnId]| -> Vec<Place> {
        kept.iter().copied().filter(|(id, _)| ids.binary_search(id).is_ok()).collect()
    };
    let ids = ddmin(&ids, &mut |ids: &[TxnId]| is_same(&with(ids)));
    kept = with(&ids);
    kept = ddmin(&kept, &mut |places: &[Place]| is_same(places));
    Some(part(history, &kept))
}

fn places(history: &History, id: TxnId) -> impl Iterator<Item = Place> {
    (0..history.ops(id).len() as u32).map(move |op| (id, op))
}

fn by_transaction(places: &[Place]) -> BTreeMap<TxnId, Vec<u32>> {
    let mut by: BTreeMap<TxnId, Vec<u32>> = BTreeMap::new();
    places.iter().for_each(|(id, op)| by.entry(*id).or_default().push(*op));
    by
}

/// Who wrote a value to a key.
type Writers = HashMap<(u32, i64), TxnId>;

fn writers(history: &History) -> Writers {
    let mut writers = Writers::new();
    for (id, _) in history.transactions() {
        for op in history.ops(id) {
            if let Op::Write(key, value) | Op::Append(key, value) = op {
                writers.insert((key.0, value.0), id);
            }
        }
    }
    writers
}

/// Whether a read makes no sense only because its writer was left out.
fn is_orphan(history: &History, writers: &Writers, part: &History, oddity: &Oddity) -> bool {
    let (OddityKind::ThinAirRead, Some(value)) = (oddity.kind, oddity.value) else { return false };
    let key = history.keys.iter().position(|name| name == part.key_name(oddity.key));
    let value = match part.text(value) {
        Some(text) => history.texts.iter().position(|other| other == text).map(|at| i64::MIN + at as i64),
        None => Some(value.0),
    };
    key.zip(value).is_some_and(|(key, value)| writers.contains_key(&(key as u32, value)))
}

/// Those that are to blame, whole, and of others whatever they wrote to a key of which the former read their version.
fn guess(history: &History, writers: &Writers, checker: &Checker<'_>, reason: &Reason) -> Vec<Place> {
    let blamed = concerned(&checker.facts, reason);
    let mut kept: Vec<Place> = blamed.iter().flat_map(|id| places(history, *id)).collect();
    for op in blamed.iter().flat_map(|id| history.ops(*id)) {
        let key = op.key();
        let values: Vec<i64> = match op {
            Op::Read(_, value) => value.iter().map(|value| value.0).collect(),
            Op::ReadList(..) => history.spine(key).iter().map(|value| value.0).collect(),
            _ => Vec::new(),
        };
        for id in values.iter().filter_map(|value| writers.get(&(key.0, *value))) {
            let writes = |(id, at): &Place| {
                let op = &history.ops(*id)[*at as usize];
                op.key() == key && matches!(op, Op::Write(..) | Op::Append(..))
            };
            kept.extend(places(history, *id).filter(writes));
        }
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// The part of a history that consists of these operations, which are in order.
fn part(history: &History, places: &[Place]) -> History {
    let mut builder = Builder::default();
    let mut last = None;
    for (id, at) in places {
        let transaction = history.transaction(*id);
        if last.replace(*id) != Some(*id) {
            builder.begin(Head {
                session: transaction.session,
                status: transaction.status,
                began: transaction.began,
                ended: transaction.ended,
                line: transaction.line,
            });
        }
        let op = &history.ops(*id)[*at as usize];
        let key = builder.key(history.key_name(op.key()));
        let mut same = |value: super::Scalar| match history.text(value) {
            Some(text) => builder.text(text),
            None => value,
        };
        match op {
            Op::Write(_, value) => {
                let value = same(*value);
                builder.push(Op::Write(key, value));
            }
            Op::Append(_, value) => {
                let value = same(*value);
                builder.push(Op::Append(key, value));
            }
            Op::Read(_, value) => {
                let value = value.map(same);
                builder.push(Op::Read(key, value));
            }
            Op::ReadList(id, list) => {
                let list: Vec<super::Scalar> = history.list(*id, *list).iter().map(|value| same(*value)).collect();
                builder.push_list(key, &list);
            }
            Op::Unread(_) => builder.push(Op::Unread(key)),
        }
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::micro::{micro, print};

    fn check(text: &str, level: &str, expect: &str) {
        let requirement = Requirement::parse(level).unwrap();
        let small = smallest(&micro(text).unwrap(), requirement, &|| false).unwrap();
        assert_eq!(print(&small).replace('\n', " / "), expect, "{text}");
    }

    #[test]
    fn what_does_not_matter_goes() {
        check("wz1 wx1 ry_ / wy1 rx_ rz1 / wa1 | ra1", "serializable", "wx1 ry_ / wy1 rx_");
        check("wx1 ! wz1 / rx1 / wy1".replace("! wz1", "wz1 !").as_str(), "read committed", "wx1 ! / rx1");
        check("ax1 ay1 / ax2 az1 / rx1 ax3 / rx12", "snapshot isolation", "ax1 / ax2 / rx1 ax3 / rx12");
        check("wy1 / rx7 ry1", "read uncommitted", "rx7");
    }

    #[test]
    fn what_holds_has_no_smallest_part() {
        assert!(smallest(&micro("wx1 / rx1").unwrap(), Requirement::parse("si").unwrap(), &|| false).is_none());
    }
}
