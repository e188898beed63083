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
//! * What `SELECT … INTO` does with no row, or with several, the statement says ([`IntoRule`]).
//! * A cursor holds the rows that its query had when it was opened. It survives a COMMIT.
//! * COMMIT and ROLLBACK send nothing when no transaction is open.
//! * A COMMIT that the server answers with the tag `ROLLBACK` is a failure.
//! * A call does not know what the session did before it: it begins as if no transaction were open.

use crate::case::Call;
use crate::dialect::{Dialect, LevelPlace};
use crate::level::LevelName;
use crate::outcome::{Outcome, TxStatus};
use crate::program::code::{self, Operation, OperationKind};
use crate::program::evaluate::{self, Variables};
pub use crate::program::failure::{CallEnd, CallFailure, ProgramError};
use crate::program::{IntoRule, Mode, Procedure, Program, SqlPart, SqlStatement, Variable};
use crate::script::EndedCall;
use crate::sql;
use crate::suggest;
use crate::value::Value;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// How often the loops of one call may go round, all together: an endless loop must end.
pub const ITERATIONS_MAX: usize = 10_000;

/// What was sent last, and so what the next outcome is an answer to.
#[derive(Debug, Clone, PartialEq)]
enum Sent {
    /// BEGIN; the statement that needed it is next.
    Begin,
    /// A statement; what becomes of its answer.
    Statement { answer: Answer, line: usize },
    /// COMMIT or ROLLBACK, by the program or at its end.
    End { commit: bool },
}

/// What becomes of the answer to a statement.
#[derive(Debug, Clone, PartialEq)]
enum Answer {
    /// Nothing.
    Ignored,
    /// The one row is assigned to these variables.
    Into(Vec<String>, IntoRule),
    /// The rows are kept for a cursor.
    Kept(String),
}

/// The rows of an open cursor.
#[derive(Debug, Default)]
struct OpenCursor {
    rows: VecDeque<Vec<Value>>,
    /// How many have been fetched.
    fetched: usize,
}

/// A running call.
#[derive(Debug)]
pub struct Instance {
    procedure: String,
    dialect: &'static dyn Dialect,
    code: Arc<[Operation]>,
    position: usize,
    iterations: usize,
    variables: Variables,
    cursors: BTreeMap<String, OpenCursor>,
    autocommit: bool,
    outputs: Vec<Value>,
    /// What queries answered to the caller, value by value.
    shown: Vec<Value>,
    /// The operation that was carried out last.
    at: usize,
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
            procedure: procedure.name.clone(),
            dialect,
            code: code::operations(procedure).into(),
            position: 0,
            iterations: 0,
            variables: arguments(procedure, call)?,
            cursors: BTreeMap::new(),
            autocommit: procedure.autocommit,
            outputs: Vec::new(),
            shown: Vec::new(),
            at: 0,
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

    /// What RETURN gave: the values of its expressions, or of the OUT parameters.
    pub fn outputs(&self) -> &[Value] {
        &self.outputs
    }

    /// The operation that the last message belongs to: its position among [`code::operations`], or one behind the last
    /// if it is the end of the procedure that commits.
    pub fn at(&self) -> usize {
        self.at
    }

    /// What there is to tell of the call, once it has ended.
    pub fn ended(&self, item: usize) -> Option<EndedCall> {
        let outputs = self.outputs.iter().chain(&self.shown).cloned().collect();
        let (procedure, variables) = (self.procedure.clone(), self.variables.clone());
        Some(EndedCall { item, procedure, end: self.result()?.clone(), outputs, variables })
    }

    /// Carries out one operation; gives the message that is due, if one is.
    fn advance(&mut self) -> Result<Option<String>, CallFailure> {
        self.at = self.position;
        let code = Arc::clone(&self.code);
        let Some(Operation { kind, span }) = code.get(self.position) else {
            self.end = Some(CallEnd::Returned);
            return Ok(None);
        };
        let line = span.line;
        match kind {
            OperationKind::Send(sql) => return Ok(Some(self.send(sql, line))),
            OperationKind::Open(cursor, sql) => return Ok(Some(self.open(cursor.clone(), sql, line))),
            OperationKind::Begin => return Ok(Some(self.begin())),
            OperationKind::Isolation(level) => return Ok(self.isolation(level, line)),
            OperationKind::Commit | OperationKind::Rollback => {
                self.position += 1;
                return Ok(self.end_transaction(*kind == OperationKind::Commit));
            }
            OperationKind::Jump(to) => {
                self.jump(*to, line)?;
                return Ok(None);
            }
            OperationKind::Unless(condition, to) => {
                let truth = evaluate::is_true(condition, &self.variables);
                if truth.map_err(|error| CallFailure::Evaluation { line, error })? != Some(true) {
                    self.position = *to;
                    return Ok(None);
                }
            }
            local => self.local(local, line)?,
        }
        self.position += 1;
        Ok(None)
    }

    /// Operations that send nothing and jump nowhere.
    fn local(&mut self, operation: &OperationKind, line: usize) -> Result<(), CallFailure> {
        let evaluation = |error| CallFailure::Evaluation { line, error };
        match operation {
            OperationKind::Assign(variable, value) => {
                let value = evaluate::evaluate(value, &self.variables).map_err(evaluation)?;
                self.variables.insert(variable.name.clone(), value);
            }
            OperationKind::Fetch(cursor, variables) => self.fetch(cursor.clone(), variables, line)?,
            OperationKind::Close(cursor, ends_loop) => {
                let closed = self.cursors.remove(cursor).unwrap_or_default();
                if *ends_loop {
                    self.counted(closed.fetched);
                }
            }
            OperationKind::Return(outputs) => {
                let outputs = outputs.iter().map(|output| evaluate::evaluate(output, &self.variables));
                self.outputs = outputs.collect::<Result<_, _>>().map_err(evaluation)?;
                self.end = Some(CallEnd::Returned);
            }
            OperationKind::Raise(message) => {
                let message = match evaluate::evaluate(message, &self.variables).map_err(evaluation)? {
                    Value::Text(text) => text,
                    other => other.to_string(),
                };
                return Err(CallFailure::Raised { line, message });
            }
            other => unreachable!("{other:?} sends or jumps"),
        }
        Ok(())
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
        let into = statement
            .into_clause()
            .map(|into| Answer::Into(into.variables.iter().map(|variable| variable.name.clone()).collect(), into.rule));
        self.submit(self.render(statement), into.unwrap_or(Answer::Ignored), line)
    }

    fn submit(&mut self, text: String, answer: Answer, line: usize) -> String {
        let begins = || self.dialect.kind(&text) == sql::StatementKind::Begin;
        if !self.autocommit && !self.is_open() && !self.begun && !begins() {
            self.begun = true;
            self.sent = Some(Sent::Begin);
            return self.dialect.begin().to_string();
        }
        self.begun = false;
        self.position += 1;
        self.sent = Some(Sent::Statement { answer, line });
        text
    }

    fn open(&mut self, cursor: String, query: &SqlStatement, line: usize) -> String {
        self.submit(self.render(query), Answer::Kept(cursor), line)
    }

    /// START TRANSACTION: first, what is open is committed.
    fn begin(&mut self) -> String {
        if let Some(commit) = self.end_transaction(true) {
            return commit;
        }
        self.position += 1;
        self.sent = Some(Sent::Begin);
        self.dialect.begin().to_string()
    }

    /// The level of a transaction, said where the dialect wants to hear it.
    fn isolation(&mut self, level: &LevelName, line: usize) -> Option<String> {
        let text = format!("SET TRANSACTION ISOLATION LEVEL {}", level.as_str().to_uppercase());
        match self.dialect.level_place() {
            LevelPlace::Inside => Some(self.submit(text, Answer::Ignored, line)),
            LevelPlace::Before => {
                self.position += 1;
                self.sent = Some(Sent::Statement { answer: Answer::Ignored, line });
                Some(text)
            }
            LevelPlace::Nowhere => {
                self.position += 1;
                None
            }
        }
    }

    fn fetch(&mut self, cursor: String, variables: &[Variable], line: usize) -> Result<(), CallFailure> {
        let Some(open) = self.cursors.get_mut(&cursor) else {
            return Err(CallFailure::NotOpen { line, cursor });
        };
        let row = open.rows.pop_front();
        open.fetched += usize::from(row.is_some());
        self.counted(usize::from(row.is_some()));
        let Some(row) = row else { return Ok(()) };
        if row.len() != variables.len() {
            return Err(CallFailure::IntoColumns { line, variables: variables.len(), columns: row.len() });
        }
        self.variables.extend(variables.iter().map(|variable| variable.name.clone()).zip(row));
        Ok(())
    }

    /// Remembers how many rows there were, for `FOUND()` and `ROW_COUNT()`.
    fn counted(&mut self, rows: usize) {
        let count = Value::int(i64::try_from(rows).unwrap_or(i64::MAX));
        for (name, value) in [(evaluate::FOUND, Value::Bool(rows > 0)), (evaluate::ROW_COUNT, count)] {
            match self.variables.get_mut(name) {
                Some(known) => *known = value,
                None => drop(self.variables.insert(name.to_string(), value)),
            }
        }
    }

    /// The text with the values of its variables.
    fn render(&self, statement: &SqlStatement) -> String {
        let mut text = String::new();
        for (position, part) in statement.parts.iter().enumerate() {
            match part {
                SqlPart::Text(piece) => text.push_str(&piece.text),
                SqlPart::Into(_) => {}
                SqlPart::Use(variable) => {
                    let value = self.variables.get(&variable.name).unwrap_or(&Value::Null);
                    let literal = self.dialect.literal(value);
                    let next = statement.parts.get(position + 1);
                    // `:a-:b` must not become a comment, nor `:a::int2` a cast that binds before the sign.
                    let before = text.trim_end().ends_with(['+', '-', '*', '/', '%', '^']);
                    let cast = matches!(next, Some(SqlPart::Text(piece)) if piece.text.starts_with("::"));
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
            (Sent::Statement { answer, line }, None) => self.answered(answer, *line, outcome).err(),
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

    /// Does with an answer what is to be done with it.
    fn answered(&mut self, answer: &Answer, line: usize, outcome: &Outcome) -> Result<(), CallFailure> {
        let returned = outcome.rows().map(|result| result.rows.len());
        let changed = outcome.affected().map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        self.counted(returned.or(changed).unwrap_or(0));
        match answer {
            Answer::Ignored => {
                // Without an order of their own, rows come as they like.
                let mut rows = outcome.rows().map(|result| self.dialect.values(result)).unwrap_or_default();
                rows.sort();
                self.shown.extend(rows.into_iter().flatten());
                Ok(())
            }
            Answer::Into(variables, rule) => self.assign(variables, *rule, line, outcome),
            Answer::Kept(cursor) => {
                let rows = outcome.rows().map(|result| self.dialect.values(result)).unwrap_or_default();
                self.cursors.insert(cursor.clone(), OpenCursor { rows: rows.into(), fetched: 0 });
                Ok(())
            }
        }
    }

    /// Assigns the one row of an answer to the variables of INTO.
    fn assign(&mut self, into: &[String], rule: IntoRule, line: usize, outcome: &Outcome) -> Result<(), CallFailure> {
        let columns = outcome.rows().map_or(0, |result| result.columns.len());
        if columns != into.len() {
            return Err(CallFailure::IntoColumns { line, variables: into.len(), columns });
        }
        let rows = outcome.rows().map(|result| self.dialect.values(result)).unwrap_or_default();
        let row = match (rule, rows.len()) {
            (_, 1) | (IntoRule::First, 2..) => rows.into_iter().next(),
            (IntoRule::Single | IntoRule::First, 0) => Some(vec![Value::Null; into.len()]),
            (IntoRule::Keep, 0) => None,
            (_, rows) => return Err(CallFailure::IntoRows { line, rows }),
        };
        self.variables.extend(into.iter().cloned().zip(row.unwrap_or_default()));
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
    for parameter in procedure.parameters.iter().filter(|parameter| parameter.mode == Mode::Out) {
        // What the caller says of it is not looked at.
        variables.insert(parameter.name.clone(), Value::Null);
    }
    match procedure.parameters.iter().find(|parameter| !variables.contains_key(&parameter.name)) {
        Some(parameter) => {
            Err(ProgramError::MissingArgument { call: call.to_string(), parameter: parameter.name.clone() })
        }
        None => Ok(variables),
    }
}
