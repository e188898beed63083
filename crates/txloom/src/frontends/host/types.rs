//! Types of variables in languages that do not say them.
//!
//! A solver must know whether `:quantity` is a number. Python does not say so, but the tables do:
//!
//! ```text
//!   stock < quantity                  stock is a column of type INT → quantity is one, too
//!   UPDATE … SET wallet = :amount     wallet is an INT              → amount
//!   total = price * quantity          what is computed from numbers → total
//! ```
//!
//! What is learned of one variable says something about others; it goes round until nothing new is learned.

use std::collections::BTreeMap;

use txloom_core::program::access::{self, OutputColumn, Place};
use txloom_core::program::schema::{ColumnType, Schema, TypeKind};
use txloom_core::program::{
    BinaryOp, Expr, ExprKind, Language, Procedure, SqlPart, Statement, StatementKind, Variable,
};
use txloom_core::value::Value;

use super::tidy::walk;

/// How often something new may be learned.
const ROUNDS_MAX: usize = 6;

/// The type of variables of which nothing is known.
const UNSAID: &str = "VARCHAR";

/// Gives variables of which nothing is known the types that the tables suggest.
pub(crate) fn infer(procedure: &mut Procedure, schema: &Schema, language: Language) {
    let mut types = Types { known: BTreeMap::new(), cursors: BTreeMap::new(), schema, language };
    types.declared(procedure);
    walk::each(&procedure.body, &mut |statement| types.learn_sql(statement));
    types.learn_all(procedure);
    // What is asked for is true or false, if nothing else is known of it.
    walk::each(&procedure.body, &mut |statement| match &statement.kind {
        StatementKind::If { branches, .. } => {
            branches.iter().for_each(|branch| types.learn_truth(&branch.condition));
        }
        StatementKind::While { condition, .. } => types.learn_truth(condition),
        _ => {}
    });
    types.learn_all(procedure);
    let known = types.known;
    walk::each_list(&mut procedure.body, &mut |list| {
        for condition in list.iter_mut().flat_map(conditions) {
            ask(condition, &known);
        }
    });
    for parameter in procedure.parameters.iter_mut().filter(|parameter| parameter.type_name == UNSAID) {
        parameter.type_name = known.get(&parameter.name).cloned().unwrap_or_else(|| UNSAID.to_string());
    }
    walk::each_list(&mut procedure.body, &mut |list| {
        for statement in list {
            if let StatementKind::Declare { variable, type_name, .. } = &mut statement.kind
                && type_name == UNSAID
                && let Some(known) = known.get(&variable.name)
            {
                type_name.clone_from(known);
            }
        }
    });
}

struct Types<'s> {
    known: BTreeMap<String, String>,
    /// The types of the columns of each cursor.
    cursors: BTreeMap<String, Vec<Option<String>>>,
    schema: &'s Schema,
    language: Language,
}

impl Types<'_> {
    fn declared(&mut self, procedure: &Procedure) {
        for parameter in procedure.parameters.iter().filter(|parameter| parameter.type_name != UNSAID) {
            self.known.insert(parameter.name.clone(), parameter.type_name.clone());
        }
        walk::each(&procedure.body, &mut |statement| {
            if let StatementKind::Declare { variable, type_name, .. } = &statement.kind
                && type_name != UNSAID
            {
                self.known.insert(variable.name.clone(), type_name.clone());
            }
        });
    }

    fn note(&mut self, variable: &str, type_name: &str) {
        self.known.entry(variable.to_string()).or_insert_with(|| type_name.to_string());
    }

    fn learn(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Assign { variable, value }
            | StatementKind::Declare { variable, default: Some(value), .. } => {
                if let Some(type_name) = self.type_of(value) {
                    self.note(&variable.name, &type_name);
                } else if let (ExprKind::Variable(from), Some(known)) = (&value.kind, self.known.get(&variable.name)) {
                    let known = known.clone();
                    self.note(from, &known);
                }
            }
            _ => {}
        }
        for expr in walk::expressions(statement) {
            self.learn_inside(expr);
        }
    }

    fn learn_all(&mut self, procedure: &Procedure) {
        for _ in 0..ROUNDS_MAX {
            let before = self.known.len();
            walk::each(&procedure.body, &mut |statement| self.learn(statement));
            if self.known.len() == before {
                break;
            }
        }
    }

    fn learn_truth(&mut self, condition: &Expr) {
        match &condition.kind {
            ExprKind::Variable(name) => self.note(name, "BOOLEAN"),
            ExprKind::Not(operand) => self.learn_truth(operand),
            ExprKind::Binary { op: BinaryOp::And | BinaryOp::Or, left, right } => {
                self.learn_truth(left);
                self.learn_truth(right);
            }
            _ => {}
        }
    }

    /// A variable beside a column has its type.
    fn learn_sql(&mut self, statement: &Statement) {
        if let StatementKind::Fetch { cursor, variables } = &statement.kind {
            let columns = self.cursors.get(cursor).cloned().unwrap_or_default();
            self.note_columns(variables, &columns);
        }
        let Some(sql) = walk::sql(statement) else { return };
        let access = access::of_statement(sql, statement.span, self.schema, self.language).0;
        for one in &access.uses {
            let element = match &one.place {
                Place::Test(elements) => elements.iter().next(),
                Place::Value(element) => Some(element),
                Place::Other => None,
            };
            if let Some(known) = element.and_then(|element| self.schema.type_of(element)) {
                let name = known.name.clone();
                self.note(&one.variable.name, &name);
            }
        }
        let is_aggregate = access.selection.as_ref().is_some_and(|one| !one.aggregations().is_empty());
        let column = |output: &OutputColumn| {
            let known = output.origins.iter().next().and_then(|element| self.schema.type_of(element));
            // What is counted has no origin.
            known.map(|known| known.name.clone()).or_else(|| is_aggregate.then(|| "INT".to_string()))
        };
        let columns: Vec<Option<String>> = access.outputs.iter().map(column).collect();
        let variables = match &statement.kind {
            StatementKind::ForEach { variables, .. } => variables.as_slice(),
            StatementKind::Open { cursor, .. } => {
                self.cursors.insert(cursor.clone(), columns);
                return;
            }
            _ => sql
                .parts
                .iter()
                .find_map(|part| if let SqlPart::Into(into) = part { Some(into.variables.as_slice()) } else { None })
                .unwrap_or_default(),
        };
        self.note_columns(variables, &columns);
    }

    fn note_columns(&mut self, variables: &[Variable], columns: &[Option<String>]) {
        for (variable, column) in variables.iter().zip(columns) {
            if let Some(column) = column {
                self.note(&variable.name, column);
            }
        }
    }

    /// What stands on both sides of an operator is of one type; what is computed with is a number.
    fn learn_inside(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Binary { op, left, right } => {
                self.learn_inside(left);
                self.learn_inside(right);
                if matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Concat) {
                    return;
                }
                for (one, other) in [(left, right), (right, left)] {
                    if let (ExprKind::Variable(name), Some(known)) = (&one.kind, self.type_of(other)) {
                        self.note(name, &known);
                    }
                }
            }
            ExprKind::Not(operand) | ExprKind::Negate(operand) | ExprKind::IsNull { operand, .. } => {
                self.learn_inside(operand);
            }
            _ => {}
        }
    }

    fn type_of(&self, expr: &Expr) -> Option<String> {
        let plain = |name: &str| Some(name.to_string());
        match &expr.kind {
            ExprKind::Literal(Value::Number(number)) => {
                plain(if number.to_string().contains(['.', 'e', 'E']) { "DECIMAL" } else { "INT" })
            }
            ExprKind::Literal(Value::Text(_)) => plain(UNSAID),
            ExprKind::Literal(Value::Bool(_)) | ExprKind::Found | ExprKind::Not(_) | ExprKind::IsNull { .. } => {
                plain("BOOLEAN")
            }
            ExprKind::RowCount => plain("INT"),
            ExprKind::Variable(name) => self.known.get(name).cloned(),
            ExprKind::Negate(operand) => self.type_of(operand),
            ExprKind::Binary { op, left, right } => match op {
                BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Remainder => {
                    let (left, right) = (self.type_of(left), self.type_of(right));
                    let numbers = [&left, &right].into_iter().flatten().filter(|name| is_number(name));
                    numbers.max_by_key(|name| name.as_str() != "INT").cloned()
                }
                BinaryOp::Quotient => plain("INT"),
                BinaryOp::Divide => plain("DECIMAL"),
                BinaryOp::Concat => plain(UNSAID),
                _ => plain("BOOLEAN"),
            },
            _ => None,
        }
    }
}

/// What decides about branches and rounds.
fn conditions(statement: &mut Statement) -> Vec<&mut Expr> {
    match &mut statement.kind {
        StatementKind::If { branches, .. } => branches.iter_mut().map(|branch| &mut branch.condition).collect(),
        StatementKind::While { condition, .. } => vec![condition],
        _ => Vec::new(),
    }
}

/// Makes a question of a condition that is a number or a text; a truth value that is compared with 0 is one already.
fn ask(condition: &mut Expr, known: &BTreeMap<String, String>) {
    let span = condition.span;
    match &mut condition.kind {
        ExprKind::Variable(name) => {
            let kind = known.get(name).map(|known| ColumnType::parse(known).kind);
            let nothing = match kind {
                Some(TypeKind::Integer | TypeKind::Decimal | TypeKind::Float) => Value::int(0),
                Some(TypeKind::Text) => Value::text(""),
                _ => return,
            };
            let left = Box::new(Expr { kind: ExprKind::Variable(name.clone()), span });
            let right = Box::new(Expr { kind: ExprKind::Literal(nothing), span });
            condition.kind = ExprKind::Binary { op: BinaryOp::NotEqual, left, right };
        }
        ExprKind::Not(operand) => ask(operand, known),
        ExprKind::Binary { op: BinaryOp::And | BinaryOp::Or, left, right } => {
            ask(left, known);
            ask(right, known);
        }
        ExprKind::Binary { op: BinaryOp::NotEqual, left, right }
            if right.kind == ExprKind::Literal(Value::int(0)) && is_truth(left) =>
        {
            let inner = std::mem::replace(&mut left.kind, ExprKind::Any);
            condition.kind = inner;
        }
        _ => {}
    }
}

fn is_truth(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Not(_) | ExprKind::IsNull { .. } | ExprKind::Found => true,
        ExprKind::Binary { op, .. } => !matches!(
            op,
            BinaryOp::Concat
                | BinaryOp::Add
                | BinaryOp::Subtract
                | BinaryOp::Multiply
                | BinaryOp::Divide
                | BinaryOp::Quotient
                | BinaryOp::Remainder
        ),
        _ => false,
    }
}

fn is_number(type_name: &str) -> bool {
    matches!(ColumnType::parse(type_name).kind, TypeKind::Integer | TypeKind::Decimal | TypeKind::Float)
}
