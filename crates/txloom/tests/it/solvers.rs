//! The embedded solver and z3, on the same problems. Without a z3 on the search path there is nothing to compare.

use std::time::Duration;

use txloom::solver::{Solver, SolverError};
use txloom_core::generate::random::Random;
use txloom_core::solve::random::Recipe;
use txloom_core::solve::{Answer, Problem, Terms};

use crate::support::output;

const BUDGET: u64 = 1_000_000;
const PROBLEMS: u64 = 150;

#[allow(clippy::print_stderr)]
fn z3() -> Option<Solver> {
    let solver = Solver::find().map(|solver| solver.with_limit(Duration::from_secs(20)));
    if solver.is_none() {
        eprintln!("skipped: z3 is not installed (`make test` installs it where there is apt-get)");
    }
    solver
}

/// The answer to some of the demands.
fn part(problem: &Problem, demands: &[usize]) -> Answer {
    let mut part = Problem::new();
    *part = Terms::clone(problem);
    for number in demands {
        part.demand(problem.demands()[*number]);
    }
    part.solve(BUDGET)
}

#[test]
fn both_solvers_agree_on_random_problems() {
    let Some(z3) = z3() else { return };
    let (mut possible, mut impossible) = (0, 0);
    for number in 0..PROBLEMS {
        let problem = Recipe::draw(&mut Random::new(1, &[number])).cook();
        let (ours, theirs) = (problem.solve(BUDGET), z3.solve(&problem).unwrap_or_else(|error| panic!("{error}")));
        match (&ours, &theirs) {
            (Answer::Possible(_), Answer::Possible(_)) => possible += 1,
            (Answer::Impossible, Answer::Impossible) => {
                impossible += 1;
                let conflict = z3.conflict(&problem).unwrap_or_else(|error| panic!("{error}"));
                let conflict = conflict.expect("z3 has just said that it is impossible");
                assert_eq!(part(&problem, &conflict), Answer::Impossible, "{conflict:?} of {problem:?}");
            }
            (Answer::Unknown, _) | (_, Answer::Unknown) => {}
            _ => panic!("we say {ours:?}, z3 says {theirs:?}: {problem:?}"),
        }
    }
    assert!(possible > PROBLEMS / 4 && impossible > PROBLEMS / 8, "{possible} possible, {impossible} impossible");
}

#[test]
fn what_is_too_wide_for_us_z3_may_know() {
    let Some(z3) = z3() else { return };
    let mut problem = Problem::new().with_width_max(32);
    let a = problem.integer("a", 0..=1 << 20);
    let (square, wanted) = (problem.times(a, a), problem.constant(144));
    let demand = problem.equal(square, wanted);
    problem.demand(demand);
    assert_eq!(problem.solve(BUDGET), Answer::Unknown);
    let answer = z3.solve(&problem).unwrap_or_else(|error| panic!("{error}"));
    assert!(matches!(&answer, Answer::Possible(model) if model.values() == [12]), "{answer:?}");
}

#[test]
fn time_is_limited() {
    let Some(z3) = z3() else { return };
    // x³ + y³ + z³ = 42: the smallest solution has 17 digits.
    let mut problem = Problem::new();
    let bounds = -(1 << 60)..=(1 << 60);
    let cubes = ["x", "y", "z"].map(|name| {
        let unknown = problem.integer(name, bounds.clone());
        let square = problem.times(unknown, unknown);
        problem.times(square, unknown)
    });
    let sum = problem.plus(cubes[0], cubes[1]);
    let (sum, wanted) = (problem.plus(sum, cubes[2]), problem.constant(42));
    let demand = problem.equal(sum, wanted);
    problem.demand(demand);
    let answer = z3.with_limit(Duration::from_millis(300)).solve(&problem);
    assert!(matches!(answer, Ok(Answer::Unknown)), "{answer:?}");
}

/// Every question of a search is asked of both.
#[test]
fn both_solvers_agree_on_what_a_search_asks() {
    if z3().is_none() {
        return;
    }
    for name in ["lost-update.sql", "write-skew.sql", "long-fork.sql"] {
        let file = format!("{}/../../corpus/programs/{name}", env!("CARGO_MANIFEST_DIR"));
        let done = output(&["analyze", &file, "--level", "store:eventual", "--solver", "z3"]);
        assert!(done.stderr.starts_with("both solvers have the same answer to "), "{name}: {}", done.stderr);
        assert_eq!(done.code, 1, "{name}");
    }
}

#[test]
fn a_program_that_is_no_solver_is_told() {
    let problem = Recipe::draw(&mut Random::new(1, &[])).cook();
    let missing = Solver::at("/nowhere/z3").solve(&problem);
    assert!(matches!(missing, Err(SolverError::NotRun { .. })), "{missing:?}");
    let error = Solver::at("/bin/false").solve(&problem).expect_err("it says nothing");
    assert!(error.to_string().contains("said neither `sat`"), "{error}");
}
