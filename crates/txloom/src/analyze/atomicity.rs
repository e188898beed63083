//! What is left if the process dies between two transactions of a call (§5).
//!
//! For each commit with writes before and behind it, a call is run up to there, and nothing comes after: the connection
//! is gone. Then the assertions are asked. Those that the call keeps when it runs to its end, and breaks when it stops
//! here, say what is lost.

use txloom_core::case::expect::print_rows;
use txloom_core::case::{Assert, AssertWhen, Call, Case, Item, Line, SessionName, Sql};
use txloom_core::flow::CommitPoint;
use txloom_core::oracle::RunError;

use super::data::{self, Start, Wishes};
use super::force::{Done, Leg, NAMES, Until};
use super::trial::{TRIES, TrialError, Trials};

/// What became of a commit point.
#[derive(Debug)]
pub enum Remainder {
    /// An assertion does not hold any more.
    Broken {
        /// Its name.
        assertion: String,
        /// The rows that its query returned.
        rows: String,
        /// The call that was lost.
        call: Call,
        /// What it had changed.
        done: Vec<Done>,
        /// The statements that it had sent, as a case.
        case: Box<Case>,
    },
    /// All assertions hold.
    Kept,
    /// Nobody has said what must be true.
    NothingAsserted,
    /// The call never came there.
    NotReached,
}

impl Trials<'_> {
    /// Loses a call behind a commit, and asks the assertions.
    pub fn remainder(&mut self, point: &CommitPoint) -> Result<Remainder, TrialError> {
        let asserts = self.state_assertions();
        if asserts.is_empty() {
            return Ok(Remainder::NothingAsserted);
        }
        let mut fate = Remainder::NotReached;
        for seed in self.seeds(TRIES) {
            let wishes = Wishes::default();
            let start = self.start(&wishes, seed)?;
            let call = data::call(self.project(), (point.after.procedure, 0), &start, &wishes, seed);
            let whole = self.force(&start, std::slice::from_ref(&call), &[(0, Until::End)])?;
            let mut expected = Vec::new();
            for assert in &asserts {
                expected.push(whole.stuck.is_none() && self.broken(assert)?.is_none());
            }
            let leg: Leg = (0, Until::Behind(self.place(point.after).clone()));
            let lost = self.force(&start, std::slice::from_ref(&call), &[leg])?;
            if lost.stuck.is_some() {
                continue;
            }
            fate = Remainder::Kept;
            for (assert, _) in asserts.iter().zip(expected).filter(|(_, holds)| *holds) {
                if let Some(rows) = self.broken(assert)? {
                    let assertion = assert.name.clone();
                    let case = Box::new(self.lost_case(&start, &lost.messages, assert));
                    return Ok(Remainder::Broken { assertion, rows, call, done: lost.done, case });
                }
            }
        }
        Ok(fate)
    }

    /// What the call had sent before it was lost. The program itself cannot be made to stop, so these are plain statements.
    fn lost_case(&self, start: &Start, messages: &[String], assert: &Assert) -> Case {
        let step = |sql: &String| Some((Sql::new(sql).ok()?, SessionName::new(NAMES[0])?));
        let mut lines = vec![Line::Isolation(None, self.level().clone())];
        lines.extend(start.setup.iter().filter_map(|sql| Sql::new(sql).ok()).map(|sql| Line::Init(sql, Vec::new())));
        lines.push(Line::Assert(Assert { when: AssertWhen::End, ..assert.clone() }));
        let steps = messages.iter().filter_map(step);
        lines.extend(steps.map(|(sql, session)| Line::Step(session, Item::Sql(sql), Vec::new())));
        Case { entries: lines.into_iter().map(Into::into).collect(), ..Case::default() }
    }

    /// The assertions about states.
    fn state_assertions(&self) -> Vec<Assert> {
        let asserts = self.project().asserts.iter().map(|(_, assert)| assert);
        asserts.filter(|assert| !assert.when.is_of_calls()).cloned().collect()
    }

    /// The rows that speak against an assertion.
    fn broken(&mut self, assert: &Assert) -> Result<Option<String>, RunError> {
        let engine = self.engine();
        let outcome = engine.probe(&assert.sql)?;
        let dialect = engine.info().dialect;
        let rows = outcome.rows().map(|result| dialect.values(result)).unwrap_or_default();
        Ok((!rows.is_empty()).then(|| print_rows(&rows)))
    }
}
