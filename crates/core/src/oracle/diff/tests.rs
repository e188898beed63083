use super::*;
use crate::engine::{Death, EngineInfo, State};
use crate::level::LevelName;
use crate::oracle::toy::{Played, Rule, Toy, case};
use crate::trace::CancelReason;
use crate::trace::sample::{engine, sample, table};

/// A run on a target, and the tables that it left: `t=(1)(2) u=()`.
fn trace(target: &str, steps: &str, state: &str) -> Trace {
    let mut trace = sample(steps);
    trace.engine.target = target.to_string();
    let one = |text: &str| {
        let (name, rows) = text.split_once('=').expect("NAME=ROWS");
        (name.to_string(), table(rows))
    };
    trace.final_state = Some(State { tables: state.split_whitespace().map(one).collect() });
    trace
}

/// Turns a run into one on an engine of another dialect.
fn speak_mysql(trace: &mut Trace) {
    trace.engine.dialect = &crate::dialect::MySql;
    let outcomes = trace.steps.iter_mut().filter_map(|step| step.outcome.as_mut());
    let tables = trace.final_state.iter_mut().flat_map(|state| state.tables.values_mut());
    for result in outcomes.flat_map(|outcome| &mut outcome.results).chain(tables) {
        result.columns.iter_mut().for_each(|column| column.type_name = "int".to_string());
    }
}

/// The same on targets `x` and `y`, which leave the same data.
fn pair(x: &str, y: &str) -> Vec<Trace> {
    vec![trace("x", x, "t=(1)"), trace("y", y, "t=(1)")]
}

fn judge(traces: Vec<Trace>) -> Verdict {
    Diff::default().judge(&Case::default(), &mut Played::new(traces)).unwrap()
}

#[track_caller]
fn found(traces: Vec<Trace>) -> Finding {
    match judge(traces) {
        Verdict::Violated(mut findings) if findings.len() == 1 => findings.remove(0),
        other => panic!("one finding, not {other:?}"),
    }
}

#[track_caller]
fn check(traces: Vec<Trace>, kind: &str, sentence: &str) {
    let finding = found(traces);
    assert_eq!((finding.fingerprint.kind(), finding.sentence.as_str()), (kind, sentence));
}

#[track_caller]
fn check_silent(traces: Vec<Trace>) {
    let verdict = judge(traces);
    assert!(matches!(verdict, Verdict::Holds(_)), "{verdict:?}");
}

#[test]
fn a_step_that_waits_on_one_target_only() {
    check(
        pair(
            "a UPDATE t > open; b DELETE t > waits idle; a COMMIT > idle; b > completes",
            "a UPDATE t > open; b DELETE t > idle; a COMMIT > idle",
        ),
        "diff-waiting",
        "step b1 (DELETE t) waits on x, but does not wait on y",
    );
}

#[test]
fn a_step_that_goes_on_at_another_point() {
    check(
        pair(
            "a UPDATE t > open; b DELETE t > waits idle; a ROLLBACK TO s > open; b > completes; a COMMIT > idle",
            "a UPDATE t > open; b DELETE t > waits idle; a ROLLBACK TO s > open; a COMMIT > idle; b > completes",
        ),
        "diff-waiting",
        "step b1 (DELETE t) goes on after step a2 (ROLLBACK TO s) on x, \
         but still waits after step a2 (ROLLBACK TO s) on y",
    );
}

#[test]
fn whom_a_session_waits_for_is_not_compared() {
    let told = pair("a UPDATE t > open; b DELETE t > waits idle; a COMMIT > idle; b > completes", "a x > idle");
    let mut other = told[0].clone();
    for event in &mut other.events {
        if let crate::trace::TraceEvent::Waiting { holders, source, .. } = event {
            *holders = vec![crate::engine::Holder::Session(crate::engine::SessionId(0))];
            *source = "elsewhere";
        }
    }
    // It is told again that it waits, since the engine knows that the holder is another one now.
    let again = other.events[3].clone();
    other.events.insert(4, again);
    check_silent(vec![told[0].clone(), other]);
}

#[test]
fn deadlocks_and_their_victims() {
    let waits = "a BEGIN > open; a UPDATE t > open; b UPDATE u > open; a UPDATE u > waits open; ";
    let closer = format!("{waits}b UPDATE t > error deadlock idle; a > completes");
    let nobody = format!("{waits}b UPDATE t > open; a > completes");
    check(
        pair(&closer, &nobody),
        "diff-deadlock",
        "step b2 (UPDATE t) leads to a deadlock with b as its victim on x, but leads to no deadlock on y",
    );
    let first = "a BEGIN > open; a UPDATE t > open; b UPDATE u > open; a UPDATE u > waits error deadlock idle; \
                 b UPDATE t > open; a > completes";
    check(
        pair(&closer, first),
        "diff-deadlock",
        "step b2 (UPDATE t) leads to a deadlock with b as its victim on x, \
         but leads to a deadlock with a as its victim on y",
    );
}

#[test]
fn errors_differ_in_presence_and_in_fate() {
    let insert = |answer: &str| format!("a INSERT t > {answer}");
    let check_error = |x: &str, y: &str, sentence: &str| {
        check(pair(&insert(x), &insert(y)), "diff-error", &format!("step a1 (INSERT t) {sentence}"));
    };
    check_error("idle", "error unique idle", "succeeds on x, but fails (error unique) on y");
    check_error(
        "error unique idle",
        "error serialization-failure idle",
        "fails (error unique) on x, but fails (error serialization-failure) on y",
    );
    // Which of two constraints is named, and what an engine has no word for.
    check_silent(pair(&insert("error unique idle"), &insert("error not-null idle")));
    check_silent(pair(&insert("error unique idle"), &insert("error other idle")));
    check_silent(pair(&insert("error serialization-failure idle"), &insert("error lock-timeout idle")));
}

#[test]
fn texts_and_codes_of_errors_are_noise() {
    let mut traces = pair("a INSERT t > error unique idle", "a INSERT t > error unique idle");
    let error = traces[1].steps[0].outcome.as_mut().unwrap().error.as_mut().unwrap();
    (error.message, error.code, error.native) = ("Duplicate entry".to_string(), "1062".to_string(), Some(1062));
    check_silent(traces);
}

#[test]
fn a_conflict_at_commit_is_an_answer_like_any_other() {
    check(
        pair("a BEGIN > open; a COMMIT > error serialization-failure idle", "a BEGIN > open; a COMMIT > idle"),
        "diff-error",
        "step a2 (COMMIT) fails (error serialization-failure) on x, but succeeds on y",
    );
    check(
        pair("a BEGIN > open; a COMMIT > tag ROLLBACK idle", "a BEGIN > open; a COMMIT > tag COMMIT idle"),
        "diff-error",
        "step a2 (COMMIT) is answered with ROLLBACK on x, but succeeds on y",
    );
    // To refuse in two ways is the same, and whoever does not say what it did may have refused.
    check_silent(pair("a COMMIT > tag ROLLBACK idle", "a COMMIT > error other idle"));
    check_silent(pair("a COMMIT > tag ROLLBACK idle", "a COMMIT > idle"));
}

#[test]
fn warnings_are_compared_within_a_dialect() {
    let mut traces = pair("a UPDATE t > notice 1292 idle", "a UPDATE t > idle");
    traces[0].steps[0].outcome.as_mut().unwrap().notices[0].message = "Truncated".to_string();
    check(
        traces.clone(),
        "diff-warning",
        "step a1 (UPDATE t) gives a warning (Truncated) on x, but gives no warning on y",
    );
    let mut remark = traces.clone();
    remark[0].steps[0].outcome.as_mut().unwrap().notices[0].severity = "Note".to_string();
    check_silent(remark);
    check_silent(pair("a UPDATE t > notice 1292 idle", "a UPDATE t > notice 1264 idle"));
    speak_mysql(&mut traces[1]);
    check_silent(traces);
}

#[test]
fn rows_differ_whatever_their_order() {
    let select = |rows: &str| format!("a SELECT c1 FROM t > rows {rows} idle");
    check(
        pair(&select("(1)(2)"), &select("(1)")),
        "diff-rows",
        "step a1 (SELECT c1 FROM t) returns (1) (2) on x, but (1) on y",
    );
    check(
        pair(&select("(1)(1)(2)"), &select("(1)(2)(2)")),
        "diff-rows",
        "step a1 (SELECT c1 FROM t) returns (1) (1) (2) on x, but (1) (2) (2) on y",
    );
    check_silent(pair(&select("(1)(2)"), &select("(2)(1)")));
    let mut named = pair(&select("(1)(2)"), &select("(2)(1)"));
    let result = &mut named[1].steps[0].outcome.as_mut().unwrap().results[0];
    (result.columns[0].name, result.columns[0].type_name) = ("C1".to_string(), "int8".to_string());
    check_silent(named);
}

#[test]
fn the_order_counts_where_there_is_only_one() {
    let select = |rows: &str| format!("a SELECT c1 FROM t ORDER BY c1 > rows {rows} idle");
    check(
        pair(&select("(1)(2)"), &select("(2)(1)")),
        "diff-rows",
        "step a1 (SELECT c1 FROM t ORDER BY c1) returns (1) (2) on x, but (2) (1) on y",
    );
    let tie = |rows: &str| format!("a SELECT * FROM t ORDER BY c1 > rows {rows} idle");
    check_silent(pair(&tie("(1,5)(1,6)"), &tie("(1,6)(1,5)")));
}

#[test]
fn a_limit_is_compared_by_the_number_of_rows() {
    let select = |rows: &str| format!("a SELECT c1 FROM t LIMIT 1 > rows {rows} idle");
    check_silent(pair(&select("(1)"), &select("(2)")));
    check(
        pair(&select("(1)"), &select("()")),
        "diff-rows",
        "step a1 (SELECT c1 FROM t LIMIT 1) returns (1) on x, but (empty) on y",
    );
}

#[test]
fn truth_is_one_where_the_other_dialect_has_no_truth() {
    let select = |rows: &str| format!("a SELECT c1 FROM t > rows {rows} idle");
    let mut traces = pair(&select("(t)"), &select("(1)"));
    traces[0].steps[0].outcome.as_mut().unwrap().results[0].columns[0].type_name = "bool".to_string();
    speak_mysql(&mut traces[1]);
    check_silent(traces.clone());
    traces[0].steps[0].outcome.as_mut().unwrap().results[0].rows[0][0] = Some(b"f".to_vec());
    assert_eq!(found(traces.clone()).fingerprint.kind(), "diff-rows");
    // In one dialect, a truth value is no number.
    let mut traces = vec![traces[0].clone(), trace("y", &select("(1)"), "t=(1)")];
    traces[0].steps[0].outcome.as_mut().unwrap().results[0].rows[0][0] = Some(b"t".to_vec());
    assert_eq!(found(traces).fingerprint.kind(), "diff-rows");
}

#[test]
fn counts_are_compared_where_both_count_alike() {
    let change = |sql: &str, count: u64| format!("a {sql} > affected {count} idle");
    let check_count = |sql: &str, same_dialect: bool, silent: bool| {
        let mut traces = pair(&change(sql, 1), &change(sql, 2));
        if !same_dialect {
            speak_mysql(&mut traces[1]);
        }
        match silent {
            true => check_silent(traces),
            false => check(traces, "diff-count", &format!("step a1 ({sql}) changes 1 row on x, but 2 rows on y")),
        }
    };
    check_count("UPDATE t SET v = 1", true, false);
    check_count("UPDATE t SET v = 1", false, true);
    check_count("DELETE FROM t", false, false);
    check_count("INSERT INTO t VALUES (1)", false, false);
    check_count("INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING", false, true);
    // Who does not count does not differ.
    check_silent(pair("a DELETE FROM t > affected 1 idle", "a DELETE FROM t > idle"));
}

#[test]
fn the_final_state_is_compared_in_any_case() {
    let steps = "a UPDATE t > idle";
    check(
        vec![trace("x", steps, "t=(1)(2) u=(1)"), trace("y", steps, "t=(2)(1) u=(3)")],
        "diff-state",
        "all steps went the same way, yet the table u ends with (1) on x, but (3) on y",
    );
    check_silent(vec![trace("x", steps, "t=(1)(2)"), trace("y", steps, "t=(2)(1)")]);
    check(
        vec![trace("x", steps, "t=(1)"), trace("y", "a UPDATE t > error check idle", "t=(2)")],
        "diff-error",
        "step a1 (UPDATE t) succeeds on x, but fails (error check) on y; the data that is left differs as well: \
         the table t ends with (1) on x, but (2) on y",
    );
    check(
        vec![trace("x", steps, "t=(1)"), trace("y", steps, "")],
        "diff-state",
        "all steps went the same way, yet the table t ends with (1) on x, but does not exist on y",
    );
}

fn dying(mut trace: Trace) -> Trace {
    trace.death = Some(Death { how: "signal 11".to_string(), log: Vec::new() });
    trace.final_state = None;
    trace
}

#[test]
fn a_death_is_a_difference_of_its_own() {
    let dead = || dying(trace("y", "a SELECT c1 FROM t > rows (2) idle; a UPDATE t > died", ""));
    let alive = trace("x", "a SELECT c1 FROM t > rows (1) idle; a UPDATE t > idle", "t=(1)");
    check(
        vec![alive, dead()],
        "diff-death",
        "the server survives on x, but dies (signal 11) at step a2 (UPDATE t) on y",
    );
    // That all of them die makes it no better.
    check(vec![dead(), dead()], "diff-death", "the server dies (signal 11) at step a2 (UPDATE t) on y (1) and y (2)");
}

#[test]
fn the_first_discrepancy_is_told() {
    let finding = found(pair(
        "a SELECT c1 FROM t > rows (1) idle; a DELETE t > affected 1 idle; b SELECT c1 FROM t > rows () idle",
        "a SELECT c1 FROM t > rows (1) idle; a DELETE t > affected 0 idle; b SELECT c1 FROM t > rows (1) idle",
    ));
    assert_eq!(finding.sentence, "step a2 (DELETE t) changes 1 row on x, but 0 rows on y");
    assert_eq!(
        finding.explanation.lines(),
        [
            "Let:",
            "  x = toy 1.0",
            "  y = toy 1.0",
            "Then:",
            "  everything before step a2 went the same way on all of them",
            "  the data that is left is the same on all of them",
            "However:",
            "  on x, step a2 (DELETE t) changes 1 row",
            "  on y, step a2 (DELETE t) changes 0 rows",
            "A contradiction.",
        ]
    );
    let shared = Shared::of(&finding.traces());
    assert_eq!(shared.unlike, [crate::trace::StepId(1), crate::trace::StepId(2)]);
    assert_eq!(shared.events, [6, 6]);
}

#[test]
fn among_several_the_odd_one_is_named() {
    let select = |rows: &str| format!("a SELECT c1 FROM t > rows {rows} idle");
    let run = |target: &str, rows: &str| trace(target, &select(rows), "t=(1)");
    check(
        vec![run("x", "(1)"), run("y", "(2)"), run("z", "(2)")],
        "diff-rows",
        "x is the odd one out: step a1 (SELECT c1 FROM t) returns (1) on x, but (2) on y and z",
    );
    check(
        vec![run("x", "(1)"), run("y", "(2)"), run("z", "(3)")],
        "diff-rows",
        "step a1 (SELECT c1 FROM t) returns (1) on x, but (2) on y, and (3) on z",
    );
    let finding = found(vec![run("x", "(1)"), run("x", "(2)"), run("z", "(2)")]);
    assert!(finding.sentence.starts_with("x (1) is the odd one out: "), "{}", finding.sentence);
    assert_eq!(finding.replay_command("f"), "txloom run f --on x x z --oracle diff --level read-committed");
    assert_eq!(Comparison::of(&finding.traces()).groups, [vec![1, 2], vec![0]]);
}

#[test]
fn what_cannot_be_observed_is_no_finding() {
    let check_unknown = |traces: Vec<Trace>, expect: &str| match judge(traces) {
        Verdict::Unknown(reason) => assert!(reason.contains(expect), "{reason}"),
        other => panic!("{other:?}"),
    };
    let mut slow = pair("a UPDATE t > error cancelled idle", "a UPDATE t > idle");
    slow[0].steps[0].cancelled = Some(CancelReason::TimeLimit);
    check_unknown(slow, "time limit");
    check_unknown(pair("a UPDATE t > died", "a UPDATE t > idle"), "not answered");
    check_unknown(pair("a UPDATE t > idle", "a UPDATE t > idle")[..1].to_vec(), "only one target");
}

#[test]
fn what_differs_from_itself_is_no_finding() {
    let run = |rows: &str| trace("x", &format!("a SELECT random() > rows {rows} idle"), "t=(1)");
    let mut runner = Played::new(vec![run("(1)"), run("(2)")]);
    runner.plays[1].push(run("(3)"));
    let verdict = Diff::default().judge(&Case::default(), &mut runner).unwrap();
    assert!(matches!(&verdict, Verdict::Unstable(_)), "{verdict:?}");
    assert_eq!(runner.runs, [2, 2]);
    runner.runs = vec![0, 0];
    let verdict = Diff { confirm: false, ..Diff::default() }.judge(&Case::default(), &mut runner).unwrap();
    assert!(matches!(verdict, Verdict::Violated(_)));
    assert_eq!(runner.runs, [1, 1]);
}

#[test]
fn fingerprints_know_the_level_and_the_shape_but_not_the_values() {
    let finding = |sql: &str, level: &str| {
        let mut traces = pair(&format!("a {sql} > affected 1 idle"), &format!("a {sql} > affected 2 idle"));
        traces[0].sessions[0].level = LevelName::custom(level);
        found(traces).fingerprint
    };
    let one = finding("DELETE FROM t WHERE a = 1", "serializable");
    assert_eq!(one, finding("DELETE FROM u WHERE b = 2", "serializable"));
    assert_ne!(one, finding("DELETE FROM t WHERE a = 1", "read committed"));
    assert_ne!(one, finding("DELETE FROM t", "serializable"));
}

/// Two toys of different rules.
struct Toys(Vec<Toy>);

impl Runner for Toys {
    fn targets(&self) -> Vec<EngineInfo> {
        let names = ["blind", "strict"];
        names.iter().map(|name| EngineInfo { target: (*name).to_string(), ..engine() }).collect()
    }

    fn run(&mut self, request: &RunRequest<'_>) -> Result<Trace, RunError> {
        let mut trace = self.0[request.target].run(request)?;
        trace.engine = self.targets()[request.target].clone();
        Ok(trace)
    }
}

const LOST_UPDATE: &str = "init CREATE TABLE t (id INT, v INT)
     init INSERT INTO t VALUES (1, 10)
     c SELECT v FROM t
     a BEGIN
     b BEGIN
     a UPDATE t SET v = v + 1 WHERE id = 1
     b UPDATE t SET v = v + 1 WHERE id = 1
     a COMMIT
     b COMMIT";

#[test]
fn a_difference_between_two_toys_is_found_and_explained() {
    let mut toys = Toys(vec![Toy::new(Rule::Blind), Toy::new(Rule::FirstCommitterWins)]);
    let Verdict::Violated(mut findings) = Diff::default().judge(&case(LOST_UPDATE), &mut toys).unwrap() else {
        panic!("nothing was found")
    };
    let finding = Diff::default().explain(findings.remove(0), &mut toys).unwrap();
    assert_eq!(
        finding.sentence,
        "step b3 (COMMIT) succeeds on blind, but fails (error serialization-failure) on strict \
         (this takes concurrency)"
    );
    assert_eq!(
        finding.explanation.thens,
        [
            "everything before step b3 went the same way on all of them",
            "the data that is left is the same on all of them",
            "neither one session alone nor the sessions one after the other show it",
            "it takes a: without, it is gone; it does not take c",
        ]
    );
    let mut same = Toys(vec![Toy::new(Rule::Blind), Toy::new(Rule::Blind)]);
    let verdict = Diff::default().judge(&case(LOST_UPDATE), &mut same).unwrap();
    let words = "blind and strict went the same way through 7 steps and left the same data";
    assert!(matches!(&verdict, Verdict::Holds(witness) if witness == words), "{verdict:?}");
}

#[test]
fn what_a_single_session_shows_is_no_matter_of_transactions() {
    let steps = |rows: &str| format!("a SELECT c1 FROM t > rows {rows} idle");
    let mut runner = Played::new(pair(&steps("(1)"), &steps("(2)")));
    let case = case("a SELECT c1 FROM t\nb SELECT c1 FROM u");
    let Verdict::Violated(mut findings) = Diff::default().judge(&case, &mut runner).unwrap() else { panic!() };
    let finding = Diff::default().explain(findings.remove(0), &mut runner).unwrap();
    assert!(finding.sentence.ends_with(" (it takes no concurrency: a alone shows it)"), "{}", finding.sentence);
}

#[test]
fn targets_that_promise_different_things_may_both_be_right() {
    let steps = |answer: &str| format!("a BEGIN > open; b UPDATE t > idle; a UPDATE t > {answer}; a COMMIT > idle");
    let mut traces = pair(&steps("open"), &steps("error serialization-failure idle"));
    for (trace, setting) in traces.iter_mut().zip(["OFF", "ON"]) {
        trace.engine.family = "mariadb";
        trace.engine.settings = vec![format!("innodb_snapshot_isolation={setting}")];
        trace.sessions.iter_mut().for_each(|session| session.level = LevelName::custom("repeatable read"));
    }
    let mut runner = Played::new(traces);
    let Verdict::Violated(mut findings) = Diff::default().judge(&Case::default(), &mut runner).unwrap() else {
        panic!()
    };
    assert_eq!(findings[0].explanation.lets[0], "x = mariadb 1.0, innodb_snapshot_isolation=OFF");
    let finding = Diff { confirm: false, ..Diff::default() }.explain(findings.remove(0), &mut runner).unwrap();
    let promise = finding.explanation.thens.last().unwrap();
    assert!(promise.starts_with("repeatable read of x allows predicate-many-preceders"), "{promise}");
    assert!(promise.ends_with("this is a difference in compatibility, and no bug"), "{promise}");
}
