//! Which cycles of small programs have plans, at which levels.

use super::*;
use crate::program::paths::{Limits, ways};
use crate::search::conflicts::Options;
use crate::search::cycles::{Bounds, cycles};
use crate::search::level::axioms::LEVELS;
use crate::search::level::engines::RULES;
use crate::search::testing::*;

/// The first plan of a cycle with all calls at one level, on the shortest ways.
fn first_plan(sample: &Sample, conflicts: &Conflicts, cycle: &Cycle, level: Target) -> Option<Plan> {
    let given = sample.given();
    let found: Vec<Vec<Way>> = (0..cycle.visits.len())
        .map(|instance| {
            let access = given[cycle.procedure(conflicts, instance)].access;
            ways(access, &cycle.passes(conflicts, instance), &Limits { ways: 1, ..Limits::default() }).ways
        })
        .collect();
    let ways: Option<Vec<&Way>> = found.iter().map(|ways| ways.first()).collect();
    let (ways, levels) = (ways?, vec![level; cycle.visits.len()]);
    let question = Question { procedures: &given, conflicts, cycle, ways: &ways, levels: &levels };
    plans(question).next()
}

fn targets() -> Vec<Target> {
    LEVELS.iter().map(Target::Store).chain(RULES.iter().map(Target::Engine)).collect()
}

#[test]
fn show() {
    for (name, text) in [
        ("lost update", LOST_UPDATE),
        ("write skew", WRITE_SKEW),
        ("dirty read", DIRTY_READ),
        ("dirty write", DIRTY_WRITE),
        ("long fork", LONG_FORK),
    ] {
        let sample = Sample::new(text);
        let long = name == "long fork";
        let bounds =
            Bounds { split_statements: true, length: if long { 6 } else { 4 }, instances: if long { 4 } else { 3 } };
        let conflicts = sample.conflicts(Options::default());
        let all = cycles(&conflicts, bounds);
        for target in targets() {
            let with: Vec<_> =
                all.iter().filter(|cycle| first_plan(&sample, &conflicts, cycle, target).is_some()).collect();
            println!("{name} {target}: {} of {}", with.len(), all.len());
            for cycle in with.iter().take(4) {
                println!("     {}", cycle.show(&conflicts, &sample.names()));
            }
        }
    }
}
