//! Small storms on the embedded engines.

use txloom_core::engine::Engine;
use txloom_core::history::Status;
use txloom_core::level::formal::{Level, Order};

use super::judge::{Promise, judge, promise};
use super::*;
use crate::engines::{self, Target};

fn engine(target: &str) -> Box<dyn Engine> {
    engines::open(&Target::parse(target).unwrap()).unwrap()
}

/// A small storm, and whether its history keeps what the engine promises.
fn storm(target: &str, profile: &str, level: &str, transactions: u64) -> (Summary, bool) {
    let mut engine = engine(target);
    let scale = Scale { sessions: 4, keys: 5, ops: 4 };
    let profile = PROFILES.iter().find(|one| one.name == profile).unwrap();
    let workload = (profile.make)(&Shape::new(scale), engine.info()).unwrap();
    let budget = Budget::transactions(transactions);
    let storm = Storm { level: LevelName::parse(level), budget, ..Storm::new(&*workload, scale) };
    let summary = storm.run(engine.as_mut(), &mut ()).unwrap();
    let promised = promise(&summary.plan.engine, &summary.plan.level);
    let limit = Duration::from_secs(10);
    let holds = judge(summary.history.as_ref().unwrap(), promised, limit).unwrap().verdict.holds();
    (summary, holds)
}

#[test]
fn a_healthy_engine_keeps_what_it_promises() {
    let mut contended = 0;
    for profile in PROFILES {
        // The model copies whole databases, and those of TPC-C are not small.
        let transactions = if profile.name == "tpcc" { 25 } else { 100 };
        for level in ["serializable", "snapshot isolation", "read committed"] {
            let (summary, holds) = storm("model", profile.name, level, transactions);
            assert!(holds, "{} {level}", profile.name);
            assert!(summary.damage.is_empty() && summary.troubles.is_empty(), "{summary:?}");
            assert_eq!(summary.tally.transactions(), transactions);
            let history = summary.history.unwrap();
            // What was rolled back to a savepoint stands there under a session of its own.
            let sessions = summary.plan.scale.sessions as u32;
            let whole = history.transactions().filter(|(_, t)| t.session <= sessions).count() as u64;
            assert_eq!(whole, transactions + 1, "the audit is one more");
            let committed = history.transactions().filter(|(_, t)| t.status == Status::Committed).count() as u64;
            assert_eq!(committed, summary.tally.committed + 1);
            contended += summary.contention.unwrap().contended;
        }
    }
    // On a busy machine the sessions of one storm may run one after the other; those of all of them do not.
    assert!(contended > 0);
}

#[test]
fn a_planted_bug_is_found() {
    for (bug, profile) in [("lost-update", "registers"), ("write-skew", "registers"), ("lost-update", "list-append")] {
        let found = (0..5).any(|_| !storm(&format!("model+{bug}"), profile, "serializable", 200).1);
        assert!(found, "{bug} {profile}");
    }
}

#[test]
fn a_level_that_an_engine_does_not_have_is_refused() {
    let mut engine = engine("sqlite");
    let scale = Scale::default();
    let workload = workload::Registers::new(scale);
    let storm = Storm { level: LevelName::parse("read committed"), ..Storm::new(&workload, scale) };
    let error = storm.run(engine.as_mut(), &mut ()).unwrap_err();
    assert!(matches!(error.kind, EngineErrorKind::Unsupported(_)), "{error}");
    let kill = Recurring { kind: FaultKind::Kill, every: Duration::from_secs(1) };
    let storm = Storm { faults: vec![kill], ..Storm::new(&workload, scale) };
    let error = storm.run(engine.as_mut(), &mut ()).unwrap_err();
    assert!(error.to_string().contains("breaks only servers that it started"), "{error}");
}

#[test]
fn what_is_promised_is_a_level_of_the_theory() {
    let engine = engine("model");
    let level = |name: &str| promise(engine.info(), &LevelName::parse(name).unwrap());
    assert_eq!(level("serializable"), Some(Promise::Level(Level::Serializable.with(Order::RealTime))));
    assert_eq!(level("repeatable read"), None);
}

#[test]
fn a_watcher_can_end_it() {
    struct Stop;
    impl Watcher for Stop {
        fn started(&mut self, _: &Plan) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
    }
    let mut engine = engine("model");
    let scale = Scale::default();
    let workload = workload::Registers::new(scale);
    let storm = Storm { budget: Budget::default(), ..Storm::new(&workload, scale) };
    let summary = storm.run(engine.as_mut(), &mut Stop).unwrap();
    assert!(matches!(summary.ended, Ended::ByWatcher));
    assert!(summary.history.is_some());
}
