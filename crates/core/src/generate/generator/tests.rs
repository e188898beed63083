//! Groups of cases, for many seeds and languages.

use std::collections::BTreeSet;

use sqlparser::dialect::{Dialect as Grammar, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;

use super::*;
use crate::case;
use crate::case::AssertWhen;
use crate::dialect::{Dialect, LockingSqlite, MySql, Postgres, Sqlite};
use crate::engine::{Capabilities, Version};
use crate::generate::profile;

fn target(name: &str) -> EngineInfo {
    let (dialect, version, levels): (&'static dyn Dialect, &str, &[&str]) = match name {
        "sqlite" => (&Sqlite, "3.50.0", &["serializable"]),
        "model" => (&LockingSqlite, "0.1.0", &["read committed", "snapshot isolation", "serializable"]),
        "postgres" => (&Postgres, "15.18", &KNOWN_LEVELS[1..3]),
        "mariadb" => (&MySql, "10.11.14-MariaDB", &KNOWN_LEVELS[..3]),
        _ => (&MySql, "9.7.4", &["read uncommitted", "repeatable read", "serializable"]),
    };
    let levels: Vec<LevelName> = levels.iter().map(|level| LevelName::custom(level)).collect();
    EngineInfo {
        target: name.to_string(),
        family: "test",
        version: Version::parse(version),
        settings: Vec::new(),
        dialect,
        default_level: levels[0].clone(),
        levels,
        capabilities: Capabilities::default(),
        client: None,
    }
}

fn generator(profile: &str, targets: &[&str], demands: Demands, seed: u64) -> Generator {
    let targets: Vec<EngineInfo> = targets.iter().map(|name| target(name)).collect();
    let model = profile::shipped(profile).expect("the profile is shipped");
    Generator::new(model, &targets, demands, &[], seed).unwrap_or_else(|error| panic!("{error}"))
}

/// Targets whose languages differ in everything, alone and together.
const TARGETS: &[&[&str]] = &[
    &["sqlite"],
    &["model"],
    &["postgres"],
    &["mariadb"],
    &["mysql"],
    &["model", "sqlite"],
    &["mariadb", "mysql"],
    &["mariadb", "postgres"],
];

/// Calls it with a few groups for each profile and set of targets.
fn for_many(demands: Demands, mut with: impl FnMut(&[&'static str], &Generator, &Group)) {
    for (profile, _) in profile::SHIPPED {
        for targets in TARGETS {
            for seed in 1..=2 {
                let generator = generator(profile, targets, demands, seed);
                (0..6).for_each(|number| with(targets, &generator, &generator.group(number)));
            }
        }
    }
}

fn texts(case: &Case) -> Vec<String> {
    let steps = case.sessions().into_iter().flat_map(|session| session.items);
    case.setup().into_iter().chain(steps.map(|item| item.to_string())).collect()
}

#[test]
fn statements_are_those_of_every_targets_grammar() {
    let (mysql, postgres, sqlite) = (MySqlDialect {}, PostgreSqlDialect {}, SQLiteDialect {});
    let mut seen = BTreeSet::new();
    for_many(Demands::default(), |targets, _, group| {
        for sql in group.cases.iter().flat_map(texts) {
            for target in targets {
                let grammar: &dyn Grammar = match *target {
                    "postgres" => &postgres,
                    // SQLite's grammar, and locks; which in turn are all that PostgreSQL's lacks of it.
                    "model" if sql.ends_with("FOR UPDATE") || sql.ends_with("FOR SHARE") => &postgres,
                    "sqlite" | "model" => &sqlite,
                    _ => &mysql,
                };
                // Old grammar that the parser does not know.
                let sql = sql.trim_end_matches(" LOCK IN SHARE MODE");
                if seen.insert((*target, sql.to_string())) {
                    Parser::parse_sql(grammar, sql).unwrap_or_else(|error| panic!("{target}: {sql}\n{error}"));
                }
            }
        }
    });
}

#[test]
fn a_group_has_one_setup_and_different_orders_of_the_same_steps() {
    for_many(Demands::default(), |_, generator, group| {
        let setup = group.cases[0].setup();
        let mut turns = BTreeSet::new();
        for case in &group.cases {
            assert_eq!(case.setup(), setup);
            assert_eq!(case::parse(&case::print::print(case)).expect("a case"), *case);
            let level = case.level_of(&session(0)).expect("a case has a level");
            assert!(generator.levels.contains(level));
            let steps = case.entries.iter().filter(|entry| matches!(entry.line, Line::Step(..)));
            let order: Vec<String> = steps.map(|step| format!("{:?}", step.line)).collect();
            assert!(turns.insert(order), "{}", case::print::print(case));
        }
        assert!(group.cases.len() > 1);
    });
}

#[test]
fn a_group_is_a_function_of_its_number() {
    let print = |group: &Group| group.cases.iter().map(case::print::print).collect::<String>();
    let generator = |seed| generator("dt2", &["postgres"], Demands::default(), seed);
    let forwards: Vec<String> = (0..5).map(|number| print(&generator(7).group(number))).collect();
    let backwards: Vec<String> = (0..5).rev().map(|number| print(&generator(7).group(number))).collect();
    assert!(forwards.iter().eq(backwards.iter().rev()));
    assert_ne!(forwards[0], forwards[1]);
    assert_ne!(forwards[0], print(&generator(8).group(0)));
}

#[test]
fn sessions_open_and_end_their_transactions() {
    for_many(Demands::default(), |_, _, group| {
        for session in group.cases.iter().flat_map(Case::sessions) {
            let steps: Vec<String> = session.items.iter().map(ToString::to_string).collect();
            let count = |words: &[&str]| steps.iter().filter(|step| words.contains(&step.as_str())).count();
            assert_eq!((count(&["BEGIN"]), count(&["COMMIT", "ROLLBACK"])), (1, 1), "{steps:?}");
        }
    });
}

#[test]
fn what_is_demanded_is_kept() {
    let demands = Demands { reorderable: true, assertions: true };
    let mut assertions = 0;
    for_many(demands, |_, _, group| {
        for case in &group.cases {
            assertions += case.asserts(AssertWhen::Each).count() + case.asserts(AssertWhen::End).count();
            for sql in texts(case) {
                assert!(!sql.contains("AUTO") && !sql.contains("IDENTITY"), "{sql}");
                assert!(!sql.contains(" LIMIT ") || sql.contains(" ORDER BY "), "{sql}");
            }
        }
    });
    assert!(assertions > 0);
}

#[test]
fn everything_that_the_model_asks_for_appears() {
    let missing = missing(
        "dt2",
        &[
            "LOCK IN SHARE MODE",
            "FOR UPDATE",
            "INSERT INTO",
            "INSERT IGNORE INTO",
            "ON DUPLICATE KEY UPDATE",
            "REPLACE INTO",
            "UPDATE",
            "DELETE FROM",
            "SAVEPOINT s1",
            "ROLLBACK TO SAVEPOINT",
            "RELEASE SAVEPOINT",
            " JOIN ",
            "LEFT JOIN",
            "GROUP BY",
            "HAVING",
            "DISTINCT",
            "ORDER BY",
            "LIMIT",
            "BETWEEN",
            " IN (",
            "IS NULL",
            "IS NOT NULL",
            "LIKE",
            "EXISTS (",
            "CASE WHEN",
            "COALESCE(",
            "NULLIF(",
            "CAST(",
            "ABS(",
            "UPPER(",
            "LENGTH(",
            "COUNT(*)",
            "SUM(",
            "MIN(",
            "DEFAULT",
            " DIV ",
            " % ",
            "<=>",
            "GREATEST(",
            "COMMIT",
            "ROLLBACK",
            "NOT (",
            " OR ",
            " AND ",
            "CONCAT(",
            "SUBSTR(",
        ],
    );
    assert!(missing.is_empty(), "{missing:?}");
}

/// Which of these words no statement for MariaDB has.
fn missing<'w>(profile: &str, words: &[&'w str]) -> BTreeSet<&'w str> {
    let mut missing: BTreeSet<&str> = words.iter().copied().collect();
    let generator = generator(profile, &["mariadb"], Demands::default(), 1);
    for number in 0..60 {
        for sql in generator.group(number).cases.iter().flat_map(texts) {
            missing.retain(|word| !sql.contains(*word));
        }
    }
    missing
}

#[test]
fn everything_that_deep_statements_have_appears() {
    let missing = missing(
        "txcheck",
        &[
            "FROM (SELECT",
            "JOIN (SELECT",
            "WITH w",
            "IN (WITH w",
            "EXISTS (WITH w",
            "LEFT JOIN",
            " UNION SELECT ",
            " UNION ALL SELECT ",
            " EXCEPT SELECT ",
            " INTERSECT SELECT ",
            "ROW_NUMBER() OVER (",
            "RANK() OVER (",
            "LAG(",
            "LEAD(",
            "COUNT(*) OVER (",
            "PARTITION BY",
            "NOT EXISTS (",
            " NOT IN (SELECT",
            "= (SELECT",
            "> (SELECT",
            "THEN (SELECT",
            "LIMIT 1)",
            " HAVING ",
            "COUNT(DISTINCT ",
            "SELECT 10000 + r1.c0",
            "ON DUPLICATE KEY UPDATE",
            "ver INT NOT NULL DEFAULT 0",
        ],
    );
    assert!(missing.is_empty(), "{missing:?}");
}

/// What stands behind words of a statement, up to the next blank or punctuation.
fn after<'s>(sql: &'s str, words: &str) -> Option<&'s str> {
    let (_, rest) = sql.split_once(words)?;
    rest.split([' ', ',', ')']).next()
}

#[test]
fn keys_are_used_once_and_versions_never() {
    for targets in TARGETS {
        let generator = generator("txcheck", targets, Demands::default(), 3);
        for case in (0..8).flat_map(|number| generator.group(number).cases) {
            let mut taken: BTreeSet<String> = BTreeSet::new();
            let steps = case.sessions().into_iter().flat_map(|session| session.items);
            let steps: Vec<String> = steps.map(|item| item.to_string()).collect();
            for sql in &steps {
                assert!(!sql.contains("ver") && !sql.contains("SELECT *"), "{sql}");
                assert!(
                    !sql.contains(" SET c0 =") && !sql.contains("UPDATE c0 =") && !sql.starts_with("REPLACE"),
                    "{sql}"
                );
                assert!(after(sql, "INSERT INTO ").is_none_or(|table| table.starts_with('t')), "{sql}");
                // What is copied, and what is inserted: one constant for each statement, one number for each row.
                let copies = after(sql, ") SELECT ").filter(|_| sql.starts_with("INSERT"));
                let rows = sql.split_once(" VALUES ").map_or("", |(_, rows)| rows).split("(1").skip(1);
                let rows = rows.map(|row| format!("1{}", row.split(',').next().unwrap_or_default()));
                let born: Vec<String> = copies.map(str::to_string).into_iter().chain(rows).collect();
                for key in born.into_iter().filter(|key| key.len() >= 4) {
                    assert!(taken.insert(key), "{sql}\n{}", case::print::print(&case));
                }
            }
            for table in ["t0", "t1", "t2", "t3"] {
                let deletes = steps.iter().any(|sql| sql.starts_with(&format!("DELETE FROM {table}")));
                let small = |sql: &&String| after(sql, " VALUES (").is_some_and(|key| key.len() < 4);
                let found = steps.iter().filter(|sql| sql.contains(&format!("INTO {table} "))).find(small);
                assert!(!deletes || found.is_none(), "{found:?}: the row may have been deleted");
            }
        }
    }
}

#[test]
fn a_database_has_as_many_rows_as_the_profile_says() {
    let generator = generator("txcheck", &["mariadb"], Demands::default(), 1);
    for number in 0..20 {
        let setup = generator.group(number).cases[0].setup();
        let rows: usize =
            setup.iter().filter(|sql| sql.starts_with("INSERT")).map(|sql| sql.matches("), (").count() + 1).sum();
        assert!((45..=80).contains(&rows), "{rows}");
        let tables: Vec<&String> = setup.iter().filter(|sql| sql.starts_with("CREATE TABLE")).collect();
        assert!((2..=4).contains(&tables.len()) && tables.iter().all(|sql| sql.contains("ver INT NOT NULL DEFAULT 0")));
    }
}

#[test]
fn predicates_are_drawn_again_but_seldom() {
    let generator = generator("dbstorm", &["postgres"], Demands::default(), 1);
    let mut all = Tally::default();
    (0..50).for_each(|number| all.add(&generator.tallied_group(number).1));
    assert!(all.redrawn > 0 && all.redrawn < all.predicates / 4 && all.given_up < all.predicates / 100, "{all:?}");
}

#[test]
fn targets_must_have_a_level_in_common() {
    let refused = |targets: &[&str], levels: &[&str]| {
        let targets: Vec<EngineInfo> = targets.iter().map(|name| target(name)).collect();
        let levels: Vec<LevelName> = levels.iter().map(|level| LevelName::custom(level)).collect();
        let generator = Generator::new(Model::usual("test"), &targets, Demands::default(), &levels, 1);
        generator.map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(refused(&["mariadb", "mysql"], &["repeatable read"]), Ok(()));
    assert_eq!(
        refused(&["sqlite", "postgres"], &[]).unwrap_err(),
        "the targets have no isolation level in common (sqlite: serializable; postgres: read committed, repeatable \
         read); choose other targets"
    );
    assert_eq!(
        refused(&["postgres"], &["serializable"]).unwrap_err(),
        "not every target has the isolation level `serializable` (postgres: read committed, repeatable read); \
         choose another level or other targets"
    );
    assert_eq!(refused(&[], &[]).unwrap_err(), "there is no target to generate cases for");
}

/// A test space so small that a person can read a whole group of it.
const SMALL: &str = r#"
name = "small"
what = "one table, two sessions, one order"
extends = "dt2"
[schema]
tables = 1
groups = 2
rows = 2
[session]
count = 2
[transaction]
statements = 2
[order]
count = 1
"#;

#[test]
fn a_small_group_reads_well() {
    let model = profile::read(SMALL, "small.toml").unwrap_or_else(|error| panic!("{error}"));
    let generator = Generator::new(model, &[target("postgres")], Demands::default(), &[], 1).expect("it has levels");
    let printed: Vec<String> = generator.group(1).cases.iter().map(case::print::print).collect();
    let printed = printed.join("\n");
    assert_eq!(printed, include_str!("small.sql"), "\n{printed}");
}
