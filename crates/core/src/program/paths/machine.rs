//! Calls that follow given ways, with terms for values: what must hold for them to do so.

use std::collections::{BTreeMap, BTreeSet};

use super::rows::{Row, Rows};
use super::statement::Cursor;
use super::symbol::{Place, Symbol, Symbols};
use super::{Instance, Question, Reason, ReasonKind, Way};
use crate::program::code::OperationKind;
use crate::program::ir::{Expr, Mode, Procedure, Statement, StatementKind};
use crate::program::schema::ColumnType;
use crate::solve::{Bool, Int, Problem};

/// What a call knows.
#[derive(Debug)]
pub(super) struct Local {
    pub(super) variables: BTreeMap<String, Symbol>,
    /// The types of all variables.
    pub(super) types: BTreeMap<String, ColumnType>,
    /// `FOUND()`
    pub(super) found: Bool,
    /// `ROW_COUNT()`
    pub(super) count: Int,
    pub(super) cursors: BTreeMap<String, Cursor>,
    /// The focus rows before the open transaction; `None` if none is open.
    undo: Option<BTreeMap<String, Row>>,
    /// Where on its way it is.
    at: usize,
}

/// Runs calls along their ways.
#[derive(Debug)]
pub(super) struct Machine<'a> {
    pub(super) question: &'a Question<'a>,
    pub(super) symbols: Symbols,
    pub(super) rows: Rows,
    pub(super) locals: Vec<Local>,
    /// The parameters of each instance at the start, those that a caller gives.
    pub(super) arguments: Vec<BTreeMap<String, Symbol>>,
    /// The numbers of the demands that focus rows keep their checks at the start.
    pub(super) given: BTreeSet<usize>,
    /// References between focus rows, which should hold.
    pub(super) links: Vec<Bool>,
    /// Statements that may touch focus rows and need not.
    pub(super) chances: Vec<Chance>,
    /// Keys of rows that were added, by table.
    pub(super) inserted: BTreeMap<String, Vec<Vec<Symbol>>>,
}

/// A statement of an instance that touches the focus row of a table if a condition is true.
#[derive(Debug)]
pub(super) struct Chance {
    pub(super) instance: usize,
    pub(super) table: String,
    pub(super) meets: Bool,
    /// Whether that is demanded.
    pub(super) demanded: bool,
}

impl<'a> Machine<'a> {
    /// Runs all segments.
    pub(super) fn run(question: &'a Question<'a>, ways: &[&Way]) -> Machine<'a> {
        let mut symbols = Symbols::new();
        let locals = question.instances.iter().enumerate();
        let locals: Vec<Local> = locals.map(|(at, instance)| Local::new(&mut symbols, at, instance)).collect();
        let given = |(local, instance): (&Local, &Instance<'_>)| {
            let given = instance.procedure.parameters.iter().filter(|parameter| parameter.mode != Mode::Out);
            given.map(|parameter| (parameter.name.clone(), local.variables[&parameter.name])).collect()
        };
        let arguments = locals.iter().zip(&question.instances).map(given).collect();
        let mut machine = Machine {
            question,
            symbols,
            rows: Rows::default(),
            locals,
            arguments,
            given: BTreeSet::new(),
            links: Vec::new(),
            chances: Vec::new(),
            inserted: BTreeMap::new(),
        };
        for segment in &question.segments {
            let way = ways[segment.instance];
            let last = segment.until.and_then(|pass| way.passed.get(pass)).copied();
            let end = last.map_or(way.nodes.len(), |last| last + 1);
            while machine.locals[segment.instance].at < end {
                machine.step(segment.instance, way);
            }
        }
        machine.wish();
        machine
    }

    pub(super) fn problem(&self) -> &Problem {
        &self.symbols.problem
    }

    /// Whether fewer values were looked at than there are.
    pub(super) fn is_narrowed(&self) -> bool {
        let needed = self.problem().unknowns_in(self.problem().demands().iter().copied());
        self.symbols.narrowed.iter().any(|unknown| needed.contains(unknown))
    }

    /// Where conditions come from that cannot hold together.
    pub(super) fn conflict(&self, budget: u64) -> Vec<Reason> {
        let numbers = self.problem().conflict(budget).unwrap_or_default();
        let mut reasons: Vec<Reason> = Vec::new();
        for reason in numbers.into_iter().map(|number| &self.symbols.reasons[number]) {
            let is_same = |other: &Reason| {
                other == reason && (other.span.start, other.span.end) == (reason.span.start, reason.span.end)
            };
            if !reasons.iter().any(is_same) {
                reasons.push(reason.clone());
            }
        }
        reasons
    }

    /// The next node of an instance's way.
    fn step(&mut self, instance: usize, way: &Way) {
        let at = self.locals[instance].at;
        self.locals[instance].at += 1;
        let definition: &'a Instance<'a> = &self.question.instances[instance];
        let Some(node) = definition.access.nodes.get(way.nodes[at]) else { return self.commit(instance) };
        let place = Place { instance, span: node.operation.span, guard: self.symbols.always };
        let pass = way.passed.iter().position(|passed| *passed == at).map(|number| &definition.passes[number]);
        match &node.operation.kind {
            OperationKind::Assign(variable, value) => {
                let value = self.expression(value, &place);
                self.locals[instance].variables.insert(variable.name.clone(), value);
            }
            OperationKind::Unless(condition, to) => {
                let next = way.nodes.get(at + 1).copied();
                if *to != way.nodes[at] + 1 && next.is_some() {
                    self.branch(condition, next != Some(*to), &place);
                }
            }
            OperationKind::Send(_) | OperationKind::Open(..) => {
                self.begin(instance, definition.procedure);
                self.execute(node, pass, &place);
            }
            OperationKind::Fetch(cursor, variables) => self.fetch(cursor, variables, instance),
            OperationKind::Close(cursor, ends_loop) => self.close(cursor, *ends_loop, instance),
            OperationKind::Begin => {
                self.locals[instance].undo = Some(self.rows.current.clone());
            }
            OperationKind::Commit | OperationKind::Return(_) => self.commit(instance),
            OperationKind::Rollback | OperationKind::Raise(_) => self.roll_back(instance),
            OperationKind::Jump(_) | OperationKind::Isolation(_) => {}
        }
    }

    fn branch(&mut self, condition: &Expr, taken: bool, place: &Place) {
        let place = Place { span: condition.span, ..*place };
        let truth = self.condition(condition, &place).is_true;
        let (wanted, kind) = match taken {
            true => (truth, ReasonKind::Taken),
            false => (self.symbols.problem.not(truth), ReasonKind::NotTaken),
        };
        self.symbols.demand(wanted, &place, kind);
    }

    /// A statement needs a transaction, unless each is one.
    fn begin(&mut self, instance: usize, procedure: &Procedure) {
        if self.locals[instance].undo.is_none() && !procedure.autocommit {
            self.locals[instance].undo = Some(self.rows.current.clone());
        }
    }

    fn commit(&mut self, instance: usize) {
        self.locals[instance].undo = None;
    }

    fn roll_back(&mut self, instance: usize) {
        if let Some(rows) = self.locals[instance].undo.take() {
            self.rows.current = rows;
        }
    }

    /// The value of a variable.
    pub(super) fn variable(&mut self, instance: usize, name: &str) -> Symbol {
        let known = self.locals[instance].variables.get(name).copied();
        known.unwrap_or_else(|| self.symbols.null())
    }
}

impl Local {
    fn new(symbols: &mut Symbols, at: usize, instance: &Instance<'_>) -> Local {
        let types = types_of(instance.procedure);
        let mut variables = BTreeMap::new();
        for parameter in &instance.procedure.parameters {
            let name = format!("{at}.{}", parameter.name);
            let value = match parameter.mode {
                Mode::Out => symbols.null(),
                Mode::In | Mode::InOut => symbols.unknown(&name, &types[&parameter.name], true),
            };
            variables.insert(parameter.name.clone(), value);
        }
        let count = symbols.problem.constant(0);
        Local { variables, types, found: symbols.never, count, cursors: BTreeMap::new(), undo: None, at: 0 }
    }
}

/// The types of a procedure's parameters and variables.
fn types_of(procedure: &Procedure) -> BTreeMap<String, ColumnType> {
    let parameters = procedure.parameters.iter();
    let mut types: BTreeMap<String, ColumnType> =
        parameters.map(|parameter| (parameter.name.clone(), ColumnType::parse(&parameter.type_name))).collect();
    declared(&procedure.body, &mut types);
    types
}

fn declared(statements: &[Statement], types: &mut BTreeMap<String, ColumnType>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Declare { variable, type_name, .. } => {
                types.insert(variable.name.clone(), ColumnType::parse(type_name));
            }
            StatementKind::If { branches, otherwise } => {
                branches.iter().for_each(|branch| declared(&branch.body, types));
                declared(otherwise, types);
            }
            StatementKind::While { body, .. }
            | StatementKind::Loop { body, .. }
            | StatementKind::ForEach { body, .. }
            | StatementKind::Block { body, .. } => declared(body, types),
            _ => {}
        }
    }
}
