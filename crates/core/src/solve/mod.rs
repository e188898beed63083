//! Bounded integers: values that make conditions true, or the certainty that there are none.
//!
//! # The problem
//!
//! A schedule is only worth running if the calls can get there: `IF :avail > 0` must be true when A comes to it, after B
//! has taken a seat. Whether there are arguments and rows that lead there is a question about integers:
//!
//! ```text
//!   avail ∈ 0..=2147483647,  n ∈ 1..=9         unknowns with bounds
//!   avail > 0                                   A's condition
//!   avail - n > 0                               the same, after B has taken n
//!   ─────────────────────────────────────────
//!   avail = 2, n = 1                            a model; or: impossible
//! ```
//!
//! # The idea
//!
//! Every unknown has bounds, so every term has: they are computed along with it ([`interval`]). A term then needs only
//! so many bits, in two's complement, that none of its values overflows; and arithmetic on bits is a circuit of gates,
//! which is a question for a SAT solver. Nothing needs to be installed.
//!
//! ```text
//!   Problem ──── Terms ──→ Blaster ──→ Circuit ──→ sat ──→ Model ──→ evaluate: the value of any term
//!   demands      shared,   bits of     and, xor,
//!   preferences  folded    each term   choose
//! ```
//!
//! 1. [`term`]: terms as data, in one arena. Equal terms are one term, and what is constant is computed at once. A term
//!    stands behind its operands, so that whoever goes through them in order needs no recursion.
//! 2. [`interval`]: the bounds of sums, products and quotients.
//! 3. `circuit`, `blast`: gates, and terms as gates.
//! 4. [`Session`]: a problem that grows, and is asked again and again: what was built and learnt before is kept.
//! 5. [`Model`]: the values of the unknowns; any term can be [evaluated](Problem::evaluate) with them.
//!
//! The *problem* knows nothing of bits: it can as well be asked of another solver ([`smt`]), and on [`random`] ones both
//! must agree.
//!
//! *Preferences* make models readable. They are tried one after the other, by assumption, and those that are impossible
//! together with the demands and the ones before are dropped: 1, 2 and 100 rather than -2147483648.
//!
//! # Division
//!
//! Quotients are rounded towards zero, remainders have the sign of the dividend, and `x = (x DIV y) · y + x % y` holds
//! always, because `x DIV 0` is 0 and `x % 0` is x. Who wants division by zero to be an error demands that `y` is not 0.
//!
//! # Limits
//!
//! Terms wider than [`Problem::WIDTH_MAX`] bits (or what is set instead), and questions that exceed the budget, have the
//! answer [`Answer::Unknown`]; no answer is ever wrong because of them. Products and quotients of two wide unknowns are
//! hard for SAT: factoring is.

pub mod interval;
pub mod term;
mod circuit;
mod blast;
mod session;
mod model;
pub mod smt;
pub mod random;
#[cfg(test)]
mod tests;

pub use model::{Model, Valuation};
pub use session::Session;
pub use term::{Bool, Int, Term, Terms, Unknown};

use crate::sat::{self, Lit, Sat};
use blast::Blaster;

/// Conditions on unknowns.
///
/// The terms are made by methods of [`Terms`], to which a problem dereferences.
#[derive(Debug, Clone)]
pub struct Problem {
    terms: Terms,
    demands: Vec<Bool>,
    preferences: Vec<Preference>,
    width_max: u32,
}

/// What makes one model better than another.
#[derive(Debug, Clone)]
enum Preference {
    /// The first of these that is possible holds.
    FirstOf(Vec<Bool>),
    /// It is near to zero.
    Small(Int),
}

/// What is known of a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// These values fulfil all demands.
    Possible(Model),
    /// No values do.
    Impossible,
    /// The budget was spent, or a term has too many bits.
    Unknown,
}

impl Default for Problem {
    fn default() -> Problem {
        Problem::new()
    }
}

impl std::ops::Deref for Problem {
    type Target = Terms;

    fn deref(&self) -> &Terms {
        &self.terms
    }
}

impl std::ops::DerefMut for Problem {
    fn deref_mut(&mut self) -> &mut Terms {
        &mut self.terms
    }
}

impl Problem {
    /// How many bits a term may have if nothing else is said: sums of products of ordinary numbers fit.
    pub const WIDTH_MAX: u32 = 100;

    /// A problem without demands.
    pub fn new() -> Problem {
        Problem { terms: Terms::default(), demands: Vec::new(), preferences: Vec::new(), width_max: Problem::WIDTH_MAX }
    }

    /// Sets how many bits a term may have.
    #[must_use]
    pub fn with_width_max(mut self, bits: u32) -> Problem {
        self.width_max = bits;
        self
    }

    /// Demands that something is true. Gives the demand's number; demands are numbered from 0.
    pub fn demand(&mut self, condition: Bool) -> usize {
        self.demands.push(condition);
        self.demands.len() - 1
    }

    /// The problem with more demands.
    #[must_use]
    pub fn with_demands(&self, more: &[Bool]) -> Problem {
        let mut problem = self.clone();
        problem.demands.extend(more);
        problem
    }

    /// Takes back all demands but the first so many. A [`Session`] must not have seen them.
    pub fn withdraw(&mut self, kept: usize) -> Vec<Bool> {
        self.demands.split_off(kept)
    }

    /// The demands so far.
    pub fn demands(&self) -> &[Bool] {
        &self.demands
    }

    /// Asks for the first of these that is possible together with the demands and all that was preferred before.
    pub fn prefer(&mut self, options: impl IntoIterator<Item = Bool>) {
        self.preferences.push(Preference::FirstOf(options.into_iter().collect()));
    }

    /// Asks for a value that is as near to zero as it can be without a change of its sign.
    pub fn prefer_small(&mut self, int: Int) {
        self.preferences.push(Preference::Small(int));
    }

    /// Looks for values; the solver asks itself at most `budget` times whether to go on.
    pub fn solve(&self, budget: u64) -> Answer {
        Session::new(self).ask(self, &[], budget)
    }

    /// The numbers of demands that are impossible together, none of which could be left out; `None` if that is not
    /// certain.
    pub fn conflict(&self, budget: u64) -> Option<Vec<usize>> {
        let mut blaster = Blaster::new(self.width_max, Sat::default());
        let literals = self.demands.iter().enumerate();
        let mut left: Vec<(usize, Lit)> =
            literals.filter_map(|(at, demand)| Some((at, blaster.literal(&self.terms, *demand)?))).collect();
        let sat = &mut blaster.circuit.sat;
        let assumed = |demands: &[(usize, Lit)]| demands.iter().map(|(_, literal)| *literal).collect::<Vec<_>>();
        if sat.solve_under(&assumed(&left), budget) != sat::Answer::Impossible {
            return None;
        }
        let core = sat.conflict();
        left.retain(|(_, literal)| core.contains(literal));
        // The last ones are left out first: what comes early on a way explains more.
        for at in (0..left.len()).rev() {
            let mut fewer = left.clone();
            fewer.remove(at);
            let budget = sat.left();
            if sat.solve_under(&assumed(&fewer), budget) == sat::Answer::Impossible {
                left = fewer;
            }
        }
        Some(left.into_iter().map(|(at, _)| at).collect())
    }
}
