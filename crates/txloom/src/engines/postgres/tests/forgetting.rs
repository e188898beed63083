//! Reset is complete, and a snapshot holds what was committed.

use txloom_core::outcome::{ErrorClass, TxStatus};

use super::*;

/// Everything on the server that did not come with it, and all settings.
const TRACES: &str = "
    SELECT string_agg(what, ' ' ORDER BY what) FROM (
        SELECT 'relation ' || relname AS what FROM pg_class WHERE oid >= 16384
        UNION ALL SELECT 'type ' || typname FROM pg_type WHERE oid >= 16384
        UNION ALL SELECT 'function ' || proname FROM pg_proc WHERE oid >= 16384
        UNION ALL SELECT 'operator ' || oprname FROM pg_operator WHERE oid >= 16384
        UNION ALL SELECT 'collation ' || collname FROM pg_collation WHERE oid >= 16384
        UNION ALL SELECT 'text search ' || cfgname FROM pg_ts_config WHERE oid >= 16384
        UNION ALL SELECT 'schema ' || nspname || ' ' || nspacl::text FROM pg_namespace WHERE nspname !~ '^pg_'
        UNION ALL SELECT 'role ' || rolname FROM pg_roles WHERE oid >= 16384
        UNION ALL SELECT 'database ' || datname FROM pg_database WHERE oid >= 16384
        UNION ALL SELECT 'extension ' || extname FROM pg_extension
        UNION ALL SELECT 'event trigger ' || evtname FROM pg_event_trigger
        UNION ALL SELECT 'publication ' || pubname FROM pg_publication
        UNION ALL SELECT 'cast ' || oid FROM pg_cast WHERE oid >= 16384
        UNION ALL SELECT 'large object ' || oid FROM pg_largeobject_metadata
        UNION ALL SELECT 'setting ' || setconfig::text FROM pg_db_role_setting
        UNION ALL SELECT 'prepared ' || gid FROM pg_prepared_xacts
        UNION ALL SELECT 'default acl ' || oid FROM pg_default_acl
        UNION ALL SELECT 'server ' || srvname FROM pg_foreign_server
        UNION ALL SELECT 'advisory lock' FROM pg_locks WHERE locktype = 'advisory'
        UNION ALL SELECT 'work_mem ' || setting FROM pg_settings WHERE name = 'work_mem'
        UNION ALL SELECT 'search_path ' || setting FROM pg_settings WHERE name = 'search_path'
    ) AS traces";

/// What a case may do, one message each. The first group goes in a moment; the second costs a new data directory.
const USUAL: &[&str] = &[
    "CREATE TABLE t (id serial PRIMARY KEY, v text UNIQUE, parent int REFERENCES t); INSERT INTO t (v) VALUES ('x')",
    "CREATE TABLE \"Weird \"\"name\" (a int GENERATED ALWAYS AS IDENTITY); CREATE VIEW v AS SELECT 1 AS one",
    "CREATE TABLE p (a int) PARTITION BY LIST (a); CREATE TABLE p1 PARTITION OF p FOR VALUES IN (7)",
    "CREATE TABLE base (a int); CREATE TABLE child () INHERITS (base); CREATE MATERIALIZED VIEW m AS TABLE base",
    "CREATE SEQUENCE s; CREATE UNLOGGED TABLE u (a int)",
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE TYPE mood AS ENUM ('sad'); CREATE DOMAIN d AS int; CREATE TYPE pair AS (a int, b int)",
    "CREATE SCHEMA other; CREATE TABLE other.t (a int); CREATE COLLATION other.c FROM \"C\"",
    "DROP SCHEMA public CASCADE",
    "GRANT ALL ON SCHEMA public TO PUBLIC",
    "BEGIN; CREATE TABLE t (a int); PREPARE TRANSACTION 'it''s'",
    "SET work_mem = '1MB'; CREATE TEMP TABLE tmp (a int); SELECT pg_advisory_lock(7); SET search_path = pg_catalog",
    "BEGIN; CREATE TABLE unfinished (a int)",
];

const UNUSUAL: &[&str] = &[
    "CREATE ROLE somebody; ALTER ROLE somebody SET work_mem = '1MB'",
    "ALTER DATABASE postgres SET work_mem = '1MB'",
    "ALTER SYSTEM SET work_mem = '1MB'",
    "SELECT lo_create(0); CREATE PUBLICATION pub FOR ALL TABLES",
    "CREATE FUNCTION e() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';
     CREATE EVENT TRIGGER tr ON ddl_command_start EXECUTE PROCEDURE e()",
    "CREATE FUNCTION pg_catalog.hidden() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE DATABASE another",
];

#[test]
fn the_usual_is_forgotten() {
    let mut engine = shared(&[]);
    let pristine = cell(&engine.probe(TRACES).unwrap());
    let server = server_id(&engine);
    for message in USUAL {
        // Once by the setup, once by a session.
        let outcomes = engine.reset(&[(*message).to_string()]).unwrap();
        assert_eq!(outcomes[0].error, None, "{message}");
        reset(&mut engine, &[]);
        assert_eq!(cell(&engine.probe(TRACES).unwrap()), pristine, "{message}");
        let mut a = open(&mut engine, 0);
        ok(&mut a, message);
        drop(a);
        reset(&mut engine, &[]);
        assert_eq!(cell(&engine.probe(TRACES).unwrap()), pristine, "{message}");
    }
    assert_eq!(server_id(&engine), server, "none of this needed a new server");
}

#[test]
fn the_unusual_is_forgotten_too() {
    let mut engine = shared(&[]);
    let pristine = cell(&engine.probe(TRACES).unwrap());
    for message in UNUSUAL {
        let server = server_id(&engine);
        let mut a = open(&mut engine, 0);
        for statement in message.split(';') {
            ok(&mut a, statement);
        }
        drop(a);
        reset(&mut engine, &[]);
        assert_eq!(cell(&engine.probe(TRACES).unwrap()), pristine, "{message}");
        assert_ne!(server_id(&engine), server, "{message}");
    }
}

/// The process number of the engine's server.
fn server_id(engine: &PostgresEngine) -> u32 {
    match &engine.home {
        super::super::Home::Private(server) => server.id(),
        super::super::Home::Borrowed(_) => panic!("not a private server"),
    }
}

#[test]
fn sessions_that_hold_locks_are_not_in_the_way() {
    let mut engine = shared(&["CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)"]);
    for _ in 0..20 {
        let (mut a, mut b) = (open(&mut engine, 0), open(&mut engine, 1));
        ok(&mut a, "BEGIN");
        ok(&mut a, "LOCK TABLE t");
        ok(&mut b, "CREATE TEMP TABLE mine (a int)");
        drop((a, b));
        reset(&mut engine, &["CREATE TABLE t (a int)"]);
    }
}

#[test]
fn a_setup_stops_at_its_first_error() {
    let mut engine = shared(&[]);
    let setup = ["CREATE TABLE t (a int)", "BEGIN", "INSERT INTO absent VALUES (1)", "CREATE TABLE u (a int)"];
    let outcomes = engine.reset(&setup.map(String::from)).unwrap();
    assert_eq!(outcomes.len(), 3);
    assert_eq!((outcomes[2].error_class(), outcomes[2].status), (Some(ErrorClass::UnknownObject), TxStatus::Failed));
    assert_eq!(engine.snapshot().unwrap().tables.keys().collect::<Vec<_>>(), ["t"]);
}

#[test]
fn settings_of_the_setup_reach_every_new_session() {
    let mut engine = shared(&[]);
    // Leaves connections behind, which have logged in before the setup.
    drop(open(&mut engine, 0));
    reset(&mut engine, &["ALTER DATABASE postgres SET work_mem = '5MB'"]);
    let mut a = open(&mut engine, 0);
    assert_eq!(cell(&ok(&mut a, "SHOW work_mem")), "5MB");
}

#[test]
fn a_case_that_throws_everybody_out_throws_nobody_off() {
    let mut engine = shared(&["CREATE TABLE t (a int)"]);
    let mut a = open(&mut engine, 0);
    ok(
        &mut a,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname <> ''",
    );
    assert!(engine.waits(&[SessionId(0)]).is_ok());
    assert_eq!(cell(&engine.probe("SELECT 1").unwrap()), "1");
    let mut b = open(&mut engine, 1);
    ok(&mut b, "INSERT INTO t VALUES (1)");
    drop((a, b));
    reset(&mut engine, &[]);
    assert!(engine.snapshot().unwrap().tables.is_empty());
}

#[test]
fn a_snapshot_holds_every_committed_row_once() {
    let mut engine = shared(&[
        "CREATE TABLE t (id int PRIMARY KEY, v text)",
        "INSERT INTO t VALUES (2, NULL), (1, 'x')",
        "CREATE TABLE \"Odd name\" (b bool)",
        "CREATE TABLE p (a int) PARTITION BY LIST (a)",
        "CREATE TABLE p1 PARTITION OF p FOR VALUES IN (7)",
        "INSERT INTO p VALUES (7)",
        "CREATE TABLE base (a int)",
        "CREATE TABLE child (extra int) INHERITS (base)",
        "INSERT INTO base VALUES (1)",
        "INSERT INTO child VALUES (2, 3)",
        "CREATE SCHEMA s",
        "CREATE TABLE s.t (n numeric)",
        "INSERT INTO s.t VALUES (1.50)",
        "CREATE VIEW v AS SELECT * FROM t",
        "CREATE TABLE none ()",
    ]);
    let mut a = open(&mut engine, 0);
    ok(&mut a, "BEGIN");
    ok(&mut a, "DELETE FROM t");
    let state = engine.snapshot().unwrap();
    let expected = BTreeMap::from([
        ("Odd name", "bool: "),
        ("base", "int4: 1"),
        ("child", "int4,int4: 2,3"),
        ("none", ": "),
        ("p", "int4: 7"),
        ("s.t", "numeric: 1.50"),
        ("t", "int4,text: 1,x | 2,NULL"),
    ]);
    assert_eq!(show_state(&state), expected.into_iter().map(|(name, rows)| (name, rows.to_string())).collect());
    drop(a);
    reset(&mut engine, &[]);
    assert_eq!(engine.snapshot().unwrap(), State::default());
}

#[test]
fn a_probe_leaves_nothing_open() {
    let mut engine = shared(&["CREATE TABLE t (a int)"]);
    assert_eq!(engine.probe("BEGIN; LOCK TABLE t").unwrap().status, TxStatus::Idle);
    assert_eq!(engine.probe("BEGIN; SELECT 1 / 0").unwrap().error_class(), Some(ErrorClass::DivisionByZero));
    let mut a = open(&mut engine, 0);
    ok(&mut a, "SET lock_timeout = '1s'");
    ok(&mut a, "DROP TABLE t");
}

#[test]
fn many_cases_do_not_fill_the_disk() {
    let mut engine = shared(&[]);
    engine.cases_since_vacuum = u32::MAX - 1;
    reset(&mut engine, &["CREATE TABLE t (a int)"]);
    assert_eq!(engine.cases_since_vacuum, 0, "the catalogs were vacuumed");
}
