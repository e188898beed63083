//! The operations of a procedure, made ready to be carried out.
//!
//! What can be found out once is found out here, before a server waits for it: variables and cursors become numbers,
//! statements become one text with holes. The positions are those of [`code::operations`].

use super::code::{self, OperationKind};
use super::evaluate::Formula;
use super::frame::{Slot, Slots};
use super::ir::{Expr, IntoRule, Procedure, SqlStatement, Variable};
use super::template::Template;
use crate::level::LevelName;

/// A procedure, ready to be called.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) instructions: Vec<Instruction>,
    pub(super) variables: Slots,
    pub(super) cursors: Slots,
}

/// One operation, and the line that it comes from.
#[derive(Debug)]
pub(super) struct Instruction {
    pub(super) kind: InstructionKind,
    pub(super) line: usize,
}

/// What an instruction does; see [`OperationKind`].
#[derive(Debug)]
pub(super) enum InstructionKind {
    Assign(Slot, Formula),
    Unless(Formula, usize),
    Jump(usize),
    Send(Template, Option<Into>),
    Open(Slot, Template),
    Fetch(Slot, Vec<Slot>),
    Close(Slot, bool),
    Begin,
    Isolation(LevelName),
    Commit,
    Rollback,
    Return(Vec<Formula>),
    Raise(Formula),
}

/// Where the one row of an answer goes.
#[derive(Debug)]
pub(super) struct Into {
    pub(super) slots: Vec<Slot>,
    pub(super) rule: IntoRule,
}

impl Code {
    pub(super) fn new(procedure: &Procedure) -> Code {
        let (mut variables, mut cursors) = (Slots::default(), Slots::default());
        for parameter in &procedure.parameters {
            variables.of(&parameter.name);
        }
        let operations = code::operations(procedure).into_iter();
        let instructions = operations
            .map(|operation| Instruction {
                kind: InstructionKind::new(operation.kind, &mut variables, &mut cursors),
                line: operation.span.line,
            })
            .collect();
        Code { instructions, variables, cursors }
    }
}

impl InstructionKind {
    fn new(operation: OperationKind, variables: &mut Slots, cursors: &mut Slots) -> InstructionKind {
        match operation {
            OperationKind::Assign(variable, value) => {
                InstructionKind::Assign(variables.of(&variable.name), Formula::new(&value, variables))
            }
            OperationKind::Unless(condition, to) => InstructionKind::Unless(Formula::new(&condition, variables), to),
            OperationKind::Jump(to) => InstructionKind::Jump(to),
            OperationKind::Send(sql) => InstructionKind::Send(Template::new(&sql, variables), into(&sql, variables)),
            OperationKind::Open(cursor, sql) => {
                InstructionKind::Open(cursors.of(&cursor), Template::new(&sql, variables))
            }
            OperationKind::Fetch(cursor, into) => InstructionKind::Fetch(cursors.of(&cursor), slots(&into, variables)),
            OperationKind::Close(cursor, ends_loop) => InstructionKind::Close(cursors.of(&cursor), ends_loop),
            OperationKind::Begin => InstructionKind::Begin,
            OperationKind::Isolation(level) => InstructionKind::Isolation(level),
            OperationKind::Commit => InstructionKind::Commit,
            OperationKind::Rollback => InstructionKind::Rollback,
            OperationKind::Return(outputs) => InstructionKind::Return(formulas(&outputs, variables)),
            OperationKind::Raise(message) => InstructionKind::Raise(Formula::new(&message, variables)),
        }
    }
}

fn into(statement: &SqlStatement, variables: &mut Slots) -> Option<Into> {
    let into = statement.into_clause()?;
    Some(Into { slots: slots(&into.variables, variables), rule: into.rule })
}

fn slots(mentioned: &[Variable], variables: &mut Slots) -> Vec<Slot> {
    mentioned.iter().map(|variable| variables.of(&variable.name)).collect()
}

fn formulas(expressions: &[Expr], variables: &mut Slots) -> Vec<Formula> {
    expressions.iter().map(|expression| Formula::new(expression, variables)).collect()
}
