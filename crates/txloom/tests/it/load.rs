//! Rows that are loaded come back as they went in, on every engine; and what is refused is told.

use txloom::engines::{self, Target};
use txloom_core::bulk::{Bulk, Cells};
use txloom_core::dialect::{Construct, Dialect};
use txloom_core::engine::Engine;
use txloom_core::shadow::column::{Form, VirtualColumn};
use txloom_core::shadow::keys::KeyPlan;
use txloom_core::shadow::population::Population;
use txloom_core::shadow::schema::{AttributePlan, LinkPlan, NamedColumn, ReferencePlan, Schema, Table};
use txloom_core::shadow::sql::Sql;
use txloom_core::shadow::{Distribution, Locking, Shadow};
use txloom_core::value::Value;

use crate::support::{engine, limited};

const THREADS: usize = 4;

/// Rows by a function.
struct Rows {
    table: &'static str,
    columns: Vec<String>,
    positions: u64,
    row: fn(u64, &mut Cells) -> bool,
}

impl Bulk for Rows {
    fn table(&self) -> &str {
        self.table
    }

    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn positions(&self) -> u64 {
        self.positions
    }

    fn row(&self, position: u64, cells: &mut Cells) -> bool {
        (self.row)(position, cells)
    }
}

fn rows(table: &'static str, columns: &[&str], positions: u64, row: fn(u64, &mut Cells) -> bool) -> Rows {
    Rows { table, columns: columns.iter().map(|name| (*name).to_string()).collect(), positions, row }
}

fn reset(engine: &mut dyn Engine, setup: &[String]) {
    let outcomes = engine.reset(setup).expect("the engine is there");
    outcomes.iter().for_each(|outcome| assert_eq!(outcome.error, None));
}

/// The rows of a query, in its order.
fn ask(engine: &mut dyn Engine, sql: &str) -> Vec<Vec<Value>> {
    let outcome = engine.probe(sql).expect("the engine answers");
    assert_eq!(outcome.error, None, "{sql}");
    engine.info().dialect.values(outcome.rows().expect("it is a query"))
}

fn named(name: &str, form: Form, domain: u64) -> NamedColumn {
    NamedColumn { name: name.to_string(), column: VirtualColumn::new(form, domain).expect("a column") }
}

/// Every form of column, in two tables.
fn schema() -> Schema {
    let attribute = |name: &str, form, domain| AttributePlan {
        columns: vec![named(name, form, domain)],
        distribution: Distribution::Uniform,
        fixed: false,
    };
    let words = ["", "back\\slash", "it's", "tab\there", "two\nlines", "\u{e9}t\u{e9} \u{1f642}"];
    let parents = Table {
        name: "parents".to_string(),
        key: vec![named("id", Form::Integer { first: -3, step: 2 }, 500)],
        keys: KeyPlan::fixed(500),
        attributes: vec![
            attribute("price", Form::Decimal { first: -150, scale: 2 }, 400),
            attribute("share", Form::Quarters { first: -20 }, 100),
            attribute("name", Form::Text { prefix: "o'n".to_string(), length: 9 }, 300),
            attribute(
                "word",
                Form::Words({
                    let mut words = words.map(str::to_string).to_vec();
                    words.sort();
                    words
                }),
                6,
            ),
            attribute("day", Form::Date { first: 10_957 }, 9_000),
            attribute("clock", Form::Time, 86_400),
            attribute("moment", Form::Timestamp { first: 946_684_800 }, 600_000_000),
            // The bytes of three: zero, a backslash, a line break.
            attribute("raw", Form::Bytes { width: 3 }, 1 << 24),
            attribute("flag", Form::Boolean, 2),
        ],
        references: Vec::new(),
    };
    let link = LinkPlan::Drawn { distribution: Distribution::Uniform, dynamic_parents: false };
    let children = Table {
        name: "children".to_string(),
        key: vec![named("id", Form::Text { prefix: String::new(), length: 8 }, 20_000)],
        keys: KeyPlan { count: 20_000, dynamic: 0.2, present: 0.5, access: Distribution::Uniform },
        attributes: vec![attribute("x", Form::Integer { first: 0, step: 1 }, 1_000)],
        references: vec![ReferencePlan { columns: vec!["parent".to_string()], table: "parents".to_string(), link }],
    };
    Schema { tables: vec![children, parents] }
}

#[track_caller]
fn check_population(target: &str) {
    let mut engine = engine(target);
    let shadow = Shadow::new(schema(), Locking::Early, 5).expect("a schema");
    let sql = Sql::new(shadow.schema(), engine.info().dialect, &engine.info().version).expect("everything is there");
    // Twice: what was loaded before is gone.
    for _ in 0..2 {
        reset(engine.as_mut(), &sql.creates(shadow.load_order()));
        for bulk in Population::all(&shadow, &sql) {
            let loaded = engine.load(&bulk, THREADS).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(loaded, bulk.rows(), "{target}");
        }
    }
    for (at, table) in shadow.tables().iter().enumerate() {
        let found = ask(engine.as_mut(), &format!("{} ORDER BY {}", sql.read_all(at), "id"));
        assert_eq!(found.len() as u64, table.keys().count_at_start(), "{target}");
        for row in &found {
            let key = table.key().number(&row[..1]).unwrap_or_else(|| panic!("{target}: {row:?} has no key"));
            assert!(table.keys().exists_at_start(key), "{target}: {row:?}");
            assert_eq!(row[1], Value::int(0), "{target}: the version");
            let read = |at: usize| table.attributes()[at].columns().number(&row[at + 2..at + 3]);
            for (at, attribute) in table.attributes().iter().enumerate() {
                assert_eq!(read(at), Some(attribute.initial(key)), "{target}: {row:?}, attribute {at}");
            }
        }
    }
}

#[test]
fn populations_come_back_as_they_are() {
    limited(|| ["sqlite", "model", "postgres", "mariadb"].into_iter().for_each(check_population));
}

/// What a cell may hold at worst.
fn awkward(position: u64, cells: &mut Cells) -> bool {
    let texts = ["", "\\", "\\N", "a\tb", "line\nbreak\r\n", "'quotes\"", "NULL", "\\.", "\u{e9}\u{1f642}"];
    cells.integer(position as i64);
    match texts.get(position as usize) {
        Some(text) => cells.text(text),
        None => cells.null(),
    }
    match position {
        0 => cells.null(),
        1 => cells.bytes(&[]),
        2 => cells.bytes(&[0x00, 0x5c, 0x0a, 0x0d, 0x09, 0x27, 0x22, 0xff, 0xfe]),
        3 => cells.bytes(b"\\N"),
        _ => cells.bytes(&[position as u8, 0]),
    }
    position != 5
}

fn spelled(dialect: &dyn Dialect, engine: &dyn Engine, construct: Construct) -> &'static str {
    dialect.spelling(construct, &engine.info().version).expect("every engine has it").text
}

#[track_caller]
fn check_awkward(target: &str, mut engine: Box<dyn Engine>) {
    let dialect = engine.info().dialect;
    let (text, blob) =
        (spelled(dialect, engine.as_ref(), Construct::Text), spelled(dialect, engine.as_ref(), Construct::Blob));
    reset(engine.as_mut(), &[format!("CREATE TABLE t (id INT PRIMARY KEY, words {text}, raw {blob})")]);
    let bulk = rows("t", &["id", "words", "raw"], 12, awkward);
    assert_eq!(engine.load(&bulk, THREADS).expect("they are loaded"), 11, "{target}");
    let expect: Vec<Vec<Value>> = (0..12)
        .filter_map(|position| {
            let mut cells = Cells::default();
            awkward(position, &mut cells).then(|| cells.iter().map(|cell| cell.to_value()).collect())
        })
        .collect();
    assert_eq!(ask(engine.as_mut(), "SELECT id, words, raw FROM t ORDER BY id"), expect, "{target}");
}

#[test]
fn awkward_texts_and_bytes_survive() {
    limited(|| {
        let targets = ["sqlite", "model", "model+extra-row", "postgres", "mariadb", "mariadb+extra-row"];
        targets.into_iter().for_each(|target| check_awkward(target, engine(target)));
    });
}

/// A server that does not want local files gets INSERTs.
#[test]
fn local_files_are_not_needed() {
    limited(|| {
        let mut target = Target::parse("mariadb").expect("a target");
        target.server.extra.push(("local-infile".to_string(), "0".to_string()));
        check_awkward("mariadb", engines::open(&target).unwrap_or_else(|error| panic!("{error}")));
    });
}

#[track_caller]
fn check_many(target: &str) {
    let mut engine = engine(target);
    reset(engine.as_mut(), &["CREATE TABLE t (id INT PRIMARY KEY, v INT)".to_string()]);
    let bulk = rows("t", &["v", "id"], 20_000, |position, cells| {
        cells.integer(position as i64 % 7);
        cells.integer(position as i64);
        true
    });
    assert_eq!(engine.load(&bulk, THREADS).expect("they are loaded"), 20_000, "{target}");
    let sum = (0..20_000i64).map(|id| id % 7).sum::<i64>();
    let expect = vec![vec![Value::int(20_000), Value::int(20_000 * 19_999 / 2), Value::int(sum)]];
    assert_eq!(ask(engine.as_mut(), "SELECT COUNT(*), SUM(id), SUM(v) FROM t"), expect, "{target}");
}

#[test]
fn many_rows_are_loaded_in_parallel() {
    limited(|| ["sqlite", "model", "postgres", "mariadb"].into_iter().for_each(check_many));
}

/// Loading what cannot be loaded: the table is named, what the database says is told, and the engine is as good as before.
#[track_caller]
fn check_refused(target: &str) {
    let mut engine = engine(target);
    let setup = ["CREATE TABLE t (id INT PRIMARY KEY)".to_string()];
    let all = |position: u64, cells: &mut Cells| {
        cells.integer(position as i64 / 2);
        true
    };
    let refusals = [
        (rows("t", &["id"], 20_000, all), "table t: "),
        (rows("nowhere", &["id"], 10, all), "table nowhere: "),
        (rows("t", &["other"], 10, all), "other"),
    ];
    for (bulk, words) in refusals {
        reset(engine.as_mut(), &setup);
        let error = engine.load(&bulk, THREADS).expect_err("it is refused").to_string();
        assert!(error.contains("cannot load the rows of table") && error.contains(words), "{target}: {error}");
        assert!(error.contains("reset the database"), "{target}: {error}");
    }
    reset(engine.as_mut(), &setup);
    let bulk = rows("t", &["id"], 10, |position, cells| {
        cells.integer(position as i64);
        position % 2 == 0
    });
    assert_eq!(engine.load(&bulk, THREADS).expect("they are loaded"), 5, "{target}");
}

#[test]
fn what_is_refused_is_told() {
    limited(|| ["sqlite", "model", "postgres", "mariadb"].into_iter().for_each(check_refused));
}
