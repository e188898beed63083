//! SmallBank: customers with a savings account and a checking account each.
//!
//! The benchmark of Alomari, Cahill, Fekete and Röhm (*The Cost of Serializability on Platforms That Use Snapshot
//! Isolation*, ICDE 2008), with the transfer that later versions have. Its transactions are small and read before they
//! write, and all but a tenth of the accesses go to a tenth of the customers, so they meet:
//!
//! ```text
//!   Balance           reads      savings, checking
//!   DepositChecking   writes               checking + amount
//!   TransactSavings   writes     savings + amount                    gives up if that is negative
//!   Amalgamate        writes     savings = 0, checking = 0, and the other's checking + both
//!   WriteCheck        reads      savings; writes checking − amount   one more if both are not enough
//!   SendPayment       writes     checking − amount, the other's checking + amount; gives up if that is too much
//! ```
//!
//! Every balance is read, computed here, and written back: nothing that a transaction depends on is hidden from the
//! history, and a level that loses updates loses money. At snapshot isolation, WriteCheck, TransactSavings and Balance
//! on one customer are the well-known anomaly: the checker reports it, no balance is wrong.
//!
//! **The money.** Each transaction that moves money writes down what it did in a `ledger`, one row for each customer
//! concerned, before it commits. Then the invariants are queries: what an account holds is what it held at first and what
//! the ledger says. That is sound under kills, too, since a transaction of unknown fate is in the ledger or is not, and
//! with it everything else that it did. Whether all that was *acknowledged* is there, the ledger cannot know: that is
//! what versions are for.

mod transactions;

use txloom_core::bulk::{Bulk, Cells};
use txloom_core::level::formal::Level;

use super::super::invariant::Invariant;
use super::super::log::Item;
use super::dialogue::{Dialogue, Row, Script, Scripted, Stop};
use super::{Scale, Transactions, Versions, Workload};
use transactions::Session;

/// The name of the profile.
pub(super) const NAME: &str = "smallbank";

/// What every account holds at first.
const OPENING: i64 = 100;

/// The table of names, as a number for [`Item`].
const ACCOUNTS: u32 = 0;
/// The table of savings accounts.
const SAVINGS: u32 = 1;
/// The table of checking accounts.
const CHECKING: u32 = 2;
/// The table of what was done.
const LEDGER: u32 = 3;

/// The workload.
#[derive(Debug, Clone, Copy)]
pub struct SmallBank {
    customers: usize,
    sessions: usize,
}

impl SmallBank {
    /// As many customers as there are keys; two at least, since money goes from one to another.
    pub fn new(scale: Scale) -> SmallBank {
        SmallBank { customers: scale.keys.max(2), sessions: scale.sessions }
    }

    fn invariant(name: &'static str, from: Level, says: &str, query: String) -> Invariant {
        Invariant { name, says: says.to_string(), query, from }
    }
}

impl Workload for SmallBank {
    fn name(&self) -> &'static str {
        NAME
    }

    fn setup(&self) -> Vec<String> {
        SCHEMA.iter().map(ToString::to_string).collect()
    }

    fn population(&self) -> Vec<Box<dyn Bulk + '_>> {
        let accounts = Opening::new("accounts", "name", self.customers, |customer, cells| cells.text(&name(customer)));
        let of = |table| Opening::new(table, "bal", self.customers, |_, cells| cells.integer(OPENING));
        vec![Box::new(accounts), Box::new(of("savings")), Box::new(of("checking"))]
    }

    fn session(&self, seed: u64, session: usize) -> Box<dyn Transactions> {
        let script = Session::new(self.customers, seed, session);
        Box::new(Scripted::new(script, Versions::of(session, self.sessions)))
    }

    fn audit(&self) -> Box<dyn Transactions> {
        // It takes no versions.
        Box::new(Scripted::new(Audit { customers: self.customers as i64 }, Versions::of(0, 1)))
    }

    fn item_name(&self, item: Item) -> String {
        match item.table {
            ACCOUNTS => format!("account {}", item.key),
            SAVINGS => format!("savings {}", item.key),
            CHECKING => format!("checking {}", item.key),
            _ => format!("ledger {}/{}", item.key / 2, item.key % 2),
        }
    }

    /// Whoever writes a balance has read it: if no update is lost, each writer saw the one before it, and the money is
    /// there from cursor stability on. Both sides of a transfer are written by one statement, and nobody computes a
    /// negative balance of a savings account: that holds from read committed on.
    fn invariants(&self) -> Vec<Invariant> {
        let all_opened = 2 * OPENING * self.customers as i64;
        vec![
            SmallBank::invariant(
                "money",
                Level::CursorStability,
                "all accounts together hold what they held at first and what the ledger says",
                format!(
                    "SELECT held, booked FROM (SELECT (SELECT SUM(bal) FROM savings) + (SELECT SUM(bal) FROM checking) \
                     AS held, {all_opened} + (SELECT COALESCE(SUM(savings + checking), 0) FROM ledger) AS booked) \
                     AS totals WHERE held <> booked"
                ),
            ),
            SmallBank::invariant(
                "accounts",
                Level::CursorStability,
                "each account holds what it held at first and what the ledger says of it",
                format!(
                    "SELECT s.custid, s.bal AS savings, {OPENING} + COALESCE(l.savings, 0) AS savings_booked, \
                     c.bal AS checking, {OPENING} + COALESCE(l.checking, 0) AS checking_booked \
                     FROM savings s JOIN checking c ON c.custid = s.custid LEFT JOIN (SELECT custid, \
                     SUM(savings) AS savings, SUM(checking) AS checking FROM ledger GROUP BY custid) l \
                     ON l.custid = s.custid WHERE s.bal <> {OPENING} + COALESCE(l.savings, 0) \
                     OR c.bal <> {OPENING} + COALESCE(l.checking, 0) ORDER BY s.custid"
                ),
            ),
            SmallBank::invariant(
                "transfers",
                Level::ReadCommitted,
                "a transfer that is in the ledger takes from one customer what it gives to the other",
                "SELECT entry, COUNT(*) AS sides, SUM(savings + checking) AS remainder FROM ledger \
                 WHERE kind IN ('amalgamate', 'send payment') GROUP BY entry \
                 HAVING COUNT(*) <> 2 OR SUM(savings + checking) <> 0 ORDER BY entry"
                    .to_string(),
            ),
            SmallBank::invariant(
                "savings",
                Level::ReadCommitted,
                "nobody owes money to a savings account",
                "SELECT custid, bal FROM savings WHERE bal < 0 ORDER BY custid".to_string(),
            ),
        ]
    }
}

/// The tables. `v` is the version of a row.
const SCHEMA: &[&str] = &[
    "CREATE TABLE accounts (custid BIGINT PRIMARY KEY, name VARCHAR(64) NOT NULL UNIQUE, v BIGINT NOT NULL)",
    "CREATE TABLE savings (custid BIGINT PRIMARY KEY, bal BIGINT NOT NULL, v BIGINT NOT NULL, \
     FOREIGN KEY (custid) REFERENCES accounts (custid))",
    "CREATE TABLE checking (custid BIGINT PRIMARY KEY, bal BIGINT NOT NULL, v BIGINT NOT NULL, \
     FOREIGN KEY (custid) REFERENCES accounts (custid))",
    // A transfer has two sides.
    "CREATE TABLE ledger (entry BIGINT, side INT, custid BIGINT NOT NULL, kind VARCHAR(20) NOT NULL, \
     savings BIGINT NOT NULL, checking BIGINT NOT NULL, v BIGINT NOT NULL, PRIMARY KEY (entry, side), \
     FOREIGN KEY (custid) REFERENCES accounts (custid))",
];

/// The rows of a table with one for each customer.
struct Opening {
    table: &'static str,
    columns: [String; 3],
    customers: usize,
    /// Writes what is between the number of the customer and the version.
    value: fn(i64, &mut Cells),
}

impl Opening {
    fn new(table: &'static str, column: &str, customers: usize, value: fn(i64, &mut Cells)) -> Opening {
        Opening { table, columns: ["custid", column, "v"].map(str::to_string), customers, value }
    }
}

impl Bulk for Opening {
    fn table(&self) -> &str {
        self.table
    }

    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn positions(&self) -> u64 {
        self.customers as u64
    }

    fn row(&self, position: u64, cells: &mut Cells) -> bool {
        let customer = position as i64;
        cells.integer(customer);
        (self.value)(customer, cells);
        cells.integer(0);
        true
    }
}

/// What a customer is called.
fn name(customer: i64) -> String {
    format!("customer {customer}")
}

fn item(table: u32, customer: i64) -> Item {
    Item { table, key: customer }
}

fn ledger(entry: i64, side: i64) -> Item {
    Item { table: LEDGER, key: entry * 2 + side }
}

/// Reads everything.
struct Audit {
    customers: i64,
}

impl Script for Audit {
    fn choose(&mut self) {}

    fn run(&self, dialogue: &mut Dialogue<'_>) -> Result<(), Stop> {
        for (table, name) in [(ACCOUNTS, "accounts"), (SAVINGS, "savings"), (CHECKING, "checking")] {
            let of = |row: &Row| row.int(0).map(|customer| item(table, customer));
            let all = (0..self.customers).map(|customer| item(table, customer)).collect();
            dialogue.whole_table(of, all, || format!("SELECT custid, v FROM {name}"))?;
        }
        let of = |row: &Row| Ok(ledger(row.int(0)?, row.int(1)?));
        dialogue.rows(of, || "SELECT entry, side, v FROM ledger".to_string()).map(drop)
    }
}

#[cfg(test)]
mod tests;
