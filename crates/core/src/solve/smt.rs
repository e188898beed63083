//! Problems for other solvers: SMT-LIB 2, the language that most of them read.
//!
//! # The problem
//!
//! The embedded solver computes on bits. Products of wide unknowns are hard that way, and whoever doubts an answer wants
//! a second opinion from somebody who works differently. A [`Problem`] knows nothing of bits, so it can be asked of any
//! solver that knows integers:
//!
//! ```text
//!   avail ∈ 0..=9, n ∈ 1..=9                (declare-const u0 Int) ; avail
//!   avail - n > 0                           (assert (<= 0 u0 9))
//!                                           (declare-const u1 Int) ; n
//!                                           (assert (<= 1 u1 9))
//!                                           (define-fun t3 () Int (- u0 u1))
//!                                           (define-fun t4 () Bool (< 0 t3))
//!                                           (assert (! t4 :named d0))
//!                                           (check-sat)
//!                                           (get-value (u0 u1))
//!
//!   avail = 2, n = 1                   ←──  sat ((u0 2) (u1 1))
//! ```
//!
//! # The idea
//!
//! Every term that the demands need is one definition, which mentions others by name: however often terms are shared, the
//! text grows with their number only. Names are made of positions (`t3`, `u0`, `d0`); what people call an unknown is a
//! remark. The language rounds quotients in a way of its own and leaves those by zero open, so ours are two functions
//! of absolute values.
//!
//! [`print()`] gives the text, [`read_answer`] and [`read_conflict`] understand what is said to it.
//! Nothing is run here. And
//! nobody is believed: values are put into the demands before they are called a model.
//!
//! # Limits
//!
//! Preferences are not told: the language has no words for them. So a model is as good as any other. A conflict is what
//! the solver gives, and need not be the smallest.

mod read;

use std::fmt::Write as _;

use super::interval::Interval;
use super::{Bool, Int, Problem, Term};
pub use read::{SmtError, read_answer, read_conflict};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// Values that fulfil all demands.
    Values,
    /// Demands that are impossible together.
    Conflict,
}

/// `a DIV b` and `a % b` in terms of the language's own, which are the same for numbers that are not negative.
const QUOTIENT: &str = "(define-fun quotient ((a Int) (b Int)) Int (ite (= b 0) 0 \
    (ite (= (< a 0) (< b 0)) (div (abs a) (abs b)) (- (div (abs a) (abs b))))))\n";
const REMAINDER: &str = "(define-fun remainder ((a Int) (b Int)) Int (ite (= b 0) a \
    (ite (< a 0) (- (mod (abs a) (abs b))) (mod (abs a) (abs b)))))\n";

/// The text of a problem.
pub fn print(problem: &Problem, ask: Ask) -> String {
    let needed = problem.needed_for(problem.demands().iter().copied());
    let terms: Vec<(usize, &Term)> = problem.all().iter().enumerate().filter(|(at, _)| needed[*at]).collect();
    let mut text = String::new();
    if ask == Ask::Conflict {
        text.push_str("(set-option :produce-unsat-cores true)\n");
    }
    let is_linear = terms.iter().all(|(_, term)| is_linear(problem, term));
    put(&mut text, format_args!("(set-logic {})\n", if is_linear { "QF_LIA" } else { "QF_NIA" }));
    if terms.iter().any(|(_, term)| matches!(term, Term::Quotient(..))) {
        text.push_str(QUOTIENT);
    }
    if terms.iter().any(|(_, term)| matches!(term, Term::Remainder(..))) {
        text.push_str(REMAINDER);
    }
    terms.iter().for_each(|(position, term)| define(&mut text, problem, *position, term));
    for (number, demand) in problem.demands().iter().enumerate() {
        put(&mut text, format_args!("(assert (! {} :named d{number}))\n", truth(problem, *demand)));
    }
    text.push_str("(check-sat)\n");
    match ask {
        Ask::Conflict => text.push_str("(get-unsat-core)\n"),
        Ask::Values => ask_for_values(&mut text, &terms),
    }
    text
}

fn ask_for_values(text: &mut String, terms: &[(usize, &Term)]) {
    let names: Vec<String> = terms.iter().filter_map(|(_, term)| unknown(term)).map(|at| format!("u{at}")).collect();
    // A list of nothing is no list in this language.
    if !names.is_empty() {
        put(text, format_args!("(get-value ({}))\n", names.join(" ")));
    }
}

/// Declares an unknown, or gives a term its name. Constants need none.
fn define(text: &mut String, problem: &Problem, position: usize, term: &Term) {
    if matches!(term, Term::Integer(_) | Term::Truth(_)) {
        return;
    }
    match unknown(term) {
        Some(at) => {
            let unknown = &problem.unknowns()[at];
            let sort = if unknown.bounds.is_some() { "Int" } else { "Bool" };
            put(text, format_args!("(declare-const u{at} {sort}) ; {}\n", remark(&unknown.name)));
            if let Some(bounds) = &unknown.bounds {
                put(text, format_args!("{}\n", bounded(at, bounds)));
            }
        }
        None => {
            let sort = if is_truth(term) { "Bool" } else { "Int" };
            put(text, format_args!("(define-fun t{position} () {sort} {})\n", definition(problem, term)));
        }
    }
}

fn bounded(at: usize, bounds: &Interval) -> String {
    format!("(assert (<= {} u{at} {}))", constant(*bounds.start()), constant(*bounds.end()))
}

/// What a term is, in terms of others.
fn definition(problem: &Problem, term: &Term) -> String {
    let two = |word: &str, a: &Int, b: &Int| format!("({word} {} {})", int(problem, *a), int(problem, *b));
    let truths = |word: &str, a: &Bool, b: &Bool| format!("({word} {} {})", truth(problem, *a), truth(problem, *b));
    match term {
        Term::Add(a, b) => two("+", a, b),
        Term::Subtract(a, b) => two("-", a, b),
        Term::Negate(a) => format!("(- {})", int(problem, *a)),
        Term::Multiply(a, b) => two("*", a, b),
        Term::Quotient(a, b) => two("quotient", a, b),
        Term::Remainder(a, b) => two("remainder", a, b),
        Term::Choose(condition, a, b) => {
            format!("(ite {} {} {})", truth(problem, *condition), int(problem, *a), int(problem, *b))
        }
        Term::Not(a) => format!("(not {})", truth(problem, *a)),
        Term::And(a, b) => truths("and", a, b),
        Term::Or(a, b) => truths("or", a, b),
        Term::Equal(a, b) => two("=", a, b),
        Term::Less(a, b) => two("<", a, b),
        Term::Integer(_) | Term::Truth(_) | Term::IntegerUnknown(_) | Term::TruthUnknown(_) => name(term, 0),
    }
}

fn int(problem: &Problem, int: Int) -> String {
    name(problem.integer_term(int), int.position())
}

fn truth(problem: &Problem, truth: Bool) -> String {
    name(problem.truth_term(truth), truth.position())
}

/// How others mention the term at that position.
fn name(term: &Term, position: usize) -> String {
    match term {
        Term::Integer(value) => constant(*value),
        Term::Truth(value) => value.to_string(),
        Term::IntegerUnknown(at) | Term::TruthUnknown(at) => format!("u{at}"),
        _ => format!("t{position}"),
    }
}

/// The language has no negative numbers, only their negation.
fn constant(value: i128) -> String {
    if value < 0 { format!("(- {})", value.unsigned_abs()) } else { value.to_string() }
}

/// A name that stays on its line.
fn remark(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn unknown(term: &Term) -> Option<usize> {
    match term {
        Term::IntegerUnknown(at) | Term::TruthUnknown(at) => Some(*at),
        _ => None,
    }
}

fn is_truth(term: &Term) -> bool {
    matches!(term, Term::Not(_) | Term::And(..) | Term::Or(..) | Term::Equal(..) | Term::Less(..))
}

/// Whether it is in the logic of linear arithmetic, which knows no quotients, and products with constants only.
fn is_linear(problem: &Problem, term: &Term) -> bool {
    match term {
        Term::Multiply(a, b) => [a, b].iter().any(|int| problem.as_constant(**int).is_some()),
        Term::Quotient(..) | Term::Remainder(..) => false,
        _ => true,
    }
}

fn put(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what).expect("a string takes all there is");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `avail - n > 0`, and `n <> 1 OR sold`.
    fn seats() -> Problem {
        let mut problem = Problem::new();
        let (avail, n) = (problem.integer("avail", -3..=9), problem.integer("n\n", 1..=9));
        problem.integer("nobody's", 5..=6);
        let [zero, one] = [0, 1].map(|value| problem.constant(value));
        let (rest, sold) = (problem.minus(avail, n), problem.boolean("sold"));
        let enough = problem.less(zero, rest);
        let several = problem.unequal(n, one);
        let either = problem.or(several, sold);
        problem.demand(enough);
        problem.demand(either);
        problem
    }

    #[test]
    fn a_problem_is_what_a_solver_reads() {
        let expect = "(set-logic QF_LIA)\n\
            (declare-const u0 Int) ; avail\n\
            (assert (<= (- 3) u0 9))\n\
            (declare-const u1 Int) ; n \n\
            (assert (<= 1 u1 9))\n\
            (define-fun t5 () Int (- u0 u1))\n\
            (declare-const u3 Bool) ; sold\n\
            (define-fun t7 () Bool (< 0 t5))\n\
            (define-fun t8 () Bool (= u1 1))\n\
            (define-fun t9 () Bool (not t8))\n\
            (define-fun t10 () Bool (or u3 t9))\n\
            (assert (! t7 :named d0))\n\
            (assert (! t10 :named d1))\n\
            (check-sat)\n\
            (get-value (u0 u1 u3))\n";
        assert_eq!(print(&seats(), Ask::Values), expect);
        let core = print(&seats(), Ask::Conflict);
        assert!(core.starts_with("(set-option :produce-unsat-cores true)\n(set-logic"), "{core}");
        assert!(core.ends_with("(check-sat)\n(get-unsat-core)\n"), "{core}");
    }

    #[test]
    fn quotients_are_ours() {
        let mut problem = Problem::new();
        let (a, b) = (problem.integer("a", -9..=9), problem.integer("b", -9..=9));
        let (quotient, rest) = (problem.quotient(a, b), problem.remainder(a, b));
        let demand = problem.less(quotient, rest);
        problem.demand(demand);
        let text = print(&problem, Ask::Values);
        assert!(text.starts_with(&format!("(set-logic QF_NIA)\n{QUOTIENT}{REMAINDER}(declare")), "{text}");
        assert!(text.contains("(define-fun t2 () Int (quotient u0 u1))\n(define-fun t3 () Int (remainder u0 u1))\n"));
    }

    #[test]
    fn a_demand_that_is_decided_is_printed_all_the_same() {
        let mut problem = Problem::new();
        let never = problem.truth(false);
        problem.demand(never);
        assert_eq!(print(&problem, Ask::Values), "(set-logic QF_LIA)\n(assert (! false :named d0))\n(check-sat)\n");
    }

    #[test]
    fn the_text_grows_with_the_number_of_terms() {
        let mut problem = Problem::new();
        let mut sum = problem.integer("a", 0..=1);
        for _ in 0..60 {
            sum = problem.plus(sum, sum);
        }
        let limit = problem.constant(1 << 60);
        let demand = problem.equal(sum, limit);
        problem.demand(demand);
        assert!(print(&problem, Ask::Values).len() < 60 * 50);
    }
}
