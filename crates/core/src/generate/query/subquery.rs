//! Subqueries in conditions and values: with joins, and referring to the rows around them.

use crate::generate::expression::print::print;
use crate::generate::expression::{ColumnUse, Comparison, Expression, Query};
use crate::generate::features;
use crate::generate::maker::{Maker, Scope, Source};
use crate::generate::schema::Kind;
use crate::value::Value;

use super::from::{Joined, Wanted};

impl Maker<'_> {
    /// The FROM clause of a subquery.
    fn subquery(&mut self, outer: &Scope, wanted: Wanted<'_>) -> Option<Joined> {
        let inside = self.inside_of(outer);
        self.joined(inside, wanted)
    }

    /// The condition of a subquery; `None` for all rows.
    fn deep_condition(&mut self, outer: &Scope, inner: &Scope) -> Option<Expression> {
        let tied = match self.model.flag(&features::CORRELATED, &mut self.random) {
            true => self.correlation(outer, inner),
            false => None,
        };
        // What is tied once may speak of the row outside again.
        let mut scope = inner.clone();
        if tied.is_some() && self.random.chance(1, 3) {
            scope.sources.extend(outer.sources.iter().map(|source| self.qualified(source)));
        }
        let more = self.random.chance(1, 2).then(|| {
            let depth = self.random.below(2);
            self.condition(&scope, depth)
        });
        match (tied, more) {
            (Some(tied), Some(more)) => Some(Expression::And(vec![tied, more])),
            (tied, more) => tied.or(more),
        }
    }

    /// A source as subqueries speak of it.
    fn qualified(&self, source: &Source) -> Source {
        let qualifier = source.qualifier.clone().unwrap_or_else(|| self.relation(source.table).name.clone());
        Source { qualifier: Some(qualifier), ..source.clone() }
    }

    /// `SELECT value FROM … WHERE …`.
    fn selecting(&mut self, outer: &Scope, from: Joined, value: Expression) -> Query {
        let condition = self.deep_condition(outer, &from.scope);
        Query { with: from.with, ..Query::of(value, from.text, condition) }
    }

    /// `[NOT] EXISTS (…)`.
    pub(in crate::generate) fn deep_exists(&mut self, scope: &Scope, not: bool) -> Option<Expression> {
        let from = self.subquery(scope, &|_| true)?;
        let inner = from.scope.clone();
        let mut query = self.selecting(scope, from, Expression::Constant(Kind::Integer, Value::int(1)));
        // Whether there is any row at all is no question.
        query.condition = query.condition.or_else(|| Some(self.atom(&inner)));
        Some(Expression::Exists(Box::new(query), not))
    }

    /// `x [NOT] IN (SELECT …)`.
    pub(in crate::generate) fn deep_in_query(&mut self, of: ColumnUse, scope: &Scope, not: bool) -> Option<Expression> {
        let kind = of.kind;
        let from = self.subquery(scope, &|other| other == kind)?;
        let (source, column) = self.pick_column(&from.scope, |other| other == kind)?;
        let value = Expression::Column(self.column_use(&source, column));
        let inner = from.scope.clone();
        let mut query = self.selecting(scope, from, value.clone());
        let words = ["rows", "group", "set"];
        match self.model.word(&features::QUERY_SHAPE, &mut self.random, |word| words.contains(&word)) {
            Some("group") => {
                if let Some(having) = self.having_of(&inner) {
                    let texts = [&value, &having].map(|part| print(part, self.language));
                    query.tail = format!(" GROUP BY {} HAVING {}", texts[0], texts[1]);
                }
            }
            Some("set") if self.may_nest(scope) => {
                query.tail = self.other_rows(std::slice::from_ref(&value), &inner).unwrap_or_default();
            }
            _ => {}
        }
        Some(Expression::InQuery { of: Box::new(Expression::Column(of)), query: Box::new(query), not })
    }

    /// A subquery that returns one value of a kind.
    pub(in crate::generate) fn deep_scalar(&mut self, kind: Kind, scope: &Scope) -> Option<Expression> {
        match self.model.word(&features::QUERY_SCALAR, &mut self.random, |_| true)? {
            "key" => self.of_key(kind, scope),
            "first" => self.of_first(kind, scope),
            _ => None,
        }
        .or_else(|| self.of_all(kind, scope))
        .map(|query| Expression::Scalar(Box::new(query)))
    }

    /// An aggregate of all rows.
    fn of_all(&mut self, kind: Kind, scope: &Scope) -> Option<Query> {
        let from = self.subquery(scope, &|other| other == kind || kind == Kind::Integer)?;
        let value = self.aggregate(kind, &from.scope)?;
        Some(self.selecting(scope, from, value))
    }

    /// A value of the row with a key: that of an existing row, or one that a row outside names.
    fn of_key(&mut self, kind: Kind, scope: &Scope) -> Option<Query> {
        let table = self.subquery_table(scope, |other| other == kind)?;
        let definition = &self.schema.tables[table];
        let [key] = definition.primary_key[..] else { return None };
        let alias = self.name('r');
        let from = format!("{} AS {alias}", definition.name);
        let source = Source { table, qualifier: Some(alias), nullable: false };
        let inner = Scope { sources: vec![source.clone()], ..self.inside_of(scope) };
        let (_, column) = self.pick_column(&inner, |other| other == kind)?;
        let value = Expression::Column(self.column_use(&source, column));
        let left = self.column_use(&source, key);
        let outside = match self.model.flag(&features::CORRELATED, &mut self.random) {
            true => self.pick_column(scope, |other| other == left.kind),
            false => None,
        };
        let condition = match outside {
            Some((outside, column)) => {
                let right = self.column_use(&self.qualified(&outside), column);
                Expression::compare(Comparison::Equal, Expression::Column(left), Expression::Column(right))
            }
            None => self.key_equality(&source)?,
        };
        self.budget.queries = self.budget.queries.saturating_sub(1);
        Some(Query::of(value, from, Some(condition)))
    }

    /// A value of the first row in the order of keys.
    fn of_first(&mut self, kind: Kind, scope: &Scope) -> Option<Query> {
        let from = self.subquery(scope, &|other| other == kind)?;
        let keys = self.keys_of(&from.scope)?;
        let (source, column) = self.pick_column(&from.scope, |other| other == kind)?;
        let value = Expression::Column(self.column_use(&source, column));
        let mut query = self.selecting(scope, from, value);
        let keys: Vec<String> = keys.iter().map(|key| print(key, self.language)).collect();
        let direction = if self.random.chance(1, 3) { " DESC" } else { "" };
        query.tail = format!(" ORDER BY {}{direction} LIMIT 1", keys.join(", "));
        Some(query)
    }
}
