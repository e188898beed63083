//! Queries: FROM, WHERE, SELECT and what comes after.

use std::collections::BTreeSet;
use std::ops::Range;

use sqlparser::ast::{
    Cte, Expr, GroupByExpr, Ident, JoinConstraint, JoinOperator, LimitClause, LockType, OrderByExpr, OrderByKind,
    Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, TableFactor, TableWithJoins, With,
};

use super::scope::{Kind, Output, Relation, Scope};
use super::{Analyzer, EVERY, Effect, Lock, Place};
use crate::program::located::{last_plain, plain};
use crate::program::predicate::{ColumnRef, Element, Predicate, Term, Unknown};

/// A condition of a query, and the accesses that it restricts; `None` for all. (The condition of an outer join lets the
/// rows of the outer side through, whatever it says of them.)
pub(super) struct Condition {
    predicate: Predicate,
    restricts: Option<BTreeSet<usize>>,
}

impl Analyzer<'_> {
    /// A query, with its tables; gives the columns of its answer.
    pub(super) fn query(&mut self, query: &Query) -> Vec<Output> {
        let hidden = self.ctes.len();
        if let Some(with) = &query.with {
            self.with(with);
        }
        let limited = query.limit_clause.is_some() || query.fetch.is_some();
        let order: &[OrderByExpr] = match query.order_by.as_ref().map(|order| &order.kind) {
            Some(OrderByKind::Expressions(order)) => order,
            _ => &[],
        };
        let outputs = match query.body.as_ref() {
            SetExpr::Select(select) => self.select(select, query, order, limited),
            body => {
                let outputs = self.set_expression(body);
                self.scopes.push(Scope { relations: vec![aliases(&outputs)] });
                self.order(order, limited);
                self.scopes.pop();
                self.answered = None;
                outputs
            }
        };
        let answered = self.answered.take();
        self.limit(query.limit_clause.as_ref());
        self.answered = answered.filter(|_| query.with.is_none() && self.views.is_empty());
        self.ctes.truncate(hidden);
        outputs
    }

    fn with(&mut self, with: &With) {
        for cte in &with.cte_tables {
            let name = plain(&cte.alias.name);
            if with.recursive {
                // Inside, it is itself: what it refers to is accounted for by its first part.
                self.ctes.push((name.clone(), self.recursive_outputs(cte)));
            }
            let mut outputs = self.query(&cte.query);
            if with.recursive {
                self.ctes.pop();
            }
            rename(&mut outputs, cte.alias.columns.iter().map(|column| &column.name));
            self.ctes.push((name, outputs));
        }
    }

    /// The columns of a recursive query, by name only.
    fn recursive_outputs(&self, cte: &Cte) -> Vec<Output> {
        let named = cte
            .alias
            .columns
            .iter()
            .map(|column| Output { name: Some(plain(&column.name)), term: Term::Any(Unknown::default()) });
        // Without names of its own, any name may be one of its columns.
        named.chain([Output::every()]).collect()
    }

    fn set_expression(&mut self, body: &SetExpr) -> Vec<Output> {
        match body {
            SetExpr::Query(query) => self.query(query),
            SetExpr::Select(select) => self.plain_select(select),
            SetExpr::SetOperation { left, right, .. } => {
                let lefts = self.set_expression(left);
                let rights = self.set_expression(right);
                let both = |(left, right): (Output, Output)| Output {
                    name: left.name,
                    term: Term::Any(Unknown { over: vec![left.term, right.term], ..Unknown::default() }),
                };
                lefts.into_iter().zip(rights).map(both).collect()
            }
            SetExpr::Values(values) => {
                let rows = values.rows.iter().map(|row| row.content.iter().map(|value| self.term(value)).collect());
                let rows: Vec<Vec<Term>> = rows.collect();
                rows.iter().flatten().for_each(|term| self.read(term, &Place::Other));
                let first = rows.into_iter().next().unwrap_or_default();
                first.into_iter().map(|term| Output { name: None, term }).collect()
            }
            SetExpr::Insert(statement)
            | SetExpr::Update(statement)
            | SetExpr::Delete(statement)
            | SetExpr::Merge(statement) => self.statement(statement),
            SetExpr::Table(_) => Vec::new(),
        }
    }

    /// A SELECT that stands without ORDER BY and locks.
    fn plain_select(&mut self, select: &Select) -> Vec<Output> {
        let mut conditions = Vec::new();
        let before = self.enter(&select.from, &mut conditions);
        let outputs = self.select_body(select, &mut conditions, before);
        self.scopes.pop();
        outputs
    }

    fn select(&mut self, select: &Select, query: &Query, order: &[OrderByExpr], limited: bool) -> Vec<Output> {
        let mut conditions = Vec::new();
        let before = self.enter(&select.from, &mut conditions);
        let outputs = self.select_body(select, &mut conditions, before);
        let (condition, is_inner) = together(&conditions);
        let selection = self.select_rows(select, query, order, condition, is_inner, before);
        self.in_scope().push(aliases(&outputs));
        self.order(order, limited);
        for lock in &query.locks {
            let of = lock.of.as_ref().map(last_plain);
            let kind = if lock.lock_type == LockType::Share { Lock::Share } else { Lock::Update };
            self.lock(kind, of.as_deref());
        }
        self.scopes.pop();
        self.answered = Some(selection);
        outputs
    }

    fn in_scope(&mut self) -> &mut Vec<Relation> {
        &mut self.scopes.last_mut().expect("a scope was entered").relations
    }

    fn lock(&mut self, lock: Lock, of: Option<&str>) {
        let relations = self.in_scope().clone();
        for relation in relations.iter().filter(|relation| of.is_none_or(|of| relation.alias == of)) {
            if let Kind::Table { access, .. } = relation.kind {
                self.access.tables[access].lock = Some(lock);
            }
        }
    }

    /// Opens the scope of a FROM clause; gives the position of its first access.
    pub(super) fn enter(&mut self, from: &[TableWithJoins], conditions: &mut Vec<Condition>) -> usize {
        let before = self.access.tables.len();
        self.scopes.push(Scope::default());
        from.iter().for_each(|one| self.joined(one, conditions));
        before
    }

    fn select_body(&mut self, select: &Select, conditions: &mut Vec<Condition>, before: usize) -> Vec<Output> {
        self.condition(select.selection.as_ref(), conditions);
        let mut outputs = self.project(&select.projection);
        self.in_scope().push(aliases(&outputs));
        if let GroupByExpr::Expressions(groups, _) = &select.group_by {
            for group in groups {
                let term = self.term(group);
                self.read(&term, &Place::Other);
            }
        }
        for having in select.having.iter().chain(&select.qualify) {
            let predicate = self.predicate(having);
            self.test(&predicate);
        }
        self.in_scope().pop();
        self.restrict(conditions, before);
        if !select.from.is_empty() {
            let deciding = self.deciding(before..self.access.tables.len());
            outputs.iter_mut().filter(|output| output.term.origins().is_empty()).for_each(|output| {
                let over = vec![output.term.clone()];
                output.term = Term::Any(Unknown { over, origins: deciding.clone() });
            });
        }
        outputs
    }

    /// A condition that chooses rows.
    pub(super) fn condition(&mut self, condition: Option<&Expr>, conditions: &mut Vec<Condition>) {
        let Some(condition) = condition else { return };
        let predicate = self.predicate(condition);
        self.test(&predicate);
        conditions.push(Condition { predicate, restricts: None });
    }

    /// Gives each access of the innermost scope the part of the conditions that is about it.
    pub(super) fn restrict(&mut self, conditions: &[Condition], before: usize) {
        for access in before..self.access.tables.len() {
            let is_own = |condition: &&Condition| condition.restricts.as_ref().is_none_or(|one| one.contains(&access));
            let conjuncts = conditions.iter().filter(is_own).flat_map(|condition| condition.predicate.conjuncts());
            let mentions = |conjunct: &&Predicate| conjunct.columns().iter().any(|column| column.access == access);
            let own: Vec<Predicate> = conjuncts.filter(mentions).cloned().collect();
            let known = std::mem::replace(&mut self.access.tables[access].predicate, Predicate::True);
            self.access.tables[access].predicate = Predicate::all(std::iter::once(known).chain(own));
        }
    }

    fn joined(&mut self, one: &TableWithJoins, conditions: &mut Vec<Condition>) {
        let start = self.access.tables.len();
        self.factor(&one.relation, conditions);
        for join in &one.joins {
            let middle = self.access.tables.len();
            let left = self.in_scope().len();
            self.factor(&join.relation, conditions);
            let (inner, outer) = (middle..self.access.tables.len(), start..middle);
            use JoinOperator as On;
            let (constraint, restricts) = match &join.join_operator {
                On::Left(on) | On::LeftOuter(on) => (on, Some(inner.collect())),
                On::Right(on) | On::RightOuter(on) => (on, Some(outer.collect())),
                On::FullOuter(on) => (on, Some(BTreeSet::new())),
                On::Join(on) | On::Inner(on) | On::CrossJoin(on) | On::StraightJoin(on) => (on, None),
                _ => continue,
            };
            let predicate = self.join_predicate(constraint, left);
            self.test(&predicate);
            conditions.push(Condition { predicate, restricts });
        }
    }

    /// The condition of a join; `left` is how many relations stand to the left of it.
    fn join_predicate(&mut self, constraint: &JoinConstraint, left: usize) -> Predicate {
        match constraint {
            JoinConstraint::On(condition) => self.predicate(condition),
            JoinConstraint::Using(columns) => {
                let columns: Vec<String> = columns.iter().map(last_plain).collect();
                self.equal_columns(&columns, left)
            }
            JoinConstraint::Natural => {
                let columns = |relations: &[Relation]| -> BTreeSet<String> {
                    let of = |relation: &Relation| match &relation.kind {
                        Kind::Table { name, .. } => self.schema.table(name).map(|table| &table.columns),
                        _ => None,
                    };
                    relations.iter().filter_map(of).flatten().map(|column| column.name.clone()).collect()
                };
                let relations = &self.scopes.last().expect("a scope was entered").relations;
                let shared = columns(&relations[..left]);
                let shared: Vec<String> = shared.intersection(&columns(&relations[left..])).cloned().collect();
                self.equal_columns(&shared, left)
            }
            JoinConstraint::None => Predicate::True,
        }
    }

    fn equal_columns(&mut self, columns: &[String], left: usize) -> Predicate {
        let mut equal = Vec::new();
        for column in columns {
            let side = |analyzer: &mut Self, range: Range<usize>| {
                let whole = analyzer.scopes.clone();
                analyzer.in_scope().drain(range.end..);
                analyzer.in_scope().drain(..range.start);
                let term = analyzer.resolve(None, &Ident::new(column));
                analyzer.scopes = whole;
                term
            };
            let all = self.in_scope().len();
            let (left, right) = (side(self, 0..left), side(self, left..all));
            equal.push(Predicate::Compare { op: crate::program::BinaryOp::Equal, left, right });
        }
        Predicate::all(equal)
    }

    fn factor(&mut self, factor: &TableFactor, conditions: &mut Vec<Condition>) {
        let relation = match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                self.relation(name, alias.as_ref().map(|alias| &alias.name), Effect::Read)
            }
            TableFactor::Derived { subquery, alias, .. } => {
                let mut outputs = self.query(subquery);
                let columns = alias.iter().flat_map(|alias| alias.columns.iter().map(|column| &column.name));
                rename(&mut outputs, columns);
                let alias = alias.as_ref().map(|alias| plain(&alias.name)).unwrap_or_default();
                Relation { alias, kind: Kind::Derived(outputs) }
            }
            TableFactor::NestedJoin { table_with_joins, .. } => return self.joined(table_with_joins, conditions),
            TableFactor::Table { name, alias, .. } | TableFactor::Function { name, alias, .. } => {
                let alias = alias.as_ref().map_or_else(|| last_plain(name), |alias| plain(&alias.name));
                Relation { alias, kind: Kind::Unknown }
            }
            _ => Relation { alias: String::new(), kind: Kind::Unknown },
        };
        self.in_scope().push(relation);
    }

    /// The columns of a SELECT list, or of RETURNING; they are read.
    pub(super) fn project(&mut self, items: &[SelectItem]) -> Vec<Output> {
        let mut outputs = Vec::new();
        for item in items {
            match item {
                SelectItem::UnnamedExpr(expr) => {
                    let name = match expr {
                        Expr::Identifier(name) => Some(plain(name)),
                        Expr::CompoundIdentifier(names) => names.last().map(plain),
                        Expr::Function(function) => Some(last_plain(&function.name)),
                        _ => None,
                    };
                    outputs.push(Output { name, term: self.term(expr) });
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    outputs.push(Output { name: Some(plain(alias)), term: self.term(expr) });
                }
                SelectItem::Wildcard(_) => outputs.extend(self.wildcard(None)),
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                    outputs.extend(self.wildcard(Some(&last_plain(name))));
                }
                _ => outputs.push(Output { name: None, term: Term::Any(Unknown::default()) }),
            }
        }
        outputs.iter().for_each(|output| self.read(&output.term, &Place::Other));
        outputs
    }

    /// `*`: the columns of all relations, or of one.
    pub(super) fn wildcard(&self, of: Option<&str>) -> Vec<Output> {
        let scope = self.scopes.last().map(|scope| scope.relations.as_slice()).unwrap_or_default();
        let mut outputs = Vec::new();
        for relation in scope.iter().filter(|relation| of.is_none_or(|of| relation.alias == of)) {
            match &relation.kind {
                Kind::Table { access, name } => outputs.extend(self.columns_of(name).into_iter().map(|column| {
                    let element = Element { table: name.clone(), column: column.clone() };
                    let span = self.access.tables[*access].span;
                    Output { name: Some(column), term: Term::Column(ColumnRef { access: *access, element, span }) }
                })),
                Kind::Derived(columns) => outputs.extend(
                    columns.iter().map(|column| Output { name: column.name.clone(), term: column.seen_outside() }),
                ),
                Kind::Excluded(_) => {}
                Kind::Unknown => outputs.push(Output::every()),
            }
        }
        outputs
    }

    /// The columns of a table; [`EVERY`] if they are not known.
    pub(super) fn columns_of(&self, table: &str) -> Vec<String> {
        match self.schema.table(table) {
            Some(table) => table.columns.iter().map(|column| column.name.clone()).collect(),
            None => vec![EVERY.to_string()],
        }
    }

    /// ORDER BY. If only the first rows are taken, it decides which.
    pub(super) fn order(&mut self, order: &[OrderByExpr], limited: bool) {
        for one in order {
            let term = self.term(&one.expr);
            if limited {
                self.test(&Predicate::Any(Unknown { over: vec![term], ..Unknown::default() }));
            } else {
                self.read(&term, &Place::Other);
            }
        }
    }

    fn limit(&mut self, limit: Option<&LimitClause>) {
        let expressions: Vec<&Expr> = match limit {
            Some(LimitClause::LimitOffset { limit, offset, .. }) => {
                limit.iter().chain(offset.iter().map(|offset| &offset.value)).collect()
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => vec![offset, limit],
            None => return,
        };
        for expression in expressions {
            let term = self.term(expression);
            self.read(&term, &Place::Other);
        }
    }

    /// The columns that decide which rows of some tables there are: those that are tested, or else the keys.
    pub(super) fn deciding(&self, accesses: Range<usize>) -> BTreeSet<Element> {
        let mut elements = BTreeSet::new();
        for access in &self.access.tables[accesses] {
            let key = || {
                let table = self.schema.table(&access.table);
                let key = table.map(|table| table.primary_key.clone()).filter(|key| !key.is_empty());
                key.unwrap_or_else(|| self.columns_of(&access.table))
            };
            let columns = if access.tests.is_empty() { key() } else { access.tests.iter().cloned().collect() };
            let element = |column: String| Element { table: access.table.clone(), column };
            elements.extend(columns.into_iter().map(element));
        }
        elements
    }
}

/// All conditions, and whether each of them is about all rows: none is of an outer join.
pub(super) fn together(conditions: &[Condition]) -> (Predicate, bool) {
    let is_inner = conditions.iter().all(|condition| condition.restricts.is_none());
    (Predicate::all(conditions.iter().map(|condition| condition.predicate.clone())), is_inner)
}

/// The columns of an answer, by the names that ORDER BY may use.
fn aliases(outputs: &[Output]) -> Relation {
    let named = outputs.iter().filter(|output| output.name.is_some()).cloned().collect();
    Relation { alias: String::new(), kind: Kind::Derived(named) }
}

fn rename<'a>(outputs: &mut [Output], names: impl Iterator<Item = &'a Ident>) {
    outputs.iter_mut().zip(names).for_each(|(output, name)| output.name = Some(plain(name)));
}
