//! Finding a customer, by number or by name.

use super::super::dialogue::{Dialogue, Row, Stop};
use super::choice::{By, Who};
use super::keys;

/// A customer as it was found.
pub(super) struct Customer {
    pub(super) c: i64,
    pub(super) balance: i64,
    pub(super) ytd_payment: i64,
    pub(super) payment_count: i64,
    pub(super) delivery_count: i64,
    row: Row,
}

const COLUMNS: &str =
    "c_id, c_balance, c_ytd_payment, c_payment_cnt, c_delivery_cnt, c_credit, c_data, c_first, c_middle, c_last, v";

impl Customer {
    /// The one who is meant: of several with one name, the one in the middle, ordered by first names (clause 2.5.2.2).
    pub(super) fn find(who: &Who, dialogue: &mut Dialogue<'_>) -> Result<Customer, Stop> {
        let Who { w, d, by } = who;
        let row = match by {
            By::Number(c) => return Customer::of_number(*w, *d, *c, dialogue),
            By::LastName(name) => {
                let of = |row: &Row| Ok(keys::customer(*w, *d, row.int(0)?));
                let rows = dialogue.rows(of, || {
                    format!(
                        "SELECT {COLUMNS} FROM customer WHERE c_w_id = {w} AND c_d_id = {d} AND c_last = '{name}' \
                         ORDER BY c_first"
                    )
                })?;
                rows.get(rows.len().saturating_sub(1) / 2).cloned().ok_or(Stop::RollBack)?
            }
        };
        Customer::of_row(row)
    }

    /// The one with a number.
    pub(super) fn of_number(w: i64, d: i64, c: i64, dialogue: &mut Dialogue<'_>) -> Result<Customer, Stop> {
        let sql = || format!("SELECT {COLUMNS} FROM customer WHERE c_w_id = {w} AND c_d_id = {d} AND c_id = {c}");
        Customer::of_row(dialogue.row(keys::customer(w, d, c), sql)?)
    }

    fn of_row(row: Row) -> Result<Customer, Stop> {
        Ok(Customer {
            c: row.int(0)?,
            balance: row.int(1)?,
            ytd_payment: row.int(2)?,
            payment_count: row.int(3)?,
            delivery_count: row.int(4)?,
            row,
        })
    }

    /// What is known of somebody who does not pay; `None` of all others.
    pub(super) fn bad_credit(&self) -> Result<Option<&str>, Stop> {
        match self.row.text(5)? {
            "BC" => self.row.text(6).map(Some),
            _ => Ok(None),
        }
    }
}
