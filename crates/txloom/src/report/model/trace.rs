//! One execution of a case, as a report tells it.

use serde::{Deserialize, Serialize};

use super::cell::Cell;

/// One execution of a case on one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceReport {
    /// The sessions, in the order of their first step.
    pub sessions: Vec<SessionReport>,
    /// The order in which steps were really submitted; running it again as a schedule gives the same trace.
    pub schedule: String,
    /// Every step that was submitted; step *n* stands at position *n* - 1.
    pub steps: Vec<StepReport>,
    /// What happened, in order.
    pub events: Vec<EventReport>,
    /// The evaluations of assertions, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckReport>,
    /// The committed contents of all tables after the last step; absent if the server died.
    pub final_state: Option<Vec<TableReport>>,
    /// How the server died, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub death: Option<DeathReport>,
}

impl TraceReport {
    /// The step with that number (from 1).
    pub fn step(&self, number: usize) -> Option<&StepReport> {
        number.checked_sub(1).and_then(|at| self.steps.get(at))
    }
}

/// A session during a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionReport {
    /// Its name.
    pub name: String,
    /// The isolation level that it ran at, by the engine's name.
    pub level: String,
    /// Its last transaction was still open when its steps were over, and has been rolled back.
    #[serde(default, skip_serializing_if = "is_false")]
    pub left_open: bool,
}

/// A step that was submitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// Its position in the order of submission, from 1. Events refer to it.
    pub step: usize,
    /// Its name, as texts write it: `b2` is the second step of b.
    #[serde(default)]
    pub name: String,
    /// The name of its session.
    pub session: String,
    /// What was sent.
    pub sql: String,
    /// The call that this is the first step of, e.g. `withdraw(account=1, amount=50)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// It was seen waiting.
    pub waited: bool,
    /// For whom it waited, at any time; may be empty for a step that waited, if the engine cannot tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<String>,
    /// The sessions that went on because of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed: Vec<String>,
    /// Why we cancelled it, if we did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled: Option<CancelCause>,
    /// What came back; absent if the server died first.
    pub outcome: Option<OutcomeReport>,
    /// What a reader should not overlook in the outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<Remark>,
}

/// Why a statement was cancelled by us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CancelCause {
    /// Nobody was left who could have released what it waited for.
    StillBlocked,
    /// It ran longer than the time limit allows.
    TimeLimit,
}

/// What a reader should not overlook: the transaction took another turn than the text of the step suggests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remark {
    /// The step asked for a commit, and the server rolled back without calling it an error.
    CommitRolledBack,
    /// The error ended the transaction that was open: the session's next statement stands alone.
    TransactionRolledBack,
    /// The step ended the transaction that was open, though it neither commits nor rolls back (an implicit commit).
    TransactionEnded,
}

/// What the database said to a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutcomeReport {
    /// One entry per statement that was completed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ResultReport>,
    /// Notices and warnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<NoticeReport>,
    /// The error that ended the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorReport>,
    /// The transaction status after the step.
    pub status: Status,
}

/// What one statement gave.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ResultReport {
    /// The columns; empty for a statement that returns no rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<ColumnReport>,
    /// The rows, in the order in which they came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Vec<Cell>>,
    /// How many rows it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affected: Option<u64>,
    /// The server's completion tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnReport {
    /// Its name.
    pub name: String,
    /// The engine's name for its type; empty where the engine does not say.
    #[serde(rename = "type", default, skip_serializing_if = "String::is_empty")]
    pub type_name: String,
}

/// A notice or warning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeReport {
    /// The server's word for it.
    pub severity: String,
    /// SQLSTATE or the engine's own code.
    pub code: String,
    /// The text.
    pub message: String,
}

/// An error that the database reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorReport {
    /// What kind of error it is, across engines: the word of `-- > error CLASS`.
    pub class: String,
    /// SQLSTATE, or the name of the native code.
    pub code: String,
    /// The engine's numeric code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<i64>,
    /// The text.
    pub message: String,
    /// Further detail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// The transaction status of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// No transaction is open.
    Idle,
    /// A transaction is open.
    Open,
    /// A transaction is open but failed.
    Failed,
    /// The connection is gone.
    Lost,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum EventReport {
    /// The step was sent.
    Submitted {
        /// The step.
        step: usize,
    },
    /// The step was seen waiting; told again when the holders change.
    Waiting {
        /// The step.
        step: usize,
        /// Whom it waits for; empty if the engine cannot tell.
        holders: Vec<String>,
        /// Where this is known from.
        source: String,
    },
    /// A step that had been waiting goes on.
    Resumed {
        /// The step.
        step: usize,
    },
    /// The step's outcome arrived.
    Completed {
        /// The step.
        step: usize,
    },
    /// We cancelled the step.
    Cancelled {
        /// The step.
        step: usize,
        /// Why.
        cause: CancelCause,
    },
    /// A positioned event of the case was carried out.
    Happened {
        /// As the case writes it, without the `@`.
        what: String,
    },
    /// A constraint on the order could not be kept.
    Infeasible {
        /// The constraint, e.g. `a1 before b2`.
        constraint: String,
    },
}

/// One evaluation of an assertion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckReport {
    /// The assertion's name.
    pub name: String,
    /// At which of its moments: `start`, `each`, `end`.
    pub when: String,
    /// After which step; absent before the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<usize>,
    /// Whether it held.
    pub holds: bool,
    /// What its query returned: the evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Vec<Cell>>,
    /// The error that its query ended with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorReport>,
}

/// The contents of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableReport {
    /// The table's name.
    pub table: String,
    /// Its columns.
    pub columns: Vec<ColumnReport>,
    /// Its rows, sorted by value: a table has no order of its own.
    pub rows: Vec<Vec<Cell>>,
}

/// How a server died.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeathReport {
    /// `signal 11`, `exit code 1`.
    pub how: String,
    /// The last lines of its log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_false(value: &bool) -> bool {
    !*value
}
