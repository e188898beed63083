//! Servers that are not ours: one of our own plays the part.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use txloom_core::engine::EngineErrorKind;

use super::super::super::access::AccessOptions;
use super::super::super::wire::security::Security;
use super::super::super::wire::url::Password;
use super::super::connection::{Connection, Login};
use super::super::url::socket_in;
use super::*;
use crate::servers::ScratchDir;

/// A user who may do anything, allowed to.
const ALL: AccessOptions = AccessOptions {
    allow_superuser: true,
    allow_server_changes: true,
    insecure_auth: false,
    max_connections: None,
    password: None,
};

/// A running server with users that log in by each method.
struct Foreign {
    server: PrivatePostgres,
    admin: Connection,
}

const HBA: &str = "\
local all postgres trust
local all md5_user md5
local all plain_user password
local all all scram-sha-256
";

impl Foreign {
    fn start() -> Foreign {
        let scratch = ScratchDir::create().unwrap();
        // For the server's user to read.
        fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let hba = scratch.path().join("hba");
        fs::write(&hba, HBA).unwrap();
        let server = private(&[("hba_file", hba.to_str().unwrap()), ("deadlock_timeout", "50ms")]);
        let admin = Connection::open(&login(&server.socket_dir())).unwrap();
        let mut foreign = Foreign { server, admin };
        foreign.ask("SET password_encryption = 'scram-sha-256'");
        foreign.ask("CREATE ROLE owner LOGIN CREATEDB PASSWORD 'it''s @ secret/'");
        foreign.ask("CREATE ROLE poor LOGIN PASSWORD 'secret'");
        foreign.ask("CREATE ROLE plain_user LOGIN CREATEDB PASSWORD 'secret'");
        foreign.ask("SET password_encryption = md5");
        foreign.ask("CREATE ROLE md5_user LOGIN CREATEDB PASSWORD 'secret'");
        foreign
    }

    fn ask(&mut self, sql: &str) -> String {
        let outcome = self.admin.execute(sql, |_| String::new()).unwrap();
        assert_eq!(outcome.error, None, "{sql}");
        if outcome.rows().is_some() { cell(&outcome) } else { String::new() }
    }

    fn url(&self, user: &str, database: &str) -> String {
        format!("postgres://{user}@/{database}?host={}", self.server.socket_dir().display())
    }

    fn databases(&mut self) -> String {
        self.ask("SELECT string_agg(datname, ' ' ORDER BY datname) FROM pg_database WHERE NOT datistemplate")
    }
}

fn login(dir: &Path) -> Login {
    Login {
        address: socket_in(dir, 5432),
        user: "postgres".to_string(),
        password: None,
        security: Security::default(),
        database: "postgres".to_string(),
        settings: vec![("statement_timeout", LIMIT.as_millis().to_string())],
        patience: Some(LIMIT),
    }
}

fn refusal(url: &str) -> String {
    let error = PostgresEngine::connect(url, url, &ALL).err().expect("a refusal");
    assert!(matches!(error.kind, EngineErrorKind::Unreachable(_)), "{error}");
    let text = error.to_string();
    assert!(!text.contains("secret") && !text.contains("wrong"), "{text}");
    text
}

#[test]
fn a_running_server_gets_one_database_which_goes_in_the_end() {
    let mut foreign = Foreign::start();
    for user in ["postgres", "owner:it's%20%40%20secret%2F"] {
        let before = foreign.databases();
        let url = foreign.url(user, "postgres");
        let mut engine = PostgresEngine::connect(&url, &url, &ALL).unwrap();
        assert!(!engine.info().target.contains("secret"), "{}", engine.info().target);
        assert!(!engine.info().capabilities.kill);
        assert!(foreign.databases().contains(" txloom_"), "{}", foreign.databases());
        reset(&mut engine, &["CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)"]);
        let (mut a, b) = (open(&mut engine, 0), open(&mut engine, 1));
        ok(&mut a, "BEGIN");
        ok(&mut a, "UPDATE t SET a = 2");
        let b = InFlight::start(b, "UPDATE t SET a = 3");
        assert_eq!(await_listed(&mut engine, &[1], 1), [session(0)]);
        ok(&mut a, "COMMIT");
        let (mut b, _) = b.finish();
        assert_eq!(show_state(&engine.snapshot().unwrap())["t"], "int4: 3");
        // A transaction that outlives its connection would keep the database from being dropped.
        ok(&mut b, "BEGIN");
        ok(&mut b, "DELETE FROM t");
        ok(&mut b, "PREPARE TRANSACTION 'left'");
        ok(&mut a, "SELECT lo_create(0)");
        drop((a, b));
        reset(&mut engine, &["CREATE TABLE t (a int)"]);
        assert_eq!(cell(&engine.probe("SELECT count(*) FROM pg_largeobject_metadata").unwrap()), "0");
        let mut a = open(&mut engine, 0);
        ok(&mut a, "BEGIN");
        ok(&mut a, "INSERT INTO t VALUES (1)");
        ok(&mut a, "PREPARE TRANSACTION 'left'");
        let error = engine.event(&txloom_core::case::Event::Kill).unwrap_err();
        assert!(matches!(error.kind, EngineErrorKind::Unsupported(_)), "{error}");
        drop(engine);
        assert_eq!(foreign.databases(), before, "while session a is still open");
    }
}

#[test]
fn every_kind_of_password_is_understood() {
    let foreign = Foreign::start();
    for (user, password) in [("owner", "it's @ secret/"), ("md5_user", "secret"), ("plain_user", "secret")] {
        let login = |password: &str| Login {
            user: user.to_string(),
            password: Some(Password(password.to_string())),
            ..login(&foreign.server.socket_dir())
        };
        assert!(Connection::open(&login(password)).is_ok(), "{user}");
        assert!(Connection::open(&login("wrong")).is_err(), "{user}");
    }
}

#[test]
fn refusals_say_what_to_do_and_keep_secrets() {
    let foreign = Foreign::start();
    let check = |url: String, expected: &[&str]| {
        let text = refusal(&url);
        for part in expected {
            assert!(text.contains(part), "{url}: {text}");
        }
    };
    check(foreign.url("owner:wrong", "postgres"), &["user `owner`", "28P01", "PGPASSWORD"]);
    check(foreign.url("nobody_here:wrong", "postgres"), &["nobody_here"]);
    check(foreign.url("poor:secret", "postgres"), &["may not create a database", "42501", "CREATEDB"]);
    check(foreign.url("postgres", "absent"), &["no database `absent`", "3D000"]);
    check("postgres://u:secret@127.0.0.1:1/x".into(), &["connect to 127.0.0.1:1: connection refused", "postgres://u@"]);
    check("postgres://u:secret@no-such-host.invalid/x".into(), &["no-such-host.invalid"]);
    check("postgres:///x?host=/no/such/dir&password=secret".into(), &["no such socket"]);
}

#[test]
fn a_superuser_must_be_allowed() {
    let mut foreign = Foreign::start();
    let url = foreign.url("postgres", "postgres");
    let error = PostgresEngine::connect(&url, &url, &AccessOptions::default()).err().unwrap().to_string();
    assert!(error.contains("--allow-superuser"), "{error}");
    let report = PostgresEngine::examine_access(&url, &url, &AccessOptions::default(), false).unwrap();
    assert!(report.excess.iter().any(|what| what.contains("superuser")), "{report:?}");
    let url = foreign.url("owner:it's%20%40%20secret%2F", "postgres");
    let mut engine = PostgresEngine::connect(&url, &url, &AccessOptions::default()).unwrap();
    let error = engine.reset(&["DROP DATABASE postgres".to_string()]).unwrap_err();
    assert!(matches!(error.kind, EngineErrorKind::Refused(_)), "{error}");
    let mut session = open(&mut engine, 0);
    assert!(session.execute("ALTER SYSTEM SET fsync = off").is_err());
    ok(&mut session, "SELECT 1");
    assert!(engine.probe("COPY (SELECT 1) TO PROGRAM 'true'").is_err());
    drop(session);
    let own = foreign.databases();
    let parts: Vec<&str> = own.split("txloom_").nth(1).unwrap().split(['_', ' ']).collect();
    let dead = format!("txloom_{}_{}_{}1_00000000", parts[0], parts[1], parts[2]);
    foreign.ask(&format!("CREATE DATABASE {dead} OWNER owner"));
    let other = PostgresEngine::connect(&url, &url, &AccessOptions::default()).unwrap();
    assert!(!foreign.databases().contains(&dead), "{}", foreign.databases());
    assert_eq!(foreign.databases().matches("txloom_").count(), 2);
    drop((engine, other));
}
