//! The six transactions.

use txloom_core::generate::random::Random;

use super::super::dialogue::{Dialogue, Script, Stop};
use super::{ACCOUNTS, CHECKING, SAVINGS, item, ledger, name};

/// The largest amount; accounts hold twice as much at first, so that some withdrawals are too large.
const AMOUNT_MAX: i64 = 50;
/// One customer in so many is hot.
const HOT_SHARE: usize = 10;
/// So many accesses in a hundred are to hot customers.
const HOT_PERCENT: usize = 90;

/// A kind of transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Balance,
    DepositChecking,
    TransactSavings,
    Amalgamate,
    WriteCheck,
    SendPayment,
}

/// Every kind, and how many in a hundred.
const MIX: [(Kind, u64); 6] = [
    (Kind::Balance, 15),
    (Kind::DepositChecking, 15),
    (Kind::TransactSavings, 15),
    (Kind::Amalgamate, 15),
    (Kind::WriteCheck, 15),
    (Kind::SendPayment, 25),
];

/// A transaction with all its choices.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    pub(super) kind: Kind,
    pub(super) customer: i64,
    /// Somebody else.
    pub(super) other: i64,
    /// Positive; negative only for TransactSavings, which then takes out.
    pub(super) amount: i64,
}

/// The transactions of one session.
pub(super) struct Session {
    customers: usize,
    random: Random,
    choice: Choice,
}

impl Session {
    pub(super) fn new(customers: usize, seed: u64, session: usize) -> Session {
        let choice = Choice { kind: Kind::Balance, customer: 0, other: 1, amount: 1 };
        Session { customers, random: Random::new(seed, &[session as u64]), choice }
    }

    fn customer(&mut self) -> i64 {
        let hot = self.customers.div_ceil(HOT_SHARE);
        let is_hot = self.random.chance(HOT_PERCENT, 100);
        self.random.below(if is_hot { hot } else { self.customers }) as i64
    }
}

impl Script for Session {
    fn choose(&mut self) {
        let at = self.random.weighted(&MIX.map(|(_, weight)| weight)).unwrap_or_default();
        let kind = MIX[at].0;
        let customer = self.customer();
        let mut other = self.customer();
        if other == customer {
            // Whoever comes next; there are two at least.
            other = (customer + 1) % self.customers as i64;
        }
        let amount = self.random.between(1, AMOUNT_MAX);
        let takes_out = kind == Kind::TransactSavings && self.random.chance(1, 2);
        self.choice = Choice { kind, customer, other, amount: if takes_out { -amount } else { amount } };
    }

    fn run(&self, dialogue: &mut Dialogue<'_>) -> Result<(), Stop> {
        run(self.choice, dialogue)
    }
}

/// One transaction.
pub(super) fn run(choice: Choice, dialogue: &mut Dialogue<'_>) -> Result<(), Stop> {
    let Choice { kind, amount, .. } = choice;
    let mut bank = Bank { dialogue };
    let customer = bank.find(choice.customer)?;
    match kind {
        Kind::Balance => {
            bank.savings(customer)?;
            bank.checking(customer)?;
            Ok(())
        }
        Kind::DepositChecking => {
            let held = bank.checking(customer)?;
            bank.set_checking(customer, held + amount)?;
            bank.book("deposit checking", &[(customer, 0, amount)])
        }
        Kind::TransactSavings => {
            let held = bank.savings(customer)?;
            require(held + amount >= 0)?;
            bank.set_savings(customer, held + amount)?;
            bank.book("transact savings", &[(customer, amount, 0)])
        }
        Kind::Amalgamate => {
            let other = bank.find(choice.other)?;
            let (savings, checking) = (bank.savings(customer)?, bank.checking(customer)?);
            let others = bank.checking(other)?;
            bank.set_savings(customer, 0)?;
            bank.set_checking(customer, 0)?;
            bank.set_checking(other, others + savings + checking)?;
            bank.book("amalgamate", &[(customer, -savings, -checking), (other, 0, savings + checking)])
        }
        Kind::WriteCheck => {
            let (savings, checking) = (bank.savings(customer)?, bank.checking(customer)?);
            // Who overdraws pays one more.
            let taken = if savings + checking < amount { amount + 1 } else { amount };
            bank.set_checking(customer, checking - taken)?;
            bank.book("write check", &[(customer, 0, -taken)])
        }
        Kind::SendPayment => {
            let other = bank.find(choice.other)?;
            let held = bank.checking(customer)?;
            require(held >= amount)?;
            let others = bank.checking(other)?;
            bank.set_checking(customer, held - amount)?;
            bank.set_checking(other, others + amount)?;
            bank.book("send payment", &[(customer, 0, -amount), (other, 0, amount)])
        }
    }
}

/// Gives up otherwise.
fn require(is_true: bool) -> Result<(), Stop> {
    if is_true { Ok(()) } else { Err(Stop::RollBack) }
}

/// The statements.
struct Bank<'a, 'b> {
    dialogue: &'a mut Dialogue<'b>,
}

impl Bank<'_, '_> {
    /// Customers give their names.
    fn find(&mut self, customer: i64) -> Result<i64, Stop> {
        let sql = || format!("SELECT custid, v FROM accounts WHERE name = '{}'", name(customer));
        self.dialogue.row(item(ACCOUNTS, customer), sql)?.int(0)
    }

    fn savings(&mut self, customer: i64) -> Result<i64, Stop> {
        let sql = || format!("SELECT bal, v FROM savings WHERE custid = {customer}");
        self.dialogue.row(item(SAVINGS, customer), sql)?.int(0)
    }

    fn checking(&mut self, customer: i64) -> Result<i64, Stop> {
        let sql = || format!("SELECT bal, v FROM checking WHERE custid = {customer}");
        self.dialogue.row(item(CHECKING, customer), sql)?.int(0)
    }

    fn set_savings(&mut self, customer: i64, bal: i64) -> Result<(), Stop> {
        let sql = |v| format!("UPDATE savings SET bal = {bal}, v = {v} WHERE custid = {customer}");
        self.dialogue.update(item(SAVINGS, customer), sql)
    }

    fn set_checking(&mut self, customer: i64, bal: i64) -> Result<(), Stop> {
        let sql = |v| format!("UPDATE checking SET bal = {bal}, v = {v} WHERE custid = {customer}");
        self.dialogue.update(item(CHECKING, customer), sql)
    }

    /// Writes into the ledger what each customer's savings and checking accounts got.
    fn book(&mut self, kind: &str, sides: &[(i64, i64, i64)]) -> Result<(), Stop> {
        let entry = self.dialogue.version();
        let items: Vec<_> = (0..sides.len() as i64).map(|side| ledger(entry, side)).collect();
        self.dialogue.put(&items, |v| {
            let row = |(side, (customer, savings, checking)): (usize, &(i64, i64, i64))| {
                format!("({entry}, {side}, {customer}, '{kind}', {savings}, {checking}, {v})")
            };
            let rows: Vec<String> = sides.iter().enumerate().map(row).collect();
            format!("INSERT INTO ledger VALUES {}", rows.join(", "))
        })
    }
}
