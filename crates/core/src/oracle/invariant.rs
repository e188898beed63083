//! The invariant oracle: what the case asserts holds, at the start, after each transaction, at the end.
//!
//! ```sql
//! -- @assert each no_overdraft: SELECT id, balance FROM accounts WHERE balance < 0
//! ```
//!
//! An assertion holds iff its query returns no rows; the rows that it returns are the evidence. It is asked outside all
//! sessions, on committed data: what a transaction has changed and not committed does not count, neither for it nor
//! against it. `each` means after every step that leaves its session without an open transaction.
//!
//! # Limits
//!
//! * A case without assertions asks nothing, and nothing is answered: *unknown*, and nothing is run. *Holds* would be a
//!   claim without evidence.
//! * A query that fails says nothing about the data: *unknown*, unless another evaluation fails to hold.
//! * Whether the engine or the application broke it, the oracle does not know: at read committed an application may well
//!   break its own invariants.

use crate::case::expect::print_rows;
use crate::case::{AssertWhen, Case, Line};
use crate::finding::{Explanation, Finding, Fingerprint, Violation};
use crate::oracle::{Mode, Oracle, RunError, RunRequest, Runner, Verdict, scheduled, schedules, together, unobserved};
use crate::schedule::{Policy, Schedule};
use crate::sql::one_line;
use crate::trace::{Check, Trace};

/// The oracle's name.
pub const NAME: &str = "invariant";

/// How many rows a clause shows.
const ROWS_SHOWN: usize = 5;

/// Judges by the assertions of a case.
#[derive(Debug, Clone, Default)]
pub struct Invariant {
    /// What to do when a session waits.
    pub policy: Policy,
}

impl Oracle for Invariant {
    fn name(&self) -> &'static str {
        NAME
    }

    fn is_thorough(&self) -> bool {
        false
    }

    /// Judges every schedule of the case on every target: one finding per assertion that does not hold.
    fn judge(&self, case: &Case, runner: &mut dyn Runner) -> Result<Verdict, RunError> {
        if !case.entries.iter().any(|entry| matches!(entry.line, Line::Assert(_))) {
            return Ok(Verdict::Unknown("the case states no assertions".to_string()));
        }
        let mut verdicts = Vec::new();
        for target in 0..runner.targets().len() {
            for schedule in schedules(case) {
                let mode = Mode::Scheduled(schedule.cloned());
                let trace = runner.run(&RunRequest { case, target, policy: self.policy.clone(), mode })?;
                verdicts.push(verdict(case, schedule, &trace));
            }
        }
        Ok(together(verdicts))
    }
}

fn verdict(case: &Case, schedule: Option<&Schedule>, trace: &Trace) -> Verdict {
    let mut broken: Vec<&Check> = Vec::new();
    for check in trace.checks.iter().filter(|check| !check.holds() && check.outcome.error.is_none()) {
        if !broken.iter().any(|other| other.name == check.name) {
            broken.push(check);
        }
    }
    if !broken.is_empty() {
        let finding = |check: &&Check| {
            Finding::new(NAME, violation(case, trace, check), scheduled(case, schedule), trace.clone())
        };
        return Verdict::Violated(broken.iter().map(finding).collect());
    }
    if let Some(check) = trace.checks.iter().find(|check| check.outcome.error.is_some()) {
        let error = check.outcome.error.as_ref().map(ToString::to_string).unwrap_or_default();
        return Verdict::Unknown(format!("the assertion {} could not be evaluated: {error}", check.name));
    }
    let died = trace.death.as_ref().map(|death| format!("the server died ({})", death.how));
    match died.or_else(|| unobserved(trace)) {
        Some(reason) => Verdict::Unknown(reason),
        None => Verdict::Holds(format!("assertions held all {} times", trace.checks.len())),
    }
}

fn violation(case: &Case, trace: &Trace, check: &Check) -> Violation {
    let name = &check.name;
    let rows = check.outcome.rows().map(|result| trace.engine.dialect.values(result)).unwrap_or_default();
    let shown = print_rows(&rows[..rows.len().min(ROWS_SHOWN)]);
    let more = if rows.len() > ROWS_SHOWN { format!(" … ({} rows)", rows.len()) } else { String::new() };
    let query = case.asserts(check.when).find(|assert| assert.name == *name).map(|assert| one_line(&assert.sql));
    let held = trace.checks.iter().take_while(|other| *other != check).filter(|other| other.name == *name).count();
    let thens = (held > 0).then(|| match held {
        1 => "it held once before".to_string(),
        count => format!("it held {count} times before"),
    });
    Violation {
        sentence: format!(
            "the assertion {name} does not hold {}: its query returns {shown}{more}",
            moment(trace, check)
        ),
        explanation: Explanation {
            lets: query.iter().map(|query| format!("{name} = no rows in {query}")).collect(),
            thens: thens.into_iter().collect(),
            however: vec![format!("{}, these rows were there: {shown}{more}", moment(trace, check))],
        },
        fingerprint: Fingerprint::new(&kind(name), &[query.unwrap_or_default()]),
    }
}

/// `after step b2 (COMMIT)`
fn moment(trace: &Trace, check: &Check) -> String {
    match (check.when, check.after) {
        (AssertWhen::Kept | AssertWhen::End, _) => "at the end".to_string(),
        (_, Some(id)) => format!("after step {} ({})", trace.step_name(id), one_line(&trace.step(id).sql)),
        (_, None) => "after the setup, before any step".to_string(),
    }
}

/// `invariant-no-overdraft`: a fingerprint is one word.
/// The kind of a violation of the assertion with a name.
pub(crate) fn kind(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    [NAME].into_iter().chain(words).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Assert;
    use crate::oracle::toy::{Played, case};
    use crate::outcome::{DbError, ErrorClass, Outcome, TxStatus};
    use crate::trace::StepId;
    use crate::trace::sample::{sample, table};

    fn asserting(when: AssertWhen) -> Case {
        let mut case = case("a UPDATE t SET v = 1");
        let sql = "SELECT id FROM t WHERE v < 0".to_string();
        case.entries
            .push(Line::Assert(Assert { when, procedure: None, name: "No overdraft!".to_string(), sql }).into());
        case
    }

    /// A check with what its query returned: rows, or `error`.
    fn check_of(when: AssertWhen, after: Option<usize>, returned: &str) -> Check {
        let mut outcome = Outcome::empty(TxStatus::Idle);
        match returned {
            "error" => {
                let (code, message) = (String::new(), "no such table".to_string());
                let class = ErrorClass::UnknownObject;
                outcome.error = Some(DbError { class, code, native: None, message, detail: None });
            }
            rows => outcome.results.push(table(rows)),
        }
        Check { name: "No overdraft!".to_string(), when, after: after.map(StepId), outcome }
    }

    fn judge(when: AssertWhen, checks: Vec<Check>) -> Verdict {
        let mut trace = sample("a UPDATE t SET v = 1 > idle; b COMMIT > idle");
        (trace.checks, trace.final_state) = (checks, Some(crate::engine::State::default()));
        Invariant::default().judge(&asserting(when), &mut Played::new(vec![trace])).unwrap()
    }

    #[track_caller]
    fn check_found(when: AssertWhen, checks: Vec<Check>, sentence: &str) -> Finding {
        let Verdict::Violated(mut findings) = judge(when, checks) else { panic!("nothing was found") };
        assert_eq!(findings.len(), 1);
        let finding = findings.remove(0);
        assert_eq!((finding.fingerprint.kind(), finding.sentence.as_str()), ("invariant-no-overdraft", sentence));
        finding
    }

    #[test]
    fn the_rows_are_the_evidence() {
        let each = |after, returned| check_of(AssertWhen::Each, Some(after), returned);
        let finding = check_found(
            AssertWhen::Each,
            vec![each(0, "()"), each(1, "(7)(8)"), each(1, "(9)")],
            "the assertion No overdraft! does not hold after step b1 (COMMIT): its query returns (7) (8)",
        );
        assert_eq!(
            finding.explanation.lines(),
            [
                "Let:",
                "  No overdraft! = no rows in SELECT id FROM t WHERE v < 0",
                "Then:",
                "  it held once before",
                "However:",
                "  after step b1 (COMMIT), these rows were there: (7) (8)",
                "A contradiction.",
            ]
        );
    }

    #[test]
    fn the_moment_is_told() {
        check_found(
            AssertWhen::Start,
            vec![check_of(AssertWhen::Start, None, "(1)")],
            "the assertion No overdraft! does not hold after the setup, before any step: its query returns (1)",
        );
        check_found(
            AssertWhen::End,
            vec![check_of(AssertWhen::End, None, "(1)")],
            "the assertion No overdraft! does not hold at the end: its query returns (1)",
        );
    }

    #[test]
    fn what_held_holds_and_what_cannot_be_asked_is_open() {
        let end = |returned| check_of(AssertWhen::End, None, returned);
        assert!(matches!(judge(AssertWhen::End, vec![end("()")]), Verdict::Holds(_)));
        assert!(matches!(judge(AssertWhen::End, vec![end("error")]), Verdict::Unknown(_)));
        assert!(matches!(judge(AssertWhen::End, vec![end("error"), end("(1)")]), Verdict::Violated(_)));
        let mut runner = Played::new(vec![sample("a x > idle")]);
        let verdict = Invariant::default().judge(&case("a x"), &mut runner).unwrap();
        assert!(matches!(verdict, Verdict::Unknown(reason) if reason == "the case states no assertions"));
        assert_eq!(runner.runs, [0], "nothing is run in vain");
    }
}
