//! Candidates are made as they are asked for, and never beyond the budget.

use super::*;
use crate::search::testing::Sample;

/// So many procedures that read and change the same row.
fn program(count: usize) -> Sample {
    let mut text = "CREATE TABLE t (id INT PRIMARY KEY, a INT NOT NULL);".to_string();
    for number in 0..count {
        text += &format!(
            "CREATE PROCEDURE p{number}(p_id INT) BEGIN
               DECLARE v INT;
               SELECT a INTO :v FROM t WHERE id = :p_id;
               UPDATE t SET a = :v + 1 WHERE id = :p_id;
             END;"
        );
    }
    Sample::new(&text)
}

/// One procedure with so many statements behind conditions.
fn branches(count: usize) -> Sample {
    let mut text = "CREATE TABLE t (id INT PRIMARY KEY, a INT NOT NULL);
        CREATE PROCEDURE p(p_id INT, p_v INT) BEGIN DECLARE v INT; SELECT a INTO :v FROM t WHERE id = :p_id;"
        .to_string();
    for number in 0..count {
        text += &format!("IF :p_v > {number} THEN UPDATE t SET a = :v + {number} WHERE id = :p_id; END IF;");
    }
    Sample::new(&(text + "END;"))
}

fn with_search<T>(sample: &Sample, budget: WorkBudget, then: impl FnOnce(&Search<'_>) -> T) -> T {
    let pairs = sample.reading.program.procedures.iter().zip(&sample.reading.accesses);
    let called: Vec<Called<'_>> = pairs.map(|(procedure, access)| Called { procedure, access }).collect();
    let options = Options {
        levels: vec![Target::parse("eventual", None).expect("it is a level"); called.len()],
        bounds: Bounds::default(),
        external: false,
        initial: None,
        prefix: 0,
        limits: Limits { rounds: 3, ways: 12, budget: 20_000 },
        grouping: true,
        second: None,
        budget,
    };
    then(&Search::new(&sample.reading.schema, &called, options))
}

#[test]
fn candidates_are_made_as_they_are_asked_for() {
    with_search(&program(60), WorkBudget::unlimited(), |search| {
        let groups: Vec<Vec<u16>> = search.candidates().take(61).map(|group| group.procedures).collect();
        assert_eq!(groups[..2], [[0, 0], [0, 1]]);
        assert_eq!(groups[60], [1, 1]);
        assert_eq!(search.unconnected(), 0);
    });
}

#[test]
fn a_spent_budget_ends_every_stage() {
    for steps in [0, 10, 100, 1_000, 10_000] {
        let budget = WorkBudget::of_steps(steps);
        with_search(&program(60), budget.clone(), |search| {
            let mut candidates = search.candidates();
            let examined: Vec<Examined> = candidates.by_ref().map(|group| search.examine(&group)).collect();
            assert!(candidates.is_cut() && budget.is_spent(), "{steps}");
            assert!(steps > 100 || search.unconnected() > 0, "{steps}");
            let asked: usize = examined.iter().map(|one| one.asked).sum();
            assert!(asked as u64 <= steps, "{asked} questions in {steps} steps");
            assert!(examined.iter().all(|one| one.unknown.is_empty()), "what was not looked at is left, not undecided");
        });
    }
}

#[test]
fn cycles_over_the_same_procedures_come_in_portions() {
    with_search(&branches(40), WorkBudget::unlimited(), |search| {
        let portions: Vec<Group> = search.candidates().take(4).collect();
        assert!(portions.iter().all(|group| group.cycles.len() < 10 * TOGETHER));
        assert!(portions[3].cycles.len() >= TOGETHER, "the cycles of three calls are many");
    });
}

#[test]
fn portions_are_all_cycles_each_once() {
    let sample = program(3);
    let all = crate::search::cycles(&sample.conflicts(conflicts::Options::default()), Bounds::default());
    let made: Vec<Cycle> = with_search(&sample, WorkBudget::unlimited(), |search| {
        search.candidates().flat_map(|group| group.cycles).collect()
    });
    let (all, made) = (sorted(all), sorted(made));
    assert_eq!(made.len(), all.len());
    assert_eq!(made, all);
}

fn sorted(mut cycles: Vec<Cycle>) -> Vec<Cycle> {
    cycles.sort();
    cycles
}
