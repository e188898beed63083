//! Random problems: what solvers have to agree on.
//!
//! A problem is cooked by a recipe, a list of numbers; whatever they are, a problem comes out. So recipes can be drawn,
//! and made smaller, by anybody.

use super::interval::Interval;
use super::{Bool, Int, Problem};
use crate::generate::random::Random;

/// The values of the integers: few enough to try all.
pub const DOMAIN: Interval = -3..=3;

/// The most steps and demands that are drawn.
const STEPS_MAX: usize = 24;
const DEMANDS_MAX: usize = 4;

/// How to make a problem with the unknowns `a` and `b`, integers in [`DOMAIN`], and `c`, a truth value.
#[derive(Debug, Clone)]
pub struct Recipe {
    /// Each makes a term of a kind from three that were made before.
    pub steps: Vec<(u8, usize, usize, usize)>,
    /// What is demanded, counted from the last truth term, and whether it is to be true.
    pub demands: Vec<(usize, bool)>,
}

impl Recipe {
    /// A recipe by chance.
    pub fn draw(random: &mut Random) -> Recipe {
        let steps = 1 + random.below(STEPS_MAX);
        let demands = 1 + random.below(DEMANDS_MAX);
        let mut step = || (random.below(256) as u8, random.below(30), random.below(30), random.below(30));
        let steps = (0..steps).map(|_| step()).collect();
        Recipe { steps, demands: (0..demands).map(|_| (random.below(6), random.chance(1, 2))).collect() }
    }

    /// The problem.
    pub fn cook(&self) -> Problem {
        let mut problem = Problem::new();
        let mut ints = vec![problem.integer("a", DOMAIN), problem.integer("b", DOMAIN)];
        let mut bools = vec![problem.boolean("c")];
        ints.extend([-2, 0, 1, 5].map(|value| problem.constant(value)));
        for step in &self.steps {
            take(step, &mut problem, &mut ints, &mut bools);
        }
        for (at, wanted) in &self.demands {
            let condition = bools[bools.len() - 1 - at % bools.len()];
            let condition = if *wanted { condition } else { problem.not(condition) };
            problem.demand(condition);
        }
        problem
    }
}

fn take(step: &(u8, usize, usize, usize), problem: &mut Problem, ints: &mut Vec<Int>, bools: &mut Vec<Bool>) {
    let (kind, first, second, third) = *step;
    let (x, y) = (ints[first % ints.len()], ints[second % ints.len()]);
    let [p, q, r] = [first, third, second].map(|at| bools[at % bools.len()]);
    match kind % 13 {
        0 => ints.push(problem.plus(x, y)),
        1 => ints.push(problem.minus(x, y)),
        2 => ints.push(problem.negate(x)),
        3 => ints.push(problem.times(x, y)),
        4 => ints.push(problem.quotient(x, y)),
        5 => ints.push(problem.remainder(x, y)),
        6 => ints.push(problem.choose(q, x, y)),
        7 => bools.push(problem.equal(x, y)),
        8 => bools.push(problem.less(x, y)),
        9 => bools.push(problem.at_most(x, y)),
        10 => bools.push(problem.and(p, q)),
        11 => bools.push(problem.or(p, q)),
        _ => bools.push(problem.choose_truth(p, q, r)),
    }
}
