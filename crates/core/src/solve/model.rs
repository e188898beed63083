//! Values of unknowns, and what terms are worth with them.

use super::Problem;
use super::term::{Bool, Int, Term, Terms, quotient_of, remainder_of};

/// A value for each unknown, by its position in [`Terms::unknowns`]; 0 and 1 are the truth values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    pub(super) values: Vec<i128>,
}

impl Model {
    /// A model with these values; a truth value is 0 or 1.
    pub fn new(values: Vec<i128>) -> Model {
        Model { values }
    }

    /// The values of the unknowns.
    pub fn values(&self) -> &[i128] {
        &self.values
    }
}

/// The values of all terms of a problem, under one model.
#[derive(Debug, Clone)]
pub struct Valuation {
    values: Vec<Option<i128>>,
}

impl Valuation {
    /// The value of an integer term; `None` if it, or something in it, exceeds our numbers.
    pub fn integer(&self, int: Int) -> Option<i128> {
        self.values[int.position()]
    }

    /// The value of a truth term; `None` as above.
    pub fn truth(&self, truth: Bool) -> Option<bool> {
        self.values[truth.position()].map(|value| value != 0)
    }
}

impl Valuation {
    /// Adds the values of terms that were made since. An unknown that the model does not know has none.
    pub fn catch_up(&mut self, terms: &Terms, model: &Model) {
        for term in &terms.all()[self.values.len()..] {
            let value = self.of(term, model);
            self.values.push(value);
        }
    }
}

impl Problem {
    /// The values of all terms.
    pub fn evaluate(&self, model: &Model) -> Valuation {
        evaluate(self, model)
    }
}

fn evaluate(terms: &Terms, model: &Model) -> Valuation {
    let mut known = Valuation { values: Vec::with_capacity(terms.all().len()) };
    known.catch_up(terms, model);
    known
}

impl Valuation {
    /// The value of a term whose operands are known.
    fn of(&self, term: &Term, model: &Model) -> Option<i128> {
        let two = |a: &Int, b: &Int| Some((self.integer(*a)?, self.integer(*b)?));
        match term {
            Term::Integer(value) => Some(*value),
            Term::IntegerUnknown(at) | Term::TruthUnknown(at) => model.values.get(*at).copied(),
            Term::Add(a, b) => two(a, b).and_then(|(a, b)| a.checked_add(b)),
            Term::Subtract(a, b) => two(a, b).and_then(|(a, b)| a.checked_sub(b)),
            Term::Negate(a) => self.integer(*a)?.checked_neg(),
            Term::Multiply(a, b) => two(a, b).and_then(|(a, b)| a.checked_mul(b)),
            Term::Quotient(a, b) => two(a, b).and_then(|(a, b)| quotient_of(a, b)),
            Term::Remainder(a, b) => two(a, b).and_then(|(a, b)| remainder_of(a, b)),
            Term::Choose(condition, a, b) => self.integer(if self.truth(*condition)? { *a } else { *b }),
            Term::Truth(value) => Some(i128::from(*value)),
            Term::Not(a) => Some(i128::from(!self.truth(*a)?)),
            Term::And(a, b) => Some(i128::from(self.truth(*a)? && self.truth(*b)?)),
            Term::Or(a, b) => Some(i128::from(self.truth(*a)? || self.truth(*b)?)),
            Term::Equal(a, b) => two(a, b).map(|(a, b)| i128::from(a == b)),
            Term::Less(a, b) => two(a, b).map(|(a, b)| i128::from(a < b)),
        }
    }
}
