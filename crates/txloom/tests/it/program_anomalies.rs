//! The small programs show what they say: two calls, interleaved as their comments tell, break the invariant where the
//! level allows it, and the corrected program, or a stronger level, keeps it.

use std::collections::BTreeMap;
use std::sync::Arc;

use txloom::corpus::{self, CorpusProgram};
use txloom::execute::EngineRunner;
use txloom_core::case::{self, Case};
use txloom_core::trace::Trace;
use txloom_core::trace::compare::transcript;

use crate::support::{limited, run, runner};

fn program(name: &str) -> &'static CorpusProgram {
    corpus::program(name).unwrap_or_else(|| panic!("no program {name}"))
}

/// A case with a call for each of the sessions `a` and `b`.
fn two_calls(program: &CorpusProgram, level: &str, calls: [&str; 2], schedule: &str) -> Case {
    let definitions = program.definitions();
    let asserts = definitions.asserts.iter();
    let asserts: String = asserts.map(|one| format!("-- @assert {one}\n")).collect();
    let setup: String = definitions.setup.iter().map(|sql| format!("/*init*/ {sql};\n")).collect();
    let text = format!(
        "-- @case 1\n-- @isolation {level}\n-- @program {}.sql\n-- @schedule {schedule}\n{asserts}{setup}\
         /*a*/ -- call {}\n/*b*/ -- call {}\n",
        program.name, calls[0], calls[1]
    );
    let mut case = case::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    case.program = Some(Arc::new(program.read(&program.sources[0]).program));
    case
}

fn broken(trace: &Trace) -> Vec<&str> {
    trace.checks.iter().filter(|check| !check.holds()).map(|check| check.name.as_str()).collect()
}

/// Engines, started when they are first asked for.
#[derive(Default)]
struct Runners(BTreeMap<&'static str, EngineRunner>);

impl Runners {
    fn run(&mut self, target: &'static str, case: &Case) -> Trace {
        run(self.0.entry(target).or_insert_with(|| runner(target)), case)
    }

    /// Whether an invariant breaks on these targets.
    #[track_caller]
    fn check(&mut self, name: &str, at: (&[&'static str], &str), calls: [&str; 2], schedule: &str, breaks: bool) {
        let (targets, level) = at;
        let case = two_calls(program(name), level, calls, schedule);
        for target in targets {
            let trace = self.run(target, &case);
            let broken = broken(&trace);
            assert_eq!(!broken.is_empty(), breaks, "{name} on {target} at {level}: {broken:?}");
        }
    }
}

const ALL: &[&str] = &["sqlite", "model", "postgres", "mariadb"];

#[test]
fn the_example_of_a_booking_sells_a_seat_twice() {
    limited(|| {
        let mut runners = Runners::default();
        let calls = ["choose_seat(flight=1)", "choose_seat(flight=1)"];
        // Flight 1 has ten seats at first.
        for target in ALL {
            let case = two_calls(program("agenda-1"), "serializable", calls, "a a a b b b b b b a a a");
            let seen = transcript(&runners.run(target, &case));
            assert!(seen.contains("flights (1, 9)"), "{target}: two are sold, one is taken off: {seen}");
            let case = two_calls(program("agenda-1-fixed"), "serializable", calls, "a a a b b b a b");
            let seen = transcript(&runners.run(target, &case));
            let failed = seen.contains("error ");
            assert!(seen.contains(if failed { "flights (1, 9)" } else { "flights (1, 8)" }), "{target}: {seen}");
        }
    });
}

#[test]
fn the_example_of_a_delivery_forgets_a_line() {
    limited(|| {
        let mut runners = Runners::default();
        let calls = ["delivery(c_id=1)", "new_order(o_id=9, c_id=1, amount=5)"];
        runners.check("agenda-2", (ALL, "serializable"), calls, "a a a b b b b a a a", true);
        // One after the other, in either order.
        runners.check("agenda-2", (ALL, "serializable"), calls, "a a a a a a b b b b", false);
        runners.check("agenda-2", (ALL, "serializable"), calls, "b b b b a a a a a a", false);
        runners.check("agenda-2-fixed", (ALL, "serializable"), calls, "a a b b b b a a", false);
    });
}

#[test]
fn the_example_of_a_transfer_is_torn_apart() {
    limited(|| {
        let mut runners = Runners::default();
        let calls = ["transfer(in_acct1=2, in_acct2=1, amount=50)", "transfer(in_acct1=3, in_acct2=3, amount=7)"];
        runners.check("agenda-3", (ALL, "serializable"), calls, "a a a a a a b b b b b b", true);
        runners.check("agenda-3-fixed", (ALL, "serializable"), calls, "a a a a a b b b b b", false);
        runners.check("agenda-3-fixed", (ALL, "serializable"), calls, "a a b b a b a b a b", false);
    });
}

#[test]
fn a_lost_update_needs_read_committed() {
    limited(|| {
        let mut runners = Runners::default();
        let calls = ["deposit(receipt=1, account=1, amount=10)", "deposit(receipt=2, account=1, amount=20)"];
        let schedule = "a a b b b b b a a a";
        runners.check("lost-update", (&["model", "postgres", "mariadb"], "read committed"), calls, schedule, true);
        runners.check("lost-update", (ALL, "serializable"), calls, schedule, false);
    });
}

#[test]
fn write_skew_needs_a_snapshot() {
    limited(|| {
        let mut runners = Runners::default();
        let calls = ["withdraw(customer=1, kind=1, amount=80)", "withdraw(customer=1, kind=2, amount=70)"];
        let schedule = "a a b b b b a a";
        runners.check("write-skew", (&["model"], "snapshot isolation"), calls, schedule, true);
        runners.check("write-skew", (&["postgres", "mariadb"], "repeatable read"), calls, schedule, true);
        runners.check("write-skew", (ALL, "serializable"), calls, schedule, false);
    });
}

#[test]
fn a_dirty_read_needs_read_uncommitted() {
    limited(|| {
        let mut runners = Runners::default();
        let calls = ["take(item=1, quantity=9)", "note(report=1, item=1)"];
        let schedule = "a a b b b b a a";
        runners.check("dirty-read", (&["mariadb"], "read uncommitted"), calls, schedule, true);
        runners.check("dirty-read", (&["model", "postgres", "mariadb"], "read committed"), calls, schedule, false);
    });
}
