//! Makes truth values: comparisons and the like, and their combinations.

use crate::dialect::Construct;
use crate::generate::features;
use crate::generate::maker::{Maker, Scope, can_order};
use crate::generate::schema::Kind;
use crate::value::Value;

use super::extent::is_padded;
use super::{Comparison, Expression};

impl Maker<'_> {
    /// A condition, with at most `depth` levels of AND, OR and NOT.
    pub(in crate::generate) fn condition(&mut self, scope: &Scope, depth: usize) -> Expression {
        let Some(below) = depth.checked_sub(1) else { return self.atom(scope) };
        match self.model.word(&features::CONNECTIVE, &mut self.random, |_| true) {
            Some("and") => Expression::And(vec![self.condition(scope, below), self.condition(scope, below)]),
            Some("or") => Expression::Or(vec![self.condition(scope, below), self.condition(scope, below)]),
            Some("not") => Expression::Not(Box::new(self.condition(scope, below))),
            _ => self.atom(scope),
        }
    }

    /// A condition without AND, OR and NOT.
    pub(in crate::generate) fn atom(&mut self, scope: &Scope) -> Expression {
        let (language, nests) = (self.language, self.may_nest(scope));
        let allowed = |word: &str| match word {
            "null_safe" => language.has(Construct::NullSafeEqual),
            "like" => language.has(Construct::Like),
            "exists" | "in_query" | "compare_query" => nests,
            _ => true,
        };
        let not = self.random.chance(1, 4);
        let made = match self.model.word(&features::ATOM, &mut self.random, allowed) {
            Some("null_safe") => self.null_safe(scope),
            Some("between") => self.between(scope, not),
            Some("in") => self.in_list(scope, not),
            Some("is_null") => self.is_null(scope, not),
            Some("like") => self.like(scope, not),
            Some("truth") => self.truth(scope),
            Some("exists") => self.exists(scope, not),
            Some("in_query") => self.in_query(scope, not),
            Some("compare_query") => self.compare_query(scope),
            _ => None,
        };
        made.or_else(|| self.comparison(scope)).unwrap_or_else(|| self.always())
    }

    /// A condition for tables without columns that could be compared.
    fn always(&mut self) -> Expression {
        let one = Expression::Constant(Kind::Integer, Value::int(1));
        Expression::compare(Comparison::Equal, one.clone(), one)
    }

    fn depth(&mut self, scope: &Scope) -> usize {
        if scope.plain { 0 } else { self.model.count(&features::EXPRESSION_DEPTH, &mut self.random) }
    }

    /// A comparison, drawn from the model, of values of a kind.
    pub(in crate::generate) fn comparison_of(&mut self, kind: Kind) -> Comparison {
        let ordered = can_order(kind);
        let allowed = |word: &str| ordered || matches!(word, "equal" | "not_equal");
        match self.model.word(&features::COMPARISON, &mut self.random, allowed) {
            Some("not_equal") => Comparison::NotEqual,
            Some("less") => Comparison::Less,
            Some("less_or_equal") => Comparison::LessOrEqual,
            Some("greater") => Comparison::Greater,
            Some("greater_or_equal") => Comparison::GreaterOrEqual,
            _ => Comparison::Equal,
        }
    }

    fn comparison(&mut self, scope: &Scope) -> Option<Expression> {
        let (source, column) = self.pick_column(scope, |_| true)?;
        let kind = self.kind_of(&source, column);
        let comparison = self.comparison_of(kind);
        let plain = matches!(kind, Kind::Bytes | Kind::Boolean);
        let depth = if plain { 0 } else { self.depth(scope) };
        let left = match depth {
            0 => Expression::Column(self.column_use(&source, column)),
            _ => self.anchored(kind, scope, depth),
        };
        let right = match self.model.word(&features::EXPRESSION_LEAF, &mut self.random, |_| true) {
            Some("column") if !plain => self.other_value(&left, kind, scope),
            _ => Expression::Constant(kind, self.constant_not_null(source.table, column)?),
        };
        Some(Expression::compare(comparison, left, right))
    }

    /// `column < (SELECT …)`.
    fn compare_query(&mut self, scope: &Scope) -> Option<Expression> {
        let (source, column) = self.pick_column(scope, can_order)?;
        let left = self.column_use(&source, column);
        let comparison = self.comparison_of(left.kind);
        let right = self.scalar(left.kind, scope)?;
        Some(Expression::compare(comparison, Expression::Column(left), right))
    }

    fn null_safe(&mut self, scope: &Scope) -> Option<Expression> {
        let (source, column) = self.pick_column(scope, |kind| kind != Kind::Bytes)?;
        let left = self.column_use(&source, column);
        let kind = left.kind;
        // Here NULL is a constant like any other.
        let right = Expression::Constant(kind, self.constant(source.table, column));
        Some(Expression::compare(Comparison::NullSafeEqual, Expression::Column(left), right))
    }

    fn between(&mut self, scope: &Scope, not: bool) -> Option<Expression> {
        let (source, column) = self.pick_column(scope, can_order)?;
        let kind = self.kind_of(&source, column);
        let depth = self.depth(scope).min(1);
        let of = match depth {
            0 => Expression::Column(self.column_use(&source, column)),
            _ => self.anchored(kind, scope, depth),
        };
        let mut ends = [self.constant_not_null(source.table, column)?, self.constant_not_null(source.table, column)?];
        ends.sort();
        let range = Box::new(ends.map(|end| Expression::Constant(kind, end)));
        Some(Expression::Between { of: Box::new(of), range, not })
    }

    fn in_list(&mut self, scope: &Scope, not: bool) -> Option<Expression> {
        let (source, column) = self.pick_column(scope, |kind| kind != Kind::Bytes)?;
        let of = self.column_use(&source, column);
        let kind = of.kind;
        let mut list = Vec::new();
        for _ in 0..self.random.between(1, 3) {
            let item = Expression::Constant(kind, self.constant_not_null(source.table, column)?);
            if !list.contains(&item) {
                list.push(item);
            }
        }
        Some(Expression::In { of: Box::new(Expression::Column(of)), list, not })
    }

    fn is_null(&mut self, scope: &Scope, not: bool) -> Option<Expression> {
        let (source, column) = self.pick_column(scope, |_| true)?;
        let of = self.column_use(&source, column);
        // Of a column that is never NULL there is nothing to ask.
        (!of.not_null).then(|| Expression::IsNull { of: Box::new(Expression::Column(of)), not })
    }

    fn like(&mut self, scope: &Scope, not: bool) -> Option<Expression> {
        let (source, column) = self.pick_column(scope, |kind| kind == Kind::Text)?;
        if is_padded(&self.relation(source.table).columns[column]) {
            return None;
        }
        let Some(Value::Text(text)) = self.constant_not_null(source.table, column) else { return None };
        let letters: Vec<char> = text.chars().filter(char::is_ascii_alphanumeric).collect();
        let letter = *self.random.pick(&letters)?;
        let pattern = match self.random.below(4) {
            0 => format!("{letter}%"),
            1 => format!("%{letter}"),
            2 => format!("%{letter}%"),
            _ => format!("_{letter}%"),
        };
        let of = Box::new(Expression::Column(self.column_use(&source, column)));
        Some(Expression::Like { of, pattern, not })
    }

    /// A column that is a truth value itself.
    fn truth(&mut self, scope: &Scope) -> Option<Expression> {
        let (source, column) = self.pick_column(scope, |kind| kind == Kind::Boolean)?;
        Some(Expression::Column(self.column_use(&source, column)))
    }
}
