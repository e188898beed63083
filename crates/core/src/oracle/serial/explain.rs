//! The words for what the serial oracle found.

use crate::finding::{Explanation, Fingerprint, Violation, shape};
use crate::oracle::Verdict;
use crate::oracle::observe::words::{STATEMENT_SHOWN, aspect, difference, shortened};
use crate::oracle::serial::committed::{Committed, Unit, What};
use crate::oracle::serial::{NAME, Order, Refuted};

/// How many orders an explanation goes through one by one.
const ORDERS_SHOWN: usize = 12;

/// `b, then a`: the order that explains a run.
pub(super) fn witness(committed: &Committed, order: &Order) -> Verdict {
    match labels(committed, order).as_slice() {
        [] => Verdict::Vacuous("nothing was committed, and nothing has changed".to_string()),
        labels => Verdict::Holds(labels.join(", then ")),
    }
}

/// The violation of a run that none of these orders explains; the first is that of the commits.
pub(super) fn violation(committed: &Committed, refuted: &[Refuted]) -> Violation {
    let first = refuted.first().expect("there is always one order: that of the commits");
    let shapes: Vec<String> =
        committed.units.iter().map(|unit| shape(unit.statements.iter().map(String::as_str))).collect();
    Violation {
        sentence: sentence(committed, refuted, first),
        explanation: explanation(committed, refuted),
        fingerprint: Fingerprint::new(&format!("{NAME}-{}", aspect(&first.difference)), &shapes),
    }
}

fn sentence(committed: &Committed, refuted: &[Refuted], first: &Refuted) -> String {
    let because = difference(&first.difference);
    let order = order_phrase(committed, &first.order);
    match committed.units.as_slice() {
        [] => format!("nothing was committed, but something has changed: {because}"),
        [one] => format!("{} committed, but it does something else when it runs alone: {because}", whose(one)),
        [one, other] if refuted.len() == 2 => {
            let both = pair(one, other);
            format!("{both} both committed, but neither order of them gives what was seen: {order}, {because}")
        }
        many => {
            let labels: Vec<&str> = many.iter().map(|unit| unit.label.as_str()).collect();
            let orders = match refuted.len() {
                1 => "their only serial order does not give".to_string(),
                count => format!("none of their {count} serial orders gives"),
            };
            let labels = labels.join(", ");
            format!("the transactions {labels} committed, but {orders} what was seen: {order}, {because}")
        }
    }
}

/// `a's withdraw(account=1, amount=80)`, `the transaction of a`
fn whose(unit: &Unit) -> String {
    match &unit.what {
        What::Call { text, .. } => format!("{}'s {text}", unit.session),
        What::Statements => format!("the transaction of {}", unit.session),
    }
}

fn pair(one: &Unit, other: &Unit) -> String {
    match (&one.what, &other.what) {
        (What::Call { procedure, .. }, What::Call { procedure: same, .. }) if procedure == same => {
            format!("two calls of {procedure}, by {} and {},", one.label, other.label)
        }
        (What::Statements, What::Statements) => format!("the transactions {} and {}", one.label, other.label),
        _ => format!("{} and {}", whose(one), whose(other)),
    }
}

fn explanation(committed: &Committed, refuted: &[Refuted]) -> Explanation {
    let what = |unit: &Unit| match &unit.what {
        What::Call { text, .. } => text.clone(),
        What::Statements => {
            let statements: Vec<String> =
                unit.statements.iter().map(|statement| shortened(statement, STATEMENT_SHOWN)).collect();
            statements.join("; ")
        }
    };
    let refutation =
        |one: &Refuted| format!("{}, {}", order_phrase(committed, &one.order), difference(&one.difference));
    let mut however: Vec<String> = refuted.iter().take(ORDERS_SHOWN).map(refutation).collect();
    if refuted.len() > ORDERS_SHOWN {
        however.push(format!("and so on, for each of the other {} orders", refuted.len() - ORDERS_SHOWN));
    }
    let then = match refuted.len() {
        1 => "running what committed, and nothing else, should give what was seen".to_string(),
        count => format!("all of these committed, so one of their {count} serial orders should give what was seen"),
    };
    Explanation {
        lets: committed.units.iter().map(|unit| format!("{} = {}", unit.label, what(unit))).collect(),
        thens: vec![then],
        however,
    }
}

/// `if a ran before b`
fn order_phrase(committed: &Committed, order: &Order) -> String {
    match labels(committed, order).as_slice() {
        [] => "if nothing ran".to_string(),
        [one] => format!("if {one} ran alone"),
        [one, other] => format!("if {one} ran before {other}"),
        labels => format!("in the order {}", labels.join(", ")),
    }
}

/// The names of the transactions in an order.
fn labels(committed: &Committed, order: &Order) -> Vec<String> {
    let label = |position: usize| {
        let nth = order[..position].iter().filter(|name| **name == order[position]).count();
        let mut of_session = committed.units.iter().filter(|unit| unit.session == order[position]);
        of_session.nth(nth).map_or_else(|| order[position].to_string(), |unit| unit.label.clone())
    };
    (0..order.len()).map(label).collect()
}
