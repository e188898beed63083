//! Satisfiability: is there a choice that keeps all rules?
//!
//! A thin layer over an embedded solver: variables, clauses, an answer. Nothing needs to be installed, and nothing else in
//! txloom knows which solver it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::budget::WorkBudget;
use rustsat::instances::{BasicVarManager, ManageVars};
use rustsat::solvers::{Solve, SolveIncremental, SolverResult};
use rustsat::types::{Clause, TernaryVal};
use rustsat_batsat::BasicSolver;

pub use rustsat::types::{Lit, Var};

/// Rules under which choices are to be made.
pub struct Sat {
    solver: BasicSolver,
    variables: BasicVarManager,
    /// How often the solver may still ask whether to go on.
    left: Arc<AtomicU64>,
    /// All rules, if somebody wants to see them.
    record: Option<Vec<Vec<Lit>>>,
}

/// What a solver says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// There is a choice; [`Sat::is_true`] tells it.
    Possible,
    /// There is none.
    Impossible,
    /// The budget was spent before it was known.
    Unknown,
}

impl Default for Sat {
    fn default() -> Sat {
        Sat::within(WorkBudget::unlimited())
    }
}

impl std::fmt::Debug for Sat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sat({} variables)", self.variables.n_used())
    }
}

impl Sat {
    /// A solver that gives up once the budget is spent.
    pub fn within(budget: WorkBudget) -> Sat {
        let left = Arc::new(AtomicU64::new(u64::MAX));
        let mut solver = BasicSolver::default();
        let watched = Arc::clone(&left);
        solver.batsat_mut().cb_mut().set_stop(move || {
            let spend = |left: u64| left.checked_sub(1);
            watched.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_err() || budget.is_spent()
        });
        Sat { solver, variables: BasicVarManager::default(), left, record: None }
    }

    /// A solver that remembers its rules, for [`Sat::dimacs`].
    pub fn recording() -> Sat {
        Sat { record: Some(Vec::new()), ..Sat::default() }
    }

    /// The rules in the form that other SAT solvers read (DIMACS), if they were recorded.
    pub fn dimacs(&self) -> Option<String> {
        let record = self.record.as_ref()?;
        let number = |literal: &Lit| (literal.vidx() as i64 + 1) * if literal.is_neg() { -1 } else { 1 };
        let mut text = format!("p cnf {} {}\n", self.variables.n_used(), record.len());
        for clause in record {
            clause.iter().for_each(|literal| text.push_str(&format!("{} ", number(literal))));
            text.push_str("0\n");
        }
        Some(text)
    }

    /// A new variable. The solver tries *false* first.
    pub fn variable(&mut self) -> Var {
        self.variables.new_var()
    }

    /// Demands that at least one of the literals is true.
    pub fn add(&mut self, clause: &[Lit]) {
        if let Some(record) = &mut self.record {
            record.push(clause.to_vec());
        }
        // The solver fails only when it is out of memory, and then it does not come back.
        let _ = self.solver.add_clause(clause.iter().copied().collect::<Clause>());
    }

    /// Looks for a choice, asking itself at most `budget` times whether to go on.
    pub fn solve(&mut self, budget: u64) -> Answer {
        self.solve_under(&[], budget)
    }

    /// The same, with these literals true this time only.
    pub fn solve_under(&mut self, assumptions: &[Lit], budget: u64) -> Answer {
        self.left.store(budget, Ordering::Relaxed);
        match self.solver.solve_assumps(assumptions) {
            Ok(SolverResult::Sat) => Answer::Possible,
            Ok(SolverResult::Unsat) => Answer::Impossible,
            Ok(SolverResult::Interrupted) | Err(_) => Answer::Unknown,
        }
    }

    /// What the last search left of its budget.
    pub fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }

    /// After [`Answer::Impossible`]: assumptions that are impossible together, in the order of their variables. None are
    /// needed if the rules contradict one another already.
    pub fn conflict(&mut self) -> Vec<Lit> {
        let mut conflict: Vec<Lit> = self.solver.core().unwrap_or_default().into_iter().map(|lit| !lit).collect();
        conflict.sort_unstable();
        conflict
    }

    /// What was chosen; false for a variable that no rule mentions.
    pub fn is_true(&self, variable: Var) -> bool {
        matches!(self.solver.lit_val(variable.pos_lit()), Ok(TernaryVal::True))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_keep_the_rules() {
        let mut sat = Sat::default();
        let (a, b) = (sat.variable(), sat.variable());
        sat.add(&[a.pos_lit(), b.pos_lit()]);
        sat.add(&[a.neg_lit()]);
        assert_eq!(sat.solve(u64::MAX), Answer::Possible);
        assert!(!sat.is_true(a) && sat.is_true(b));
        sat.add(&[b.neg_lit()]);
        assert_eq!(sat.solve(u64::MAX), Answer::Impossible);
    }

    #[test]
    fn rules_can_be_written_down() {
        let mut sat = Sat::recording();
        let (a, b) = (sat.variable(), sat.variable());
        sat.add(&[a.pos_lit(), b.neg_lit()]);
        sat.add(&[b.pos_lit()]);
        assert_eq!(sat.dimacs().as_deref(), Some("p cnf 2 2\n1 -2 0\n2 0\n"));
        assert_eq!(Sat::default().dimacs(), None);
    }

    #[test]
    fn assumptions_hold_for_one_question() {
        let mut sat = Sat::default();
        let (a, b, c) = (sat.variable(), sat.variable(), sat.variable());
        sat.add(&[a.neg_lit(), b.neg_lit()]);
        sat.add(&[c.pos_lit(), c.neg_lit()]);
        let all = [a, b, c].map(Var::pos_lit);
        assert_eq!(sat.solve_under(&all, u64::MAX), Answer::Impossible);
        assert_eq!(sat.conflict(), [a, b].map(Var::pos_lit));
        assert_eq!(sat.solve_under(&all[1..], 1_000), Answer::Possible);
        assert!(!sat.is_true(a) && sat.is_true(b) && sat.is_true(c));
        assert!(sat.left() < 1_000);
    }

    #[test]
    fn a_budget_ends_what_would_take_too_long() {
        // Eleven pigeons and ten holes: easy to see, hard to prove.
        let mut sat = Sat::default();
        let pigeons: Vec<Vec<Var>> = (0..11).map(|_| (0..10).map(|_| sat.variable()).collect()).collect();
        pigeons.iter().for_each(|holes| sat.add(&holes.iter().map(|hole| hole.pos_lit()).collect::<Vec<_>>()));
        for hole in 0..10 {
            for (at, pigeon) in pigeons.iter().enumerate() {
                pigeons[..at].iter().for_each(|other| sat.add(&[pigeon[hole].neg_lit(), other[hole].neg_lit()]));
            }
        }
        assert_eq!(sat.solve(10), Answer::Unknown);
    }
}
