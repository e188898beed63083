//! Leaves out transactions, then single items, then what makes several statements one transaction.
//!
//! Transactions come first, and items are arranged by session rather than by line: what belongs together lies apart in
//! an interleaved file, and chunks of neighbouring lines would rarely be whole transactions.

use crate::case::{Case, Item, SessionItems};
use crate::reduce::edit::without_steps;
use crate::reduce::{Pass, Tests};
use crate::sql::StatementKind;

/// Leaves out what stands between BEGIN and COMMIT, as far as the text tells.
pub(super) struct Transactions;

/// Leaves out items one by one.
pub(super) struct Items;

/// Leaves out BEGIN together with the COMMIT or ROLLBACK that ends it, and SAVEPOINT together with what goes back to it.
pub(super) struct Brackets;

impl Pass for Transactions {
    fn reduce(&self, case: &Case, tests: &mut Tests<'_>) -> Case {
        let groups: Vec<Vec<usize>> = case.sessions().iter().flat_map(transactions).collect();
        minimize(case, &groups, tests)
    }
}

impl Pass for Items {
    fn reduce(&self, case: &Case, tests: &mut Tests<'_>) -> Case {
        let entries = case.sessions().into_iter().flat_map(|session| session.entries);
        let groups: Vec<Vec<usize>> = entries.map(|entry| vec![entry]).collect();
        minimize(case, &groups, tests)
    }
}

impl Pass for Brackets {
    fn reduce(&self, case: &Case, tests: &mut Tests<'_>) -> Case {
        let groups: Vec<Vec<usize>> = case.sessions().iter().flat_map(brackets).collect();
        minimize(case, &groups, tests)
    }
}

fn minimize(case: &Case, groups: &[Vec<usize>], tests: &mut Tests<'_>) -> Case {
    tests.minimize(case, groups, |kept: &[Vec<usize>]| {
        let gone = groups.iter().filter(|group| !kept.contains(group));
        Some(without_steps(case, &gone.flatten().copied().collect()))
    })
}

/// The items of a session, grouped from each BEGIN to the next COMMIT or ROLLBACK.
fn transactions(session: &SessionItems) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut open = false;
    for (item, entry) in session.items.iter().zip(&session.entries) {
        let kind = kind(item);
        match groups.last_mut() {
            Some(group) if open && kind != StatementKind::Begin => group.push(*entry),
            _ => groups.push(vec![*entry]),
        }
        open = match kind {
            StatementKind::Begin => true,
            StatementKind::Commit | StatementKind::Rollback => false,
            _ => open,
        };
    }
    groups
}

fn kind(item: &Item) -> StatementKind {
    match item {
        Item::Sql(sql) => StatementKind::of(sql.as_str()),
        Item::Call(_) => StatementKind::Other,
    }
}

/// The beginnings and ends of a session's transactions, and the savepoints in each, as pairs.
fn brackets(session: &SessionItems) -> Vec<Vec<usize>> {
    let mut pairs = Vec::new();
    let mut begin = None;
    let mut savepoints = Vec::new();
    for (item, entry) in session.items.iter().zip(&session.entries) {
        match kind(item) {
            StatementKind::Begin => begin = Some(*entry),
            StatementKind::Commit | StatementKind::Rollback => {
                pairs.extend(begin.take().map(|begin| vec![begin, *entry]));
                pairs.extend(Some(std::mem::take(&mut savepoints)).filter(|all| all.len() > 1));
            }
            StatementKind::Savepoint => savepoints.push(*entry),
            _ => {}
        }
    }
    pairs
}
