use proptest::prelude::*;

use super::*;
use crate::case::{self, Case, Item, Line};
use crate::dialect::MySql;
use crate::engine::{Holder, SessionId, Version};
use crate::finding::{Explanation, Fingerprint, Violation};
use crate::level::LevelName;
use crate::trace::sample::sample;
use crate::trace::{StepId, Trace, TraceEvent};

// ---- runs that were recorded
// --------------------------------------------------------------------------------------------
//
// The servers that show these entries are not all at hand wherever the tests run. So their answers stand here, as
// those servers gave them; the statements come from the case of the corpus.

/// A run of a case: one answer for each step in the order of the file, and `b > completes` where a step goes on.
fn recorded(case: &Case, engine: (&'static str, &str), level: &str, answers: &[&str]) -> Trace {
    let mut steps = case.entries.iter().filter_map(|entry| match &entry.line {
        Line::Step(session, Item::Sql(sql), _) => Some(format!("{session} {}", sql.as_str())),
        _ => None,
    });
    let parts = answers.iter().map(|answer| match answer.contains('>') {
        true => answer.to_string(),
        false => format!("{} > {answer}", steps.next().expect("no more answers than steps")),
    });
    let mut trace = sample(&parts.collect::<Vec<_>>().join("; "));
    assert_eq!(steps.next(), None, "every step has an answer");
    trace.engine.family = engine.0;
    trace.engine.version = Version::parse(engine.1);
    trace.engine.dialect = &MySql;
    trace.sessions.iter_mut().for_each(|session| session.level = LevelName::custom(level));
    trace
}

fn finding(kind: &str, case: &Case, here: Trace, there: Option<Trace>) -> Finding {
    let violation = Violation {
        sentence: "they differ".to_string(),
        explanation: Explanation::default(),
        fingerprint: Fingerprint::new(kind, &[]),
    };
    let oracle = if kind.starts_with("diff") { "diff" } else { "serial" };
    let mut finding = Finding::new(oracle, violation, case.clone(), here);
    finding.others = there.into_iter().collect();
    finding
}

/// The entry that the runs of a case of the corpus match. Which run comes first makes no difference.
fn known(kind: &str, case: &Case, here: Trace, there: Trace) -> Option<String> {
    let shipped = Known::shipped();
    let id = |finding: &Finding| shipped.matching(finding).map(|entry| entry.id.clone());
    let found = id(&finding(kind, case, here.clone(), Some(there.clone())));
    assert_eq!(found, id(&finding(kind, case, there, Some(here))), "the order of the runs matters");
    found
}

macro_rules! corpus_case {
    ($name:literal) => {
        case::parse(include_str!(concat!("../../../../../corpus/known/", $name, ".sql"))).unwrap()
    };
}

#[test]
fn mdev_27922() {
    let runs = |case: &Case, tail: [&[&'static str]; 2]| {
        let head =
            ["open", "affected 1 open", "open", "waits error deadlock", "affected 1 open", "b > completes", "idle"];
        let run = |engine, tail: &[&'static str]| recorded(case, engine, "repeatable read", &[&head, tail].concat());
        (run(("mariadb", "10.5.23"), tail[0]), run(("mysql", "9.7.4"), tail[1]))
    };
    let case = corpus_case!("MDEV-27922");
    let (here, there) = runs(&case, [&["affected 1 open", "idle"], &["affected 1 idle", "idle"]]);
    assert_eq!(known("diff-state", &case, here.clone(), there.clone()).as_deref(), Some("MDEV-27922"));
    let mut fixed = here;
    fixed.engine.version = Version::parse("10.11.19");
    assert_eq!(known("diff-state", &case, fixed, there), None, "a version in which it is fixed");
    let case = corpus_case!("MDEV-27922-near-miss");
    let tail: &[&str] = &["open", "affected 1 open", "idle"];
    let (here, there) = runs(&case, [tail, tail]);
    assert_eq!(known("diff-state", &case, here, there), None);
}

#[test]
fn mdev_35124() {
    let runs = |case: &Case, here: &[&str], there: &[&str]| {
        let newer = recorded(case, ("mariadb", "11.8.6"), "repeatable read", here);
        (newer, recorded(case, ("mariadb", "10.5.23"), "repeatable read", there))
    };
    let case = corpus_case!("MDEV-35124");
    let refused = ["open", "rows (0) open", "affected 1 idle", "error serialization-failure idle", "idle"];
    let (here, there) = runs(&case, &refused, &["open", "rows (0) open", "affected 1 idle", "affected 1 open", "idle"]);
    assert_eq!(known("diff-error", &case, here.clone(), there.clone()).as_deref(), Some("MDEV-35124"));
    assert_eq!(known("diff-rows", &case, here.clone(), there.clone()), None, "another kind of difference");
    let mut mixed = here;
    mixed.sessions[1].level = LevelName::custom("serializable");
    assert_eq!(known("diff-error", &case, mixed, there), None, "b is at another level");
    let case = corpus_case!("MDEV-35124-near-miss");
    let (mut here, mut there) = (vec!["open", "rows (0) open", "open", "affected 1 open", "idle"], Vec::new());
    there.clone_from(&here);
    here.extend(["error serialization-failure idle", "idle"]);
    there.extend(["affected 1 open", "idle"]);
    let (here, there) = runs(&case, &here, &there);
    assert_eq!(known("diff-error", &case, here, there), None);
}

#[test]
fn mysql_106655() {
    let refused = [
        "open",
        "rows (1)(2) open",
        "open",
        "waits error deadlock",
        "affected 2 open",
        "b > completes",
        "idle",
        "idle",
    ];
    let waiting = [
        "open",
        "rows (1)(2) open",
        "open",
        "waits affected 0 open",
        "affected 2 open",
        "idle",
        "b > completes",
        "idle",
    ];
    let runs = |case: &Case| {
        let here = recorded(case, ("mariadb", "10.11.19"), "serializable", &refused);
        (here, recorded(case, ("mysql", "9.7.4"), "serializable", &waiting))
    };
    let case = corpus_case!("MySQL-106655");
    let (here, there) = runs(&case);
    assert_eq!(known("diff-deadlock", &case, here, there).as_deref(), Some("MySQL-106655"));
    let case = corpus_case!("MySQL-106655-near-miss");
    let (here, there) = runs(&case);
    assert_eq!(known("diff-deadlock", &case, here, there), None);
}

#[test]
fn mdev_26671() {
    let runs = |case: &Case| {
        let head = ["open", "rows (1) open", "affected 1 idle", "affected 1 open"];
        let run = |engine, rows| recorded(case, engine, "repeatable read", &[&head[..], &[rows, "idle"]].concat());
        (run(("mysql", "9.7.4"), "rows (1)(2) open"), run(("mariadb", "10.11.19"), "rows (1) open"))
    };
    let case = corpus_case!("MDEV-26671");
    let (here, there) = runs(&case);
    assert_eq!(known("diff-rows", &case, here, there).as_deref(), Some("MDEV-26671"));
    let case = corpus_case!("MDEV-26671-near-miss");
    let (here, there) = runs(&case);
    assert_eq!(known("diff-rows", &case, here, there), None);
}

// ---- patterns
// -----------------------------------------------------------------------------------------------------------

const SETUP: &str = "/*init*/ CREATE TABLE x (k INT PRIMARY KEY, v INT)\n/*init*/ CREATE TABLE y (k INT)\n";

fn one_entry(trace: &str, against: &str) -> Known {
    let against = if against.is_empty() { String::new() } else { format!("against = '{against}'") };
    let head = "[[known]]\nid = 'X'\nwhat = 'w'\nsource = 's'\noracle = 'diff'\non = 'toy'";
    Known::parse(&format!("{head}\n{against}\ntrace = [{trace}]"), "k.toml").unwrap_or_else(|error| panic!("{error}"))
}

/// Whether a pattern occurs in a run, compared with another if there is one.
fn occurs(pattern: &str, here: &str, there: Option<&str>) -> bool {
    let case = case::parse(SETUP).unwrap();
    let known = one_entry(pattern, if there.is_some() { "toy" } else { "" });
    let finding = finding("diff-any", &case, sample(here), there.map(sample));
    known.matching(&finding).is_some()
}

#[test]
fn moments_occur_in_order_with_anything_between() {
    let run =
        "q BEGIN > open; q UPDATE x SET v = 1 > affected 1 open; p SELECT v FROM x > rows (1) idle; q COMMIT > idle";
    assert!(occurs("'a UPDATE t', 'a COMMIT'", run, None));
    assert!(occurs("'a UPDATE t', 'b SELECT t', 'a COMMIT'", run, None));
    assert!(!occurs("'a COMMIT', 'a UPDATE t'", run, None), "the order");
    assert!(!occurs("'a UPDATE t', 'a SELECT t'", run, None), "the session");
    assert!(!occurs("'a UPDATE t', 'b SELECT u'", run, None), "the table");
    assert!(!occurs("'a UPDATE t', 'b UPDATE t'", run, None), "one step is not two");
    for (verb, expect) in
        [("WRITE", true), ("LOCK", true), ("READ", true), ("INSERT", false), ("SELECT FOR UPDATE", false)]
    {
        assert_eq!(occurs(&format!("'a {verb} t'"), run, None), expect, "{verb}");
    }
    assert!(occurs("'a STEP', 'a STEP t', 'b STEP t', 'a STEP'", run, None));
}

#[test]
fn structure_is_seen() {
    let run = "p UPDATE x SET k = 2 > affected 1 idle; q UPDATE x SET v = 1 WHERE k = 2 > affected 1 idle";
    assert!(occurs("'a UPDATE t key', 'b UPDATE t where'", run, None));
    assert!(!occurs("'a UPDATE t', 'b UPDATE t key'", run, None));
    assert!(!occurs("'a UPDATE t where', 'b UPDATE t'", run, None));
}

#[test]
fn outcomes_are_seen() {
    let run = "p BEGIN > open; p UPDATE x SET v = 1 > affected 1 open; q DELETE FROM x > waits error deadlock; \
               r DELETE FROM y > affected 0 idle; p ROLLBACK > idle; q > completes";
    let check =
        |pattern: &str, expect: bool| assert_eq!(occurs(&format!("'{pattern}'"), run, None), expect, "{pattern}");
    check("a DELETE t waits", true);
    check("a DELETE t waits for b, error deadlock", true);
    check("a DELETE t error", true);
    check("a DELETE t error unique", false);
    check("a DELETE t at once, ok, idle, committed", true);
    check("a DELETE t waits, ok", false);
    check("a UPDATE t ok, open", true);
    check("a UPDATE t committed", false);
    check("a UPDATE t idle", false);
    assert!(occurs("'a ROLLBACK', 'b resumes'", run, None));
    assert!(!occurs("'b resumes', 'a ROLLBACK'", run, None));
    assert!(!occurs("'a ROLLBACK', 'a resumes'", run, None));
}

#[test]
fn whom_a_step_waits_for_counts_where_the_engine_tells() {
    let case = case::parse(SETUP).unwrap();
    let known = one_entry("'a UPDATE t', 'b DELETE t waits for a'", "");
    let mut run =
        sample("p UPDATE x SET v = 1 > open; r SELECT 1 > idle; q DELETE FROM x > waits error deadlock; q > completes");
    assert!(known.matching(&finding("diff-any", &case, run.clone(), None)).is_some());
    let waiting =
        |holder| TraceEvent::Waiting { step: StepId(2), holders: vec![Holder::Session(holder)], source: "test" };
    run.events.push(waiting(SessionId(1)));
    assert!(known.matching(&finding("diff-any", &case, run.clone(), None)).is_none(), "it waits for r");
    run.events.push(waiting(SessionId(0)));
    assert!(known.matching(&finding("diff-any", &case, run, None)).is_some(), "later it waits for p");
}

#[test]
fn runs_are_compared_step_by_step() {
    let here = "p UPDATE x SET v = 1 > affected 1 open; q DELETE FROM x > affected 1 idle; q SELECT 1 > rows (1) idle";
    let there = "p UPDATE x SET v = 1 > affected 1 open; q DELETE FROM x > affected 2 idle; q SELECT 1 > rows (2) idle";
    let check = |pattern: &str, expect: bool| {
        assert_eq!(occurs(&format!("'{pattern}'"), here, Some(there)), expect, "{pattern}");
    };
    // Either run may be the one that the entry is about: so both are true.
    check("a DELETE t fewer", true);
    check("a DELETE t more", true);
    check("a UPDATE t fewer", false);
    check("a DELETE t first", true);
    check("a SELECT first", false);
    check("a DELETE t ok / error", false);
    check("a DELETE t ok / ok, at once", true);
}

// ---- files
// --------------------------------------------------------------------------------------------------------------

#[test]
fn at_most_a_dozen_behaviours_are_shipped() {
    let known = Known::shipped();
    assert!((1..=12).contains(&known.entries().len()));
    assert!(known.entries().iter().all(|entry| entry.oracle != "diff" || entry.against.is_some()));
}

#[test]
fn files_are_joined_and_the_later_entry_replaces_the_earlier() {
    let entry = |id: &str, what: &str| {
        let rest = "source = 's'\noracle = 'diff'\non = 'toy'\ntrace = ['a COMMIT']";
        Known::parse(&format!("[[known]]\nid = '{id}'\nwhat = '{what}'\n{rest}"), "k.toml").unwrap()
    };
    let both = entry("A", "one").join(entry("B", "two")).join(entry("A", "three"));
    let texts: Vec<(&str, &str)> = both.entries().iter().map(|e| (e.id.as_str(), e.what.as_str())).collect();
    assert_eq!(texts, [("B", "two"), ("A", "three")]);
    assert!(Known::nothing().entries().is_empty());
}

#[test]
fn what_is_wrong_with_a_file_is_told_with_its_place() {
    let check = |text: &str, expect: &[&str]| {
        let error = Known::parse(text, "k.toml").map(|_| ()).unwrap_err().to_string();
        let lines: Vec<&str> = error.lines().collect();
        assert_eq!(lines.len(), expect.len(), "{error}");
        for (line, start) in lines.iter().zip(expect) {
            assert!(line.starts_with(start), "{line}\nnot: {start}");
        }
    };
    let entry =
        |extra: &str| format!("[[known]]\nid = 'X'\nwhat = 'w'\nsource = 's'\noracle = 'diff'\non = 'toy'\n{extra}");
    check("[[knwon]]\n", &["k.toml:1:3: expected entries, each below a line [[known]], found knwon"]);
    check("known = 3", &["k.toml:1:1: expected entries, each below a line [[known]], found known"]);
    check(
        "[[known]]\nid = 'X'\nwhat = 'w'\nsource = 's'\noracle = 'dif'\non = 'toy'\ntrace = ['a COMMIT']",
        &["k.toml:5:10: unknown oracle dif; did you mean diff?"],
    );
    check(&entry(""), &["k.toml:1:1: this entry lacks trace"]);
    check(
        &entry("traec = ['a COMMIT']"),
        &["k.toml:1:1: this entry lacks trace", "k.toml:7:1: unknown key traec; did you mean trace?"],
    );
    let pattern = |moment: &str, expect: &str| {
        check(&entry(&format!("trace = [\"{moment}\"]")), &[&format!("k.toml:7:10: {expect}")]);
    };
    pattern("a UPDTE t", "`a UPDTE t`: unknown statement `UPDTE`; did you mean UPDATE?");
    pattern("x UPDATE t", "`x UPDATE t`: expected a session (a, b, c, d), found `x`");
    pattern("a UPDATE t wait", "`a UPDATE t wait`: unknown outcome `wait`; did you mean waits?");
    pattern(
        "a UPDATE t error deadlok",
        "`a UPDATE t error deadlok`: unknown error class `deadlok`; did you mean deadlock?",
    );
    pattern("a DELETE t key", "`a DELETE t key`: key is said of an UPDATE");
    pattern("a DELETE t ok / fewer", "`a DELETE t ok / fewer`: fewer, more and first are said before the /");
    pattern("a DELETE t fewer", "this compares with another run: say with `against`");
    pattern("", "expected a moment, such as \"a UPDATE t\", in quotes, found an empty text");
    let guard = entry("trace = ['a COMMIT']").replace("'toy'", "'mariadb<x'");
    check(&guard, &["k.toml:6:6: `x`: expected a version such as 10.8"]);
    let twice = format!("{}\n{}", entry("trace = ['a COMMIT']"), entry("trace = ['a COMMIT']"));
    check(&twice, &["k.toml:8:1: there is an entry X already"]);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in any::<String>(), moment in "[a-d] (UPDATE|DELETE|SELECT)?[ tukeywhrsfo,/]{0,24}") {
        let _ = Known::parse(&text, "k.toml");
        let _ = Known::parse(&format!("[[known]]\ntrace = [\"{moment}\"]"), "k.toml");
        let _ = Moment::parse(&text);
    }

    #[test]
    fn any_statement_is_looked_at(sql in "(UPDATE x SET|CREATE TABLE|DELETE FROM|SELECT)?[ a-z=(),.'`\"é]{0,40}") {
        let case = case::parse(SETUP).unwrap();
        let tables = statement::Tables::of(&case);
        let _ = statement::Statement::of(&sql, &tables);
    }
}
