#![allow(missing_docs, clippy::all, clippy::print_stdout)]
use std::collections::BTreeMap;
use txloom::engines::{self, Target};
use txloom::execute::EngineRunner;
use txloom_core::generate::{Demands, Generator, profile};
use txloom_core::oracle::{Mode, RunRequest, Runner};
use txloom_core::outcome::ErrorClass;
use txloom_core::schedule::Policy;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (profile_name, seed, cases): (&str, u64, usize) =
        (&args[1], args[2].parse().unwrap(), args[3].parse().unwrap());
    let targets = &args[4..];
    let engines: Vec<_> =
        targets.iter().map(|t| engines::open(&Target::parse(t).unwrap()).unwrap_or_else(|e| panic!("{e}"))).collect();
    let infos: Vec<_> = engines.iter().map(|e| e.info().clone()).collect();
    let model = profile::shipped(profile_name).unwrap();
    let generator = Generator::new(model, &infos, Demands::default(), &[], seed).unwrap_or_else(|e| panic!("{e}"));
    let start = std::time::Instant::now();
    let mut n = 0;
    let mut tally = (0, 0, 0);
    for g in 0..200 {
        let (group, t) = generator.tallied_group(g);
        n += group.cases.len();
        tally = (tally.0 + t.predicates, tally.1 + t.redrawn, tally.2 + t.given_up);
    }
    println!(
        "{n} cases in {:?}: {:?} per case; predicates, redrawn, given up: {tally:?}",
        start.elapsed(),
        start.elapsed() / n as u32
    );
    if cases == 0 {
        for case in &generator.group(0).cases[..2] {
            println!("{}", txloom_core::case::print::print(case));
        }
        return;
    }
    let mut runner = EngineRunner::new(engines);
    for target in 0..infos.len() {
        let start = std::time::Instant::now();
        let (mut statements, mut refused, mut waited, mut dead, mut done, mut executed, mut levels) =
            (0, 0, 0, 0, 0, 0, BTreeMap::<String, (usize, usize)>::new());
        let mut messages: BTreeMap<String, (usize, String)> = BTreeMap::new();
        let mut classes: BTreeMap<String, usize> = BTreeMap::new();
        let mut affected = 0;
        'all: for g in 0.. {
            for case in generator.group(g).cases {
                if done == cases {
                    break 'all;
                }
                done += 1;
                let trace = match runner.run(&RunRequest {
                    case: &case,
                    target,
                    policy: Policy::Skip,
                    mode: Mode::Scheduled(None),
                }) {
                    Ok(t) => t,
                    Err(e) => {
                        println!("ERR {e}");
                        continue;
                    }
                };
                let w = trace.steps.iter().any(|s| s.waited);
                waited += w as usize;
                let l = levels.entry(trace.sessions[0].level.to_string()).or_default();
                l.0 += 1;
                l.1 += w as usize;
                dead += trace
                    .steps
                    .iter()
                    .any(|s| s.outcome.as_ref().is_some_and(|o| o.error_class() == Some(ErrorClass::Deadlock)))
                    as usize;
                for step in &trace.steps {
                    statements += 1;
                    let Some(outcome) = &step.outcome else { continue };
                    executed += 1;
                    if outcome.affected().is_some_and(|n| n > 0) {
                        affected += 1
                    }
                    let Some(error) = &outcome.error else { continue };
                    *classes.entry(error.class.to_string()).or_default() += 1;
                    use ErrorClass::*;
                    if !matches!(
                        error.class,
                        Deadlock
                            | SerializationFailure
                            | LockTimeout
                            | Unique
                            | ForeignKey
                            | Check
                            | NotNull
                            | TransactionAborted
                            | Cancelled
                    ) {
                        refused += 1;
                        let m = messages
                            .entry(error.message.chars().filter(|c| !c.is_ascii_digit()).take(70).collect())
                            .or_insert((0, step.sql.clone()));
                        m.0 += 1;
                    }
                }
            }
        }
        println!(
            "== {}: {done} cases, {:.1}/s, {statements} statements, executed {executed}, affecting {affected}, refused {refused} ({:.2} %), waits {:.1} %, deadlocks {:.1} %",
            targets[target],
            done as f64 / start.elapsed().as_secs_f64(),
            100.0 * refused as f64 / statements as f64,
            100.0 * waited as f64 / done as f64,
            100.0 * dead as f64 / done as f64
        );
        println!("  {classes:?}\n  {levels:?}");
        let mut messages: Vec<_> = messages.into_iter().collect();
        messages.sort_by_key(|(_, (n, _))| std::cmp::Reverse(*n));
        for (message, (n, sql)) in messages.iter().take(12) {
            println!("  {n:4} {message}\n        {sql}");
        }
    }
}
