//! The case format: what it accepts, what it refuses and where, and that nothing is lost on the way.

use proptest::prelude::*;

use super::expect::{Bound, Relation, Term};
use super::*;
use crate::outcome::ErrorClass;
use crate::schedule::ScheduleEntry;
use crate::value::Number;

const EXAMPLE: &str = "\
-- @case 1
-- An UPDATE of a primary key must be atomic.
-- @isolation repeatable read
/*init*/ CREATE TABLE t (c1 INT PRIMARY KEY);
/*init*/ INSERT INTO t VALUES (3);
/*a*/ BEGIN;
/*a*/ UPDATE t SET c1 = 2;
/*b*/ BEGIN;
/*b*/ DELETE FROM t;
-- > blocked
-- what follows lets b go on
/*a*/ COMMIT;
-- > resumes b
/*b*/ SELECT * FROM t FOR UPDATE;
-- > rows (empty)
-- > [mariadb<10.8] rows (1)
/*b*/ COMMIT;
-- @final t (empty)
";

#[test]
fn the_example_reads_and_prints_unchanged() {
    let case = parse(EXAMPLE).unwrap();
    assert_eq!(print::print(&case), EXAMPLE);
    assert_eq!(case.setup().len(), 2);
    let names: Vec<String> = case.sessions().iter().map(|s| format!("{}:{}", s.name, s.items.len())).collect();
    assert_eq!(names, ["a:3", "b:4"]);
    assert_eq!(case.claim().as_deref(), Some("An UPDATE of a primary key must be atomic."));
}

#[test]
fn labels_delimit_steps_and_semicolons_do_not() {
    let case = parse("/*a*/ CREATE FUNCTION f() AS $$\nBEGIN; /*b*/ x;\n  /*b*/ y;\n$$;\n/*b*/ SELECT 1").unwrap();
    let sessions = case.sessions();
    assert_eq!(sessions[0].items[0].to_string(), "CREATE FUNCTION f() AS $$\nBEGIN; /*b*/ x;\n  /*b*/ y;\n$$");
    assert_eq!(sessions[1].items[0].to_string(), "SELECT 1");
}

#[test]
fn remarks_after_a_statement_are_prose() {
    let case = parse("/*a*/ SELECT 1;\n-- now b\n\n/*b*/ SELECT '\n--2' -- inside\n-- after\n").unwrap();
    assert_eq!(case.entries[1].prose, [" now b"]);
    assert_eq!(case.sessions()[0].items[0].to_string(), "SELECT 1");
    assert_eq!(case.sessions()[1].items[0].to_string(), "SELECT '\n--2' -- inside");
    assert_eq!(case.epilogue, [" after"]);
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_do_not_matter() {
    let windows = format!("\u{feff}{}", EXAMPLE.replace('\n', "\r\n"));
    assert_eq!(parse(&windows), parse(EXAMPLE));
}

#[test]
fn every_element_survives() {
    let text = "\
-- @case 1
-- @isolation read committed
-- @isolation b serializable
-- @node a 2
-- @first a
-- @program bank.sql
-- @anomaly P4
-- @assert each no overdraft: SELECT * FROM t WHERE v < 0
-- @assert kept withdraw less: SELECT * FROM t WHERE v > :after
/*init*/ CREATE TABLE t (v INT);
-- > ok
-- @partition 1|2,3
/*a*/ -- call withdraw(account=1, note=U&'a\\000Ab')
-- > error serialization-failure
-- @deliver 1>2
/*b*/ SELECT v FROM t ORDER BY v;
-- > ordered (1, 'x', NULL) (2.5, X'00ff', TRUE)
-- > [postgres>=14<16 serializable, model, read committed] affected 3
-- > [anomaly] rows (1)
-- > tag ROLLBACK
-- > cancelled
-- @heal
-- @kill
-- @final [sqlite] t (1)
-- The end.
";
    let case = parse(text).unwrap();
    assert_eq!(print::print(&case), text);
    assert_eq!(case.level_of(&SessionName::new("b").unwrap()).unwrap().as_str(), "serializable");
    assert_eq!(case.level_of(&SessionName::new("a").unwrap()).unwrap().as_str(), "read committed");
    assert_eq!(case.epilogue, [" The end."]);
    assert_eq!(case.turns(None).len(), 6);
}

#[test]
fn events_may_stand_between_the_turns_of_a_schedule() {
    let text = "\
-- @case 1
-- @schedule [partition 1|2] a a [deliver 1>2 #3] b [deliver 2>1] b [heal] a [kill]
/*a*/ -- call withdraw(account=1)
/*b*/ SELECT 1;
/*b*/ SELECT 2;
";
    let case = parse(text).unwrap();
    assert_eq!(print::print(&case), text);
    assert_eq!(parse(&text.replace("] ", "]").replace("a a", "a  a")), Ok(case.clone()));
    let schedule = case.schedules()[0];
    assert_eq!(case.turns(Some(schedule)).len(), 10);
    assert_eq!(case.events().count(), 5);
    assert_eq!(schedule.switch_count(), 2);
}

/// The position and the beginning of the message.
fn check_error(text: &str, place: (usize, usize), message: &str) {
    let error = parse(text).expect_err(text);
    assert_eq!((error.line, error.column), place, "{error}");
    assert!(error.message.contains(message), "{error}");
    assert_eq!(error.text, text.lines().nth(place.0 - 1).unwrap_or(""));
}

#[test]
fn errors_say_where_and_what_would_be_right() {
    check_error("SELECT 1", (1, 1), "expected a label");
    check_error("/*A*/ SELECT 1", (1, 1), "lower-case");
    check_error("/*a*/ SELECT 1\n/*B2*/ SELECT 1", (2, 3), "lower-case");
    check_error("/*a*/ ;", (1, 6), "empty");
    check_error("-- @isolaton serializable", (1, 5), "did you mean @isolation?");
    check_error("-- @isolation serialisible\n", (1, 15), "did you mean serializable?");
    check_error("-- @case 2", (1, 10), "reads case format 1");
    check_error("-- > blocked", (1, 1), "must follow a step");
    check_error("/*a*/ x\n-- > blokced", (2, 6), "did you mean blocked?");
    check_error("/*a*/ x\n-- > error dedlock", (2, 12), "did you mean deadlock?");
    check_error("/*a*/ x\n-- > rows (1, nix)", (2, 15), "expected a value");
    check_error("/*a*/ x\n-- > [mysql<x] ok", (2, 13), "version");
    check_error("/*a*/ x\n-- > [mysql ok", (2, 6), "no `]`");
    check_error("/*a*/ x\n-- @schedule a b", (2, 16), "no step belongs to a session `b`");
    check_error("/*a*/ x\n-- @schedule a a", (2, 1), "2 entries of a, which has 1 steps");
    check_error("/*a*/ x\n-- @schedule a\n-- @kill", (3, 1), "cannot stand beside a @schedule");
    check_error("-- @schedule", (1, 13), "expected the names of sessions");
    check_error("/*a*/ x\n-- @schedule a [heal", (2, 16), "no `]`");
    check_error("/*a*/ x\n-- @schedule a [hael]", (2, 17), "did you mean heal?");
    check_error("/*a*/ x\n-- @schedule [partition 1|2] B", (2, 30), "not the name of a session");
    check_error("/*a*/ x\n-- @deliver 1>2 3", (2, 13), "expected two nodes");
    check_error("-- @heal now", (1, 10), "nothing may follow @heal");
    check_error("-- @assert sometimes x: SELECT 1", (1, 12), "expected `@assert");
    check_error("-- @node a", (1, 10), "expected a session and the number");
    check_error("-- @program", (1, 12), "needs a value");
    check_error("/*init*/ -- call f()", (1, 9), "cannot call");
    check_error("/*a*/ -- call f(x)", (1, 18), "expected `=`");
    check_error("/*a*/ -- call f()\nSELECT 1", (2, 1), "stands on one line");
    check_error("-- @partition 1", (1, 15), "groups of nodes");
}

#[test]
fn a_statement_that_a_file_could_not_hold_is_refused() {
    assert!(Sql::new("SELECT '\n/*b*/ '").is_err());
    assert!(Sql::new("SELECT '\n-- @x'").is_err());
    assert!(Sql::new(" ; ").is_err());
    assert!(Sql::new("-- call f()").is_err());
    assert_eq!(Sql::new("SELECT 1;\n-- remark").unwrap().as_str(), "SELECT 1");
}

/// Inputs on which the fuzzer once found that printing lost or moved something.
#[test]
fn fuzz_regressions() {
    for text in [
        "--  \r",
        "/*a*/\"BEGIN;\n-- @case 1\n-- Three wait for one/*b",
        "/*init*/ x /*init up\n\n-- @case 1\n--*/ INSERT",
        "/*a*/ SELECT id!- @case 1\n-- SQLite te % 3 = 0;0\n; \n--- > [x",
    ] {
        let printed = print::print(&parse(text).unwrap());
        assert_eq!(print::print(&parse(&printed).unwrap()), printed, "{text}");
    }
}

// ---- round trips --------------------------------------------------------------------------------------------------

fn session() -> impl Strategy<Value = SessionName> {
    prop::sample::select(vec!["a", "b", "c9", "a_b"]).prop_map(|name| SessionName::new(name).unwrap())
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        "-?[0-9]{1,20}(\\.[0-9]{1,9})?".prop_map(|text| Value::Number(Number::parse(&text).unwrap())),
        any::<String>().prop_map(Value::Text),
        any::<Vec<u8>>().prop_map(Value::Bytes),
    ]
}

fn rows() -> impl Strategy<Value = Rows> {
    prop::collection::vec(prop::collection::vec(value(), 0..3), 0..3)
}

fn level() -> impl Strategy<Value = LevelName> {
    prop::sample::select(crate::level::KNOWN_LEVELS).prop_map(|name| LevelName::parse(name).unwrap())
}

fn guard() -> impl Strategy<Value = Guard> {
    let bound = (prop::sample::select(Relation::SIGNS), prop::collection::vec(0u32..99, 1..3))
        .prop_map(|((_, relation), version)| Bound { relation, version });
    // A name that nobody knows is fine, unless it looks like a slip.
    let names = ["sqlite", "postgres", "mariadb", "h2", "noisepage", "db2"].as_slice();
    let engine_term = (prop::sample::select(names), prop::collection::vec(bound, 0..2), prop::option::of(level()))
        .prop_map(|(engine, bounds, level)| Term { engine: Some(engine.to_string()), bounds, level });
    let level_term = level().prop_map(|level| Term { engine: None, bounds: Vec::new(), level: Some(level) });
    let terms = prop::collection::vec(prop_oneof![engine_term, level_term], 1..3);
    prop_oneof![Just(Guard::Anomaly), terms.prop_map(Guard::Any)]
}

fn expectation() -> impl Strategy<Value = Expectation> {
    let expect = prop_oneof![
        Just(Expect::Blocked),
        Just(Expect::Ok),
        Just(Expect::Cancelled),
        prop::collection::vec(session(), 1..3).prop_map(Expect::Resumes),
        prop::sample::select(ErrorClass::ALL).prop_map(Expect::Error),
        any::<u64>().prop_map(Expect::Affected),
        "[A-Z]{1,9}( [0-9])?".prop_map(Expect::Tag),
        rows().prop_map(Expect::Rows),
        rows().prop_map(Expect::Ordered),
    ];
    (prop::option::of(guard()), expect).prop_map(|(guard, expect)| Expectation { guard, expect })
}

fn sql() -> impl Strategy<Value = Sql> {
    "[ -~\n\r;é]{1,40}|SELECT 1;\n-- x|/\\*\\+ hint \\*/ SELECT '\n--y';"
        .prop_filter_map("not a step", |text| Sql::new(&text).ok())
        .prop_filter("a misspelt label", |sql| parse(&format!("/*a*/ {};", sql.as_str())).is_ok())
}

fn item() -> impl Strategy<Value = Item> {
    let call = ("[a-z]{1,8}", prop::collection::vec(("[a-z]{1,8}", value()), 0..3))
        .prop_map(|(procedure, arguments)| Item::Call(Call { procedure, arguments }));
    prop_oneof![4 => sql().prop_map(Item::Sql), 1 => call]
}

fn event() -> impl Strategy<Value = Event> {
    let node = || 0u32..12;
    let nodes = prop::sample::subsequence((1..9u32).collect::<Vec<_>>(), 2..8);
    prop_oneof![
        nodes.prop_map(|nodes| Event::Partition(nodes.chunks(nodes.len().div_ceil(2)).map(<[u32]>::to_vec).collect())),
        Just(Event::Heal),
        Just(Event::Kill),
        (1u32..9).prop_map(|node| Event::Route { session: SessionName::new("a").unwrap(), node }),
        (node(), node(), prop::option::of(1u32..99)).prop_map(|(from, to, write)| Event::Deliver { from, to, write }),
    ]
}

fn line() -> impl Strategy<Value = Line> {
    let expectations = || prop::collection::vec(expectation(), 0..3);
    prop_oneof![
        2 => (prop::option::of(Just(SessionName::new("a").unwrap())), level())
            .prop_map(|(session, level)| Line::Isolation(session, level)),
        1 => (1u32..9).prop_map(|node| Line::Node(SessionName::new("a").unwrap(), node)),
        1 => (0usize..2, prop::collection::vec(event(), 0..2)).prop_map(|(n, events)| {
            let turns = vec![ScheduleEntry::Step(SessionName::new("a").unwrap()); n + 1];
            Line::Schedule(events.into_iter().map(ScheduleEntry::Event).chain(turns).collect())
        }),
        1 => event().prop_map(Line::Event),
        1 => ("[a-z]{1,8}", prop::option::of(guard()), rows())
            .prop_map(|(table, guard, rows)| Line::Final(Final { guard, table, rows })),
        1 => ("[a-z ]{0,8}[a-z]", "[a-z]([ -~]{0,8}[a-z])?").prop_map(|(name, sql)| {
            Line::Assert(Assert { when: AssertWhen::Each, procedure: None, name: name.trim().to_string(), sql })
        }),
        3 => (sql(), expectations()).prop_map(|(sql, expectations)| Line::Init(sql, expectations)),
        9 => (session(), item(), expectations())
            .prop_map(|(session, item, expectations)| Line::Step(session, item, expectations)),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let prose = || prop::collection::vec("( [a-z0-9'é]{1,9})?", 0..2);
    let entry = (prose(), line()).prop_map(|(prose, line)| Entry { prose, line });
    let mentioned = [0, 1].map(|_| Line::Step(SessionName::new("a").unwrap(), Item::Sql(Sql("x".into())), vec![]));
    (prop::collection::vec(entry, 0..8), prose()).prop_map(move |(mut entries, epilogue)| {
        entries.extend(mentioned.iter().cloned().map(Entry::from));
        // Events stand in the line order, or in schedules.
        if entries.iter().any(|entry| matches!(entry.line, Line::Schedule(_))) {
            entries.retain(|entry| !matches!(entry.line, Line::Event(_)));
        }
        Case { entries, epilogue, program: None }
    })
}

proptest! {
    #[test]
    fn reading_what_was_printed_gives_the_same_case(case in case()) {
        let text = print::print(&case);
        let again = parse(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(&again, &case, "{}", text);
    }

    #[test]
    fn any_text_is_read_or_refused_but_never_panics(text in any::<String>()) {
        let _ = parse(&text);
    }

    #[test]
    fn scrambled_cases_are_read_or_refused_but_never_panic(
        case in case(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
    ) {
        let mut text = print::print(&case);
        for cut in cuts {
            let mut at = cut.index(text.len() + 1);
            while !text.is_char_boundary(at) { at -= 1; }
            text.truncate(at);
            text.push_str("-- >");
            let _ = parse(&text);
        }
    }
}
