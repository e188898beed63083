//! Gates, and arithmetic made of them.
//!
//! A number is a list of bits in two's complement, the lowest first, the last one its sign. Gates with constant or equal
//! inputs are not built, and the same gate is built once: a quotient and the remainder that belongs to it share a
//! division.

use std::collections::HashMap;

use crate::sat::{Lit, Sat};

/// The bits of a number, the lowest first; at least one.
pub(super) type Bits = Vec<Lit>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    And(Lit, Lit),
    Xor(Lit, Lit),
    Choose(Lit, Lit, Lit),
}

/// Gates over the variables of a SAT solver.
#[derive(Debug)]
pub(super) struct Circuit {
    pub(super) sat: Sat,
    /// A literal that is true.
    yes: Lit,
    gates: HashMap<Gate, Lit>,
}

impl Circuit {
    pub(super) fn new(mut sat: Sat) -> Circuit {
        let yes = sat.variable().pos_lit();
        sat.add(&[yes]);
        Circuit { sat, yes, gates: HashMap::new() }
    }

    pub(super) fn constant(&self, value: bool) -> Lit {
        if value { self.yes } else { !self.yes }
    }

    pub(super) fn variable(&mut self) -> Lit {
        self.sat.variable().pos_lit()
    }

    /// The output of a gate; `clauses` says what it has to do with the inputs.
    fn gate<const COUNT: usize>(&mut self, gate: Gate, clauses: impl FnOnce(Lit) -> [[Lit; 3]; COUNT]) -> Lit {
        if let Some(output) = self.gates.get(&gate) {
            return *output;
        }
        let output = self.variable();
        for clause in clauses(output) {
            // A literal that is said twice is said once.
            let length = if clause[1] == clause[2] { 2 } else { 3 };
            self.sat.add(&clause[..length]);
        }
        self.gates.insert(gate, output);
        output
    }

    pub(super) fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = (a.min(b), a.max(b));
        match () {
            () if a == !self.yes || b == !self.yes || a == !b => !self.yes,
            () if a == self.yes || a == b => b,
            () if b == self.yes => a,
            () => self.gate(Gate::And(a, b), |c| [[!c, a, a], [!c, b, b], [c, !a, !b]]),
        }
    }

    pub(super) fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        // The signs of the inputs become the sign of the output: four gates in one.
        let flipped = a.is_neg() != b.is_neg();
        let (a, b) = (a.var().pos_lit(), b.var().pos_lit());
        let (a, b) = (a.min(b), a.max(b));
        let output = match () {
            () if a == b => !self.yes,
            () if a == self.yes => !b,
            () if b == self.yes => !a,
            () => self.gate(Gate::Xor(a, b), |c| [[!c, a, b], [!c, !a, !b], [c, !a, b], [c, a, !b]]),
        };
        if flipped { !output } else { output }
    }

    pub(super) fn choose(&mut self, condition: Lit, a: Lit, b: Lit) -> Lit {
        match () {
            () if condition == self.yes || a == b => a,
            () if condition == !self.yes => b,
            () if a == self.yes => self.or(condition, b),
            () if a == !self.yes => self.and(!condition, b),
            () if b == self.yes => self.or(!condition, a),
            () if b == !self.yes => self.and(condition, a),
            () if a == !b => !self.xor(condition, a),
            () => self.gate(Gate::Choose(condition, a, b), |c| {
                let no = !condition;
                [[no, !a, c], [no, a, !c], [condition, !b, c], [condition, b, !c], [!a, !b, c], [a, b, !c]]
            }),
        }
    }

    // Numbers.

    pub(super) fn number(&self, value: i128, width: usize) -> Bits {
        // Beyond 128 bits there is only the sign.
        (0..width).map(|at| self.constant(value >> at.min(127) & 1 == 1)).collect()
    }

    /// The same number with more bits, or its lowest bits.
    pub(super) fn resized(bits: &[Lit], width: usize) -> Bits {
        let sign = *bits.last().expect("a number has at least one bit");
        (0..width).map(|at| bits.get(at).copied().unwrap_or(sign)).collect()
    }

    /// `a + b + carry`, of the width of `a`.
    fn add_carry(&mut self, a: &[Lit], b: &[Lit], mut carry: Lit) -> Bits {
        let mut sum = Bits::with_capacity(a.len());
        for (a, b) in a.iter().zip(b) {
            let half = self.xor(*a, *b);
            sum.push(self.xor(half, carry));
            carry = self.choose(half, carry, *a);
        }
        sum
    }

    /// `a + b`, of that width.
    pub(super) fn add(&mut self, a: &[Lit], b: &[Lit], width: usize) -> Bits {
        self.add_carry(&Circuit::resized(a, width), &Circuit::resized(b, width), !self.yes)
    }

    /// `a - b`, of that width.
    pub(super) fn subtract(&mut self, a: &[Lit], b: &[Lit], width: usize) -> Bits {
        let opposite: Bits = Circuit::resized(b, width).into_iter().map(|bit| !bit).collect();
        self.add_carry(&Circuit::resized(a, width), &opposite, self.yes)
    }

    /// `a` with its sign changed if the condition is true, of that width.
    fn negate_if(&mut self, condition: Lit, a: &[Lit], width: usize) -> Bits {
        let flipped: Bits = Circuit::resized(a, width).into_iter().map(|bit| self.xor(bit, condition)).collect();
        let zero = self.number(0, width);
        self.add_carry(&flipped, &zero, condition)
    }

    /// `-a`, of that width.
    pub(super) fn negate(&mut self, a: &[Lit], width: usize) -> Bits {
        self.negate_if(self.yes, a, width)
    }

    /// `a · b`, of that width: for every bit of the shorter one, the longer one is added; for its sign, subtracted.
    pub(super) fn multiply(&mut self, a: &[Lit], b: &[Lit], width: usize) -> Bits {
        let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
        let mut product = self.number(0, width);
        for (at, bit) in short.iter().enumerate().take(width) {
            let shifted = Circuit::resized(long, width - at);
            let row: Bits = shifted.iter().map(|other| self.and(*bit, *other)).collect();
            let is_sign = at + 1 == short.len();
            let high = product[at..].to_vec();
            let high = if is_sign { self.subtract(&high, &row, row.len()) } else { self.add(&high, &row, row.len()) };
            product.splice(at.., high);
        }
        product
    }

    /// `a DIV b` and `a % b`, each with a bit more than is needed: division by hand, on magnitudes.
    pub(super) fn divide(&mut self, a: &[Lit], b: &[Lit]) -> (Bits, Bits) {
        let no = !self.yes;
        let width = a.len().max(b.len());
        let signs = [a, b].map(|bits| *bits.last().expect("a number has at least one bit"));
        let dividend = self.negate_if(signs[0], a, width);
        // With a zero in front, magnitudes are numbers without sign.
        let mut divisor = self.negate_if(signs[1], b, width);
        divisor.push(no);
        let mut rest = vec![no; width + 1];
        let mut quotient = vec![no; width + 1];
        for at in (0..width).rev() {
            rest.pop();
            rest.insert(0, dividend[at]);
            let fits = !self.below(&rest, &divisor);
            let less = self.subtract(&rest, &divisor, width + 1);
            rest = less.iter().zip(&rest).map(|(less, same)| self.choose(fits, *less, *same)).collect();
            quotient[at] = fits;
        }
        let by_zero = divisor.iter().fold(self.yes, |zero, bit| self.and(zero, !*bit));
        quotient.iter_mut().for_each(|bit| *bit = self.and(*bit, !by_zero));
        let sign = self.xor(signs[0], signs[1]);
        (self.negate_if(sign, &quotient, width + 1), self.negate_if(signs[0], &rest, width + 1))
    }

    /// `condition ? a : b`, of that width.
    pub(super) fn choose_number(&mut self, condition: Lit, a: &[Lit], b: &[Lit], width: usize) -> Bits {
        let (a, b) = (Circuit::resized(a, width), Circuit::resized(b, width));
        a.iter().zip(&b).map(|(a, b)| self.choose(condition, *a, *b)).collect()
    }

    pub(super) fn equal(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let width = a.len().max(b.len());
        let (a, b) = (Circuit::resized(a, width), Circuit::resized(b, width));
        a.iter().zip(&b).fold(self.yes, |equal, (a, b)| {
            let differ = self.xor(*a, *b);
            self.and(equal, !differ)
        })
    }

    /// `a < b`
    pub(super) fn less(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let width = a.len().max(b.len());
        let (mut a, mut b) = (Circuit::resized(a, width), Circuit::resized(b, width));
        // A number with its sign bit flipped is a number without sign, in the same order.
        a[width - 1] = !a[width - 1];
        b[width - 1] = !b[width - 1];
        self.below(&a, &b)
    }

    /// `a < b` for numbers without sign, of the same width: the highest bit that differs decides.
    fn below(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        a.iter().zip(b).fold(!self.yes, |below, (a, b)| {
            let differ = self.xor(*a, *b);
            self.choose(differ, *b, below)
        })
    }
}
