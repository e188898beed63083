//! What statements look like.

use super::*;
use crate::dialect::{MySql, Postgres};
use crate::shadow::Distribution;
use crate::shadow::Locking;
use crate::shadow::keys::{Key, KeyPlan, Slot};
use crate::shadow::predicate;
use crate::shadow::schema::{AttributePlan, ReferencePlan};

fn named(name: &str, form: Form, domain: u64) -> NamedColumn {
    NamedColumn { name: name.to_string(), column: VirtualColumn::new(form, domain).expect("a column") }
}

fn attribute(column: NamedColumn) -> AttributePlan {
    AttributePlan { columns: vec![column], distribution: Distribution::Uniform, fixed: false }
}

/// Lines of orders: a key of two columns, a reference, and an attribute of bytes.
fn schema() -> Schema {
    let orders = Table {
        name: "orders".to_string(),
        key: vec![named("id", Form::Integer { first: 1, step: 1 }, 10)],
        keys: KeyPlan::fixed(10),
        attributes: vec![attribute(named("day", Form::Date { first: 0 }, 100))],
        references: Vec::new(),
    };
    let link = LinkPlan::Drawn { distribution: Distribution::Uniform, dynamic_parents: false };
    let words = ["it's", "so"].map(str::to_string).to_vec();
    let lines = Table {
        name: "lines".to_string(),
        key: vec![
            named("a", Form::Integer { first: 0, step: 1 }, 10),
            named("b", Form::Text { prefix: "x".to_string(), length: 3 }, 26),
        ],
        keys: KeyPlan::fixed(100),
        attributes: vec![
            attribute(named("raw", Form::Bytes { width: 2 }, 300)),
            attribute(named("word", Form::Words(words), 2)),
        ],
        references: vec![ReferencePlan { columns: vec!["of".to_string()], table: "orders".to_string(), link }],
    };
    Schema { tables: vec![orders, lines] }
}

fn filled(kind: OperationKind) -> Filled {
    let key = Some(Key { number: 27, slot: Slot::Static(0) });
    Filled { table: 1, kind: Some(kind), key, ..Filled::default() }
}

#[track_caller]
fn check(dialect: &dyn Dialect, filled: &Filled, expect: &str) {
    let version = Version::parse("15.1");
    let sql = Sql::new(&schema(), dialect, &version).expect("everything is there");
    let shadow = Shadow::new(schema(), Locking::Early, 1).expect("a schema");
    let mut out = String::new();
    sql.write(&shadow, filled, 7, &mut out);
    assert_eq!(out, expect);
}

#[test]
fn tables_are_created_with_keys_and_versions() {
    let sql = Sql::new(&schema(), &Postgres, &Version::parse("15.1")).expect("everything is there");
    assert_eq!(
        sql.creates(&[0, 1]),
        [
            "CREATE TABLE orders (id BIGINT NOT NULL, day DATE NOT NULL, v BIGINT NOT NULL, PRIMARY KEY (id))",
            "CREATE TABLE lines (a BIGINT NOT NULL, b VARCHAR(3) NOT NULL, raw BYTEA NOT NULL, word VARCHAR(4) NOT NULL, \
             of BIGINT NOT NULL, v BIGINT NOT NULL, PRIMARY KEY (a, b), FOREIGN KEY (of) REFERENCES orders (id))",
        ]
    );
    assert_eq!(sql.columns(1), ["a", "b", "raw", "word", "of", "v"]);
    assert_eq!(sql.read_all(1), "SELECT a, b, v, raw, word FROM lines");
}

#[test]
fn rows_are_named_by_their_whole_key() {
    check(&Postgres, &filled(OperationKind::ItemRead), "SELECT v FROM lines WHERE a = 1 AND b = 'xbx'");
    check(&Postgres, &filled(OperationKind::Delete), "DELETE FROM lines WHERE a = 1 AND b = 'xbx'");
}

#[test]
fn writes_carry_their_version() {
    let update = Filled { attributes: vec![(1, 0)], references: vec![(0, 3)], ..filled(OperationKind::Update) };
    check(&Postgres, &update, "UPDATE lines SET word = 'it''s', of = 4, v = 7 WHERE a = 1 AND b = 'xbx'");
    let insert =
        Filled { attributes: vec![(0, 255), (1, 1)], references: vec![(0, 0)], ..filled(OperationKind::Insert) };
    let start = "INSERT INTO lines (a, b, raw, word, of, v) VALUES (1, 'xbx', ";
    check(&Postgres, &insert, &format!("{start}'\\x00ff', 'so', 1, 7)"));
    check(&MySql, &insert, &format!("{start}X'00ff', 'so', 1, 7)"));
}

#[test]
fn conditions_compare_keys_as_rows() {
    let leaf = |subject, comparison, low, high| Predicate::Leaf(Condition { subject, comparison, low, high });
    let key = |comparison| leaf(Subject::Key, comparison, 26, 53);
    let word = leaf(Subject::Attribute(1), Comparison::Equal, 1, 2);
    let read = |predicate| Filled {
        condition: Some(predicate::Filled { predicate, hits: 1.0, miss: 0.0, share: 0.1, attempts: 1 }),
        ..filled(OperationKind::PredicateRead)
    };
    let start = "SELECT lines.a, lines.b, lines.v FROM lines";
    let row = "(lines.a, lines.b)";
    check(
        &Postgres,
        &Filled { join: Some(0), ..read(Predicate::And(vec![key(Comparison::Within), word.clone()])) },
        &format!(
            "{start} JOIN orders ON lines.of = orders.id WHERE {row} >= (1, 'xax') AND {row} <= (2, 'xax') AND \
             lines.word = 'so'"
        ),
    );
    check(
        &Postgres,
        &read(Predicate::And(vec![key(Comparison::Outside), word])),
        &format!("{start} WHERE ({row} < (1, 'xax') OR {row} > (2, 'xax')) AND lines.word = 'so'"),
    );
}
