//! Oracles on real engines: what they find, what they are silent about, and the command that shows it again.

use std::sync::Arc;

use txloom::contract;
use txloom::corpus::{self, CorpusCase};
use txloom::execute::EngineRunner;
use txloom_core::case::{self, Case};
use txloom_core::finding::Finding;
use txloom_core::level::LevelName;
use txloom_core::oracle::calls::Calls;
use txloom_core::oracle::crash::Crash;
use txloom_core::oracle::diff::{self, Diff};
use txloom_core::oracle::invariant::Invariant;
use txloom_core::oracle::{self, Mode, Oracle, RunError, RunRequest, Runner, Verdict};
use txloom_core::program::front;
use txloom_core::program::schema::Schema;
use txloom_core::schedule::Policy;
use txloom_core::trace::compare::transcript;

use crate::support::{TestDir, engine, limited, output, root};

fn runner(targets: &[&str]) -> EngineRunner {
    EngineRunner::new(targets.iter().map(|target| engine(target)).collect())
}

fn at(case: &CorpusCase, level: &str) -> Case {
    let mut case = case.parse();
    case.set_level(LevelName::parse(level).expect("a level"));
    case
}

fn corpus_case(path: &str) -> &'static CorpusCase {
    let all = corpus::ANOMALIES.iter().chain(corpus::CONTRACT).chain(corpus::BUGS);
    all.into_iter().find(|case| case.path == path).unwrap_or_else(|| panic!("no {path} in the corpus"))
}

fn found(oracle: &dyn Oracle, case: &Case, runner: &mut EngineRunner) -> Finding {
    match oracle.judge(case, runner).unwrap_or_else(|error| panic!("{error}")) {
        Verdict::Violated(mut findings) => findings.remove(0),
        other => panic!("nothing was found: {other:?}"),
    }
}

#[test]
fn planted_bugs_are_differences() {
    limited(|| {
        for (bug, path, level, kind) in [
            ("lost-update", "anomalies/p4-lost-update.sql", "snapshot isolation", "diff-error"),
            ("write-skew", "anomalies/g2-item-write-skew.sql", "serializable", "diff-error"),
            ("dirty-read", "anomalies/g1a-aborted-read.sql", "read committed", "diff-rows"),
        ] {
            let buggy = format!("model+{bug}");
            let mut targets = runner(&["model", &buggy]);
            let finding = found(&Diff::default(), &at(corpus_case(path), level), &mut targets);
            assert_eq!(finding.fingerprint.kind(), kind, "{}", finding.sentence);
            let finding = Diff::default().explain(finding, &mut targets).unwrap_or_else(|error| panic!("{error}"));
            assert!(finding.sentence.ends_with(" (this takes concurrency)"), "{}", finding.sentence);
        }
    });
}

/// Times at which rows were made are different in every run; that two people got the only ticket is not a question of
/// time.
#[test]
fn clocks_do_not_count() {
    const TICKETS: &str = "CREATE TABLE tickets (
          id INT PRIMARY KEY, made TIMESTAMP NOT NULL, noted TIMESTAMP DEFAULT CURRENT_TIMESTAMP
        );
        CREATE PROCEDURE buy(p_id INT) BEGIN
          DECLARE n INT;
          SELECT COUNT(*) INTO :n FROM tickets;
          IF :n < 1 THEN INSERT INTO tickets (id, made) VALUES (:p_id, CURRENT_TIMESTAMP); END IF;
        END;";
    limited(|| {
        let program = Arc::new(front::read(TICKETS, &Schema::default()).program);
        let table = TICKETS.split(';').next().unwrap_or_default().replace('\n', " ");
        for (schedule, is_right) in [("a a a a b b b", true), ("a a b b b b a a", false)] {
            let text = format!(
                "-- @isolation read committed\n-- @program tickets.sql\n/*init*/ {table};\n\
                 /*a*/ -- call buy(p_id=1)\n/*b*/ -- call buy(p_id=2)\n-- @schedule {schedule}\n"
            );
            let case = Case { program: Some(Arc::clone(&program)), ..case::parse(&text).expect("it is a case") };
            for target in ["postgres", "mariadb"] {
                let verdict = Calls::default().judge(&case, &mut runner(&[target])).expect("it can be judged");
                match is_right {
                    true => assert!(matches!(verdict, Verdict::Holds(_)), "{target}: {verdict:?}"),
                    false => assert!(matches!(verdict, Verdict::Violated(_)), "{target}: {verdict:?}"),
                }
            }
        }
    });
}

#[test]
fn the_odd_one_of_three_is_named() {
    limited(|| {
        let case = at(corpus_case("anomalies/p4-lost-update.sql"), "snapshot isolation");
        let finding = found(&Diff::default(), &case, &mut runner(&["model", "model+lost-update", "model"]));
        assert!(finding.sentence.starts_with("model+lost-update is the odd one out: "), "{}", finding.sentence);
        assert!(finding.sentence.contains("on model (1) and model (2)"), "{}", finding.sentence);
    });
}

/// Judges all of the corpus that is for the dialect, at every level; a case that an engine does not understand is not.
fn check_silent(target: &str) {
    let mut pair = runner(&[target, target]);
    let info = pair.targets().remove(0);
    let cases = corpus::ANOMALIES.iter().chain(corpus::CONTRACT).chain(corpus::BUGS);
    let mut judged = 0;
    for case in cases.filter(|case| contract::is_for(case, info.dialect.name())) {
        for level in &info.levels {
            match Diff::default().judge(&at(case, level.as_str()), &mut pair) {
                Ok(Verdict::Holds(_)) => judged += 1,
                Err(RunError::Setup { .. }) => {}
                other => panic!("{} at {level} on {target} twice: {other:?}", case.path),
            }
        }
    }
    assert!(judged >= 25, "only {judged} runs were judged on {target}");
}

#[test]
fn an_engine_does_the_same_as_itself() {
    for target in ["model", "sqlite"] {
        limited(move || check_silent(target));
    }
}

#[test]
fn postgres_does_the_same_as_itself() {
    limited(|| check_silent("postgres"));
}

#[test]
fn mariadb_does_the_same_as_itself() {
    limited(|| check_silent("mariadb"));
}

#[test]
fn targets_run_at_the_same_time_and_give_what_they_give_alone() {
    limited(|| {
        let mut all = runner(&["model", "sqlite", "postgres"]);
        let cases = [corpus_case("contract/wait-and-resume.sql").parse(), corpus_case("contract/deadlock.sql").parse()];
        let mut requests = Vec::new();
        for case in &cases {
            for target in [2, 0, 1, 7] {
                let mode = Mode::Scheduled(None);
                requests.push(RunRequest { case, target, policy: Policy::Skip, mode });
            }
        }
        let together = all.run_all(&requests);
        for (request, result) in requests.iter().zip(together) {
            match (result, all.run(request)) {
                (Ok(together), Ok(alone)) => assert_eq!(transcript(&together), transcript(&alone)),
                (Err(together), Err(alone)) => assert_eq!(together.to_string(), alone.to_string()),
                (together, alone) => panic!("{together:?}, and alone {alone:?}"),
            }
        }
    });
}

const OVERDRAFT: &str = "\
-- @case 1
-- Each of two withdrawals leaves enough; both together do not.
-- @assert each no overdraft: SELECT sum(v) FROM t HAVING sum(v) < 0
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 50), (2, 50);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ SELECT sum(v) FROM t;
/*b*/ SELECT sum(v) FROM t;
/*a*/ UPDATE t SET v = v - 90 WHERE id = 1;
/*b*/ UPDATE t SET v = v - 90 WHERE id = 2;
/*a*/ COMMIT;
/*b*/ COMMIT;
";

#[test]
fn an_assertion_breaks_where_the_level_lets_it() {
    limited(|| {
        let case = txloom_core::case::parse(OVERDRAFT).expect("the case reads");
        let at = |level: &str| {
            let mut case = case.clone();
            case.set_level(LevelName::parse(level).expect("a level"));
            case
        };
        for target in ["model", "postgres"] {
            let mut runner = runner(&[target]);
            let finding = found(&Invariant::default(), &at("read committed"), &mut runner);
            assert_eq!(finding.fingerprint.kind(), "invariant-no-overdraft");
            let words = "the assertion no overdraft does not hold after step b4 (COMMIT): its query returns (-80)";
            assert_eq!(finding.sentence, words);
            let verdict = Invariant::default().judge(&at("serializable"), &mut runner);
            assert!(matches!(verdict, Ok(Verdict::Holds(_))), "{verdict:?}");
        }
    });
}

#[test]
fn a_connection_that_is_cut_is_noticed_and_the_next_case_runs() {
    limited(|| {
        let mut postgres = runner(&["postgres"]);
        // By a name that is put together at run time, so that the oracle cannot know that it is asked for.
        let cut = "/*a*/ DO $$ BEGIN EXECUTE 'SELECT pg_terminate' || '_backend(pg_backend_pid())'; END $$;\n";
        let case = txloom_core::case::parse(cut).expect("the case reads");
        let finding = found(&Crash::default(), &case, &mut postgres);
        assert_eq!(finding.fingerprint.kind(), "crash-connection", "{}", finding.sentence);
        let next = corpus_case("contract/wait-and-resume.sql").parse();
        let verdict = Crash::default().judge(&next, &mut postgres);
        assert!(matches!(verdict, Ok(Verdict::Holds(_))), "{verdict:?}");
    });
}

#[test]
fn a_hunt_holds_only_serializable_levels_to_serial_orders() {
    limited(|| {
        let mut model = runner(&["model"]);
        let usual = oracle::usual(&model.targets());
        let skew = corpus_case("anomalies/g2-item-write-skew.sql");
        let verdict = usual[0].judge(&at(skew, "snapshot isolation"), &mut model);
        assert!(matches!(verdict, Ok(Verdict::Unknown(_))), "{verdict:?}");
        let on_demand = oracle::by_name("serial").expect("an oracle");
        let finding = found(on_demand.as_ref(), &at(skew, "snapshot isolation"), &mut model);
        let promise = finding.explanation.thens.last().expect("a clause");
        assert!(promise.starts_with("snapshot isolation of model does not promise"), "{promise}");
        let finding = found(usual[0].as_ref(), &at(skew, "serializable"), &mut runner(&["model+write-skew"]));
        assert_eq!(finding.oracle, "serial");
    });
}

#[test]
fn the_command_shows_a_finding_and_how_to_see_it_again() {
    limited(|| {
        let case = "corpus/anomalies/p4-lost-update.sql";
        let arguments = ["run", case, "--on", "model", "model+lost-update", "--oracle", "diff", "--level", "si"];
        let first = output(&arguments);
        assert_eq!(first.code, 1, "{}", first.stderr);
        assert!(first.stdout.contains("model+lost-update → 1 row changed"), "{}", first.stdout);
        let mut lines = first.stdout.lines().skip_while(|line| *line != "To see it again");
        let replay = lines.nth(1).expect("a command").trim().to_string();
        let again: Vec<&str> = replay.split(' ').skip(1).collect();
        assert_eq!(output(&again).stdout, first.stdout, "{replay}");
        let json = output(&[&arguments[..], &["--format", "json"]].concat());
        let report: serde_json::Value = serde_json::from_str(&json.stdout).expect("the output is JSON");
        let finding = &report["cases"][0]["findings"][0];
        assert_eq!(finding["others"][0]["target"], "model+lost-update", "{}", json.stdout);
        assert_eq!(finding["comparison"]["unlike_steps"], serde_json::json!([6, 8]), "{}", json.stdout);
    });
}

#[test]
fn the_exit_code_is_the_verdict() {
    limited(|| {
        let code = |arguments: &[&str]| output(&[&["run"], arguments].concat()).code;
        let write_skew = "corpus/anomalies/g2-item-write-skew.sql";
        assert_eq!(code(&[write_skew, "--on", "model", "model", "--oracle", "diff", "-q"]), 0);
        assert_eq!(code(&[write_skew, "--on", "model", "--oracle", "serial", "--level", "si", "--twice"]), 1);
        assert_eq!(code(&[write_skew, "--on", "model", "--oracle", "invariant"]), 5);
        assert_eq!(code(&[write_skew, "--on", "model", "--oracle", "crash"]), 0);
        let folder = TestDir::new("oracles");
        let broken = folder.file("broken.sql", "/*init*/ CREATE;\n/*a*/ SELECT 1;\n");
        assert_eq!(code(&[&broken, "--on", "model", "--oracle", "crash"]), 2);
        let random = folder.file("random.sql", "/*a*/ SELECT random();\n");
        assert_eq!(code(&[&random, "--on", "sqlite", "sqlite", "--oracle", "diff"]), 4);
    });
}

#[test]
fn every_oracle_and_every_kind_of_difference_is_documented() {
    let page = std::fs::read_to_string(root().join("docs/reference/oracles.md")).expect("the page is there");
    let kinds = diff::Kind::ALL.iter().map(|kind| kind.name());
    for name in oracle::NAMES.iter().copied().chain(kinds) {
        assert!(page.contains(&format!("`{name}`")), "no `{name}` in docs/reference/oracles.md");
    }
}
