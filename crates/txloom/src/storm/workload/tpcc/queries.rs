//! OrderStatus and StockLevel (clauses 2.6 and 2.8): they only read.

use std::collections::BTreeSet;

use super::super::dialogue::{Dialogue, Row, Stop};
use super::choice::Who;
use super::customers::Customer;
use super::keys;

/// So many of the last orders are looked at.
const ORDERS_LOOKED_AT: i64 = 20;

/// OrderStatus: a customer's last order.
pub(super) fn order_status(who: &Who, dialogue: &mut Dialogue<'_>) -> Result<(), Stop> {
    let (w, d) = (who.w, who.d);
    let c = Customer::find(who, dialogue)?.c;
    let of = |row: &Row| Ok(keys::order(w, d, row.int(0)?));
    let order = dialogue.first(of, || {
        format!(
            "SELECT o_id, o_entry_d, o_carrier_id, v FROM orders WHERE o_w_id = {w} AND o_d_id = {d} \
             AND o_c_id = {c} ORDER BY o_id DESC LIMIT 1"
        )
    })?;
    let o = order.int(0)?;
    let of = |row: &Row| Ok(keys::order_line(w, d, o, row.int(0)?));
    let lines = dialogue.rows(of, || {
        format!(
            "SELECT ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d, v FROM order_line \
             WHERE ol_w_id = {w} AND ol_d_id = {d} AND ol_o_id = {o}"
        )
    });
    lines.map(drop)
}

/// StockLevel: how many items of the last orders are about to run out. All of them are read, and counted here: who is told
/// only a number sees no version.
pub(super) fn stock_level(w: i64, d: i64, threshold: i64, dialogue: &mut Dialogue<'_>) -> Result<(), Stop> {
    let district = dialogue.row(keys::district(w, d), || {
        format!("SELECT d_next_o_id, v FROM district WHERE d_w_id = {w} AND d_id = {d}")
    })?;
    let next = district.int(0)?;
    let rows = dialogue.joined(
        |row, log| {
            let line = keys::order_line(w, d, row.int(0)?, row.int(1)?);
            log.read(line, row.seen_in(2));
            log.read(keys::stock(w, row.int(3)?), row.seen_in(5));
            Ok(())
        },
        || {
            format!(
                "SELECT l.ol_o_id, l.ol_number, l.v, s.s_i_id, s.s_quantity, s.v FROM order_line l \
                 JOIN stock s ON s.s_w_id = l.ol_w_id AND s.s_i_id = l.ol_i_id WHERE l.ol_w_id = {w} \
                 AND l.ol_d_id = {d} AND l.ol_o_id < {next} AND l.ol_o_id >= {}",
                next - ORDERS_LOOKED_AT
            )
        },
    )?;
    let mut low = BTreeSet::new();
    for row in rows.iter() {
        if row.int(4)? < threshold {
            low.insert(row.int(3)?);
        }
    }
    Ok(())
}
