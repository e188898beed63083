//! Terms as gates.
//!
//! A term has as many bits as its bounds need. Sums, differences and products are computed modulo a power of two that
//! their bounds fit into, so that neither they nor their operands can overflow on the way.

use super::circuit::{Bits, Circuit};
use super::interval::{self, Interval};
use super::model::Model;
use super::term::{Bool, Int, Term, Terms, Unknown};
use crate::sat::{Answer, Lit, Sat};

/// Builds the circuit of terms as they are asked for.
#[derive(Debug)]
pub(super) struct Blaster {
    width_max: u32,
    pub(super) circuit: Circuit,
    /// The bits of each term that has been built; a truth term has one.
    bits: Vec<Option<Bits>>,
}

impl Blaster {
    pub(super) fn new(width_max: u32, sat: Sat) -> Blaster {
        Blaster { width_max, circuit: Circuit::new(sat), bits: Vec::new() }
    }

    /// The literal of a truth term; `None` if something in it is too wide.
    pub(super) fn literal(&mut self, terms: &Terms, truth: Bool) -> Option<Lit> {
        self.reach(terms, truth.position())?;
        Some(self.truth(truth))
    }

    /// Builds a term and all that it needs.
    fn reach(&mut self, terms: &Terms, wanted: usize) -> Option<()> {
        if self.bits.len() < terms.all().len() {
            self.bits.resize(terms.all().len(), None);
        }
        let mut open = vec![wanted];
        while let Some(position) = open.last().copied() {
            let before = open.len();
            if self.bits[position].is_none() {
                let operands = terms.all()[position].operands();
                open.extend(operands.into_iter().filter(|operand| self.bits[*operand].is_none()));
            }
            if open.len() > before {
                continue;
            }
            if self.bits[position].is_none() {
                self.bits[position] = Some(self.build(terms, position)?);
            }
            open.pop();
        }
        Some(())
    }

    /// Whether an integer term is within bounds; `None` if something in it is too wide.
    pub(super) fn within(&mut self, terms: &Terms, int: Int, bounds: &Interval) -> Option<Lit> {
        self.reach(terms, int.position())?;
        let bits = self.number(int);
        let width = bits.len().max(interval::width(bounds) as usize);
        let [low, high] = [*bounds.start(), *bounds.end()].map(|bound| self.circuit.number(bound, width));
        let (below, above) = (self.circuit.less(&bits, &low), self.circuit.less(&high, &bits));
        Some(self.circuit.and(!below, !above))
    }

    /// Keeps a literal together with others, if that is possible; then the model is one that does.
    pub(super) fn keep(&mut self, terms: &Terms, literal: Lit, kept: &mut Vec<Lit>, model: &mut Model) -> bool {
        kept.push(literal);
        let budget = self.circuit.sat.left();
        let is_possible = self.circuit.sat.solve_under(kept, budget) == Answer::Possible;
        if is_possible {
            *model = self.model(terms);
        } else {
            kept.pop();
        }
        is_possible
    }

    fn truth(&self, truth: Bool) -> Lit {
        self.bits[truth.position()].as_ref().expect("operands are built before")[0]
    }

    fn number(&self, int: Int) -> Bits {
        self.bits[int.position()].clone().expect("operands are built before")
    }

    /// How many bits an integer term has.
    fn width(&self, bounds: Option<&Interval>) -> Option<usize> {
        let width = interval::width(bounds?);
        (width <= self.width_max).then_some(width as usize)
    }

    /// The bits of a term whose operands are built.
    fn build(&mut self, terms: &Terms, position: usize) -> Option<Bits> {
        let term = &terms.all()[position];
        let truth = match term {
            Term::Truth(value) => self.circuit.constant(*value),
            Term::TruthUnknown(_) => self.circuit.variable(),
            Term::Not(a) => !self.truth(*a),
            Term::And(a, b) => self.circuit.and(self.truth(*a), self.truth(*b)),
            Term::Or(a, b) => self.circuit.or(self.truth(*a), self.truth(*b)),
            Term::Equal(a, b) => self.circuit.equal(&self.number(*a), &self.number(*b)),
            Term::Less(a, b) => self.circuit.less(&self.number(*a), &self.number(*b)),
            integer => {
                let bounds = terms.bounds_at(position);
                let width = self.width(bounds)?;
                return Some(self.arithmetic(integer, width, bounds?));
            }
        };
        Some(vec![truth])
    }

    fn arithmetic(&mut self, term: &Term, width: usize, bounds: &Interval) -> Bits {
        match term {
            Term::Integer(value) => self.circuit.number(*value, width),
            Term::IntegerUnknown(_) => self.unknown(width, bounds),
            Term::Add(a, b) => self.circuit.add(&self.number(*a), &self.number(*b), width),
            Term::Subtract(a, b) => self.circuit.subtract(&self.number(*a), &self.number(*b), width),
            Term::Negate(a) => self.circuit.negate(&self.number(*a), width),
            Term::Multiply(a, b) => self.circuit.multiply(&self.number(*a), &self.number(*b), width),
            Term::Quotient(a, b) => Circuit::resized(&self.circuit.divide(&self.number(*a), &self.number(*b)).0, width),
            Term::Remainder(a, b) => {
                Circuit::resized(&self.circuit.divide(&self.number(*a), &self.number(*b)).1, width)
            }
            Term::Choose(condition, a, b) => {
                self.circuit.choose_number(self.truth(*condition), &self.number(*a), &self.number(*b), width)
            }
            other => unreachable!("{other:?} is no integer"),
        }
    }

    /// Free bits, within the bounds.
    fn unknown(&mut self, width: usize, bounds: &Interval) -> Bits {
        let bits: Bits = (0..width).map(|_| self.circuit.variable()).collect();
        for (bound, is_low) in [(*bounds.start(), true), (*bounds.end(), false)] {
            let bound = self.circuit.number(bound, width);
            let outside = if is_low { self.circuit.less(&bits, &bound) } else { self.circuit.less(&bound, &bits) };
            self.circuit.sat.add(&[!outside]);
        }
        bits
    }

    /// What the solver has just chosen. Unknowns that no condition needs are as near to zero as they may be.
    pub(super) fn model(&self, terms: &Terms) -> Model {
        let mut values: Vec<i128> = terms.unknowns().iter().map(Unknown::nearest_to_zero).collect();
        for (term, bits) in terms.all().iter().zip(&self.bits) {
            match (term, bits) {
                (Term::IntegerUnknown(at), Some(bits)) => values[*at] = self.value(bits),
                (Term::TruthUnknown(at), Some(bits)) => values[*at] = i128::from(self.is_true(bits[0])),
                _ => {}
            }
        }
        Model { values }
    }

    fn is_true(&self, literal: Lit) -> bool {
        self.circuit.sat.is_true(literal.var()) != literal.is_neg()
    }

    fn value(&self, bits: &[Lit]) -> i128 {
        // Starting with the sign, repeated, each bit is shifted in from the right.
        bits.iter().rev().enumerate().fold(0, |value, (at, bit)| {
            let bit = i128::from(self.is_true(*bit));
            if at == 0 { -bit } else { value << 1 | bit }
        })
    }
}
