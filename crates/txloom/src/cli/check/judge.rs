//! From a history to a report.

use std::time::{Duration, Instant};

use txloom_core::history::check::budget::CheckBudget;
use txloom_core::history::check::{Checker, Reason, Verdict};
use txloom_core::history::formats::{self, Convention, Format};
use txloom_core::history::minimize::smallest;
use txloom_core::history::survey::{Found, Standing, Survey};
use txloom_core::level::formal::{Level, Order, Requirement};

use super::super::failure::Failure;
use super::load::Loaded;
use crate::interrupt;
use crate::memory::affordable_bytes;
use crate::report::history;
use crate::report::model::check::{
    AnswerReport, HistoryReport, StandingReport, SurveyReport, TimingReport, VerdictReport, ViolationReport,
};

/// What is asked of every history.
pub(super) struct Question<'a> {
    /// The levels, as the user wrote them; none: all.
    pub(super) levels: &'a [String],
    /// How long a history may take.
    pub(super) limit: Duration,
    /// Whether the smallest part is wanted.
    pub(super) minimize: bool,
}

/// Answers it.
pub(super) fn judge(loaded: &Loaded, question: &Question<'_>) -> Result<HistoryReport, Failure> {
    let began = Instant::now();
    let recorded = &loaded.read.history;
    let checker = Checker::new(recorded).map_err(|error| {
        Failure::bad_input(format!(
            "{}:{}: {} is given the value {} a second time (first in line {}); a value can be written to a key only once, \
             or reads would not tell which write they saw",
            loaded.file, error.line, error.key, error.value, error.first_line
        ))
    })?;
    let should_stop = || interrupt::requested() || began.elapsed() >= question.limit;
    let budget = CheckBudget { should_stop: &should_stop, bytes_max: affordable_bytes() };
    let judge = Judge { loaded, checker, budget, convention: loaded.read.format.convention() };
    let answers = question.levels.iter().map(|name| judge.answer(name, question.minimize)).collect();
    let survey = question.levels.is_empty().then(|| judge.survey());
    if interrupt::requested() {
        return Err(Failure::interrupted());
    }
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    Ok(HistoryReport {
        file: loaded.file.clone(),
        format: loaded.read.format.name().to_string(),
        transactions: recorded.len(),
        committed: judge.checker.facts.committed.len(),
        operations: recorded.op_count(),
        answers,
        survey,
        timing: TimingReport { read_ms: milliseconds(loaded.time), check_ms: milliseconds(began.elapsed()) },
    })
}

struct Judge<'a> {
    loaded: &'a Loaded,
    checker: Checker<'a>,
    budget: CheckBudget<'a>,
    convention: Convention,
}

impl Judge<'_> {
    fn check(&self, requirement: Requirement) -> Verdict {
        self.checker.check_within(requirement, self.budget)
    }

    /// The answer in the sense of the format, and in other senses that the name may have.
    fn answer(&self, name: &str, minimize: bool) -> AnswerReport {
        let asked = self.convention.requirement(name).unwrap_or(Level::Serializable.into());
        let (verdict, elsewhere) = self.both(asked);
        let taken =
            asked.level == Level::MonotonicAtomicView && Requirement::parse(name).is_some_and(is_read_committed);
        let mut others: Vec<StandingReport> = elsewhere.into_iter().collect();
        let remark = taken.then(|| {
            let adya = Level::ReadCommitted.with(asked.order);
            others.push(standing(adya, &self.check(adya)));
            format!(
                "read committed, as in {}, is monotonic atomic view; Adya's read committed is PL-2",
                self.convention.tool
            )
        });
        let smallest = match &verdict {
            Verdict::Violated(_) if minimize => self.smallest(asked),
            _ => None,
        };
        AnswerReport {
            asked: name.to_string(),
            level: asked.to_string(),
            verdict: self.verdict(verdict),
            elsewhere: others,
            remark,
            smallest,
        }
    }

    /// The verdict with and without the order of sessions: the second one where it differs. The stronger question comes
    /// first; if it holds, it answers both.
    fn both(&self, asked: Requirement) -> (Verdict, Option<StandingReport>) {
        let (free, session) = (asked.level.with(Order::Free), asked.level.with(Order::Session));
        if asked.order == Order::RealTime {
            return (self.check(asked), None);
        }
        let with_sessions = self.check(session);
        if with_sessions.holds() {
            return (with_sessions, None);
        }
        let plain = self.check(free);
        let differ = plain.holds() != with_sessions.holds() || plain.is_violated() != with_sessions.is_violated();
        match asked.order {
            Order::Free => {
                let other = differ.then(|| standing(session, &with_sessions));
                (plain, other)
            }
            _ => {
                let other = differ.then(|| standing(free, &plain));
                (with_sessions, other)
            }
        }
    }

    fn verdict(&self, verdict: Verdict) -> VerdictReport {
        match verdict {
            Verdict::Holds(_) => VerdictReport::Holds,
            Verdict::Undecided(why) => VerdictReport::Undecided { why },
            Verdict::Violated(reason) => VerdictReport::Violated { violation: Box::new(self.violation(&reason, 1)) },
        }
    }

    fn violation(&self, reason: &Reason, count: usize) -> ViolationReport {
        history::violation(&self.loaded.read.history, &self.checker, reason, count, self.convention.session)
    }

    fn smallest(&self, asked: Requirement) -> Option<String> {
        let part = smallest(&self.loaded.read.history, asked, self.budget.should_stop)?;
        // What the file's own format cannot say, Elle's can.
        let written =
            formats::write(&part, self.loaded.read.format).or_else(|_| formats::write(&part, Format::Edn)).ok()?;
        String::from_utf8(written).ok()
    }

    fn survey(&self) -> SurveyReport {
        let survey = Survey::of(&self.loaded.read.history, &self.checker, self.budget);
        let violation = |found: &Found| self.violation(&found.example, found.count);
        SurveyReport {
            standings: survey
                .standings
                .iter()
                .map(|(requirement, known)| history::standing(*requirement, known))
                .collect(),
            strongest: survey.strongest().iter().map(ToString::to_string).collect(),
            anomalies: survey.anomalies.iter().map(violation).collect(),
            remarks: self.remarks(),
        }
    }

    fn remarks(&self) -> Vec<String> {
        let tool = self.convention.tool;
        let mut remarks = vec![
            "Histories have no predicates; without them, repeatable read (PL-2.99) and serializable are the same."
                .to_string(),
        ];
        if self.convention.order == Order::Session {
            remarks.push(format!(
                "{tool} respects the order of sessions at every level: there, a level is what is called strong session here; \
                 and its read committed is monotonic atomic view here."
            ));
        }
        remarks
    }
}

fn is_read_committed(requirement: Requirement) -> bool {
    requirement.level == Level::ReadCommitted
}

fn standing(requirement: Requirement, verdict: &Verdict) -> StandingReport {
    let known = match verdict {
        Verdict::Holds(_) => Standing::Holds,
        Verdict::Violated(reason) => Standing::Violated(reason.clone()),
        Verdict::Undecided(why) => Standing::Undecided(why.clone()),
    };
    history::standing(requirement, &known)
}
