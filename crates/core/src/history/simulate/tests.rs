use super::rules::RULES;
use super::violations::{PLANTS, plant};
use super::*;
use crate::history::anomaly;
use crate::history::brute;
use crate::history::check::Checker;
use crate::history::check::budget::CheckBudget;
use crate::history::micro;
use crate::history::survey::Survey;
use crate::level::formal::{LEVELS, Order, Requirement};

/// The orders that a store respects.
fn orders(level: Level) -> impl Iterator<Item = Order> {
    let strongest = rules::of(level).order;
    [Order::Free, Order::Session, Order::RealTime].into_iter().filter(move |order| *order <= strongest)
}

/// Simulated histories satisfy their level by the fast checker.
fn check_keeps(workload: &Workload, seeds: u64) {
    for rules in RULES {
        for seed in 0..seeds {
            let workload = Workload { is_list: seed % 2 == 0, ..*workload };
            let history = simulate(rules.level, &workload, &mut Random::new(seed, &[rules.level as u64]));
            let checker = Checker::new(&history).unwrap();
            for order in orders(rules.level) {
                let requirement = rules.level.with(order);
                let verdict = checker.check(requirement, &|| false);
                assert!(verdict.holds(), "seed {seed}: {requirement}\n{verdict:?}\n{}", micro::print(&history));
            }
        }
    }
}

#[test]
fn what_is_simulated_at_a_level_satisfies_it() {
    check_keeps(&Workload::default(), 40);
    check_keeps(&Workload { sessions: 3, transactions: 12, keys: 2, ..Workload::default() }, 100);
    check_keeps(&Workload { sessions: 12, transactions: 300, keys: 20, ..Workload::default() }, 4);
    check_keeps(&Workload { sessions: 8, transactions: 200, keys: 4, read_share: 80, ..Workload::default() }, 4);
}

#[test]
fn small_ones_satisfy_it_by_the_brute_force() {
    let workload = Workload { sessions: 3, transactions: 5, keys: 2, ops_per_transaction: 3, ..Workload::default() };
    for rules in RULES {
        for seed in 0..30 {
            let workload = Workload { is_list: seed % 2 == 0, ..workload };
            let history = simulate(rules.level, &workload, &mut Random::new(seed, &[]));
            for order in orders(rules.level) {
                let requirement = rules.level.with(order);
                let holds = brute::satisfies(&history, requirement).unwrap();
                assert!(holds, "seed {seed}: {requirement}\n{}", micro::print(&history));
            }
        }
    }
}

/// Whether one of 200 histories simulated at one level violates another one: of registers, of lists.
fn violations(level: Level, other: Level) -> [bool; 2] {
    [false, true].map(|is_list| {
        let workload = Workload { sessions: 6, keys: 6, read_share: 65, is_list, ..Workload::default() };
        let violates = |seed: u64| {
            let history = simulate(level, &workload, &mut Random::new(seed, &[]));
            Checker::new(&history).unwrap().check(other.into(), &|| false).is_violated()
        };
        (0..200).any(violates)
    })
}

#[test]
fn what_is_simulated_at_a_level_satisfies_no_stronger_one() {
    for row in LEVELS {
        for level in row.implies {
            // Without predicates, repeatable read and serializable are one.
            let expected = *level != Level::RepeatableRead;
            assert_eq!(violations(*level, row.level), [expected; 2], "at {level}, {} is violated", row.name);
        }
    }
}

#[test]
fn the_clients_do_what_the_workload_says() {
    let workload = Workload { transactions: 500, abort_share: 10, unknown_share: 20, ..Workload::default() };
    let history = simulate(Level::Prefix, &workload, &mut Random::new(1, &[]));
    let count = |status: Status| history.transactions().filter(|(_, t)| t.status == status).count();
    assert_eq!(history.len(), 500);
    assert!((25..75).contains(&count(Status::Aborted)) && (70..130).contains(&count(Status::Unknown)));
    assert!(history.transactions().all(|(_, t)| t.ended.is_none_or(|ended| t.began < Some(ended))));
    assert!(history.transactions().all(|(_, t)| t.ended.is_none() == (t.status == Status::Unknown)));
    assert!(history.transactions().all(|(id, _)| (1..=4).contains(&history.ops(id).len())));
    assert_eq!(history, simulate(Level::Prefix, &workload, &mut Random::new(1, &[])));
}

/// The whole satisfies what the plant says, and names the anomaly.
fn check_planted(history: &History, expected: &violations::Plant, by_brute_force: bool) {
    let checker = Checker::new(history).unwrap();
    let text = || format!("{}\n{}", expected.transactions, micro::print(history));
    for requirement in Requirement::all() {
        let holds = expected.satisfies(requirement);
        let verdict = checker.check(requirement, &|| false);
        assert_eq!((verdict.holds(), verdict.is_violated()), (holds, !holds), "{requirement}: {}", text());
        if by_brute_force {
            assert_eq!(brute::satisfies(history, requirement).unwrap(), holds, "{requirement}: {}", text());
        }
    }
    let survey = Survey::of(history, &checker, CheckBudget::time(&|| false));
    let names: Vec<&str> = survey.anomalies.iter().map(|found| found.named.anomaly.id).collect();
    assert!(names.contains(&expected.anomaly), "{} is not among {names:?}: {}", expected.anomaly, text());
}

#[test]
fn a_planted_violation_violates_what_its_row_says() {
    for (at, expected) in PLANTS.iter().enumerate() {
        let mut random = Random::new(at as u64, &[]);
        check_planted(&expected.add_to(&History::default(), &mut random), expected, true);
        for transactions in [3, 100] {
            let workload = Workload { transactions, is_list: expected.is_list(), ..Workload::default() };
            let healthy = simulate(Level::Serializable, &workload, &mut random);
            let history = expected.add_to(&healthy, &mut random);
            assert_eq!(history.len(), healthy.len() + expected.history().len());
            check_planted(&history, expected, transactions == 3 && history.len() <= 6);
        }
    }
}

#[test]
fn every_anomaly_can_be_planted() {
    for row in anomaly::ALL {
        let mut random = Random::new(1, &[]);
        let mut is_planted = |is_list: bool| {
            let healthy = simulate(Level::Serializable, &Workload { is_list, ..Workload::default() }, &mut random);
            plant(&healthy, row, &mut random).is_some_and(|history| history.len() > healthy.len())
        };
        let only_lists = ["duplicate-elements", "incompatible-order", "G0", "dirty-update"].contains(&row.id);
        assert!(is_planted(true), "{} in lists", row.id);
        assert_eq!(is_planted(false), !only_lists, "{} in registers", row.id);
    }
}
