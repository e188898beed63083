//! Makes values: columns, constants, and what can be computed from them.

use crate::dialect::Construct;
use crate::generate::features;
use crate::generate::maker::{Maker, Scope};
use crate::generate::schema::Kind;
use crate::value::Value;

use super::extent::{Extent, STEP};
use super::{Expression, Operator};

/// The functions of one argument that keep the kind of it.
const TEXT_FUNCTIONS: &[Construct] = &[Construct::Lower, Construct::Upper, Construct::Trim];

impl Maker<'_> {
    /// A value of a kind that some column in scope has, `depth` levels deep at most.
    pub(in crate::generate) fn value(&mut self, kind: Kind, scope: &Scope, depth: usize) -> Expression {
        if depth > 0 {
            return self.anchored(kind, scope, depth);
        }
        match self.model.word(&features::EXPRESSION_LEAF, &mut self.random, |_| true) {
            Some("column") => self.anchored(kind, scope, 0),
            _ => self.constant_of(kind, scope),
        }
    }

    /// The same, with a column in the first place. A literal alone has no type on some engines, and what is computed
    /// from literals alone would get the wrong one: `COALESCE('2024-01-01', …)` is a text.
    pub(in crate::generate) fn anchored(&mut self, kind: Kind, scope: &Scope, depth: usize) -> Expression {
        if let Some(compound) = depth.checked_sub(1).and_then(|depth| self.compound(kind, scope, depth)) {
            return compound;
        }
        match self.pick_column(scope, |other| other == kind) {
            Some((source, column)) => Expression::Column(self.column_use(&source, column)),
            None => self.constant_of(kind, scope),
        }
    }

    /// A column or a constant, but not what stands on the other side already: `c = c` says nothing.
    pub(in crate::generate) fn other_value(&mut self, other: &Expression, kind: Kind, scope: &Scope) -> Expression {
        let value = self.value(kind, scope, 0);
        if value == *other { self.constant_of(kind, scope) } else { value }
    }

    /// A constant for comparing with columns of a kind: one of theirs, or a new one like theirs.
    pub(in crate::generate) fn constant_of(&mut self, kind: Kind, scope: &Scope) -> Expression {
        let column = self.pick_column(scope, |other| other == kind);
        let value = column.and_then(|(source, column)| self.constant_not_null(source.table, column));
        let value = value.unwrap_or_else(|| match kind {
            Kind::Text => Value::text("a"),
            Kind::Date => Value::text("2024-01-01"),
            Kind::Time => Value::text("00:01:00"),
            Kind::Timestamp => Value::text("2024-01-01 00:01:00"),
            Kind::Bytes => Value::Bytes(vec![1]),
            Kind::Boolean => Value::Bool(true),
            Kind::Integer | Kind::Decimal | Kind::Float => Value::int(1),
        });
        Expression::Constant(kind, value)
    }

    /// A small whole number, not 0.
    fn step(&mut self) -> Value {
        Value::int(self.random.between(1, STEP))
    }

    fn compound(&mut self, kind: Kind, scope: &Scope, depth: usize) -> Option<Expression> {
        let number = matches!(kind, Kind::Integer | Kind::Decimal | Kind::Float);
        let plain = !matches!(kind, Kind::Bytes | Kind::Boolean);
        let (language, nests) = (self.language, self.may_nest(scope));
        let allowed = |shape: &str| match shape {
            "arithmetic" => number,
            "function" => number || kind == Kind::Text,
            "case" => plain,
            "coalesce" => plain && language.has(Construct::Coalesce),
            "nullif" => plain && language.has(Construct::NullIf),
            "extreme" => plain && language.has(Construct::Greatest) && language.has(Construct::Least),
            "cast" => match kind {
                Kind::Integer => language.has(Construct::CastToInteger),
                Kind::Text => language.has(Construct::CastToText),
                _ => false,
            },
            "subquery" => plain && nests,
            _ => true,
        };
        match self.model.word(&features::EXPRESSION_SHAPE, &mut self.random, allowed)? {
            "arithmetic" => self.arithmetic(kind, scope, depth),
            "function" => self.function(kind, scope, depth),
            "case" => {
                let count = if self.is_deep() { self.model.count(&features::BRANCHES, &mut self.random) } else { 1 };
                let mut branches = Vec::new();
                for _ in 0..count.max(1) {
                    let when = self.atom(&Scope { plain: true, ..scope.clone() });
                    branches.push([when, self.anchored(kind, scope, depth)]);
                }
                let mut otherwise = self.value(kind, scope, depth);
                if self.is_deep() && branches.iter().all(|[_, value]| *value == otherwise) {
                    otherwise = self.constant_of(kind, scope);
                }
                Some(Expression::Case { branches, otherwise: Box::new(otherwise) })
            }
            "coalesce" => Some(self.pair(Construct::Coalesce, kind, scope, depth)),
            "nullif" => Some(self.pair(Construct::NullIf, kind, scope, depth)),
            "extreme" => {
                let which = if self.random.chance(1, 2) { Construct::Greatest } else { Construct::Least };
                Some(self.pair(which, kind, scope, depth))
            }
            "cast" => self.cast(kind, scope, depth),
            "subquery" => self.scalar(kind, scope),
            _ => None,
        }
    }

    fn pair(&mut self, function: Construct, kind: Kind, scope: &Scope, depth: usize) -> Expression {
        let first = self.anchored(kind, scope, depth);
        // What is never NULL needs no replacement.
        if self.is_deep() && function == Construct::Coalesce && first.is_not_null() {
            return first;
        }
        let second = self.other_value(&first, kind, scope);
        Expression::Call(function, vec![first, second])
    }

    /// A sum, difference, product, quotient or remainder that cannot overflow.
    fn arithmetic(&mut self, kind: Kind, scope: &Scope, depth: usize) -> Option<Expression> {
        let whole = kind == Kind::Integer;
        let language = self.language;
        let allowed = |word: &str| match word {
            "divide" => whole && language.has(Construct::IntegerDivision),
            "remainder" => whole && language.has(Construct::Remainder),
            _ => true,
        };
        let operator = match self.model.word(&features::ARITHMETIC, &mut self.random, allowed)? {
            "subtract" => Operator::Subtract,
            "multiply" => Operator::Multiply,
            "divide" => Operator::Divide,
            "remainder" => Operator::Remainder,
            _ => Operator::Add,
        };
        // The quotient of whole numbers is whole only if both sides have a type of whole numbers: a table's column has.
        let divides = matches!(operator, Operator::Divide | Operator::Remainder);
        let left = self.anchored(kind, scope, if divides { 0 } else { depth });
        let safe = |right: Expression| {
            let result = Expression::Arithmetic(operator, Box::new([left.clone(), right]));
            (Extent::of(&left).is_safe() && Extent::of(&result).is_safe()).then_some(result)
        };
        if divides && !matches!(&left, Expression::Column(column) if !column.computed) {
            return None;
        }
        // Products of decimals get more and more of them: a factor is a whole number.
        let constant = divides || (kind != Kind::Integer && operator == Operator::Multiply);
        if !constant && let Some(result) = safe(self.value(kind, scope, 0)) {
            return Some(result);
        }
        safe(Expression::Constant(kind, self.step()))
    }

    fn function(&mut self, kind: Kind, scope: &Scope, depth: usize) -> Option<Expression> {
        if kind == Kind::Text {
            return self.text_function(scope, depth);
        }
        let mut functions = vec![Construct::Abs, Construct::Sign];
        if kind != Kind::Integer {
            functions = vec![Construct::Abs, Construct::Round];
        }
        let has_text = self.pick_column(scope, |other| other == Kind::Text).is_some();
        if kind == Kind::Integer && has_text {
            functions.push(Construct::CharLength);
        }
        functions.retain(|function| self.has(*function));
        let function = *self.random.pick(&functions)?;
        let argument = match function {
            Construct::CharLength => self.anchored(Kind::Text, scope, depth),
            _ => self.anchored(kind, scope, depth),
        };
        let safe = function == Construct::CharLength || Extent::of(&argument).is_safe();
        safe.then(|| Expression::Call(function, vec![argument]))
    }

    fn text_function(&mut self, scope: &Scope, depth: usize) -> Option<Expression> {
        // Capitals that are stored would be equal to small letters here and there, and groups of rows ambiguous; so would
        // those that a query returns to the query around it.
        let lasting = scope.stored || self.is_deep();
        let usable = |f: &Construct| self.has(*f) && !(lasting && *f == Construct::Upper);
        let mut functions: Vec<Construct> = TEXT_FUNCTIONS.iter().copied().filter(usable).collect();
        let more = [Construct::Substring, Construct::ConcatOperator, Construct::Concat];
        functions.extend(more.into_iter().filter(|function| self.has(*function)));
        let function = *self.random.pick(&functions)?;
        let mut arguments = vec![self.anchored(Kind::Text, scope, depth)];
        match function {
            Construct::Substring => {
                let numbers = [self.random.between(1, 3), self.random.between(1, 3)];
                arguments.extend(numbers.map(|number| Expression::Constant(Kind::Integer, Value::int(number))));
            }
            Construct::Concat | Construct::ConcatOperator => arguments.push(self.value(Kind::Text, scope, 0)),
            _ => {}
        }
        Some(Expression::Call(function, arguments))
    }

    fn cast(&mut self, kind: Kind, scope: &Scope, depth: usize) -> Option<Expression> {
        if kind == Kind::Text {
            let number = self.pick_column(scope, |other| other == Kind::Integer)?;
            let of = Expression::Column(self.column_use(&number.0, number.1));
            return Some(Expression::Cast(Construct::CastToText, Box::new(of)));
        }
        let from = [Kind::Integer, Kind::Decimal, Kind::Boolean];
        let (source, column) = self.pick_column(scope, |other| from.contains(&other))?;
        let of = match self.column_use(&source, column) {
            number if number.kind == Kind::Integer => self.anchored(Kind::Integer, scope, depth),
            other => Expression::Column(other),
        };
        Extent::of(&of).is_safe().then(|| Expression::Cast(Construct::CastToInteger, Box::new(of)))
    }
}
