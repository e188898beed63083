//! The words for what the calls oracle found.

use crate::case::expect::print_rows;
use crate::case::{Case, Line};
use crate::finding::{Explanation, Fingerprint, Violation};
use crate::oracle::calls::{Ended, NAME, Refuted, Unlike};
use crate::oracle::observe::words::difference;
use crate::sql::one_line;
use crate::trace::{Check, Trace};
use crate::value::Value;

/// `a, then b`
pub(super) fn witness(case: &Case, order: &[usize]) -> String {
    match labels(case, order).as_slice() {
        [] => "no call succeeded, and nothing has changed".to_string(),
        labels => labels.join(", then "),
    }
}

/// The violation of a run that none of these orders explains.
pub(super) fn violation(case: &Case, kept: &[usize], refuted: &[Refuted]) -> Violation {
    let procedures: Vec<String> =
        kept.iter().filter_map(|at| call(case, *at)).map(|(_, call)| procedure(&call)).collect();
    let because = refuted.first().map(|one| format!("{}, {}", phrase(case, &one.order), unlike(&one.unlike)));
    let because = because.unwrap_or_else(|| "nothing was left to run".to_string());
    let sentence = match procedures.as_slice() {
        [one] => format!("a call of {one} does something else when it runs alone: {because}"),
        [one, other] if one == other => {
            format!("two calls of {one} together do what neither order of them does: {because}")
        }
        [one, other] => format!("{one} and {other} together do what neither order of them does: {because}"),
        many => format!("the calls of {} together do what no order of them does: {because}", many.join(", ")),
    };
    let aspect = match refuted.first().map(|one| &one.unlike) {
        Some(Unlike::State(_)) => "state",
        _ => "output",
    };
    let however = refuted.iter().map(|one| format!("{}, {}", phrase(case, &one.order), unlike(&one.unlike)));
    Violation {
        sentence,
        explanation: Explanation {
            lets: lets(case, kept),
            thens: vec![match refuted.len() {
                1 => "running the calls one after the other should come to the same".to_string(),
                count => format!("one of the {count} orders of the calls should come to the same"),
            }],
            however: however.collect(),
        },
        fingerprint: Fingerprint::new(&format!("{NAME}-{aspect}"), &procedures),
    }
}

/// The violation of a run that breaks an assertion which every order of the calls keeps.
pub(super) fn broken(case: &Case, trace: &Trace, name: &str) -> Violation {
    let is_it = |check: &&Check| check.name == name && !check.holds();
    let check = trace.checks.iter().find(is_it);
    let rows = check.and_then(|check| check.outcome.rows()).map(|result| trace.engine.dialect.values(result));
    let rows = print_rows(&rows.unwrap_or_default());
    let moment = match check.and_then(|check| check.after) {
        Some(id) => format!("after step {} ({})", trace.step_name(id), one_line(&trace.step(id).sql)),
        None => "at the end".to_string(),
    };
    let query = case.entries.iter().find_map(|entry| match &entry.line {
        Line::Assert(assert) if assert.name == name => Some(one_line(&assert.sql)),
        _ => None,
    });
    let entries = super::orders::entries(case);
    let mut lets = lets(case, &entries);
    lets.extend(query.iter().map(|query| format!("{name} = no rows in {query}")));
    let procedures: Vec<String> =
        entries.iter().filter_map(|at| call(case, *at)).map(|(_, it)| procedure(&it)).collect();
    Violation {
        sentence: format!("the assertion {name} holds in every order of the calls, but not {moment}: it finds {rows}"),
        explanation: Explanation {
            lets,
            thens: vec![format!("{name} holds in every order of the calls")],
            however: vec![format!("{moment}, these rows were there: {rows}")],
        },
        fingerprint: Fingerprint::new(
            &format!("{NAME}-assertion"),
            &[procedures, query.into_iter().collect()].concat(),
        ),
    }
}

/// The reason why nothing holds of a call that no serial order makes.
pub(super) fn never_made(case: &Case, at: usize, why: &str) -> String {
    let (session, call) = call(case, at).unwrap_or_default();
    format!("{session}'s {call} is refused in every serial order, too: {why}")
}

fn lets(case: &Case, entries: &[usize]) -> Vec<String> {
    let calls = entries.iter().filter_map(|at| call(case, *at));
    calls.map(|(session, call)| format!("{session} = {call}")).collect()
}

/// The session and the text of the call at an entry.
fn call(case: &Case, at: usize) -> Option<(String, String)> {
    match &case.entries[at].line {
        Line::Step(session, item, _) => Some((session.to_string(), item.to_string())),
        _ => None,
    }
}

fn procedure(call: &str) -> String {
    call.split('(').next().unwrap_or(call).to_string()
}

fn labels(case: &Case, order: &[usize]) -> Vec<String> {
    order.iter().filter_map(|at| call(case, *at)).map(|(session, _)| session).collect()
}

/// `if a ran before b`
fn phrase(case: &Case, order: &[usize]) -> String {
    match labels(case, order).as_slice() {
        [] => "if nothing ran".to_string(),
        [one] => format!("if {one} ran alone"),
        [one, other] => format!("if {one} ran before {other}"),
        labels => format!("in the order {}", labels.join(", ")),
    }
}

/// `a's choose_seat would have returned 3, but it returned 4`
fn unlike(unlike: &Unlike) -> String {
    match unlike {
        Unlike::State(state) => difference(state),
        Unlike::Call { did: Some(did), would: Some(would) } => {
            format!("{} would have {}, but it {}", whose(did), what(would), what(did))
        }
        Unlike::Call { did: Some(one), would: None } => format!("{} would not have ended", whose(one)),
        Unlike::Call { did: None, would: Some(one) } => format!("{} would have {}", whose(one), what(one)),
        Unlike::Call { did: None, would: None } => "nothing would be different".to_string(),
    }
}

fn whose(ended: &Ended) -> String {
    format!("{}'s {}", ended.call.0, ended.procedure)
}

/// A verb that serves as past tense and as participle, and what goes with it.
fn what(ended: &Ended) -> String {
    match &ended.result {
        Ok(outputs) if outputs.is_empty() => "succeeded".to_string(),
        Ok(outputs) => {
            format!("returned {}", outputs.iter().map(Value::to_string).collect::<Vec<_>>().join(", "))
        }
        Err(failure) => format!("failed with {failure}"),
    }
}
