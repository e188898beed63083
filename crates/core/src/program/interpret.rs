//! A call of a procedure as a source of messages to the server.
//!
//! An [`Instance`] behaves like an application with autocommit switched off: it opens a transaction before the first
//! statement that needs one, commits where the program says so and at the end, and rolls back when something fails.
//! Whether a transaction is open it learns from the status that the server reports, never from what it sent.
//!
//! ```text
//!   next(None)                   → BEGIN
//!   next(Open)                   → SELECT balance FROM accounts WHERE id = 1
//!   next(Open, rows (100))       → UPDATE accounts SET balance = 100 - 80 WHERE id = 1
//!   next(Idle, error deadlock)   → nothing: the server has rolled back, the call has failed
//!   next(Failed, error …)        → ROLLBACK, and then nothing
//! ```
//!
//! Decisions that SQL's procedural languages differ in, all taken so that the same answers lead to the same messages:
//!
//! * `SELECT … INTO` without a row sets its variables to NULL (as PL/pgSQL; MySQL leaves them as they were).
//! * More than one row is an error of the call (as MySQL and embedded SQL; PL/pgSQL takes the first, whichever it is).
//! * COMMIT and ROLLBACK send nothing when no transaction is open.
//! * A COMMIT that the server answers with the tag `ROLLBACK` is a failure.
//! * A call does not know what the session did before it: it begins as if no transaction were open.

use crate::case::Call;
use crate::dialect::Dialect;
use crate::outcome::{DbError, Outcome, TxStatus};
use crate::program::code::{self, Operation, OperationKind};
use crate::program::evaluate::{self, EvaluationError, Variables};
use crate::program::{Procedure, Program, SqlPart, SqlStatement};
use crate::sql;
use crate::suggest;
use crate::value::Value;

/// How often the loops of one call may go round, all together: an endless loop must end.
pub const ITERATIONS_MAX: usize = 10_000;

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
    /// INTO was answered with more than one row.
    #[error("line {line}: INTO takes one row, but {rows} came")]
    IntoRows {
        /// The line of the program.
        line: usize,
        /// How many rows came.
        rows: usize,
    },
    /// Loops went round too often.
    #[error("line {line}: the loops of the call went round more than {ITERATIONS_MAX} times")]
    EndlessLoop {
        /// The line of the program.
        line: usize,
    },
}

/// What was sent last, and so what the next outcome is an answer to.
#[derive(Debug, Clone, PartialEq)]
enum Sent {
    /// BEGIN; the statement that needed it is next.
    Begin,
    /// A statement, and the variables that its answer is assigned to.
    Statement { into: Vec<String>, line: usize },
    /// COMMIT or ROLLBACK, by the program or at its end.
    End { commit: bool },
}

/// A running call.
#[derive(Debug)]
pub struct Instance {
    dialect: &'static dyn Dialect,
    code: Vec<Operation>,
    position: usize,
    iterations: usize,
    variables: Variables,
    outputs: Vec<Value>,
    status: TxStatus,
    sent: Option<Sent>,
    /// BEGIN has been sent for the statement at `position`: it is not sent twice, whatever the status says.
    begun: bool,
    end: Option<CallEnd>,
    /// The last COMMIT or ROLLBACK has been sent.
    closed: bool,
}

impl Instance {
    /// Starts a call; the error says why it does not fit the program.
    pub fn new(program: &Program, call: &Call, dialect: &'static dyn Dialect) -> Result<Instance, ProgramError> {
        let procedure = program.procedure(&call.procedure).ok_or_else(|| ProgramError::UnknownProcedure {
            name: call.procedure.clone(),
            hint: suggest::hint(&call.procedure, program.procedures.iter().map(|p| p.name.as_str())),
        })?;
        Ok(Instance {
            dialect,
            code: code::operations(procedure),
            position: 0,
            iterations: 0,
            variables: arguments(procedure, call)?,
            outputs: Vec::new(),
            status: TxStatus::Idle,
            sent: None,
            begun: false,
            end: None,
            closed: false,
        })
    }

    /// The next message, given the outcome of the one before (`None` at the start). `None` ends the call.
    pub fn next(&mut self, last: Option<&Outcome>) -> Option<String> {
        if let (Some(sent), Some(outcome)) = (self.sent.take(), last) {
            self.receive(&sent, outcome);
        }
        while self.end.is_none() {
            match self.advance() {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(failure) => self.end = Some(CallEnd::Failed(failure)),
            }
        }
        self.close()
    }

    /// How the call ended; `None` as long as it has not.
    pub fn result(&self) -> Option<&CallEnd> {
        self.end.as_ref().filter(|_| self.sent.is_none())
    }

    /// What RETURN gave.
    pub fn outputs(&self) -> &[Value] {
        &self.outputs
    }

    /// Carries out one operation; gives the message that is due, if one is.
    fn advance(&mut self) -> Result<Option<String>, CallFailure> {
        let Some(Operation { kind, span }) = self.code.get(self.position).cloned() else {
            self.end = Some(CallEnd::Returned);
            return Ok(None);
        };
        let line = span.line;
        let evaluation = |error| CallFailure::Evaluation { line, error };
        match kind {
            OperationKind::Send(sql) => return Ok(Some(self.send(&sql, line))),
            OperationKind::Assign(name, value) => {
                let value = evaluate::evaluate(&value, &self.variables).map_err(evaluation)?;
                self.variables.insert(name, value);
            }
            OperationKind::Unless(condition, to) => {
                if evaluate::is_true(&condition, &self.variables).map_err(evaluation)? != Some(true) {
                    self.position = to;
                    return Ok(None);
                }
            }
            OperationKind::Jump(to) => {
                self.jump(to, line)?;
                return Ok(None);
            }
            OperationKind::Return(outputs) => {
                let outputs = outputs.iter().map(|output| evaluate::evaluate(output, &self.variables));
                self.outputs = outputs.collect::<Result<_, _>>().map_err(evaluation)?;
                self.end = Some(CallEnd::Returned);
            }
            OperationKind::Commit => {
                self.position += 1;
                return Ok(self.end_transaction(true));
            }
            OperationKind::Rollback => {
                self.position += 1;
                return Ok(self.end_transaction(false));
            }
        }
        self.position += 1;
        Ok(None)
    }

    fn jump(&mut self, to: usize, line: usize) -> Result<(), CallFailure> {
        self.iterations += usize::from(to <= self.position);
        if self.iterations > ITERATIONS_MAX {
            return Err(CallFailure::EndlessLoop { line });
        }
        self.position = to;
        Ok(())
    }

    /// A statement, or the BEGIN that it needs first.
    fn send(&mut self, statement: &SqlStatement, line: usize) -> String {
        let text = self.render(statement);
        let begins = self.dialect.kind(&text) == sql::StatementKind::Begin;
        if !self.is_open() && !self.begun && !begins {
            self.begun = true;
            self.sent = Some(Sent::Begin);
            return self.dialect.begin().to_string();
        }
        self.begun = false;
        self.position += 1;
        let into = statement.defines().iter().map(|variable| variable.name.clone()).collect();
        self.sent = Some(Sent::Statement { into, line });
        text
    }

    /// The text with the values of its variables.
    fn render(&self, statement: &SqlStatement) -> String {
        let mut text = String::new();
        for (position, part) in statement.parts.iter().enumerate() {
            match part {
                SqlPart::Text(piece) => text.push_str(piece),
                SqlPart::Into(_) => {}
                SqlPart::Use(variable) => {
                    let value = self.variables.get(&variable.name).unwrap_or(&Value::Null);
                    let literal = self.dialect.literal(value);
                    let next = statement.parts.get(position + 1);
                    // `:a-:b` must not become a comment, nor `:a::int2` a cast that binds before the sign.
                    let before = text.trim_end().ends_with(['+', '-', '*', '/', '%', '^']);
                    let cast = matches!(next, Some(SqlPart::Text(piece)) if piece.starts_with("::"));
                    let negative = literal.starts_with('-') && (before || cast);
                    text.push_str(&if negative { format!("({literal})") } else { literal });
                }
            }
        }
        text
    }

    fn end_transaction(&mut self, commit: bool) -> Option<String> {
        if !self.is_open() {
            return None;
        }
        self.sent = Some(Sent::End { commit });
        Some(if commit { "COMMIT" } else { "ROLLBACK" }.to_string())
    }

    /// After the end: COMMIT or ROLLBACK what is still open, once.
    fn close(&mut self) -> Option<String> {
        if self.closed {
            return None;
        }
        self.closed = true;
        self.end_transaction(self.end == Some(CallEnd::Returned))
    }

    fn is_open(&self) -> bool {
        matches!(self.status, TxStatus::Open | TxStatus::Failed)
    }

    /// Takes note of the answer to what was sent.
    fn receive(&mut self, sent: &Sent, outcome: &Outcome) {
        self.status = outcome.status;
        let failure = match (sent, &outcome.error) {
            (_, Some(error)) => Some(CallFailure::Database(error.clone())),
            (Sent::End { commit: true }, None) if outcome.tag() == Some("ROLLBACK") => Some(CallFailure::CommitRefused),
            (Sent::Statement { into, line }, None) => self.assign(into, *line, outcome).err(),
            _ => None,
        };
        let Some(failure) = failure else { return };
        match self.end {
            // The ROLLBACK of a call that has failed already: why it failed is what matters.
            Some(CallEnd::Failed(_)) => {}
            _ => {
                self.end = Some(CallEnd::Failed(failure));
                self.closed = false;
            }
        }
    }

    /// Assigns the one row of an answer to the variables of INTO.
    fn assign(&mut self, into: &[String], line: usize, outcome: &Outcome) -> Result<(), CallFailure> {
        if into.is_empty() {
            return Ok(());
        }
        let columns = outcome.rows().map_or(0, |result| result.columns.len());
        if columns != into.len() {
            return Err(CallFailure::IntoColumns { line, variables: into.len(), columns });
        }
        let rows = outcome.rows().map(|result| self.dialect.values(result)).unwrap_or_default();
        if rows.len() > 1 {
            return Err(CallFailure::IntoRows { line, rows: rows.len() });
        }
        let row = rows.into_iter().next().unwrap_or_else(|| vec![Value::Null; into.len()]);
        self.variables.extend(into.iter().cloned().zip(row));
        Ok(())
    }
}

/// The arguments of a call as the first values of the procedure's variables.
fn arguments(procedure: &Procedure, call: &Call) -> Result<Variables, ProgramError> {
    let mut variables = Variables::new();
    for (argument, value) in &call.arguments {
        let (call, argument) = (call.to_string(), argument.clone());
        let parameter = procedure.parameters.iter().find(|p| p.name.eq_ignore_ascii_case(&argument));
        let Some(parameter) = parameter else {
            let hint = suggest::hint(&argument, procedure.parameters.iter().map(|p| p.name.as_str()));
            return Err(ProgramError::UnknownArgument { call, argument, hint });
        };
        if variables.insert(parameter.name.clone(), value.clone()).is_some() {
            return Err(ProgramError::DuplicateArgument { call, argument });
        }
    }
    match procedure.parameters.iter().find(|parameter| !variables.contains_key(&parameter.name)) {
        Some(parameter) => {
            Err(ProgramError::MissingArgument { call: call.to_string(), parameter: parameter.name.clone() })
        }
        None => Ok(variables),
    }
}
