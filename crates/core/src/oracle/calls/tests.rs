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

#[test]
fn calls_of_a_session_stay_in_sequence() {
    let case = parse(CASE).unwrap();
    let entries = orders::entries(&case);
    let names: Vec<String> = orders::all(&case, &entries)
        .iter()
        .map(|order| {
            let arranged = orders::arranged(&case, order);
            let step = |line: &Line| match line {
                Line::Step(session, item, _) => Some(format!("{session}:{item}")),
                _ => None,
            };
            arranged.entries.iter().filter_map(|entry| step(&entry.line)).collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(names, ["a:p(x=1) b:p(x=1) a:q(x=1)", "a:p(x=1) a:q(x=1) b:p(x=1)", "b:p(x=1) a:p(x=1) a:q(x=1)"]);
}
