//! TPC-C: a wholesale supplier with warehouses, districts, customers, orders and stock.
//!
//! The five transactions on nine tables of the TPC's benchmark (*TPC Benchmark C, Standard Specification, Revision 5.11*),
//! in its mix. It is not a measurement: nobody thinks or types, nothing is scored. It is here because its transactions are
//! as long and as entangled as those of applications, and because the specification says what must be true of the data
//! whatever happens: the twelve consistency conditions of its clause 3.3.2 are our [invariants](conditions).
//!
//! ```text
//!   45 %  NewOrder     next number of the district; order, its 5 to 15 lines, what is left in stock; 1 % change their mind
//!   43 %  Payment      year-to-date sums of warehouse and district, the customer's balance, a line in the history
//!    4 %  OrderStatus  the customer's last order and its lines
//!    4 %  Delivery     the oldest new order of each district: carrier, dates, the customer's balance
//!    4 %  StockLevel   what of the last 20 orders of a district is about to run out
//! ```
//!
//! # Where this differs from the specification
//!
//! * **Small.** All counts are in the specification's proportions, but there are fewer customers to a district, so that
//!   transactions meet ([`Sizes`]). Texts are as short as the specification lets them be, or shorter.
//! * **Versions.** Every row has a column `v`. Each statement that writes a row gives it a version of its own, and each
//!   that reads one reads its version. Sums and counters are read, computed here, and written back, as applications do
//!   it. So the history tells everything that a transaction depends on, and a level that loses updates loses payments.
//! * **Whole numbers.** Amounts are cents, taxes and discounts are ten-thousandths: sums are exact on every engine.
//! * **No clocks.** A date is a version: the same seed asks for the same things.
//! * **History** has a key of its own (`h_id`), so that a row can be told from others.
//! * Delivery takes all ten districts in one transaction, which the specification leaves open.
//!
//! Rows of `orders`, `order_line`, `history` and `new_order` come, and those of `new_order` go again. Inserting, changing
//! and deleting a row are writes of it. That a row is not there is not logged: it says nothing of versions.

mod sizes;
mod keys;
mod schema;
mod population;
mod nurand;
mod choice;
mod customers;
mod new_order;
mod payment;
mod delivery;
mod queries;
mod conditions;
mod audit;

use txloom_core::bulk::Bulk;

use super::super::choice::RollbackShares;
use super::super::invariant::Invariant;
use super::super::log::Item;
use super::dialogue::Scripted;
use super::{Scale, Transactions, Versions, Workload};
use audit::Audit;
use choice::Session;
use population::{Rows, TABLES};
use sizes::Sizes;

/// The name of the profile.
pub(super) const NAME: &str = "tpcc";

/// The workload.
#[derive(Debug, Clone, Copy)]
pub struct Tpcc {
    sizes: Sizes,
    sessions: usize,
}

impl Tpcc {
    /// With about as many customers as there are keys.
    pub fn new(scale: Scale) -> Tpcc {
        Tpcc { sizes: Sizes::of(scale.keys), sessions: scale.sessions }
    }
}

impl Workload for Tpcc {
    fn name(&self) -> &'static str {
        NAME
    }

    fn setup(&self) -> Vec<String> {
        schema::SCHEMA.iter().map(ToString::to_string).collect()
    }

    fn population(&self) -> Vec<Box<dyn Bulk + '_>> {
        TABLES.iter().map(|table| Box::new(Rows::new(*table, self.sizes)) as Box<dyn Bulk>).collect()
    }

    fn session(&self, seed: u64, session: usize) -> Box<dyn Transactions> {
        Box::new(Scripted::new(Session::new(self.sizes, seed, session), Versions::of(session, self.sessions)))
    }

    fn audit(&self) -> Box<dyn Transactions> {
        // It takes no versions.
        Box::new(Scripted::new(Audit { sizes: self.sizes }, Versions::of(0, 1)))
    }

    /// One NewOrder in a hundred changes its mind as it is.
    fn rollbacks(&self) -> RollbackShares {
        RollbackShares { whole: 0, ..RollbackShares::default() }
    }

    fn item_name(&self, item: Item) -> String {
        keys::name(item)
    }

    fn invariants(&self) -> Vec<Invariant> {
        conditions::all(&self.sizes)
    }
}

#[cfg(test)]
mod tests;
