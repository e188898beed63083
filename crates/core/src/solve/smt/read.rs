//! What a solver says, as an answer.
//!
//! It is a list of expressions: a word, and then values or names in parentheses. A solver that was asked for something that
//! there is not (values of what is impossible) complains, which means nothing once the word has been said.

use super::super::{Answer, Model, Problem};
use super::unknown;

/// Why what a solver said is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SmtError {
    /// It did not understand the question.
    #[error("the solver complains: {0}")]
    Complaint(String),
    /// Neither `sat`, `unsat` nor `unknown`.
    #[error("the solver said neither `sat`, `unsat` nor `unknown`, but: {0}")]
    NoAnswer(String),
    /// It said `sat`, and gave no value for an unknown, or none that it may have.
    #[error("the solver gave no value for {0} that it may have")]
    NoValue(String),
    /// Its values do not fulfil the demand of that number.
    #[error("the values that the solver gave do not fulfil demand {0}")]
    NotFulfilled(usize),
}

/// Understands what was said to [`Ask::Values`](super::Ask::Values). Unknowns that no demand needs are as near to zero as
/// they may be. What cannot be checked, since it exceeds our numbers, is not known.
pub fn read_answer(problem: &Problem, said: &str) -> Result<Answer, SmtError> {
    let (word, rest) = verdict(said)?;
    match word {
        Word::Impossible => Ok(Answer::Impossible),
        Word::Unknown => Ok(Answer::Unknown),
        Word::Possible => {
            let model = model(problem, &rest)?;
            let values = problem.evaluate(&model);
            let truths: Vec<Option<bool>> = problem.demands().iter().map(|demand| values.truth(*demand)).collect();
            match truths.iter().position(|truth| *truth == Some(false)) {
                Some(number) => Err(SmtError::NotFulfilled(number)),
                None if truths.iter().any(Option::is_none) => Ok(Answer::Unknown),
                None => Ok(Answer::Possible(model)),
            }
        }
    }
}

/// Understands what was said to [`Ask::Conflict`](super::Ask::Conflict): the numbers of demands that are impossible
/// together, in order; `None` if the solver does not say that they are.
pub fn read_conflict(problem: &Problem, said: &str) -> Result<Option<Vec<usize>>, SmtError> {
    let (word, rest) = verdict(said)?;
    if word != Word::Impossible {
        return Ok(None);
    }
    let Some(Expression::List(names)) = rest.first() else { return Err(SmtError::NoAnswer(shown(said))) };
    let number = |name: &Expression| match name {
        Expression::Atom(name) => name.strip_prefix('d')?.parse().ok().filter(|at| *at < problem.demands().len()),
        Expression::List(_) => None,
    };
    let mut numbers: Vec<usize> =
        names.iter().map(number).collect::<Option<_>>().ok_or_else(|| SmtError::NoAnswer(shown(said)))?;
    numbers.sort_unstable();
    Ok(Some(numbers))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Possible,
    Impossible,
    Unknown,
}

/// The word, and what follows it.
fn verdict(said: &str) -> Result<(Word, Vec<Expression>), SmtError> {
    let mut expressions = expressions(said).into_iter();
    while let Some(expression) = expressions.next() {
        let word = match &expression {
            Expression::Atom(atom) => match atom.as_str() {
                "sat" => Word::Possible,
                "unsat" => Word::Impossible,
                "unknown" | "timeout" => Word::Unknown,
                // Options that a solver does not know change nothing.
                "success" | "unsupported" => continue,
                _ => break,
            },
            Expression::List(list) => match list.as_slice() {
                [Expression::Atom(error), Expression::Atom(message)] if error == "error" => {
                    return Err(SmtError::Complaint(message.trim_matches('"').to_string()));
                }
                _ => break,
            },
        };
        return Ok((word, expressions.collect()));
    }
    Err(SmtError::NoAnswer(shown(said)))
}

/// `((u0 2) (u1 (- 1)) (u3 true))`
fn model(problem: &Problem, rest: &[Expression]) -> Result<Model, SmtError> {
    let pairs = match rest.first() {
        Some(Expression::List(pairs)) => pairs.as_slice(),
        _ => &[],
    };
    let value_of = |name: &str| {
        pairs.iter().find_map(|pair| match pair {
            Expression::List(pair) => match pair.as_slice() {
                [Expression::Atom(its), value] if its == name => value.number(),
                _ => None,
            },
            Expression::Atom(_) => None,
        })
    };
    let needed = problem.needed_for(problem.demands().iter().copied());
    let asked_for =
        problem.all().iter().zip(&needed).filter(|(_, needed)| **needed).filter_map(|(term, _)| unknown(term));
    let mut values: Vec<i128> = problem.unknowns().iter().map(|unknown| unknown.nearest_to_zero()).collect();
    for at in asked_for {
        let unknown = &problem.unknowns()[at];
        let bounds = unknown.bounds.clone().unwrap_or(0..=1);
        let value = value_of(&format!("u{at}")).filter(|value| bounds.contains(value));
        values[at] = value.ok_or_else(|| SmtError::NoValue(unknown.name.clone()))?;
    }
    Ok(Model::new(values))
}

/// Atoms and lists of them; an atom in quotes keeps these.
#[derive(Debug, Clone, PartialEq)]
enum Expression {
    Atom(String),
    List(Vec<Expression>),
}

impl Expression {
    /// `5`, `-5`, `(- 5)`; `true` and `false` are 1 and 0.
    fn number(&self) -> Option<i128> {
        match self {
            Expression::Atom(atom) => match atom.as_str() {
                "true" => Some(1),
                "false" => Some(0),
                digits => digits.parse().ok(),
            },
            Expression::List(list) => match list.as_slice() {
                [Expression::Atom(minus), Expression::Atom(digits)] if minus == "-" => {
                    format!("-{digits}").parse().ok()
                }
                _ => None,
            },
        }
    }
}

/// How deep lists may be nested in each other. Answers need three levels.
const DEPTH_MAX: usize = 50;

/// All expressions of a text. What is open at its end was cut off, and is left out, as is what is nested too deep.
fn expressions(text: &str) -> Vec<Expression> {
    let mut open: Vec<Vec<Expression>> = vec![Vec::new()];
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '|' => rest[1..].find(first).map_or(rest.len(), |end| end + 2),
            '(' | ')' => 1,
            ';' => rest.find('\n').unwrap_or(rest.len()),
            c if c.is_whitespace() => c.len_utf8(),
            _ => rest.find(|c: char| c.is_whitespace() || "();\"|".contains(c)).unwrap_or(rest.len()),
        };
        let (token, behind) = rest.split_at(length);
        rest = behind;
        let depth = open.len();
        match first {
            '(' => open.push(Vec::new()),
            ')' if depth > 1 => {
                let list = open.pop().unwrap_or_default();
                if let Some(around) = open.last_mut().filter(|_| depth <= DEPTH_MAX) {
                    around.push(Expression::List(list));
                }
            }
            c if c == ')' || c == ';' || c.is_whitespace() => {}
            _ => open.last_mut().expect("the first is never closed").push(Expression::Atom(token.to_string())),
        }
    }
    open.swap_remove(0)
}

/// The beginning of what was said.
fn shown(said: &str) -> String {
    const LENGTH_MAX: usize = 200;
    said.trim().chars().take(LENGTH_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// a + b = -1; c is needed by nobody.
    fn problem() -> Problem {
        let mut problem = Problem::new();
        let (a, b) = (problem.integer("a", -5..=5), problem.integer("b", 0..=5));
        problem.integer("c", 7..=9);
        let sum = problem.plus(a, b);
        let wanted = problem.constant(-1);
        let demand = problem.equal(sum, wanted);
        problem.demand(demand);
        let low = problem.less(a, b);
        problem.demand(low);
        problem
    }

    #[test]
    fn what_is_said_is_understood() {
        let possible = |values: &[i128]| Ok(Answer::Possible(Model::new(values.to_vec())));
        let no_answer = |said: &str| Err(SmtError::NoAnswer(said.to_string()));
        let no_value = |name: &str| Err(SmtError::NoValue(name.to_string()));
        let cases = [
            ("sat\n((u0 (- 3))\n (u1 2))\n", possible(&[-3, 2, 7])),
            ("unsupported sat ((u1 4) (u0 -5))", possible(&[-5, 4, 7])),
            ("unsat\n(error \"line 9 column 20: model is not available\")\n", Ok(Answer::Impossible)),
            ("unknown\n((u0 0) (u1 0))", Ok(Answer::Unknown)),
            ("timeout", Ok(Answer::Unknown)),
            ("; said after a while\nsat((u0 (- 1))(u1 0))", possible(&[-1, 0, 7])),
            ("sat ((u0 0) (u1 0))", Err(SmtError::NotFulfilled(0))),
            ("sat ((u0 (- 1)))", no_value("b")),
            ("sat ((u0 (- 7)) (u1 6))", no_value("a")),
            ("sat ((u0 (- 1", no_value("a")),
            ("sat", no_value("a")),
            (
                "(error \"unknown constant t7 (see there)\") sat",
                Err(SmtError::Complaint("unknown constant t7 (see there)".into())),
            ),
            ("", no_answer("")),
            ("))) ((", no_answer("))) ((")),
            ("Segmentation fault", no_answer("Segmentation fault")),
            ("\"unfinished", no_answer("\"unfinished")),
        ];
        for (said, expect) in cases {
            assert_eq!(read_answer(&problem(), said), expect, "{said}");
        }
    }

    #[test]
    fn a_conflict_is_a_list_of_demands() {
        let no_answer = |said: &str| Err(SmtError::NoAnswer(said.to_string()));
        let cases = [
            ("unsat\n(d1 d0)\n", Ok(Some(vec![0, 1]))),
            ("unsat ()", Ok(Some(vec![]))),
            ("sat (error \"unsat core is not available\")", Ok(None)),
            ("unknown", Ok(None)),
            ("unsat (d2)", no_answer("unsat (d2)")),
            ("unsat", no_answer("unsat")),
        ];
        for (said, expect) in cases {
            assert_eq!(read_conflict(&problem(), said), expect, "{said}");
        }
    }

    #[test]
    fn nesting_is_no_danger() {
        let deep = "(".repeat(200_000) + &")".repeat(200_000);
        assert!(matches!(read_answer(&problem(), &deep), Err(SmtError::NoAnswer(_))));
    }
}
