//! Random procedures: what is found leads there when it is run, and what is impossible is not found by trying.

use proptest::prelude::*;

use super::*;
use crate::case::Call;
use crate::dialect::Postgres;
use crate::program::access::nodes::of_procedure;
use crate::program::code::OperationKind;
use crate::program::interpret::{CallEnd, Instance as Running};
use crate::program::{Language, Program};

fn number() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => prop_oneof!["x", "y", "v"].prop_map(|name: String| name),
        3 => (-3..9_i32).prop_map(|value| value.to_string()),
        1 => Just("NULL".to_string()),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        let op = prop::sample::select(vec!["+", "-", "*", "DIV", "%"]);
        (inner.clone(), op, inner).prop_map(|(left, op, right)| format!("({left} {op} {right})"))
    })
}

fn condition() -> impl Strategy<Value = String> {
    let op = prop::sample::select(vec!["=", "<>", "<", "<=", ">", ">="]);
    let leaf = prop_oneof![
        6 => (number(), op, number()).prop_map(|(left, op, right)| format!("{left} {op} {right}")),
        1 => number().prop_map(|number| format!("({number}) IS NULL")),
        1 => number(),
    ];
    leaf.prop_recursive(2, 4, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(left, right)| format!("(({left}) AND ({right}))")),
            (inner.clone(), inner.clone()).prop_map(|(left, right)| format!("(({left}) OR ({right}))")),
            inner.prop_map(|inner| format!("NOT ({inner})")),
        ]
    })
}

/// Statements; each `@` is to become a number of its own.
fn body() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        3 => number().prop_map(|value| format!("SET v = {value}; ")),
        2 => condition().prop_map(|condition| format!("IF {condition} THEN RETURN @; END IF; ")),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let block = prop::collection::vec(inner.clone(), 1..3).prop_map(|statements| statements.concat());
        prop_oneof![
            (condition(), block.clone(), block.clone())
                .prop_map(|(condition, yes, no)| format!("IF {condition} THEN {yes}ELSE {no}RETURN @; END IF; ")),
            (1..4_i32, block).prop_map(|(rounds, block)| format!(
                "SET v = 0; WHILE v < {rounds} DO {block}SET v = v + 1; END WHILE; "
            )),
        ]
    })
}

fn numbered(body: &str) -> String {
    body.split('@')
        .enumerate()
        .map(|(at, part)| if at == 0 { part.to_string() } else { format!("{at}{part}") })
        .collect()
}

/// What a call returns; `None` if it fails.
fn returned(program: &Program, arguments: &BTreeMap<String, Value>) -> Option<Vec<Value>> {
    let arguments = arguments.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let call = Call { procedure: "p".to_string(), arguments };
    let mut running = Running::new(program, &call, &Postgres).expect("it fits");
    assert_eq!(running.next(None), None, "nothing is sent");
    (running.result() == Some(&CallEnd::Returned)).then(|| running.outputs().to_vec())
}

/// Some arguments.
fn samples() -> Vec<BTreeMap<String, Value>> {
    let values: Vec<Value> = (-4..=9).map(Value::int).chain([Value::Null]).collect();
    let both = values.iter().flat_map(|x| values.iter().map(move |y| (x.clone(), y.clone())));
    both.map(|(x, y)| [("x".to_string(), x), ("y".to_string(), y)].into()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_is_found_leads_there(statements in prop::collection::vec(body(), 1..4)) {
        let body = numbered(&format!("DECLARE v INT; {}RETURN @;", statements.concat()));
        let source = format!("CREATE PROCEDURE p(x TINYINT, y TINYINT) BEGIN {body} END;");
        let program = Program::parse(&source).unwrap_or_else(|error| panic!("{error}"));
        let schema = Schema::default();
        let (access, _) = of_procedure(&program.procedures[0], &schema, Language::Any);
        let by_trying: Vec<Option<Vec<Value>>> = samples().iter().map(|sample| returned(&program, sample)).collect();
        for (node, one) in access.nodes.iter().enumerate() {
            let OperationKind::Return(outputs) = &one.operation.kind else { continue };
            let wanted = Value::int(outputs[0].to_string().parse().expect("a number"));
            let passes = vec![Pass { node, ..Pass::default() }];
            let answer = find(&Question {
                schema: &schema,
                instances: vec![Instance { procedure: &program.procedures[0], access: &access, passes }],
                segments: vec![Segment { instance: 0, until: None }],
                may_be_absent: false,
                limits: Limits { budget: 1_000, ways: 4, rounds: 2 },
            });
            match answer {
                Answer::Found(found) => {
                    prop_assert!(found.exact, "{source}");
                    prop_assert_eq!(returned(&program, &found.arguments[0]), Some(vec![wanted]), "{}: {:?}", source, found);
                }
                Answer::Impossible(impossible) if impossible.complete => {
                    prop_assert!(!by_trying.contains(&Some(vec![wanted.clone()])), "{source}: {wanted} is possible");
                }
                Answer::Impossible(_) | Answer::Unknown => {}
            }
        }
    }
}
