//! The conclusion of a command: what was decided, about what, and how much of it was covered.
//!
//! ```text
//!   claim + violations + gaps + interrupted? ──→ kind ──→ exit code, last line of text, `conclusion` in JSON
//! ```
//!
//! A command collects facts and never ranks them. The kind follows from the facts by one rule:
//!
//! * **violated** if there is a violation: evidence stays evidence, whatever else could not be done
//! * else **interrupted** if the user stopped the command
//! * else **unknown** if anything inside of the claim's scope was not covered (a [`Gap`])
//! * else **nothing checked** if no check was asked for: the exit code is 0, and there is no tick
//! * else **holds**
//!
//! So *holds* needs complete coverage, and a command cannot pass by looking away. A gap names the place, the construct and
//! what to do about it.

use std::fmt;

/// The ways in which a command can end that has looked at something, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConclusionKind {
    /// The command did what it was asked for, and that included no check.
    NothingChecked,
    /// The claim holds, and all of its scope was covered.
    Holds,
    /// Part of the scope was not covered, and no violation was found in the rest.
    Unknown,
    /// The user stopped the command before anything was found.
    Interrupted,
    /// There is at least one violation.
    Violated,
}

impl ConclusionKind {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            ConclusionKind::NothingChecked => "nothing-checked",
            ConclusionKind::Holds => "holds",
            ConclusionKind::Unknown => "unknown",
            ConclusionKind::Interrupted => "interrupted",
            ConclusionKind::Violated => "violated",
        }
    }
}

/// The reason why a part of the scope was not covered, least severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GapCause {
    /// Input that was not understood.
    NotRead,
    /// A bound was hit: an order that was not searched, a loop that was cut.
    NotSearched,
    /// The budget of time or memory was spent.
    OutOfBudget,
    /// A test that could not run, or an oracle that could not judge it.
    NotJudged,
    /// The environment failed too often (disk full, connections refused).
    Environment,
    /// The same run had different outcomes.
    Unstable,
    /// An input file is wrong.
    BadInput,
    /// A file could not be read or written, whatever its name (disk full, no permission).
    FileFailed,
    /// The database could not be reached, or was lost.
    Unreachable,
}

impl GapCause {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            GapCause::NotRead => "not-read",
            GapCause::NotSearched => "not-searched",
            GapCause::OutOfBudget => "out-of-budget",
            GapCause::NotJudged => "not-judged",
            GapCause::Environment => "environment",
            GapCause::Unstable => "unstable",
            GapCause::BadInput => "bad-input",
            GapCause::FileFailed => "file-failed",
            GapCause::Unreachable => "unreachable",
        }
    }
}

/// A part of the scope that was not covered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The reason.
    pub cause: GapCause,
    /// The file and line, the case or the target; empty if the gap has no place.
    pub place: String,
    /// What was not covered, as a sentence without a full stop.
    pub what: String,
    /// What the user can do about it; empty if nothing is known.
    pub advice: String,
    /// The number of times that this gap was met.
    pub count: u64,
}

impl Gap {
    /// A gap without a place and without advice.
    pub fn new(cause: GapCause, what: impl fmt::Display) -> Gap {
        Gap { cause, place: String::new(), what: what.to_string(), advice: String::new(), count: 1 }
    }

    /// The same gap at a place.
    #[must_use]
    pub fn at(self, place: impl fmt::Display) -> Gap {
        Gap { place: place.to_string(), ..self }
    }

    /// The same gap with advice.
    #[must_use]
    pub fn advise(self, advice: impl fmt::Display) -> Gap {
        Gap { advice: advice.to_string(), ..self }
    }

    /// The same gap, met several times.
    #[must_use]
    pub fn times(self, count: u64) -> Gap {
        Gap { count, ..self }
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        write!(f, "{}", self.what)?;
        match self.advice.as_str() {
            "" => Ok(()),
            advice => write!(f, "; {advice}"),
        }
    }
}

/// A count of what was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoverageCount {
    /// The unit, in the plural: `cases`, `transactions`.
    pub unit: String,
    /// The number that was looked at.
    pub done: u64,
    /// The number that was to be looked at, where it is known.
    pub planned: Option<u64>,
}

/// What a command concludes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conclusion {
    /// The sentence that is true if nothing is violated and everything was covered, with its scope:
    /// `serializable holds for this history (4 transactions)`, `no finding in 320 cases`.
    pub claim: String,
    /// The sentence that is true if something is violated: `2 findings in 320 cases`.
    pub counterclaim: String,
    /// The number of violations.
    pub violations: u64,
    /// The parts of the scope that were not covered.
    pub gaps: Vec<Gap>,
    /// The counts of what was looked at.
    pub covered: Vec<CoverageCount>,
    /// True if the user stopped the command.
    pub is_interrupted: bool,
    /// True if nothing was to be checked, so that the claim tells only what was done.
    pub is_unchecked: bool,
}

impl Conclusion {
    /// A conclusion without violations and gaps.
    pub fn new(claim: impl fmt::Display) -> Conclusion {
        Conclusion { claim: claim.to_string(), ..Conclusion::default() }
    }

    /// The same with violations, and the sentence that tells of them.
    #[must_use]
    pub fn violated(self, violations: usize, counterclaim: impl fmt::Display) -> Conclusion {
        Conclusion { violations: violations as u64, counterclaim: counterclaim.to_string(), ..self }
    }

    /// The same with one more count of what was looked at.
    #[must_use]
    pub fn covering(mut self, unit: &str, done: u64, planned: Option<u64>) -> Conclusion {
        self.covered.push(CoverageCount { unit: unit.to_string(), done, planned });
        self
    }

    /// The same with more gaps.
    #[must_use]
    pub fn with_gaps(mut self, gaps: impl IntoIterator<Item = Gap>) -> Conclusion {
        self.gaps.extend(gaps);
        self
    }

    /// The same, stopped by the user or not.
    #[must_use]
    pub fn interrupted(self, is_interrupted: bool) -> Conclusion {
        Conclusion { is_interrupted, ..self }
    }

    /// The same, with or without anything to be checked.
    #[must_use]
    pub fn unchecked(self, is_unchecked: bool) -> Conclusion {
        Conclusion { is_unchecked, ..self }
    }

    /// The kind, which follows from the facts.
    pub fn kind(&self) -> ConclusionKind {
        if self.violations > 0 {
            ConclusionKind::Violated
        } else if self.is_interrupted {
            ConclusionKind::Interrupted
        } else if !self.gaps.is_empty() {
            ConclusionKind::Unknown
        } else if self.is_unchecked {
            ConclusionKind::NothingChecked
        } else {
            ConclusionKind::Holds
        }
    }

    /// The most severe cause of a gap.
    pub fn cause(&self) -> Option<GapCause> {
        self.gaps.iter().map(|gap| gap.cause).max()
    }

    /// The last line of the text, without its mark.
    pub fn sentence(&self) -> String {
        match self.kind() {
            ConclusionKind::Holds | ConclusionKind::NothingChecked => self.claim.clone(),
            ConclusionKind::Violated if self.is_interrupted => format!("{}; then interrupted", self.counterclaim),
            ConclusionKind::Violated => format!("{}{}", self.counterclaim, self.left_open()),
            ConclusionKind::Interrupted => format!("interrupted{}: nothing is concluded", self.progress()),
            ConclusionKind::Unknown => format!("unknown: {}", self.first_gap()),
        }
    }

    /// The gaps beside violations: they do not change the verdict, and are not hidden.
    fn left_open(&self) -> String {
        match self.gaps.len() {
            0 => String::new(),
            _ => format!("; not covered: {}", self.first_gap()),
        }
    }

    fn first_gap(&self) -> String {
        // The first of the most severe ones: it explains the exit code.
        let severe = self.gaps.iter().find(|gap| Some(gap.cause) == self.cause());
        let more = match self.gaps.len() {
            0 | 1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        format!("{}{more}", severe.map(ToString::to_string).unwrap_or_default())
    }

    fn progress(&self) -> String {
        let told = |count: &CoverageCount| match count.planned {
            Some(planned) => format!("{} of {} {}", count.done, planned, count.unit),
            None => format!("{} {}", count.done, count.unit),
        };
        match self.covered.first() {
            Some(count) => format!(" after {}", told(count)),
            None => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap() -> Gap {
        Gap::new(GapCause::NotRead, "CALL is not read").at("shop.sql:3").advise("record the log of the server")
    }

    #[test]
    fn nothing_holds_that_was_not_covered() {
        let clean = Conclusion::new("no anomaly in 3 procedures");
        assert_eq!(clean.kind(), ConclusionKind::Holds);
        assert_eq!(clean.sentence(), "no anomaly in 3 procedures");
        let open = clean.with_gaps([gap(), gap()]);
        assert_eq!(open.kind(), ConclusionKind::Unknown);
        let sentence = "unknown: shop.sql:3: CALL is not read; record the log of the server (and 1 more)";
        assert_eq!(open.sentence(), sentence);
    }

    #[test]
    fn violated_beats_interrupted_beats_unknown() {
        let open = Conclusion::new("fine").covering("cases", 3, Some(10)).with_gaps([gap()]);
        let stopped = open.interrupted(true);
        assert_eq!(stopped.kind(), ConclusionKind::Interrupted);
        assert_eq!(stopped.sentence(), "interrupted after 3 of 10 cases: nothing is concluded");
        let found = stopped.violated(1, "1 finding in 3 cases");
        assert_eq!(found.kind(), ConclusionKind::Violated);
        assert_eq!(found.sentence(), "1 finding in 3 cases; then interrupted");
        let kinds =
            [ConclusionKind::Holds, ConclusionKind::Unknown, ConclusionKind::Interrupted, ConclusionKind::Violated];
        assert!(kinds.is_sorted());
    }

    #[test]
    fn the_most_severe_gap_is_named() {
        let lost = Gap::new(GapCause::Unreachable, "the server did not answer");
        let open = Conclusion::new("fine").with_gaps([gap(), lost]);
        assert_eq!(open.cause(), Some(GapCause::Unreachable));
        assert_eq!(open.sentence(), "unknown: the server did not answer (and 1 more)");
    }
}
