//! Which cycles of small programs have plans, at which levels.

use super::*;
use crate::level::guarantees;
use crate::program::paths::{Limits, ways};
use crate::search::class::classify;
use crate::search::conflicts::Options;
use crate::search::cycles::{Bounds, cycles};
use crate::search::level::axioms::LEVELS;
use crate::search::level::engines::RULES;
use crate::search::testing::*;

const LONG: Bounds = Bounds { length: 6, instances: 4 };
const TWO: Bounds = Bounds { length: 4, instances: 2 };
const EXTERNAL: Options = Options { external: true, references: true, rollbacks: true };

/// A program with its cycles.
struct Searched {
    sample: Sample,
    conflicts: Conflicts,
    cycles: Vec<Cycle>,
}

impl Searched {
    fn new(text: &str, bounds: Bounds, options: Options) -> Searched {
        Searched::of(Sample::new(text), bounds, options)
    }

    fn of(sample: Sample, bounds: Bounds, options: Options) -> Searched {
        let conflicts = sample.conflicts(options);
        Searched { cycles: cycles(&conflicts, bounds), conflicts, sample }
    }

    /// The shortest way of each call.
    fn ways(&self, cycle: &Cycle) -> Option<Vec<Way>> {
        let given = self.sample.given();
        let way = |instance: usize| {
            let access = given[cycle.procedure(&self.conflicts, instance)].access;
            let passes = cycle.passes(&self.conflicts, instance);
            ways(access, &passes, &Limits { ways: 1, ..Limits::default() }).ways.into_iter().next()
        };
        (0..cycle.visits.len()).map(way).collect()
    }

    /// The first plans of a cycle, with a level for each call.
    fn plans(&self, cycle: &Cycle, levels: &[Target], count: usize) -> Vec<Plan> {
        let (Some(ways), given) = (self.ways(cycle), self.sample.given()) else { return Vec::new() };
        let ways: Vec<&Way> = ways.iter().collect();
        let question = Question { procedures: &given, conflicts: &self.conflicts, cycle, ways: &ways, levels };
        plans(question).take(count).collect()
    }

    fn has_plan(&self, cycle: &Cycle, level: Target) -> bool {
        !self.plans(cycle, &vec![level; cycle.visits.len()], 1).is_empty()
    }

    /// Whether a cycle of that class has a plan, with all calls at that level.
    fn shows(&self, class: &str, level: Target) -> bool {
        let given = self.sample.given();
        let is_it = |cycle: &&Cycle| classify(cycle, &self.conflicts, &given).name == class;
        self.cycles.iter().filter(is_it).any(|cycle| self.has_plan(cycle, level))
    }
}

fn store(name: &str) -> Target {
    Target::parse(&format!("store:{name}"), None).unwrap().staying()
}

fn engine(family: &str, level: &str) -> Target {
    Target::parse(level, Some((family, &[]))).unwrap()
}

#[test]
fn stores_show_what_their_axioms_allow() {
    let weak = "eventual, causal visibility, causal, read committed, repeatable read, linearizable";
    let cases = [
        (LOST_UPDATE, TWO, "lost update", weak.to_string()),
        (WRITE_SKEW, TWO, "write skew", format!("{weak}, parallel snapshot isolation, snapshot isolation")),
        (LONG_FORK, LONG, "long fork", format!("{weak}, parallel snapshot isolation")),
        (DIRTY_READ, TWO, "dirty read", weak.replace("read committed, ", "")),
        (DIRTY_WRITE, TWO, "dirty write", weak.to_string()),
    ];
    for (text, bounds, class, expect) in cases {
        let searched = Searched::new(text, bounds, Options::default());
        let found: Vec<&str> =
            LEVELS.iter().filter(|level| searched.shows(class, Target::Store(level))).map(|level| level.name).collect();
        assert_eq!(found.join(", "), expect, "{class}");
    }
}

const TABLES: &str = "-- @program 1
    CREATE TABLE parents (id INT PRIMARY KEY, n INT);
    CREATE TABLE t (id INT PRIMARY KEY, owner INT REFERENCES parents (id), n INT);\n";

fn procedures(bodies: &[&str]) -> String {
    let procedure = |(at, body): (usize, &&str)| {
        format!("CREATE PROCEDURE p{at}(x INT, y INT) BEGIN DECLARE v INT; DECLARE w INT; {body}; COMMIT; END;\n")
    };
    TABLES.to_string() + &bodies.iter().enumerate().map(procedure).collect::<String>()
}

/// What engines show is what they are known to allow: each anomaly, a program and the name of its cycle.
#[test]
fn engines_show_what_is_not_guaranteed() {
    let one = |id: &str| format!("SELECT n INTO :v FROM t WHERE id = {id}");
    let set = |id: &str| format!("UPDATE t SET n = 7 WHERE id = {id}");
    let both = |first: String, second: String| format!("{first}; {second}");
    let torn = both(one("1"), "UPDATE t SET owner = :v WHERE id = 2 AND n > 3".to_string());
    let count = || "SELECT COUNT(*) INTO :v FROM t WHERE owner = :x".to_string();
    let add = "INSERT INTO t (id, owner, n) VALUES (:y, :x, 1)".to_string();
    let cases = [
        ("G0", "dirty write", procedures(&[&both(set("1"), set("2"))])),
        ("G1a", "dirty read", procedures(&[&format!("{}; ROLLBACK", set("1")), &one("1")])),
        ("G1b", "dirty read", procedures(&[&both(set("1"), set("1")), &one("1")])),
        ("A2", "non-repeatable read", procedures(&[&both(one("1"), one("1")), &set("1")])),
        ("A3", "phantom", procedures(&[&both(count(), count()), &add])),
        ("P4", "lost update", procedures(&[&both(one(":x"), set(":x"))])),
        ("G-single", "read skew", procedures(&[&both(one("1"), one("2")), &both(set("1"), set("2"))])),
        ("G-single-write", "read skew of a write", procedures(&[&torn, &both(set("1"), set("2"))])),
        ("G2-item", "write skew", procedures(&[&both(one("1"), set("2")), &both(one("2"), set("1"))])),
        ("G2", "phantom", procedures(&[&both(count(), add.clone())])),
    ];
    for (anomaly, class, text) in cases {
        let searched = Searched::new(&text, TWO, EXTERNAL);
        let is_known = |cycle: &Cycle| classify(cycle, &searched.conflicts, &searched.sample.given()).name == class;
        assert!(searched.cycles.iter().any(is_known), "{anomaly} is in reach");
        for rules in RULES {
            let is_it = |row: &&guarantees::Guarantee| {
                (row.engine, row.level, row.settings) == (rules.engine, rules.level, rules.settings)
            };
            let Some(guarantee) = guarantees::TABLE.iter().find(is_it) else { continue };
            let allowed = guarantee.allows.contains(&anomaly);
            assert_eq!(searched.shows(class, Target::Engine(rules)), allowed, "{anomaly} {rules}");
        }
    }
}

/// Random cycles of calls that are one transaction each.
fn random_cycles(seeds: std::ops::Range<u64>, check: &mut dyn FnMut(&Searched, &Cycle)) -> usize {
    let mut count = 0;
    for seed in seeds {
        let options = Options { external: true, references: seed % 2 == 0, rollbacks: true };
        let searched = Searched::new(&random_program(seed), Bounds::default(), options);
        let step = searched.cycles.len() / 12 + 1;
        for cycle in searched.cycles.iter().step_by(step) {
            check(&searched, cycle);
            count += 1;
        }
    }
    count
}

#[test]
fn serializable_levels_have_no_plans() {
    let none = [store("serializable"), store("strictly serial")].into_iter();
    let engines = ["sqlite", "model", "postgres", "mariadb"].map(|family| engine(family, "serializable"));
    let levels: Vec<Target> = none.chain(engines).collect();
    let mut possible = 0;
    let count = random_cycles(100..170, &mut |searched, cycle| {
        for level in &levels {
            let shown = cycle.show(&searched.conflicts, &searched.sample.names());
            assert!(!searched.has_plan(cycle, *level), "{level}: {shown}");
        }
        possible += usize::from(searched.has_plan(cycle, store("eventual")));
    });
    assert!(count >= 500 && possible > count / 3, "{count} {possible}");
}

/// InnoDB's serializable needs no special treatment: its locks alone leave no plan.
#[test]
fn locks_of_queries_leave_no_plan() {
    let locking = RULES.iter().find(|rules| rules.queries_lock).unwrap();
    let by_locks: &'static _ =
        Box::leak(Box::new(crate::search::level::EngineRules { serializable: false, ..*locking }));
    random_cycles(200..230, &mut |searched, cycle| {
        let shown = cycle.show(&searched.conflicts, &searched.sample.names());
        let all: Vec<Target> = vec![Target::Engine(by_locks); cycle.visits.len()];
        // What is apart by locks and must meet, rows permitting, is for the solver to find out.
        for plan in searched.plans(cycle, &all, 12) {
            assert!(!plan.apart.is_empty(), "{shown}");
        }
    });
}

#[test]
fn what_a_strong_level_shows_a_weaker_one_shows() {
    let chains = [
        ["snapshot isolation", "parallel snapshot isolation", "causal", "causal visibility", "eventual"].as_slice(),
        &["snapshot isolation", "parallel snapshot isolation", "repeatable read", "eventual"],
        &["snapshot isolation", "parallel snapshot isolation", "read committed", "eventual"],
        &["linearizable", "eventual"],
    ];
    random_cycles(300..330, &mut |searched, cycle| {
        for chain in chains {
            let found: Vec<bool> = chain.iter().map(|level| searched.has_plan(cycle, store(level))).collect();
            let shown = cycle.show(&searched.conflicts, &searched.sample.names());
            assert!(found.is_sorted(), "{shown}: {chain:?} {found:?}");
        }
    });
}

/// Whatever the level, a plan is what it says.
#[test]
fn plans_are_well_formed() {
    let levels = [
        store("eventual"),
        store("read committed"),
        store("snapshot isolation"),
        engine("postgres", "read committed"),
        engine("postgres", "repeatable read"),
        engine("mysql", "repeatable read"),
        engine("mysql", "read uncommitted"),
    ];
    let mut count = 0;
    random_cycles(400..430, &mut |searched, cycle| {
        let Some(ways) = searched.ways(cycle) else { return };
        for level in levels {
            for plan in searched.plans(cycle, &vec![level; cycle.visits.len()], 12) {
                check_plan(searched, cycle, &ways, &plan);
                count += 1;
            }
        }
    });
    assert!(count > 3_000, "{count}");
}

fn check_plan(searched: &Searched, cycle: &Cycle, ways: &[Way], plan: &Plan) {
    let conflicts = &searched.conflicts;
    for (instance, way) in ways.iter().enumerate() {
        let own: Vec<usize> = plan.moves.iter().filter(|one| one.instance == instance).map(|one| one.at).collect();
        assert!(own.is_sorted_by(|a, b| a < b) && way.passed.iter().all(|at| own.contains(at)), "{own:?}");
    }
    let place = |instance: usize, number: usize| {
        let at = ways[instance].passed[number];
        plan.moves.iter().position(|one| *one == Move { instance, at }).unwrap()
    };
    assert_eq!(plan.sees.len(), plan.moves.len());
    for (place, sees) in plan.sees.iter().enumerate() {
        assert!(sees.is_sorted_by(|a, b| a < b));
        assert!(sees.iter().all(|seen| *seen < place && plan.moves[*seen].instance != plan.moves[place].instance));
    }
    assert!(plan.apart.iter().all(|pair| pair.first < pair.second));
    for (instance, visit) in cycle.visits.iter().enumerate() {
        let next = cycle.next(instance);
        let (from, to) = (place(instance, visit.left()), place(next, cycle.visits[next].entered()));
        match conflicts.edge(visit.hop).kind {
            Kind::Wr => assert!(from < to && (plan.is_open || plan.sees[to].contains(&from))),
            Kind::Rw => assert!(!plan.sees[from].contains(&to)),
            Kind::Ww => assert!(from < to),
        }
    }
}

#[test]
fn a_call_that_commits_in_the_middle_is_not_protected() {
    for (text, expect) in [(CHOPPED, true), (WHOLE, false)] {
        let searched = Searched::new(text, TWO, Options::default());
        for level in [engine("postgres", "serializable"), engine("mysql", "serializable"), store("strictly serial")] {
            assert_eq!(searched.shows("lost update", level), expect, "{level}");
        }
    }
}

/// Balance sees TransactSavings and not WriteCheck, which has not seen TransactSavings either (Fekete et al. 2004).
#[test]
fn a_call_that_only_reads_sees_an_impossible_state_under_snapshot_isolation() {
    let (_, files) = BENCHMARKS.iter().find(|(name, _)| *name == "smallbank").unwrap();
    let bounds = Bounds { length: 5, ..Bounds::default() };
    let searched = Searched::of(Sample::benchmark(*files), bounds, Options { external: true, ..Options::default() });
    let names = searched.sample.names();
    let wanted = "balance -rw checking-> write_check -rw savings-> transact_savings -wr savings->";
    let is_it = |cycle: &&Cycle| cycle.structure(&searched.conflicts).show(&searched.conflicts, &names) == wanted;
    let found: Vec<&Cycle> = searched.cycles.iter().filter(is_it).collect();
    let shows = |level: Target| found.iter().any(|cycle| searched.has_plan(cycle, level));
    for level in [store("snapshot isolation"), engine("postgres", "repeatable read"), engine("model", "si")] {
        assert!(shows(level), "{level}");
    }
    assert!(!shows(engine("postgres", "serializable")));
}

#[test]
fn locking_reads_prevent_lost_updates() {
    let with = |lock: &str| {
        procedures(&[&format!("SELECT n INTO :v FROM t WHERE id = :x {lock}; UPDATE t SET n = :v + 1 WHERE id = :x")])
    };
    let level = engine("postgres", "read committed");
    for (lock, expect) in [("", true), ("FOR UPDATE", false), ("FOR SHARE", false)] {
        assert_eq!(Searched::new(&with(lock), TWO, EXTERNAL).shows("lost update", level), expect, "{lock}");
    }
}

#[test]
fn each_call_may_have_its_own_level() {
    let text = procedures(&[
        "SELECT n INTO :v FROM t WHERE id = :x; UPDATE t SET n = :v + 1 WHERE id = :x",
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION; SELECT n INTO :v FROM t WHERE id = :x; \
         UPDATE t SET n = :v + 1 WHERE id = :x",
    ]);
    let searched = Searched::new(&text, TWO, EXTERNAL);
    let (weak, strong) = (engine("postgres", "read committed"), engine("postgres", "repeatable read"));
    // One call reads, another one writes, the first one writes.
    let loses = |reader: usize, writer: usize, levels: (Target, Target)| {
        let given = searched.sample.given();
        let mut is_found = false;
        for cycle in searched.cycles.iter().filter(|cycle| cycle.length() == 3) {
            let reads = |instance: &usize| cycle.visits[*instance].length() == 2;
            let of = |instance: usize| cycle.procedure(&searched.conflicts, instance);
            let first = (0..2).find(reads).unwrap();
            let is_it = classify(cycle, &searched.conflicts, &given).name == "lost update";
            if is_it && (of(first), of(1 - first)) == (reader, writer) {
                let levels = if first == 0 { [levels.0, levels.1] } else { [levels.1, levels.0] };
                is_found |= !searched.plans(cycle, &levels, 1).is_empty();
            }
        }
        is_found
    };
    assert!(loses(0, 0, (weak, weak)) && loses(0, 0, (weak, strong)));
    assert!(!loses(0, 0, (strong, weak)));
    // The second procedure sets its level by itself.
    assert!(loses(0, 1, (weak, weak)) && !loses(1, 0, (weak, weak)));
}

#[test]
fn foreign_keys_hold_the_rows_that_they_refer_to() {
    let text = procedures(&[
        "SELECT n INTO :v FROM parents WHERE id = :x; INSERT INTO t (id, owner, n) VALUES (:y, :x, :v)",
        "UPDATE parents SET n = n + 1 WHERE id = :x; SELECT COUNT(*) INTO :v FROM t; \
         UPDATE parents SET n = :v WHERE id = 1",
    ]);
    let searched = Searched::new(&text, TWO, EXTERNAL);
    let parents = searched.conflicts.table("parents").unwrap();
    let apart = |level: Target| {
        let all = searched.cycles.iter().flat_map(|cycle| searched.plans(cycle, &vec![level; cycle.visits.len()], 12));
        all.flat_map(|plan| {
            let is_insert = |place: usize| plan.moves[place].instance == 0 && plan.moves[place].at > 2;
            plan.apart
                .iter()
                .any(|pair| pair.table == parents && (is_insert(pair.first) || is_insert(pair.second)))
                .then_some(())
        })
        .count()
    };
    assert!(apart(engine("mysql", "read committed")) > 0);
    assert_eq!(apart(engine("model", "read committed")), 0);
}
