//! A server with a database that matters, a user who may do anything, and input that means harm: the server's log holds no
//! statement about that database, and its rows are the same afterwards.

use std::process::Command;

use txloom::servers::mysql::Product;
use txloom::servers::{PrivateMySql, PrivatePostgres, Programs, ServerOptions};

use crate::support::{TestDir, limited, output};

/// Clumsy and hostile steps for MariaDB. Each names what must not be touched.
const MARIADB: &[&str] = &[
    "DROP DATABASE precious",
    "USE precious",
    "UPDATE precious.t SET v = 7",
    "INSERT INTO `precious`.`t` VALUES (7, 7)",
    "CREATE VIEW v AS SELECT * FROM precious.t",
    "ALTER TABLE precious.t ADD COLUMN w INT",
    "CREATE TABLE precious.u (id INT)",
    "SELECT * FROM a, precious.t FOR UPDATE",
    "SELECT 'it\\'s'; DELETE FROM precious.t -- '",
    "SELECT 1 /*!50000 ; DROP DATABASE precious */",
    "PREPARE s FROM 'DROP DATABASE precious'",
    "CREATE PROCEDURE p() DELETE FROM precious.t",
    "SHOW TABLES FROM precious",
];

/// The same for PostgreSQL.
const POSTGRES: &[&str] = &[
    "DROP DATABASE precious",
    "ALTER DATABASE precious SET work_mem = '1MB'",
    "CREATE ROLE precious_role SUPERUSER",
    "COPY a TO PROGRAM 'echo precious'",
    "COPY a FROM '/tmp/precious'",
    "SELECT * FROM dblink('dbname=precious', 'SELECT 1') AS t(a int)",
    "DO $$ BEGIN EXECUTE 'DROP ' || 'DATABASE precious'; END $$",
    "SELECT E'\\'; DROP DATABASE precious; --'",
    "UPDATE pg_database SET datallowconn = false WHERE datname = 'precious'",
];

/// Everything that takes a target and input, for one hostile statement; `run` alone, if it need not be thorough.
fn attack(dir: &TestDir, url: &str, statement: &str, is_thorough: bool) {
    let allow = ["--on", url, "--allow-superuser"];
    let table = "/*init*/ CREATE TABLE a (id INT PRIMARY KEY, v INT);\n";
    let cases = [
        ("step", format!("{table}/*a*/ BEGIN;\n/*a*/ {statement};\n/*b*/ SELECT v FROM a;\n/*a*/ COMMIT;\n")),
        ("setup", format!("{table}/*init*/ {statement};\n/*a*/ SELECT v FROM a;\n")),
        ("assert", format!("-- @assert each x: {statement}\n{table}/*a*/ SELECT v FROM a;\n")),
    ];
    let files = cases.map(|(name, text)| dir.file(&format!("{name}.sql"), &text));
    output(&[&["run", &files[0], &files[1], &files[2]][..], &allow].concat());
    if !is_thorough {
        return;
    }
    for file in &files {
        output(&[&["reduce", file][..], &allow].concat());
        output(&[&["run", file, "--oracle", "serial"][..], &allow].concat());
    }
    let schema = dir.file("schema.sql", &format!("CREATE TABLE a (id INT PRIMARY KEY, v INT);\n{statement};\n"));
    let source = dir.file(
        "source.sql",
        &format!("CREATE PROCEDURE p(x INT)\nBEGIN\n  SELECT v INTO @y FROM a WHERE id = x;\n  {statement};\nEND;\n"),
    );
    output(&[&["analyze", &source, "--schema", &schema, "--run"][..], &allow].concat());
}

/// Everything that needs no input.
fn use_it(dir: &TestDir, url: &str) {
    let out = dir.path().join("found").display().to_string();
    output(&["hunt", url, "--cases", "4", "-o", &out, "--allow-superuser"]);
    output(&["storm", url, "--for", "1s", "--allow-superuser"]);
    output(&["levels", url, "--level", "read-committed", "--allow-superuser"]);
    output(&["doctor", url, "--sweep"]);
}

fn run(program: &mut Command) -> String {
    let done = program.output().unwrap_or_else(|error| panic!("{program:?}: {error}"));
    assert!(done.status.success(), "{program:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
fn mariadb_sees_no_statement_about_another_database() {
    limited(|| {
        let extra = vec![("general-log".to_string(), "1".to_string()), ("log-output".to_string(), "TABLE".to_string())];
        let options = ServerOptions { extra, ..ServerOptions::default() };
        let server = PrivateMySql::start(Product::MariaDb, &Programs::Newest, options);
        let server = server.unwrap_or_else(|error| panic!("{error}"));
        let socket = server.socket_path().display().to_string();
        let ask = |sql: &str| {
            let login = ["--no-defaults", "-N", "-S", &socket, "-u", server.superuser()];
            run(Command::new("mariadb").args(login).args(["-e", sql]))
        };
        ask("CREATE DATABASE precious; CREATE TABLE precious.t (id INT PRIMARY KEY, v INT); \
             INSERT INTO precious.t VALUES (1, 1), (2, 2); CREATE USER borrower; GRANT ALL ON *.* TO borrower");
        let checksum = ask("CHECKSUM TABLE precious.t; SHOW TABLES FROM precious");
        let dir = TestDir::new("precious-mariadb");
        let url = format!("mysql://borrower@?socket={socket}");
        for (at, statement) in MARIADB.iter().enumerate() {
            attack(&dir, &url, statement, at < 4);
        }
        use_it(&dir, &url);
        assert_eq!(ask("CHECKSUM TABLE precious.t; SHOW TABLES FROM precious"), checksum);
        let log = ask("SELECT argument FROM mysql.general_log WHERE user_host LIKE 'borrower%'");
        assert!(log.contains("CREATE TABLE a"), "the cases were run: {log}");
        let strays: Vec<&str> = log.lines().filter(|line| line.contains("precious")).collect();
        assert_eq!(strays, Vec::<&str>::new());
        let left = ask("SHOW DATABASES LIKE 'txloom%'");
        assert_eq!(left, "");
    });
}

#[test]
fn postgresql_sees_no_statement_beyond_its_database() {
    limited(|| {
        let extra = vec![("log_statement".to_string(), "all".to_string())];
        let options = ServerOptions { extra, ..ServerOptions::default() };
        let server = PrivatePostgres::start(&Programs::Newest, options).unwrap_or_else(|error| panic!("{error}"));
        let dir = TestDir::new("precious-postgres");
        let host = server.socket_dir().display().to_string();
        let ask = |database: &str, sql: &str| {
            run(Command::new("psql").args(["-X", "-At", "-h", &host, "-U", server.superuser(), "-c", sql, database]))
        };
        ask("postgres", "CREATE DATABASE precious");
        ask("precious", "CREATE TABLE t AS SELECT n AS id FROM generate_series(1, 9) n");
        ask("postgres", "CREATE ROLE borrower LOGIN SUPERUSER");
        let before = std::fs::read_to_string(server.log_path()).unwrap_or_default().len();
        let url = format!("postgres://borrower@/postgres?host={host}");
        for (at, statement) in POSTGRES.iter().enumerate() {
            attack(&dir, &url, statement, at < 4);
        }
        use_it(&dir, &url);
        let log = std::fs::read_to_string(server.log_path()).expect("the log is there");
        let log = &log[before..];
        assert!(log.contains("CREATE TABLE a"), "the cases were run: {log}");
        let strays: Vec<&str> = log.lines().filter(|line| line.contains("precious")).collect();
        assert_eq!(strays, Vec::<&str>::new());
        assert_eq!(ask("precious", "SELECT sum(id) FROM t"), "45\n");
        let left = ask("postgres", "SELECT datname FROM pg_database WHERE datname LIKE 'txloom%'");
        assert_eq!(left, "");
    });
}
