//! The set of changes that costs least and removes everything that can be removed.
//!
//! Sets of up to three changes are all looked at. If no such set does, the change that removes most for what it costs is
//! taken, and so on: at most ln n times as dear as the best set (Chvátal 1979).

use std::collections::BTreeSet;

use super::Fix;
use crate::analyze::search::report::StructureKey;

/// The fixes to make.
pub(super) fn cover<'f, 's>(fixes: &'f [Fix], structures: impl Iterator<Item = &'s StructureKey>) -> Vec<&'f Fix> {
    let can = |name: &&StructureKey| fixes.iter().any(|fix| fix.removes.contains(*name));
    let goal: BTreeSet<&StructureKey> = structures.filter(can).collect();
    let mut best: Option<(usize, Vec<usize>)> = None;
    for chosen in small_sets(fixes.len()) {
        let cost = chosen.iter().map(|at| fixes[*at].change.cost).sum();
        let is_better = best.as_ref().is_none_or(|(least, _)| cost < *least);
        if is_better && goal.iter().all(|name| chosen.iter().any(|at| fixes[*at].removes.contains(*name))) {
            best = Some((cost, chosen));
        }
    }
    match best {
        Some((_, chosen)) => chosen.into_iter().map(|at| &fixes[at]).collect(),
        None => greedy(fixes, goal),
    }
}

/// All sets of up to three positions, smaller ones first.
fn small_sets(count: usize) -> Vec<Vec<usize>> {
    let mut sets = vec![Vec::new()];
    let mut last = sets.clone();
    for _ in 0..3 {
        let longer = |set: &Vec<usize>| -> Vec<Vec<usize>> {
            let from = set.last().map_or(0, |last| last + 1);
            (from..count).map(|next| set.iter().copied().chain([next]).collect()).collect()
        };
        last = last.iter().flat_map(longer).collect();
        sets.extend(last.iter().cloned());
    }
    sets
}

fn greedy<'f>(fixes: &'f [Fix], mut goal: BTreeSet<&StructureKey>) -> Vec<&'f Fix> {
    let mut chosen = Vec::new();
    while !goal.is_empty() {
        let gain = |fix: &Fix| goal.iter().filter(|name| fix.removes.contains(**name)).count();
        // Cost per structure, without fractions.
        let dearness = |fix: &&Fix| (fix.change.cost * 10_000).checked_div(gain(fix)).unwrap_or(usize::MAX);
        let Some(next) = fixes.iter().min_by_key(dearness).filter(|fix| gain(fix) > 0) else { break };
        goal.retain(|name| !next.removes.contains(*name));
        chosen.push(next);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use txloom_core::search::fix::{Change, LOCK};

    use super::*;

    fn fix(says: &str, cost: usize, removes: &[&str]) -> Fix {
        let change = Change { cost, ..Change::new(&LOCK, says.to_string(), Vec::new(), None) };
        let removes = removes.iter().map(|name| StructureKey::named(name)).collect();
        Fix { change, diff: String::new(), removes, run: None }
    }

    fn check(fixes: &[Fix], structures: &[&str], expect: &[&str]) {
        let structures: Vec<StructureKey> = structures.iter().map(|name| StructureKey::named(name)).collect();
        let chosen = cover(fixes, structures.iter());
        let says: Vec<&str> = chosen.iter().map(|fix| fix.change.says.as_str()).collect();
        assert_eq!(says, expect);
    }

    #[test]
    fn the_cheapest_set_is_taken() {
        let fixes = [fix("p", 1, &["a", "b"]), fix("q", 1, &["b", "c"]), fix("all", 10, &["a", "b", "c"])];
        check(&fixes, &["a", "b", "c"], &["p", "q"]);
        check(&fixes, &["b"], &["p"]);
        check(&fixes, &["a", "nobody"], &["p"]);
        check(&fixes, &[], &[]);
        check(&[fix("p", 6, &["a"]), fix("q", 6, &["c"]), fix("all", 10, &["a", "c"])], &["a", "c"], &["all"]);
    }

    #[test]
    fn many_changes_are_taken_one_after_the_other() {
        let names = ["a", "b", "c", "d", "e"];
        let mut fixes: Vec<Fix> = names.iter().map(|name| fix(name, 1, &[name])).collect();
        check(&fixes, &names, &names);
        fixes.push(fix("most", 1, &["b", "c", "d"]));
        check(&fixes, &names, &["a", "e", "most"]);
    }
}
