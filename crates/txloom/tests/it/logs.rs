//! Server logs: read, analysed, and done again on a real database.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use txloom::corpus::PROGRAMS;
use txloom::engines::{self, Target};
use txloom::frontends::logs::{self, LogReading, RecordedCall, Writing};
use txloom::servers::{PrivatePostgres, Programs, ServerOptions};
use txloom_core::case::Call;
use txloom_core::engine::Engine;
use txloom_core::program::schema::Schema;
use txloom_core::program::{Language, Program};
use txloom_core::value::Value;

use crate::program_calls::{Calls, interpreted, session};
use crate::support::{TestDir, engine, limited, output};

/// Calls that the application makes.
const CALLS: usize = 40;
/// All rounds of all loops are written, so that every transaction can be done again.
const WHOLE: Writing = Writing { rounds: 40, items: 8 };

/// Settings of a server that logs every statement into a directory.
fn settings(target: &str, directory: &Path) -> Vec<(String, String)> {
    let file = |name: &str| directory.join(name).display().to_string();
    let pairs: Vec<(&str, String)> = match target {
        "postgres" => vec![
            ("logging_collector", "on".into()),
            ("log_destination", "stderr,csvlog,jsonlog".into()),
            ("log_directory", directory.display().to_string()),
            ("log_filename", "app.log".into()),
            ("log_file_mode", "0644".into()),
            ("log_statement", "all".into()),
            ("log_line_prefix", "%m [%p] ".into()),
            ("log_min_error_statement", "error".into()),
        ],
        _ => vec![("general_log", "ON".into()), ("general_log_file", file("app.log")), ("log_output", "FILE".into())],
    };
    pairs.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

/// A directory that a server of another user can write to.
fn log_directory(name: &str) -> TestDir {
    let directory = TestDir::new(name);
    let everybody = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(directory.path(), everybody).expect("it is ours");
    directory
}

fn rows_of(engine: &mut dyn Engine) -> BTreeMap<String, Vec<String>> {
    let dialect = engine.info().dialect;
    let state = engine.snapshot().unwrap_or_else(|error| panic!("{error}"));
    let rows = |result| {
        let show = |row: Vec<Value>| row.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
        let mut rows: Vec<String> = dialect.values(result).into_iter().map(show).collect();
        rows.sort();
        rows
    };
    state.tables.iter().map(|(name, result)| (name.clone(), rows(result))).collect()
}

/// Calls a program of the corpus on a server that logs; gives what the tables hold afterwards.
fn called(target: &str, name: &str, directory: &Path) -> BTreeMap<String, Vec<String>> {
    let program = PROGRAMS.iter().find(|program| program.name == name).expect("it is in the corpus");
    let mut wanted = Target::parse(target).unwrap_or_else(|error| panic!("{error}"));
    wanted.server.extra = settings(target, directory);
    let mut engine = engines::open(&wanted).unwrap_or_else(|error| panic!("{error}"));
    let procedures = program.read(&program.sources[0]).program;
    engine.reset(&program.definitions().setup).unwrap_or_else(|error| panic!("{error}"));
    let mut session = session(engine.as_mut());
    for call in Calls::new(name, &procedures, 3).take(CALLS) {
        let _ = interpreted(engine.as_ref(), session.as_mut(), &procedures, &call);
    }
    drop(session);
    rows_of(engine.as_mut())
}

fn tables_of(name: &str) -> (Schema, Vec<String>) {
    let program = PROGRAMS.iter().find(|program| program.name == name).expect("it is in the corpus");
    let tables: Vec<String> = program.definitions().tables().cloned().collect();
    (Schema::read(&(tables.join(";\n") + ";"), Language::Any).0, tables)
}

/// Does the transactions of a log again, on a fresh database.
fn replayed(
    engine: &mut dyn Engine,
    tables: &[String],
    program: &Program,
    calls: &[RecordedCall],
) -> BTreeMap<String, Vec<String>> {
    engine.reset(tables).unwrap_or_else(|error| panic!("{error}"));
    let mut session = session(engine);
    for call in calls {
        let arguments = call.arguments.clone().unwrap_or_else(|| panic!("{} has no arguments", call.procedure));
        let call = Call { procedure: call.procedure.clone(), arguments };
        let done = interpreted(engine, session.as_mut(), program, &call);
        assert_eq!(done, Ok(Vec::new()), "{call}");
    }
    drop(session);
    rows_of(engine)
}

fn read(path: &Path, schema: &Schema) -> (LogReading, Vec<RecordedCall>) {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    logs::read_calls(file, "app.log", schema, &[], WHOLE).unwrap_or_else(|error| panic!("{error}"))
}

/// The program that is read from the log does the same to a database as what was logged.
#[track_caller]
fn check_replay(target: &'static str, name: &'static str, files: &[&str]) {
    let directory = log_directory(&format!("log-{target}-{name}"));
    let left = called(target, name, directory.path());
    let (schema, tables) = tables_of(name);
    let mut fresh = engine(target);
    for file in files {
        let path = directory.path().join(file);
        let (reading, calls) = read(&path, &schema);
        let survey = &reading.survey;
        assert_eq!((survey.unread, survey.not_text), (0, 0), "{name} {file}: {survey:?}");
        assert_eq!(survey.understood, survey.committed, "{name} {file}: {survey:?}");
        assert_eq!(survey.covered, survey.transactions, "{name} {file}");
        assert!(calls.len() > CALLS / 2, "{name} {file}: {survey:?}");
        assert_eq!(
            replayed(fresh.as_mut(), &tables, &reading.program, &calls),
            left,
            "{name} {file}\n{}",
            reading.program
        );
        // The notation can be read again.
        let printed = reading.program.to_string();
        assert_eq!(Program::parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}")), reading.program);
    }
}

#[test]
fn postgres_logs_are_done_again() {
    for name in ["lost-update", "smallbank", "voter", "tatp"] {
        limited(move || check_replay("postgres", name, &["app.log", "app.csv", "app.json"]));
    }
}

#[test]
fn mariadb_logs_are_done_again() {
    for name in ["lost-update", "smallbank", "voter"] {
        limited(move || check_replay("mariadb", name, &["app.log"]));
    }
}

/// What a deposit writes is what it read and the amount: the log holds neither, but every occurrence agrees.
#[test]
fn what_was_read_is_found_in_what_is_written() {
    limited(|| {
        let directory = log_directory("log-inferred");
        called("postgres", "lost-update", directory.path());
        let (schema, _) = tables_of("lost-update");
        let reading =
            logs::read(&directory.path().join("app.csv"), &schema, &[]).unwrap_or_else(|error| panic!("{error}"));
        let printed = reading.program.to_string();
        for wanted in [
            "SELECT balance FROM accounts WHERE id = :accounts_id INTO :balance;",
            "INSERT INTO receipts (receipt, account, amount) VALUES (:receipt, :accounts_id, :amount);",
            "UPDATE accounts SET balance = :balance + :amount WHERE id = :accounts_id;",
        ] {
            assert!(printed.contains(wanted), "{printed}");
        }
    });
}

/// A running shop: the SQL with which it is set up, and the script of a customer.
const SHOP: &str = "CREATE TABLE items (id INT PRIMARY KEY, name TEXT NOT NULL, stock INT NOT NULL); \
    CREATE TABLE orders (id SERIAL PRIMARY KEY, item INT NOT NULL REFERENCES items (id), quantity INT NOT NULL);";
const CUSTOMER: &str = "\\set item random(1, 5)\n\\set quantity random(1, 3)\nBEGIN;\n\
    SELECT stock FROM items WHERE id = :item \\gset\n\\set rest :stock - :quantity\n\
    UPDATE items SET stock = :rest WHERE id = :item;\n\
    INSERT INTO orders (item, quantity) VALUES (:item, :quantity);\nCOMMIT;\n";

struct Shop {
    server: PrivatePostgres,
    directory: TestDir,
}

impl Shop {
    fn open(name: &str) -> Shop {
        let directory = log_directory(name);
        let options = ServerOptions { extra: settings("postgres", directory.path()), ..ServerOptions::default() };
        let server = PrivatePostgres::start(&Programs::Newest, options).unwrap_or_else(|error| panic!("{error}"));
        let shop = Shop { server, directory };
        shop.run("psql", &["-q", "-d", "postgres", "-c", "CREATE DATABASE shop"]);
        shop.run("psql", &["-q", "-d", "shop", "-c", SHOP]);
        shop.run(
            "psql",
            &["-q", "-d", "shop", "-c", "INSERT INTO items SELECT n, 'x', 1000 FROM generate_series(1, 5) n"],
        );
        shop
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let login = [
            "-h".to_string(),
            self.server.socket_dir().display().to_string(),
            "-p".to_string(),
            self.server.port().to_string(),
            "-U".to_string(),
            self.server.superuser().to_string(),
        ];
        let done = Command::new(self.server.installation().bin.join(program)).args(&login).args(arguments).output();
        let done = done.unwrap_or_else(|error| panic!("{program}: {error}"));
        assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.directory.path().join(name);
        std::fs::write(&path, text).expect("the directory is ours");
        path
    }
}

/// Customers at the same time, with bound parameters; nobody shows us the application.
#[test]
fn a_lost_update_is_found_from_the_log_alone() {
    limited(|| {
        let shop = Shop::open("log-shop");
        let script = shop.file("customer.sql", CUSTOMER);
        let script = script.display().to_string();
        shop.run("pgbench", &["-n", "-M", "prepared", "-c", "4", "-j", "1", "-t", "50", "-f", &script, "shop"]);
        let schema = shop.file("dump.sql", SHOP).display().to_string();
        for file in ["app.log", "app.csv", "app.json"] {
            let log = shop.directory.path().join(file).display().to_string();
            let done = output(&["analyze", &log, "--schema", &schema, "--level", "read-committed", "--on", "postgres"]);
            assert_eq!(done.code, 1, "{file}: {}{}", done.stdout, done.stderr);
            for wanted in ["[lost update]", "SELECT stock FROM items WHERE id = $1", "UPDATE items SET stock = $1"] {
                assert!(done.stdout.contains(wanted), "{file}: {}", done.stdout);
            }
            let summary = output(&["analyze", &log, "--schema", &schema, "--summary"]);
            assert!(
                summary.stdout.contains("200 × select_items_update_items_insert_orders"),
                "{file}: {}",
                summary.stdout
            );
        }
    });
}
