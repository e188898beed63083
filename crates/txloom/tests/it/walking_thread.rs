//! The walking thread: a two-branch procedure, called by two sessions, scheduled to lose an update, judged by `serial`,
//! reduced, flattened to SQL, run again. If the architecture breaks, it breaks here.

use txloom::corpus;
use txloom::execute::EngineRunner;
use txloom_core::case::{self, Case, Item, Line};
use txloom_core::oracle::serial::Serial;
use txloom_core::oracle::{Oracle, Verdict};
use txloom_core::reduce::{Reproduction, reduce};

use crate::support::{limited, run, runner};

/// Two withdrawals that both read before either writes; beside them a session, rows and steps that have nothing to do
/// with it.
const CASE: &str = "\
-- @case 1
-- @isolation snapshot isolation
-- @program withdraw.sql
-- @schedule c a a b b c a a b b c
/*init*/ CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);
/*init*/ CREATE TABLE refusals (account INT NOT NULL, amount INT NOT NULL);
/*init*/ INSERT INTO accounts VALUES (1, 100), (2, 200), (3, 300);
/*a*/ -- call withdraw(account=1, amount=60)
/*b*/ -- call withdraw(account=1, amount=30)
/*c*/ BEGIN;
/*c*/ SELECT balance FROM accounts WHERE id = 3;
/*c*/ COMMIT;
";

fn program_case() -> Case {
    let mut case = case::parse(CASE).expect("the case reads");
    case.program = Some(corpus::withdraw());
    case
}

fn judge(runner: &mut EngineRunner, case: &Case) -> Verdict {
    Serial::default().judge(case, runner).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_lost_update_is_found_reduced_flattened_and_run_again() {
    limited(|| {
        let mut buggy = runner("model+lost-update");
        let case = program_case();
        let Verdict::Violated(findings) = judge(&mut buggy, &case) else { panic!("the lost update was not found") };
        let kind = findings[0].fingerprint.kind();

        let reduced = reduce(&case, &mut |candidate| match Serial::default().judge(candidate, &mut buggy) {
            Ok(Verdict::Violated(found)) if found[0].fingerprint.kind() == kind => Reproduction::Reproduced,
            Ok(Verdict::Violated(_) | Verdict::Holds(_) | Verdict::Vacuous(_)) => Reproduction::Gone,
            Ok(Verdict::Unknown(_) | Verdict::Unstable(_)) | Err(_) => Reproduction::Unresolved,
        })
        .case;
        let names: Vec<String> = reduced.sessions().iter().map(|session| session.name.to_string()).collect();
        assert_eq!(names, ["a", "b"], "the bystander is gone");
        let setup = reduced.setup().join("; ");
        assert!(setup.ends_with("INSERT INTO accounts VALUES (1, 1)"), "only the account is left: {setup}");

        let flat = run(&mut buggy, &reduced).to_case(&reduced);
        let is_sql = |entry: &case::Entry| !matches!(&entry.line, Line::Step(_, Item::Call(_), _));
        assert!(flat.entries.iter().all(is_sql), "calls became SQL");
        let again = case::parse(&case::print::print(&flat)).expect("a flattened case can be loaded back");
        let verdict = judge(&mut buggy, &again);
        let shown = matches!(verdict, Verdict::Violated(_));
        assert!(shown, "the flattened case still shows it: {verdict:?}\n{}", case::print::print(&again));
    });
}

#[test]
fn the_healthy_engine_is_silent() {
    limited(|| {
        let mut healthy = runner("model");
        for level in ["snapshot isolation", "serializable"] {
            let mut case = program_case();
            case.set_level(txloom_core::level::LevelName::parse(level).expect("a level"));
            assert!(matches!(judge(&mut healthy, &case), Verdict::Holds(_)), "at {level}");
        }
    });
}

/// At read committed the update is lost on the healthy engine, too: the program is wrong there, not the engine.
#[test]
fn at_read_committed_the_program_itself_loses_the_update() {
    limited(|| {
        for target in ["model", "postgres"] {
            let mut case = program_case();
            case.set_level(txloom_core::level::LevelName::parse("read committed").expect("a level"));
            assert!(matches!(judge(&mut runner(target), &case), Verdict::Violated(_)), "on {target}");
        }
    });
}
