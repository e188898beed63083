//! The rows that are there at first (clause 4.3), each a function of its position.
//!
//! Whoever loads them may do so in any order: a row depends on nothing but its table and position. There is a position for
//! each of the 15 lines that an order may have; for lines that it does not have, there is no row.

use txloom_core::bulk::{Bulk, Cells};
use txloom_core::generate::random::Random;

use super::nurand::{NuRand, last_name};
use super::schema::SCHEMA;
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

/// The rows of a table.
pub(super) struct Rows {
    table: Table,
    columns: Vec<String>,
    sizes: Sizes,
}

impl Rows {
    /// Of so many of everything.
    pub(super) fn new(table: Table, sizes: Sizes) -> Rows {
        Rows { table, columns: table.columns().iter().map(ToString::to_string).collect(), sizes }
    }
}

impl Bulk for Rows {
    fn table(&self) -> &str {
        self.table.name()
    }

    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn positions(&self) -> u64 {
        self.table.positions(&self.sizes) as u64
    }

    fn row(&self, position: u64, cells: &mut Cells) -> bool {
        let sizes = &self.sizes;
        let random = &mut Random::new(SEED, &[self.table as u64, position]);
        let position = position as i64;
        match self.table {
            Table::Warehouse => warehouse(sizes, position, random, cells),
            Table::District => district(sizes, position, random, cells),
            Table::Item => item(position, random, cells),
            Table::Customer => customer(sizes, position, random, cells),
            Table::Stock => stock(sizes, position, random, cells),
            Table::History => history(sizes, position, random, cells),
            Table::Orders => order(sizes, position, cells),
            Table::NewOrder => {
                let (w, d, number) = place(sizes.customers - sizes.delivered(), position);
                numbers(cells, &[number + sizes.delivered(), d, w]);
            }
            Table::OrderLine => return order_line(sizes, position, random, cells),
        }
        // The version.
        cells.integer(0);
        true
    }
}

impl Table {
    /// Its name.
    fn name(self) -> &'static str {
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

    /// Its columns, in the order in which the schema has them.
    fn columns(self) -> Vec<&'static str> {
        let start = format!("CREATE TABLE {} (", self.name());
        let definition = SCHEMA.iter().find_map(|statement| statement.strip_prefix(start.as_str())).unwrap_or_default();
        // Keys stand after the columns.
        let columns = definition.split(", ").filter_map(|part| part.split(' ').next());
        columns.take_while(|word| !matches!(*word, "PRIMARY" | "FOREIGN")).collect()
    }

    /// How many positions there are; not every one of them has a row.
    fn positions(self, sizes: &Sizes) -> i64 {
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
}

fn numbers(cells: &mut Cells, numbers: &[i64]) {
    numbers.iter().for_each(|number| cells.integer(*number));
}

/// Warehouse, district, and a number from 1: of so many for each district, the one of a position.
fn place(per_district: i64, position: i64) -> (i64, i64, i64) {
    let district = position / per_district;
    (district / DISTRICTS + 1, district % DISTRICTS + 1, position % per_district + 1)
}

fn warehouse(sizes: &Sizes, position: i64, random: &mut Random, cells: &mut Cells) {
    cells.integer(position + 1);
    cells.text(&letters(random, 6));
    address(random, cells);
    let ytd = FIRST_PAYMENT * sizes.customers * DISTRICTS;
    numbers(cells, &[random.between(0, 2_000), ytd]);
}

fn district(sizes: &Sizes, position: i64, random: &mut Random, cells: &mut Cells) {
    numbers(cells, &[position % DISTRICTS + 1, position / DISTRICTS + 1]);
    cells.text(&letters(random, 6));
    address(random, cells);
    let ytd = FIRST_PAYMENT * sizes.customers;
    numbers(cells, &[random.between(0, 2_000), ytd, sizes.customers + 1]);
}

/// Two streets, city, state and zip code.
fn address(random: &mut Random, cells: &mut Cells) {
    [10, 10, 10, 2].iter().for_each(|count| cells.text(&letters(random, *count)));
    cells.text(&format!("{}11111", digits(random, 4)));
}

fn item(position: i64, random: &mut Random, cells: &mut Cells) {
    numbers(cells, &[position + 1, random.between(1, 10_000)]);
    cells.text(&letters(random, 14));
    cells.integer(random.between(100, 10_000));
    cells.text(&data(random));
}

fn customer(sizes: &Sizes, position: i64, random: &mut Random, cells: &mut Cells) {
    let (w, d, c) = place(sizes.customers, position);
    // The first ones have all the names; who comes after them has one of those.
    let name = match c <= sizes.names() {
        true => c - 1,
        false => NuRand::names(sizes, &mut Random::new(SEED, &[])).next(random),
    };
    numbers(cells, &[c, d, w]);
    [letters(random, 8).as_str(), "OE", &last_name(name)].iter().for_each(|text| cells.text(text));
    address(random, cells);
    cells.text(&digits(random, 16));
    cells.integer(0);
    cells.text(if random.chance(1, 10) { "BC" } else { "GC" });
    let (limit, discount) = (5_000_000, random.between(0, 5_000));
    numbers(cells, &[limit, discount, -FIRST_PAYMENT, FIRST_PAYMENT, 1, 0]);
    cells.text(&letters(random, 30));
}

fn stock(sizes: &Sizes, position: i64, random: &mut Random, cells: &mut Cells) {
    let (w, i) = (position / sizes.items() + 1, position % sizes.items() + 1);
    numbers(cells, &[i, w, random.between(10, 100)]);
    (0..DISTRICTS).for_each(|_| cells.text(&letters(random, 24)));
    numbers(cells, &[0, 0, 0]);
    cells.text(&data(random));
}

fn history(sizes: &Sizes, position: i64, random: &mut Random, cells: &mut Cells) {
    let (w, d, c) = place(sizes.customers, position);
    // Later ones are numbered by their versions, which are positive.
    numbers(cells, &[-1 - position, c, d, w, d, w, 0, FIRST_PAYMENT]);
    cells.text(&letters(random, 12));
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

fn order(sizes: &Sizes, position: i64, cells: &mut Cells) {
    let FirstOrder { w, d, o, customer, line_count, carrier } = FirstOrder::of(sizes, position);
    numbers(cells, &[o, d, w, customer, 0]);
    match carrier {
        Some(carrier) => cells.integer(carrier),
        None => cells.null(),
    }
    numbers(cells, &[line_count, 1]);
}

/// False for a line that the order does not have.
fn order_line(sizes: &Sizes, position: i64, random: &mut Random, cells: &mut Cells) -> bool {
    let FirstOrder { w, d, o, line_count, carrier, .. } = FirstOrder::of(sizes, position / LINES_MAX);
    let number = position % LINES_MAX + 1;
    if number > line_count {
        return false;
    }
    numbers(cells, &[o, d, w, number, random.between(1, sizes.items()), w]);
    let amount = random.between(1, 999_999);
    match carrier {
        Some(_) => numbers(cells, &[0, 5, 0]),
        None => {
            cells.null();
            numbers(cells, &[5, amount]);
        }
    }
    cells.text(&letters(random, 24));
    cells.integer(0);
    true
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
        let mut cells = Cells::default();
        let mut row = |table: Table, position| {
            cells.clear();
            let rows = Rows::new(table, sizes);
            rows.row(position, &mut cells).then(|| {
                assert_eq!(cells.len(), rows.columns.len(), "{table:?}");
                cells.iter().map(|cell| cell.to_value().to_string()).collect::<Vec<_>>()
            })
        };
        let mut count = |table: Table| (0..table.positions(&sizes) as u64).filter_map(|at| row(table, at)).count();
        assert_eq!(TABLES.map(&mut count)[..8], [2, 20, 333, 200, 666, 200, 200, 60]);
        let lines = count(Table::OrderLine);
        assert!((1_500..2_500).contains(&lines), "{lines}");
        assert_eq!(row(Table::Customer, 199).unwrap()[..3], ["10", "10", "2"]);
        assert_eq!(row(Table::NewOrder, 0).unwrap(), ["8", "1", "1", "0"]);
        assert_eq!(Table::NewOrder.columns(), ["no_o_id", "no_d_id", "no_w_id", "v"]);
    }
}
