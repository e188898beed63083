use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::engine::EngineInfo;
use crate::oracle::toy::{Rule, Toy, case};
use crate::program::Program;
use crate::trace::CancelReason;
use crate::trace::sample::{self, sample};

fn with_program(mut case: Case) -> Case {
    let withdraw = include_str!("../../../../../corpus/programs/withdraw.sql");
    case.program = Some(Arc::new(Program::parse(withdraw).unwrap()));
    case
}

/// The walking thread: two withdrawals of 80 from an account that holds 100.
fn withdrawals(schedule: &str) -> Case {
    with_program(case(&format!(
        "schedule {schedule}
         init CREATE TABLE accounts (id INT, balance INT)
         init CREATE TABLE refusals (account INT, amount INT)
         init INSERT INTO accounts VALUES (1, 100)
         a call withdraw(account=1,amount=80)
         b call withdraw(account=1,amount=80)"
    )))
}

fn judge(case: &Case, rule: Rule) -> Verdict {
    Serial::default().judge(case, &mut Toy::new(rule)).unwrap()
}

#[track_caller]
fn finding(verdict: Verdict) -> Finding {
    match verdict {
        Verdict::Violated(mut findings) if findings.len() == 1 => findings.remove(0),
        other => panic!("one finding, not {other:?}"),
    }
}

#[track_caller]
fn check_holds(case: &Case, rule: Rule, witness: &str) {
    match judge(case, rule) {
        Verdict::Holds(found) | Verdict::Vacuous(found) => assert_eq!(found, witness),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_lost_update_is_in_no_serial_order() {
    let finding = finding(judge(&withdrawals("a a b b a a b b"), Rule::Blind));
    assert_eq!(
        finding.sentence,
        "two calls of withdraw, by a and b, both committed, but neither order of them gives what was seen: \
         if a ran before b, step b2 (SELECT balance FROM accounts WHERE id = 1) would have returned (20), \
         but it returned (100)"
    );
    assert_eq!(
        finding.explanation.lines(),
        [
            "Let:",
            "  a = withdraw(account=1, amount=80)",
            "  b = withdraw(account=1, amount=80)",
            "Then:",
            "  all of these committed, so one of their 2 serial orders should give what was seen",
            "However:",
            "  if a ran before b, step b2 (SELECT balance FROM accounts WHERE id = 1) would have returned (20), \
             but it returned (100)",
            "  if b ran before a, step a2 (SELECT balance FROM accounts WHERE id = 1) would have returned (20), \
             but it returned (100)",
            "A contradiction.",
        ]
    );
    assert_eq!((finding.oracle, finding.target.as_str(), finding.level.as_str()), ("serial", "toy", "read committed"));
    assert!(finding.fingerprint.as_str().starts_with("serial-result-"));
    let other = judge(&withdrawals("b b a a b b a a"), Rule::Blind);
    assert_eq!(self::finding(other).fingerprint, finding.fingerprint);
}

/// The toy under the name of an engine whose levels are known.
struct KnownToy {
    toy: Toy,
    level: &'static str,
}

impl Runner for KnownToy {
    fn targets(&self) -> Vec<EngineInfo> {
        let default_level = crate::level::LevelName::custom(self.level);
        vec![EngineInfo { family: "model", default_level, ..sample::engine() }]
    }

    fn run(&mut self, request: &RunRequest<'_>) -> Result<Trace, RunError> {
        let mut trace = self.toy.run(request)?;
        trace.engine = self.targets().remove(0);
        trace.sessions.iter_mut().for_each(|session| session.level = trace.engine.default_level.clone());
        Ok(trace)
    }
}

#[test]
fn a_hunt_asks_only_where_somebody_promises() {
    let promised = Serial { only_where_promised: true, ..Serial::default() };
    let program = withdrawals("a a b b a a b b");
    let statements = case("init CREATE TABLE t (id INT, v INT)\na SELECT v FROM t");
    let judge = |case: &Case, level| {
        let mut runner = KnownToy { toy: Toy::new(Rule::Blind), level };
        (promised.judge(case, &mut runner).unwrap(), runner.toy.runs)
    };
    let (verdict, runs) = judge(&statements, "snapshot isolation");
    let reason = "snapshot isolation does not promise a serial order on toy";
    assert!(matches!(&verdict, Verdict::Unknown(found) if found == reason), "{verdict:?}");
    assert_eq!(runs, 0);
    assert!(matches!(judge(&statements, "serializable").0, Verdict::Holds(_)));
    assert!(matches!(judge(&program, "snapshot isolation").0, Verdict::Violated(_)));
}

#[test]
fn a_finding_says_what_its_level_does_not_promise() {
    let judge = |level| {
        let mut runner = KnownToy { toy: Toy::new(Rule::Blind), level };
        let verdict = Serial::default().judge(&withdrawals("a a b b a a b b"), &mut runner).unwrap();
        finding(verdict).explanation.thens.split_off(1)
    };
    assert!(judge("serializable").is_empty());
    let words = "snapshot isolation of toy does not promise that there is such an order: it allows write skew, \
                 read-only-transaction anomaly, anti-dependency cycle";
    assert_eq!(judge("snapshot isolation"), [words]);
}

#[test]
fn a_serial_schedule_is_its_own_witness() {
    check_holds(&withdrawals("a a a a b b b b"), Rule::Blind, "a, then b");
    check_holds(&withdrawals("b b b b a a a a"), Rule::Blind, "b, then a");
}

#[test]
fn a_refused_transaction_does_not_count() {
    check_holds(&withdrawals("a a b b a a b b"), Rule::FirstCommitterWins, "a");
}

#[test]
fn the_commit_order_is_tried_first_and_others_after_it() {
    // b reads before a writes, and commits after it: only b before a explains it.
    let skewed = case(
        "init CREATE TABLE t (id INT, v INT)
         init INSERT INTO t VALUES (1, 10)
         b BEGIN
         b SELECT v FROM t WHERE id = 1
         a UPDATE t SET v = 11 WHERE id = 1
         b COMMIT",
    );
    let mut toy = Toy::new(Rule::Blind);
    let verdict = Serial::default().judge(&skewed, &mut toy).unwrap();
    assert!(matches!(verdict, Verdict::Holds(witness) if witness == "b, then a"));
    assert_eq!(toy.runs, 3, "the run, the order of the commits, the order of the beginnings");
}

#[test]
fn write_skew_between_statements_is_found() {
    let skew = case(
        "init CREATE TABLE t (id INT, v INT)
         init INSERT INTO t VALUES (1, 1), (2, 1)
         a BEGIN
         b BEGIN
         a SELECT v FROM t
         b SELECT v FROM t
         a UPDATE t SET v = 0 WHERE id = 1
         b UPDATE t SET v = 0 WHERE id = 2
         a COMMIT
         b COMMIT",
    );
    let finding = finding(judge(&skew, Rule::FirstCommitterWins));
    assert_eq!(
        finding.sentence,
        "the transactions a and b both committed, but neither order of them gives what was seen: if a ran before b, \
         step b2 (SELECT v FROM t) would have returned (0) (1), but it returned (1) (1)"
    );
    assert_eq!(finding.explanation.lets[0], "a = BEGIN; SELECT v FROM t; UPDATE t SET v = 0 WHERE id = 1; COMMIT");
}

#[test]
fn sessions_keep_their_order() {
    let several = case(
        "init CREATE TABLE t (id INT, v INT)
         init INSERT INTO t VALUES (1, 10)
         b BEGIN
         b SELECT v FROM t WHERE id = 1
         a UPDATE t SET v = 11 WHERE id = 1
         a UPDATE t SET v = 12 WHERE id = 1
         b COMMIT",
    );
    check_holds(&several, Rule::Blind, "b, then a.1, then a.2");
}

#[test]
fn a_difference_in_the_final_state_suffices() {
    let blind_writes = case(
        "init CREATE TABLE t (id INT, v INT)
         init INSERT INTO t VALUES (1, 10), (2, 10)
         a BEGIN
         b BEGIN
         a UPDATE t SET v = v + 1 WHERE id = 1
         b UPDATE t SET v = v + 5 WHERE id = 1
         a COMMIT
         b COMMIT",
    );
    let finding = finding(judge(&blind_writes, Rule::Blind));
    assert!(
        finding
            .sentence
            .ends_with("if a ran before b, the table t would have held (1, 16) at the end, but it held (1, 15)"),
        "{}",
        finding.sentence
    );
    assert!(finding.fingerprint.as_str().starts_with("serial-state-"));
}

#[test]
fn nothing_committed_must_change_nothing() {
    let nothing = case(
        "init CREATE TABLE t (id INT, v INT)
         a BEGIN
         a INSERT INTO t VALUES (1, 1)
         a ROLLBACK
         b BEGIN
         b INSERT INTO t VALUES (1, 1)",
    );
    check_holds(&nothing, Rule::Blind, "nothing was committed, and nothing has changed");
}

#[test]
fn every_schedule_is_judged() {
    let mut two = withdrawals("a a b b a a b b");
    two.entries.insert(0, crate::case::Line::Schedule(two_serial()).into());
    let finding = finding(judge(&two, Rule::Blind));
    assert_eq!(finding.case.schedules().len(), 1);
    assert_eq!(finding.case.schedules()[0].to_string(), "a a b b a a b b");
}

fn two_serial() -> Schedule {
    "aaaabbbb".chars().map(|c| SessionName::new(&c.to_string()).unwrap()).collect()
}

#[test]
fn too_many_orders_are_undecided_unless_a_likely_one_explains() {
    let oracle = Serial { orders_max: 1, ..Serial::default() };
    let undecided = oracle.judge(&withdrawals("a a b b a a b b"), &mut Toy::new(Rule::Blind)).unwrap();
    assert!(matches!(&undecided, Verdict::Unknown(reason) if reason.contains("more than 1 serial orders")));
    let holds = oracle.judge(&withdrawals("a a a a"), &mut Toy::new(Rule::Blind)).unwrap();
    assert!(matches!(holds, Verdict::Holds(_)));
}

/// Answers every request with a trace from a list.
struct Canned(Vec<Result<Trace, RunError>>);

impl Runner for Canned {
    fn targets(&self) -> Vec<EngineInfo> {
        vec![sample::engine()]
    }

    fn run(&mut self, _: &RunRequest<'_>) -> Result<Trace, RunError> {
        self.0.remove(0)
    }
}

/// A trace with an empty final state.
fn clean(text: &str) -> Trace {
    Trace { final_state: Some(crate::engine::State::default()), ..sample(text) }
}

#[track_caller]
fn check_unknown(case: &Case, traces: Vec<Result<Trace, RunError>>, reason: &str) {
    match Serial::default().judge(case, &mut Canned(traces)) {
        Ok(Verdict::Unknown(found)) => assert_eq!(found, reason),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_not_clean_is_undecided() {
    let one = case("a UPDATE t");
    let mut died = clean("a UPDATE t > died");
    died.death = Some(crate::engine::Death { how: "signal 11".to_string(), log: Vec::new() });
    check_unknown(&one, vec![Ok(died)], "the server died (signal 11)");
    let mut slow = clean("a UPDATE t > error cancelled idle");
    slow.steps[0].cancelled = Some(CancelReason::TimeLimit);
    check_unknown(&one, vec![Ok(slow)], "a statement of a exceeded its time limit");
    let lost = clean("a UPDATE t > error connection-lost lost");
    check_unknown(&one, vec![Ok(lost)], "it is not known whether a transaction of a committed");
    check_unknown(&one, vec![Ok(sample("a UPDATE t > idle"))], "the final state is not known");
    let setup = RunError::Setup { target: "toy".into(), step: 1, sql: "X".into(), error: "no".into() };
    check_unknown(
        &one,
        vec![Ok(clean("a UPDATE t > idle")), Err(setup)],
        "in a serial run, toy: the setup failed at step 1: X\n  no",
    );
    let mut cancelled = clean("a UPDATE t > error cancelled idle");
    cancelled.steps[0].cancelled = Some(CancelReason::StillBlocked);
    check_unknown(
        &one,
        vec![Ok(clean("a UPDATE t > idle")), Ok(cancelled)],
        "in a serial run, a statement was cancelled",
    );
}

#[test]
fn a_case_that_never_repeats_is_undecided() {
    let tagged = |text| Ok(clean(text));
    check_unknown(
        &case("a UPDATE t"),
        vec![
            tagged("a UPDATE t > idle"),
            tagged("a UPDATE t > error unique idle"),
            tagged("a UPDATE t > error unique idle"),
            tagged("a UPDATE t > error out-of-range idle"),
        ],
        "the same serial order gives something else each time: clocks, random numbers, unordered LIMIT?",
    );
}

#[test]
fn a_call_that_is_half_committed_is_undecided() {
    let mut trace =
        clean("a BEGIN > open; a UPDATE t > open; a COMMIT > idle; a BEGIN > open; a UPDATE u > error deadlock idle");
    trace.steps.iter_mut().for_each(|step| step.item = 0);
    let call = with_program(case("a call withdraw(account=1,amount=80)"));
    check_unknown(&call, vec![Ok(trace)], "a call of a committed one transaction and rolled back another");
}

#[test]
fn statements_that_others_made_fail_are_left_out() {
    let case = case("a BEGIN\na UPDATE t\na UPDATE u\na COMMIT");
    let trace = clean("a BEGIN > open; a UPDATE t > error lock-timeout open; a UPDATE u > open; a COMMIT > idle");
    let committed = Committed::of(&case, &trace).ok().unwrap();
    let texts: Vec<String> = committed.case.sessions()[0].items.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["BEGIN", "UPDATE u", "COMMIT"]);
    let serial = clean("a BEGIN > open; a UPDATE u > open; a COMMIT > idle");
    let mut runner = Canned(vec![Ok(trace), Ok(serial)]);
    assert!(matches!(Serial::default().judge(&case, &mut runner), Ok(Verdict::Holds(_))));
}

#[test]
fn idle_commits_are_no_transactions() {
    let case = case("a BEGIN\na UPDATE t\na UPDATE u\na COMMIT");
    let trace = clean("a BEGIN > open; a UPDATE t > error deadlock idle; a UPDATE u > idle; a COMMIT > idle");
    let committed = Committed::of(&case, &trace).ok().unwrap();
    assert_eq!(committed.case.sessions()[0].items.len(), 1);
    assert_eq!(committed.units.len(), 1);
}

#[test]
fn one_session_has_one_order() {
    let case = case("a UPDATE t\na UPDATE u");
    let run = || Ok(clean("a UPDATE t > idle; a UPDATE u > idle"));
    let otherwise = || Ok(clean("a UPDATE t > idle; a UPDATE u > error unique idle"));
    let mut runner = Canned(vec![run(), otherwise(), otherwise(), otherwise()]);
    let finding = finding(Serial::default().judge(&case, &mut runner).unwrap());
    assert_eq!(
        finding.sentence,
        "the transactions a.1, a.2 committed, but their only serial order does not give what was seen: \
         if a.1 ran before a.2, step a2 (UPDATE u) would have failed with the error unique, but it succeeded"
    );
}

#[test]
fn ddl_goes_with_the_transaction_that_it_ends() {
    let lines = "a BEGIN\na UPDATE t\na CREATE TABLE u (x INT)";
    let trace = clean("a BEGIN > open; a UPDATE t > open; a CREATE TABLE u (x INT) > idle; b UPDATE t > idle");
    let committed = Committed::of(&case(&format!("{lines}\nb UPDATE t")), &trace).ok().unwrap();
    let labels: Vec<&str> = committed.units.iter().map(|unit| unit.label.as_str()).collect();
    assert_eq!(labels, ["a", "b"]);
}

#[test]
fn chained_transactions_are_undecided() {
    let reason = "a transaction of a began where another ended: no serial order separates them";
    for (second, third) in [("COMMIT AND CHAIN", "COMMIT"), ("COMMIT AND CHAIN", "ROLLBACK"), ("BEGIN", "ROLLBACK")] {
        let trace = clean(&format!("a BEGIN > open; a {second} > open; a {third} > idle; a UPDATE t > idle"));
        let chained = case(&format!("a BEGIN\na {second}\na {third}\na UPDATE t"));
        check_unknown(&chained, vec![Ok(trace)], reason);
    }
    let trace = clean("a BEGIN > open; a ROLLBACK AND CHAIN > open; a UPDATE t > open; a COMMIT > idle");
    check_unknown(&case("a BEGIN\na ROLLBACK AND CHAIN\na UPDATE t\na COMMIT"), vec![Ok(trace)], reason);
}

/// Some withdrawals of 1 to 99 from two accounts of 100 each, and an order of their steps.
fn any_withdrawals() -> impl Strategy<Value = Case> {
    let calls = prop::collection::vec((1i64..3, 1i64..100), 1..4);
    let turns = prop::collection::vec(0usize..3, 0..14);
    (calls, turns).prop_map(|(calls, turns)| {
        let names = ["a", "b", "c"];
        let mut lines = "init CREATE TABLE accounts (id INT, balance INT)
            init CREATE TABLE refusals (account INT, amount INT)
            init INSERT INTO accounts VALUES (1, 100), (2, 100)"
            .to_string();
        for ((account, amount), name) in calls.iter().zip(names) {
            lines.push_str(&format!("\n{name} call withdraw(account={account},amount={amount})"));
        }
        let mut case = with_program(case(&lines));
        let turns = turns.iter().map(|turn| SessionName::new(names[turn % calls.len()]).unwrap());
        case.set_schedule(turns.collect());
        case
    })
}

/// Whether money has been lost or made: what is left, and what the committed withdrawals took, must be 200.
fn is_balanced(case: &Case) -> bool {
    let mode = Mode::Scheduled(case.schedules().first().map(|schedule| (*schedule).clone()));
    let request = RunRequest { case, target: 0, policy: Policy::Skip, mode };
    let trace = Toy::new(Rule::Blind).run(&request).unwrap();
    let state = trace.final_state.as_ref().unwrap();
    let number = |cell: &Option<Vec<u8>>| -> i64 { String::from_utf8(cell.clone().unwrap()).unwrap().parse().unwrap() };
    let left: i64 = state.tables["accounts"].rows.iter().map(|row| number(&row[1])).sum();
    let withdrawn = |step: &&crate::trace::StepRun| step.sql.starts_with("UPDATE");
    let amount = |step: &crate::trace::StepRun| -> i64 { step.sql.split(' ').nth(7).unwrap().parse().unwrap() };
    let taken: i64 = trace.steps.iter().filter(withdrawn).map(amount).sum();
    left + taken == 200
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_first_committer_wins_lets_through_is_serializable(case in any_withdrawals()) {
        let verdict = judge(&case, Rule::FirstCommitterWins);
        prop_assert!(matches!(verdict, Verdict::Holds(_)), "{verdict:?}");
    }

    #[test]
    fn money_is_lost_exactly_when_the_oracle_says_so(case in any_withdrawals()) {
        let verdict = judge(&case, Rule::Blind);
        prop_assert_eq!(matches!(verdict, Verdict::Holds(_)), is_balanced(&case));
        prop_assert_eq!(matches!(verdict, Verdict::Violated(_)), !is_balanced(&case));
    }
}
