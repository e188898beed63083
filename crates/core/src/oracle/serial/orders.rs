//! Which serial orders to try, likely ones first.

use std::collections::BTreeMap;

use crate::case::SessionName;
use crate::oracle::serial::Order;
use crate::oracle::serial::committed::{Committed, Unit};

/// The orders to try.
pub(super) struct Candidates {
    /// No order twice. The first is that of the commits.
    pub(super) orders: Vec<Order>,
    /// Why these are not all that there are, if they are not.
    pub(super) incomplete: Option<String>,
}

/// Every order that keeps the transactions of a session in sequence; if there are more than `orders_max`, only the
/// likely ones: that of the commits (locking engines) and that of the beginnings (snapshots).
pub(super) fn candidates(committed: &Committed, orders_max: usize) -> Candidates {
    let sessions = |units: &[&Unit]| -> Order { units.iter().map(|unit| unit.session.clone()).collect() };
    let mut units: Vec<&Unit> = committed.units.iter().collect();
    let mut orders = vec![sessions(&units)];
    units.sort_by_key(|unit| unit.began);
    orders.push(sessions(&units));
    orders.dedup();
    let count = count(&orders[0]);
    if count.is_none_or(|count| count > orders_max) {
        let reason = format!(
            "{} transactions have more than {orders_max} serial orders, and the likely ones do not explain the run",
            committed.units.len()
        );
        return Candidates { orders, incomplete: Some(reason) };
    }
    for order in all(&orders[0]) {
        if !orders.contains(&order) {
            orders.push(order);
        }
    }
    Candidates { orders, incomplete: None }
}

/// How many orders there are: n! divided by the product of the sessions' k!. `None` if that is a large number.
fn count(order: &[SessionName]) -> Option<usize> {
    // One binomial coefficient per session: where its transactions stand among those placed before.
    let (mut orders, mut placed) = (1usize, 0usize);
    for number in tally(order).into_values() {
        for k in 1..=number {
            placed += 1;
            orders = orders.checked_mul(placed)? / k;
        }
    }
    Some(orders)
}

fn tally(order: &[SessionName]) -> BTreeMap<&SessionName, usize> {
    let mut tally = BTreeMap::new();
    order.iter().for_each(|name| *tally.entry(name).or_default() += 1);
    tally
}

/// Every distinct arrangement, in lexical order.
fn all(order: &[SessionName]) -> Vec<Order> {
    let mut left = tally(order);
    let mut orders = Vec::new();
    arrange(&mut left, &mut Vec::new(), order.len(), &mut orders);
    orders
}

fn arrange(left: &mut BTreeMap<&SessionName, usize>, prefix: &mut Order, length: usize, orders: &mut Vec<Order>) {
    if prefix.len() == length {
        return orders.push(prefix.clone());
    }
    let names: Vec<&SessionName> = left.iter().filter(|(_, count)| **count > 0).map(|(name, _)| *name).collect();
    for name in names {
        *left.entry(name).or_default() -= 1;
        prefix.push(name.clone());
        arrange(left, prefix, length, orders);
        prefix.pop();
        *left.entry(name).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(text: &str) -> Order {
        text.split_whitespace().map(|name| SessionName::new(name).unwrap()).collect()
    }

    #[test]
    fn all_arrangements_are_found_once() {
        let check = |text: &str, expect: usize| {
            let mut orders = all(&order(text));
            assert_eq!(count(&order(text)), Some(expect), "{text}");
            assert_eq!(orders.len(), expect, "{text}");
            orders.dedup();
            assert_eq!(orders.len(), expect, "{text}");
        };
        check("", 1);
        check("a a a", 1);
        check("b a", 2);
        check("a b a", 3);
        check("a b a b c", 30);
        check("a b c d e f g", 5_040);
    }

    #[test]
    fn large_numbers_are_not_computed() {
        let many = (0..60).map(|n| SessionName::new(&format!("s{n}")).unwrap()).collect::<Order>();
        assert_eq!(count(&many), None);
    }
}
