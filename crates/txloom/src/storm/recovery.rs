//! What must be there when nobody is at work: everything that was acknowledged, and nothing half-done.
//!
//! ```text
//!   T1   ├─ write 7 → a ─┤ committed
//!   T2                      ├─ write 7 → b ─┤ committed      ☠ kill -9      audit: 7 is a
//! ```
//!
//! T2 began after T1 had ended, so `b` came after `a`. Whoever finds `a` has lost an acknowledged commit. That is the
//! rule:
//! *the version that is found must not have been written by somebody who had ended when another writer, known to have
//! committed, began.* Who was concurrent may have been first or last, and is not accused. Of a list no doubt is left:
//! what was appended must be in it.
//!
//! **Half-done.** A transaction of unknown fate is known to have committed as soon as one of its versions is found.
//! Then the rule asks for all the others, too. A version that its own transaction wrote over, and one that was rolled
//! back, must not be found at all.
//!
//! **Rows that come and go.** Where there is no row, somebody must have removed it: a transaction that may have been
//! the last, by the same rule. Otherwise what was inserted is lost.

use std::collections::{BTreeMap, HashMap, HashSet};

use txloom_core::history::Status;

use super::log::{Access, Done, Item, Seen};
use super::recording::Recording;

/// Something that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Where.
    pub item: Item,
    /// What is wrong there.
    pub kind: LossKind,
}

/// What is wrong with an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LossKind {
    /// An older version is there than one whose transaction committed.
    Lost {
        /// The version that is there; 0 is the initial one.
        found: i64,
        /// The later one.
        lost: i64,
        /// Whether its commit was acknowledged; else its transaction is half there.
        is_acknowledged: bool,
    },
    /// There is no row, although the transaction that wrote it committed, and nobody can have removed it later.
    Gone {
        /// The version that was written.
        lost: i64,
        /// See [`LossKind::Lost`].
        is_acknowledged: bool,
    },
    /// A list lacks what a transaction that committed appended to it.
    NotInList {
        /// The element.
        lost: i64,
        /// See [`LossKind::Lost`].
        is_acknowledged: bool,
    },
    /// A version is there that was rolled back.
    RolledBack(i64),
    /// A version is there that its own transaction wrote over.
    Intermediate(i64),
    /// The row is gone, or holds what nobody wrote.
    Nonsense(String),
}

impl Loss {
    /// The loss as a sentence.
    pub fn sentence(&self, name: &dyn Fn(Item) -> String) -> String {
        let item = name(self.item);
        let whose = |is_acknowledged: &bool| match is_acknowledged {
            true => "which was acknowledged",
            false => "of a transaction that is there in part",
        };
        match &self.kind {
            LossKind::Lost { found, lost, is_acknowledged } => {
                format!("{item} has version {found}, and not the later version {lost}, {}", whose(is_acknowledged))
            }
            LossKind::Gone { lost, is_acknowledged } => {
                format!("{item} is gone, and nobody removed it after version {lost}, {}", whose(is_acknowledged))
            }
            LossKind::NotInList { lost, is_acknowledged } => {
                format!("the list {item} lacks {lost}, {}", whose(is_acknowledged))
            }
            LossKind::RolledBack(found) => format!("{item} has version {found}, which was rolled back"),
            LossKind::Intermediate(found) => {
                format!("{item} has version {found}, which its own transaction wrote over before it committed")
            }
            LossKind::Nonsense(what) => format!("{item}: {what}"),
        }
    }
}

/// Compares what an audit found with what was done before it: at most one loss per item.
pub fn losses(before: &Recording, audit: &[Access]) -> Vec<Loss> {
    let items: HashMap<Item, &Access> = audit.iter().map(|access| (access.item(), access)).collect();
    let found = versions(audit);
    let writers = Writers::of(before, &found);
    let mut losses: BTreeMap<Item, LossKind> = BTreeMap::new();
    before.visit(|transaction| {
        let is_acknowledged = transaction.status == Status::Committed;
        let written = || transaction.accesses.iter().filter_map(|access| Some((access.item(), access.written()?)));
        let is_there = || written().any(|version| found.contains(&version));
        let is_committed = is_acknowledged || (transaction.status == Status::Unknown && is_there());
        for (item, lost) in written().filter(|_| is_committed) {
            let kind = match items.get(&item) {
                Some(Access::List(_, Some(_))) if !found.contains(&(item, lost)) => {
                    LossKind::NotInList { lost, is_acknowledged }
                }
                Some(Access::Read(_, Seen::Version(found))) if writers.had_ended(item, *found, transaction.began) => {
                    LossKind::Lost { found: *found, lost, is_acknowledged }
                }
                Some(Access::Absent(_)) if !writers.may_be_removed(item, transaction) => {
                    LossKind::Gone { lost, is_acknowledged }
                }
                _ => continue,
            };
            losses.insert(item, kind);
        }
    });
    // What must not be there at all says more than what is missing.
    losses.extend(audit.iter().flat_map(|access| writers.wrong(access)));
    losses.into_iter().map(|(item, kind)| Loss { item, kind }).collect()
}

/// All versions that were found, but the initial ones.
fn versions(audit: &[Access]) -> HashSet<(Item, i64)> {
    let mut found = HashSet::new();
    for access in audit {
        match access {
            Access::Read(item, Seen::Version(version)) => drop(found.insert((*item, *version))),
            Access::List(item, Some(elements)) => found.extend(elements.iter().map(|element| (*item, *element))),
            _ => {}
        }
    }
    found
}

/// Who wrote the versions that were found, and who removed what.
struct Writers {
    writers: HashMap<(Item, i64), Writer>,
    removers: HashMap<Item, Vec<Remover>>,
}

/// A transaction that may have removed a row.
struct Remover {
    began: u64,
    ended: u64,
    status: Status,
}

struct Writer {
    ended: u64,
    status: Status,
    /// Whether it wrote over the version itself.
    is_intermediate: bool,
}

impl Writers {
    fn of(before: &Recording, found: &HashSet<(Item, i64)>) -> Writers {
        let mut writers = HashMap::new();
        let mut removers: HashMap<Item, Vec<Remover>> = HashMap::new();
        before.visit(|Done { began, ended, status, accesses, .. }| {
            let mut last: HashMap<Item, i64> = HashMap::new();
            for access in accesses {
                let Some(version) = access.written() else { continue };
                let key = (access.item(), version);
                if found.contains(&key) {
                    writers.insert(key, Writer { ended: *ended, status: *status, is_intermediate: false });
                }
                if matches!(access, Access::Delete(..)) && *status != Status::Aborted {
                    let remover = Remover { began: *began, ended: *ended, status: *status };
                    removers.entry(key.0).or_default().push(remover);
                }
                let earlier = last.insert(key.0, version).filter(|_| !matches!(access, Access::Append(..)));
                if let Some(writer) = earlier.and_then(|earlier| writers.get_mut(&(key.0, earlier))) {
                    writer.is_intermediate = true;
                }
            }
        });
        Writers { writers, removers }
    }

    /// Whether somebody may have removed a row after a transaction had written it, that transaction itself included.
    fn may_be_removed(&self, item: Item, writer: &Done) -> bool {
        let may_be_later = |remover: &Remover| {
            remover.status == Status::Unknown || remover.began == writer.began || remover.ended > writer.began
        };
        self.removers.get(&item).is_some_and(|removers| removers.iter().any(may_be_later))
    }

    /// Whether whoever wrote a version had ended at a time. Nobody is known to be earlier than the unknown.
    fn had_ended(&self, item: Item, version: i64, time: u64) -> bool {
        version == 0 || self.writers.get(&(item, version)).is_some_and(|writer| writer.ended < time)
    }

    /// What is there and must not be.
    fn wrong(&self, access: &Access) -> Option<(Item, LossKind)> {
        let nonsense = |what: &str| Some(LossKind::Nonsense(what.to_string()));
        let of_version = |version: &i64| match self.writers.get(&(access.item(), *version)) {
            _ if *version == 0 => None,
            None => Some(LossKind::Nonsense(format!("nobody wrote {version}, which is there"))),
            Some(writer) if writer.status == Status::Aborted => Some(LossKind::RolledBack(*version)),
            Some(writer) => writer.is_intermediate.then_some(LossKind::Intermediate(*version)),
        };
        let kind = match access {
            Access::Read(_, Seen::Version(version)) => of_version(version),
            Access::Read(_, Seen::NoRow) => nonsense("the row is gone"),
            Access::Read(_, Seen::Nonsense(value)) => nonsense(&format!("nobody wrote {value}, which is there")),
            Access::List(_, None) => nonsense("the list is gone, or no list"),
            Access::List(_, Some(elements)) => elements.iter().find_map(of_version),
            Access::Write(..) | Access::Delete(..) | Access::Append(..) | Access::Absent(_) => None,
        };
        kind.map(|kind| (access.item(), kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Item = Item { table: 0, key: 1 };
    const Y: Item = Item { table: 0, key: 2 };

    fn done(status: Status, began: u64, ended: u64, accesses: &[Access]) -> Done {
        Done { session: 0, status, began, ended, accesses: accesses.to_vec(), operations: Vec::new() }
    }

    fn check(before: &[Done], audit: &[Access], expect: &str) {
        let name = |item: Item| if item == X { "x".to_string() } else { "y".to_string() };
        let before = before.iter().cloned().collect();
        let sentences: Vec<String> = losses(&before, audit).iter().map(|loss| loss.sentence(&name)).collect();
        assert_eq!(sentences.join("; "), expect);
    }

    fn found(item: Item, version: i64) -> Access {
        Access::Read(item, Seen::Version(version))
    }

    #[test]
    fn an_acknowledged_commit_must_be_there() {
        use Access::Write;
        let first = done(Status::Committed, 0, 1, &[Write(X, 1)]);
        let later = done(Status::Committed, 2, 3, &[Write(X, 2)]);
        let beside = done(Status::Committed, 0, 3, &[Write(X, 3)]);
        let lost = "x has version 1, and not the later version 2, which was acknowledged";
        check(&[first.clone(), later.clone()], &[found(X, 1)], lost);
        check(&[first.clone(), later.clone()], &[found(X, 2)], "");
        check(&[first.clone(), beside.clone()], &[found(X, 1)], "");
        check(&[first.clone(), beside], &[found(X, 3)], "");
        let initial = "x has version 0, and not the later version 1, which was acknowledged";
        check(&[first], &[found(X, 0)], initial);
    }

    #[test]
    fn a_transaction_is_there_as_a_whole_or_not_at_all() {
        use Access::Write;
        let unknown = done(Status::Unknown, 0, 9, &[Write(X, 1), Write(Y, 2)]);
        check(std::slice::from_ref(&unknown), &[found(X, 0), found(Y, 0)], "");
        check(std::slice::from_ref(&unknown), &[found(X, 1), found(Y, 2)], "");
        let half = "y has version 0, and not the later version 2, of a transaction that is there in part";
        check(&[unknown], &[found(X, 1), found(Y, 0)], half);
        let twice = done(Status::Unknown, 0, 9, &[Write(X, 1), Write(X, 2)]);
        let intermediate = "x has version 1, which its own transaction wrote over before it committed";
        check(&[twice], &[found(X, 1)], intermediate);
    }

    #[test]
    fn what_nobody_committed_must_not_be_there() {
        use Access::Write;
        let aborted = done(Status::Aborted, 0, 1, &[Write(X, 1)]);
        check(std::slice::from_ref(&aborted), &[found(X, 1)], "x has version 1, which was rolled back");
        check(std::slice::from_ref(&aborted), &[found(X, 7)], "x: nobody wrote 7, which is there");
        check(&[aborted], &[Access::Read(X, Seen::NoRow)], "x: the row is gone");
    }

    #[test]
    fn rows_that_come_and_go_are_there_or_were_removed() {
        use Access::{Absent, Delete, Write};
        let inserted = done(Status::Committed, 0, 1, &[Write(X, 1)]);
        let removed = done(Status::Committed, 2, 3, &[Delete(X, 2)]);
        let again = done(Status::Committed, 4, 5, &[Write(X, 3)]);
        check(&[], &[Absent(X)], "");
        check(std::slice::from_ref(&removed), &[Absent(X)], "");
        check(&[inserted.clone(), removed.clone()], &[Absent(X)], "");
        let gone = "x is gone, and nobody removed it after version 1, which was acknowledged";
        check(std::slice::from_ref(&inserted), &[Absent(X)], gone);
        let gone = "x is gone, and nobody removed it after version 3, which was acknowledged";
        check(&[inserted.clone(), removed.clone(), again.clone()], &[Absent(X)], gone);
        check(&[inserted.clone(), removed.clone(), again], &[found(X, 3)], "");
        let back = "x has version 1, and not the later version 2, which was acknowledged";
        check(&[inserted.clone(), removed.clone()], &[found(X, 1)], back);
        let maybe = done(Status::Unknown, 0, 1, &[Delete(X, 4)]);
        check(&[inserted, maybe], &[Absent(X)], "");
        let both = done(Status::Committed, 2, 3, &[Write(X, 5), Delete(X, 6)]);
        check(std::slice::from_ref(&both), &[Absent(X)], "");
    }

    #[test]
    fn a_list_holds_everything() {
        use Access::{Append, List};
        let one = done(Status::Committed, 0, 3, &[Append(X, 1), Append(X, 2)]);
        let two = done(Status::Unknown, 0, 3, &[Append(X, 3), Append(Y, 4)]);
        let list = |item, elements: &[i64]| List(item, Some(elements.to_vec()));
        check(&[one.clone(), two.clone()], &[list(X, &[1, 2]), list(Y, &[])], "");
        check(std::slice::from_ref(&one), &[list(X, &[1])], "the list x lacks 2, which was acknowledged");
        let half = "the list y lacks 4, of a transaction that is there in part";
        check(&[one, two], &[list(X, &[1, 2, 3]), list(Y, &[])], half);
    }
}
