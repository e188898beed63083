//! Orders; runs are judged where there are engines to run them.

use super::*;
use crate::case::parse;

const CASE: &str = "\
-- @program p.sql
/*init*/ CREATE TABLE t (k INT PRIMARY KEY, v INT);
/*a*/ -- call p(x=1)
/*b*/ -- call p(x=1)
/*a*/ -- call q(x=1)
-- @assert after p kept: SELECT 1
";

/// The orders of a case's calls, in words.
fn told(text: &str) -> Vec<String> {
    let case = parse(text).unwrap();
    let entries = orders::entries(&case);
    orders::all(&case, &entries)
        .iter()
        .map(|order| {
            let arranged = orders::arranged(&case, order);
            let step = |line: &Line| match line {
                Line::Step(session, item, _) => Some(format!("{session}:{item}")),
                _ => None,
            };
            arranged.entries.iter().filter_map(|entry| step(&entry.line)).collect::<Vec<_>>().join(" ")
        })
        .collect()
}

#[test]
fn calls_of_a_session_stay_in_sequence() {
    let all = ["a:p(x=1) b:p(x=1) a:q(x=1)", "a:p(x=1) a:q(x=1) b:p(x=1)", "b:p(x=1) a:p(x=1) a:q(x=1)"];
    assert_eq!(told(CASE), all);
}

#[test]
fn sessions_that_are_to_be_first_are() {
    assert_eq!(told(&format!("-- @first b\n{CASE}")), ["b:p(x=1) a:p(x=1) a:q(x=1)"]);
}
