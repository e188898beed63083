//! Conditions of SQL statements as typed trees over columns, constants and host variables.
//!
//! What decides whether two statements can meet on a row is which columns they compare with what. So a condition is
//! kept as a tree; what the tree cannot say (a function, a pattern, a subquery) is *any* value or truth, together with
//! the terms that it is computed from: who asks what a condition reads must not miss them.

use std::collections::BTreeSet;
use std::fmt;

use crate::program::ir::{BinaryOp, Span, Variable};
use crate::program::selection::Subquery;
use crate::value::Value;

/// A column of a table: what AGENDA calls a database element.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Element {
    /// The table, by its plain name.
    pub table: String,
    /// The column, by its plain name.
    pub column: String,
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.table, self.column)
    }
}

/// A mention of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnRef {
    /// Which of the statement's tables it belongs to: a position among its accesses. (A table may be mentioned twice.)
    pub access: usize,
    /// The column.
    pub element: Element,
    /// Where it is mentioned.
    pub span: Span,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Term {
    /// A column of the row that is looked at.
    Column(ColumnRef),
    /// A constant.
    Constant(Value),
    /// The value of a host variable.
    Variable(Variable),
    /// `-x`
    Negate(Box<Term>),
    /// `x + y` and the like.
    Arithmetic {
        /// The operator; no comparison.
        op: BinaryOp,
        /// Its left operand.
        left: Box<Term>,
        /// Its right operand.
        right: Box<Term>,
    },
    /// One value or another one: `CASE`, `COALESCE`.
    Choice {
        /// If this is true, …
        condition: Box<Predicate>,
        /// … it is this,
        then: Box<Term>,
        /// or else this.
        otherwise: Box<Term>,
    },
    /// A value of all rows together, or of all rows of a group.
    Aggregate(Box<Aggregation>),
    /// The value that a query answers with; NULL if it has no row.
    Query(Box<Subquery>),
    /// Any value.
    Any(Unknown),
}

/// A value of rows together: `SUM(x)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregation {
    /// Which.
    pub function: Aggregate,
    /// What it is computed over; `None` for `COUNT(*)`.
    pub over: Option<Term>,
    /// Whether equal values count once.
    pub distinct: bool,
}

/// A function of rows together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// How many there are, but for NULL.
    Count,
    /// Their sum; NULL without any.
    Sum,
    /// The least.
    Min,
    /// The greatest.
    Max,
}

/// Something whose value is not known, but what it is computed from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Unknown {
    /// The terms inside.
    pub over: Vec<Term>,
    /// The columns that come in through a subquery, which accounts for reading them itself.
    pub origins: BTreeSet<Element>,
}

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// True for every row.
    True,
    /// All hold.
    And(Vec<Predicate>),
    /// One holds.
    Or(Vec<Predicate>),
    /// It does not hold.
    Not(Box<Predicate>),
    /// A comparison of two values.
    Compare {
        /// The operator; a comparison.
        op: BinaryOp,
        /// Its left operand.
        left: Term,
        /// Its right operand.
        right: Term,
    },
    /// `x IS NULL`
    IsNull(Term),
    /// `x IN (a, b)`
    In {
        /// What is looked for.
        term: Term,
        /// Where.
        list: Vec<Term>,
    },
    /// `EXISTS (SELECT …)`
    Exists(Box<Subquery>),
    /// `x IN (SELECT …)`
    Among {
        /// What is looked for.
        term: Term,
        /// Where.
        query: Box<Subquery>,
    },
    /// Any truth value.
    Any(Unknown),
}

impl Predicate {
    /// Whether nothing in it can be anything.
    pub fn is_understood(&self) -> bool {
        let is_known = Term::is_understood;
        match self {
            Predicate::True | Predicate::Exists(_) => true,
            Predicate::Any(_) => false,
            Predicate::Among { term, .. } => is_known(term),
            Predicate::And(inner) | Predicate::Or(inner) => inner.iter().all(Predicate::is_understood),
            Predicate::Not(inner) => inner.is_understood(),
            Predicate::Compare { left, right, .. } => is_known(left) && is_known(right),
            Predicate::IsNull(term) => is_known(term),
            Predicate::In { term, list } => is_known(term) && list.iter().all(is_known),
        }
    }
}

impl Term {
    /// Whether nothing in it can be anything.
    pub fn is_understood(&self) -> bool {
        let mut is_known = true;
        self.walk(&mut |one| {
            is_known &= match one {
                Term::Any(_) => false,
                Term::Choice { condition, .. } => condition.is_understood(),
                _ => true,
            }
        });
        is_known
    }

    /// Calls `visit` with this term and every term inside.
    pub fn walk<'t>(&'t self, visit: &mut dyn FnMut(&'t Term)) {
        visit(self);
        match self {
            Term::Negate(inner) => inner.walk(visit),
            Term::Arithmetic { left, right, .. } => {
                left.walk(visit);
                right.walk(visit);
            }
            Term::Choice { condition, then, otherwise } => {
                condition.atoms(&mut |terms| terms.into_iter().for_each(|term| term.walk(visit)));
                then.walk(visit);
                otherwise.walk(visit);
            }
            Term::Aggregate(aggregation) => aggregation.over.iter().for_each(|term| term.walk(visit)),
            Term::Query(query) => query.outside.over.iter().for_each(|term| term.walk(visit)),
            Term::Any(unknown) => unknown.over.iter().for_each(|term| term.walk(visit)),
            Term::Column(_) | Term::Constant(_) | Term::Variable(_) => {}
        }
    }

    /// The columns in it.
    pub fn columns(&self) -> Vec<&ColumnRef> {
        let mut columns = Vec::new();
        self.walk(&mut |term| columns.extend(term.as_column()));
        columns
    }

    /// The host variables in it.
    pub fn variables(&self) -> Vec<&Variable> {
        let mut variables = Vec::new();
        self.walk(&mut |term| variables.extend(term.as_variable()));
        variables
    }

    /// The columns that its value comes from, be it through subqueries.
    pub fn origins(&self) -> BTreeSet<Element> {
        let mut origins = BTreeSet::new();
        self.walk(&mut |term| match term {
            Term::Column(column) => drop(origins.insert(column.element.clone())),
            Term::Query(query) => origins.extend(query.outside.origins.iter().cloned()),
            Term::Any(unknown) => origins.extend(unknown.origins.iter().cloned()),
            Term::Choice { condition, .. } => origins.extend(condition.origins()),
            _ => {}
        });
        origins
    }

    /// What it takes of rows together.
    pub fn aggregations(&self) -> Vec<&Aggregation> {
        let mut found = Vec::new();
        self.walk(&mut |term| found.extend(if let Term::Aggregate(one) = term { Some(one.as_ref()) } else { None }));
        found
    }

    /// The column that it is.
    pub fn as_column(&self) -> Option<&ColumnRef> {
        if let Term::Column(column) = self { Some(column) } else { None }
    }

    fn as_variable(&self) -> Option<&Variable> {
        if let Term::Variable(variable) = self { Some(variable) } else { None }
    }
}

impl Predicate {
    /// All of these, without layers.
    pub fn all(predicates: impl IntoIterator<Item = Predicate>) -> Predicate {
        let mut conjuncts = Vec::new();
        for predicate in predicates {
            match predicate {
                Predicate::True => {}
                Predicate::And(inner) => conjuncts.extend(inner),
                other => conjuncts.push(other),
            }
        }
        match conjuncts.len() {
            0 => Predicate::True,
            1 => conjuncts.remove(0),
            _ => Predicate::And(conjuncts),
        }
    }

    /// The conditions that must all hold.
    pub fn conjuncts(&self) -> &[Predicate] {
        match self {
            Predicate::True => &[],
            Predicate::And(conjuncts) => conjuncts,
            other => std::slice::from_ref(other),
        }
    }

    /// Calls `visit` with the terms of each comparison (or test, or unknown condition) in turn.
    pub fn atoms<'p>(&'p self, visit: &mut dyn FnMut(Vec<&'p Term>)) {
        match self {
            Predicate::True => {}
            Predicate::And(inner) | Predicate::Or(inner) => inner.iter().for_each(|one| one.atoms(visit)),
            Predicate::Not(inner) => inner.atoms(visit),
            Predicate::Compare { left, right, .. } => visit(vec![left, right]),
            Predicate::IsNull(term) => visit(vec![term]),
            Predicate::In { term, list } => visit(std::iter::once(term).chain(list).collect()),
            Predicate::Exists(query) => visit(query.outside.over.iter().collect()),
            Predicate::Among { term, query } => visit(std::iter::once(term).chain(&query.outside.over).collect()),
            Predicate::Any(unknown) => visit(unknown.over.iter().collect()),
        }
    }

    /// What it takes of rows together.
    pub fn aggregations(&self) -> Vec<&Aggregation> {
        let mut found = Vec::new();
        self.atoms(&mut |terms| found.extend(terms.into_iter().flat_map(Term::aggregations)));
        found
    }

    /// The columns in it.
    pub fn columns(&self) -> Vec<&ColumnRef> {
        let mut columns = Vec::new();
        self.atoms(&mut |terms| columns.extend(terms.into_iter().flat_map(Term::columns)));
        columns
    }

    /// The columns that come in through subqueries.
    pub fn origins(&self) -> BTreeSet<Element> {
        let mut origins = BTreeSet::new();
        match self {
            Predicate::And(inner) | Predicate::Or(inner) => origins.extend(inner.iter().flat_map(Predicate::origins)),
            Predicate::Not(inner) => origins.extend(inner.origins()),
            Predicate::Exists(query) | Predicate::Among { query, .. } => {
                origins.extend(query.outside.origins.iter().cloned());
            }
            Predicate::Any(unknown) => origins.extend(unknown.origins.iter().cloned()),
            _ => {}
        }
        self.atoms(&mut |terms| origins.extend(terms.into_iter().flat_map(Term::origins)));
        origins
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Term::Column(column) => column.element.fmt(f),
            Term::Constant(value) => value.fmt(f),
            Term::Variable(variable) => variable.fmt(f),
            Term::Negate(inner) => write!(f, "-({inner})"),
            Term::Arithmetic { op, left, right } => write!(f, "({left} {op} {right})"),
            Term::Choice { condition, then, otherwise } => write!(f, "({condition} ? {then} : {otherwise})"),
            Term::Aggregate(aggregation) => aggregation.fmt(f),
            Term::Query(query) => query.outside.fmt(f),
            Term::Any(unknown) => unknown.fmt(f),
        }
    }
}

/// `count(distinct stock.s_i_id)`
impl fmt::Display for Aggregation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let function = match self.function {
            Aggregate::Count => "count",
            Aggregate::Sum => "sum",
            Aggregate::Min => "min",
            Aggregate::Max => "max",
        };
        let distinct = if self.distinct { "distinct " } else { "" };
        match &self.over {
            Some(over) => write!(f, "{function}({distinct}{over})"),
            None => write!(f, "{function}(*)"),
        }
    }
}

/// `any(accounts.balance, :x)`
impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inside = self.over.iter().map(Term::to_string).chain(self.origins.iter().map(Element::to_string));
        write!(f, "any({})", inside.collect::<Vec<_>>().join(", "))
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |inner: &[Predicate], word: &str| {
            let inner: Vec<String> = inner.iter().map(Predicate::to_string).collect();
            format!("({})", inner.join(word))
        };
        match self {
            Predicate::True => f.write_str("true"),
            Predicate::And(inner) => f.write_str(&join(inner, " and ")),
            Predicate::Or(inner) => f.write_str(&join(inner, " or ")),
            Predicate::Not(inner) => write!(f, "not {inner}"),
            Predicate::Compare { op, left, right } => write!(f, "{left} {op} {right}"),
            Predicate::IsNull(term) => write!(f, "{term} is null"),
            Predicate::In { term, list } => {
                let list: Vec<String> = list.iter().map(Term::to_string).collect();
                write!(f, "{term} in ({})", list.join(", "))
            }
            Predicate::Exists(query) => query.outside.fmt(f),
            Predicate::Among { term, query } => write!(f, "{term} in {}", query.outside),
            Predicate::Any(unknown) => unknown.fmt(f),
        }
    }
}
