//! Transactions, derived from a trace.
//!
//! Where a transaction begins and ends is not in the text of the statements: a deadlock ends one, DDL ends one on some
//! engines, a COMMIT may be answered by rolling back, and a statement after all that is a transaction of its own. What
//! counts is the status that the server reported after each step:
//!
//! ```text
//!   BEGIN       UPDATE      UPDATE              UPDATE      COMMIT
//!   ────────►   ────────►   ────────►           ────────►   ────────►
//!           Open        Open       Idle, error          Idle        Idle
//!   └──────── rolled back: deadlock ───────┘   └ own tx ┘  └ own tx ┘
//! ```
//!
//! Every step of a trace belongs to exactly one transaction.
//!
//! # Limits
//!
//! A message of several statements may hold whole transactions of its own; it counts as one step of one transaction.
//! Two-phase commits are prepared, not committed: their fate is unknown.

use std::collections::BTreeMap;

use crate::dialect::Dialect;
use crate::engine::SessionId;
use crate::outcome::{ErrorClass, Outcome, TxStatus};
use crate::sql::{self, StatementKind};
use crate::trace::{StepId, StepRun, Trace, TraceEvent};

/// One transaction of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    /// Whose transaction.
    pub session: SessionId,
    /// Its steps, in order, with those that began and ended it; never empty.
    pub steps: Vec<StepId>,
    /// How it began.
    pub start: Start,
    /// How it ended.
    pub fate: Fate,
}

impl Transaction {
    /// Whether its effects are there to stay.
    pub fn is_committed(&self) -> bool {
        self.fate == Fate::Committed
    }
}

/// How a transaction began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// By BEGIN or the like.
    Explicit,
    /// Without a word: autocommit is off, or the transaction before was chained to this one.
    Implicit,
    /// Outside a transaction, a statement is one of its own.
    Autocommit,
}

/// How a transaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Its effects are there to stay.
    Committed,
    /// Its effects are undone.
    RolledBack(Rollback),
    /// It was open when the session's steps were over, and has been rolled back then.
    Open,
    /// The connection or the server was lost: it may have committed, if COMMIT was under way.
    Lost,
    /// The status does not tell: prepared for a two-phase commit; or ended by DDL that failed, which on some engines
    /// has committed before and on others has not.
    Unknown,
}

/// Why a transaction was rolled back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rollback {
    /// It was asked to: ROLLBACK.
    Statement,
    /// By an error, at once (a deadlock) or as the only way out of a failed transaction.
    Error(ErrorClass),
    /// COMMIT was answered with ROLLBACK, although no error had been reported.
    CommitRefused,
}

/// The transactions of a run, in the order in which their last steps completed.
pub fn transactions(trace: &Trace) -> Vec<Transaction> {
    let mut walks: Vec<Walk> = (0..trace.sessions.len()).map(|id| Walk::new(SessionId(id))).collect();
    for (position, step) in trace.steps.iter().enumerate() {
        walks[step.session.0].step(StepId(position), step, trace.engine.dialect);
    }
    let mut transactions: Vec<Transaction> = walks.into_iter().flat_map(Walk::done).collect();
    let mut completed = BTreeMap::new();
    for (at, event) in trace.events.iter().enumerate() {
        if let TraceEvent::Completed(step) = event {
            completed.insert(*step, at);
        }
    }
    transactions.sort_by_key(|transaction| {
        let last = *transaction.steps.last().expect("a transaction has steps");
        (completed.get(&last).copied().unwrap_or(usize::MAX), last)
    });
    transactions
}

/// The way through the steps of one session.
struct Walk {
    session: SessionId,
    status: TxStatus,
    current: Option<(Start, Vec<StepId>)>,
    /// The error that made the current transaction fail.
    failure: Option<ErrorClass>,
    done: Vec<Transaction>,
}

impl Walk {
    fn new(session: SessionId) -> Walk {
        Walk { session, status: TxStatus::Idle, current: None, failure: None, done: Vec::new() }
    }

    fn step(&mut self, id: StepId, step: &StepRun, dialect: &dyn Dialect) {
        let before = self.status;
        let Some(outcome) = step.outcome.as_ref().filter(|outcome| outcome.status != TxStatus::Lost) else {
            self.status = TxStatus::Lost;
            self.join(id, if is_open(before) { Start::Implicit } else { Start::Autocommit });
            return self.finish(Fate::Lost);
        };
        self.status = outcome.status;
        let message = Message::new(&step.sql, outcome, dialect);
        match (is_open(before), is_open(outcome.status)) {
            (false, false) => {
                self.join(id, Start::Autocommit);
                self.finish(message.lone_fate());
            }
            (false, true) => {
                let explicit = message.done.contains(&StatementKind::Begin);
                self.join(id, if explicit { Start::Explicit } else { Start::Implicit });
            }
            (true, true) => self.within(id, &message),
            (true, false) => self.ending(id, before, &message),
        }
        if outcome.status == TxStatus::Failed {
            self.failure = self.failure.or(outcome.error_class());
        } else {
            self.failure = None;
        }
    }

    /// A transaction was open before the step and one is open after it: not necessarily the same.
    fn within(&mut self, id: StepId, message: &Message<'_>) {
        if let Some(end) = message.end() {
            // COMMIT AND CHAIN: the next step belongs to the next transaction.
            self.join(id, Start::Implicit);
            return self.finish(self.fate_of_end(end, message));
        }
        if message.done.first() == Some(&StatementKind::Begin) && !message.warns_of_open_transaction() {
            // Where BEGIN inside a transaction is neither an error nor a warning, it commits.
            self.finish(Fate::Committed);
            return self.join(id, Start::Explicit);
        }
        self.join(id, Start::Implicit);
    }

    /// A transaction was open before the step and none is after it.
    fn ending(&mut self, id: StepId, before: TxStatus, message: &Message<'_>) {
        let implicit = message.error.is_none() && message.end().is_none() && before == TxStatus::Open;
        if implicit && !message.prepares {
            // DDL: first it commits what is open, then it is a transaction of its own.
            self.finish(Fate::Committed);
            self.join(id, Start::Autocommit);
            return self.finish(Fate::Committed);
        }
        let fate = match (message.end(), message.error) {
            (Some(end), _) => self.fate_of_end(end, message),
            (None, Some(_)) if message.kinds.contains(&StatementKind::Ddl) => Fate::Unknown,
            (None, Some(error)) => Fate::RolledBack(Rollback::Error(self.failure.unwrap_or(error))),
            (None, None) if before == TxStatus::Failed => self.fate_of_end(StatementKind::Rollback, message),
            (None, None) => Fate::Unknown,
        };
        self.join(id, Start::Implicit);
        self.finish(fate);
    }

    /// What a completed COMMIT or ROLLBACK did to the transaction before it.
    fn fate_of_end(&self, end: StatementKind, message: &Message<'_>) -> Fate {
        let failed = self.failure.map(Rollback::Error);
        match end {
            StatementKind::Rollback => Fate::RolledBack(failed.unwrap_or(Rollback::Statement)),
            _ if failed.is_some() || message.answered_rollback => {
                Fate::RolledBack(failed.unwrap_or(Rollback::CommitRefused))
            }
            _ => Fate::Committed,
        }
    }

    /// Adds a step to the current transaction, or begins one.
    fn join(&mut self, id: StepId, start: Start) {
        self.current.get_or_insert((start, Vec::new())).1.push(id);
    }

    fn finish(&mut self, fate: Fate) {
        if let Some((start, steps)) = self.current.take() {
            self.done.push(Transaction { session: self.session, steps, start, fate });
        }
        self.failure = None;
    }

    fn done(mut self) -> Vec<Transaction> {
        self.finish(Fate::Open);
        self.done
    }
}

fn is_open(status: TxStatus) -> bool {
    matches!(status, TxStatus::Open | TxStatus::Failed)
}

/// What a step means for its transaction.
struct Message<'a> {
    /// What its statements are.
    kinds: Vec<StatementKind>,
    /// Those of them that the server completed.
    done: Vec<StatementKind>,
    error: Option<ErrorClass>,
    /// A `PREPARE TRANSACTION` or `XA PREPARE`.
    prepares: bool,
    /// The server said ROLLBACK to one of the statements.
    answered_rollback: bool,
    outcome: &'a Outcome,
}

impl Message<'_> {
    fn new<'a>(text: &str, outcome: &'a Outcome, dialect: &dyn Dialect) -> Message<'a> {
        let kinds = kinds(text, dialect);
        let completed = if outcome.error.is_none() { kinds.len() } else { outcome.results.len().min(kinds.len()) };
        let words: Vec<String> = sql::tokens(text).iter().take(2).map(|token| token.text.to_uppercase()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Message {
            done: kinds[..completed].to_vec(),
            kinds,
            error: outcome.error_class(),
            prepares: matches!(words[..], ["PREPARE", "TRANSACTION"] | ["XA", "PREPARE"]),
            answered_rollback: outcome.results.iter().any(|result| result.tag.as_deref() == Some("ROLLBACK")),
            outcome,
        }
    }

    /// The last completed statement that ends transactions.
    fn end(&self) -> Option<StatementKind> {
        let ends = |kind: &&StatementKind| matches!(kind, StatementKind::Commit | StatementKind::Rollback);
        self.done.iter().rev().find(ends).copied()
    }

    /// The fate of a step before and after which no transaction is open.
    fn lone_fate(&self) -> Fate {
        match (self.error, self.end()) {
            // Of several statements in one message, some may have been committed before one failed.
            (Some(_), Some(_)) => Fate::Unknown,
            (Some(error), None) => Fate::RolledBack(Rollback::Error(error)),
            (None, Some(StatementKind::Rollback)) => Fate::RolledBack(Rollback::Statement),
            (None, Some(_)) if self.answered_rollback => Fate::RolledBack(Rollback::CommitRefused),
            (None, _) => Fate::Committed,
        }
    }

    /// SQLSTATE 25001, *active SQL transaction*: PostgreSQL says so of a BEGIN that has no effect.
    fn warns_of_open_transaction(&self) -> bool {
        self.outcome.notices.iter().any(|notice| notice.code == "25001")
    }
}

/// The kinds of a message's statements. A body of procedures is not looked into.
fn kinds(text: &str, dialect: &dyn Dialect) -> Vec<StatementKind> {
    let first = dialect.kind(text);
    if first == StatementKind::Ddl {
        return vec![first];
    }
    let mut kinds = Vec::new();
    let mut start = 0;
    let tokens = sql::tokens(text);
    let ends = tokens.iter().filter(|token| token.is_symbol(";")).map(|token| token.span.start);
    for end in ends.chain([text.len()]) {
        let statement = &text[start..end];
        if !sql::tokens(statement).is_empty() {
            kinds.push(dialect.kind(statement));
        }
        start = (end + 1).min(text.len());
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::sample::sample;

    /// The transactions of a trace, one per line: `a 1 2 3 explicit committed`, steps counted within the session.
    #[track_caller]
    fn check(trace: &str, expect: &[&str]) {
        let trace = sample(trace);
        let describe = |transaction: Transaction| {
            let steps: Vec<String> =
                transaction.steps.iter().map(|id| (trace.step(*id).index + 1).to_string()).collect();
            let start = format!("{:?}", transaction.start).to_lowercase();
            let fate = match transaction.fate {
                Fate::RolledBack(Rollback::Error(class)) => format!("rolled back: {class}"),
                Fate::RolledBack(why) => format!("rolled back: {why:?}"),
                fate => format!("{fate:?}").to_lowercase(),
            };
            format!("{} {} {start} {fate}", trace.name(transaction.session), steps.join(" "))
        };
        let found: Vec<String> = transactions(&trace).into_iter().map(describe).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn a_session_may_hold_several() {
        check(
            "a BEGIN > open; a UPDATE t > open; a COMMIT > idle; a SELECT 1 > idle; a START TRANSACTION > open; \
             a ROLLBACK > idle",
            &["a 1 2 3 explicit committed", "a 4 autocommit committed", "a 5 6 explicit rolled back: Statement"],
        );
    }

    #[test]
    fn they_are_ordered_by_their_last_completion() {
        check(
            "a BEGIN > open; b BEGIN > open; b COMMIT > idle; c DELETE t > waits idle; a COMMIT > idle; c > completes",
            &["b 1 2 explicit committed", "a 1 2 explicit committed", "c 1 autocommit committed"],
        );
    }

    #[test]
    fn a_commit_answered_with_rollback_is_none() {
        check(
            "a BEGIN > open; a UPDATE t > error unique failed; a SELECT 1 > error transaction-aborted failed; \
             a COMMIT > tag ROLLBACK idle",
            &["a 1 2 3 4 explicit rolled back: unique"],
        );
        check(
            "a BEGIN > open; a UPDATE t > failed; a COMMIT > tag ROLLBACK idle",
            &["a 1 2 3 explicit rolled back: CommitRefused"],
        );
        check(
            "a BEGIN > open; a SELEC > error syntax failed; a ROLLBACK > idle",
            &["a 1 2 3 explicit rolled back: syntax"],
        );
    }

    #[test]
    fn a_savepoint_saves_a_failed_transaction() {
        check(
            "a BEGIN > open; a SAVEPOINT s > open; a INSERT t > error unique failed; a ROLLBACK TO s > open; \
             a COMMIT > tag COMMIT idle",
            &["a 1 2 3 4 5 explicit committed"],
        );
    }

    #[test]
    fn after_a_deadlock_statements_stand_alone() {
        check(
            "a BEGIN > open; a UPDATE t > error deadlock idle; a UPDATE u > idle; a COMMIT > idle",
            &["a 1 2 explicit rolled back: deadlock", "a 3 autocommit committed", "a 4 autocommit committed"],
        );
    }

    #[test]
    fn an_error_may_leave_the_transaction_open() {
        check(
            "a BEGIN > open; a INSERT t > error unique open; a UPDATE t > error lock-timeout open; a COMMIT > idle",
            &["a 1 2 3 4 explicit committed"],
        );
        check("a INSERT t > error unique idle", &["a 1 autocommit rolled back: unique"]);
    }

    #[test]
    fn a_commit_may_fail() {
        check(
            "a BEGIN > open; a UPDATE t > open; a COMMIT > error serialization-failure idle",
            &["a 1 2 3 explicit rolled back: serialization-failure"],
        );
        check(
            "a BEGIN > open; a COMMIT > error foreign-key open; a ROLLBACK > idle",
            &["a 1 2 3 explicit rolled back: Statement"],
        );
    }

    #[test]
    fn ddl_may_commit_what_is_open() {
        check(
            "a BEGIN > open; a UPDATE t > open; a CREATE TABLE u (x INT) > idle; a COMMIT > idle",
            &["a 1 2 explicit committed", "a 3 autocommit committed", "a 4 autocommit committed"],
        );
        check(
            "a BEGIN > open; a CREATE TABLE u (x INT) > open; a ROLLBACK > idle",
            &["a 1 2 3 explicit rolled back: Statement"],
        );
        check("a BEGIN > open; a CREATE TABLE u (x INT) > error other idle", &["a 1 2 explicit unknown"]);
    }

    #[test]
    fn begin_inside_a_transaction_differs_by_engine() {
        check("a BEGIN > open; a BEGIN > notice 25001 open; a COMMIT > idle", &["a 1 2 3 explicit committed"]);
        check(
            "a BEGIN > open; a UPDATE t > open; a BEGIN > open; a ROLLBACK > idle",
            &["a 1 2 explicit committed", "a 3 4 explicit rolled back: Statement"],
        );
        check("a BEGIN > open; a BEGIN > error other open; a COMMIT > idle", &["a 1 2 3 explicit committed"]);
    }

    #[test]
    fn chained_and_implicit_transactions_begin_without_a_word() {
        check(
            "a BEGIN > open; a COMMIT AND CHAIN > open; a UPDATE t > open; a ROLLBACK AND CHAIN > open; \
             a COMMIT > idle",
            &["a 1 2 explicit committed", "a 3 4 implicit rolled back: Statement", "a 5 implicit committed"],
        );
        check("a UPDATE t > open; a COMMIT > idle", &["a 1 2 implicit committed"]);
    }

    #[test]
    fn what_is_not_ended_is_open_or_lost() {
        check("a BEGIN > open; a UPDATE t > open", &["a 1 2 explicit open"]);
        check("a BEGIN > open; a UPDATE t > error unique failed", &["a 1 2 explicit open"]);
        check(
            "a BEGIN > open; a COMMIT > error connection-lost lost; a SELECT 1 > error connection-lost lost",
            &["a 1 2 explicit lost", "a 3 autocommit lost"],
        );
        check(
            "a BEGIN > open; b SELECT 1 > idle; a UPDATE t > died",
            &["b 1 autocommit committed", "a 1 2 explicit lost"],
        );
    }

    #[test]
    fn a_cancelled_statement_is_an_error_like_any_other() {
        check(
            "a BEGIN > open; a UPDATE t > error cancelled failed; a COMMIT > tag ROLLBACK idle",
            &["a 1 2 3 explicit rolled back: cancelled"],
        );
        check("a BEGIN > open; a UPDATE t > error cancelled open; a COMMIT > idle", &["a 1 2 3 explicit committed"]);
    }

    #[test]
    fn no_transaction_is_open_around_a_lone_statement() {
        check(
            "a COMMIT > tag COMMIT idle; a ROLLBACK > idle",
            &["a 1 autocommit committed", "a 2 autocommit rolled back: Statement"],
        );
        check("a BEGIN, UPDATE t, COMMIT > idle", &["a 1 autocommit committed"]);
        check("a BEGIN, UPDATE t > open; a COMMIT, SELECT 1 > idle", &["a 1 2 explicit committed"]);
        check("a UPDATE t, COMMIT, SELECT 1/0 > tag COMMIT tag COMMIT error other idle", &["a 1 autocommit unknown"]);
        check("a CREATE PROCEDURE p BEGIN ROLLBACK, END > idle", &["a 1 autocommit committed"]);
    }

    #[test]
    fn a_prepared_transaction_is_neither() {
        check("a BEGIN > open; a PREPARE TRANSACTION 'x' > idle", &["a 1 2 explicit unknown"]);
    }
}
