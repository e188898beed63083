//! Rows as items: a table and one number.
//!
//! Keys of TPC-C have up to four parts. They are packed into one number, each part in bits of its own, so that they can be
//! taken apart again for people:
//!
//! ```text
//!   warehouse and district │ order    │ line
//!                          │ 32 bits  │ 4 bits
//! ```

use super::super::super::log::Item;
use super::sizes::DISTRICTS;

const WAREHOUSE: u32 = 0;
const DISTRICT: u32 = 1;
const CUSTOMER: u32 = 2;
const HISTORY: u32 = 3;
const ORDER: u32 = 4;
const NEW_ORDER: u32 = 5;
const ORDER_LINE: u32 = 6;
const ITEM: u32 = 7;
const STOCK: u32 = 8;

/// Bits of the number of an order, a customer or an item.
const NUMBER_BITS: u32 = 32;
/// Bits of the number of a line.
const LINE_BITS: u32 = 4;

/// A warehouse.
pub(super) fn warehouse(w: i64) -> Item {
    Item { table: WAREHOUSE, key: w }
}

/// A district of it.
pub(super) fn district(w: i64, d: i64) -> Item {
    Item { table: DISTRICT, key: place(w, d) }
}

/// A customer of that.
pub(super) fn customer(w: i64, d: i64, c: i64) -> Item {
    Item { table: CUSTOMER, key: numbered(place(w, d), c) }
}

/// A payment.
pub(super) fn history(h: i64) -> Item {
    Item { table: HISTORY, key: h }
}

/// An order.
pub(super) fn order(w: i64, d: i64, o: i64) -> Item {
    Item { table: ORDER, key: numbered(place(w, d), o) }
}

/// The note that an order is to be delivered.
pub(super) fn new_order(w: i64, d: i64, o: i64) -> Item {
    Item { table: NEW_ORDER, key: numbered(place(w, d), o) }
}

/// A line of an order.
pub(super) fn order_line(w: i64, d: i64, o: i64, number: i64) -> Item {
    Item { table: ORDER_LINE, key: numbered(place(w, d), o) << LINE_BITS | number }
}

/// An item of the catalogue.
pub(super) fn item(i: i64) -> Item {
    Item { table: ITEM, key: i }
}

/// What a warehouse has of it.
pub(super) fn stock(w: i64, i: i64) -> Item {
    Item { table: STOCK, key: numbered(w, i) }
}

/// What people call a row: `order line 1/3/3001/4`.
pub(super) fn name(Item { table, key }: Item) -> String {
    let split = |key: i64| (key >> NUMBER_BITS, key & ((1 << NUMBER_BITS) - 1));
    let district = |place: i64| format!("{}/{}", place / DISTRICTS, place % DISTRICTS + 1);
    let below_district = |key: i64| {
        let (place, number) = split(key);
        format!("{}/{number}", district(place))
    };
    match table {
        WAREHOUSE => format!("warehouse {key}"),
        DISTRICT => format!("district {}", district(key)),
        CUSTOMER => format!("customer {}", below_district(key)),
        HISTORY => format!("payment {key}"),
        ORDER => format!("order {}", below_district(key)),
        NEW_ORDER => format!("new order {}", below_district(key)),
        ORDER_LINE => {
            let line = key & ((1 << LINE_BITS) - 1);
            format!("order line {}/{line}", below_district(key >> LINE_BITS))
        }
        ITEM => format!("item {key}"),
        _ => {
            let (w, i) = split(key);
            format!("stock {w}/{i}")
        }
    }
}

fn place(w: i64, d: i64) -> i64 {
    w * DISTRICTS + d - 1
}

fn numbered(place: i64, number: i64) -> i64 {
    place << NUMBER_BITS | number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_names() {
        let check = |item, expect: &str| assert_eq!(name(item), expect);
        check(warehouse(3), "warehouse 3");
        check(district(3, 10), "district 3/10");
        check(customer(3, 1, 77), "customer 3/1/77");
        check(history(-4), "payment -4");
        check(order(12, 10, 3_000_000), "order 12/10/3000000");
        check(new_order(12, 10, 5), "new order 12/10/5");
        check(order_line(9_999, 10, 3_000_000, 15), "order line 9999/10/3000000/15");
        check(item(8), "item 8");
        check(stock(2, 334), "stock 2/334");
    }
}
