//! Questions about one problem that grows.
//!
//! Most questions are much like the one before: the same terms and demands, and a few more. So the circuit is kept, with
//! what the SAT solver has learnt; only what is new is built. What is to hold for one question only is *assumed*.

use super::blast::Blaster;
use super::{Answer, Bool, Int, Model, Preference, Problem};
use crate::budget::WorkBudget;
use crate::sat::{self, Lit, Sat};

/// A solver that remembers a problem. It must always be asked about the same one, or about a clone that has grown from it.
#[derive(Debug)]
pub struct Session {
    blaster: Blaster,
    /// How many demands have been built.
    demanded: usize,
    /// Whether one of them was too wide.
    is_cut: bool,
    budget: WorkBudget,
}

impl Session {
    /// A solver for a problem and what becomes of it.
    pub fn new(problem: &Problem) -> Session {
        Session::within(problem, &WorkBudget::unlimited())
    }

    /// The same, as long as the budget lasts: after that, all is unknown.
    pub fn within(problem: &Problem, budget: &WorkBudget) -> Session {
        let blaster = Blaster::new(problem.width_max, Sat::within(budget.clone()));
        Session { blaster, demanded: 0, is_cut: false, budget: budget.clone() }
    }

    /// What the SAT solver is asked about a problem, in the form that others read (DIMACS); terms that are too wide are
    /// left out.
    pub fn dimacs(problem: &Problem) -> String {
        let mut blaster = Blaster::new(problem.width_max, Sat::recording());
        for demand in &problem.demands {
            if let Some(literal) = blaster.literal(problem, *demand) {
                blaster.circuit.sat.add(&[literal]);
            }
        }
        blaster.circuit.sat.dimacs().unwrap_or_default()
    }

    /// Looks for values that fulfil the demands and, this time, also what is assumed.
    pub fn ask(&mut self, problem: &Problem, assumed: &[Bool], budget: u64) -> Answer {
        for demand in &problem.demands[self.demanded..] {
            match self.blaster.literal(problem, *demand) {
                Some(literal) => self.blaster.circuit.sat.add(&[literal]),
                None => self.is_cut = true,
            }
        }
        self.demanded = problem.demands.len();
        let literals: Vec<Option<Lit>> = assumed.iter().map(|one| self.blaster.literal(problem, *one)).collect();
        let is_whole = !self.is_cut && literals.iter().all(Option::is_some);
        let mut kept: Vec<Lit> = literals.into_iter().flatten().collect();
        match self.blaster.circuit.sat.solve_under(&kept, budget) {
            // What is impossible without the demands that are too wide is impossible with them.
            sat::Answer::Impossible => Answer::Impossible,
            sat::Answer::Possible if is_whole => {
                let mut model = self.blaster.model(problem);
                self.improve(problem, &mut kept, &mut model);
                Answer::Possible(model)
            }
            _ => Answer::Unknown,
        }
    }

    /// Follows the preferences, as far as the budget goes.
    fn improve(&mut self, problem: &Problem, kept: &mut Vec<Lit>, model: &mut Model) {
        for preference in &problem.preferences {
            if self.budget.is_spent() {
                return;
            }
            match preference {
                Preference::FirstOf(options) => self.first_of(problem, options, kept, model),
                Preference::Small(int) => self.small(problem, *int, kept, model),
            }
        }
    }

    /// Keeps the first option that is possible.
    fn first_of(&mut self, problem: &Problem, options: &[Bool], kept: &mut Vec<Lit>, model: &mut Model) {
        for option in options {
            let Some(literal) = self.blaster.literal(problem, *option) else { continue };
            // What is so already needs no search; it only has to stay so.
            let is_so = problem.evaluate(model).truth(*option) == Some(true);
            if is_so {
                kept.push(literal);
            }
            if is_so || self.blaster.keep(problem, literal, kept, model) {
                return;
            }
        }
    }

    /// Halves the distance to zero as long as that is possible.
    fn small(&mut self, problem: &Problem, int: Int, kept: &mut Vec<Lit>, model: &mut Model) {
        let value = |model: &Model| problem.evaluate(model).integer(int);
        let Some(mut best) = value(model) else { return };
        // The best value that is not yet known to be impossible.
        let mut hope = if best < 0 { -1 } else { 0 };
        while hope != best {
            let middle = hope + (best - hope) / 2;
            let bounds = if best < 0 { middle..=-1 } else { 0..=middle };
            let Some(literal) = self.blaster.within(problem, int, &bounds) else { return };
            match self.blaster.keep(problem, literal, kept, model) {
                true => best = value(model).unwrap_or(middle),
                false => hope = middle + if best < 0 { -1 } else { 1 },
            }
        }
        kept.extend(self.blaster.within(problem, int, &(best..=best)));
    }
}
