//! Servers that are not ours: one database of our own, and nothing else.

use std::net::TcpListener;

use super::super::super::access::AccessOptions;
use super::*;

/// A user who may do anything, allowed to.
const ALL: AccessOptions = AccessOptions {
    allow_superuser: true,
    allow_server_changes: true,
    insecure_auth: false,
    max_connections: None,
    password: None,
};

/// A server that listens on TCP, with users that have passwords and few rights.
fn foreign(extra: &[(&str, &str)]) -> (PrivateMySql, u16) {
    testing::sweep_up_after_us();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let text = port.to_string();
    let usual = [
        ("skip-networking", "0"),
        ("bind-address", "127.0.0.1"),
        ("port", text.as_str()),
        ("innodb-status-output-locks", "OFF"),
        ("performance-schema", "OFF"),
    ];
    let server = private(&[&usual, extra].concat());
    let socket = server.socket_path().display().to_string();
    let mut engine = MySqlEngine::connect("root", &format!("mysql://root@/?socket={socket}"), &ALL).unwrap();
    let mut root = open(&mut engine, 0);
    for sql in [
        "CREATE USER tester IDENTIFIED BY 'p@ss/word'",
        "GRANT ALL ON `txloom\\_%`.* TO tester",
        "GRANT PROCESS ON *.* TO tester",
        "CREATE USER pauper IDENTIFIED BY ''",
        "CREATE DATABASE precious; CREATE TABLE precious.t (id INT); INSERT INTO precious.t VALUES (1)",
    ] {
        ok(&mut root, sql);
    }
    (server, port)
}

fn connect(port: u16, user: &str) -> Result<MySqlEngine, String> {
    let url = format!("mysql://{user}@127.0.0.1:{port}/precious");
    // Of few connections half would not be enough for these tests.
    let access = AccessOptions { max_connections: Some(1000), ..AccessOptions::default() };
    MySqlEngine::connect("foreign", &url, &access).map_err(|error| error.to_string())
}

fn names_of_databases(engine: &mut MySqlEngine) -> String {
    rows(&engine.probe("SHOW DATABASES").unwrap())
}

#[test]
fn cases_run_in_a_database_that_comes_and_goes() {
    let (_server, port) = foreign(&[]);
    let mut engine = connect(port, "tester:p%40ss%2Fword").unwrap();
    assert!(!engine.info().capabilities.kill);
    let setup = ["CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (1), (2)", "DELETE FROM t WHERE id = 2"];
    for _ in 0..2 {
        reset(&mut engine, &setup);
        let (mut a, b) = (open(&mut engine, 0), open(&mut engine, 1));
        ok(&mut a, "BEGIN; DELETE FROM t WHERE id = 1");
        let b = InFlight::start(b, "UPDATE t SET id = 3");
        // The server is not told to list locks, so nobody knows for whom.
        assert_eq!(await_listed(&mut engine, &[1], 1), (vec![], "SHOW ENGINE INNODB STATUS"));
        ok(&mut a, "ROLLBACK");
        assert_eq!(b.finish().1.affected(), Some(1));
        assert_eq!(state(&mut engine), BTreeMap::from([("t".to_string(), "(3)".to_string())]));
    }
    assert!(names_of_databases(&mut engine).contains("txloom_"));
    drop(engine);
    let mut root = connect(port, "tester:p%40ss%2Fword").unwrap();
    let own = root.database.clone();
    assert_eq!(names_of_databases(&mut root).matches("txloom_").count(), 1, "{own} alone");
}

#[test]
fn what_cannot_be_done_is_said_with_what_to_do() {
    let (_server, port) = foreign(&[("max-connections", "10")]);
    let error = connect(port, "tester:wrong").err().unwrap();
    assert!(error.contains("cannot log in") && error.contains("check user and password"), "{error}");
    let error = connect(port, "pauper").err().unwrap();
    assert!(error.contains("cannot create the database") && error.contains("GRANT ALL"), "{error}");
    let error = connect(1, "tester").err().unwrap();
    assert!(error.contains("nobody listens there"), "{error}");

    let mut engine = connect(port, "tester:p%40ss%2Fword").unwrap();
    reset(&mut engine, &["CREATE TABLE t (id INT)"]);
    let mut sessions = Vec::new();
    let error = loop {
        let name = SessionName::new(&format!("s{}", sessions.len())).unwrap();
        match engine.open(&SessionSpec { id: SessionId(sessions.len()), name, node: None, level: None }) {
            Ok(session) => sessions.push(session),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("Too many connections") && error.contains("max_connections"), "{error}");
    assert!(sessions.len() >= 5, "{}", sessions.len());
    sessions.clear();
    reset(&mut engine, &["CREATE TABLE t (id INT)"]);
    ok(&mut open(&mut engine, 0), "INSERT INTO t VALUES (1)");
}

#[test]
fn what_a_user_may_do_is_looked_at_first() {
    let (server, port) = foreign(&[]);
    let url = format!("mysql://{}@?socket={}", server.superuser(), server.socket());
    let error = MySqlEngine::connect("root", &url, &AccessOptions::default()).err().unwrap().to_string();
    assert!(error.contains("--allow-superuser"), "{error}");
    let report = MySqlEngine::examine_access("root", &url, &AccessOptions::default(), false).unwrap();
    assert!(report.excess.iter().any(|grant| grant.contains("ALL PRIVILEGES ON *.*")), "{report:?}");
    let url = format!("mysql://tester:p%40ss%2Fword@127.0.0.1:{port}/");
    let report = MySqlEngine::examine_access("tester", &url, &AccessOptions::default(), false).unwrap();
    assert_eq!(report.excess, Vec::<String>::new());
}

#[test]
fn what_a_dead_process_left_is_dropped_and_nothing_else() {
    let (_server, port) = foreign(&[]);
    let mut engine = connect(port, "tester:p%40ss%2Fword").unwrap();
    let (own, other) = (engine.database.clone(), "txloom_0000000000_1_1_00000000");
    // The same process number, that began at another time.
    let parts: Vec<&str> = own.split('_').collect();
    let dead = format!("txloom_{}_{}_{}1_00000000", parts[1], parts[2], parts[3]);
    engine.probe(&format!("CREATE DATABASE {other}")).expect_err("the guard is in the way");
    let mut open = MySqlEngine::connect(
        "foreign",
        &format!("mysql://tester:p%40ss%2Fword@127.0.0.1:{port}/"),
        &AccessOptions { allow_server_changes: true, ..AccessOptions::default() },
    )
    .unwrap();
    for database in [other, &dead] {
        assert_eq!(open.probe(&format!("CREATE DATABASE {database}")).unwrap().error, None);
    }
    let third = connect(port, "tester:p%40ss%2Fword").unwrap();
    let names = names_of_databases(&mut open);
    assert!(names.contains(&own) && names.contains(&third.database) && names.contains(other), "{names}");
    assert!(!names.contains(&dead), "{names}");
}
