//! Terms as data: one arena, in which equal terms are one.
//!
//! Few kinds of terms are kept, since everything that goes through them has to know each: `a <= b` is `NOT b < a`,
//! `a <> b` is `NOT a = b`. What can be computed while building is: constants, `x + 0`, comparisons that the bounds
//! decide.

use std::collections::{BTreeSet, HashMap};

use super::interval::{self, Interval};

/// An integer term: a position in [`Terms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Int(u32);

/// A truth term: a position in [`Terms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bool(u32);

impl Int {
    /// Its position among all terms.
    pub fn position(self) -> usize {
        self.0 as usize
    }
}

impl Bool {
    /// Its position among all terms.
    pub fn position(self) -> usize {
        self.0 as usize
    }
}

/// A term over others, which stand before it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// A constant integer.
    Integer(i128),
    /// An unknown integer: a position in [`Terms::unknowns`].
    IntegerUnknown(usize),
    /// `a + b`
    Add(Int, Int),
    /// `a - b`
    Subtract(Int, Int),
    /// `-a`
    Negate(Int),
    /// `a · b`
    Multiply(Int, Int),
    /// `a DIV b`, rounded towards zero; 0 if `b` is 0.
    Quotient(Int, Int),
    /// `a % b`, with the sign of `a`; `a` if `b` is 0.
    Remainder(Int, Int),
    /// The first if the condition is true, otherwise the second.
    Choose(Bool, Int, Int),
    /// A constant truth value.
    Truth(bool),
    /// An unknown truth value: a position in [`Terms::unknowns`].
    TruthUnknown(usize),
    /// `NOT a`
    Not(Bool),
    /// `a AND b`
    And(Bool, Bool),
    /// `a OR b`
    Or(Bool, Bool),
    /// `a = b`
    Equal(Int, Int),
    /// `a < b`
    Less(Int, Int),
}

impl Term {
    /// The positions of its operands.
    pub fn operands(&self) -> Vec<usize> {
        let (ints, bools): (&[&Int], &[&Bool]) = match self {
            Term::Integer(_) | Term::IntegerUnknown(_) | Term::Truth(_) | Term::TruthUnknown(_) => (&[], &[]),
            Term::Add(a, b)
            | Term::Subtract(a, b)
            | Term::Multiply(a, b)
            | Term::Quotient(a, b)
            | Term::Remainder(a, b)
            | Term::Equal(a, b)
            | Term::Less(a, b) => (&[a, b], &[]),
            Term::Negate(a) => (&[a], &[]),
            Term::Choose(condition, a, b) => (&[a, b], &[condition]),
            Term::Not(a) => (&[], &[a]),
            Term::And(a, b) | Term::Or(a, b) => (&[], &[a, b]),
        };
        ints.iter().map(|int| int.position()).chain(bools.iter().map(|truth| truth.position())).collect()
    }
}

/// Something whose value is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// What people call it; need not be unique.
    pub name: String,
    /// The values that it may have; `None` for a truth value.
    pub bounds: Option<Interval>,
}

impl Unknown {
    /// Its value if nobody cares; a truth value is 0 or 1.
    pub(super) fn nearest_to_zero(&self) -> i128 {
        self.bounds.as_ref().map_or(0, |bounds| 0.clamp(*bounds.start(), *bounds.end()))
    }
}

/// All terms of a problem.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    terms: Vec<Term>,
    /// The bounds of integer terms; `None` if they exceed our numbers, and for truth terms.
    bounds: Vec<Option<Interval>>,
    positions: HashMap<Term, u32>,
    unknowns: Vec<Unknown>,
}

impl Terms {
    /// Every term, each behind its operands.
    pub fn all(&self) -> &[Term] {
        &self.terms
    }

    /// The unknowns, in the order in which they were made.
    pub fn unknowns(&self) -> &[Unknown] {
        &self.unknowns
    }

    /// What an integer term is.
    pub fn integer_term(&self, int: Int) -> &Term {
        &self.terms[int.position()]
    }

    /// What a truth term is.
    pub fn truth_term(&self, truth: Bool) -> &Term {
        &self.terms[truth.position()]
    }

    /// The bounds of an integer term; `None` if they exceed our numbers.
    pub fn bounds(&self, int: Int) -> Option<&Interval> {
        self.bounds[int.position()].as_ref()
    }

    pub(super) fn bounds_at(&self, position: usize) -> Option<&Interval> {
        self.bounds[position].as_ref()
    }

    fn add(&mut self, term: Term, bounds: Option<Interval>) -> u32 {
        if let Some(position) = self.positions.get(&term) {
            return *position;
        }
        let position = u32::try_from(self.terms.len()).expect("four thousand million terms do not fit into memory");
        self.positions.insert(term.clone(), position);
        self.terms.push(term);
        self.bounds.push(bounds);
        position
    }

    fn truth_of(&mut self, term: Term) -> Bool {
        Bool(self.add(term, None))
    }

    /// A term, unless its bounds leave only one value.
    fn integer_of(&mut self, term: Term, bounds: Option<Interval>) -> Int {
        match bounds {
            Some(bounds) if bounds.start() == bounds.end() => self.constant(*bounds.start()),
            bounds => Int(self.add(term, bounds)),
        }
    }

    // Integers.

    /// A constant.
    pub fn constant(&mut self, value: i128) -> Int {
        Int(self.add(Term::Integer(value), Some(value..=value)))
    }

    /// An unknown within bounds; they must not be empty.
    pub fn integer(&mut self, name: impl Into<String>, bounds: Interval) -> Int {
        assert!(!bounds.is_empty(), "an unknown needs at least one value");
        self.unknowns.push(Unknown { name: name.into(), bounds: Some(bounds.clone()) });
        Int(self.add(Term::IntegerUnknown(self.unknowns.len() - 1), Some(bounds)))
    }

    /// The value of a constant.
    pub fn as_constant(&self, int: Int) -> Option<i128> {
        if let Term::Integer(value) = self.integer_term(int) { Some(*value) } else { None }
    }

    fn bounds_of_two(&self, a: Int, b: Int, of: fn(&Interval, &Interval) -> Option<Interval>) -> Option<Interval> {
        of(self.bounds(a)?, self.bounds(b)?)
    }

    /// `a + b`
    pub fn plus(&mut self, a: Int, b: Int) -> Int {
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(0), _) => b,
            (_, Some(0)) => a,
            _ => {
                let bounds = self.bounds_of_two(a, b, interval::sum);
                self.integer_of(Term::Add(a.min(b), a.max(b)), bounds)
            }
        }
    }

    /// `a - b`
    pub fn minus(&mut self, a: Int, b: Int) -> Int {
        match (self.as_constant(a), self.as_constant(b)) {
            _ if a == b => self.constant(0),
            (_, Some(0)) => a,
            (Some(0), _) => self.negate(b),
            _ => {
                let bounds = self.bounds_of_two(a, b, interval::difference);
                self.integer_of(Term::Subtract(a, b), bounds)
            }
        }
    }

    /// `-a`
    pub fn negate(&mut self, a: Int) -> Int {
        if let Term::Negate(inner) = self.integer_term(a) {
            return *inner;
        }
        let bounds = self.bounds(a).and_then(|bounds| interval::difference(&(0..=0), bounds));
        self.integer_of(Term::Negate(a), bounds)
    }

    /// `a · b`
    pub fn times(&mut self, a: Int, b: Int) -> Int {
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(0), _) | (_, Some(0)) => self.constant(0),
            (Some(1), _) => b,
            (_, Some(1)) => a,
            _ => {
                let bounds = self.bounds_of_two(a, b, interval::product);
                self.integer_of(Term::Multiply(a.min(b), a.max(b)), bounds)
            }
        }
    }

    /// `a DIV b`, rounded towards zero; 0 if `b` is 0.
    pub fn quotient(&mut self, a: Int, b: Int) -> Int {
        match self.as_constant(b) {
            Some(0) => self.constant(0),
            Some(1) => a,
            _ => {
                let bounds = self.bounds_of_two(a, b, interval::quotient);
                self.integer_of(Term::Quotient(a, b), bounds)
            }
        }
    }

    /// `a % b`, with the sign of `a`; `a` if `b` is 0.
    pub fn remainder(&mut self, a: Int, b: Int) -> Int {
        match (self.as_constant(a), self.as_constant(b)) {
            (_, Some(0)) => a,
            (Some(x), Some(y)) if remainder_of(x, y).is_some() => {
                self.constant(remainder_of(x, y).expect("the guard asked"))
            }
            _ => {
                let bounds = self.bounds_of_two(a, b, interval::remainder);
                self.integer_of(Term::Remainder(a, b), bounds)
            }
        }
    }

    /// `a` if the condition is true, otherwise `b`.
    pub fn choose(&mut self, condition: Bool, a: Int, b: Int) -> Int {
        match self.truth_term(condition) {
            Term::Truth(true) => a,
            Term::Truth(false) => b,
            _ if a == b => a,
            Term::Not(opposite) => {
                let opposite = *opposite;
                self.choose(opposite, b, a)
            }
            _ => {
                let bounds = self.bounds_of_two(a, b, |a, b| Some(interval::either(a, b)));
                self.integer_of(Term::Choose(condition, a, b), bounds)
            }
        }
    }

    // Truth values.

    /// A constant truth value.
    pub fn truth(&mut self, value: bool) -> Bool {
        self.truth_of(Term::Truth(value))
    }

    /// An unknown truth value.
    pub fn boolean(&mut self, name: impl Into<String>) -> Bool {
        self.unknowns.push(Unknown { name: name.into(), bounds: None });
        self.truth_of(Term::TruthUnknown(self.unknowns.len() - 1))
    }

    /// The value of a constant.
    pub fn as_truth(&self, truth: Bool) -> Option<bool> {
        if let Term::Truth(value) = self.truth_term(truth) { Some(*value) } else { None }
    }

    /// `NOT a`
    pub fn not(&mut self, a: Bool) -> Bool {
        match self.truth_term(a) {
            Term::Truth(value) => {
                let opposite = !*value;
                self.truth(opposite)
            }
            Term::Not(inner) => *inner,
            _ => self.truth_of(Term::Not(a)),
        }
    }

    /// `a AND b`
    pub fn and(&mut self, a: Bool, b: Bool) -> Bool {
        match (self.as_truth(a), self.as_truth(b)) {
            (Some(false), _) | (_, Some(false)) => self.truth(false),
            (Some(true), _) => b,
            (_, Some(true)) => a,
            _ if a == b => a,
            _ if self.not(a) == b => self.truth(false),
            _ => self.truth_of(Term::And(a.min(b), a.max(b))),
        }
    }

    /// `a OR b`
    pub fn or(&mut self, a: Bool, b: Bool) -> Bool {
        match (self.as_truth(a), self.as_truth(b)) {
            (Some(true), _) | (_, Some(true)) => self.truth(true),
            (Some(false), _) => b,
            (_, Some(false)) => a,
            _ if a == b => a,
            _ if self.not(a) == b => self.truth(true),
            _ => self.truth_of(Term::Or(a.min(b), a.max(b))),
        }
    }

    /// Whether all are true.
    pub fn all_of(&mut self, conditions: impl IntoIterator<Item = Bool>) -> Bool {
        let none = self.truth(true);
        conditions.into_iter().fold(none, |all, one| self.and(all, one))
    }

    /// Whether one is true.
    pub fn any_of(&mut self, conditions: impl IntoIterator<Item = Bool>) -> Bool {
        let none = self.truth(false);
        conditions.into_iter().fold(none, |any, one| self.or(any, one))
    }

    /// `a` if the condition is true, otherwise `b`.
    pub fn choose_truth(&mut self, condition: Bool, a: Bool, b: Bool) -> Bool {
        if a == b {
            return a;
        }
        let otherwise = self.not(condition);
        let (first, second) = (self.and(condition, a), self.and(otherwise, b));
        self.or(first, second)
    }

    /// `a = b`
    pub fn equal(&mut self, a: Int, b: Int) -> Bool {
        match (self.bounds(a), self.bounds(b)) {
            _ if a == b => self.truth(true),
            (Some(x), Some(y)) if x.end() < y.start() || y.end() < x.start() => self.truth(false),
            _ => self.truth_of(Term::Equal(a.min(b), a.max(b))),
        }
    }

    /// `a <> b`
    pub fn unequal(&mut self, a: Int, b: Int) -> Bool {
        let equal = self.equal(a, b);
        self.not(equal)
    }

    /// `a < b`
    pub fn less(&mut self, a: Int, b: Int) -> Bool {
        match (self.bounds(a), self.bounds(b)) {
            _ if a == b => self.truth(false),
            (Some(x), Some(y)) if x.end() < y.start() => self.truth(true),
            (Some(x), Some(y)) if x.start() >= y.end() => self.truth(false),
            _ => self.truth_of(Term::Less(a, b)),
        }
    }

    /// `a <= b`
    pub fn at_most(&mut self, a: Int, b: Int) -> Bool {
        let greater = self.less(b, a);
        self.not(greater)
    }

    /// Whether the value is within bounds.
    pub fn within(&mut self, a: Int, bounds: &Interval) -> Bool {
        let (low, high) = (self.constant(*bounds.start()), self.constant(*bounds.end()));
        let (above, below) = (self.at_most(low, a), self.at_most(a, high));
        self.and(above, below)
    }

    /// The unknowns that these conditions are made of: positions in [`Terms::unknowns`].
    pub fn unknowns_in(&self, conditions: impl IntoIterator<Item = Bool>) -> BTreeSet<usize> {
        let needed = self.needed_for(conditions);
        let unknown = |(term, needed): (&Term, bool)| match term {
            Term::IntegerUnknown(at) | Term::TruthUnknown(at) if needed => Some(*at),
            _ => None,
        };
        self.terms.iter().zip(needed).filter_map(unknown).collect()
    }

    /// For each term, whether these conditions are made of it.
    pub(super) fn needed_for(&self, conditions: impl IntoIterator<Item = Bool>) -> Vec<bool> {
        let mut needed = vec![false; self.terms.len()];
        conditions.into_iter().for_each(|condition| needed[condition.position()] = true);
        for position in (0..self.terms.len()).rev() {
            if needed[position] {
                self.terms[position].operands().into_iter().for_each(|operand| needed[operand] = true);
            }
        }
        needed
    }
}

/// `a DIV b`, as terms have it; `None` beyond our numbers.
pub(super) fn quotient_of(a: i128, b: i128) -> Option<i128> {
    if b == 0 { Some(0) } else { a.checked_div(b) }
}

/// `a % b`, as terms have it.
pub(super) fn remainder_of(a: i128, b: i128) -> Option<i128> {
    if b == 0 { Some(a) } else { Some(a.wrapping_rem(b)) }
}
