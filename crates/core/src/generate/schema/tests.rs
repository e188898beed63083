//! Schemas keep their own promises: for many seeds, profiles and combinations of dialects.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::dialect::{Dialect, LockingSqlite, MySql, Postgres, Sqlite};
use crate::engine::{Capabilities, EngineInfo, Version};
use crate::generate::Demands;
use crate::generate::features::{self, FEATURES};
use crate::generate::language::Language;
use crate::generate::model::{Candidate, Choice, Distribution, Domain, Feature, Model};
use crate::generate::profile::{self, SHIPPED};
use crate::generate::random::Random;
use crate::generate::values::{folded, fresh, literal};
use crate::level::LevelName;

fn target(dialect: &'static dyn Dialect, version: &str) -> EngineInfo {
    EngineInfo {
        target: version.to_string(),
        family: "test",
        version: Version::parse(version),
        settings: Vec::new(),
        dialect,
        levels: Vec::new(),
        default_level: LevelName::custom("serializable"),
        capabilities: Capabilities::default(),
        client: None,
    }
}

/// A dialect that says nothing.
#[derive(Debug)]
struct Silent;

impl Dialect for Silent {
    fn name(&self) -> &'static str {
        "silent"
    }

    fn push_literal(&self, value: &Value, sql: &mut String) {
        value.push_to(sql);
    }

    fn normalize(&self, _: &str, bytes: &[u8]) -> Value {
        Value::Bytes(bytes.to_vec())
    }
}

/// The languages of all sets of these engines, each once.
fn languages() -> BTreeMap<String, Language> {
    let engines = [
        target(&Sqlite, "3.50.0"),
        target(&LockingSqlite, "0.1.0"),
        target(&Postgres, "15.18"),
        target(&MySql, "10.11.14-MariaDB"),
        target(&MySql, "11.8.6-MariaDB"),
        target(&MySql, "9.7.4"),
        target(&MySql, "5.6.24"),
        target(&Silent, "1"),
    ];
    let set = |bits: usize| -> Vec<EngineInfo> {
        engines.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1).map(|(_, engine)| engine.clone()).collect()
    };
    (1..1 << engines.len()).map(|bits| Language::of(&set(bits))).map(|found| (format!("{found:?}"), found)).collect()
}

fn language(targets: &[EngineInfo]) -> Language {
    Language::of(targets)
}

fn always(model: &mut Model, feature: &Feature, candidate: Candidate) {
    model.set(feature, Choice::new(vec![candidate], &Distribution::Uniform));
}

/// Every number of every feature as large as it may be, all flags on; but no more rows than can be checked quickly.
fn everything() -> Model {
    let mut model = Model::usual("everything");
    for feature in FEATURES {
        match feature.domain {
            Domain::Number(_, high) => always(&mut model, feature, Candidate::Number(high.min(12))),
            Domain::Flag if feature.name != features::NULL.name => always(&mut model, feature, Candidate::Word("true")),
            _ => {}
        }
    }
    model.set(&features::FOREIGN_KEY_TARGET, features::FOREIGN_KEY_TARGET.default.into());
    let everywhere = Choice::new((-20..20).map(Candidate::Number).collect(), &Distribution::Uniform);
    model.set(&features::INTEGER, everywhere);
    model
}

fn assert_valid(schema: &Schema, demands: Demands) {
    for (at, table) in schema.tables.iter().enumerate() {
        assert_eq!(table.name, format!("t{at}"));
        for (column_at, column) in table.columns.iter().enumerate() {
            assert_eq!(column.name, format!("c{column_at}"));
            assert!(!column.auto_increment || (!demands.reorderable && table.primary_key == [column_at]));
            let values = table.rows.iter().map(|row| &row[column_at]).chain(&column.default);
            for value in values {
                assert!(fits(column, value), "{}.{}: {value:?} in {column:?}", table.name, column.name);
            }
        }
        for key in table.unique_keys.iter().chain([&table.primary_key]).filter(|key| !key.is_empty()) {
            let keys = table.rows.iter().map(|row| key.iter().map(|at| folded(&row[*at])).collect::<Vec<_>>());
            let keys: Vec<Vec<Value>> = keys.filter(|key| !key.contains(&Value::Null)).collect();
            assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len(), "{keys:?}");
            let columns: BTreeSet<&usize> = key.iter().collect();
            assert_eq!(columns.len(), key.len(), "no column twice: {key:?}");
        }
        assert!(table.key_columns().all(|column| column.not_null));
        for key in &table.foreign_keys {
            assert!(key.table < at, "a foreign key refers to a table before its own");
            assert_refers(table, key, &schema.tables[key.table]);
        }
    }
}

fn assert_refers(table: &Table, key: &ForeignKey, target: &Table) {
    let types = |table: &Table, columns: &[usize]| -> Vec<String> {
        columns.iter().map(|at| table.columns[*at].type_text.clone()).collect()
    };
    assert_eq!(types(table, &key.columns), types(target, &target.primary_key));
    for row in &table.rows {
        let child: Vec<&Value> = key.columns.iter().map(|at| &row[*at]).collect();
        let is_parent = |row: &Vec<Value>| target.primary_key.iter().map(|at| &row[*at]).eq(child.iter().copied());
        assert!(child.contains(&&Value::Null) || target.rows.iter().any(is_parent), "an orphan: {child:?}");
    }
}

fn fits(column: &Column, value: &Value) -> bool {
    let of_kind = match (column.kind, value) {
        (_, Value::Null) => !column.not_null,
        (Kind::Integer, Value::Number(number)) => number.to_i64().is_some(),
        (Kind::Decimal | Kind::Float, Value::Number(_)) => true,
        (Kind::Text, Value::Text(text)) => text.len() <= 20 && text.is_ascii() && !text.contains(['\\', '\'']),
        (Kind::Date, Value::Text(text)) => text.len() == "2024-01-01".len(),
        (Kind::Time, Value::Text(text)) => text.len() == "00:00:00".len(),
        (Kind::Timestamp, Value::Text(text)) => text.len() == "2024-01-01 00:00:00".len(),
        (Kind::Bytes, Value::Bytes(_)) | (Kind::Boolean, Value::Bool(_)) => true,
        _ => false,
    };
    of_kind && column.check.as_ref().is_none_or(|check| check.holds(value))
}

#[test]
fn schemas_keep_their_promises_in_every_language() {
    for (name, language) in languages() {
        let shipped = SHIPPED.iter().filter_map(|(name, _)| profile::shipped(name));
        for (number, model) in shipped.chain([everything()]).enumerate() {
            let model = &model;
            for seed in 0..4 {
                let demands = Demands { reorderable: seed % 2 == 0, assertions: true };
                let mut random = Random::new(seed, &[number as u64]);
                let schema = make::schema(model, &language, demands, &mut random);
                assert_valid(&schema, demands);
                for table in &schema.tables {
                    for column in &table.columns {
                        let value = fresh(column, model, &mut random);
                        assert!(fits(column, &value), "{name}, seed {seed}: {value:?} in {column:?}");
                    }
                }
                assert!(!print::setup(&schema, &language).is_empty());
            }
        }
    }
}

#[test]
fn the_usual_schema_is_small_and_has_a_little_of_everything() {
    let targets = [target(&MySql, "10.11.14-MariaDB")];
    let language = language(&targets);
    let (mut kinds, mut texts) = (BTreeSet::new(), String::new());
    for seed in 0..400 {
        let schema = make::schema(&Model::usual("usual"), &language, Demands::default(), &mut Random::new(seed, &[]));
        assert!((1..=3).contains(&schema.tables.len()));
        for table in &schema.tables {
            let keys = table.primary_key.len() + table.foreign_keys.iter().map(|key| key.columns.len()).sum::<usize>();
            assert!(table.columns.len() <= 4.max(keys + 1) && table.rows.len() <= 5, "{table:?}");
            kinds.extend(table.columns.iter().map(|column| column.kind));
        }
        texts.push_str(&print::setup(&schema, &language).join("\n"));
    }
    assert_eq!(kinds.len(), 9, "{kinds:?}");
    for part in
        ["PRIMARY KEY (", "UNIQUE,", "UNIQUE (", "CHECK", "NOT NULL", "DEFAULT", "AUTO_INCREMENT", "INDEX", "FOREIGN"]
    {
        assert!(texts.contains(part), "{part}");
    }
}

#[test]
fn the_profile_of_dbstorm_is_its_figure_4() {
    let model = profile::shipped("dbstorm").expect("it is shipped");
    let language = language(&[target(&Postgres, "15")]);
    let (mut references, mut compound, mut types) = (BTreeSet::new(), 0, BTreeMap::new());
    for seed in 0..400 {
        let schema = make::schema(&model, &language, Demands::default(), &mut Random::new(seed, &[]));
        for (at, table) in schema.tables.iter().enumerate() {
            assert!((1..=2).contains(&table.primary_key.len()) && table.foreign_keys.len() <= 1, "{table:?}");
            references.extend(table.foreign_keys.iter().map(|key| (at, key.table)));
            compound += usize::from(table.foreign_keys.iter().any(|key| key.columns.len() == 2));
            let keys = table.primary_key.len() + table.foreign_keys.iter().map(|key| key.columns.len()).sum::<usize>();
            let attributes = &table.columns[keys..];
            assert!((1..=4).contains(&attributes.len()), "{table:?}");
            for column in attributes {
                *types.entry(column.type_text.as_str().to_string()).or_insert(0) += 1;
            }
        }
    }
    assert_eq!(references.into_iter().collect::<Vec<_>>(), [(1, 0), (2, 0), (2, 1)], "every table before it");
    assert!(compound > 50, "{compound}");
    assert!(types.keys().eq(["INT", "VARCHAR(50)"]) && types["INT"] > types["VARCHAR(50)"] * 3 / 2, "{types:?}");
}

#[test]
fn dialects_that_say_nothing_get_what_every_engine_has() {
    let language = language(&[target(&Silent, "1")]);
    let schema = make::schema(&everything(), &language, Demands::default(), &mut Random::new(1, &[]));
    let setup = print::setup(&schema, &language).join("\n");
    for absent in ["VARCHAR", "CHECK", "FOREIGN", "AUTO"] {
        assert!(!setup.contains(absent), "{setup}");
    }
    assert!(setup.contains("c0 INT NOT NULL"), "{setup}");
}

#[test]
fn a_table_is_printed_as_people_write_it() {
    let column = |name: &str, kind, type_text: &str| Column {
        name: name.into(),
        kind,
        type_text: type_text.into(),
        not_null: false,
        default: None,
        auto_increment: false,
        check: None,
        extremes: Vec::new(),
    };
    let table = |name: &str, columns| Table {
        name: name.into(),
        columns,
        primary_key: vec![0],
        unique_keys: Vec::new(),
        foreign_keys: Vec::new(),
        indexes: Vec::new(),
        rows: Vec::new(),
        versioned: false,
        keys_once: false,
    };
    let mut first = table("t0", vec![column("c0", Kind::Integer, "INT"), column("c1", Kind::Bytes, "BYTEA")]);
    first.columns[0].auto_increment = true;
    first.rows = vec![vec![Value::int(1), Value::Bytes(vec![0, 255])], vec![Value::int(2), Value::Null]];
    let mut second = table("t1", vec![column("c0", Kind::Text, "VARCHAR(50)"), column("c1", Kind::Integer, "INT")]);
    second.columns[0].not_null = true;
    second.columns[1].default = Some(Value::int(2));
    second.unique_keys = vec![vec![1], vec![1, 0]];
    second.indexes = vec![vec![0, 1]];
    second.foreign_keys = vec![ForeignKey { columns: vec![1], table: 0 }];
    let schema = Schema { tables: vec![first, second] };
    let expect = [
        "CREATE TABLE t0 (c0 INT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, c1 BYTEA)",
        "INSERT INTO t0 (c1) VALUES ('\\x00ff'), (NULL)",
        "CREATE TABLE t1 (c0 VARCHAR(50) NOT NULL PRIMARY KEY, c1 INT DEFAULT 2 UNIQUE, UNIQUE (c1, c0), \
         FOREIGN KEY (c1) REFERENCES t0 (c0))",
        "CREATE INDEX t1_i0 ON t1 (c0, c1)",
    ];
    assert_eq!(print::setup(&schema, &language(&[target(&Postgres, "15")])), expect);
    let asserts: Vec<String> =
        assertions::assertions(&schema).into_iter().map(|assert| format!("{}: {}", assert.name, assert.sql)).collect();
    let expect = [
        "t0 primary key: SELECT c0 FROM t0 WHERE c0 IS NOT NULL GROUP BY c0 HAVING COUNT(*) > 1",
        "t1 primary key: SELECT c0 FROM t1 WHERE c0 IS NOT NULL GROUP BY c0 HAVING COUNT(*) > 1",
        "t1 unique c1: SELECT c1 FROM t1 WHERE c1 IS NOT NULL GROUP BY c1 HAVING COUNT(*) > 1",
        "t1 unique c1, c0: SELECT c1, c0 FROM t1 WHERE c1 IS NOT NULL AND c0 IS NOT NULL GROUP BY c1, c0 \
         HAVING COUNT(*) > 1",
        "t1 not null: SELECT * FROM t1 WHERE c0 IS NULL",
        "t1 foreign key c1: SELECT * FROM t1 WHERE c1 IS NOT NULL AND NOT EXISTS (SELECT 1 FROM t0 WHERE t0.c0 = t1.c1)",
    ];
    assert_eq!(asserts, expect);
}

#[test]
fn literals_are_those_of_the_targets() {
    let check = |targets: &[EngineInfo], kind, value: Value, expect: &str| {
        assert_eq!(literal(kind, &value, &language(targets)), expect);
    };
    let (postgres, mysql) = ([target(&Postgres, "15")], [target(&MySql, "9.7.4")]);
    check(&postgres, Kind::Bytes, Value::Bytes(vec![0, 255]), "'\\x00ff'");
    check(&mysql, Kind::Bytes, Value::Bytes(vec![0, 255]), "X'00ff'");
    check(&mysql, Kind::Date, Value::text("2024-01-02"), "'2024-01-02'");
    check(&mysql, Kind::Text, Value::text("it's"), "'it''s'");
    check(&mysql, Kind::Boolean, Value::int(1), "TRUE");
    check(&mysql, Kind::Boolean, Value::Bool(false), "FALSE");
    check(&mysql, Kind::Integer, Value::int(-7), "-7");
    check(&mysql, Kind::Text, Value::Null, "NULL");
}
