//! Reads everything.

use super::super::dialogue::{Dialogue, Row, Script, Stop};
use super::keys;
use super::sizes::Sizes;

/// One transaction over all tables.
pub(super) struct Audit {
    pub(super) sizes: Sizes,
}

impl Script for Audit {
    fn choose(&mut self) {}

    fn run(&self, dialogue: &mut Dialogue<'_>) -> Result<(), Stop> {
        self.rows_that_stay(dialogue)?;
        rows_that_come(dialogue)
    }
}

impl Audit {
    fn rows_that_stay(&self, dialogue: &mut Dialogue<'_>) -> Result<(), Stop> {
        let Sizes { warehouses, customers, .. } = self.sizes;
        let items = self.sizes.items();
        let all = (1..=warehouses).map(keys::warehouse).collect();
        let of = |row: &Row| row.int(0).map(keys::warehouse);
        dialogue.whole_table(of, all, || "SELECT w_id, v FROM warehouse".to_string())?;

        let all = self.sizes.districts().map(|(w, d)| keys::district(w, d)).collect();
        let of = |row: &Row| Ok(keys::district(row.int(0)?, row.int(1)?));
        dialogue.whole_table(of, all, || "SELECT d_w_id, d_id, v FROM district".to_string())?;

        let of_district = |(w, d)| (1..=customers).map(move |c| keys::customer(w, d, c));
        let all = self.sizes.districts().flat_map(of_district).collect();
        let of = |row: &Row| Ok(keys::customer(row.int(0)?, row.int(1)?, row.int(2)?));
        dialogue.whole_table(of, all, || "SELECT c_w_id, c_d_id, c_id, v FROM customer".to_string())?;

        let all = (1..=items).map(keys::item).collect();
        let of = |row: &Row| row.int(0).map(keys::item);
        dialogue.whole_table(of, all, || "SELECT i_id, v FROM item".to_string())?;

        let all = (1..=warehouses).flat_map(|w| (1..=items).map(move |i| keys::stock(w, i))).collect();
        let of = |row: &Row| Ok(keys::stock(row.int(0)?, row.int(1)?));
        dialogue.whole_table(of, all, || "SELECT s_w_id, s_i_id, v FROM stock".to_string())
    }
}

fn rows_that_come(dialogue: &mut Dialogue<'_>) -> Result<(), Stop> {
    dialogue.rows(|row| row.int(0).map(keys::history), || "SELECT h_id, v FROM history".to_string())?;
    let of = |row: &Row| Ok(keys::order(row.int(0)?, row.int(1)?, row.int(2)?));
    dialogue.rows(of, || "SELECT o_w_id, o_d_id, o_id, v FROM orders".to_string())?;
    let of = |row: &Row| Ok(keys::new_order(row.int(0)?, row.int(1)?, row.int(2)?));
    dialogue.rows(of, || "SELECT no_w_id, no_d_id, no_o_id, v FROM new_order".to_string())?;
    let of = |row: &Row| Ok(keys::order_line(row.int(0)?, row.int(1)?, row.int(2)?, row.int(3)?));
    let lines = || "SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, v FROM order_line".to_string();
    dialogue.rows(of, lines).map(drop)
}
