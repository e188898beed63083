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
use crate::program::compile::{Code, Instruction, InstructionKind, Into};
pub use crate::program::failure::{CallEnd, CallFailure, ProgramError};
use crate::program::frame::{Frame, Slot, Variables};
use crate::program::{IntoRule, Mode, Procedure, Program};
use crate::script::EndedCall;
use crate::sql;
use crate::suggest;
use crate::value::Value;

use std::borrow::Cow;
use std::collections::VecDeque;

/// How often the loops of one call may go round, all together: an endless loop must end.
pub const ITERATIONS_MAX: usize = 10_000;

/// A running call.
#[derive(Debug)]
pub struct Instance {
    procedure: String,
    code: Code,
    run: Run,
}

/// How far a call has come.
#[derive(Debug)]
struct Run {
    dialect: &'static dyn Dialect,
    autocommit: bool,
    position: usize,
    /// The operation that was carried out last.
    at: usize,
    iterations: usize,
    frame: Frame,
    /// Those that are open.
    cursors: Vec<Option<OpenCursor>>,
    outputs: Vec<Value>,
    /// What queries answered to the caller, value by value.
    shown: Vec<Value>,
    status: TxStatus,
    sent: Option<Sent>,
    /// BEGIN has been sent for the statement at `position`: it is not sent twice, whatever the status says.
    begun: bool,
    end: Option<CallEnd>,
    /// The last COMMIT or ROLLBACK has been sent.
    closed: bool,
}

/// What was sent last, and so what the next outcome is an answer to.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Sent {
    /// BEGIN; the statement that needed it is next.
    Begin,
    /// A statement: that of the operation at this position.
    Statement(usize),
    /// COMMIT or ROLLBACK, by the program or at its end.
    End { commit: bool },
}

/// The rows of an open cursor.
#[derive(Debug, Default)]
struct OpenCursor {
    rows: VecDeque<Vec<Value>>,
    /// How many have been fetched.
    fetched: usize,
}

impl Instance {
    /// Starts a call; the error says why it does not fit the program.
    pub fn new(program: &Program, call: &Call, dialect: &'static dyn Dialect) -> Result<Instance, ProgramError> {
        let procedure = program.procedure(&call.procedure).ok_or_else(|| ProgramError::UnknownProcedure {
            name: call.procedure.clone(),
            hint: suggest::hint(&call.procedure, program.procedures.iter().map(|p| p.name.as_str())),
        })?;
        let arguments = arguments(procedure, call)?;
        let mut code = Code::new(procedure);
        let mut run = Run::new(&code, procedure.autocommit, dialect);
        for (name, value) in arguments {
            run.frame.set(code.variables.of(&name), value);
        }
        Ok(Instance { procedure: procedure.name.clone(), code, run })
    }

    /// The next message, given the outcome of the one before (`None` at the start). `None` ends the call.
    pub fn next(&mut self, last: Option<&Outcome>) -> Option<String> {
        self.run.next(&self.code, last)
    }

    /// How the call ended; `None` as long as it has not.
    pub fn result(&self) -> Option<&CallEnd> {
        self.run.end.as_ref().filter(|_| self.run.sent.is_none())
    }

    /// What RETURN gave: the values of its expressions, or of the OUT parameters.
    pub fn outputs(&self) -> &[Value] {
        &self.run.outputs
    }

    /// The operation that the last message belongs to: its position among [`operations`](super::code::operations), or
    /// one behind the last if it is the end of the procedure that commits.
    pub fn at(&self) -> usize {
        self.run.at
    }

    /// What there is to tell of the call, once it has ended.
    pub fn ended(&self, item: usize) -> Option<EndedCall> {
        let end = self.result()?.clone();
        let outputs = self.run.outputs.iter().chain(&self.run.shown).cloned().collect();
        let variables = self.run.frame.variables(&self.code.variables);
        Some(EndedCall { item, procedure: self.procedure.clone(), end, outputs, variables })
    }
}

impl Run {
    fn new(code: &Code, autocommit: bool, dialect: &'static dyn Dialect) -> Run {
        Run {
            dialect,
            autocommit,
            position: 0,
            at: 0,
            iterations: 0,
            frame: Frame::new(&code.variables),
            cursors: (0..code.cursors.count()).map(|_| None).collect(),
            outputs: Vec::new(),
            shown: Vec::new(),
            status: TxStatus::Idle,
            sent: None,
            begun: false,
            end: None,
            closed: false,
        }
    }

    fn next(&mut self, code: &Code, last: Option<&Outcome>) -> Option<String> {
        if let (Some(sent), Some(outcome)) = (self.sent.take(), last) {
            self.receive(code, sent, outcome);
        }
        while self.end.is_none() {
            match self.advance(code) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(failure) => self.end = Some(CallEnd::Failed(failure)),
            }
        }
        self.close()
    }

    /// Carries out one operation; gives the message that is due, if one is.
    fn advance(&mut self, code: &Code) -> Result<Option<String>, CallFailure> {
        self.at = self.position;
        let Some(Instruction { kind, line }) = code.instructions.get(self.position) else {
            self.end = Some(CallEnd::Returned);
            return Ok(None);
        };
        match kind {
            InstructionKind::Send(sql, _) | InstructionKind::Open(_, sql) => {
                return Ok(Some(self.submit(sql.fill(&self.frame, self.dialect))));
            }
            InstructionKind::Begin => return Ok(Some(self.begin())),
            InstructionKind::Isolation(level) => return Ok(self.isolation(level)),
            InstructionKind::Commit | InstructionKind::Rollback => {
                self.position += 1;
                return Ok(self.end_transaction(matches!(kind, InstructionKind::Commit)));
            }
            InstructionKind::Jump(to) => {
                self.jump(*to, *line)?;
                return Ok(None);
            }
            InstructionKind::Unless(condition, to) => {
                let truth = condition.is_true(&self.frame);
                if truth.map_err(|error| CallFailure::Evaluation { line: *line, error })? != Some(true) {
                    self.position = *to;
                    return Ok(None);
                }
            }
            local => self.local(code, local, *line)?,
        }
        self.position += 1;
        Ok(None)
    }

    /// Operations that send nothing and jump nowhere.
    fn local(&mut self, code: &Code, operation: &InstructionKind, line: usize) -> Result<(), CallFailure> {
        let evaluation = |error| CallFailure::Evaluation { line, error };
        match operation {
            InstructionKind::Assign(variable, value) => {
                let value = value.value(&self.frame).map_err(evaluation)?.into_owned();
                self.frame.set(*variable, value);
            }
            InstructionKind::Fetch(cursor, variables) => self.fetch(code, *cursor, variables, line)?,
            InstructionKind::Close(cursor, ends_loop) => {
                let closed = self.cursors[*cursor].take().unwrap_or_default();
                if *ends_loop {
                    self.frame.count(closed.fetched);
                }
            }
            InstructionKind::Return(outputs) => {
                let outputs = outputs.iter().map(|output| output.value(&self.frame).map(Cow::into_owned));
                self.outputs = outputs.collect::<Result<_, _>>().map_err(evaluation)?;
                self.end = Some(CallEnd::Returned);
            }
            InstructionKind::Raise(message) => {
                let message = match message.value(&self.frame).map_err(evaluation)?.into_owned() {
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
    fn submit(&mut self, text: String) -> String {
        let begins = || self.dialect.kind(&text) == sql::StatementKind::Begin;
        if !self.autocommit && !self.is_open() && !self.begun && !begins() {
            self.begun = true;
            self.sent = Some(Sent::Begin);
            return self.dialect.begin().to_string();
        }
        self.begun = false;
        self.send(text)
    }

    /// The statement of the operation at `position`, without more ado.
    fn send(&mut self, text: String) -> String {
        self.sent = Some(Sent::Statement(self.position));
        self.position += 1;
        text
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
    fn isolation(&mut self, level: &LevelName) -> Option<String> {
        let text = format!("SET TRANSACTION ISOLATION LEVEL {}", level.as_str().to_uppercase());
        match self.dialect.level_place() {
            LevelPlace::Inside => Some(self.submit(text)),
            LevelPlace::Before => Some(self.send(text)),
            LevelPlace::Nowhere => {
                self.position += 1;
                None
            }
        }
    }

    fn fetch(&mut self, code: &Code, cursor: Slot, variables: &[Slot], line: usize) -> Result<(), CallFailure> {
        let Some(open) = &mut self.cursors[cursor] else {
            return Err(CallFailure::NotOpen { line, cursor: code.cursors.name(cursor).to_string() });
        };
        let row = open.rows.pop_front();
        open.fetched += usize::from(row.is_some());
        self.frame.count(usize::from(row.is_some()));
        let Some(row) = row else { return Ok(()) };
        if row.len() != variables.len() {
            return Err(CallFailure::IntoColumns { line, variables: variables.len(), columns: row.len() });
        }
        variables.iter().zip(row).for_each(|(variable, value)| self.frame.set(*variable, value));
        Ok(())
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
    fn receive(&mut self, code: &Code, sent: Sent, outcome: &Outcome) {
        self.status = outcome.status;
        let failure = match (sent, &outcome.error) {
            (_, Some(error)) => Some(CallFailure::Database(error.clone())),
            (Sent::End { commit: true }, None) if outcome.tag() == Some("ROLLBACK") => Some(CallFailure::CommitRefused),
            (Sent::Statement(at), None) => self.answered(&code.instructions[at], outcome).err(),
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
    fn answered(&mut self, statement: &Instruction, outcome: &Outcome) -> Result<(), CallFailure> {
        let result = outcome.rows();
        let changed = || outcome.affected().map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        self.frame.count(result.map(|result| result.rows.len()).or_else(changed).unwrap_or(0));
        match &statement.kind {
            InstructionKind::Send(_, Some(into)) => return self.assign(into, statement.line, outcome),
            InstructionKind::Open(cursor, _) => {
                let rows = result.map(|result| self.dialect.values(result)).unwrap_or_default();
                self.cursors[*cursor] = Some(OpenCursor { rows: rows.into(), fetched: 0 });
            }
            _ => {
                // Without an order of their own, rows come as they like.
                let mut rows = result.map(|result| self.dialect.values(result)).unwrap_or_default();
                rows.sort();
                self.shown.extend(rows.into_iter().flatten());
            }
        }
        Ok(())
    }

    /// Assigns the one row of an answer to the variables of INTO.
    fn assign(&mut self, into: &Into, line: usize, outcome: &Outcome) -> Result<(), CallFailure> {
        let result = outcome.rows();
        let columns = result.map_or(0, |result| result.columns.len());
        if columns != into.slots.len() {
            return Err(CallFailure::IntoColumns { line, variables: into.slots.len(), columns });
        }
        let Some(result) = result else { return Ok(()) };
        match (into.rule, result.rows.as_slice()) {
            (_, [row]) | (IntoRule::First, [row, ..]) => {
                for (column, (slot, cell)) in into.slots.iter().zip(row).enumerate() {
                    self.frame.set(*slot, self.dialect.value(result, column, cell.as_deref()));
                }
            }
            (IntoRule::Single | IntoRule::First, []) => {
                into.slots.iter().for_each(|slot| self.frame.set(*slot, Value::Null))
            }
            (IntoRule::Keep, []) => {}
            (_, rows) => return Err(CallFailure::IntoRows { line, rows: rows.len() }),
        }
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
