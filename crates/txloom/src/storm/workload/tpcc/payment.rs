//! Payment (clause 2.5): a customer pays, at any warehouse.

use super::super::dialogue::{Dialogue, Stop};
use super::choice::{Payment, Who};
use super::customers::Customer;
use super::keys;

/// How much of a customer's data is kept.
const DATA_MAX: usize = 500;

/// The transaction.
pub(super) fn run(payment: &Payment, dialogue: &mut Dialogue<'_>) -> Result<(), Stop> {
    let Payment { w, d, ref who, amount } = *payment;
    let warehouse =
        dialogue.row(keys::warehouse(w), || format!("SELECT w_ytd, w_name, v FROM warehouse WHERE w_id = {w}"))?;
    let ytd = warehouse.int(0)? + amount;
    dialogue.update(keys::warehouse(w), |v| format!("UPDATE warehouse SET w_ytd = {ytd}, v = {v} WHERE w_id = {w}"))?;
    let district = dialogue.row(keys::district(w, d), || {
        format!("SELECT d_ytd, d_name, v FROM district WHERE d_w_id = {w} AND d_id = {d}")
    })?;
    let ytd = district.int(0)? + amount;
    dialogue.update(keys::district(w, d), |v| {
        format!("UPDATE district SET d_ytd = {ytd}, v = {v} WHERE d_w_id = {w} AND d_id = {d}")
    })?;
    let customer = Customer::find(who, dialogue)?;
    pay(payment, &customer, dialogue)?;
    let h = dialogue.version();
    let (c, data) = (customer.c, format!("{}    {}", warehouse.text(1)?, district.text(1)?));
    dialogue.put(&[keys::history(h)], |v| {
        let (cw, cd) = (who.w, who.d);
        format!("INSERT INTO history VALUES ({h}, {c}, {cd}, {cw}, {d}, {w}, {v}, {amount}, '{data}', {v})")
    })
}

/// The customer's account. Of somebody with bad credit every payment is written down.
fn pay(payment: &Payment, customer: &Customer, dialogue: &mut Dialogue<'_>) -> Result<(), Stop> {
    let Payment { w, d, who: Who { w: cw, d: cd, .. }, amount } = payment;
    let c = customer.c;
    let data = customer.bad_credit()?.map(|data| {
        let longer = format!("{c} {cd} {cw} {d} {w} {amount} {data}");
        let longer: String = longer.chars().take(DATA_MAX).collect();
        format!("c_data = '{longer}', ")
    });
    let data = data.unwrap_or_default();
    let (balance, ytd) = (customer.balance - amount, customer.ytd_payment + amount);
    let count = customer.payment_count + 1;
    dialogue.update(keys::customer(*cw, *cd, c), |v| {
        format!(
            "UPDATE customer SET {data}c_balance = {balance}, c_ytd_payment = {ytd}, c_payment_cnt = {count}, v = {v} \
             WHERE c_w_id = {cw} AND c_d_id = {cd} AND c_id = {c}"
        )
    })
}
