//! Values as terms.
//!
//! | | kept as |
//! |---|---|
//! | whole numbers, exact decimals | digits and a fixed place of the point: `12.50` is 1250 with two digits behind it |
//! | truth values | a truth term |
//! | texts, days, bytes | a code: each constant has one, all other codes are values that no constant has |
//! | anything else | *opaque*: what is computed from it is a stand-in |
//!
//! Each may be NULL, which is a truth term of its own, so that three-valued logic needs no special values.

use std::collections::BTreeMap;

use super::{Reason, ReasonKind};
use crate::program::ir::{BinaryOp, Span};
use crate::program::schema::{ColumnType, TypeKind};
use crate::solve::{Bool, Int, Problem, Term};
use crate::value::{Number, Value};

/// Codes below are those of constants.
pub(crate) const FREE_CODE: i128 = 500;
/// The last code.
pub(crate) const LAST_CODE: i128 = 999;
/// More digits behind the point are not computed with.
const SCALE_MAX: u32 = 12;

/// A value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Symbol {
    /// Whether it is NULL.
    pub(crate) null: Bool,
    /// What it is if not.
    pub(crate) shape: Shape,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Shape {
    /// `digits · 10^-scale`
    Number {
        digits: Int,
        scale: u32,
    },
    Truth(Bool),
    Code(Int),
    Opaque,
}

/// When a condition is true, and when it is false; neither if it is NULL.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Truth {
    pub(crate) is_true: Bool,
    pub(crate) is_false: Bool,
}

/// Where in the program we are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) instance: usize,
    pub(crate) span: Span,
    /// What must be true for this place to be evaluated at all: the left side of AND, OR.
    pub(crate) guard: Bool,
}

impl Symbol {
    /// Whether both are numbers, or both texts.
    pub(crate) fn is_like(&self, other: &Symbol) -> bool {
        matches!(
            (self.shape, other.shape),
            (Shape::Number { .. }, Shape::Number { .. }) | (Shape::Code(_), Shape::Code(_))
        )
    }
}

/// The problem, and what its parts mean.
#[derive(Debug, Clone)]
pub(crate) struct Symbols {
    pub(crate) problem: Problem,
    /// For each demand, where it comes from.
    pub(crate) reasons: Vec<Reason>,
    /// Constants, by their codes.
    pub(crate) constants: Vec<Value>,
    /// Unknowns without a meaning, with the condition under which their values are used.
    pub(crate) stand_ins: BTreeMap<usize, Bool>,
    /// Unknowns that have fewer values here than in a run.
    pub(crate) narrowed: Vec<usize>,
    /// Numbers that are looked at lie between this and its negative, if it is said.
    pub(crate) window: Option<i128>,
    pub(crate) always: Bool,
    pub(crate) never: Bool,
}

impl Symbols {
    pub(crate) fn new() -> Symbols {
        let mut problem = Problem::new();
        let (always, never) = (problem.truth(true), problem.truth(false));
        Symbols {
            problem,
            reasons: Vec::new(),
            constants: Vec::new(),
            stand_ins: BTreeMap::new(),
            narrowed: Vec::new(),
            window: None,
            always,
            never,
        }
    }

    /// Demands something under the guard of a place.
    pub(crate) fn demand(&mut self, condition: Bool, place: &Place, kind: ReasonKind) {
        let excused = self.problem.not(place.guard);
        let condition = self.problem.or(excused, condition);
        if self.problem.as_truth(condition) != Some(true) {
            self.problem.demand(condition);
            self.reasons.push(Reason { instance: place.instance, span: place.span, kind });
        }
    }

    // Making symbols.

    pub(crate) fn null(&self) -> Symbol {
        Symbol { null: self.always, shape: Shape::Opaque }
    }

    pub(crate) fn whole(&self, digits: Int) -> Symbol {
        Symbol { null: self.never, shape: Shape::Number { digits, scale: 0 } }
    }

    pub(crate) fn of_truth(&mut self, truth: Truth) -> Symbol {
        let known = self.problem.or(truth.is_true, truth.is_false);
        Symbol { null: self.problem.not(known), shape: Shape::Truth(truth.is_true) }
    }

    pub(crate) fn constant(&mut self, value: &Value) -> Symbol {
        let shape = match value {
            Value::Null => return self.null(),
            Value::Bool(value) => Shape::Truth(self.problem.truth(*value)),
            Value::Number(number) => match fixed_point(number) {
                Some((digits, scale)) => Shape::Number { digits: self.problem.constant(digits), scale },
                None => Shape::Opaque,
            },
            Value::Text(_) | Value::Bytes(_) => match self.code(value) {
                Some(code) => Shape::Code(self.problem.constant(code)),
                None => Shape::Opaque,
            },
        };
        Symbol { null: self.never, shape }
    }

    /// The code of a constant; `None` if there are too many.
    fn code(&mut self, value: &Value) -> Option<i128> {
        let known = self.constants.iter().position(|constant| constant == value);
        let at = known.unwrap_or_else(|| {
            self.constants.push(value.clone());
            self.constants.len() - 1
        });
        i128::try_from(at).ok().filter(|code| *code < FREE_CODE)
    }

    /// An unknown of a type.
    pub(crate) fn unknown(&mut self, name: &str, column_type: &ColumnType, nullable: bool) -> Symbol {
        let null = if nullable { self.problem.boolean(format!("{name} IS NULL")) } else { self.never };
        let shape = match column_type.kind {
            TypeKind::Integer | TypeKind::Decimal | TypeKind::Float => self.unknown_number(name, column_type),
            TypeKind::Boolean => Shape::Truth(self.problem.boolean(name)),
            TypeKind::Enumeration => self.unknown_of_few(name, &column_type.values),
            TypeKind::Text | TypeKind::Bytes | TypeKind::Date | TypeKind::Time | TypeKind::Timestamp => {
                Shape::Code(self.problem.integer(name, 0..=LAST_CODE))
            }
            TypeKind::Other => Shape::Opaque,
        };
        Symbol { null, shape }
    }

    /// One of a few constants.
    fn unknown_of_few(&mut self, name: &str, values: &[String]) -> Shape {
        let codes: Vec<i128> = values.iter().filter_map(|value| self.code(&Value::text(value.clone()))).collect();
        let Some(first) = codes.first().copied() else { return Shape::Opaque };
        // Codes are given in order. If some value had its code before, only its neighbours are looked at.
        let neighbours = codes.iter().zip(first..).take_while(|(code, expected)| **code == *expected).count();
        let shape = Shape::Code(self.problem.integer(name, first..=codes[neighbours - 1]));
        if neighbours < values.len() {
            self.narrowed.push(self.problem.unknowns().len() - 1);
        }
        shape
    }

    fn unknown_number(&mut self, name: &str, column_type: &ColumnType) -> Shape {
        let (mut bounds, scale, mut is_narrow) = number_type(column_type);
        if let Some(window) = self.window.map(|window| window * 10_i128.pow(scale)) {
            is_narrow |= *bounds.end() > window;
            bounds = (*bounds.start()).max(-window)..=(*bounds.end()).min(window);
        }
        let digits = self.problem.integer(name, bounds);
        if is_narrow {
            self.narrowed.push(self.problem.unknowns().len() - 1);
        }
        Shape::Number { digits, scale }
    }

    /// An unknown of a type that stands for something that cannot be expressed. It is used if the condition is true.
    pub(crate) fn stand_in(&mut self, name: &str, column_type: &ColumnType, used: Bool) -> Symbol {
        let before = self.problem.unknowns().len();
        let symbol = self.unknown(name, column_type, true);
        self.stands_in_since(before, used);
        symbol
    }

    /// A number of rows that is not known.
    pub(crate) fn count_stand_in(&mut self, count_max: i128, used: Bool) -> Int {
        let before = self.problem.unknowns().len();
        let count = self.problem.integer("rows", 0..=count_max);
        self.stands_in_since(before, used);
        count
    }

    fn stands_in_since(&mut self, before: usize, used: Bool) {
        self.stand_ins.extend((before..self.problem.unknowns().len()).map(|at| (at, used)));
    }

    fn truth_stand_in(&mut self) -> Bool {
        let before = self.problem.unknowns().len();
        let truth = self.problem.boolean("a condition");
        self.stands_in_since(before, self.always);
        truth
    }

    /// Something of which nothing is known, not even its type.
    pub(crate) fn opaque(&mut self) -> Symbol {
        Symbol { null: self.truth_stand_in(), shape: Shape::Opaque }
    }

    /// A condition of which nothing is known.
    pub(crate) fn opaque_truth(&mut self) -> Truth {
        let (is_true, other) = (self.truth_stand_in(), self.truth_stand_in());
        let is_not = self.problem.not(is_true);
        Truth { is_true, is_false: self.problem.and(is_not, other) }
    }

    // Computing with them.

    fn is_null(&self, symbol: &Symbol) -> bool {
        symbol.null == self.always
    }

    fn either_null(&mut self, a: &Symbol, b: &Symbol) -> Bool {
        self.problem.or(a.null, b.null)
    }

    /// Digits and scale; a truth value counts as 0 or 1.
    pub(crate) fn as_number(&mut self, symbol: &Symbol) -> Option<(Int, u32)> {
        match symbol.shape {
            Shape::Number { digits, scale } => Some((digits, scale)),
            Shape::Truth(truth) => {
                let (one, zero) = (self.problem.constant(1), self.problem.constant(0));
                Some((self.problem.choose(truth, one, zero), 0))
            }
            Shape::Code(_) | Shape::Opaque => None,
        }
    }

    /// The same number with more digits behind the point.
    pub(crate) fn scaled(&mut self, digits: Int, from: u32, to: u32) -> Int {
        let factor = self.problem.constant(10_i128.pow(to - from));
        self.problem.times(digits, factor)
    }

    /// Both numbers with the same number of digits behind the point.
    fn aligned(&mut self, a: &Symbol, b: &Symbol) -> Option<(Int, Int, u32)> {
        let ((a, a_scale), (b, b_scale)) = (self.as_number(a)?, self.as_number(b)?);
        let scale = a_scale.max(b_scale);
        Some((self.scaled(a, a_scale, scale), self.scaled(b, b_scale, scale), scale))
    }

    pub(crate) fn negate(&mut self, a: &Symbol) -> Symbol {
        match self.as_number(a) {
            Some((digits, scale)) => {
                let digits = self.problem.negate(digits);
                Symbol { null: a.null, shape: Shape::Number { digits, scale } }
            }
            None if self.is_null(a) => *a,
            None => self.opaque(),
        }
    }

    /// `a op b`; a division by zero fails.
    pub(crate) fn arithmetic(&mut self, op: BinaryOp, a: &Symbol, b: &Symbol, place: &Place) -> Symbol {
        if self.is_null(a) || self.is_null(b) {
            return self.null();
        }
        let null = self.either_null(a, b);
        let Some((x, y, scale)) = self.aligned(a, b) else { return self.opaque() };
        if matches!(op, BinaryOp::Divide | BinaryOp::Quotient | BinaryOp::Remainder) {
            let zero = self.problem.constant(0);
            let divides = self.problem.unequal(y, zero);
            let succeeds = self.problem.or(null, divides);
            self.demand(succeeds, place, ReasonKind::Succeeds);
        }
        let (digits, scale) = match op {
            BinaryOp::Add => (self.problem.plus(x, y), scale),
            BinaryOp::Subtract => (self.problem.minus(x, y), scale),
            BinaryOp::Quotient => (self.problem.quotient(x, y), 0),
            BinaryOp::Remainder => (self.problem.remainder(x, y), scale),
            BinaryOp::Multiply => match (self.as_number(a), self.as_number(b)) {
                (Some((x, x_scale)), Some((y, y_scale))) if x_scale + y_scale <= SCALE_MAX => {
                    (self.problem.times(x, y), x_scale + y_scale)
                }
                _ => return self.opaque(),
            },
            _ => return self.opaque(),
        };
        Symbol { null, shape: Shape::Number { digits, scale } }
    }

    pub(crate) fn compare(&mut self, op: BinaryOp, a: &Symbol, b: &Symbol) -> Truth {
        if self.is_null(a) || self.is_null(b) {
            return Truth { is_true: self.never, is_false: self.never };
        }
        let null = self.either_null(a, b);
        let problem = &mut self.problem;
        let holds = match (op, a.shape, b.shape) {
            (BinaryOp::Equal, Shape::Code(a), Shape::Code(b)) => problem.equal(a, b),
            (BinaryOp::NotEqual, Shape::Code(a), Shape::Code(b)) => problem.unequal(a, b),
            _ => match self.aligned(a, b) {
                Some((a, b, _)) => compared(&mut self.problem, op, a, b),
                None => self.truth_stand_in(),
            },
        };
        self.known_unless(null, holds)
    }

    fn known_unless(&mut self, null: Bool, holds: Bool) -> Truth {
        let (known, fails) = (self.problem.not(null), self.problem.not(holds));
        Truth { is_true: self.problem.and(known, holds), is_false: self.problem.and(known, fails) }
    }

    /// A value as a condition: a number is true unless it is 0.
    pub(crate) fn truth(&mut self, symbol: &Symbol) -> Truth {
        if self.is_null(symbol) {
            return Truth { is_true: self.never, is_false: self.never };
        }
        let holds = match symbol.shape {
            Shape::Truth(truth) => truth,
            Shape::Number { digits, .. } => {
                let zero = self.problem.constant(0);
                self.problem.unequal(digits, zero)
            }
            Shape::Code(_) | Shape::Opaque => self.truth_stand_in(),
        };
        self.known_unless(symbol.null, holds)
    }

    pub(crate) fn certain(&mut self, holds: Bool) -> Truth {
        Truth { is_true: holds, is_false: self.problem.not(holds) }
    }

    pub(crate) fn both(&mut self, a: Truth, b: Truth) -> Truth {
        Truth { is_true: self.problem.and(a.is_true, b.is_true), is_false: self.problem.or(a.is_false, b.is_false) }
    }

    /// The first if the condition is true, otherwise the second.
    pub(crate) fn choose(&mut self, condition: Bool, a: &Symbol, b: &Symbol) -> Symbol {
        match self.problem.as_truth(condition) {
            Some(true) => return *a,
            Some(false) => return *b,
            None if a == b => return *a,
            None => {}
        }
        let null = self.problem.choose_truth(condition, a.null, b.null);
        let shape = match (a.shape, b.shape) {
            (_, shape) if self.is_null(a) => shape,
            (shape, _) if self.is_null(b) => shape,
            (Shape::Truth(a), Shape::Truth(b)) => Shape::Truth(self.problem.choose_truth(condition, a, b)),
            (Shape::Code(a), Shape::Code(b)) => Shape::Code(self.problem.choose(condition, a, b)),
            _ => match self.aligned(a, b) {
                Some((a, b, scale)) => Shape::Number { digits: self.problem.choose(condition, a, b), scale },
                None => Shape::Opaque,
            },
        };
        Symbol { null, shape }
    }
}

impl Truth {
    /// NOT.
    pub(crate) fn opposite(self) -> Truth {
        Truth { is_true: self.is_false, is_false: self.is_true }
    }
}

fn compared(problem: &mut Problem, op: BinaryOp, a: Int, b: Int) -> Bool {
    match op {
        BinaryOp::Equal => problem.equal(a, b),
        BinaryOp::NotEqual => problem.unequal(a, b),
        BinaryOp::Less => problem.less(a, b),
        BinaryOp::LessEqual => problem.at_most(a, b),
        BinaryOp::Greater => problem.less(b, a),
        BinaryOp::GreaterEqual => problem.at_most(b, a),
        other => unreachable!("{other} is no comparison"),
    }
}

/// Digits and scale of a constant.
fn fixed_point(number: &Number) -> Option<(i128, u32)> {
    number.to_decimal().filter(|(_, scale)| *scale <= SCALE_MAX)
}

/// The digits that a numeric type may have, its scale, and whether it has values beyond.
pub(crate) fn number_type(column_type: &ColumnType) -> (std::ops::RangeInclusive<i128>, u32, bool) {
    let nines = |digits: u32| 10_i128.pow(digits) - 1;
    match column_type.kind {
        TypeKind::Decimal => match (column_type.length, column_type.scale.unwrap_or(0)) {
            (Some(digits), scale) if digits <= 28 && scale <= SCALE_MAX => {
                (-nines(digits)..=nines(digits), scale, false)
            }
            // Without digits, engines differ; cents are enough for most.
            _ => (-nines(15)..=nines(15), 2, true),
        },
        TypeKind::Float => (-nines(15)..=nines(15), 0, true),
        _ => {
            let name = column_type.name.to_lowercase();
            let word = name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
            let bits = match word {
                "tinyint" => 8,
                "smallint" | "int2" | "smallserial" => 16,
                "mediumint" => 24,
                "bigint" | "int8" | "bigserial" | "serial8" => 64,
                _ => 32,
            };
            let bounds = match word {
                "year" => 1901..=2155,
                _ if name.contains("unsigned") => 0..=(1 << bits) - 1,
                _ => -(1 << (bits - 1))..=(1 << (bits - 1)) - 1,
            };
            (bounds, 0, false)
        }
    }
}

/// The unknowns that a symbol is made of, if it was made as one.
pub(crate) fn unknowns_of(problem: &Problem, symbol: &Symbol) -> Vec<usize> {
    let value = match symbol.shape {
        Shape::Number { digits, .. } => Some(problem.integer_term(digits)),
        Shape::Code(code) => Some(problem.integer_term(code)),
        Shape::Truth(truth) => Some(problem.truth_term(truth)),
        Shape::Opaque => None,
    };
    let unknown = |term: &Term| match term {
        Term::IntegerUnknown(at) | Term::TruthUnknown(at) => Some(*at),
        _ => None,
    };
    value.into_iter().chain([problem.truth_term(symbol.null)]).filter_map(unknown).collect()
}
