//! The cycles of small programs, and of random ones against brute force.

use std::collections::BTreeSet;
use std::time::Instant;

use super::*;
use crate::search::conflicts::Options;
use crate::search::testing::*;

fn shown(text: &str, options: Options, bounds: Bounds) -> Vec<String> {
    let sample = Sample::new(text);
    let conflicts = sample.conflicts(options);
    cycles(&conflicts, bounds).iter().map(|cycle| cycle.show(&conflicts, &sample.names())).collect()
}

#[test]
fn counts_of_the_small_programs() {
    for text in [LOST_UPDATE, WRITE_SKEW, LONG_FORK, DIRTY_READ, DIRTY_WRITE] {
        for line in shown(text, Options::default(), Bounds { split_statements: true, ..Bounds::default() }) {
            println!("{line}");
        }
        println!();
    }
}

/// How many cycles and structures the benchmarks have, and how long it takes: `cargo test --release -- --ignored --nocapture`.
#[test]
#[ignore = "prints a table"]
#[allow(clippy::print_stdout)]
fn counts_of_the_benchmarks() {
    println!("{:<10} {:>8} {:>6} {:>6} {:>8} {:>6} {:>8}", "", "", "sites", "edges", "cycles", "struct", "ms");
    for (name, files) in BENCHMARKS {
        let sample = Sample::benchmark(*files);
        for external in [false, true] {
            let start = Instant::now();
            let conflicts = sample.conflicts(Options { external, ..Options::default() });
            let found = cycles(&conflicts, Bounds { split_statements: true, ..Bounds::default() });
            let took = start.elapsed();
            let structures: BTreeSet<Structure> = found.iter().map(|cycle| cycle.structure(&conflicts)).collect();
            println!(
                "{name:<10} {:>8} {:>6} {:>6} {:>8} {:>6} {:>8.1}",
                if external { "external" } else { "internal" },
                conflicts.sites.len(),
                conflicts.edges.len(),
                found.len(),
                structures.len(),
                took.as_secs_f64() * 1e3
            );
        }
    }
}
