//! Waits, resumptions, policies, modes and time limits, on real engines.

use std::time::Duration;

use txloom::execute::{EngineRunner, ExecuteOptions};
use txloom_core::case::{self, Case, SessionName};
use txloom_core::oracle::{Mode, RunRequest, Runner};
use txloom_core::outcome::{ErrorClass, TxStatus};
use txloom_core::schedule::{Constraint, Policy, StepRef};
use txloom_core::trace::compare::transcript;
use txloom_core::trace::{CancelReason, Trace, TraceEvent};

use crate::support::{engine, limited, run, runner};

fn parse(text: &str) -> Case {
    let setup =
        "/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);\n/*init*/ INSERT INTO t VALUES (1, 10), (2, 20);\n";
    case::parse(&format!("{setup}{text}")).unwrap_or_else(|error| panic!("{error}"))
}

fn name(text: &str) -> SessionName {
    SessionName::new(text).expect("a session name")
}

fn request(case: &Case, policy: Policy, mode: Mode) -> RunRequest<'_> {
    RunRequest { case, target: 0, policy, mode }
}

/// The sessions in order of submission.
fn order(trace: &Trace) -> String {
    trace.schedule().to_string()
}

const BLOCKED_IN_THE_MIDDLE: &str = "\
/*a*/ BEGIN;
/*a*/ UPDATE t SET v = 11 WHERE id = 1;
/*b*/ UPDATE t SET v = 12 WHERE id = 1;
/*b*/ SELECT v FROM t WHERE id = 1;
/*a*/ UPDATE t SET v = 13 WHERE id = 1;
/*a*/ COMMIT;
/*c*/ SELECT v FROM t WHERE id = 2;
";

#[test]
fn skip_goes_on_with_others_and_returns_as_soon_as_it_can() {
    limited(|| {
        for target in ["model", "sqlite", "postgres"] {
            let trace = run(&mut runner(target), &parse(BLOCKED_IN_THE_MIDDLE));
            // b's second step comes right after the COMMIT that lets b go on, before c.
            assert_eq!(order(&trace), "a a b a a b c", "{target}: {}", transcript(&trace));
        }
    });
}

#[test]
fn wait_cancels_what_can_never_go_on() {
    limited(|| {
        for target in ["model", "sqlite", "postgres"] {
            let case = parse(BLOCKED_IN_THE_MIDDLE);
            let trace = runner(target).run(&request(&case, Policy::Wait, Mode::Scheduled(None))).expect("it runs");
            assert_eq!(order(&trace), "a a b b a a c", "{target}");
            assert_eq!(trace.steps[2].cancelled, Some(CancelReason::StillBlocked), "{target}");
            let class = trace.steps[2].outcome.as_ref().and_then(|outcome| outcome.error_class());
            assert_eq!(class, Some(ErrorClass::Cancelled), "{target}");
        }
    });
}

#[test]
fn partial_orders_are_kept_or_said_to_be_infeasible() {
    limited(|| {
        let mut runner = runner("model");
        let case = parse("/*a*/ UPDATE t SET v = 1 WHERE id = 1;\n/*b*/ SELECT v FROM t WHERE id = 1;\n");
        let step = |session: &str, index| StepRef { session: name(session), index };
        let b_first = Policy::Partial(vec![Constraint { first: step("b", 0), then: step("a", 0) }]);
        let trace = runner.run(&request(&case, b_first, Mode::Scheduled(None))).expect("it runs");
        assert_eq!(order(&trace), "b a");

        let circle = Policy::Partial(vec![
            Constraint { first: step("b", 0), then: step("a", 0) },
            Constraint { first: step("a", 0), then: step("b", 0) },
        ]);
        let trace = runner.run(&request(&case, circle, Mode::Scheduled(None))).expect("it runs");
        assert!(trace.events.iter().any(|event| matches!(event, TraceEvent::Infeasible(_))));
        assert_eq!(trace.steps.len(), 2, "everything is submitted all the same");
    });
}

#[test]
fn serial_runs_transaction_by_transaction() {
    limited(|| {
        for target in ["model", "sqlite", "postgres"] {
            let case = parse(BLOCKED_IN_THE_MIDDLE);
            let mode = Mode::Serial(vec![name("c"), name("b"), name("a")]);
            let trace = runner(target).run(&request(&case, Policy::Skip, mode)).expect("it runs");
            // b's statements are transactions of their own: the second runs when the order is over.
            assert_eq!(order(&trace), "c b a a a a b", "{target}");
            assert!(trace.steps.iter().all(|step| !step.waited), "{target}");
        }
    });
}

#[test]
fn without_transactions_every_statement_commits() {
    limited(|| {
        for target in ["model", "sqlite", "postgres"] {
            let case = parse("/*a*/ BEGIN;\n/*a*/ UPDATE t SET v = 11 WHERE id = 1;\n/*a*/ ROLLBACK;\n");
            let steps = vec![StepRef { session: name("a"), index: 1 }];
            let trace = runner(target).run(&request(&case, Policy::Skip, Mode::Autocommit(steps))).expect("it runs");
            assert_eq!(trace.steps.len(), 1, "{target}");
            assert!(transcript(&trace).contains("(1, 11)"), "{target}: {}", transcript(&trace));
        }
    });
}

#[test]
fn a_statement_that_runs_too_long_is_cancelled_and_said_to_be() {
    limited(|| {
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
        for target in ["model", "sqlite", "postgres"] {
            let options = ExecuteOptions { statement_limit: Duration::from_millis(200) };
            let mut runner = EngineRunner::new(vec![engine(target)]).with_options(options);
            let trace = run(&mut runner, &parse(&format!("/*a*/ {endless};\n/*a*/ SELECT v FROM t WHERE id = 1;\n")));
            assert_eq!(trace.steps[0].cancelled, Some(CancelReason::TimeLimit), "{target}");
            let next = trace.steps[1].outcome.as_ref().expect("an outcome");
            assert!(next.error.is_none(), "{target}: the session goes on: {next:?}");
        }
    });
}

#[test]
fn a_transaction_that_is_left_open_is_rolled_back() {
    limited(|| {
        for target in ["model", "sqlite", "postgres"] {
            let trace = run(&mut runner(target), &parse("/*a*/ BEGIN;\n/*a*/ UPDATE t SET v = 0;\n"));
            assert!(trace.sessions[0].left_open, "{target}");
            assert!(transcript(&trace).ends_with("t (1, 10) (2, 20)\n"), "{target}: {}", transcript(&trace));
        }
    });
}

#[test]
fn after_the_deadlock_the_boundaries_are_what_the_server_says() {
    limited(|| {
        let case = corpus_case("contract/after-a-deadlock.sql");
        let status = |target: &str| {
            let trace = run(&mut runner(target), &case);
            let b: Vec<TxStatus> = trace
                .steps
                .iter()
                .filter(|step| trace.name(step.session).as_str() == "b")
                .filter_map(|step| step.outcome.as_ref().map(|outcome| outcome.status))
                .collect();
            b
        };
        use TxStatus::{Failed, Idle, Open};
        assert_eq!(status("postgres"), [Open, Open, Failed, Failed, Idle]);
        assert_eq!(status("model"), [Open, Open, Idle, Idle, Idle]);
    });
}

fn corpus_case(path: &str) -> Case {
    let found = txloom::corpus::CONTRACT.iter().find(|case| case.path == path);
    found.unwrap_or_else(|| panic!("no {path}")).parse()
}

#[test]
fn the_victim_of_a_deadlock_is_always_the_same() {
    limited(|| {
        for target in ["model", "postgres"] {
            let mut runner = runner(target);
            for path in ["contract/deadlock.sql", "contract/deadlock-of-three.sql"] {
                let case = corpus_case(path);
                let first = transcript(&run(&mut runner, &case));
                assert!(first.contains("error deadlock"), "{first}");
                for _ in 0..25 {
                    assert_eq!(transcript(&run(&mut runner, &case)), first, "{target}");
                }
            }
        }
    });
}

#[test]
fn assertions_are_checked_at_their_moments() {
    limited(|| {
        let text = "-- @assert start positive: SELECT * FROM t WHERE v < 0\n\
                    -- @assert each even: SELECT * FROM t WHERE v % 2 = 1\n\
                    -- @assert end total: SELECT sum(v) FROM t HAVING sum(v) <> 30\n\
                    /*a*/ UPDATE t SET v = v + 1 WHERE id = 1;\n/*a*/ UPDATE t SET v = v - 1 WHERE id = 1;\n";
        for target in ["model", "sqlite", "postgres"] {
            let trace = run(&mut runner(target), &parse(text));
            let held: Vec<(&str, bool)> =
                trace.checks.iter().map(|check| (check.name.as_str(), check.holds())).collect();
            let expected = [("positive", true), ("even", false), ("even", true), ("total", true)];
            assert_eq!(held, expected, "{target}");
        }
    });
}
