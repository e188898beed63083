//! The rows that are there at first (clause 4.3), each a function of its position.
//!
//! Whoever loads them may do so in any order: a row depends on nothing but its table and position. A position of an order's
//! sixteenth line, say, has no row.

use std::fmt;

use txloom_core::generate::random::Random;

use super::nurand::{NuRand, last_name};
use super::sizes::{DISTRICTS, LINES_MAX, LINES_MIN, Sizes};

/// What the random parts of rows follow from. The same rows for every storm: what differs is what is done with them.
const SEED: u64 = 0x7063_6374;

/// What each customer has paid at first, in cents.
const FIRST_PAYMENT: i64 = 1_000;

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Warehouse,
    District,
    Item,
    Customer,
    Stock,
    History,
    Orders,
    NewOrder,
    OrderLine,
}

/// All tables; each refers only to those before it.
pub(super) const TABLES: [Table; 9] = [
    Table::Warehouse,
    Table::District,
    Table::Item,
    Table::Customer,
    Table::Stock,
    Table::History,
    Table::Orders,
    Table::NewOrder,
    Table::OrderLine,
];

/// A value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
    Null,
    Int(i64),
    Text(String),
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Null => f.write_str("NULL"),
            Cell::Int(number) => number.fmt(f),
            Cell::Text(text) => write!(f, "'{text}'"),
        }
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Cell {
        Cell::Int(number)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_string())
    }
}

impl From<Option<i64>> for Cell {
    fn from(number: Option<i64>) -> Cell {
        number.map_or(Cell::Null, Cell::Int)
    }
}

/// A row as SQL writes it.
pub(super) fn tuple(row: &[Cell]) -> String {
    let cells: Vec<String> = row.iter().map(ToString::to_string).collect();
    format!("({})", cells.join(", "))
}

/// Cells of anything that can be one.
macro_rules! row {
    ($($cell:expr),* $(,)?) => { vec![$(Cell::from($cell)),*] };
}

impl Table {
    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Table::Warehouse => "warehouse",
            Table::District => "district",
            Table::Item => "item",
            Table::Customer => "customer",
            Table::Stock => "stock",
            Table::History => "history",
            Table::Orders => "orders",
            Table::NewOrder => "new_order",
            Table::OrderLine => "order_line",
        }
    }

    /// How many positions there are; not every one of them has a row.
    pub(super) fn positions(self, sizes: &Sizes) -> i64 {
        let districts = sizes.warehouses * DISTRICTS;
        match self {
            Table::Warehouse => sizes.warehouses,
            Table::District => districts,
            Table::Item => sizes.items(),
            Table::Stock => sizes.warehouses * sizes.items(),
            Table::Customer | Table::History | Table::Orders => districts * sizes.customers,
            Table::NewOrder => districts * (sizes.customers - sizes.delivered()),
            Table::OrderLine => districts * sizes.customers * LINES_MAX,
        }
    }

    /// The row of a position, from 0.
    pub(super) fn row(self, sizes: &Sizes, position: i64) -> Option<Vec<Cell>> {
        let random = &mut Random::new(SEED, &[self as u64, position as u64]);
        match self {
            Table::Warehouse => Some(warehouse(sizes, position, random)),
            Table::District => Some(district(sizes, position, random)),
            Table::Item => Some(item(position, random)),
            Table::Customer => Some(customer(sizes, position, random)),
            Table::Stock => Some(stock(sizes, position, random)),
            Table::History => Some(history(sizes, position, random)),
            Table::Orders => Some(order(sizes, position)),
            Table::NewOrder => {
                let (w, d, number) = place(sizes.customers - sizes.delivered(), position);
                Some(row![number + sizes.delivered(), d, w, 0])
            }
            Table::OrderLine => order_line(sizes, position, random),
        }
    }
}

/// Warehouse, district, and a number from 1: of so many for each district, the one of a position.
fn place(per_district: i64, position: i64) -> (i64, i64, i64) {
    let district = position / per_district;
    (district / DISTRICTS + 1, district % DISTRICTS + 1, position % per_district + 1)
}

fn warehouse(sizes: &Sizes, position: i64, random: &mut Random) -> Vec<Cell> {
    let mut row = row![position + 1];
    row.extend(name_and_address(random));
    let ytd = FIRST_PAYMENT * sizes.customers * DISTRICTS;
    row.extend(row![random.between(0, 2_000), ytd, 0]);
    row
}

fn district(sizes: &Sizes, position: i64, random: &mut Random) -> Vec<Cell> {
    let mut row = row![position % DISTRICTS + 1, position / DISTRICTS + 1];
    row.extend(name_and_address(random));
    let ytd = FIRST_PAYMENT * sizes.customers;
    row.extend(row![random.between(0, 2_000), ytd, sizes.customers + 1, 0]);
    row
}

fn name_and_address(random: &mut Random) -> Vec<Cell> {
    let mut row = row![letters(random, 6)];
    row.extend(address(random));
    row
}

fn address(random: &mut Random) -> Vec<Cell> {
    let zip = format!("{}11111", digits(random, 4));
    row![letters(random, 10), letters(random, 10), letters(random, 10), letters(random, 2), zip]
}

fn item(position: i64, random: &mut Random) -> Vec<Cell> {
    let (image, price) = (random.between(1, 10_000), random.between(100, 10_000));
    row![position + 1, image, letters(random, 14), price, data(random), 0]
}

fn customer(sizes: &Sizes, position: i64, random: &mut Random) -> Vec<Cell> {
    let (w, d, c) = place(sizes.customers, position);
    // The first ones have all the names; who comes after them has one of those.
    let name = if c <= sizes.names() { c - 1 } else { NuRand::names(sizes, &mut Random::new(SEED, &[])).next(random) };
    let mut row = row![c, d, w, letters(random, 8), "OE", last_name(name)];
    row.extend(address(random));
    let credit = if random.chance(1, 10) { "BC" } else { "GC" };
    let discount = random.between(0, 5_000);
    row.extend(row![digits(random, 16), 0, credit, 5_000_000, discount, -FIRST_PAYMENT, FIRST_PAYMENT, 1, 0]);
    row.extend(row![letters(random, 30), 0]);
    row
}

fn stock(sizes: &Sizes, position: i64, random: &mut Random) -> Vec<Cell> {
    let (w, i) = (position / sizes.items() + 1, position % sizes.items() + 1);
    let mut row = row![i, w, random.between(10, 100)];
    row.extend((0..DISTRICTS).map(|_| Cell::from(letters(random, 24))));
    row.extend(row![0, 0, 0, data(random), 0]);
    row
}

fn history(sizes: &Sizes, position: i64, random: &mut Random) -> Vec<Cell> {
    let (w, d, c) = place(sizes.customers, position);
    // Later ones are numbered by their versions, which are positive.
    row![-1 - position, c, d, w, d, w, 0, FIRST_PAYMENT, letters(random, 12), 0]
}

/// An order that is there at first.
struct FirstOrder {
    w: i64,
    d: i64,
    o: i64,
    customer: i64,
    line_count: i64,
    carrier: Option<i64>,
}

impl FirstOrder {
    fn of(sizes: &Sizes, position: i64) -> FirstOrder {
        let (w, d, o) = place(sizes.customers, position);
        let random = &mut Random::new(SEED, &[Table::Orders as u64, position as u64]);
        let (line_count, carrier) = (random.between(LINES_MIN, LINES_MAX), random.between(1, 10));
        let customer = one_of_each(sizes.customers, w * DISTRICTS + d, o);
        FirstOrder { w, d, o, customer, line_count, carrier: Some(carrier).filter(|_| o <= sizes.delivered()) }
    }
}

/// Numbers from 1 in a random order that is a function of the district: the one at a place, from 1.
fn one_of_each(count: i64, district: i64, at: i64) -> i64 {
    let random = &mut Random::new(SEED, &[99, district as u64]);
    let shift = random.between(0, count - 1);
    // A factor without a common divisor meets every number once.
    let mut factor = random.between(1, count);
    while greatest_common_divisor(factor, count) != 1 {
        factor += 1;
    }
    (at * factor + shift) % count + 1
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

fn order(sizes: &Sizes, position: i64) -> Vec<Cell> {
    let FirstOrder { w, d, o, customer, line_count, carrier } = FirstOrder::of(sizes, position);
    row![o, d, w, customer, 0, carrier, line_count, 1, 0]
}

fn order_line(sizes: &Sizes, position: i64, random: &mut Random) -> Option<Vec<Cell>> {
    let order = FirstOrder::of(sizes, position / LINES_MAX);
    let number = position % LINES_MAX + 1;
    if number > order.line_count {
        return None;
    }
    let FirstOrder { w, d, o, carrier, .. } = order;
    let item = random.between(1, sizes.items());
    let open_amount = random.between(1, 999_999);
    let (amount, delivered) = if carrier.is_some() { (0, Some(0)) } else { (open_amount, None) };
    Some(row![o, d, w, number, item, w, delivered, 5, amount, letters(random, 24), 0])
}

/// What a catalogue says of an item: one in ten is an original.
fn data(random: &mut Random) -> String {
    let text = letters(random, 26);
    if random.chance(1, 10) { format!("{}ORIGINAL", &text[8..]) } else { text }
}

fn letters(random: &mut Random, count: usize) -> String {
    (0..count).map(|_| char::from(b'a' + random.below(26) as u8)).collect()
}

fn digits(random: &mut Random, count: usize) -> String {
    (0..count).map(|_| char::from(b'0' + random.below(10) as u8)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_customer_has_one_order() {
        for customers in [10, 12, 99, 128] {
            let all: BTreeSet<i64> = (1..=customers).map(|at| one_of_each(customers, 13, at)).collect();
            assert_eq!(all, (1..=customers).collect());
        }
    }

    #[test]
    fn rows_are_where_they_should_be() {
        let sizes = Sizes { warehouses: 2, customers: 10 };
        let count = |table: Table| (0..table.positions(&sizes)).filter_map(|at| table.row(&sizes, at)).count() as i64;
        assert_eq!(TABLES.map(count)[..8], [2, 20, 333, 200, 666, 200, 200, 60]);
        let lines = count(Table::OrderLine);
        assert!((1_500..2_500).contains(&lines), "{lines}");
        let last = Table::Customer.row(&sizes, 199).unwrap();
        assert_eq!(last[..3], row![10, 10, 2]);
        let first_open = Table::NewOrder.row(&sizes, 0).unwrap();
        assert_eq!(first_open, row![8, 1, 1, 0]);
    }
}
