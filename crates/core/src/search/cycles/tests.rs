//! The cycles of small programs, of random ones against brute force, and how many the benchmarks have.

use std::collections::BTreeSet;

use super::*;
use crate::search::conflicts::Options;
use crate::search::testing::*;

fn shown(text: &str, options: Options, bounds: Bounds) -> Vec<String> {
    let sample = Sample::new(text);
    let conflicts = sample.conflicts(options);
    cycles(&conflicts, bounds).iter().map(|cycle| cycle.show(&conflicts, &sample.names())).collect()
}

const TWO: Bounds = Bounds { length: 4, instances: 2 };

#[test]
fn small_programs_have_the_cycles_that_one_expects() {
    let lost_update = [
        "deposit:1..3 -ww accounts-> deposit:3 -wr accounts->",
        "deposit:3^1 -rw accounts-> deposit:3 -ww accounts->",
        "deposit:1..3 -wr accounts-> deposit:1..3 -wr accounts->",
        "deposit:1..2 -ww receipts-> deposit:2..3 -wr accounts->",
        "deposit:3^1 -rw accounts-> deposit:3^1 -rw accounts->",
        "deposit:2^1 -rw accounts-> deposit:3^2 -ww receipts->",
        "deposit:2..3 -ww accounts-> deposit:3^2 -ww receipts->",
    ];
    assert_eq!(shown(LOST_UPDATE, Options::default(), TWO), lost_update);
    assert_eq!(shown(DIRTY_WRITE, Options::default(), TWO), ["choose:0..1 -ww settings-> choose:1^0 -ww settings->"]);
    let long_fork = "raise_first:0 -wr counters-> look:2..3 -rw counters-> raise_second:0 -wr counters-> look:3^2 -rw \
                     counters->";
    let long = Bounds { length: 6, instances: 4 };
    assert!(shown(LONG_FORK, Options::default(), long).contains(&long_fork.to_string()));
    let undone = "take:4^1 -wr stock-> note:1 -rw stock->".to_string();
    assert!(shown(DIRTY_READ, Options::default(), TWO).contains(&undone));
    let kept = Options { rollbacks: false, ..Options::default() };
    assert!(!shown(DIRTY_READ, kept, TWO).contains(&undone));
}

#[test]
fn statements_that_read_and_write_are_cycles_by_themselves() {
    let twice = "raise_first:0 -rw counters-> raise_first:0 -rw counters->".to_string();
    let found = shown(LONG_FORK, Options::default(), TWO);
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(found.contains(&twice));
}

#[test]
fn both_nodes_of_an_instance_are_on_one_way() {
    let text = "-- @program 1
        CREATE TABLE t (id INT PRIMARY KEY, n INT);
        CREATE PROCEDURE p(x INT) BEGIN
          IF :x > 1 THEN UPDATE t SET n = 1 WHERE id = 1; ELSE UPDATE t SET n = 1 WHERE id = 2; END IF;
        END;";
    assert_eq!(shown(text, Options::default(), Bounds::default()), [""; 0]);
    let in_a_loop =
        text.replace("BEGIN", "BEGIN WHILE :x < 9 DO SET x = :x + 1;").replace("END IF;", "END IF; END WHILE;");
    assert!(!shown(&in_a_loop, Options::default(), Bounds::default()).is_empty());
}

#[test]
fn shorter_cycles_come_first_and_structures_stay_together() {
    let sample = Sample::new(WRITE_SKEW);
    let conflicts = sample.conflicts(Options::default());
    let found = cycles(&conflicts, Bounds::default());
    let sizes: Vec<(usize, usize)> = found.iter().map(|cycle| (cycle.length(), cycle.visits.len())).collect();
    assert!(sizes.is_sorted(), "{sizes:?}");
    let structures: Vec<Structure> = found.iter().map(|cycle| cycle.structure(&conflicts)).collect();
    for (at, structure) in structures.iter().enumerate().skip(1) {
        let is_new = structures[at - 1] != *structure || sizes[at - 1] != sizes[at];
        let before = structures[..at].iter().zip(&sizes).any(|known| known == (structure, &sizes[at]));
        assert!(!is_new || !before, "{}", structure.show(&conflicts, &sample.names()));
    }
}

/// All cycles by definition: every closed sequence of visits, whichever rotation.
fn by_definition(conflicts: &Conflicts, bounds: Bounds) -> BTreeSet<Vec<Visit>> {
    let count = conflicts.sites.len() as u16;
    let may_follow = |a: u16, b: u16| conflicts.later(a).contains(&b);
    let mut all_visits = Vec::new();
    for (enter, leave) in (0..count).flat_map(|enter| (0..count).map(move |leave| (enter, leave))) {
        let (from, to) = (conflicts.site(enter), conflicts.site(leave));
        let ways = [
            (Through::One, enter == leave),
            (Through::Forward, may_follow(enter, leave)),
            (Through::Backward, may_follow(leave, enter)),
        ];
        for (through, _) in ways.into_iter().filter(|(_, is_possible)| *is_possible && from.procedure == to.procedure) {
            for (hop, edge) in conflicts.edges.iter().enumerate().filter(|(_, edge)| edge.from == leave) {
                let undoes = through == Through::Backward && conflicts.undone(enter).contains(&leave);
                if !from.undoes || (undoes && edge.kind == Kind::Wr) {
                    all_visits.push(Visit { enter, leave, through, hop: hop as u32 });
                }
            }
        }
    }
    let leads = |from: &Visit, to: &Visit| conflicts.edge(from.hop).to == to.enter;
    let is_valid = |path: &[Visit]| {
        let kind = |at: usize| conflicts.edge(path[at % path.len()].hop).kind;
        let misses = |at: usize| kind(at) == Kind::Rw && kind(at + 1) == Kind::Rw;
        let overwrites = |at: usize| path.len() == 2 && kind(at) == Kind::Rw && kind(at + 1) == Kind::Ww;
        let is_through = path.iter().any(|visit| visit.through != Through::One);
        is_through || (0..path.len()).any(|at| misses(at) || overwrites(at))
    };
    let mut open: Vec<Vec<Visit>> = all_visits.iter().map(|visit| vec![*visit]).collect();
    let mut found = BTreeSet::new();
    while let Some(path) = open.pop() {
        let last = path[path.len() - 1];
        for next in all_visits.iter().filter(|next| leads(&last, next)) {
            let longer = [path.as_slice(), &[*next]].concat();
            if longer.len() > bounds.instances || longer.iter().map(Visit::length).sum::<usize>() > bounds.length {
                continue;
            }
            if leads(next, &longer[0]) && is_valid(&longer) {
                found.insert(longer.clone());
            }
            open.push(longer);
        }
    }
    found
}

#[test]
fn random_programs_have_the_cycles_of_the_definition() {
    let mut total = 0;
    for seed in 0..60 {
        let sample = Sample::new(&random_program(seed));
        let conflicts = sample.conflicts(Options { external: seed % 2 == 0, ..Options::default() });
        let bounds = Bounds::default();
        let expect = by_definition(&conflicts, bounds);
        let mut covered = BTreeSet::new();
        for cycle in cycles(&conflicts, bounds) {
            let rotations: BTreeSet<Vec<Visit>> =
                (0..cycle.visits.len()).map(|by| [&cycle.visits[by..], &cycle.visits[..by]].concat()).collect();
            for rotation in rotations {
                assert!(expect.contains(&rotation), "{}", cycle.show(&conflicts, &sample.names()));
                assert!(covered.insert(rotation), "twice: {}", cycle.show(&conflicts, &sample.names()));
            }
        }
        assert_eq!(covered.len(), expect.len(), "{}", random_program(seed));
        total += expect.len();
    }
    assert!(total > 1_000, "{total}");
}

/// Table 4 of the paper: who, on which table. For row 6, HISTORY has a key, as a replicated store needs one.
#[test]
fn the_anomalies_of_the_paper_are_in_reach() {
    let (_, files) = BENCHMARKS.iter().find(|(name, _)| *name == "tpcc").unwrap();
    let sample = Sample::benchmark(*files);
    let names = sample.names();
    for (number, who, table, external) in [
        (1, "payment payment", "warehouse", false),
        (2, "payment payment", "district", false),
        (3, "new_order new_order", "district", false),
        (4, "delivery delivery", "customer", false),
        (5, "delivery delivery", "new_order", false),
        (6, "payment payment", "history", false),
        (7, "new_order new_order new_order", "stock", false),
        (8, "new_order new_order", "stock", false),
        // What order_status reads of lines goes to its caller only.
        (9, "delivery new_order order_status", "order_line", true),
        (11, "delivery payment", "customer", false),
        (13, "payment payment", "customer", false),
    ] {
        let conflicts = sample.conflicts(Options { external, ..Options::default() });
        let found = cycles(&conflicts, Bounds::default());
        let is_it = |cycle: &&Cycle| {
            let of = |instance| names[cycle.procedure(&conflicts, instance)];
            let mut own: Vec<&str> = (0..cycle.visits.len()).map(of).collect();
            own.sort_unstable();
            let on = |visit: &Visit| conflicts.tables[usize::from(conflicts.edge(visit.hop).table)] == table;
            own.join(" ") == who && cycle.visits.iter().any(on)
        };
        assert!(found.iter().any(|cycle| is_it(&cycle)), "row {number}");
    }
}

/// Where the paper finds nothing: two rows that belong together, and a limit that is counted before it is used up.
#[test]
fn tatp_and_voter_have_cycles() {
    let wanted = [
        ("tatp", "update_subscriber_data -ww special_facility-> update_subscriber_data -ww subscriber->"),
        ("voter", "vote -rw votes-> vote -rw votes->"),
    ];
    for (name, structure) in wanted {
        let (_, files) = BENCHMARKS.iter().find(|(known, _)| *known == name).unwrap();
        let sample = Sample::benchmark(*files);
        let conflicts = sample.conflicts(Options::default());
        let found = cycles(&conflicts, Bounds::default());
        let shown = |cycle: &Cycle| cycle.structure(&conflicts).show(&conflicts, &sample.names());
        assert!(found.iter().any(|cycle| shown(cycle) == structure), "{name}");
    }
}
