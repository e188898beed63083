//! Which calls may have come before those of a cycle.
//!
//! A call can only help if it writes to a table that the calls of the cycle, or those between, look at. Short sequences
//! come first; the first of all is empty.

use std::collections::BTreeSet;

use crate::flow::program::Given;
use crate::program::access::Effect;

/// So many sequences are tried for a cycle.
const SEQUENCES_MAX: usize = 60;

/// Sequences of at most so many calls that may prepare something for calls of these procedures, all by their numbers.
pub(super) fn prefixes(procedures: &[Given<'_>], length_max: usize, calls: &[u16]) -> Vec<Vec<u16>> {
    let looked_at = calls.iter().flat_map(|call| tables(&procedures[usize::from(*call)], |_| true)).collect();
    let mut all: Vec<(Vec<u16>, BTreeSet<&str>)> = vec![(Vec::new(), looked_at)];
    let mut shorter = 0..1;
    for _ in 0..length_max {
        for at in shorter.clone() {
            let (sequence, looked_at) = all[at].clone();
            for (number, procedure) in (0..).zip(procedures) {
                if all.len() == SEQUENCES_MAX {
                    break;
                }
                if !tables(procedure, |effect| effect != Effect::Read).is_disjoint(&looked_at) {
                    let longer = [&[number], sequence.as_slice()].concat();
                    all.push((longer, looked_at.union(&tables(procedure, |_| true)).copied().collect()));
                }
            }
        }
        shorter = shorter.end..all.len();
    }
    all.into_iter().map(|(sequence, _)| sequence).collect()
}

/// The tables that a procedure touches in some way.
fn tables<'a>(procedure: &Given<'a>, is_wanted: impl Fn(Effect) -> bool) -> BTreeSet<&'a str> {
    let accesses = procedure.access.nodes.iter().flat_map(|node| &node.access.tables);
    accesses.filter(|access| is_wanted(access.effect)).map(|access| access.table.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::WorkBudget;
    use crate::program::paths::Limits;
    use crate::search::cycles::Bounds;
    use crate::search::find::{Options, Search, Test};
    use crate::search::ground::{Called, Rows};
    use crate::search::level::Target;
    use crate::search::testing::Sample;

    const BANK: &str = "CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);
        CREATE TABLE notes (id INT PRIMARY KEY);
        CREATE PROCEDURE note(p_id INT) BEGIN INSERT INTO notes VALUES (:p_id); END;
        CREATE PROCEDURE open_account(p_id INT, p_amount INT) BEGIN
          INSERT INTO accounts VALUES (:p_id, :p_amount);
        END;
        CREATE PROCEDURE withdraw(p_id INT, p_amount INT) BEGIN
          DECLARE v INT;
          SELECT balance INTO :v FROM accounts WHERE id = :p_id;
          IF :v >= :p_amount THEN
            UPDATE accounts SET balance = :v - :p_amount WHERE id = :p_id;
          END IF;
        END;";

    /// The tests that are found without any rows at the start.
    fn found(level: Target, prefix: usize) -> Vec<Test> {
        let sample = Sample::new(BANK);
        let pairs = sample.reading.program.procedures.iter().zip(&sample.reading.accesses);
        let called: Vec<Called<'_>> = pairs.map(|(procedure, access)| Called { procedure, access }).collect();
        let rows = Rows::new();
        let options = Options {
            levels: vec![level; called.len()],
            bounds: Bounds { length: 4, instances: 2 },
            external: false,
            initial: Some(&rows),
            prefix,
            limits: Limits { rounds: 3, ways: 12, budget: 20_000 },
            grouping: true,
            second: None,
            budget: WorkBudget::unlimited(),
        };
        let search = Search::new(&sample.reading.schema, &called, options);
        search.candidates().flat_map(|group| search.examine(&group).tests).collect()
    }

    /// Nobody withdraws from an account that nobody has opened.
    #[test]
    fn what_is_not_there_at_first_is_made_before() {
        let levels = [Target::parse("eventual", None), Target::parse("read-committed", Some(("postgres", &[])))];
        for level in levels {
            let level = level.expect("it is a level");
            assert_eq!(found(level, 0).len(), 0, "{level:?}");
            let tests = found(level, 1);
            let withdrawn = tests.iter().find(|test| test.procedures == [2, 2, 1]).expect("two calls withdraw");
            assert_eq!((withdrawn.before, withdrawn.concurrent()), (1, 2));
            let (plan, arguments) = (&withdrawn.plan, &withdrawn.values.arguments);
            assert!(plan.moves[..plan.before].iter().all(|one| one.instance == 2), "{plan:?}");
            assert!(plan.sees[plan.before..].iter().all(|seen| seen.contains(&0)), "{plan:?}");
            assert_eq!(arguments[0]["p_id"], arguments[2]["p_id"]);
        }
    }

    /// A call that writes nothing which the others look at prepares nothing.
    #[test]
    fn short_sequences_come_first_and_only_those_that_may_help() {
        let sample = Sample::new(BANK);
        let of = |length| prefixes(&sample.given(), length, &[2, 2]);
        assert_eq!(of(0), [Vec::<u16>::new()]);
        assert_eq!(of(1), [vec![], vec![1], vec![2]]);
        assert_eq!(of(2).len(), 3 + 4);
        assert!(of(3).len() <= SEQUENCES_MAX);
    }
}
