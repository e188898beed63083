//! How calls end, and why they may not even begin.

use crate::outcome::DbError;
use crate::program::evaluate::EvaluationError;
use crate::program::interpret::ITERATIONS_MAX;

/// Why a call does not fit the program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// A call in a case without a program.
    #[error("the case calls {0}, but names no program; add a line `-- @program FILE`")]
    NoProgram(String),
    /// A call of a procedure that the program lacks.
    #[error("the program has no procedure {name}{hint}")]
    UnknownProcedure {
        /// The name in the call.
        name: String,
        /// The nearest name that there is, as the end of the sentence.
        hint: String,
    },
    /// A parameter without an argument.
    #[error("the call {call} gives no value for {parameter}; write {parameter}=VALUE")]
    MissingArgument {
        /// The call.
        call: String,
        /// The parameter.
        parameter: String,
    },
    /// An argument without a parameter.
    #[error("the call {call} names {argument}, but the procedure has no such parameter{hint}")]
    UnknownArgument {
        /// The call.
        call: String,
        /// The argument's name.
        argument: String,
        /// The nearest name that there is, as the end of the sentence.
        hint: String,
    },
    /// Two arguments for one parameter.
    #[error("the call {call} gives two values for {argument}; leave one out")]
    DuplicateArgument {
        /// The call.
        call: String,
        /// The argument's name.
        argument: String,
    },
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallEnd {
    /// It came to its end, or to a RETURN; what it had open has been committed.
    Returned,
    /// It gave up; what it had open has been rolled back.
    Failed(CallFailure),
}

/// Why a call gave up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallFailure {
    /// The database reported an error.
    #[error("{0}")]
    Database(DbError),
    /// The server answered COMMIT by rolling back.
    #[error("the server answered COMMIT with ROLLBACK")]
    CommitRefused,
    /// An expression has no value.
    #[error("line {line}: {error}")]
    Evaluation {
        /// The line of the program.
        line: usize,
        /// What is wrong.
        error: EvaluationError,
    },
    /// INTO names more or fewer variables than the answer has columns.
    #[error("line {line}: INTO names {variables} variables, but the answer has {columns} columns")]
    IntoColumns {
        /// The line of the program.
        line: usize,
        /// How many variables INTO names.
        variables: usize,
        /// How many columns came.
        columns: usize,
    },
    /// INTO was answered with more than one row, or with none where one is needed.
    #[error("line {line}: INTO takes one row, but {rows} came")]
    IntoRows {
        /// The line of the program.
        line: usize,
        /// How many rows came.
        rows: usize,
    },
    /// FETCH from a cursor that is not open.
    #[error("line {line}: the cursor {cursor} is not open")]
    NotOpen {
        /// The line of the program.
        line: usize,
        /// The cursor.
        cursor: String,
    },
    /// The program said so.
    #[error("line {line}: {message}")]
    Raised {
        /// The line of the program.
        line: usize,
        /// What it said.
        message: String,
    },
    /// Loops went round too often.
    #[error("line {line}: the loops of the call went round more than {ITERATIONS_MAX} times")]
    EndlessLoop {
        /// The line of the program.
        line: usize,
    },
}
