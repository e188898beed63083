use txloom_core::case::SessionName;
use txloom_core::outcome::ErrorClass;
use txloom_core::value::Value;

use super::*;

fn ring(nodes: u32) -> RingEngine {
    let target = format!("mariadb-ring:{nodes}");
    RingEngine::start(&target, &Programs::Newest, &ServerOptions::default(), nodes).unwrap()
}

fn setup() -> Vec<String> {
    let setup = ["CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 10), (2, 20)"];
    setup.map(str::to_string).to_vec()
}

fn open(engine: &mut RingEngine, id: usize) -> Box<dyn Session> {
    let name = SessionName::new("s").unwrap();
    engine.open(&SessionSpec { id: SessionId(id), name, node: Some(id as u32 + 1), level: None }).unwrap()
}

/// The rows of an answer: `(1, 10) (2, 20)`.
fn ask(session: &mut Box<dyn Session>, sql: &str) -> String {
    let outcome = session.execute(sql).unwrap();
    assert_eq!(outcome.error, None, "{sql}");
    outcome.rows().map(shown).unwrap_or_default()
}

fn shown(result: &StatementResult) -> String {
    let row = |row: &Vec<Value>| format!("({})", row.iter().map(Value::to_string).collect::<Vec<_>>().join(", "));
    let rows = txloom_core::dialect::Dialect::values(&txloom_core::dialect::MySql, result);
    rows.iter().map(row).collect::<Vec<_>>().join(" ")
}

fn happen(engine: &mut RingEngine, event: &str) {
    engine.event(&Event::parse(event).unwrap()).unwrap();
}

fn state(engine: &mut RingEngine) -> Vec<String> {
    let state = engine.snapshot().unwrap();
    state.tables.iter().map(|(name, table)| format!("{name} {}", shown(table))).collect()
}

#[test]
fn a_ring_of_two_agrees_while_it_is_connected_and_swaps_rows_when_it_is_not() {
    let mut engine = ring(2);
    engine.reset(&setup()).unwrap();
    let (mut a, mut b) = (open(&mut engine, 0), open(&mut engine, 1));
    ask(&mut a, "UPDATE t SET v = 11 WHERE id = 1");
    assert_eq!(ask(&mut b, "SELECT * FROM t"), "(1, 11) (2, 20)", "it is there when the statement has ended");
    ask(&mut b, "BEGIN; UPDATE t SET v = 21 WHERE id = 2");
    assert_eq!(ask(&mut a, "SELECT v FROM t WHERE id = 2"), "(20)", "what is not committed is not replicated");
    ask(&mut b, "COMMIT");
    assert_eq!(ask(&mut a, "SELECT v FROM t WHERE id = 2"), "(21)");

    happen(&mut engine, "partition 1|2");
    ask(&mut a, "UPDATE t SET v = v + 1 WHERE id = 1; INSERT INTO t VALUES (3, 1)");
    ask(&mut b, "UPDATE t SET v = v + 5 WHERE id = 1; INSERT INTO t VALUES (3, 2)");
    assert_eq!(ask(&mut a, "SELECT * FROM t"), "(1, 12) (2, 21) (3, 1)");
    assert_eq!(ask(&mut b, "SELECT * FROM t"), "(1, 16) (2, 21) (3, 2)");
    happen(&mut engine, "heal");
    assert_eq!(ask(&mut a, "SELECT * FROM t"), "(1, 16) (2, 21) (3, 2)");
    assert_eq!(ask(&mut b, "SELECT * FROM t"), "(1, 12) (2, 21) (3, 1)");
    drop((a, b));
    assert_eq!(state(&mut engine), ["node2.t (1, 12) (2, 21) (3, 1)", "t (1, 16) (2, 21) (3, 2)"]);
    assert_eq!(shown(engine.probe("SELECT v FROM t WHERE id = 1").unwrap().rows().unwrap()), "(16)");

    // Whatever it has come to: the next case begins with servers that agree.
    engine.reset(&setup()).unwrap();
    assert_eq!(state(&mut engine), ["t (1, 10) (2, 20)"]);
}

/// A snapshot, and a probe when all sessions have ended, heal what is cut; a reset forgets it.
#[test]
fn what_was_kept_back_arrives_at_the_end_or_never() {
    let mut engine = ring(2);
    engine.reset(&setup()).unwrap();
    let mut b = open(&mut engine, 1);
    happen(&mut engine, "partition 1|2");
    ask(&mut b, "DELETE FROM t WHERE id = 1");
    let count = |engine: &mut RingEngine| shown(engine.probe("SELECT COUNT(*) FROM t").unwrap().rows().unwrap());
    assert_eq!(count(&mut engine), "(2)");
    drop(b);
    assert_eq!(count(&mut engine), "(1)");

    engine.reset(&setup()).unwrap();
    let mut b = open(&mut engine, 1);
    happen(&mut engine, "partition 1|2");
    ask(&mut b, "CREATE TABLE u (x INT PRIMARY KEY); INSERT INTO u VALUES (1)");
    drop(b);
    engine.reset(&setup()).unwrap();
    assert_eq!(state(&mut engine), ["t (1, 10) (2, 20)"]);
    // A table that a session makes is at all nodes, and gone at all of them afterwards.
    let (mut a, mut b) = (open(&mut engine, 0), open(&mut engine, 1));
    ask(&mut a, "CREATE TABLE u (x INT PRIMARY KEY)");
    ask(&mut b, "INSERT INTO u VALUES (7)");
    assert_eq!(ask(&mut a, "SELECT * FROM u"), "(7)");
    drop((a, b));
    engine.reset(&setup()).unwrap();
    assert_eq!(state(&mut engine), ["t (1, 10) (2, 20)"]);
}

/// A server that cannot apply a transaction because a session holds a lock keeps nobody waiting.
#[test]
fn a_lock_is_in_the_way_of_replication_until_it_is_given_back() {
    let mut engine = ring(2);
    engine.reset(&setup()).unwrap();
    let (mut a, mut b) = (open(&mut engine, 0), open(&mut engine, 1));
    ask(&mut b, "BEGIN; UPDATE t SET v = 5 WHERE id = 1");
    ask(&mut a, "UPDATE t SET v = 6 WHERE id = 1");
    ask(&mut b, "COMMIT");
    drop((a, b));
    assert_eq!(state(&mut engine), ["node2.t (1, 6) (2, 20)", "t (1, 5) (2, 20)"], "each heard of the other last");
}

#[test]
fn deliveries_go_along_the_ring() {
    let mut engine = ring(3);
    engine.reset(&setup()).unwrap();
    let (mut a, mut b, mut c) = (open(&mut engine, 0), open(&mut engine, 1), open(&mut engine, 2));
    ask(&mut c, "UPDATE t SET v = 22 WHERE id = 2");
    assert_eq!(ask(&mut b, "SELECT * FROM t"), "(1, 10) (2, 22)", "by way of 1");
    happen(&mut engine, "partition 1|2,3");
    ask(&mut a, "UPDATE t SET v = 11 WHERE id = 1");
    ask(&mut b, "UPDATE t SET v = 23 WHERE id = 2");
    let first = "SELECT v FROM t ORDER BY id";
    assert_eq!(
        (ask(&mut a, first), ask(&mut b, first), ask(&mut c, first)),
        ("(11) (22)".into(), "(10) (23)".into(), "(10) (23)".into())
    );
    happen(&mut engine, "deliver 1>3");
    assert_eq!(
        (ask(&mut a, first), ask(&mut b, first), ask(&mut c, first)),
        ("(11) (22)".into(), "(11) (23)".into(), "(11) (23)".into())
    );
    happen(&mut engine, "deliver 3>1");
    assert_eq!(ask(&mut a, first), "(11) (23)");
    for (event, expect) in [
        ("deliver 1>2 #1", "the event `@deliver 1>2 #1`"),
        ("kill", "the event `@kill`"),
        ("deliver 1>4", "node 4 (it has the nodes 1 to 3)"),
        ("partition 1|2", "does not say where node 3 belongs"),
    ] {
        let error = engine.event(&Event::parse(event).unwrap()).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    }
    let name = SessionName::new("s").unwrap();
    let spec = SessionSpec { id: SessionId(3), name, node: Some(4), level: None };
    assert!(engine.open(&spec).err().unwrap().to_string().contains("node 4"));
    drop((a, b, c));
    assert_eq!(state(&mut engine), ["t (1, 11) (2, 23)"]);
}

/// Replication that stops is told, and not waited for; the next case has a ring again.
#[test]
fn an_error_of_replication_is_told() {
    let mut engine = ring(2);
    engine.reset(&setup()).unwrap();
    let (mut a, mut b) = (open(&mut engine, 0), open(&mut engine, 1));
    ask(&mut b, "SET SESSION sql_log_bin = 0");
    ask(&mut b, "DROP TABLE t");
    let error = a.execute("INSERT INTO t VALUES (4, 4)").unwrap_err().to_string();
    assert!(error.contains("node 2 stopped replicating") && error.contains("doesn't exist"), "{error}");
    drop((a, b));
    engine.reset(&setup()).unwrap();
    let (mut a, mut b) = (open(&mut engine, 0), open(&mut engine, 1));
    ask(&mut a, "INSERT INTO t VALUES (4, 4)");
    assert_eq!(ask(&mut b, "SELECT v FROM t WHERE id = 4"), "(4)");
    assert_eq!(b.execute("INSERT INTO t VALUES (4, 5)").unwrap().error_class(), Some(ErrorClass::Unique));
}

#[test]
fn states_that_agree_are_one() {
    let table = |rows: &[&str]| StatementResult {
        columns: Vec::new(),
        rows: rows.iter().map(|cell| vec![Some(cell.as_bytes().to_vec())]).collect(),
        affected: None,
        tag: None,
    };
    let state = |tables: &[(&str, &[&str])]| State {
        tables: tables.iter().map(|(name, rows)| (name.to_string(), table(rows))).collect(),
    };
    let names = |states: Vec<State>| together(states).tables.into_keys().collect::<Vec<_>>().join(" ");
    assert_eq!(names(vec![state(&[("t", &["1", "2"])]), state(&[("t", &["2", "1"])])]), "t");
    assert_eq!(
        names(vec![state(&[("t", &["1"])]), state(&[("t", &["1"])]), state(&[("t", &["1", "1"])])]),
        "node3.t t"
    );
    assert_eq!(names(vec![state(&[]), state(&[("t", &[])])]), "node2.t");
    assert_eq!(names(vec![state(&[("t", &[])]), state(&[])]), "node2.t t");
}
