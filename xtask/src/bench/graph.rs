//! How many tests of the graph oracle a second, with one worker.
//!
//! A test counts only if it says something: at least two committed transactions, six statements and one dependency
//! between transactions reached the comparison. TxCheck manages 0.42 tests a second on the same machine.

use std::fmt::Write;
use std::time::{Duration, Instant};

use anyhow::Result;
use txloom::engines::{self, Target};
use txloom::execute::EngineRunner;
use txloom_core::generate::{Demands, Generator, profile};
use txloom_core::oracle::graph::{Followed, GraphOracle};
use txloom_core::oracle::{RunError, Runner as _};

const TIME: Duration = Duration::from_secs(30);
/// Targets, and how many tests a second there must be.
const BARS: &[(&str, f64)] = &[("mariadb", 5.0), ("postgres", 0.0), ("model", 0.0), ("sqlite", 0.0)];
/// So large a share of the cases, and of their statements, must reach the comparison on the first target.
const SHARE_MIN: f64 = 0.5;

/// What was measured.
#[derive(Default)]
struct Measured {
    cases: u64,
    telling: u64,
    rounds: usize,
    /// Statements of all cases, and those of them that reached the comparison.
    statements: usize,
    compared: usize,
    refused: u64,
    seconds: f64,
}

/// Measures all targets. True if every bar is met.
pub(super) fn run(table: &mut String) -> Result<bool> {
    table.push_str(
        "\nThe graph oracle: profile txcheck, all levels, one worker, half a minute. A test counts if at least 2 committed \
         transactions, 6 statements and 1 dependency between transactions reached the comparison.\n\n\
         | target | tests per second | cases per second | cases that count | statements compared | rounds a case | \
         statements a case | not followed |\n|---|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let mut met = true;
    for (target, bar) in BARS {
        let measured = measure(target)?;
        let per_second = |count: u64| count as f64 / measured.seconds;
        let share = |part: f64, whole: f64| part / whole.max(1.0);
        let counting = share(measured.telling as f64, measured.cases as f64);
        let compared = share(measured.compared as f64, measured.statements as f64);
        writeln!(
            table,
            "| {target} | {:.1} | {:.1} | {:.0} % | {:.0} % | {:.1} | {:.1} | {} |",
            per_second(measured.telling),
            per_second(measured.cases),
            counting * 100.0,
            compared * 100.0,
            share(measured.rounds as f64, measured.cases as f64),
            share(measured.statements as f64, measured.cases as f64),
            measured.refused,
        )?;
        met &= per_second(measured.telling) >= *bar;
        met &= *bar == 0.0 || (counting >= SHARE_MIN && compared >= SHARE_MIN);
    }
    Ok(met)
}

fn measure(target: &str) -> Result<Measured> {
    let mut runner = EngineRunner::new(vec![engines::open(&Target::parse(target)?)?]);
    let model = profile::shipped("txcheck").expect("the profile is shipped");
    let demands = Demands { reorderable: true, assertions: false };
    let generator = Generator::new(model, &runner.targets(), demands, &[], 1)?;
    let oracle = GraphOracle { insists: false, ..GraphOracle::default() };
    let (mut measured, start) = (Measured::default(), Instant::now());
    'all: for group in 0.. {
        for case in generator.group(group).cases {
            if start.elapsed() >= TIME {
                break 'all;
            }
            match oracle.follow(&case, None, 0, &mut runner) {
                Ok((_, followed)) => measured.add(&followed),
                Err(RunError::Engine(error)) => return Err(error.into()),
                Err(_) => measured.refused += 1,
            }
        }
    }
    measured.seconds = start.elapsed().as_secs_f64();
    Ok(measured)
}

impl Measured {
    fn add(&mut self, followed: &Followed) {
        self.cases += 1;
        self.telling += u64::from(followed.is_telling());
        self.rounds += followed.rounds;
        self.statements += followed.statements;
        self.compared += if followed.orders > 0 { followed.graph.statements.len() } else { 0 };
        self.refused += u64::from(followed.rounds == 0);
    }
}
