//! Smaller constants.
//!
//! A constant is replaced everywhere in the case at once, also where the case expects it: a row that was inserted with
//! 17 and is updated WHERE id = 17 must stay one row.

use crate::case::{Case, Expect, Expectation, Line, Rows};
use crate::reduce::edit::{map_statements, statements};
use crate::reduce::sql::literals::{literals, replace};
use crate::reduce::{Pass, Tests};
use crate::value::{Number, Value};

pub(in crate::reduce) struct Constants;

/// The date that stands for any other.
const DATE: &str = "2000-01-01";

impl Pass for Constants {
    fn reduce(&self, case: &Case, tests: &mut Tests<'_>) -> Case {
        let mut constants: Vec<String> = Vec::new();
        for literal in statements(case).flat_map(literals) {
            if !constants.iter().any(|known| known == literal.text) {
                constants.push(literal.text.to_string());
            }
        }
        constants.into_iter().fold(case.clone(), |case, constant| smaller(case, constant, tests))
    }
}

/// Replaces a constant by smaller ones as long as that works.
fn smaller(mut case: Case, mut constant: String, tests: &mut Tests<'_>) -> Case {
    loop {
        let found = simpler(&constant).into_iter().find_map(|new| {
            let candidate = replaced(&case, &constant, &new)?;
            tests.reproduces(&candidate).then_some((candidate, new))
        });
        match found {
            Some((smaller, new)) => (case, constant) = (smaller, new),
            None => return case,
        }
    }
}

/// Simpler constants, the simplest first: numbers, then texts. They never lead back.
fn simpler(constant: &str) -> Vec<String> {
    let Some(quote) = constant.find('\'') else { return simpler_numbers(constant) };
    let (prefix, quoted) = constant.split_at(quote);
    let Some(inner) = quoted.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) else { return Vec::new() };
    let characters: Vec<char> = inner.chars().collect();
    let half: String = characters[..characters.len() / 2].iter().collect();
    let is_date = characters.first().is_some_and(char::is_ascii_digit) && inner.contains(['-', ':']);
    let mut texts = vec![String::new(), "a".to_string(), "b".to_string(), half];
    if is_date && inner != DATE {
        texts.insert(0, DATE.to_string());
    }
    let is_simpler = |text: &String| text.len() < inner.len() || (text == DATE && text.len() == inner.len());
    // Half of a text may end within a doubled quote.
    texts.retain(|text| is_simpler(text) && !text.contains('\''));
    texts.dedup();
    let numbers = ["0", "1"].into_iter().map(str::to_string);
    numbers.chain(texts.into_iter().map(|text| format!("{prefix}'{text}'"))).collect()
}

fn simpler_numbers(constant: &str) -> Vec<String> {
    if let Ok(number) = constant.parse::<u64>() {
        let mut smaller = vec![0, 1, 2, 3, number / 10, number / 2];
        smaller.retain(|new| *new < number);
        smaller.dedup();
        return smaller.iter().map(u64::to_string).collect();
    }
    let whole = constant.split('.').next().filter(|whole| !whole.is_empty() && *whole != constant);
    ["0", "1"].into_iter().chain(whole).map(str::to_string).collect()
}

/// The case with a constant replaced, in statements and in what is expected of them.
fn replaced(case: &Case, old: &str, new: &str) -> Option<Case> {
    let replacement = |text: &str| (text == old).then(|| new.to_string());
    let mut changed = map_statements(case, |text| Some(replace(text, replacement)))?;
    if let Some((old, new)) = value(old).zip(value(new)) {
        let in_rows = |rows: &mut Rows| {
            rows.iter_mut().flatten().filter(|value| **value == old).for_each(|value| *value = new.clone());
        };
        for entry in &mut changed.entries {
            match &mut entry.line {
                Line::Init(_, expectations) | Line::Step(_, _, expectations) => {
                    expectations.iter_mut().filter_map(rows_of).for_each(in_rows);
                }
                Line::Final(expected) => in_rows(&mut expected.rows),
                _ => {}
            }
        }
    }
    Some(changed)
}

fn rows_of(expectation: &mut Expectation) -> Option<&mut Rows> {
    match &mut expectation.expect {
        Expect::Rows(rows) | Expect::Ordered(rows) => Some(rows),
        _ => None,
    }
}

/// What a plain literal stands for.
fn value(literal: &str) -> Option<Value> {
    match literal.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        Some(inner) => Some(Value::text(inner.replace("''", "'"))),
        None => Number::parse(literal).map(Value::Number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_get_smaller_and_never_lead_back() {
        let check = |constant: &str, expect: &[&str]| assert_eq!(simpler(constant), expect, "{constant}");
        check("0", &[]);
        check("1", &["0"]);
        check("85", &["0", "1", "2", "3", "8", "42"]);
        check("1.5", &["0", "1", "1"]);
        check("''", &["0", "1"]);
        check("'a'", &["0", "1", "''"]);
        check("'it''s'", &["0", "1", "''", "'a'", "'b'", "'it'"]);
        check("X'00ff'", &["0", "1", "X''", "X'a'", "X'b'", "X'00'"]);
        check("'1999-12-31 10:00'", &["0", "1", "'2000-01-01'", "''", "'a'", "'b'", "'1999-12-'"]);
        check("DATE '2000-01-01'", &["0", "1", "DATE ''", "DATE 'a'", "DATE 'b'", "DATE '2000-'"]);
    }
}
