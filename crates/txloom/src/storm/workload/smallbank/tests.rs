//! SmallBank on a real engine, and without one.

use std::collections::BTreeMap;

use super::super::super::testing;
use super::super::Next;
use super::transactions::{Choice, Kind, run};
use super::*;

fn bank() -> SmallBank {
    SmallBank::new(Scale { sessions: 4, keys: 20, ..Scale::default() })
}

#[test]
fn a_session_asks_for_the_same_things_each_time() {
    let statements = |seed| testing::statements(&mut *bank().session(seed, 1), 50, &["7", "20", "0"]);
    assert_eq!(statements(3), statements(3));
    assert_ne!(statements(3), statements(4));
}

#[test]
fn most_accesses_are_to_few_customers() {
    let all = testing::statements(
        &mut *SmallBank::new(Scale { keys: 1_000, ..Scale::default() }).session(1, 0),
        1_000,
        &["7", "20", "0"],
    );
    let names = all.iter().filter_map(|sql| sql.split("customer ").nth(1)?.trim_end_matches('\'').parse::<u64>().ok());
    let names: Vec<u64> = names.collect();
    let hot = names.iter().filter(|name| **name < 100).count();
    assert!((85..97).contains(&(hot * 100 / names.len())), "{hot} of {}", names.len());
}

/// What each kind of transaction does to two customers, told as what they hold afterwards.
#[test]
fn transactions_do_what_they_say() {
    let check = |kind, amount, before: [(i64, i64); 2], expect: Option<[(i64, i64); 2]>| {
        let mut held: BTreeMap<(&str, i64), i64> = BTreeMap::new();
        for (customer, (savings, checking)) in before.into_iter().enumerate() {
            held.insert(("savings", customer as i64), savings);
            held.insert(("checking", customer as i64), checking);
        }
        let choice = Choice { kind, customer: 0, other: 1, amount };
        let ended = play(choice, &mut held);
        let after = [0, 1].map(|customer| (held[&("savings", customer)], held[&("checking", customer)]));
        assert_eq!((ended == Next::Commit).then_some(after), expect, "{kind:?}");
    };
    let start = [(10, 20), (30, 40)];
    check(Kind::Balance, 5, start, Some(start));
    check(Kind::DepositChecking, 5, start, Some([(10, 25), (30, 40)]));
    check(Kind::TransactSavings, -10, start, Some([(0, 20), (30, 40)]));
    check(Kind::TransactSavings, -11, start, None);
    check(Kind::Amalgamate, 5, start, Some([(0, 0), (30, 70)]));
    check(Kind::WriteCheck, 30, start, Some([(10, -10), (30, 40)]));
    check(Kind::WriteCheck, 31, start, Some([(10, -12), (30, 40)]));
    check(Kind::SendPayment, 20, start, Some([(10, 0), (30, 60)]));
    check(Kind::SendPayment, 21, start, None);
}

/// Plays the database for one transaction.
fn play(choice: Choice, held: &mut BTreeMap<(&'static str, i64), i64>) -> Next {
    struct Once(Choice);
    impl Script for Once {
        fn choose(&mut self) {}
        fn run(&self, dialogue: &mut Dialogue<'_>) -> Result<(), Stop> {
            run(self.0, dialogue)
        }
    }
    let number = |text: &str| -> i64 { text.trim_matches('\'').parse().unwrap() };
    let mut session = Scripted::new(Once(choice), Versions::of(0, 1));
    testing::play(&mut session, &mut |sql| {
        let words: Vec<&str> = sql.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        let table = if sql.contains("savings") { "savings" } else { "checking" };
        match words[0] {
            "SELECT" if sql.contains("accounts") => Some(vec![number(words[words.len() - 1]), 0]),
            "SELECT" => Some(vec![held[&(table, number(words[words.len() - 1]))], 0]),
            "UPDATE" => {
                held.insert((table, number(words[words.len() - 1])), number(words[5]));
                None
            }
            _ => None,
        }
    })
}

#[test]
#[cfg(feature = "sqlite")]
fn every_invariant_is_silent_until_it_is_broken() {
    testing::check_invariants(
        &bank(),
        200,
        &[
            ("money", "UPDATE savings SET bal = bal + 1 WHERE custid = 3"),
            ("accounts", "UPDATE checking SET bal = bal - 1 WHERE custid = 3"),
            ("transfers", "DELETE FROM ledger WHERE side = 1"),
            ("savings", "UPDATE savings SET bal = -1 WHERE custid = 3"),
        ],
    );
}
