//! Expressions of the program, and terms and conditions of SQL, as symbols.
//!
//! What a variable or a column is, whoever asks has to say: see [`Scope`].

use super::machine::Machine;
use super::rows::Row;
use super::symbol::{Place, Symbol, Symbols, Truth};
use crate::program::ir::{BinaryOp, Expr, ExprKind};
use crate::program::predicate::{Aggregation, ColumnRef, Predicate, Term};
use crate::program::selection::Subquery;
use crate::solve::{Bool, Int};

/// What names mean, and how values are computed with.
pub(crate) trait Scope {
    /// The symbols that values are made of.
    fn symbols(&mut self) -> &mut Symbols;
    /// The value of a variable of an instance.
    fn variable(&mut self, instance: usize, name: &str) -> Symbol;
    /// The value of a column of the row that is looked at.
    fn column(&mut self, column: &ColumnRef) -> Symbol;
    /// `FOUND()` of an instance.
    fn found(&self, instance: usize) -> Bool;
    /// `ROW_COUNT()` of an instance.
    fn count(&self, instance: usize) -> Int;

    /// `a / b` in an expression of the program.
    fn divide(&mut self, a: &Symbol, b: &Symbol, place: &Place) -> Symbol {
        self.symbols().arithmetic(BinaryOp::Divide, a, b, place)
    }

    /// `a / b` in SQL: what it gives, and whether division by zero fails, engines disagree on.
    fn divide_in_sql(&mut self, _a: &Symbol, _b: &Symbol, _place: &Place) -> Symbol {
        self.symbols().opaque()
    }

    /// A value of rows together, which a scope of single rows does not know.
    fn aggregate(&mut self, _aggregation: &Aggregation) -> Symbol {
        self.symbols().opaque()
    }

    /// What a query answers with. Who does not know the rows does not know it.
    fn query(&mut self, _query: &Subquery, _place: &Place) -> Symbol {
        self.symbols().opaque()
    }

    /// Whether a query has rows.
    fn exists(&mut self, _query: &Subquery, _place: &Place) -> Truth {
        self.symbols().opaque_truth()
    }

    /// Whether a value is among what a query answers with.
    fn among(&mut self, _value: &Symbol, _query: &Subquery, _place: &Place) -> Truth {
        self.symbols().opaque_truth()
    }

    /// The value of an expression.
    fn expression(&mut self, expr: &Expr, place: &Place) -> Symbol {
        match &expr.kind {
            ExprKind::Literal(value) => self.symbols().constant(value),
            ExprKind::Variable(name) => self.variable(place.instance, name),
            ExprKind::Found => {
                let found = self.found(place.instance);
                let truth = self.symbols().certain(found);
                self.symbols().of_truth(truth)
            }
            ExprKind::RowCount => {
                let count = self.count(place.instance);
                self.symbols().whole(count)
            }
            ExprKind::Any => self.symbols().opaque(),
            ExprKind::Negate(operand) => {
                let operand = self.expression(operand, place);
                self.symbols().negate(&operand)
            }
            ExprKind::Binary { op: BinaryOp::Divide, left, right } => {
                let (left, right) = (self.expression(left, place), self.expression(right, place));
                self.divide(&left, &right, place)
            }
            ExprKind::Binary { op, left, right } if !is_logical(*op) && !op.is_comparison() => {
                let (left, right) = (self.expression(left, place), self.expression(right, place));
                self.symbols().arithmetic(*op, &left, &right, place)
            }
            ExprKind::Not(_) | ExprKind::IsNull { .. } | ExprKind::Binary { .. } => {
                let truth = self.condition(expr, place);
                self.symbols().of_truth(truth)
            }
        }
    }

    /// The truth of an expression.
    fn condition(&mut self, expr: &Expr, place: &Place) -> Truth {
        match &expr.kind {
            ExprKind::Not(operand) => self.condition(operand, place).opposite(),
            ExprKind::IsNull { operand, negated } => {
                let operand = self.expression(operand, place);
                let is_null = self.symbols().certain(operand.null);
                if *negated { is_null.opposite() } else { is_null }
            }
            ExprKind::Binary { op: BinaryOp::And, left, right } => self.conjunction(left, right, false, place),
            // a OR b is NOT (NOT a AND NOT b), in three-valued logic, too.
            ExprKind::Binary { op: BinaryOp::Or, left, right } => self.conjunction(left, right, true, place).opposite(),
            ExprKind::Binary { op, left, right } if op.is_comparison() => {
                let (left, right) = (self.expression(left, place), self.expression(right, place));
                self.symbols().compare(*op, &left, &right)
            }
            _ => {
                let value = self.expression(expr, place);
                self.symbols().truth(&value)
            }
        }
    }

    /// Whether both are true, or, negated, both are false. The right side is evaluated only if the left one leaves it
    /// open.
    fn conjunction(&mut self, left: &Expr, right: &Expr, negated: bool, place: &Place) -> Truth {
        let sign = |truth: Truth| if negated { truth.opposite() } else { truth };
        let left = sign(self.condition(left, place));
        let open = self.symbols().problem.not(left.is_false);
        let guard = self.symbols().problem.and(place.guard, open);
        let right = sign(self.condition(right, &Place { guard, ..*place }));
        self.symbols().both(left, right)
    }

    /// The value of a term.
    fn term(&mut self, term: &Term, place: &Place) -> Symbol {
        match term {
            Term::Column(column) => self.column(column),
            Term::Constant(value) => self.symbols().constant(value),
            Term::Variable(variable) => self.variable(place.instance, &variable.name),
            Term::Negate(inner) => {
                let inner = self.term(inner, place);
                self.symbols().negate(&inner)
            }
            Term::Choice { condition, then, otherwise } => self.choice(condition, then, otherwise, place),
            Term::Aggregate(aggregation) => self.aggregate(aggregation),
            Term::Query(query) => self.query(query, place),
            Term::Any(_) => self.symbols().opaque(),
            Term::Arithmetic { op: BinaryOp::Divide, left, right } => {
                let (left, right) = (self.term(left, place), self.term(right, place));
                self.divide_in_sql(&left, &right, place)
            }
            Term::Arithmetic { op, left, right } => {
                let (left, right) = (self.term(left, place), self.term(right, place));
                self.symbols().arithmetic(*op, &left, &right, place)
            }
        }
    }

    /// One value or another one. Only the one that is chosen has to be there.
    fn choice(&mut self, condition: &Predicate, then: &Term, otherwise: &Term, place: &Place) -> Symbol {
        let is_chosen = self.predicate(condition, place).is_true;
        let problem = &mut self.symbols().problem;
        let is_other = problem.not(is_chosen);
        let guards = [is_chosen, is_other].map(|one| problem.and(place.guard, one));
        let then = self.term(then, &Place { guard: guards[0], ..*place });
        let otherwise = self.term(otherwise, &Place { guard: guards[1], ..*place });
        self.symbols().choose(is_chosen, &then, &otherwise)
    }

    /// The truth of a condition.
    fn predicate(&mut self, predicate: &Predicate, place: &Place) -> Truth {
        let always = self.symbols().always;
        let always = self.symbols().certain(always);
        match predicate {
            Predicate::True => always,
            Predicate::And(inner) => inner.iter().fold(always, |all, one| {
                let one = self.predicate(one, place);
                self.symbols().both(all, one)
            }),
            Predicate::Or(inner) => {
                let none = inner.iter().fold(always, |none, one| {
                    let one = self.predicate(one, place).opposite();
                    self.symbols().both(none, one)
                });
                none.opposite()
            }
            Predicate::Not(inner) => self.predicate(inner, place).opposite(),
            Predicate::Compare { op, left, right } => {
                let (left, right) = (self.term(left, place), self.term(right, place));
                self.symbols().compare(*op, &left, &right)
            }
            Predicate::IsNull(term) => {
                let term = self.term(term, place);
                self.symbols().certain(term.null)
            }
            Predicate::In { term, list } => {
                let term = self.term(term, place);
                let none = list.iter().fold(always, |none, one| {
                    let one = self.term(one, place);
                    let differs = self.symbols().compare(BinaryOp::Equal, &term, &one).opposite();
                    self.symbols().both(none, differs)
                });
                none.opposite()
            }
            Predicate::Exists(query) => self.exists(query, place),
            Predicate::Among { term, query } => {
                let term = self.term(term, place);
                self.among(&term, query, place)
            }
            Predicate::Any(_) => self.symbols().opaque_truth(),
        }
    }
}

/// The focus rows as what columns mean; the columns of `own`, if it is a row of their table.
struct Focused<'m, 'a> {
    machine: &'m mut Machine<'a>,
    own: Option<(&'m str, &'m Row)>,
}

impl Scope for Focused<'_, '_> {
    fn symbols(&mut self) -> &mut Symbols {
        &mut self.machine.symbols
    }

    fn variable(&mut self, instance: usize, name: &str) -> Symbol {
        self.machine.variable(instance, name)
    }

    fn column(&mut self, column: &ColumnRef) -> Symbol {
        let element = &column.element;
        match self.own.filter(|(table, _)| *table == element.table) {
            Some((_, row)) => {
                row.columns.get(&element.column).copied().unwrap_or_else(|| self.machine.symbols.opaque())
            }
            None => self.machine.column(&element.table, &element.column),
        }
    }

    fn found(&self, instance: usize) -> Bool {
        self.machine.locals[instance].found
    }

    fn count(&self, instance: usize) -> Int {
        self.machine.locals[instance].count
    }
}

impl Machine<'_> {
    /// The value of an expression.
    pub(super) fn expression(&mut self, expr: &Expr, place: &Place) -> Symbol {
        Focused { machine: self, own: None }.expression(expr, place)
    }

    /// The truth of an expression.
    pub(super) fn condition(&mut self, expr: &Expr, place: &Place) -> Truth {
        Focused { machine: self, own: None }.condition(expr, place)
    }

    /// The value of a term. Columns are those of `own`, if it is a row of their table, and otherwise of the focus.
    pub(super) fn term(&mut self, term: &Term, own: Option<(&str, &Row)>, place: &Place) -> Symbol {
        Focused { machine: self, own }.term(term, place)
    }

    /// The truth of a condition.
    pub(super) fn predicate(&mut self, predicate: &Predicate, own: Option<(&str, &Row)>, place: &Place) -> Truth {
        Focused { machine: self, own }.predicate(predicate, place)
    }
}

fn is_logical(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::And | BinaryOp::Or)
}
