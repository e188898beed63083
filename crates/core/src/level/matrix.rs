//! What a level really does about an anomaly: lets it happen, or prevents it, and how.
//!
//! The answer comes from a run of the anomaly's case. If the anomaly did not happen, something kept it away: an error
//! told one of the transactions to give up; or somebody had to wait until the danger was over; or neither, and a
//! transaction simply saw other versions of the rows.

use crate::case::Case;
use crate::case::SessionName;
use crate::case::check::shows_anomaly;
use crate::outcome::ErrorClass;
use crate::trace::{StepRun, Trace};

/// What a level did about an anomaly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reaction {
    /// It happened.
    Allowed,
    /// A transaction was refused.
    Refused(SessionName, ErrorClass),
    /// A session had to wait.
    Waited(SessionName),
    /// Nobody was refused and nobody waited: what was read and written were other versions.
    Versions,
}

impl Reaction {
    /// What a run of an anomaly's case shows; `None` if the case describes no anomaly, or the server died.
    pub fn of(case: &Case, trace: &Trace) -> Option<Reaction> {
        if trace.death.is_some() {
            return None;
        }
        if shows_anomaly(case, trace)? {
            return Some(Reaction::Allowed);
        }
        let refused = trace.steps.iter().find_map(|step| Some((step, refusal(step)?)));
        if let Some((step, class)) = refused {
            return Some(Reaction::Refused(trace.name(step.session).clone(), class));
        }
        let waited = trace.steps.iter().find(|step| step.waited);
        Some(waited.map_or(Reaction::Versions, |step| Reaction::Waited(trace.name(step.session).clone())))
    }

    /// Whether the anomaly was kept away.
    pub fn is_prevented(&self) -> bool {
        *self != Reaction::Allowed
    }
}

/// The error with which the engine gave up a transaction. What a failed transaction is refused afterwards is no news.
fn refusal(step: &StepRun) -> Option<ErrorClass> {
    let class = step.outcome.as_ref()?.error_class()?;
    (class != ErrorClass::TransactionAborted).then_some(class)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::parse;
    use crate::trace::sample::sample;

    #[test]
    fn reactions_are_told_apart() {
        let check = |trace: &str, expect: &str| {
            let case = parse("/*a*/ x;\n/*b*/ y;\n-- > [anomaly] ok\n/*b*/ z;\n-- > [anomaly] tag Z\n").unwrap();
            let reaction = Reaction::of(&case, &sample(trace)).unwrap();
            assert_eq!(format!("{reaction:?}").replace("SessionName(\"b\")", "b"), expect, "{trace}");
        };
        check("a x > open; b y > open; b z > tag Z idle", "Allowed");
        check("a x > open; b y > open; b z > tag N idle", "Versions");
        check("a x > open; b y > waits open; a x > idle; b > completes; b z > tag N idle", "Waited(b)");
        check(
            "a x > open; b y > error deadlock failed; b z > error transaction-aborted failed",
            "Refused(b, Deadlock)",
        );
    }

    #[test]
    fn a_case_without_marks_says_nothing() {
        assert_eq!(Reaction::of(&parse("/*a*/ x;").unwrap(), &sample("a x > idle")), None);
    }
}
