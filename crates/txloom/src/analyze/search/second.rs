//! A second opinion on every question that the search asks its solver: z3's.
//!
//! The search believes its embedded solver. Whoever wants more than belief (`--solver z3`) has each question asked of z3,
//! too. One *possible* against one *impossible* means that a solver, or the way to it, is wrong: a defect of ours. Then
//! the search stops, and both questions are written down: as z3 got it (SMT-LIB), and as the SAT solver got it (DIMACS).

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use txloom_core::search::feasible::SecondOpinion;
use txloom_core::solve::smt::{self, Ask};
use txloom_core::solve::{Answer, Bool, Problem, Session};

use crate::solver::{Solver, SolverError};

/// z3, and what it said.
#[derive(Debug)]
pub struct Second {
    solver: Solver,
    agreed: AtomicUsize,
    undecided: AtomicUsize,
    trouble: Mutex<Option<Trouble>>,
}

/// Why the search cannot be believed.
#[derive(Debug)]
pub enum Trouble {
    /// The solvers do not agree.
    Disagreement(Box<Disagreement>),
    /// z3 could not be asked.
    Failed(SolverError),
}

/// A question with two answers.
#[derive(Debug)]
pub struct Disagreement {
    /// What we say.
    pub ours: &'static str,
    /// What z3 says.
    pub theirs: &'static str,
    /// The question as z3 got it.
    pub smt: String,
    /// The question as the SAT solver got it.
    pub dimacs: String,
}

impl Second {
    /// The opinion of that solver.
    pub fn new(solver: Solver) -> Second {
        Second { solver, agreed: AtomicUsize::new(0), undecided: AtomicUsize::new(0), trouble: Mutex::new(None) }
    }

    /// On how many questions both have the same answer, and on how many one of them has none.
    pub fn counts(&self) -> (usize, usize) {
        (self.agreed.load(Ordering::Relaxed), self.undecided.load(Ordering::Relaxed))
    }

    /// Whether there is no need to go on.
    pub fn is_troubled(&self) -> bool {
        self.trouble.lock().is_ok_and(|trouble| trouble.is_some())
    }

    /// What went wrong.
    pub fn trouble(&self) -> Option<Trouble> {
        self.trouble.lock().ok().and_then(|mut trouble| trouble.take())
    }

    fn compare(&self, problem: &Problem, ours: &Answer) -> Result<Option<Disagreement>, SolverError> {
        let (ours, theirs) = (word(ours), word(&self.solver.solve(problem)?));
        let is_open = ours == UNKNOWN || theirs == UNKNOWN;
        if is_open || ours == theirs {
            let counter = if is_open { &self.undecided } else { &self.agreed };
            counter.fetch_add(1, Ordering::Relaxed);
            return Ok(None);
        }
        let (smt, dimacs) = (smt::print(problem, Ask::Values), Session::dimacs(problem));
        Ok(Some(Disagreement { ours, theirs, smt, dimacs }))
    }
}

impl SecondOpinion for Second {
    fn is_troubled(&self) -> bool {
        Second::is_troubled(self)
    }

    fn hear(&self, problem: &Problem, assumed: &[Bool], answer: &Answer) {
        if self.is_troubled() {
            return;
        }
        let trouble = match self.compare(&problem.with_demands(assumed), answer) {
            Ok(None) => return,
            Ok(Some(disagreement)) => Trouble::Disagreement(Box::new(disagreement)),
            Err(error) => Trouble::Failed(error),
        };
        if let Ok(mut known) = self.trouble.lock() {
            known.get_or_insert(trouble);
        }
    }
}

const UNKNOWN: &str = "unknown";

fn word(answer: &Answer) -> &'static str {
    match answer {
        Answer::Possible(_) => "possible",
        Answer::Impossible => "impossible",
        Answer::Unknown => UNKNOWN,
    }
}

impl Disagreement {
    /// Writes both questions into a directory; gives the files.
    pub fn save(&self, directory: &Path) -> io::Result<[PathBuf; 2]> {
        std::fs::create_dir_all(directory)?;
        let files = ["disagreement.smt2", "disagreement.cnf"].map(|name| directory.join(name));
        std::fs::write(&files[0], &self.smt)?;
        std::fs::write(&files[1], &self.dimacs)?;
        Ok(files)
    }
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the solvers do not agree: ours says {}, z3 says {}", self.ours, self.theirs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A solver that says the same to everything.
    fn liar(directory: &Path, says: &str) -> Solver {
        use std::os::unix::fs::PermissionsExt;
        let program = directory.join("z3");
        std::fs::write(&program, format!("#!/bin/sh\ncat > /dev/null\necho '{says}'\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        Solver::at(program)
    }

    #[test]
    fn a_disagreement_is_kept_with_both_questions() {
        let directory = std::env::temp_dir().join(format!("txloom-second-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let mut problem = Problem::new();
        let (x, zero) = (problem.integer("x", 0..=3), problem.constant(0));
        let positive = problem.less(zero, x);
        let second = Second::new(liar(&directory, "unsat"));
        second.hear(&problem, &[positive], &Answer::Impossible);
        second.hear(&problem, &[positive], &Answer::Unknown);
        assert_eq!((second.counts(), second.is_troubled()), ((1, 1), false));
        second.hear(&problem, &[positive], &problem.with_demands(&[positive]).solve(100));
        let Some(Trouble::Disagreement(found)) = second.trouble() else { panic!("it is one") };
        assert_eq!(found.to_string(), "the solvers do not agree: ours says possible, z3 says impossible");
        let files = found.save(&directory.join("out")).unwrap();
        assert!(std::fs::read_to_string(&files[0]).unwrap().contains("(check-sat)"));
        assert!(std::fs::read_to_string(&files[1]).unwrap().starts_with("p cnf "));
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
