//! The graph oracle on real engines: the examples of its paper edge by edge, and silence.

use std::collections::BTreeSet;

use txloom::execute::EngineRunner;
use txloom_core::case::{self, Case};
use txloom_core::generate::random::Random;
use txloom_core::generate::{Demands, Generator, profile};
use txloom_core::graph::Graph;
use txloom_core::oracle::graph::{Followed, GraphOracle};
use txloom_core::oracle::{Runner as _, Verdict};

use crate::support::{limited, output, root, runner};

fn oracle() -> GraphOracle {
    GraphOracle::default()
}

fn read(name: &str) -> (String, Case) {
    let path = root().join("corpus/dependencies").join(format!("{name}.sql"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let case = case::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    (text, case)
}

fn follow(case: &Case, runner: &mut EngineRunner) -> Followed {
    match oracle().follow(case, None, 0, runner) {
        Ok((Verdict::Holds(_), followed)) => followed,
        Ok((other, _)) => panic!("{other:?}"),
        Err(error) => panic!("{error}"),
    }
}

/// `a2 b3 item-anti`
fn edges(graph: &Graph) -> BTreeSet<String> {
    let step = |at: usize| graph.statements[at].step.to_string();
    graph.edges.iter().map(|edge| format!("{} {} {}", step(edge.from), step(edge.to), edge.kind.name())).collect()
}

/// The edges that a case names in its prose, as far as they are for this engine.
fn named_edges(text: &str, family: &str) -> BTreeSet<String> {
    let edge = |line: &str| {
        let edge = line.strip_prefix("-- edge ")?;
        match edge.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
            Some((engine, edge)) => (engine == family).then(|| edge.to_string()),
            None => Some(edge.to_string()),
        }
    };
    text.lines().filter_map(edge).collect()
}

fn check_edges(names: &[&str], target: &str) {
    let mut runner = runner(target);
    for name in names {
        let (text, mut case) = read(name);
        // What others call repeatable read is called snapshot isolation there.
        if target == "model" && text.contains("repeatable read") {
            case.set_level(txloom_core::level::LevelName::custom("snapshot isolation"));
        }
        let followed = follow(&case, &mut runner);
        assert_eq!(edges(&followed.graph), named_edges(&text, target), "{name} on {target}");
    }
}

/// Cases in which a healthy engine rightly does what its snapshot does not show: keys and references are looked up in what
/// is there now. Each was taken for a bug once. With the edges that must be there.
const PAST_THE_SNAPSHOT: &[(&str, &str, &[&str])] = &[
    (
        "mariadb",
        "-- @isolation repeatable read
/*init*/ CREATE TABLE t (a INT PRIMARY KEY);
/*init*/ CREATE TABLE u (a INT PRIMARY KEY, b INT, FOREIGN KEY (b) REFERENCES t (a));
/*init*/ INSERT INTO t VALUES (0), (1);
/*a*/ DELETE FROM t WHERE a = 0;
/*b*/ INSERT IGNORE INTO u VALUES (1, 0);",
        &["a1 b1 key"],
    ),
    (
        "mariadb",
        "-- @isolation read committed
/*init*/ CREATE TABLE t (a INT PRIMARY KEY, c INT);
/*init*/ CREATE TABLE u (a INT PRIMARY KEY, b INT, FOREIGN KEY (b) REFERENCES t (a));
/*init*/ INSERT INTO t VALUES (0, 0);
/*init*/ INSERT INTO u VALUES (1, 0);
/*a*/ DELETE FROM u;
/*a*/ REPLACE INTO t VALUES (0, 5);",
        &["a1 a2 key"],
    ),
    (
        "postgres",
        "-- @isolation repeatable read
/*init*/ CREATE TABLE u (a INT PRIMARY KEY, b INT);
/*init*/ INSERT INTO u VALUES (1, 0), (2, 0);
/*a*/ BEGIN;
/*a*/ SELECT * FROM u;
/*b*/ DELETE FROM u;
/*a*/ INSERT INTO u VALUES (1, 7);
/*a*/ SELECT * FROM u;
/*a*/ COMMIT;",
        &["a2 b1 item-anti"],
    ),
    (
        "postgres",
        "-- @isolation repeatable read
/*init*/ CREATE TABLE u (a INT PRIMARY KEY, b INT);
/*init*/ INSERT INTO u VALUES (1, 0);
/*a*/ BEGIN;
/*a*/ SELECT * FROM u;
/*b*/ DELETE FROM u;
/*a*/ INSERT INTO u VALUES (1, 7) ON CONFLICT DO NOTHING;
/*a*/ COMMIT;",
        &["a2 b1 item-anti"],
    ),
];

#[test]
fn keys_and_references_are_looked_up_past_the_snapshot() {
    limited(|| {
        for (target, text, expected) in PAST_THE_SNAPSHOT {
            let case = case::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"));
            let found = edges(&follow(&case, &mut runner(target)).graph);
            assert!(expected.iter().all(|edge| found.contains(*edge)), "{text}\n{found:?}");
        }
    });
}

const DEPENDENCIES: &[&str] = &[
    "item-read",
    "item-write",
    "item-anti",
    "predicate-read",
    "predicate-write",
    "predicate-anti",
    "value-write",
    "figure-1",
    "figure-11",
];

#[test]
fn the_examples_of_the_paper_have_their_edges_on_postgres() {
    limited(|| check_edges(DEPENDENCIES, "postgres"));
}

#[test]
fn the_examples_of_the_paper_have_their_edges_on_mariadb() {
    limited(|| check_edges(DEPENDENCIES, "mariadb"));
}

#[test]
fn the_seven_dependencies_are_told_apart_on_model() {
    limited(|| check_edges(&DEPENDENCIES[..7], "model"));
}

/// Figures 4, 9 and 17 of the paper: what must come first, one of the orders, and a cycle of transactions.
#[test]
fn figure_1_is_sorted_although_its_transactions_are_a_cycle() {
    limited(|| {
        let (_, case) = read("figure-1");
        let graph = follow(&case, &mut runner("postgres")).graph;
        let name = |at: usize| graph.statements[at].step.to_string();
        let first: BTreeSet<String> = graph.zero_in_degree().into_iter().map(name).collect();
        assert_eq!(first, BTreeSet::from(["a3", "b2", "b3"].map(str::to_string)));
        let position = |wanted: &str| (0..5).find(|at| name(*at) == wanted).expect("a statement");
        let order = ["a3", "b2", "b3", "b4", "a2"].map(position);
        assert!(graph.respects(&order), "{:?}", edges(&graph));
        assert!(graph.is_transaction_cyclic(|_| true));
        assert!(!graph.is_transaction_cyclic(|kind| kind.is_item()));
    });
}

/// 500 generated cases at all levels, for each of four seeds a quarter: nothing is wrong with a healthy engine.
fn is_silent(target: &'static str) {
    for seed in ["1", "2", "3", "4"] {
        limited(move || {
            let hunt = ["hunt", target, "--oracle", "graph", "--profile", "txcheck", "--cases", "125", "--seed", seed];
            let finished = output(&hunt);
            // The model checks references at COMMIT: with some seeds the oracle refuses most of its cases, and says so.
            let may_be_refused = target == "model" && finished.stdout.contains("checked at COMMIT");
            assert!(finished.code == 0 || (finished.code == 5 && may_be_refused), "{finished:?}");
            assert!(!finished.stdout.contains('✗'), "{}", finished.stdout);
        });
    }
}

#[test]
fn sqlite_answers_the_same_without_transactions() {
    is_silent("sqlite");
}

#[test]
fn model_answers_the_same_without_transactions() {
    is_silent("model");
}

#[test]
fn postgres_answers_the_same_without_transactions() {
    is_silent("postgres");
}

#[test]
fn mariadb_answers_the_same_without_transactions() {
    is_silent("mariadb");
}

/// The theorem, on an engine: whichever sorted order is run, everything is answered the same.
#[test]
fn all_sorted_orders_agree_on_model() {
    limited(|| {
        let mut runner = runner("model");
        let model = profile::shipped("txcheck").expect("a shipped profile");
        let demands = Demands { reorderable: true, assertions: false };
        let generator = Generator::new(model, &runner.targets(), demands, &[], 5).expect("a generator");
        let oracle = GraphOracle { orders: 50, insists: false, ..GraphOracle::default() };
        let mut telling = 0;
        for case in (0..4).flat_map(|group| generator.group(group).cases) {
            let (verdict, followed) = oracle.follow(&case, None, 0, &mut runner).expect("it can be observed");
            assert!(!matches!(verdict, Verdict::Violated(_)), "{verdict:?}");
            telling += usize::from(followed.is_telling() && followed.orders == 50);
            let order = followed.graph.order(&mut Random::new(1, &[])).expect("the last graph has no cycle");
            assert!(followed.graph.respects(&order));
        }
        assert!(telling > 0);
    });
}

#[test]
fn what_cannot_be_followed_is_refused_with_a_reason() {
    limited(|| {
        let folder = crate::support::TestDir::new("graph-refused");
        let check = |setup: &str, statement: &str, target: &str, level: &str, reason: &str| {
            let text = format!("-- @case 1\n-- @isolation {level}\n/*init*/ {setup};\n/*a*/ {statement};\n");
            let file = folder.file("case.sql", &text);
            let finished = output(&["run", &file, "--on", target, "--oracle", "graph"]);
            let all = (finished.stdout + &finished.stderr).to_lowercase();
            let all = all.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(finished.code, 2, "{all}");
            assert!(all.contains(reason), "no `{reason}` in {all}");
        };
        let table = "CREATE TABLE t (id INT PRIMARY KEY, v INT)";
        check("CREATE TABLE t (v INT)", "UPDATE t SET v = 1", "sqlite", "serializable", "primary key");
        check(table, "UPDATE t SET id = 1", "sqlite", "serializable", "primary key");
        check(table, "UPDATE t SET v = 1", "mariadb", "read uncommitted", "read uncommitted");
    });
}
