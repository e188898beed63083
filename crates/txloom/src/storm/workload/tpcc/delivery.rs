//! Delivery (clause 2.7): the oldest order of each district is on its way.

use super::super::dialogue::{Dialogue, Row, Stop};
use super::customers::Customer;
use super::keys;
use super::sizes::DISTRICTS;

/// The transaction.
pub(super) fn run(w: i64, carrier: i64, dialogue: &mut Dialogue<'_>) -> Result<(), Stop> {
    for d in 1..=DISTRICTS {
        let of = |row: &Row| Ok(keys::new_order(w, d, row.int(0)?));
        let oldest = dialogue.rows(of, || {
            let place = format!("no_w_id = {w} AND no_d_id = {d}");
            format!("SELECT no_o_id, v FROM new_order WHERE {place} ORDER BY no_o_id LIMIT 1")
        })?;
        // A district without new orders is left out.
        if let Some(oldest) = oldest.first() {
            deliver((w, d, oldest.int(0)?), carrier, dialogue)?;
        }
    }
    Ok(())
}

/// Delivers one order. Whether somebody else was faster is left to the isolation level.
fn deliver((w, d, o): (i64, i64, i64), carrier: i64, dialogue: &mut Dialogue<'_>) -> Result<(), Stop> {
    dialogue.remove(keys::new_order(w, d, o), || {
        format!("DELETE FROM new_order WHERE no_w_id = {w} AND no_d_id = {d} AND no_o_id = {o}")
    })?;
    let place = format!("o_w_id = {w} AND o_d_id = {d} AND o_id = {o}");
    let order = dialogue.first(
        |_| Ok(keys::order(w, d, o)),
        || format!("SELECT o_c_id, o_carrier_id, o_ol_cnt, v FROM orders WHERE {place}"),
    )?;
    dialogue.put(&[keys::order(w, d, o)], |v| {
        format!("UPDATE orders SET o_carrier_id = {carrier}, v = {v} WHERE {place}")
    })?;
    let amount = deliver_lines((w, d, o), dialogue)?;
    let c = order.int(0)?;
    let customer = Customer::of_number(w, d, c, dialogue)?;
    let (balance, count) = (customer.balance + amount, customer.delivery_count + 1);
    dialogue.update(keys::customer(w, d, c), |v| {
        format!(
            "UPDATE customer SET c_balance = {balance}, c_delivery_cnt = {count}, v = {v} \
             WHERE c_w_id = {w} AND c_d_id = {d} AND c_id = {c}"
        )
    })
}

/// Dates all lines of an order, and returns what they come to.
fn deliver_lines((w, d, o): (i64, i64, i64), dialogue: &mut Dialogue<'_>) -> Result<i64, Stop> {
    let place = format!("ol_w_id = {w} AND ol_d_id = {d} AND ol_o_id = {o}");
    let of = |row: &Row| Ok(keys::order_line(w, d, o, row.int(0)?));
    let lines = dialogue.rows(of, || format!("SELECT ol_number, ol_amount, v FROM order_line WHERE {place}"))?;
    let items = lines.iter().map(of).collect::<Result<Vec<_>, Stop>>()?;
    dialogue.put(&items, |v| format!("UPDATE order_line SET ol_delivery_d = {v}, v = {v} WHERE {place}"))?;
    lines.iter().map(|line| line.int(1)).sum()
}
