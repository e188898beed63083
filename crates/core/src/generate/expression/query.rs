//! Makes subqueries: simple ones here, [deep ones](crate::generate::query) elsewhere.

use crate::dialect::Construct;
use crate::generate::features;
use crate::generate::maker::{Maker, Scope, Source, can_group, can_order};
use crate::generate::schema::Kind;
use crate::value::Value;

use super::extent::Extent;
use super::{Aggregate, Comparison, Expression, Query};

impl Maker<'_> {
    /// A table that a subquery may read: not the written one, unless all engines allow it.
    pub(in crate::generate) fn subquery_table(
        &mut self,
        scope: &Scope,
        wanted: impl Fn(Kind) -> bool,
    ) -> Option<usize> {
        let own = if scope.stored || !self.has(Construct::SelfSubquery) { scope.written } else { None };
        let has = |table: &usize| self.schema.tables[*table].columns.iter().any(|column| wanted(column.kind));
        let tables: Vec<usize> = (0..self.schema.tables.len()).filter(|t| Some(*t) != own).filter(has).collect();
        self.random.pick(&tables).copied()
    }

    /// The scope inside a subquery of a table, and its FROM clause.
    fn inside(&self, scope: &Scope, table: usize) -> (Scope, String) {
        let name = &self.schema.tables[table].name;
        let alias = format!("s{}", scope.level + 1);
        let from = format!("{name} AS {alias}");
        let source = Source { table, qualifier: Some(alias), nullable: false };
        (Scope { sources: vec![source], level: scope.level + 1, plain: true, ..scope.clone() }, from)
    }

    /// A condition that ties a row of the subquery to one outside: equality of two columns of a kind.
    pub(in crate::generate) fn correlation(&mut self, scope: &Scope, inner: &Scope) -> Option<Expression> {
        let (source, column) = self.pick_column(inner, can_group)?;
        let inside = self.column_use(&source, column);
        let (mut source, column) = self.pick_column(scope, |kind| kind == inside.kind)?;
        source.qualifier.get_or_insert_with(|| self.schema.tables[source.table].name.clone());
        let outside = self.column_use(&source, column);
        let sides = [Expression::Column(inside), Expression::Column(outside)];
        Some(Expression::Compare(Comparison::Equal, Box::new(sides)))
    }

    /// The condition of a subquery; `None` for all rows.
    fn inner_condition(&mut self, scope: &Scope, inner: &Scope) -> Option<Expression> {
        let tied = match self.model.flag(&features::CORRELATED, &mut self.random) {
            true => self.correlation(scope, inner),
            false => None,
        };
        let more = self.random.chance(2, 3).then(|| self.condition(inner, 0));
        match (tied, more) {
            (Some(tied), Some(more)) => Some(Expression::And(vec![tied, more])),
            (tied, more) => tied.or(more),
        }
    }

    /// `[NOT] EXISTS (…)`.
    pub(super) fn exists(&mut self, scope: &Scope, not: bool) -> Option<Expression> {
        if self.is_deep() {
            return self.deep_exists(scope, not);
        }
        let table = self.subquery_table(scope, |_| true)?;
        let (inner, from) = self.inside(scope, table);
        let condition = self.inner_condition(scope, &inner);
        let select = Expression::Constant(Kind::Integer, Value::int(1));
        Some(Expression::Exists(Box::new(Query::of(select, from, condition)), not))
    }

    /// `x [NOT] IN (SELECT …)`.
    pub(super) fn in_query(&mut self, scope: &Scope, not: bool) -> Option<Expression> {
        let (source, column) = self.pick_column(scope, can_group)?;
        let of = self.column_use(&source, column);
        if self.is_deep() {
            return self.deep_in_query(of, scope, not);
        }
        let table = self.subquery_table(scope, |kind| kind == of.kind)?;
        let (inner, from) = self.inside(scope, table);
        let (source, column) = self.pick_column(&inner, |kind| kind == of.kind)?;
        let select = Expression::Column(self.column_use(&source, column));
        let condition = self.inner_condition(scope, &inner);
        let query = Box::new(Query::of(select, from, condition));
        Some(Expression::InQuery { of: Box::new(Expression::Column(of)), query, not })
    }

    /// A subquery that returns one value of a kind: an aggregate of all its rows.
    pub(super) fn scalar(&mut self, kind: Kind, scope: &Scope) -> Option<Expression> {
        if self.is_deep() {
            return self.deep_scalar(kind, scope);
        }
        let table = self.subquery_table(scope, |other| other == kind || kind == Kind::Integer)?;
        let (inner, from) = self.inside(scope, table);
        let select = self.aggregate(kind, &inner)?;
        let condition = self.inner_condition(scope, &inner);
        Some(Expression::Scalar(Box::new(Query::of(select, from, condition))))
    }

    /// An aggregate that gives a value of a kind.
    pub(in crate::generate) fn aggregate(&mut self, kind: Kind, scope: &Scope) -> Option<Expression> {
        let column = self.pick_column(scope, |other| other == kind);
        let of = column.map(|(source, column)| match self.is_deep() && self.random.chance(1, 3) {
            true => self.anchored(kind, &scope.flat(), 1),
            false => Expression::Column(self.column_use(&source, column)),
        });
        // What adds up exactly. Sums of numbers that could be anything would overflow on engines that add whole
        // numbers.
        let summable = |of: &Expression| matches!(kind, Kind::Integer | Kind::Decimal) && Extent::of(of).is_safe();
        let (orders, sums) = (of.is_some() && can_order(kind), of.as_ref().is_some_and(summable));
        let allowed = |word: &str| match word {
            "count" => kind == Kind::Integer,
            "count_distinct" => kind == Kind::Integer && of.is_some(),
            "sum" => sums,
            _ => orders,
        };
        let aggregate = match self.model.word(&features::AGGREGATE, &mut self.random, allowed)? {
            "count" => return Some(Expression::Aggregate(Aggregate::Count, None)),
            "count_distinct" => Aggregate::CountDistinct,
            "sum" => Aggregate::Sum,
            "min" => Aggregate::Minimum,
            _ => Aggregate::Maximum,
        };
        of.map(|of| Expression::Aggregate(aggregate, Some(Box::new(of))))
    }
}
