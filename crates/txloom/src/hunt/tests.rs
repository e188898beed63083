//! The loop, on embedded engines, with cases made by hand.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};

use txloom_core::case::{self, Case};
use txloom_core::engine::{
    Engine, EngineError, EngineErrorKind, EngineInfo, Session, SessionId, SessionSpec, State, Waits,
};
use txloom_core::generate::Group;
use txloom_core::oracle::serial::Serial;
use txloom_core::oracle::{Oracle, RunError, Runner, Verdict};
use txloom_core::outcome::Outcome;

use super::*;
use crate::engines::{self, Target};

/// Both sessions read before either writes; the table's name is part of the shape, the row's number is not.
fn lost_update(row: u64) -> Case {
    let text = format!(
        "-- @isolation snapshot isolation\n\
         /*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);\n\
         /*init*/ INSERT INTO t VALUES ({row}, 10), (1000, 20);\n\
         /*a*/ BEGIN;\n/*b*/ BEGIN;\n\
         /*a*/ SELECT v FROM t WHERE id = {row};\n/*b*/ SELECT v FROM t WHERE id = {row};\n\
         /*a*/ UPDATE t SET v = v + 1 WHERE id = {row};\n/*a*/ COMMIT;\n\
         /*b*/ UPDATE t SET v = v + 2 WHERE id = {row};\n/*b*/ COMMIT;\n"
    );
    case::parse(&text).unwrap()
}

/// The same with a write after the other's end: nothing can go wrong.
fn harmless() -> Case {
    let text = "/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);\n/*a*/ INSERT INTO t VALUES (1, 1);\n\
                /*b*/ SELECT v FROM t;\n";
    case::parse(text).unwrap()
}

/// Three cases a group; in every third group, the second of them can lose an update.
pub(super) struct ByHand;

impl Cases for ByHand {
    fn group(&self, number: u64) -> Group {
        let second = if number % 3 == 1 { lost_update(number) } else { harmless() };
        Group { number, cases: vec![harmless(), second, harmless()] }
    }
}

fn open(target: &str) -> Result<Vec<Box<dyn Engine>>, EngineError> {
    Ok(vec![engines::open(&Target::parse(target).unwrap())?])
}

fn serial(_: &[EngineInfo]) -> Vec<Box<dyn Oracle>> {
    vec![Box::new(Serial::default())]
}

fn hunt<'a>(engines: OpenEngines<'a>, cases: u64) -> Hunt<'a> {
    Hunt { budget: Budget::cases(cases), oracles: &serial, ..Hunt::new(engines) }
}

/// What must be the same in every run of a hunt.
fn facts(summary: &Summary) -> String {
    let found = summary.found.iter().map(|found| {
        let case = case::print::print(&found.finding.case);
        format!("{} {:?} {} {}\n{case}", found.number, found.origin, found.finding.fingerprint, found.repeats)
    });
    format!("{:?}\n{}", summary.counts, found.collect::<String>())
}

#[test]
fn what_is_wrong_is_found_once_reduced_and_counted() {
    let engines = || open("model+lost-update");
    let summary = hunt(&engines, 20).run_cases(&ByHand, &mut ()).unwrap();
    assert!(matches!(summary.ended, Ended::Budget));
    let counts = &summary.counts;
    assert_eq!((counts.cases(), counts.new, counts.repeated, counts.unreproducible), (20, 1, 1, 0), "{counts:?}");
    let found = &summary.found[0];
    assert_eq!(found.origin, Origin { seed: 1, group: 1, case: 1 });
    assert_eq!(found.repeats, 1);
    let reduced = found.reduced.as_ref().expect("it was reduced");
    assert!(reduced.after.rows < reduced.before.rows, "{} → {}", reduced.before, reduced.after);
}

#[test]
fn the_healthy_engine_is_silent() {
    let engines = || open("model");
    let summary = hunt(&engines, 20).run_cases(&ByHand, &mut ()).unwrap();
    assert_eq!((summary.counts.cases(), summary.counts.violations()), (20, 0));
}

#[test]
fn findings_do_not_depend_on_the_number_of_workers() {
    let engines = || open("model+lost-update");
    let facts = |workers| {
        let hunt = Hunt { workers, ..hunt(&engines, 50) };
        facts(&hunt.run_cases(&ByHand, &mut ()).unwrap())
    };
    let alone = facts(1);
    for workers in [1, 2, 4] {
        assert_eq!(facts(workers), alone, "{workers} workers");
    }
}

#[test]
fn a_hunt_for_one_finding_ends_with_it() {
    let engines = || open("model+lost-update");
    for workers in [1, 3] {
        let hunt = Hunt { stop_on_first: true, workers, ..hunt(&engines, 1_000) };
        let summary = hunt.run_cases(&ByHand, &mut ()).unwrap();
        assert!(matches!(summary.ended, Ended::FirstFound));
        assert_eq!((summary.found.len(), summary.found[0].origin.group), (1, 1));
        assert!(summary.counts.cases() < 100, "{}", summary.counts.cases());
    }
}

/// Ends the hunt when it hears of a finding.
struct Enough;

impl Watcher for Enough {
    fn found(&mut self, _: &Found) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

#[test]
fn a_watcher_ends_the_hunt_and_so_does_time() {
    let engines = || open("model+lost-update");
    let summary = hunt(&engines, 100_000).run_cases(&ByHand, &mut Enough).unwrap();
    assert!(matches!(summary.ended, Ended::ByWatcher));
    assert_eq!(summary.found.len(), 1);
    let briefly = Hunt { budget: Budget::time(Duration::from_millis(200)), ..hunt(&engines, 0) };
    let summary = briefly.run_cases(&ByHand, &mut ()).unwrap();
    assert!(matches!(summary.ended, Ended::Budget));
}

/// Objects to every second judgement: what a race condition of ours would look like.
struct Moody(AtomicU32);

impl Oracle for Moody {
    fn name(&self) -> &'static str {
        "moody"
    }

    fn judge(&self, case: &Case, runner: &mut dyn Runner) -> Result<Verdict, RunError> {
        let verdict = Serial::default().judge(case, runner)?;
        let is_good_day = self.0.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        Ok(if is_good_day { verdict } else { Verdict::Holds("today".to_string()) })
    }
}

#[test]
fn what_does_not_reproduce_is_counted_and_not_reported() {
    let engines = || open("model+lost-update");
    let moody = |_: &[EngineInfo]| -> Vec<Box<dyn Oracle>> { vec![Box::new(Moody(AtomicU32::new(1)))] };
    let hunt = Hunt { oracles: &moody, ..hunt(&engines, 30) };
    let summary = hunt.run_cases(&ByHand, &mut ()).unwrap();
    assert!(summary.counts.unreproducible > 0 && summary.found.is_empty(), "{:?}", summary.counts);
}

/// An engine that fails when it is reset, as often as it is told.
struct Failing {
    inner: Box<dyn Engine>,
    /// How many resets succeed between two that fail.
    successes: u32,
    resets: u32,
}

impl Engine for Failing {
    fn info(&self) -> &EngineInfo {
        self.inner.info()
    }

    fn reset(&mut self, setup: &[String]) -> Result<Vec<Outcome>, EngineError> {
        self.resets += 1;
        if self.resets.is_multiple_of(self.successes + 1) {
            return Err(EngineError::new("failing", EngineErrorKind::Lost("the connection was lost".to_string())));
        }
        self.inner.reset(setup)
    }

    fn open(&mut self, spec: &SessionSpec) -> Result<Box<dyn Session>, EngineError> {
        self.inner.open(spec)
    }

    fn waits(&mut self, in_flight: &[SessionId]) -> Result<Waits, EngineError> {
        self.inner.waits(in_flight)
    }

    fn snapshot(&mut self) -> Result<State, EngineError> {
        self.inner.snapshot()
    }

    fn probe(&mut self, sql: &str) -> Result<Outcome, EngineError> {
        self.inner.probe(sql)
    }
}

fn failing(successes: u32) -> Result<Vec<Box<dyn Engine>>, EngineError> {
    let inner = open("model")?.remove(0);
    Ok(vec![Box::new(Failing { inner, successes, resets: 0 })])
}

#[test]
fn a_case_that_cannot_be_observed_is_counted_and_the_hunt_goes_on() {
    let engines = || failing(9);
    let summary = hunt(&engines, 30).run_cases(&ByHand, &mut ()).unwrap();
    assert!(matches!(summary.ended, Ended::Budget), "{:?}", summary.ended);
    assert!(summary.counts.unobserved >= 3, "{:?}", summary.counts);
    assert_eq!(summary.counts.troubles, ["failing: the connection was lost"]);
}

#[test]
fn an_engine_that_only_fails_ends_the_hunt_with_its_error() {
    let engines = || failing(0);
    for workers in [1, 2] {
        let hunt = Hunt { workers, ..hunt(&engines, 1_000) };
        let summary = hunt.run_cases(&ByHand, &mut ()).unwrap();
        assert!(matches!(&summary.ended, Ended::Failed(error) if error.to_string().contains("lost")));
        assert!(summary.counts.unobserved <= 10, "{:?}", summary.counts);
    }
    let unreachable = || Err(EngineError::new("gone", EngineErrorKind::Unreachable("no server".to_string())));
    assert!(hunt(&unreachable, 1).run_cases(&ByHand, &mut ()).is_err());
}

/// Cases that no engine accepts.
struct Nonsense;

impl Cases for Nonsense {
    fn group(&self, number: u64) -> Group {
        let case = case::parse("/*init*/ CREATE NONSENSE;\n/*a*/ SELECT 1;\n").unwrap();
        Group { number, cases: if number < 4 { vec![case] } else { Vec::new() } }
    }
}

#[test]
fn a_setup_that_is_refused_is_counted_and_shown() {
    let engines = || open("model");
    let summary = hunt(&engines, 1_000).run_cases(&Nonsense, &mut ()).unwrap();
    assert_eq!((summary.counts.refused, summary.counts.cases()), (4, 0));
    assert!(summary.counts.troubles[0].contains("CREATE NONSENSE"), "{:?}", summary.counts.troubles);
}

#[test]
fn several_targets_are_compared() {
    let engines = || Ok(vec![open("model")?.remove(0), open("model+lost-update")?.remove(0)]);
    let hunt = Hunt { budget: Budget::cases(9), ..Hunt::new(&engines) };
    let summary = hunt.run_cases(&ByHand, &mut ()).unwrap();
    assert_eq!(summary.plan.oracles, ["diff"]);
    assert_eq!((summary.counts.new, summary.counts.cases()), (1, 9), "{:?}", summary.counts);
    assert_eq!(summary.counts.statistics.runs, 18, "statistics are of both");
    let twice = || Ok(vec![open("model")?.remove(0), open("model")?.remove(0)]);
    let hunt = Hunt { budget: Budget::cases(9), workers: 2, ..Hunt::new(&twice) };
    assert_eq!(hunt.run_cases(&ByHand, &mut ()).unwrap().counts.violations(), 0);
}
