//! What a terminal asks for: all that clauses 2.4 to 2.8 leave to chance.

use txloom_core::generate::random::Random;

use super::super::dialogue::{Dialogue, Script, Stop};
use super::nurand::{NuRand, last_name};
use super::sizes::{DISTRICTS, LINES_MAX, LINES_MIN, Sizes};
use super::{delivery, new_order, payment, queries};

/// A transaction with all its choices.
#[derive(Debug, Clone)]
pub(super) enum Choice {
    NewOrder(NewOrder),
    Payment(Payment),
    OrderStatus(Who),
    Delivery { w: i64, carrier: i64 },
    StockLevel { w: i64, d: i64, threshold: i64 },
}

/// How many in a hundred are NewOrder, Payment, OrderStatus, Delivery and StockLevel (clause 5.2.3).
const MIX: [u64; 5] = [45, 43, 4, 4, 4];

/// A customer, by number or by last name.
#[derive(Debug, Clone)]
pub(super) struct Who {
    pub(super) w: i64,
    pub(super) d: i64,
    pub(super) by: By,
}

/// How a customer is found.
#[derive(Debug, Clone)]
pub(super) enum By {
    Number(i64),
    LastName(String),
}

/// An order that is to be entered.
#[derive(Debug, Clone)]
pub(super) struct NewOrder {
    pub(super) w: i64,
    pub(super) d: i64,
    pub(super) c: i64,
    pub(super) lines: Vec<Line>,
}

/// A line of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    /// The item; one that does not exist makes the transaction give up.
    pub(super) item: i64,
    pub(super) supplier: i64,
    pub(super) quantity: i64,
}

/// A payment that is to be entered, at a warehouse that need not be the customer's.
#[derive(Debug, Clone)]
pub(super) struct Payment {
    pub(super) w: i64,
    pub(super) d: i64,
    pub(super) who: Who,
    pub(super) amount: i64,
}

/// The transactions of one session: of a terminal that belongs to a warehouse and a district.
pub(super) struct Session {
    sizes: Sizes,
    w: i64,
    d: i64,
    random: Random,
    names: NuRand,
    customers: NuRand,
    items: NuRand,
    choice: Choice,
}

impl Session {
    pub(super) fn new(sizes: Sizes, seed: u64, session: usize) -> Session {
        // Which customers and items are frequent is the same for all sessions.
        let common = &mut Random::new(seed, &[]);
        let at = session as i64;
        let (w, d) = (at % sizes.warehouses + 1, at / sizes.warehouses % DISTRICTS + 1);
        Session {
            sizes,
            w,
            d,
            random: Random::new(seed, &[session as u64]),
            names: NuRand::names(&sizes, common),
            customers: NuRand::customers(&sizes, common),
            items: NuRand::items(&sizes, common),
            choice: Choice::Delivery { w, carrier: 1 },
        }
    }

    fn new_order(&mut self) -> NewOrder {
        let (d, c) = (self.random.between(1, DISTRICTS), self.customers.next(&mut self.random));
        let count = self.random.between(LINES_MIN, LINES_MAX);
        let mut lines: Vec<Line> = (0..count).map(|_| self.line()).collect();
        // Clause 2.4.1.4: one in a hundred has an item that does not exist, and finds that out at the end.
        if self.random.chance(1, 100)
            && let Some(last) = lines.last_mut()
        {
            last.item = self.sizes.items() + 1;
        }
        NewOrder { w: self.w, d, c, lines }
    }

    fn line(&mut self) -> Line {
        let item = self.items.next(&mut self.random);
        let is_remote = self.random.chance(1, 100);
        let supplier = if is_remote { self.other_warehouse() } else { self.w };
        Line { item, supplier, quantity: self.random.between(1, 10) }
    }

    fn payment(&mut self) -> Payment {
        let d = self.random.between(1, DISTRICTS);
        let (customers_w, customers_d) = match self.random.chance(15, 100) && self.sizes.warehouses > 1 {
            true => (self.other_warehouse(), self.random.between(1, DISTRICTS)),
            false => (self.w, d),
        };
        let who = self.who(customers_w, customers_d);
        Payment { w: self.w, d, who, amount: self.random.between(100, 500_000) }
    }

    /// Six in ten give their names.
    fn who(&mut self, w: i64, d: i64) -> Who {
        let by = match self.random.chance(60, 100) {
            true => By::LastName(last_name(self.names.next(&mut self.random))),
            false => By::Number(self.customers.next(&mut self.random)),
        };
        Who { w, d, by }
    }

    /// Any warehouse but the terminal's, if there is another.
    fn other_warehouse(&mut self) -> i64 {
        if self.sizes.warehouses == 1 {
            return self.w;
        }
        let other = self.random.between(1, self.sizes.warehouses - 1);
        if other >= self.w { other + 1 } else { other }
    }
}

impl Script for Session {
    fn choose(&mut self) {
        let (w, d) = (self.w, self.d);
        self.choice = match self.random.weighted(&MIX) {
            Some(0) => Choice::NewOrder(self.new_order()),
            Some(1) => Choice::Payment(self.payment()),
            Some(2) => {
                let d = self.random.between(1, DISTRICTS);
                Choice::OrderStatus(self.who(w, d))
            }
            Some(3) => Choice::Delivery { w, carrier: self.random.between(1, 10) },
            _ => Choice::StockLevel { w, d, threshold: self.random.between(10, 20) },
        };
    }

    fn run(&self, dialogue: &mut Dialogue<'_>) -> Result<(), Stop> {
        match &self.choice {
            Choice::NewOrder(order) => new_order::run(order, dialogue),
            Choice::Payment(payment) => payment::run(payment, dialogue),
            Choice::OrderStatus(who) => queries::order_status(who, dialogue),
            Choice::Delivery { w, carrier } => delivery::run(*w, *carrier, dialogue),
            Choice::StockLevel { w, d, threshold } => queries::stock_level(*w, *d, *threshold, dialogue),
        }
    }
}
