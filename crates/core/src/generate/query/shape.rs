//! What queries return: rows, groups, windows, rows of two queries.

use std::rc::Rc;

use crate::generate::expression::extent::Extent;
use crate::generate::expression::print::{print, print_query};
use crate::generate::expression::{Aggregate, Expression, Query, WindowFunction};
use crate::generate::features;
use crate::generate::maker::{Maker, Relation, Scope, can_group};
use crate::generate::schema::{Column, Kind, Table};
use crate::generate::statement::AGGREGATE_KINDS;
use crate::generate::values;
use crate::value::Value;

use super::from::{Joined, Wanted};

/// How many rows of a query are made up.
const SAMPLES: usize = 8;

/// A query, and what is known of it.
pub(super) struct Made {
    pub(super) query: Query,
    /// What its values are made of.
    scope: Scope,
    /// Which of its values are a key.
    key: Vec<usize>,
    /// How many rows it returns, at most.
    size: usize,
}

impl Maker<'_> {
    /// A query in a scope that has no sources yet. `outermost`: it is a statement, and not the source of another query.
    pub(super) fn query(&mut self, scope: Scope, wanted: Wanted<'_>, outermost: bool) -> Option<Made> {
        let from = self.joined(scope, wanted)?;
        let condition = match outermost || self.random.chance(1, 2) {
            true => self.predicate(&from.scope),
            false => None,
        };
        let shape = self.model.word(&features::QUERY_SHAPE, &mut self.random, |word| outermost || word != "aggregate");
        let made = match shape? {
            "distinct" => self.distinct(from, wanted),
            "aggregate" => Some(self.whole(from)),
            "group" => self.grouped(from, wanted),
            "set" => self.set(from, wanted),
            "window" => self.plain_rows(from, wanted, outermost, true),
            _ => self.plain_rows(from, wanted, outermost, false),
        };
        made.map(|made| Made { query: Query { condition, ..made.query }, ..made })
    }

    /// A query that returns these values.
    fn returning(list: Vec<Expression>, from: Joined) -> Made {
        let query =
            Query { with: from.with, distinct: false, list, from: from.text, condition: None, tail: String::new() };
        Made { query, scope: from.scope, key: Vec::new(), size: from.size }
    }

    fn any_column(&mut self, scope: &Scope, wanted: Wanted<'_>) -> Option<Expression> {
        let (source, column) = self.pick_column(scope, wanted)?;
        Some(Expression::Column(self.column_use(&source, column)))
    }

    /// Rows; with functions of windows, if asked for.
    fn plain_rows(&mut self, from: Joined, wanted: Wanted<'_>, outermost: bool, windows: bool) -> Option<Made> {
        let keys = self.keys_of(&from.scope);
        let mut list: Vec<Expression> = Vec::new();
        // Rows that can be told apart can be ordered, and joined in more ways.
        if let Some(keys) = keys.as_ref().filter(|_| self.random.chance(2, 3)) {
            list.extend(keys.iter().cloned());
        }
        let key: Vec<usize> = match from.scope.sources.as_slice() {
            [source] if !source.nullable => (0..list.len()).collect(),
            _ => Vec::new(),
        };
        let count = self.model.count(&features::SELECT_ITEMS, &mut self.random).max(1);
        for at in 0..count {
            let item = match at {
                0 => self.any_column(&from.scope, wanted)?,
                _ => self.item_of(&from.scope, outermost),
            };
            if !list.contains(&item) {
                list.push(item);
            }
        }
        if windows {
            for _ in 0..self.random.between(1, 2) {
                list.extend(self.window(&from.scope, keys.as_deref()));
            }
        }
        let mut made = Maker::returning(list, from);
        made.key = key;
        if let (true, Some(keys)) = (outermost, keys) {
            made.query.tail = self.order_by(&keys);
        }
        Some(made)
    }

    /// A value that a query returns.
    fn item_of(&mut self, scope: &Scope, outermost: bool) -> Expression {
        let kind = self.pick_column(scope, |_| true).map_or(Kind::Integer, |(source, at)| self.kind_of(&source, at));
        let computable = !matches!(kind, Kind::Bytes | Kind::Boolean);
        let depth = match computable && (outermost || self.random.chance(1, 2)) {
            true => self.model.count(&features::EXPRESSION_DEPTH, &mut self.random),
            false => 0,
        };
        self.anchored(kind, scope, depth)
    }

    /// A total order, perhaps with a limit; or none.
    fn order_by(&mut self, keys: &[Expression]) -> String {
        if !self.model.flag(&features::ORDERED, &mut self.random) {
            return String::new();
        }
        let direction = if self.random.chance(1, 3) { " DESC" } else { "" };
        let limit = match self.model.flag(&features::LIMITED, &mut self.random) {
            true => format!(" LIMIT {}", self.random.between(1, 9)),
            false => String::new(),
        };
        let keys: Vec<String> = keys.iter().map(|key| print(key, self.language)).collect();
        format!(" ORDER BY {}{direction}{limit}", keys.join(", "))
    }

    fn distinct(&mut self, from: Joined, wanted: Wanted<'_>) -> Option<Made> {
        let mut list = vec![self.any_column(&from.scope, &|kind| wanted(kind) && can_group(kind))?];
        if self.random.chance(1, 2) {
            list.extend(self.any_column(&from.scope, &can_group).filter(|other| *other != list[0]));
        }
        let mut made = Maker::returning(list, from);
        made.query.distinct = true;
        Some(made)
    }

    /// Aggregates of all rows.
    fn whole(&mut self, from: Joined) -> Made {
        let mut list = Vec::new();
        self.add_aggregates(&mut list, &from.scope, 3);
        Made { size: 1, ..Maker::returning(list, from) }
    }

    /// Adds aggregates, different ones.
    fn add_aggregates(&mut self, list: &mut Vec<Expression>, scope: &Scope, count_max: i64) {
        for _ in 0..self.random.between(1, count_max) {
            let kind = *self.random.pick(AGGREGATE_KINDS).expect("there are kinds");
            list.extend(self.aggregate(kind, scope).filter(|aggregate| !list.contains(aggregate)));
        }
        if list.is_empty() {
            list.push(Expression::Aggregate(Aggregate::Count, None));
        }
    }

    /// Groups, perhaps only some of them.
    fn grouped(&mut self, from: Joined, wanted: Wanted<'_>) -> Option<Made> {
        let mut list = vec![self.any_column(&from.scope, &|kind| wanted(kind) && can_group(kind))?];
        if self.random.chance(1, 3) {
            list.extend(self.any_column(&from.scope, &can_group).filter(|other| *other != list[0]));
        }
        let groups: Vec<String> = list.iter().map(|column| print(column, self.language)).collect();
        let key = match &list[..] {
            [Expression::Column(column)] if column.not_null => vec![0],
            _ => Vec::new(),
        };
        self.add_aggregates(&mut list, &from.scope, 2);
        let having = match self.model.flag(&features::HAVING, &mut self.random) {
            true => self.having_of(&from.scope),
            false => None,
        };
        let having = having.map_or(String::new(), |having| format!(" HAVING {}", print(&having, self.language)));
        let mut made = Maker::returning(list, from);
        made.query.tail = format!(" GROUP BY {}{having}", groups.join(", "));
        made.key = key;
        Some(made)
    }

    /// A condition for groups: an aggregate, compared with a number or with what a query says.
    pub(super) fn having_of(&mut self, scope: &Scope) -> Option<Expression> {
        let left = self.aggregate(Kind::Integer, scope)?;
        let comparison = self.comparison_of(Kind::Integer);
        let outside = Scope { sources: Vec::new(), rows: Some(self.rows_of(scope)), ..scope.clone() };
        let query = match self.may_nest(scope) && self.random.chance(1, 4) {
            true => self.deep_scalar(Kind::Integer, &outside),
            false => None,
        };
        let right = query.unwrap_or_else(|| Expression::Constant(Kind::Integer, Value::int(self.random.between(0, 3))));
        Some(Expression::compare(comparison, left, right))
    }

    /// Rows of two queries that return the same kinds.
    fn set(&mut self, from: Joined, wanted: Wanted<'_>) -> Option<Made> {
        let mut list = vec![self.any_column(&from.scope, &|kind| wanted(kind) && can_group(kind))?];
        if self.random.chance(1, 2) {
            list.extend(self.any_column(&from.scope, &can_group));
        }
        let tail = self.other_rows(&list, &from.scope);
        let mut made = Maker::returning(list, from);
        made.size *= 2;
        made.query.tail = tail.unwrap_or_default();
        Some(made)
    }

    /// ` UNION SELECT …`: another query that returns the same kinds.
    pub(super) fn other_rows(&mut self, list: &[Expression], scope: &Scope) -> Option<String> {
        let alone = Scope { sources: Vec::new(), rows: scope.rows, ..scope.clone() };
        let first = list.first()?.kind();
        let from = self.joined(alone, &|kind| kind == first)?;
        let mut values = Vec::new();
        for value in list {
            values.push(self.any_column(&from.scope, &|kind| kind == value.kind())?);
        }
        let condition = self.predicate(&from.scope);
        let operation = self.set_operation()?;
        // A WITH clause stands before the first query, not before the second.
        if !from.with.is_empty() {
            return None;
        }
        let made = Maker::returning(values, from);
        let query = Query { condition, ..made.query };
        Some(format!(" {operation} {}", print_query(&query, self.language)))
    }

    /// A query as what a FROM clause can speak of.
    pub(super) fn relation_of(&mut self, made: &Made) -> Relation {
        let column = |(at, value): (usize, &Expression)| Column {
            name: format!("c{at}"),
            kind: value.kind(),
            type_text: String::new(),
            not_null: made.query.tail.is_empty() && matches!(value, Expression::Column(column) if column.not_null),
            default: None,
            auto_increment: false,
            check: None,
            extremes: Vec::new(),
        };
        let columns = made.query.list.iter().enumerate().map(column).collect();
        let rows: Vec<Vec<Value>> = (0..SAMPLES).map(|_| self.sample(made)).collect();
        Relation {
            extents: made.query.list.iter().map(Extent::of).collect(),
            ranks: (0..rows.len()).collect(),
            computed: true,
            size: made.size,
            table: Rc::new(Table {
                name: String::new(),
                columns,
                primary_key: made.key.clone(),
                unique_keys: Vec::new(),
                foreign_keys: Vec::new(),
                indexes: Vec::new(),
                rows,
                versioned: false,
                keys_once: false,
            }),
        }
    }

    /// A row that a query might return: values of rows of its sources, and guesses.
    fn sample(&mut self, made: &Made) -> Vec<Value> {
        let rows: Vec<Option<Vec<Value>>> = made.scope.sources.iter().map(|source| self.row(source.table)).collect();
        made.query.list.iter().map(|value| self.guess(value, &made.scope, &rows)).collect()
    }

    fn small(&mut self) -> Value {
        Value::int(self.random.between(1, 5))
    }

    fn guess(&mut self, value: &Expression, scope: &Scope, rows: &[Option<Vec<Value>>]) -> Value {
        match value {
            Expression::Constant(_, value) => value.clone(),
            Expression::Column(column) => {
                let at = scope.sources.iter().position(|source| source.qualifier == column.qualifier);
                let found = at.and_then(|at| {
                    let names = &self.relation(scope.sources[at].table).columns;
                    let position = names.iter().position(|other| other.name == column.name)?;
                    Some(rows[at].as_ref()?[position].clone())
                });
                found.unwrap_or(Value::Null)
            }
            Expression::Aggregate(Aggregate::Minimum | Aggregate::Maximum, Some(of)) => self.guess(of, scope, rows),
            Expression::Window(window) => match (window.function, &window.of) {
                (WindowFunction::RowNumber | WindowFunction::Rank, _) | (_, None) => self.small(),
                (WindowFunction::Aggregate(Aggregate::Count | Aggregate::Sum), _) => self.small(),
                (_, Some(of)) => self.guess(of, scope, rows),
            },
            Expression::Aggregate(..) => self.small(),
            other => values::ordinary(other.kind(), self.model, &mut self.random),
        }
    }
}
