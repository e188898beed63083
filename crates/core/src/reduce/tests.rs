use std::sync::Arc;

use super::*;
use crate::case::{Assert, AssertWhen, Event, Expect, Expectation, Item, Sql};
use crate::case::{Line, SessionName};
use crate::finding;
use crate::level::LevelName;
use crate::oracle::Verdict;
use crate::oracle::serial::Serial;
use crate::oracle::toy::{Rule, Toy, case};
use crate::oracle::{Mode, Oracle, RunRequest, Runner};
use crate::program::Program;
use crate::schedule::{Policy, ScheduleEntry};

/// The lines of a case, as the builder of the tests reads them.
pub(super) fn text(case: &Case) -> String {
    let line = |entry: &crate::case::Entry| match &entry.line {
        Line::Init(sql, _) => format!("init {}", sql.as_str()),
        Line::Step(name, Item::Sql(sql), _) => format!("{name} {}", sql.as_str()),
        Line::Step(name, Item::Call(call), _) => format!("{name} call {call}"),
        Line::Schedule(schedule) => format!("schedule {schedule}"),
        other => format!("{other:?}"),
    };
    case.entries.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A test that the serial oracle decides on the toy.
fn violates(case: &Case) -> Reproduction {
    Reproduction::of(&Serial::default().judge(case, &mut Toy::new(Rule::Blind)))
}

/// A case reproduces if its text contains all of these.
pub(super) fn contains<'a>(needed: &'a [&'a str]) -> impl FnMut(&Case) -> Reproduction + 'a {
    |case| {
        let text = text(case);
        if needed.iter().all(|part| text.contains(part)) { Reproduction::Reproduced } else { Reproduction::Gone }
    }
}

#[track_caller]
fn check(before: &str, test: &mut dyn FnMut(&Case) -> Reproduction, expect: &str) -> Reduced {
    let reduced = reduce(&case(before), test);
    let expect: Vec<&str> = expect.lines().map(str::trim).collect();
    assert_eq!(text(&reduced.case).lines().collect::<Vec<_>>(), expect);
    assert!(reduced.reproduced && reduced.complete);
    assert!(reduced.tests < 200, "{} tests", reduced.tests);
    reduced
}

#[test]
fn a_lost_update_among_much_else() {
    let before = "init CREATE TABLE t (id INT, v INT)
        init CREATE TABLE u (id INT)
        init INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)
        init INSERT INTO u VALUES (7)
        c BEGIN
        c SELECT v FROM t
        a BEGIN
        a SELECT v FROM t WHERE id = 2
        b BEGIN
        c UPDATE t SET v = 0 WHERE id = 3
        b SELECT id FROM u
        b SELECT v FROM t WHERE id = 2
        a UPDATE t SET v = v + 1 WHERE id = 2
        b UPDATE t SET v = v + 5 WHERE id = 2
        c COMMIT
        a COMMIT
        b COMMIT
        a BEGIN
        a SELECT id FROM u
        a COMMIT";
    let after = "init CREATE TABLE t (v INT)
        init INSERT INTO t VALUES (0)
        a BEGIN
        b UPDATE t SET v = 1
        a UPDATE t SET v = v
        a COMMIT";
    let reduced = check(before, &mut violates, after);
    let before = Size { sessions: 3, items: 16, statements: 8, setup: 4, rows: 4, switches: 10, characters: 371 };
    assert_eq!(reduced.before, before);
    assert_eq!(reduced.after.to_string(), "2 sessions, 4 items, 2 setup statements, 1 row, 2 switches, 93 characters");
}

#[test]
fn the_walking_thread_is_reduced_with_its_calls() {
    let mut calls = case(
        "schedule a c c a b b c a b a b
         init CREATE TABLE accounts (id INT, balance INT)
         init CREATE TABLE refusals (account INT, amount INT)
         init INSERT INTO accounts VALUES (1, 100), (2, 100)
         a call withdraw(account=1,amount=80)
         b call withdraw(account=1,amount=80)
         c call withdraw(account=2,amount=30)",
    );
    let withdraw = include_str!("../../../../corpus/programs/withdraw.sql");
    calls.program = Some(Arc::new(Program::parse(withdraw).unwrap()));
    let reduced = reduce(&calls, &mut violates);
    assert_eq!(
        text(&reduced.case),
        "schedule b b b a a a a b\n\
         init CREATE TABLE accounts (id INT, balance INT)\n\
         init INSERT INTO accounts VALUES (1, 1)\n\
         a call withdraw(account=1, amount=1)\n\
         b call withdraw(account=1, amount=1)"
    );
    assert!(reduced.complete && reduced.case.program.is_some());

    // What is left is still a finding, and its run is a case of plain SQL that does the same.
    let verdict = Serial::default().judge(&reduced.case, &mut Toy::new(Rule::Blind)).unwrap();
    let Verdict::Violated(findings) = verdict else { panic!("{verdict:?}") };
    let flat = findings[0].trace.to_case(&reduced.case);
    assert!(flat.sessions().iter().all(|session| session.items.iter().all(|item| matches!(item, Item::Sql(_)))));
    let request = RunRequest { case: &flat, target: 0, policy: Policy::Skip, mode: Mode::Scheduled(None) };
    let again = Toy::new(Rule::Blind).run(&request).unwrap();
    assert_eq!(again.final_state, findings[0].trace.final_state);
    assert_eq!(again.steps.len(), findings[0].trace.steps.len());
}

#[test]
fn what_cannot_be_told_is_not_kept() {
    // Without the table every run fails in its setup: unresolved, so the table stays.
    let before = "init CREATE TABLE t (id INT, v INT)
        init INSERT INTO t VALUES (1, 1)
        a UPDATE t SET v = 2 WHERE id = 1";
    let mut unresolved = 0;
    let reduced = reduce(&case(before), &mut |case: &Case| {
        let tables = case.setup().iter().any(|sql| sql.starts_with("CREATE"));
        if !tables {
            unresolved += 1;
            return Reproduction::Unresolved;
        }
        Reproduction::Reproduced
    });
    assert_eq!(text(&reduced.case), "init CREATE TABLE t (v INT)");
    assert!(unresolved > 0);
    assert_eq!(reduced.unresolved, unresolved);
}

#[test]
fn what_does_not_reproduce_is_returned_as_it_is() {
    for answer in [Reproduction::Gone, Reproduction::Unresolved] {
        let given = case("a SELECT 1\nb SELECT 2");
        let reduced = reduce(&given, &mut |_: &Case| answer);
        assert_eq!(reduced.case, given);
        assert!(!reduced.reproduced && !reduced.complete);
        assert_eq!(reduced.tests, 1);
    }
}

#[test]
fn tests_are_bounded_and_not_repeated() {
    let lines: Vec<String> = (0..40).map(|n| format!("a SELECT {n}")).collect();
    let given = case(&lines.join("\n"));
    let needed = ["SELECT 3\n", "SELECT 33\n", "SELECT 39"];
    let mut gone: Vec<String> = Vec::new();
    let reduced = reduce(&given, &mut |case: &Case| {
        let answer = contains(&needed)(case);
        if answer == Reproduction::Gone {
            assert!(!gone.contains(&text(case)), "tested twice:\n{}", text(case));
            gone.push(text(case));
        }
        answer
    });
    assert_eq!(text(&reduced.case), "a SELECT 3\na SELECT 33\na SELECT 39");

    let cut_short = reduce_within(10, &given, &mut contains(&needed));
    assert_eq!(cut_short.tests, 10);
    assert!(cut_short.reproduced && !cut_short.complete);
    assert!(cut_short.after.items < 40);
}

#[test]
fn the_same_input_takes_the_same_way() {
    let given = case("a SELECT 1\nb SELECT 2\na SELECT 3\nc SELECT 4\nb SELECT 5");
    let trail = || {
        let mut trail = Vec::new();
        let mut inner = contains(&["SELECT 3", "SELECT 5"]);
        reduce(&given, &mut |case: &Case| {
            trail.push(text(case));
            inner(case)
        });
        trail
    };
    assert_eq!(trail(), trail());
}

#[test]
fn schedules_follow_what_is_left() {
    check(
        "schedule a b a c b a
         a SELECT 1
         a SELECT 2
         a SELECT 3
         b SELECT 4
         b SELECT 5
         c SELECT 6",
        &mut |case: &Case| {
            let needed = contains(&["SELECT 1", "SELECT 3", "SELECT 5", "schedule"])(case);
            // The turn of b's first statement goes with it: b comes between the two of a.
            let fits = case.schedules().iter().all(|schedule| match case.sessions().len() {
                2 if case.entries.len() == 4 => schedule.to_string() == "a b a",
                _ => true,
            });
            if fits { needed } else { Reproduction::Gone }
        },
        "schedule a b a
         a SELECT 1
         a SELECT 3
         b SELECT 5",
    );
}

#[test]
fn events_that_do_not_matter_go() {
    let event = |text: &str| ScheduleEntry::Event(Event::parse(text).unwrap());
    let mut given = case("schedule a b a\na SELECT 1\na SELECT 2\nb SELECT 3");
    if let Line::Schedule(schedule) = &mut given.entries[0].line {
        schedule.0.splice(1..1, [event("heal"), event("partition 1|2"), event("deliver 1>2 #1")]);
        schedule.0.push(event("heal"));
    }
    let reduced = reduce(&given, &mut contains(&["[partition 1|2]", "b a", "SELECT 1", "SELECT 2"]));
    assert!(text(&reduced.case).starts_with("schedule [partition 1|2] b a a\n"), "{}", text(&reduced.case));
    let mut in_lines = case("a SELECT 1\na SELECT 2");
    in_lines.entries.insert(1, Line::Event(Event::Heal).into());
    in_lines.entries.insert(0, Line::Event(Event::Kill).into());
    let reduced = reduce(&in_lines, &mut contains(&["SELECT 1\nEvent(Heal)"]));
    assert_eq!(text(&reduced.case), "a SELECT 1\nEvent(Heal)");
    let gone = edit::without_steps(&given, &[1, 2, 3].into());
    assert_eq!(text(&gone), "", "no schedule is left of events alone");
}

#[test]
fn superfluous_turns_go_and_those_of_calls_stay() {
    let before = case("schedule a a a a b\na SELECT 1\na call p(x=1)\na SELECT 2\nb SELECT 3");
    let removed = |entries: &[usize]| text(&edit::without_steps(&before, &entries.iter().copied().collect()));
    assert!(removed(&[1]).starts_with("schedule a a a b\n"), "the first turn is that of the first statement");
    assert!(removed(&[2]).starts_with("schedule a a a a b\n"), "nobody knows how many turns the call took");
    assert!(removed(&[2, 3]).starts_with("schedule a b\n"));
    assert!(removed(&[1, 2, 3]).starts_with("schedule b\n"));
    assert_eq!(removed(&[1, 2, 3, 4]), "");
}

#[test]
fn lines_about_sessions_that_are_gone_go_too() {
    let session = |name: &str| SessionName::new(name).unwrap();
    let mut given = case("a SELECT 1\nb SELECT 2\nc SELECT 3");
    let resumes = Expect::Resumes(vec![session("b"), session("c")]);
    let step = |expect| {
        let item = Item::Sql(Sql::new("SELECT 1").unwrap());
        Line::Step(session("a"), item, vec![Expectation { guard: None, expect }]).into()
    };
    given.entries[0] = step(resumes);
    given.entries.insert(0, Line::Isolation(Some(session("b")), LevelName::custom("serializable")).into());
    given.entries.insert(0, Line::Node(session("b"), 2).into());
    let without_b = edit::without_steps(&given, &[3].into());
    assert_eq!(without_b.entries.len(), 2);
    assert_eq!(without_b.entries[0], step(Expect::Resumes(vec![session("c")])));
}

#[test]
fn marks_go_unless_the_test_needs_them() {
    let mut given = case("a SELECT 1");
    let assert = |name: &str| {
        let (name, sql) = (name.to_string(), "SELECT 1".to_string());
        Line::Assert(Assert { when: AssertWhen::End, procedure: None, name, sql }).into()
    };
    let Line::Step(_, _, expectations) = &mut given.entries[0].line else { panic!("a step") };
    expectations.push(Expectation { guard: None, expect: Expect::Blocked });
    expectations.push(Expectation { guard: None, expect: Expect::Affected(1) });
    given.entries.extend([assert("one"), assert("two")]);
    let needs_two = |case: &Case| {
        let two = case.asserts(AssertWhen::End).any(|assert| assert.name == "two");
        let affected = format!("{:?}", case.entries).contains("Affected");
        if two && affected { Reproduction::Reproduced } else { Reproduction::Gone }
    };
    let reduced = reduce(&given, &mut { needs_two });
    assert_eq!(reduced.case.entries.len(), 2);
    let Line::Step(_, _, expectations) = &reduced.case.entries[0].line else { panic!("a step") };
    assert_eq!(expectations.len(), 1);
}

#[test]
fn a_transaction_of_one_statement_needs_no_begin() {
    // Neither BEGIN nor COMMIT can go alone: the test wants as many of the one as of the other.
    let before = "a BEGIN\na SAVEPOINT s\na UPDATE t SET v = 1\na ROLLBACK TO s\na COMMIT\nb SELECT 1\nb COMMIT";
    let balanced = |case: &Case| {
        let text = text(case);
        let count = |part: &str| text.matches(part).count();
        let kept = text.contains("UPDATE") && count("a BEGIN") == count("a COMMIT") && count(" s") % 2 == 0;
        if kept { Reproduction::Reproduced } else { Reproduction::Gone }
    };
    check(before, &mut { balanced }, "a UPDATE t SET v = 0");
}

#[test]
fn a_stopped_test_ends_the_reduction_with_what_it_has() {
    let given = case("a SELECT 1\nb SELECT 2\nc SELECT 3\nd SELECT 4");
    let mut asked = 0;
    let reduced = reduce(&given, &mut |case: &Case| {
        asked += 1;
        if asked > 3 { Reproduction::Stopped } else { contains(&["SELECT 4"])(case) }
    });
    assert_eq!((asked, reduced.tests), (4, 4));
    assert!(reduced.reproduced && !reduced.complete);
    assert_eq!(text(&reduced.case), "c SELECT 3\nd SELECT 4");
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    const STATEMENTS: &[&str] = &[
        "BEGIN",
        "COMMIT",
        "SELECT a, b FROM t0 JOIN t1 ON t0.a = t1.a WHERE t0.b > 10 AND t1.b IN (1, 2) ORDER BY a",
        "UPDATE t0 SET a = CASE WHEN b = 3 THEN a + 1 ELSE 0 END, b = 7 WHERE a BETWEEN 1 AND 20",
        "INSERT INTO t0 (a, b) VALUES (1, 20), (3, 40) ON CONFLICT DO NOTHING",
        "DELETE FROM t1 WHERE a = (SELECT MAX(b) FROM t0 GROUP BY a)",
        "SELECT 'text', X'00ff' FROM t1 FOR UPDATE",
        "no SQL at all 17 'x'",
    ];

    const SETUP: &str = "init CREATE TABLE t0 (a INT PRIMARY KEY, b VARCHAR(10) NOT NULL)
        init CREATE TABLE t1 (a INT, b INT, UNIQUE (b))
        init INSERT INTO t0 VALUES (1, 'x'), (2, 'y'), (3, 'z')";

    fn cases() -> impl Strategy<Value = Case> {
        let steps = prop::collection::vec((0usize..3, 0..STATEMENTS.len()), 1..12);
        steps.prop_map(|steps| {
            let lines = steps.iter().map(|(session, at)| format!("{} {}", ["a", "b", "c"][*session], STATEMENTS[*at]));
            case(&format!("{SETUP}\n{}", lines.collect::<Vec<_>>().join("\n")))
        })
    }

    /// Some test that is neither monotone nor sensible: the hash of the text decides, and now and then nothing does.
    fn moody(seed: u64) -> impl Fn(&Case) -> Reproduction {
        move |case| match finding::hash(&format!("{seed}{}", text(case))) % 5 {
            0 | 1 => Reproduction::Reproduced,
            2 | 3 => Reproduction::Gone,
            _ => Reproduction::Unresolved,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn what_is_returned_reproduces_and_the_way_there_is_always_the_same(given in cases(), seed in any::<u64>()) {
            let mut test = moody(seed);
            let reduced = reduce_within(400, &given, &mut test);
            prop_assert!(reduced.tests <= 400);
            prop_assert_eq!(reduced.reproduced, test(&given) == Reproduction::Reproduced);
            prop_assert!(reduced.case == given || test(&reduced.case) == Reproduction::Reproduced);
            prop_assert!(reduced.after.items <= reduced.before.items && reduced.after.setup <= reduced.before.setup);
            let again = reduce_within(400, &given, &mut test);
            prop_assert_eq!(again.case, reduced.case);
            prop_assert_eq!(again.tests, reduced.tests);
        }

        #[test]
        fn it_ends_by_itself(given in cases()) {
            // The size of the text is bounded from below only by what is needed, so everything else must go.
            let kept = |case: &Case| match text(case).contains("UPDATE") || !text(&given).contains("UPDATE") {
                true => Reproduction::Reproduced,
                false => Reproduction::Gone,
            };
            let reduced = reduce(&given, &mut { kept });
            prop_assert!(reduced.complete, "{} tests", reduced.tests);
            prop_assert!(reduced.after.items <= 1 && reduced.after.setup == 0, "{}", text(&reduced.case));
        }
    }
}
