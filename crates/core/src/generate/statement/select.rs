//! Queries.

use crate::dialect::Construct;
use crate::generate::expression::print::print;
use crate::generate::expression::{Comparison, Expression};
use crate::generate::features;
use crate::generate::maker::{Maker, Scope, Source, can_group};
use crate::generate::schema::Kind;
use crate::value::Value;

/// The kinds that an aggregate may give.
pub(in crate::generate) const AGGREGATE_KINDS: &[Kind] =
    &[Kind::Integer, Kind::Integer, Kind::Decimal, Kind::Text, Kind::Date, Kind::Time, Kind::Timestamp];

impl Maker<'_> {
    /// A query that locks nothing by itself.
    pub(in crate::generate) fn select(&mut self) -> String {
        let (scope, from) = self.from();
        let predicate = self.predicate(&scope);
        let condition = self.where_clause(predicate.as_ref());
        match self.model.word(&features::SELECT_SHAPE, &mut self.random, |_| true) {
            Some("distinct") => {
                let list = self.columns(&scope, 2);
                match list.is_empty() {
                    true => format!("SELECT {} FROM {from}{condition}", self.all_columns(&scope)),
                    false => format!("SELECT DISTINCT {} FROM {from}{condition}", list.join(", ")),
                }
            }
            Some("aggregate") => format!("SELECT {} FROM {from}{condition}", self.aggregates(&scope)),
            Some("group") => {
                let list = self.columns(&scope, 2).join(", ");
                let aggregates = self.aggregates(&scope);
                match list.is_empty() {
                    true => format!("SELECT {aggregates} FROM {from}{condition}"),
                    false => {
                        let having = self.having(&scope);
                        format!("SELECT {list}, {aggregates} FROM {from}{condition} GROUP BY {list}{having}")
                    }
                }
            }
            _ => {
                let order = match scope.sources.as_slice() {
                    [source] => self.order(source.table),
                    _ => String::new(),
                };
                format!("SELECT {} FROM {from}{condition}{order}", self.select_list(&scope))
            }
        }
    }

    /// A query that locks the rows that it reads.
    pub(super) fn locking_select(&mut self, lock: Construct) -> String {
        let table = self.table();
        let scope = Scope::of(table);
        let predicate = self.predicate(&scope);
        let condition = self.where_clause(predicate.as_ref());
        let (list, order) = (self.select_list(&scope), self.order(table));
        let lock = self.language.spelling(lock).expect("locking queries are asked for only where they exist");
        format!("SELECT {list} FROM {}{condition}{order} {lock}", self.schema.tables[table].name)
    }

    /// One table, or two that are joined.
    fn from(&mut self) -> (Scope, String) {
        let table = self.table();
        let name = &self.schema.tables[table].name;
        let alone = (Scope::of(table), name.clone());
        if self.model.count(&features::SELECT_TABLES, &mut self.random) < 2 {
            return alone;
        }
        let other = self.table();
        let other_name = &self.schema.tables[other].name;
        let (names, tables) = match other == table {
            true => (["x", "y"], [format!("{name} AS x"), format!("{other_name} AS y")]),
            false => ([name.as_str(), other_name.as_str()], [name.clone(), other_name.clone()]),
        };
        let language = self.language;
        let allowed = |word: &str| word != "full" || language.has(Construct::FullJoin);
        let (join, nullable) = match self.model.word(&features::JOIN, &mut self.random, allowed) {
            Some("left") => ("LEFT JOIN", [false, true]),
            Some("full") => (language.spelling(Construct::FullJoin).unwrap_or("FULL JOIN"), [true, true]),
            _ => ("JOIN", [false, false]),
        };
        let source = |table, at: usize| Source { table, qualifier: Some(names[at].into()), nullable: nullable[at] };
        let sources = [source(table, 0), source(other, 1)];
        let Some(on) = self.join_condition(&sources) else { return alone };
        let from = format!("{} {join} {} ON {}", tables[0], tables[1], print(&on, self.language));
        (Scope { sources: sources.to_vec(), ..Scope::of(table) }, from)
    }

    /// Equality of a foreign key with what it refers to, if there is one; else of two columns of one kind.
    fn join_condition(&mut self, sources: &[Source; 2]) -> Option<Expression> {
        let pairs = self.reference(&sources[0], &sources[1]).or_else(|| {
            let reversed = self.reference(&sources[1], &sources[0])?;
            Some(reversed.into_iter().map(|(here, there)| (there, here)).collect())
        });
        let pairs = match pairs {
            Some(pairs) => pairs,
            None => {
                let [left, right] = sources.clone().map(|source| Scope { sources: vec![source], ..Scope::of(0) });
                let (_, one) = self.pick_column(&left, can_group)?;
                let kind = self.kind_of(&sources[0], one);
                let (_, other) = self.pick_column(&right, |other| other == kind)?;
                vec![(one, other)]
            }
        };
        let equal = |(one, other): (usize, usize)| {
            let sides = [self.column_use(&sources[0], one), self.column_use(&sources[1], other)];
            Expression::Compare(Comparison::Equal, Box::new(sides.map(Expression::Column)))
        };
        let mut parts: Vec<Expression> = pairs.into_iter().map(equal).collect();
        if parts.len() > 1 { Some(Expression::And(parts)) } else { parts.pop() }
    }

    /// The columns with which one table refers to another, with those that they refer to.
    pub(in crate::generate) fn reference(&self, from: &Source, to: &Source) -> Option<Vec<(usize, usize)>> {
        let (from, target) = (self.relation(from.table), self.relation(to.table));
        let key = from.foreign_keys.iter().find(|key| key.table == to.table)?;
        Some(key.columns.iter().copied().zip(target.primary_key.iter().copied()).collect())
    }

    /// Everything, or some values.
    fn select_list(&mut self, scope: &Scope) -> String {
        if self.model.flag(&features::SELECT_STAR, &mut self.random) {
            return self.all_columns(scope);
        }
        let mut list = Vec::new();
        for _ in 0..self.model.count(&features::SELECT_ITEMS, &mut self.random).max(1) {
            let item = self.select_item(scope);
            if !self.is_deep() || !list.contains(&item) {
                list.push(item);
            }
        }
        list.join(", ")
    }

    /// `*`, or the columns one by one where it would mean more than those that statements know of.
    fn all_columns(&self, scope: &Scope) -> String {
        let all = |source: &Source| self.relation(source.table).columns.len();
        let columns = scope.sources.iter().flat_map(|source| (0..all(source)).map(move |at| (source, at)));
        match scope.sources.iter().any(|source| self.relation(source.table).versioned) {
            true => columns
                .map(|(source, at)| print(&Expression::Column(self.column_use(source, at)), self.language))
                .collect::<Vec<_>>()
                .join(", "),
            false => "*".to_string(),
        }
    }

    fn select_item(&mut self, scope: &Scope) -> String {
        let depth = self.model.count(&features::EXPRESSION_DEPTH, &mut self.random);
        if depth > 0 && self.has(Construct::TruthValue) && self.random.chance(1, 6) {
            return print(&self.atom(scope), self.language);
        }
        let kind =
            self.pick_column(scope, |_| true).map_or(Kind::Integer, |(source, column)| self.kind_of(&source, column));
        let depth = if matches!(kind, Kind::Bytes | Kind::Boolean) { 0 } else { depth };
        print(&self.anchored(kind, scope, depth), self.language)
    }

    /// Up to so many different columns that rows can be grouped by.
    fn columns(&mut self, scope: &Scope, count_max: i64) -> Vec<String> {
        let mut list = Vec::new();
        for _ in 0..self.random.between(1, count_max) {
            let Some((source, column)) = self.pick_column(scope, can_group) else { continue };
            let column = print(&Expression::Column(self.column_use(&source, column)), self.language);
            if !list.contains(&column) {
                list.push(column);
            }
        }
        list
    }

    fn aggregates(&mut self, scope: &Scope) -> String {
        let mut list = Vec::new();
        for _ in 0..self.random.between(1, 2) {
            let kind = *self.random.pick(AGGREGATE_KINDS).expect("there are kinds");
            list.extend(self.aggregate(kind, scope).map(|aggregate| print(&aggregate, self.language)));
        }
        if list.is_empty() { "COUNT(*)".to_string() } else { list.join(", ") }
    }

    fn having(&mut self, scope: &Scope) -> String {
        if !self.model.flag(&features::HAVING, &mut self.random) {
            return String::new();
        }
        let Some(left) = self.aggregate(Kind::Integer, scope) else { return String::new() };
        let right = Expression::Constant(Kind::Integer, Value::int(self.random.between(0, 3)));
        let comparison = self.comparison_of(Kind::Integer);
        format!(" HAVING {}", print(&Expression::compare(comparison, left, right), self.language))
    }

    /// A total order, perhaps with a limit; or none.
    fn order(&mut self, table: usize) -> String {
        if !self.model.flag(&features::ORDERED, &mut self.random) {
            return String::new();
        }
        let Some(order) = self.total_order(table) else { return String::new() };
        match self.model.flag(&features::LIMITED, &mut self.random) {
            true => format!("{order} LIMIT {}", self.random.between(1, 3)),
            false => order,
        }
    }
}
