//! Expressions of the parser → [`Term`] and [`Predicate`].

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, CaseWhen, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    Query, UnaryOperator, Value as Literal, Visit, Visitor,
};

use super::Analyzer;
use crate::program::ir::{BinaryOp, Variable};
use crate::program::located::{last_plain, plain};
use crate::program::predicate::{Aggregate, Aggregation, Predicate, Term, Unknown};
use crate::program::selection::{Selection, Subquery};
use crate::value::{Number, Value};

/// Functions of rows together that are not computed.
const OTHER_AGGREGATES: &[&str] = &[
    "any_value",
    "array_agg",
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bool_and",
    "bool_or",
    "every",
    "group_concat",
    "json_agg",
    "json_arrayagg",
    "json_objectagg",
    "jsonb_agg",
    "std",
    "stddev",
    "string_agg",
    "total",
    "variance",
];

impl Analyzer<'_> {
    /// A value.
    pub(super) fn term(&mut self, expr: &Expr) -> Term {
        match expr {
            Expr::Identifier(name) => self.resolve(None, name),
            Expr::CompoundIdentifier(names) => match names.as_slice() {
                [.., qualifier, name] => self.resolve(Some(qualifier), name),
                _ => Term::Any(Unknown::default()),
            },
            Expr::Nested(inner) | Expr::Cast { expr: inner, .. } | Expr::Collate { expr: inner, .. } => {
                self.term(inner)
            }
            Expr::Value(value) => match &value.value {
                Literal::Placeholder(name) if name.starts_with(':') => {
                    let span = self.located.span(value);
                    Term::Variable(Variable { name: name[1..].to_lowercase(), span })
                }
                literal => constant_of(literal).map_or(Term::Any(Unknown::default()), Term::Constant),
            },
            Expr::UnaryOp { op: UnaryOperator::Minus, expr: inner } => match constant(expr) {
                Some(value) => Term::Constant(value),
                None => Term::Negate(Box::new(self.term(inner))),
            },
            Expr::UnaryOp { op: UnaryOperator::Plus, expr } => self.term(expr),
            Expr::BinaryOp { left, op, right } if arithmetic(op).is_some() => {
                let op = arithmetic(op).expect("the guard asked");
                Term::Arithmetic { op, left: Box::new(self.term(left)), right: Box::new(self.term(right)) }
            }
            Expr::Function(function) if last_plain(&function.name) == "values" => self.inserted_value(expr),
            Expr::Function(function) => self.function(function).unwrap_or_else(|| Term::Any(self.unknown(expr))),
            Expr::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref())
            }
            Expr::Subquery(query) => match self.subquery(query, true) {
                Ok(query) => Term::Query(Box::new(query)),
                Err(unknown) => Term::Any(unknown),
            },
            other => Term::Any(self.unknown(other)),
        }
    }

    /// The functions that every system has; `None` for others.
    fn function(&mut self, function: &Function) -> Option<Term> {
        if let Some(answer) = self.advisory_lock(function) {
            return Some(answer);
        }
        let FunctionArguments::List(list) = &function.args else { return None };
        let is_plain = function.over.is_none()
            && function.filter.is_none()
            && function.within_group.is_empty()
            && list.clauses.is_empty();
        let arguments: Option<Vec<&Expr>> = list.args.iter().map(argument).collect();
        let is_distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
        match (last_plain(&function.name).as_str(), arguments) {
            _ if !is_plain => None,
            ("count", None) if matches!(list.args[..], [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)]) => {
                Some(aggregation(Aggregate::Count, None, false))
            }
            (name, Some(arguments)) => match (aggregate(name), arguments.as_slice()) {
                (Some(function), [over]) => Some(aggregation(function, Some(self.term(over)), is_distinct)),
                (None, arguments) => self.stand_in(name, arguments),
                _ => None,
            },
            _ => None,
        }
    }

    /// Functions that choose one of their arguments.
    fn stand_in(&mut self, name: &str, arguments: &[&Expr]) -> Option<Term> {
        match (name, arguments) {
            ("coalesce" | "ifnull" | "nvl", [first, rest @ ..]) if !rest.is_empty() => {
                let first = self.term(first);
                let otherwise = match rest {
                    [last] => self.term(last),
                    rest => self.stand_in(name, rest)?,
                };
                Some(if self.is_never_null(&first) { first } else { choice(is_null(&first), otherwise, first) })
            }
            ("nullif", [value, other]) => {
                let (value, other) = (self.term(value), self.term(other));
                let is_equal = Predicate::Compare { op: BinaryOp::Equal, left: value.clone(), right: other };
                Some(choice(is_equal, Term::Constant(Value::Null), value))
            }
            ("if", [condition, then, otherwise]) => {
                Some(choice(self.predicate(condition), self.term(then), self.term(otherwise)))
            }
            _ => None,
        }
    }

    /// `CASE WHEN a THEN b ELSE c END`, `CASE a WHEN b THEN c END`.
    fn case(&mut self, operand: Option<&Expr>, cases: &[CaseWhen], otherwise: Option<&Expr>) -> Term {
        let operand = operand.map(|operand| self.term(operand));
        let otherwise = otherwise.map_or(Term::Constant(Value::Null), |otherwise| self.term(otherwise));
        cases.iter().rev().fold(otherwise, |otherwise, case| {
            let condition = match &operand {
                Some(left) => {
                    let (left, right) = (left.clone(), self.term(&case.condition));
                    Predicate::Compare { op: BinaryOp::Equal, left, right }
                }
                None => self.predicate(&case.condition),
            };
            choice(condition, self.term(&case.result), otherwise)
        })
    }

    fn is_never_null(&self, term: &Term) -> bool {
        let Term::Column(column) = term else { return false };
        let table = self.schema.table(&column.element.table);
        table.and_then(|table| table.column(&column.element.column)).is_some_and(|known| !known.nullable)
    }

    /// A condition.
    pub(super) fn predicate(&mut self, expr: &Expr) -> Predicate {
        match expr {
            Expr::Nested(inner) => self.predicate(inner),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
                Predicate::all([self.predicate(left), self.predicate(right)])
            }
            Expr::BinaryOp { left, op: BinaryOperator::Or, right } => {
                Predicate::Or(vec![self.predicate(left), self.predicate(right)])
            }
            Expr::UnaryOp { op: UnaryOperator::Not | UnaryOperator::BangNot, expr } => {
                Predicate::Not(Box::new(self.predicate(expr)))
            }
            Expr::BinaryOp { left, op, right } if comparison(op).is_some() => {
                let op = comparison(op).expect("the guard asked");
                self.comparison(op, left, right)
            }
            Expr::IsNull(inner) => Predicate::IsNull(self.term(inner)),
            Expr::IsNotNull(inner) => Predicate::Not(Box::new(Predicate::IsNull(self.term(inner)))),
            Expr::Between { expr, negated, low, high } => {
                let bounds = [(BinaryOp::GreaterEqual, low), (BinaryOp::LessEqual, high)];
                let between = bounds.map(|(op, bound)| self.comparison(op, expr, bound));
                negate(Predicate::all(between), *negated)
            }
            Expr::InList { expr, list, negated } => {
                let (term, list) = (self.term(expr), list.iter().map(|one| self.term(one)).collect());
                negate(Predicate::In { term, list }, *negated)
            }
            Expr::Exists { subquery, negated } => match self.subquery(subquery, false) {
                Ok(query) => negate(Predicate::Exists(Box::new(query)), *negated),
                Err(unknown) => Predicate::Any(unknown),
            },
            Expr::InSubquery { expr, subquery, negated } => {
                let term = self.term(expr);
                match self.subquery(subquery, true) {
                    Ok(query) => negate(Predicate::Among { term, query: Box::new(query) }, *negated),
                    Err(unknown) => Predicate::Any(Unknown { over: vec![term], ..unknown }),
                }
            }
            Expr::Value(value) if matches!(value.value, Literal::Boolean(true)) => Predicate::True,
            other => Predicate::Any(self.unknown(other)),
        }
    }

    /// `a = b`; `(a, b) = (c, d)` is one comparison for each.
    fn comparison(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Predicate {
        if let (BinaryOp::Equal, Expr::Tuple(lefts), Expr::Tuple(rights)) = (op, left, right)
            && lefts.len() == rights.len()
        {
            let pairs = lefts.iter().zip(rights);
            return Predicate::all(pairs.map(|(left, right)| self.comparison(op, left, right)).collect::<Vec<_>>());
        }
        Predicate::Compare { op, left: self.term(left), right: self.term(right) }
    }

    /// Something that the tree cannot say: the terms inside, and what comes in through subqueries.
    pub(super) fn unknown(&mut self, expr: &Expr) -> Unknown {
        let mut unknown = Unknown::default();
        let mut parts = Parts { depth: 0, leaves: Vec::new(), queries: Vec::new(), counts: false };
        let _ = expr.visit(&mut parts);
        for leaf in &parts.leaves {
            unknown.over.push(self.term(leaf));
        }
        for (query, is_value) in &parts.queries {
            let outside = match self.subquery(query, *is_value) {
                Ok(query) => query.outside,
                Err(outside) => outside,
            };
            unknown.origins.extend(outside.origins);
        }
        unknown
    }

    /// A query inside an expression, if how it is answered is understood, or else the columns that come in.
    fn subquery(&mut self, query: &Query, is_value: bool) -> Result<Subquery, Unknown> {
        let before = self.access.tables.len();
        let outputs = self.query(query);
        let mut outside = Unknown::default();
        if is_value {
            outside.origins.extend(outputs.iter().flat_map(|output| output.term.origins()));
        }
        if outside.origins.is_empty() {
            outside.origins.extend(self.deciding(before..self.access.tables.len()));
        }
        match self.answered.take().filter(Selection::is_understood) {
            Some(selection) => Ok(Subquery { selection, outside }),
            None => Err(outside),
        }
    }

    /// `VALUES(x)` in an upsert: what was to be inserted into `x`.
    fn inserted_value(&mut self, expr: &Expr) -> Term {
        let Expr::Function(function) = expr else { return Term::Any(Unknown::default()) };
        let FunctionArguments::List(list) = &function.args else { return Term::Any(Unknown::default()) };
        let [FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Identifier(name)))] = list.args.as_slice() else {
            return Term::Any(self.unknown(expr));
        };
        let excluded = sqlparser::ast::Ident::new(super::write::EXCLUDED);
        let is_upsert = self.scopes.iter().flat_map(|scope| &scope.relations).any(|one| one.alias == plain(&excluded));
        if is_upsert { self.resolve(Some(&excluded), name) } else { Term::Any(Unknown::default()) }
    }
}

/// The leaves of an expression that are not inside a subquery, and its subqueries.
struct Parts {
    depth: usize,
    leaves: Vec<Expr>,
    /// Each with whether its columns are values, as against EXISTS.
    queries: Vec<(Query, bool)>,
    counts: bool,
}

impl Visitor for Parts {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if self.depth == 0 {
            let exists = std::mem::take(&mut self.counts);
            self.queries.push((query.clone(), !exists));
        }
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.depth == 0 {
            match expr {
                Expr::Identifier(_) | Expr::CompoundIdentifier(_) => self.leaves.push(expr.clone()),
                Expr::Value(value) if matches!(value.value, Literal::Placeholder(_)) => self.leaves.push(expr.clone()),
                Expr::Exists { .. } => self.counts = true,
                _ => {}
            }
        }
        ControlFlow::Continue(())
    }
}

/// Whether a function of more than one row is in an expression.
pub(super) fn is_of_many_rows(expr: &Expr) -> bool {
    let is_one = |expr: &Expr| match expr {
        Expr::Function(function) => {
            let name = last_plain(&function.name);
            function.over.is_some() || aggregate(&name).is_some() || OTHER_AGGREGATES.contains(&name.as_str())
        }
        _ => false,
    };
    let found = sqlparser::ast::visit_expressions(expr, |expr| {
        if is_one(expr) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found.is_break()
}

fn argument(argument: &FunctionArg) -> Option<&Expr> {
    if let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument { Some(expr) } else { None }
}

fn aggregate(name: &str) -> Option<Aggregate> {
    Some(match name {
        "count" => Aggregate::Count,
        "sum" => Aggregate::Sum,
        "min" => Aggregate::Min,
        "max" => Aggregate::Max,
        _ => return None,
    })
}

fn aggregation(function: Aggregate, over: Option<Term>, distinct: bool) -> Term {
    Term::Aggregate(Box::new(Aggregation { function, over, distinct }))
}

fn is_null(term: &Term) -> Predicate {
    Predicate::IsNull(term.clone())
}

fn choice(condition: Predicate, then: Term, otherwise: Term) -> Term {
    Term::Choice { condition: Box::new(condition), then: Box::new(then), otherwise: Box::new(otherwise) }
}

fn negate(predicate: Predicate, negated: bool) -> Predicate {
    if negated { Predicate::Not(Box::new(predicate)) } else { predicate }
}

fn arithmetic(op: &BinaryOperator) -> Option<BinaryOp> {
    Some(match op {
        BinaryOperator::Plus => BinaryOp::Add,
        BinaryOperator::Minus => BinaryOp::Subtract,
        BinaryOperator::Multiply => BinaryOp::Multiply,
        BinaryOperator::Divide => BinaryOp::Divide,
        BinaryOperator::Modulo => BinaryOp::Remainder,
        BinaryOperator::MyIntegerDivide => BinaryOp::Quotient,
        _ => return None,
    })
}

fn comparison(op: &BinaryOperator) -> Option<BinaryOp> {
    Some(match op {
        BinaryOperator::Eq => BinaryOp::Equal,
        BinaryOperator::NotEq => BinaryOp::NotEqual,
        BinaryOperator::Lt => BinaryOp::Less,
        BinaryOperator::LtEq => BinaryOp::LessEqual,
        BinaryOperator::Gt => BinaryOp::Greater,
        BinaryOperator::GtEq => BinaryOp::GreaterEqual,
        _ => return None,
    })
}

/// The value of a constant expression.
pub(crate) fn constant(expr: &Expr) -> Option<Value> {
    match expr {
        Expr::Value(value) => constant_of(&value.value),
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => constant(inner),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match constant(expr)? {
            Value::Number(number) => Some(Value::Number(Number::parse(&format!("-{}", number.to_text()))?)),
            _ => None,
        },
        _ => None,
    }
}

fn constant_of(literal: &Literal) -> Option<Value> {
    match literal {
        Literal::Number(text, _) => Number::parse(text).map(Value::Number),
        Literal::SingleQuotedString(text) | Literal::DoubleQuotedString(text) => {
            Some(Value::text(text.replace("''", "'")))
        }
        Literal::Boolean(truth) => Some(Value::Bool(*truth)),
        Literal::Null => Some(Value::Null),
        _ => None,
    }
}
