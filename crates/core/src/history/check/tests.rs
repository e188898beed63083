//! The fast checker against the brute force, on small histories of all kinds.

use super::*;
use crate::generate::random::Random;
use crate::history::brute;
use crate::history::build::{Builder, Head};
use crate::history::micro;
use crate::history::{Op, Scalar, Status};

/// A small history: mostly sensible, sometimes not.
fn random_history(random: &mut Random, is_list: bool) -> History {
    let mut builder = Builder::default();
    let keys: Vec<_> = (0..random.between(1, 3)).map(|at| builder.key(["x", "y", "z"][at as usize])).collect();
    let transactions = random.between(1, 5);
    let sessions = random.between(1, 3);
    let mut lists: Vec<Vec<Scalar>> = vec![Vec::new(); keys.len()];
    let mut next = 0;
    for at in 0..transactions {
        let session = random.below(sessions as usize) as u32;
        let status = match random.below(12) {
            0 => Status::Aborted,
            1 => Status::Unknown,
            _ => Status::Committed,
        };
        let began = at as u64 * 2 + random.below(3) as u64;
        let ended = began + 1 + random.below(6) as u64;
        builder.begin(Head { session, status, began: Some(began), ended: Some(ended), line: at as u32 + 1 });
        for _ in 0..random.between(1, 3) {
            let key = random.below(keys.len());
            if random.chance(1, 2) {
                next += 1;
                let value = Scalar(next);
                builder.push(if is_list { Op::Append(keys[key], value) } else { Op::Write(keys[key], value) });
                if random.chance(4, 5) {
                    lists[key].push(value);
                }
            } else if is_list {
                let length = if random.chance(1, 2) { lists[key].len() } else { random.below(lists[key].len() + 1) };
                builder.push_list(keys[key], &lists[key][..length]);
            } else {
                let value = random.pick(&lists[key]).copied().filter(|_| random.chance(4, 5));
                builder.push(Op::Read(keys[key], value));
            }
        }
    }
    builder.finish()
}

#[test]
fn the_fast_checker_agrees_with_the_brute_force() {
    let count: u64 = std::env::var("TXLOOM_HISTORIES").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000);
    for seed in 0..count {
        let mut random = Random::new(seed, &[]);
        let history = random_history(&mut random, seed % 2 == 0);
        let checker = Checker::new(&history).unwrap();
        for requirement in Requirement::all() {
            let fast = checker.check(requirement, &|| false);
            let slow = brute::satisfies(&history, requirement).unwrap();
            assert_eq!(fast.holds(), slow, "seed {seed}: {requirement}\n{fast:?}\n{}", micro::print(&history));
            assert_eq!(fast.is_violated(), !slow);
        }
    }
}
