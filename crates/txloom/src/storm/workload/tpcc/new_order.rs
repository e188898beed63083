//! NewOrder (clause 2.4): a customer orders 5 to 15 items.

use super::super::dialogue::{Dialogue, Stop};
use super::choice::{Line, NewOrder};
use super::keys;

/// A stock that would get lower is filled up.
const STOCK_MIN: i64 = 10;
/// By so many.
const STOCK_REFILL: i64 = 91;

/// The transaction.
pub(super) fn run(order: &NewOrder, dialogue: &mut Dialogue<'_>) -> Result<(), Stop> {
    let NewOrder { w, d, c, ref lines } = *order;
    dialogue.row(keys::warehouse(w), || format!("SELECT w_tax, v FROM warehouse WHERE w_id = {w}"))?;
    let o = next_number(w, d, dialogue)?;
    dialogue.row(keys::customer(w, d, c), || {
        format!(
            "SELECT c_discount, c_last, c_credit, v FROM customer WHERE c_w_id = {w} AND c_d_id = {d} AND c_id = {c}"
        )
    })?;
    let is_local = i64::from(lines.iter().all(|line| line.supplier == w));
    dialogue.put(&[keys::order(w, d, o)], |v| {
        let count = lines.len();
        format!("INSERT INTO orders VALUES ({o}, {d}, {w}, {c}, {v}, NULL, {count}, {is_local}, {v})")
    })?;
    dialogue.put(&[keys::new_order(w, d, o)], |v| format!("INSERT INTO new_order VALUES ({o}, {d}, {w}, {v})"))?;
    lines.iter().zip(1..).try_for_each(|(line, number)| enter((w, d, o), number, line, dialogue))
}

/// The number of the order; the next one has the next.
fn next_number(w: i64, d: i64, dialogue: &mut Dialogue<'_>) -> Result<i64, Stop> {
    let district = dialogue.row(keys::district(w, d), || {
        format!("SELECT d_next_o_id, d_tax, v FROM district WHERE d_w_id = {w} AND d_id = {d}")
    })?;
    let o = district.int(0)?;
    dialogue.update(keys::district(w, d), |v| {
        format!("UPDATE district SET d_next_o_id = {}, v = {v} WHERE d_w_id = {w} AND d_id = {d}", o + 1)
    })?;
    Ok(o)
}

/// Enters one line of an order, and takes what it says out of the stock.
fn enter((w, d, o): (i64, i64, i64), number: i64, line: &Line, dialogue: &mut Dialogue<'_>) -> Result<(), Stop> {
    let Line { item, supplier, quantity } = *line;
    let sql = || format!("SELECT i_price, i_name, i_data, v FROM item WHERE i_id = {item}");
    let price = dialogue.first(|_| Ok(keys::item(item)), sql)?.int(0)?;
    let stock = dialogue.row(keys::stock(supplier, item), || {
        format!(
            "SELECT s_quantity, s_ytd, s_order_cnt, s_remote_cnt, s_dist_{d:02}, s_data, v FROM stock \
             WHERE s_w_id = {supplier} AND s_i_id = {item}"
        )
    })?;
    let left = stock.int(0)? - quantity;
    let left = if left < STOCK_MIN { left + STOCK_REFILL } else { left };
    let (ytd, order_count) = (stock.int(1)? + quantity, stock.int(2)? + 1);
    let remote_count = stock.int(3)? + i64::from(supplier != w);
    dialogue.update(keys::stock(supplier, item), |v| {
        format!(
            "UPDATE stock SET s_quantity = {left}, s_ytd = {ytd}, s_order_cnt = {order_count}, \
             s_remote_cnt = {remote_count}, v = {v} WHERE s_w_id = {supplier} AND s_i_id = {item}"
        )
    })?;
    let (amount, info) = (quantity * price, stock.text(4)?);
    dialogue.put(&[keys::order_line(w, d, o, number)], |v| {
        format!(
            "INSERT INTO order_line VALUES ({o}, {d}, {w}, {number}, {item}, {supplier}, NULL, {quantity}, {amount}, \
             '{info}', {v})"
        )
    })
}
