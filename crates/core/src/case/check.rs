//! Does a trace meet a case's expectations?

use crate::case::expect::{Aspect, Expect, Expectation, Rows, print_rows};
use crate::case::{Case, Final, Guard, Line, SessionName};
use crate::dialect::Dialect;
use crate::engine::SessionId;
use crate::outcome::{ErrorClass, Outcome};
use crate::trace::compare::{describe, sorted};
use crate::trace::{CancelReason, Check, StepId, StepRun, Trace};
use crate::value::Value;

/// An expectation that was not met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// What it is about.
    pub at: MismatchAt,
    /// The position of the entry that states or sends it; `None` for what no entry states.
    pub entry: Option<usize>,
    /// Why it counts.
    pub cause: MismatchCause,
    /// What the case expects.
    pub expected: String,
    /// What was seen.
    pub found: String,
}

/// Why something is not as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MismatchCause {
    /// The case states something else.
    Unmet,
    /// The engine did not understand the statement, and the case does not expect that.
    Misunderstood(ErrorClass),
}

/// What an expectation is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MismatchAt {
    /// A message of the setup, from 0.
    Setup(usize),
    /// A step (the last step of a call).
    Step(StepId),
    /// An item that was never submitted: its session, its position.
    Missing(SessionName, usize),
    /// A table at the end.
    Final(String),
    /// An assertion.
    Assert(String),
}

/// What a run of a case was compared with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checked {
    /// Expectations, final states and assertions that apply to this run.
    pub stated: usize,
    /// Those that are not met, and statements that the engine did not understand, in file order.
    pub mismatches: Vec<Mismatch>,
    /// What could not be compared, and why: statements that we cut off, assertions whose query failed.
    pub open: Vec<String>,
}

/// Every expectation of the case that the trace does not meet, in file order.
pub fn check(case: &Case, trace: &Trace) -> Vec<Mismatch> {
    examine(case, trace).mismatches
}

/// Compares a run with what the case states about it.
pub fn examine(case: &Case, trace: &Trace) -> Checked {
    let mut checked = Checked::default();
    let mut items_seen = vec![0; trace.sessions.len()];
    let mut setup_seen = 0;
    for (at, entry) in case.entries.iter().enumerate() {
        let before = checked.mismatches.len();
        match &entry.line {
            Line::Init(_, expectations) => {
                check_setup(trace, setup_seen, expectations, &mut checked);
                setup_seen += 1;
            }
            Line::Step(name, _, expectations) => {
                let Some(session) = trace.sessions.iter().position(|run| run.name == *name) else { continue };
                check_item(trace, SessionId(session), items_seen[session], expectations, &mut checked);
                items_seen[session] += 1;
            }
            _ => {}
        }
        checked.mismatches[before..].iter_mut().for_each(|mismatch| mismatch.entry = Some(at));
    }
    check_finals(case, trace, &mut checked);
    check_assertions(trace, &mut checked);
    checked
}

fn check_assertions(trace: &Trace, checked: &mut Checked) {
    checked.stated += trace.checks.len();
    // A query that fails says nothing about what it asks for.
    let (answered, failed): (Vec<&Check>, Vec<&Check>) =
        trace.checks.iter().partition(|check| check.outcome.error.is_none());
    checked.open.extend(failed.into_iter().map(|check| {
        let found = describe(trace.engine.dialect, &check.outcome);
        format!("the assertion {} could not be evaluated: {found}", check.name)
    }));
    checked.mismatches.extend(answered.into_iter().filter(|check| !check.holds()).map(|check| {
        let found = describe(trace.engine.dialect, &check.outcome);
        Mismatch::unmet(MismatchAt::Assert(check.name.clone()), format!("no rows at {}", check.when.name()), found)
    }));
}

impl Mismatch {
    fn unmet(at: MismatchAt, expected: String, found: String) -> Mismatch {
        Mismatch { at, entry: None, cause: MismatchCause::Unmet, expected, found }
    }
}

/// Whether the anomaly that the case describes has happened: all expectations marked `[anomaly]` are met. `None` if
/// the case marks none.
pub fn shows_anomaly(case: &Case, trace: &Trace) -> Option<bool> {
    let mut items_seen = vec![0; trace.sessions.len()];
    let mut verdict = None;
    let mut note = |met: bool| verdict = Some(verdict.unwrap_or(true) && met);
    for entry in &case.entries {
        match &entry.line {
            Line::Step(name, _, expectations) => {
                let Some(session) = trace.sessions.iter().position(|run| run.name == *name) else { continue };
                let steps = steps_of(trace, SessionId(session), items_seen[session]);
                items_seen[session] += 1;
                let marks = expectations.iter().filter(|expectation| expectation.guard == Some(Guard::Anomaly));
                marks.for_each(|mark| note(unmet(trace, &steps, &mark.expect).is_none()));
            }
            Line::Final(expected) if expected.guard == Some(Guard::Anomaly) => {
                note(final_mismatch(trace, expected).is_none());
            }
            _ => {}
        }
    }
    verdict
}

fn check_setup(trace: &Trace, index: usize, expectations: &[Expectation], checked: &mut Checked) {
    let Some(outcome) = trace.setup.get(index) else { return };
    let level = &trace.engine.default_level;
    for expectation in expectations {
        let applies = expectation.guard.as_ref().is_none_or(|guard| guard.matches(&trace.engine, level));
        checked.stated += usize::from(applies);
        if applies && !answers(trace.engine.dialect, outcome, &expectation.expect) {
            let found = describe(trace.engine.dialect, outcome);
            let expected = expectation.expect.to_string();
            checked.mismatches.push(Mismatch::unmet(MismatchAt::Setup(index), expected, found));
        }
    }
}

fn check_item(trace: &Trace, session: SessionId, item: usize, expectations: &[Expectation], checked: &mut Checked) {
    let applicable = applicable(trace, session, expectations);
    checked.stated += applicable.len();
    let steps = steps_of(trace, session, item);
    let says = |aspect: Aspect| applicable.iter().any(|expect| expect.aspect() == aspect);
    if !says(Aspect::Answer) {
        checked.mismatches.extend(steps.iter().find_map(|(id, step)| misunderstood(*id, step)));
    }
    let is_cut = |step: &StepRun| step.cancelled == Some(CancelReason::TimeLimit);
    if let Some((id, _)) = steps.iter().find(|(_, step)| is_cut(step)).filter(|_| !says(Aspect::Answer)) {
        let name = trace.step_name(*id);
        checked.open.push(format!("step {name} exceeded the time limit of a statement (--statement-limit)"));
    }
    if applicable.is_empty() {
        return;
    }
    let Some((last, _)) = steps.last() else {
        let expected = applicable.iter().map(|expect| expect.to_string()).collect::<Vec<_>>().join(", ");
        let at = MismatchAt::Missing(trace.name(session).clone(), item);
        checked.mismatches.push(Mismatch::unmet(at, expected, "the step was never submitted".to_string()));
        return;
    };
    let mut report = |expected: String, found: String| {
        checked.mismatches.push(Mismatch::unmet(MismatchAt::Step(*last), expected, found));
    };
    for expect in &applicable {
        if let Some(found) = unmet(trace, &steps, expect) {
            report(expect.to_string(), found);
        }
    }
    // What is not said about answers is not checked; but waiting is checked both ways.
    if !says(Aspect::Waiting) && steps.iter().any(|(_, step)| step.waited) {
        report("no waiting".to_string(), "blocked".to_string());
    }
    if !says(Aspect::Resuming) && !resumed(trace, &steps).is_empty() {
        report("resumes nobody".to_string(), Expect::Resumes(resumed(trace, &steps)).to_string());
    }
}

/// A statement that the engine does not understand is a typo unless the case expects the error.
fn misunderstood(id: StepId, step: &StepRun) -> Option<Mismatch> {
    let error = step.outcome.as_ref()?.error.as_ref().filter(|error| error.class.is_misunderstanding())?;
    Some(Mismatch {
        at: MismatchAt::Step(id),
        entry: None,
        cause: MismatchCause::Misunderstood(error.class),
        expected: format!("no such error, or `-- > error {}` below the step", error.class),
        found: error.to_string(),
    })
}

/// The expectations that apply here: guarded ones that match replace unguarded ones of the same aspect.
fn applicable<'a>(trace: &Trace, session: SessionId, expectations: &'a [Expectation]) -> Vec<&'a Expect> {
    let level = &trace.sessions[session.0].level;
    let matching: Vec<&Expect> = expectations
        .iter()
        .filter(|expectation| expectation.guard.as_ref().is_some_and(|guard| guard.matches(&trace.engine, level)))
        .map(|expectation| &expectation.expect)
        .collect();
    let replaced = |expect: &Expect| matching.iter().any(|other| other.aspect() == expect.aspect());
    let unguarded = expectations
        .iter()
        .filter(|expectation| expectation.guard.is_none() && !replaced(&expectation.expect))
        .map(|expectation| &expectation.expect);
    unguarded.chain(matching.iter().copied()).collect()
}

type Steps<'a> = Vec<(StepId, &'a StepRun)>;

/// The steps of an item: one for SQL, any number for a call.
fn steps_of(trace: &Trace, session: SessionId, item: usize) -> Steps<'_> {
    let ids = (0..trace.steps.len()).map(StepId).map(|id| (id, trace.step(id)));
    ids.filter(|(_, step)| step.session == session && step.item == item).collect()
}

fn resumed(trace: &Trace, steps: &Steps<'_>) -> Vec<SessionName> {
    steps.iter().flat_map(|(id, _)| trace.resumed_by(*id)).map(|session| trace.name(session).clone()).collect()
}

/// What was found instead, if the expectation is not met.
fn unmet(trace: &Trace, steps: &Steps<'_>, expect: &Expect) -> Option<String> {
    let dialect = trace.engine.dialect;
    match expect {
        Expect::Blocked => (!steps.iter().any(|(_, step)| step.waited)).then(|| "no waiting".to_string()),
        Expect::Resumes(names) => {
            let found = resumed(trace, steps);
            let sorted = |names: &[SessionName]| {
                let mut names = names.to_vec();
                names.sort();
                names
            };
            (sorted(names) != sorted(&found)).then(|| match found.is_empty() {
                true => "resumes nobody".to_string(),
                false => Expect::Resumes(found).to_string(),
            })
        }
        Expect::Cancelled => {
            let cancelled = steps.iter().any(|(_, step)| step.cancelled.is_some());
            (!cancelled).then(|| "not cancelled".to_string())
        }
        answer => {
            let outcomes: Vec<&Outcome> = steps.iter().filter_map(|(_, step)| step.outcome.as_ref()).collect();
            // A call answers with its first error, or else with its last answer of the kind in question.
            let failed = outcomes.iter().find(|outcome| outcome.error.is_some());
            let decisive = match failed {
                Some(failed) => vec![*failed],
                None => outcomes,
            };
            if decisive.iter().rev().any(|outcome| answers(dialect, outcome, answer)) {
                return None;
            }
            Some(decisive.last().map_or("no answer".to_string(), |outcome| match answer {
                Expect::Tag(_) => outcome.tag().map_or("no tag".to_string(), |tag| format!("tag {tag}")),
                _ => describe(dialect, outcome),
            }))
        }
    }
}

/// Whether an outcome is what an expectation about answers says.
fn answers(dialect: &dyn Dialect, outcome: &Outcome, expect: &Expect) -> bool {
    let succeeded = outcome.error.is_none();
    let rows = || outcome.rows().map(|result| dialect.values(result));
    match expect {
        Expect::Ok => succeeded,
        Expect::Error(class) => outcome.error_class() == Some(*class),
        Expect::Affected(count) => succeeded && outcome.affected() == Some(*count),
        Expect::Tag(tag) => outcome.tag() == Some(tag),
        Expect::Rows(expected) => succeeded && rows().is_some_and(|found| same_rows_any_order(expected, found)),
        Expect::Ordered(expected) => succeeded && rows().is_some_and(|found| same_rows(expected, &found)),
        Expect::Blocked | Expect::Resumes(_) | Expect::Cancelled => false,
    }
}

/// As with steps, a guarded line about a table that applies replaces the unguarded ones.
fn check_finals(case: &Case, trace: &Trace, checked: &mut Checked) {
    let matches = |expected: &&Final| {
        let levels = trace.sessions.iter().map(|session| &session.level);
        expected.guard.as_ref().is_some_and(|guard| levels.into_iter().any(|level| guard.matches(&trace.engine, level)))
    };
    let guarded: Vec<&Final> = case.finals().filter(matches).collect();
    let replaced = |expected: &Final| guarded.iter().any(|other| other.table == expected.table);
    let unguarded = case.finals().filter(|expected| expected.guard.is_none() && !replaced(expected));
    let stated: Vec<&Final> = unguarded.chain(guarded.iter().copied()).collect();
    checked.stated += stated.len();
    checked.mismatches.extend(stated.into_iter().filter_map(|expected| final_mismatch(trace, expected)));
}

fn final_mismatch(trace: &Trace, expected: &Final) -> Option<Mismatch> {
    let table = trace.final_state.as_ref().and_then(|state| state.tables.get(&expected.table));
    let found = table.map(|result| trace.engine.dialect.values(result));
    if found.as_ref().is_some_and(|found| same_rows_any_order(&expected.rows, found.clone())) {
        return None;
    }
    let seen = found.map_or("no such table".to_string(), |found| print_rows(&sorted(found)));
    Some(Mismatch::unmet(MismatchAt::Final(expected.table.clone()), print_rows(&expected.rows), seen))
}

/// Rows of a case file against rows of an engine, as multisets.
fn same_rows_any_order(expected: &Rows, mut found: Rows) -> bool {
    expected.len() == found.len()
        && expected.iter().all(|row| match found.iter().position(|other| same_row(row, other)) {
            Some(at) => {
                found.swap_remove(at);
                true
            }
            None => false,
        })
}

fn same_rows(expected: &Rows, found: &Rows) -> bool {
    expected.len() == found.len() && expected.iter().zip(found).all(|(a, b)| same_row(a, b))
}

fn same_row(expected: &[Value], found: &[Value]) -> bool {
    expected.len() == found.len() && expected.iter().zip(found).all(|(a, b)| same_value(a, b))
}

/// A literal of a case file against a value of an engine. One file serves engines that lack a type: `TRUE` is 1 where
/// there are no truth values, and `X'…'` is text where bytes come back as text.
fn same_value(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Bool(truth), Value::Number(_)) => *found == Value::int(i64::from(*truth)),
        (Value::Bytes(bytes), Value::Text(text)) => bytes == text.as_bytes(),
        _ => expected == found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::parse;
    use crate::case::print::print;
    use crate::case::record::record;
    use crate::engine::State;
    use crate::outcome::{Column, StatementResult};
    use crate::trace::compare::{first_difference, transcript};
    use crate::trace::sample::sample;

    /// A result of one integer column.
    fn integers(values: &[i64]) -> StatementResult {
        StatementResult {
            columns: vec![Column { name: "v".to_string(), type_name: "int4".to_string() }],
            rows: values.iter().map(|value| vec![Some(value.to_string().into_bytes())]).collect(),
            affected: None,
            tag: None,
        }
    }

    /// b waits for a, goes on when a commits, and reads 1 and 2; `t` holds 2 and 1 at the end.
    fn trace() -> Trace {
        let mut trace =
            sample("a BEGIN > open; b SELECT v FROM t > waits idle; a COMMIT > tag COMMIT idle; b > completes");
        let outcome = trace.steps[1].outcome.as_mut().expect("an outcome");
        outcome.results = vec![integers(&[1, 2])];
        trace.final_state = Some(State { tables: [("t".to_string(), integers(&[2, 1]))].into() });
        trace
    }

    /// The case with these expectations of b's step, of a's COMMIT, and of the end.
    fn case_with(b: &str, commit: &str, end: &str) -> Case {
        let lines =
            |text: &str| text.split('|').filter(|l| !l.is_empty()).map(|l| format!("-- > {l}\n")).collect::<String>();
        let end: String = end.split('|').filter(|l| !l.is_empty()).map(|l| format!("-- @final {l}\n")).collect();
        let text = format!("/*a*/ BEGIN;\n/*b*/ SELECT v FROM t;\n{}/*a*/ COMMIT;\n{}{end}", lines(b), lines(commit));
        parse(&text).unwrap()
    }

    /// What is not met, as `expected / found`.
    fn unmet_of(b: &str, commit: &str, end: &str) -> Vec<String> {
        let mismatches = check(&case_with(b, commit, end), &trace());
        mismatches.iter().map(|mismatch| format!("{} / {}", mismatch.expected, mismatch.found)).collect()
    }

    const NOTHING: [&str; 0] = [];

    #[test]
    fn what_is_not_said_is_not_checked() {
        assert_eq!(unmet_of("", "", ""), NOTHING);
    }

    #[test]
    fn rows_compare_in_any_order_unless_ordered() {
        assert_eq!(unmet_of("blocked|rows (2) (1)", "resumes b", "t (1) (2)"), NOTHING);
        assert_eq!(unmet_of("blocked|ordered (1) (2)", "", ""), NOTHING);
        assert_eq!(unmet_of("blocked|ordered (2) (1)", "", ""), ["ordered (2) (1) / rows (1) (2)"]);
        assert_eq!(unmet_of("blocked|rows (1) (1)", "", ""), ["rows (1) (1) / rows (1) (2)"]);
        assert_eq!(unmet_of("blocked|rows (1)", "", ""), ["rows (1) / rows (1) (2)"]);
        assert_eq!(unmet_of("", "", "t (1)|nowhere (1)"), ["(1) / (1) (2)", "(1) / no such table"]);
    }

    #[test]
    fn waiting_is_checked_both_ways() {
        assert_eq!(unmet_of("ok", "", ""), ["no waiting / blocked"]);
        assert_eq!(unmet_of("", "ok", ""), ["resumes nobody / resumes b"]);
        assert_eq!(unmet_of("", "blocked|resumes b", ""), ["blocked / no waiting"]);
        assert_eq!(unmet_of("", "resumes c", ""), ["resumes c / resumes b"]);
        assert_eq!(unmet_of("blocked|cancelled", "", ""), ["cancelled / not cancelled"]);
    }

    #[test]
    fn answers_are_told_apart() {
        assert_eq!(unmet_of("blocked|error deadlock", "", ""), ["error deadlock / rows (1) (2)"]);
        assert_eq!(unmet_of("blocked|affected 2", "", ""), ["affected 2 / rows (1) (2)"]);
        assert_eq!(unmet_of("", "resumes b|tag COMMIT", ""), NOTHING);
        assert_eq!(unmet_of("", "resumes b|tag ROLLBACK", ""), ["tag ROLLBACK / tag COMMIT"]);
    }

    #[test]
    fn guards_that_match_replace_what_is_said_of_all() {
        assert_eq!(unmet_of("blocked|rows (9)|[toy] rows (1) (2)", "", ""), NOTHING);
        assert_eq!(unmet_of("blocked|rows (1) (2)|[toy<1] rows (9)", "", ""), NOTHING);
        assert_eq!(
            unmet_of("blocked|rows (1) (2)|[toy>=1 read committed] rows (9)", "", ""),
            ["rows (9) / rows (1) (2)"]
        );
        assert_eq!(unmet_of("blocked|rows (1) (2)|[serializable] rows (9)", "", ""), NOTHING);
        assert_eq!(unmet_of("", "", "t (9)|[toy] t (1) (2)"), NOTHING);
        assert_eq!(unmet_of("[other] blocked|rows (1) (2)", "", ""), ["no waiting / blocked"]);
    }

    #[test]
    fn marks_are_no_expectations_but_describe_the_anomaly() {
        let shows = |b: &str, end: &str| shows_anomaly(&case_with(b, "", end), &trace());
        assert_eq!(unmet_of("[anomaly] rows (9)", "", ""), NOTHING);
        assert_eq!(shows("rows (1)", ""), None);
        assert_eq!(shows("[anomaly] rows (1) (2)", "[anomaly] t (1) (2)"), Some(true));
        assert_eq!(shows("[anomaly] rows (1) (2)", "[anomaly] t (1)"), Some(false));
        assert_eq!(shows("[anomaly] rows (9)|[anomaly] blocked", ""), Some(false));
    }

    #[test]
    fn truth_values_and_bytes_bend_to_engines_without_them() {
        assert!(same_value(&Value::Bool(true), &Value::int(1)));
        assert!(!same_value(&Value::Bool(true), &Value::int(2)));
        assert!(same_value(&Value::Bytes(b"x".to_vec()), &Value::text("x")));
        assert!(!same_value(&Value::int(1), &Value::text("1")));
    }

    #[test]
    fn what_was_recorded_is_met() {
        let recorded = record(&case_with("[anomaly] ok|rows (7)", "", "t (7)"), &[&trace()]);
        assert_eq!(check(&recorded, &trace()), []);
        let text = print(&recorded);
        for line in
            ["-- > blocked\n-- > rows (1) (2)\n-- > [anomaly] ok\n", "-- > resumes b\n", "-- @final t (1) (2)\n"]
        {
            assert!(text.contains(line), "{text}");
        }
    }

    #[test]
    fn what_targets_share_is_recorded_once_and_the_rest_is_guarded() {
        let (first, mut second) = (trace(), trace());
        second.engine.family = "other";
        second.steps[1].outcome.as_mut().expect("an outcome").results = vec![integers(&[5])];
        let recorded = record(&case_with("", "", ""), &[&first, &second]);
        let text = print(&recorded);
        assert!(text.contains("-- > blocked\n-- > [toy] rows (1) (2)\n-- > [other] rows (5)\n"), "{text}");
        assert_eq!(check(&recorded, &first), []);
        assert_eq!(check(&recorded, &second), []);
    }

    #[test]
    fn guards_are_no_longer_than_they_must_be() {
        let variant = |version: &str, level: &str, rows: &[i64]| {
            let mut trace = trace();
            trace.engine.version = crate::engine::Version::parse(version);
            trace.sessions.iter_mut().for_each(|session| session.level = crate::level::LevelName::custom(level));
            trace.steps[1].outcome.as_mut().expect("an outcome").results = vec![integers(rows)];
            trace
        };
        let check_guards = |traces: &[Trace], expect: &str| {
            let traces: Vec<&Trace> = traces.iter().collect();
            let recorded = record(&case_with("", "", ""), &traces);
            assert!(print(&recorded).contains(expect), "{}", print(&recorded));
            traces.iter().for_each(|trace| assert_eq!(check(&recorded, trace), []));
        };
        let (rc, rr) = ("read committed", "repeatable read");
        let by_level = [variant("1.0", rc, &[1]), variant("1.0", rr, &[2]), variant("2.0", rr, &[2])];
        check_guards(&by_level, "-- > [toy read committed] rows (1)\n-- > [toy repeatable read] rows (2)\n");
        let by_version = [variant("1.0", rc, &[1]), variant("1.0", rr, &[1]), variant("2.3.4", rr, &[2])];
        check_guards(&by_version, "-- > [toy read committed, toy=1.0] rows (1)\n-- > [toy=2.3] rows (2)\n");
        let by_both =
            [variant("1.0", rc, &[1]), variant("1.0", rr, &[2]), variant("2.0", rc, &[2]), variant("2.0", rr, &[1])];
        check_guards(&by_both, "-- > [toy=1.0 read committed, toy=2.0 repeatable read] rows (1)\n");
    }

    #[test]
    fn traces_agree_iff_their_transcripts_do() {
        let (first, mut second) = (trace(), trace());
        assert_eq!(first_difference(&first, &second), None);
        assert_eq!(transcript(&first), transcript(&second));
        second.steps[1].outcome.as_mut().expect("an outcome").results = vec![integers(&[2, 1])];
        let difference = first_difference(&first, &second).expect("the order of rows counts in one engine");
        assert_eq!((difference.what, difference.step), ("answer", Some(StepId(1))));
        assert_ne!(transcript(&first), transcript(&second));
        second = trace();
        second.events.pop();
        assert_eq!(first_difference(&first, &second).expect("an event is missing").what, "order");
        second = trace();
        second.final_state = None;
        assert_eq!(first_difference(&first, &second).expect("a state is missing").what, "final state");
    }
}
