//! Tests of reading, printing and converting specs. (The runner's are in `tester/tests.rs`.)

use proptest::prelude::*;

use super::*;
use crate::case;
use crate::schedule::Schedule;

const TWO_SESSIONS: &str = "\
# Two updates of one row.
setup    { CREATE TABLE t (v int); INSERT INTO t VALUES (1); }
setup\t{\t VACUUM t;\r}
teardown { DROP TABLE t; }

session s1
setup    { BEGIN; }
step w1  { UPDATE t SET v = 2; }
step c1  { COMMIT; }   # a remark

session \"the \"\"2nd\"\"\"
step w2  {
  UPDATE t
  SET v = 3;
}
step \"step\" { }
teardown { SELECT 1; }

# The second waits.
permutation w1 w2 c1 \"step\"
permutation w2(*) w1(*,w2, \"step\" notices 2) \"step\"
";

fn at(session: usize, step: usize) -> StepAt {
    StepAt { session, step }
}

#[test]
fn the_whole_syntax_is_read() {
    let spec = parse(TWO_SESSIONS).unwrap();
    assert_eq!(spec.prose, [" Two updates of one row."]);
    assert_eq!(spec.setup, ["CREATE TABLE t (v int); INSERT INTO t VALUES (1);", "VACUUM t;"]);
    assert_eq!(spec.teardown.as_deref(), Some("DROP TABLE t;"));
    assert_eq!(spec.sessions[1].name, "the \"2nd\"");
    // Blanks go, line breaks stay.
    assert_eq!(spec.sessions[1].steps[0].sql, "\n  UPDATE t\n  SET v = 3;\n");
    assert_eq!(spec.sessions[1].steps[1], SpecStep { name: "step".into(), sql: String::new() });
    assert_eq!(spec.sessions[1].teardown.as_deref(), Some("SELECT 1;"));
    let steps: Vec<StepAt> = spec.permutations[0].steps.iter().map(|step| step.at).collect();
    assert_eq!(steps, [at(0, 0), at(1, 0), at(0, 1), at(1, 1)]);
    assert_eq!(spec.permutations[0].prose, [" The second waits."]);
    let markers = |step: usize| spec.permutations[1].steps[step].markers.clone();
    assert_eq!(markers(0), [Marker::Once]);
    assert_eq!(markers(1), [Marker::Once, Marker::Step(at(1, 0)), Marker::Notices(at(1, 1), 2)]);
    assert_eq!(spec.unused_steps(), Vec::<&str>::new());
}

#[test]
fn errors_name_line_and_column() {
    #[track_caller]
    fn check(text: &str, place: (usize, usize), message: &str) {
        let error = parse(text).unwrap_err();
        assert_eq!((error.line, error.column), place, "{error}");
        assert!(error.message.contains(message), "{error}");
    }
    check("", (1, 1), "expected `setup`, `teardown` or `session`, found the end");
    check("setup { x", (1, 7), "no closing `}`");
    check("setup setup", (1, 7), "expected an SQL block `{ … }` for this setup, found `setup`");
    check("session s", (1, 10), "a session has at least one");
    check("session step", (1, 9), "write \"step\"");
    check("session s step a {} step é {} step é {}", (1, 36), "already a step named `é`");
    check("session s step a {}\nsession t step a {}", (2, 16), "already a step");
    check("session s step a {}\n  setup {}", (2, 3), "expected `step`, `session`, `permutation`");
    check("session s step a {} permutation", (1, 32), "expected the name of a step");
    check("session s step abc {} permutation abd", (1, 35), "no step named `abd`; did you mean abc?");
    check("session s step a {} step b {} permutation a(b) b", (1, 45), "its own session");
    check("session s step a {} session t step b {} permutation a(b)", (1, 55), "not part of this permutation");
    check("session s step a {} permutation a(*", (1, 36), "expected `)`");
    check("session s step a {} session t step b {} permutation b a(b notices)", (1, 66), "a number of notices");
    check("session s step a {} permutation a(99999999999)", (1, 35), "too large");
    check("session \"s\nx\"", (1, 9), "does not end on its line");
    check("session s step a {} ;", (1, 21), "unexpected character `;`");
    check("session s step a {} permutation a setup {}", (1, 35), "end of the file, found `setup`");
}

#[test]
fn all_interleavings_come_in_the_order_of_the_runner() {
    let spec = parse("session a step a1 {} step a2 {}\nsession b step b1 {}\nsession c step c1 {}").unwrap();
    let names = |permutation: Permutation| {
        let names: Vec<&str> = permutation.steps.iter().map(|step| spec.step(step.at).name.as_str()).collect();
        names.join(" ")
    };
    let all: Vec<String> = spec.all_permutations().map(names).collect();
    assert_eq!(all.len(), 12);
    assert_eq!(all[..4], ["a1 a2 b1 c1", "a1 a2 c1 b1", "a1 b1 a2 c1", "a1 b1 c1 a2"]);
    assert_eq!(all[11], "c1 b1 a1 a2");
}

#[test]
fn unused_steps_are_known_by_name() {
    let spec = parse("session a step z {} step y {} step x {} permutation y").unwrap();
    assert_eq!(spec.unused_steps(), ["x", "z"]);
}

#[test]
fn what_is_printed_reads_the_same() {
    let spec = parse(TWO_SESSIONS).unwrap();
    assert_eq!(parse(&print(&spec)), Ok(spec));
}

#[test]
fn a_spec_becomes_a_case_per_permutation() {
    let cases = to_cases(&parse(TWO_SESSIONS).unwrap()).unwrap();
    assert_eq!(cases.iter().map(|case| case.permutations.clone()).collect::<Vec<_>>(), [vec![1], vec![2]]);
    assert_eq!(
        case::print::print(&cases[0].case),
        "-- @case 1\n-- Two updates of one row.\n-- The second waits.\n/*init*/ CREATE TABLE t (v int);\n\
         /*init*/ INSERT INTO t VALUES (1);\n/*init*/ VACUUM t;\n/*s1*/ BEGIN;\n-- step w1\n/*s1*/ UPDATE t SET v = 2;\n\
         -- step w2\n/*the__2nd_*/ UPDATE t\n  SET v = 3;\n-- step c1\n/*s1*/ COMMIT;\n-- step step\n\
         /*the__2nd_*/ /* nothing */;\n/*the__2nd_*/ SELECT 1;\n"
    );
}

#[test]
fn interleavings_become_schedules_of_one_case() {
    let spec = parse("session a setup {BEGIN} step x {SELECT 1} session B step y {SELECT 2}").unwrap();
    let cases = to_cases(&spec).unwrap();
    assert_eq!(cases[0].permutations, [1, 2]);
    let schedules: Vec<String> = cases[0].case.schedules().iter().map(|schedule| schedule.to_string()).collect();
    assert_eq!(schedules, ["a a b", "a b a"]);
}

#[test]
fn too_many_interleavings_are_refused() {
    let session = |name: &str| {
        let steps: String = (0..12).map(|step| format!("step {name}{step} {{SELECT 1}} ")).collect();
        format!("session {name} {steps}\n")
    };
    let spec = parse(&format!("{}{}", session("a"), session("b"))).unwrap();
    assert!(to_cases(&spec).unwrap_err().contains("more than 10000 interleavings"));
}

#[test]
fn a_case_becomes_a_spec() {
    let text = "-- A claim.\n-- @isolation b serializable\n/*init*/ CREATE TABLE t (v int);\n-- step begin\n/*a*/ BEGIN;\n\
                /*b*/ SELECT 1;\n/*a*/ CREATE TABLE u ();\n";
    let spec = from_case(&case::parse(text).unwrap(), None).unwrap();
    assert_eq!(
        print(&spec),
        "# A claim.\n\nsetup { CREATE TABLE t (v int); }\n\nteardown { DROP TABLE IF EXISTS u CASCADE;\nDROP TABLE IF \
         EXISTS t CASCADE; }\n\nsession a\nstep begin { BEGIN; }\nstep a2 { CREATE TABLE u (); }\nteardown { ROLLBACK; \
         }\n\nsession b\nsetup { SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE; }\nstep b1 { \
         SELECT 1; }\n\npermutation begin b1 a2\n"
    );
    let brace = case::parse("/*a*/ SELECT '}';\n").unwrap();
    assert!(from_case(&brace, None).unwrap_err().to_string().contains("cannot hold the `}`"));
    let event = case::parse("/*a*/ SELECT 1;\n-- @heal\n").unwrap();
    assert!(from_case(&event, None).unwrap_err().to_string().contains("no counterpart"));
}

/// The sessions with their items and level, and the orders of submission, by session name.
fn essence(case: &case::Case) -> (Vec<String>, Vec<String>) {
    let mut sessions: Vec<String> = case
        .sessions()
        .into_iter()
        .map(|session| {
            let items: Vec<String> = session.items.iter().map(ToString::to_string).collect();
            format!("{} {:?} {items:?}", session.name, case.level_of(&session.name))
        })
        .collect();
    sessions.sort();
    let orders = match case.schedules().as_slice() {
        [] => vec![order(case, None)],
        schedules => schedules.iter().map(|schedule| order(case, Some(schedule))).collect(),
    };
    (sessions, orders)
}

fn order(case: &case::Case, schedule: Option<&Schedule>) -> String {
    let steps = crate::formats::interleaving::interleaving(case, schedule, None).unwrap();
    let names: Vec<&str> = steps.iter().map(|step| step.session.as_str()).collect();
    names.join(" ")
}

fn any_case() -> impl Strategy<Value = String> {
    let sql = proptest::sample::select(vec!["BEGIN", "SELECT ';'", "UPDATE t\nSET a = 1", "COMMIT -- done", "x;;y"]);
    let step = (proptest::sample::select(vec!["a", "b", "a1", "c_d"]), sql);
    let steps = proptest::collection::vec(step, 1..12);
    (steps, any::<bool>(), any::<bool>()).prop_map(|(steps, leveled, scheduled)| {
        let mut text = String::from("/*init*/ CREATE TABLE t (a int);\n");
        if leveled {
            let session = steps[0].0;
            text.push_str(&format!("-- @isolation {session} repeatable read\n-- @isolation serializable\n"));
        }
        if scheduled {
            let reversed: Vec<&str> = steps.iter().rev().map(|(session, _)| *session).collect();
            text.push_str(&format!("-- @schedule {}\n-- @schedule {}\n", reversed.join(" "), steps[0].0));
        }
        text.extend(steps.iter().map(|(session, sql)| format!("/*{session}*/ {sql};\n")));
        text
    })
}

proptest! {
    #[test]
    fn a_case_survives_being_a_spec(text in any_case()) {
        let case = case::parse(&text).unwrap();
        let printed = print(&from_case(&case, None).unwrap());
        let back = to_cases(&parse(&printed).unwrap()).unwrap();
        prop_assert_eq!(back.len(), 1, "{}", printed);
        prop_assert_eq!(essence(&back[0].case), essence(&case), "{}", printed);
        prop_assert_eq!(back[0].case.setup(), case.setup());
    }

    #[test]
    fn no_text_makes_the_readers_panic(text in "\\PC*") {
        let _ = parse(&text);
        let _ = crate::formats::troc::parse(&text);
        let _ = crate::formats::detect(std::path::Path::new("-"), &text);
    }

    #[test]
    fn no_mixture_of_words_makes_the_readers_panic(
        words in proptest::collection::vec(proptest::sample::select(vec![
            "setup", "teardown", "session", "step", "permutation", "notices", "{", "}", "{ SELECT 1; }", "a", "b", "\"c\"",
            "(", ")", "*", ",", "7", "#", "\n", "\n\n", "\r\n", "\"", "1-2", "END", "RR", "BEGIN;", "é", ";",
        ]), 0..40),
    ) {
        let text = words.join(" ");
        if let Ok(spec) = parse(&text) {
            prop_assert_eq!(parse(&print(&spec)), Ok(spec.clone()));
            let _ = to_cases(&spec);
        }
        let _ = crate::formats::troc::parse(&words.concat());
        let _ = crate::formats::detect(std::path::Path::new("-"), &text);
    }
}
