//! What a database said to one step, kept as it came over the wire.
//!
//! Nothing here is interpreted: cells are bytes, types are the engine's own names. A dialect turns cells into
//! [`Value`](crate::value::Value)s when outcomes are compared or printed
//! ([`Dialect::normalize`](crate::dialect::Dialect::normalize)). Errors are data, too: a deadlock is an answer.

use std::fmt;

/// The answer to one step (one message to the server, possibly of several statements).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// One entry per statement that the server completed, in order.
    pub results: Vec<StatementResult>,
    /// Notices and warnings, in order of arrival.
    pub notices: Vec<Notice>,
    /// The error that ended the step, if one did.
    pub error: Option<DbError>,
    /// The transaction status after the step, as the server tells it.
    pub status: TxStatus,
}

impl Outcome {
    /// An outcome without results, notices or error.
    pub fn empty(status: TxStatus) -> Outcome {
        Outcome { results: Vec::new(), notices: Vec::new(), error: None, status }
    }

    /// An outcome that is just an error.
    pub fn failed(error: DbError, status: TxStatus) -> Outcome {
        Outcome { error: Some(error), ..Outcome::empty(status) }
    }

    /// The class of the error, if the step failed.
    pub fn error_class(&self) -> Option<ErrorClass> {
        self.error.as_ref().map(|error| error.class)
    }

    /// The last result of a query: what a person calls "the rows".
    pub fn rows(&self) -> Option<&StatementResult> {
        self.results.iter().rev().find(|result| result.is_query())
    }

    /// The number of rows changed by the last statement that changed any.
    pub fn affected(&self) -> Option<u64> {
        self.results.iter().rev().find_map(|result| result.affected)
    }

    /// The last command tag, on engines that send one.
    pub fn tag(&self) -> Option<&str> {
        self.results.iter().rev().find_map(|result| result.tag.as_deref())
    }
}

/// What one statement of a step gave: rows, a count, or only a tag.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StatementResult {
    /// The columns of the result; empty for a statement that returns none.
    pub columns: Vec<Column>,
    /// The rows, in the order in which they came.
    pub rows: Vec<Row>,
    /// How many rows the statement changed. Never set for a query.
    pub affected: Option<u64>,
    /// The server's completion tag (`COMMIT`, `ROLLBACK`, `UPDATE 3`), where the protocol has one.
    pub tag: Option<String>,
}

impl StatementResult {
    /// Whether the statement returned rows, be it none. (PostgreSQL's `SELECT` without a list returns rows without
    /// columns.)
    pub fn is_query(&self) -> bool {
        !self.columns.is_empty() || !self.rows.is_empty()
    }
}

/// One row as it came: `None` is NULL.
pub type Row = Vec<Option<Vec<u8>>>;

/// A result column with the engine's own name for its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The name that the server gave to the column.
    pub name: String,
    /// The engine's type name (`int4`, `TEXT`); an empty string where the engine does not say.
    pub type_name: String,
}

/// A notice or warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The server's word for it: `NOTICE`, `WARNING`, `Note`.
    pub severity: String,
    /// SQLSTATE or the engine's own code.
    pub code: String,
    /// The text.
    pub message: String,
}

/// An error that the database reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DbError {
    /// What kind of error it is, across engines.
    pub class: ErrorClass,
    /// SQLSTATE; on engines without it, the name of the native code.
    pub code: String,
    /// The engine's numeric code, where it has one.
    pub native: Option<i64>,
    /// The text.
    pub message: String,
    /// Further detail, where the engine sends it.
    pub detail: Option<String>,
}

impl fmt::Display for DbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.class, self.code, self.message)
    }
}

/// The transaction status of a session after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TxStatus {
    /// No transaction is open: the next statement is a transaction of its own.
    Idle,
    /// A transaction is open.
    Open,
    /// A transaction is open but failed: the server refuses everything until it ends.
    Failed,
    /// The connection is gone.
    Lost,
}

macro_rules! error_classes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// What an error means, across engines. The names are those of case files (`-- > error unique`).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ErrorClass { $($(#[$doc])* $variant,)* }

        impl ErrorClass {
            /// Every class, in the order of the reference documentation.
            pub const ALL: &'static [ErrorClass] = &[$(ErrorClass::$variant,)*];

            /// The name that case files and reports use.
            pub fn name(self) -> &'static str {
                match self { $(ErrorClass::$variant => $name,)* }
            }
        }
    };
}

impl ErrorClass {
    /// True if a constraint refused the statement.
    pub fn is_constraint(self) -> bool {
        matches!(self, ErrorClass::Unique | ErrorClass::ForeignKey | ErrorClass::Check | ErrorClass::NotNull)
    }
}

error_classes! {
    /// The transaction was chosen to break a cycle of waits.
    Deadlock = "deadlock",
    /// The isolation level could not be kept; a retry may succeed.
    SerializationFailure = "serialization-failure",
    /// A lock was not granted in time, or not at once (`NOWAIT`).
    LockTimeout = "lock-timeout",
    /// A primary key or unique constraint.
    Unique = "unique",
    /// A foreign key constraint.
    ForeignKey = "foreign-key",
    /// A CHECK constraint, or an exclusion constraint.
    Check = "check",
    /// A NOT NULL constraint.
    NotNull = "not-null",
    /// A value does not fit its type.
    OutOfRange = "out-of-range",
    /// A value cannot be converted to the type that is needed.
    Conversion = "conversion",
    /// Division by zero.
    DivisionByZero = "division-by-zero",
    /// The statement does not parse.
    Syntax = "syntax",
    /// A table, column, function or other object does not exist.
    UnknownObject = "unknown-object",
    /// The transaction has failed before: the statement was not executed.
    TransactionAborted = "transaction-aborted",
    /// The statement was cancelled, by us or by a time limit.
    Cancelled = "cancelled",
    /// There is no room on the server's disk.
    DiskFull = "disk-full",
    /// The connection or the server is gone.
    ConnectionLost = "connection-lost",
    /// Anything else.
    Other = "other",
}

impl ErrorClass {
    /// Reads a class name; spaces and hyphens are the same.
    pub fn parse(text: &str) -> Option<ErrorClass> {
        let wanted = text.trim().replace([' ', '_'], "-").to_ascii_lowercase();
        ErrorClass::ALL.iter().copied().find(|class| class.name() == wanted)
    }

    /// True for the errors of a statement that the engine does not understand: most often a typo. What the case is about
    /// was then not tried.
    pub fn is_misunderstanding(self) -> bool {
        matches!(self, ErrorClass::Syntax | ErrorClass::UnknownObject)
    }

    /// True for the errors with which an engine defends its isolation level.
    pub fn is_concurrency(self) -> bool {
        matches!(self, ErrorClass::Deadlock | ErrorClass::SerializationFailure | ErrorClass::LockTimeout)
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
