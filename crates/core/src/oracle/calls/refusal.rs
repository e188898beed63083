//! Calls that were refused: they failed, or found nothing to change, and left nothing behind.
//!
//! A unique key, a version column or a deadlock makes one of two calls fail. That is how programs are protected, and not
//! an anomaly: whoever called it is told, and tries again or gives up. So a refused call is a call that was not made.
//!
//! ```text
//!   a: UPDATE docs SET …, version = 2 WHERE id = 1 AND version = 1     1 row    made
//!   b: UPDATE docs SET …, version = 2 WHERE id = 1 AND version = 1     0 rows   refused: nothing else was changed
//! ```
//!
//! * A call that **failed** is refused if none of its committed transactions changed anything. One that has committed a
//!   part of its work is not: its caller sees a failure, and half of the work is done.
//! * A call that **returned** is refused if an UPDATE or DELETE of one row, found by its whole key, met no row, and the
//!   call has changed nothing else.

use sqlparser::ast::{
    Assignment, AssignmentTarget, BinaryOperator, Expr, FromTable, ObjectName, Statement, TableFactor, TableWithJoins,
};

use crate::case::Case;
use crate::outcome::Outcome;
use crate::program::Language;
use crate::program::interpret::CallEnd;
use crate::program::schema::Schema;
use crate::sql::StatementKind;
use crate::sql::parse::parse;
use crate::trace::transactions::{Transaction, transactions};
use crate::trace::{CallRun, StepRun, Trace};

/// Why a call does not count, or that it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallFate {
    /// It was made: it returned, or failed and left something.
    Made,
    /// It was refused and left nothing; with the reason.
    Refused(String),
}

impl CallFate {
    pub(super) fn is_refused(&self) -> bool {
        matches!(self, CallFate::Refused(_))
    }
}

/// The fate of each call of a run, in the order of [`Trace::calls`].
pub(super) fn fates(case: &Case, trace: &Trace) -> Vec<CallFate> {
    let transactions = transactions(trace);
    let keys = Keys::of(case);
    trace.calls.iter().map(|run| keys.fate(trace, run, &transactions)).collect()
}

/// The keys of the setup's tables.
struct Keys(Schema);

impl Keys {
    fn of(case: &Case) -> Keys {
        Keys(Schema::read(&case.setup().join(";\n"), Language::Any).0)
    }

    fn fate(&self, trace: &Trace, run: &CallRun, transactions: &[Transaction]) -> CallFate {
        let is_own = |step: &StepRun| step.session == run.session && step.item == run.call.item;
        let committed = transactions.iter().filter(|transaction| transaction.is_committed());
        let mut kept = committed.flat_map(|transaction| &transaction.steps).map(|id| trace.step(*id));
        if kept.any(|step| is_own(step) && changes(trace, step)) {
            return CallFate::Made;
        }
        match &run.call.end {
            CallEnd::Failed(failure) => CallFate::Refused(failure.to_string()),
            CallEnd::Returned => {
                let mut own = trace.steps.iter().filter(|step| is_own(step));
                own.find(|step| self.is_unmet(trace, step)).map_or(CallFate::Made, |step| {
                    CallFate::Refused(format!("no row was changed by {}", crate::sql::one_line(&step.sql)))
                })
            }
        }
    }

    /// Whether a write of one row, found by its key, met none.
    fn is_unmet(&self, trace: &Trace, step: &StepRun) -> bool {
        let is_write = trace.engine.dialect.kind(&step.sql) == StatementKind::Write;
        let none = step.outcome.as_ref().is_some_and(|outcome| outcome.error.is_none() && changed(outcome) == Some(0));
        if !is_write || !none {
            return false;
        }
        match parse(&step.sql) {
            Some(Statement::Update(update)) => {
                let counts_changes = trace.engine.dialect.counts_changed_rows();
                self.finds_one(&update.table, update.selection.as_ref())
                    && (!counts_changes || changes_what_it_finds(&update.assignments, update.selection.as_ref()))
            }
            Some(Statement::Delete(delete)) => match &delete.from {
                FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables) => {
                    matches!(tables.as_slice(), [table] if self.finds_one(table, delete.selection.as_ref()))
                }
            },
            _ => false,
        }
    }

    /// Whether a condition names the whole key of one table's row.
    fn finds_one(&self, table: &TableWithJoins, condition: Option<&Expr>) -> bool {
        let TableFactor::Table { name, .. } = &table.relation else { return false };
        let Some(definition) = self.0.table(&plain(name)).filter(|_| table.joins.is_empty()) else { return false };
        let equal: Vec<String> = condition.map(equalities).unwrap_or_default().into_iter().map(|(it, _)| it).collect();
        definition.keys().any(|key| key.iter().all(|column| equal.contains(column)))
    }
}

/// Whether a step has changed rows, or may have changed something else.
fn changes(trace: &Trace, step: &StepRun) -> bool {
    let Some(outcome) = step.outcome.as_ref().filter(|outcome| outcome.error.is_none()) else { return false };
    match trace.engine.dialect.kind(&step.sql) {
        StatementKind::Write => changed(outcome) != Some(0),
        StatementKind::Ddl => true,
        _ => false,
    }
}

/// How many rows a write changed; those that RETURNING shows are as many.
fn changed(outcome: &Outcome) -> Option<u64> {
    outcome.affected().or_else(|| outcome.rows().and_then(|result| u64::try_from(result.rows.len()).ok()))
}

/// The columns that a condition compares with a value for equality.
fn equalities(condition: &Expr) -> Vec<(String, &Expr)> {
    match condition {
        Expr::Nested(inner) => equalities(inner),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => [equalities(left), equalities(right)].concat(),
        Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => match (column(left), column(right)) {
            (Some(name), None) => vec![(name, right.as_ref())],
            (None, Some(name)) => vec![(name, left.as_ref())],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Whether a row that matches the condition is certainly changed: a column gets another value than the condition
/// demands, or itself plus or minus something.
fn changes_what_it_finds(assignments: &[Assignment], condition: Option<&Expr>) -> bool {
    let equal = condition.map(equalities).unwrap_or_default();
    assignments.iter().any(|assignment| {
        let AssignmentTarget::ColumnName(name) = &assignment.target else { return false };
        let name = plain(name);
        match &assignment.value {
            Expr::Value(value) => {
                equal.iter().any(|(column, old)| *column == name && matches!(old, Expr::Value(old) if old != value))
            }
            Expr::BinaryOp { left, op: BinaryOperator::Plus | BinaryOperator::Minus, right } => {
                let counts_up = column(left).is_some_and(|own| own == name);
                let was_known =
                    equal.iter().any(|(column, old)| *column == name && old.to_string() == left.to_string());
                (counts_up || was_known) && matches!(right.as_ref(), Expr::Value(step) if step.to_string() != "0")
            }
            _ => false,
        }
    })
}

fn column(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(name) => Some(name.value.to_lowercase()),
        Expr::CompoundIdentifier(names) => names.last().map(|name| name.value.to_lowercase()),
        Expr::Nested(inner) => column(inner),
        _ => None,
    }
}

fn plain(name: &ObjectName) -> String {
    let last = name.0.last().and_then(|part| part.as_ident());
    last.map_or_else(|| name.to_string().to_lowercase(), |ident| ident.value.to_lowercase())
}
