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

/// `after step 4 (b: COMMIT)`
fn moment(trace: &Trace, check: &Check) -> String {
    match (check.when, check.after) {
        (AssertWhen::End, _) => "at the end".to_string(),
        (_, Some(id)) => {
            let step = trace.step(id);
            format!("after step {} ({}: {})", id.0 + 1, trace.name(step.session), one_line(&step.sql))
        }
        (_, None) => "after the setup, before any step".to_string(),
    }
}

/// `invariant-no-overdraft`: a fingerprint is one word.
fn kind(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    [NAME].into_iter().chain(words).collect::<Vec<_>>().join("-")
}
