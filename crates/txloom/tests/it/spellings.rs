//! What the dialects' tables claim is true: every construct is tried on the engine itself, with the answer that its
//! sense promises; and what an engine is said to lack, it lacks.

use txloom_core::case::SessionName;
use txloom_core::dialect::{Construct, Spelling};
use txloom_core::engine::{Engine, EngineInfo, SessionId, SessionSpec};
use txloom_core::outcome::Outcome;

use crate::support::{engine, limited};

const TARGETS: &[&str] = &["sqlite", "model", "postgres", "mariadb"];

/// Statements that use a construct, written with its name in braces, and what the last one answers, by sense.
type Trial = (Construct, &'static str, &'static [(&'static str, &'static str)]);

#[rustfmt::skip]
const TYPES: &[Trial] = &[
    (Construct::SmallInt, "CREATE TABLE x (c {SmallInt}); INSERT INTO x VALUES (32767); SELECT c FROM x",
        &[("", "(32767)")]),
    (Construct::Int, "CREATE TABLE x (c {Int}); INSERT INTO x VALUES (2147483647); SELECT c FROM x",
        &[("", "(2147483647)")]),
    (Construct::BigInt, "CREATE TABLE x (c {BigInt}); INSERT INTO x VALUES (9223372036854775807); SELECT c FROM x",
        &[("", "(9223372036854775807)")]),
    (Construct::Decimal, "CREATE TABLE x (c {Decimal}(10, 2)); INSERT INTO x VALUES (0.125); SELECT c FROM x",
        &[("", "(0.13)"), ("a float", "(0.125)")]),
    (Construct::Double, "CREATE TABLE x (c {Double}); INSERT INTO x VALUES (0.25); SELECT c, c * 3 FROM x",
        &[("", "(0.25, 0.75)")]),
    (Construct::Varchar, "CREATE TABLE x (c {Varchar}(9)); INSERT INTO x VALUES ('ab'); SELECT c FROM x",
        &[("", "('ab')")]),
    (Construct::Char, "CREATE TABLE x (c {Char}(5)); INSERT INTO x VALUES ('a '); \
                       SELECT LENGTH(c), (SELECT COUNT(*) FROM x AS y WHERE y.c LIKE 'a') FROM x",
        &[("padded", "(1, 0)"), ("stripped when read", "(1, 1)"), ("never padded", "(2, 0)")]),
    (Construct::Text, "CREATE TABLE x (c {Text}); INSERT INTO x VALUES ('ab'); SELECT c FROM x", &[("", "('ab')")]),
    (Construct::Date, "CREATE TABLE x (c {Date}); INSERT INTO x VALUES ('2024-01-02'), ('2023-12-31'); \
                       SELECT MAX(c) FROM x",
        &[("", "('2024-01-02')"), ("a text", "('2024-01-02')")]),
    (Construct::Date, "CREATE TABLE x (c {Date}); INSERT INTO x VALUES ('2024-1-2'); SELECT c FROM x",
        &[("", "('2024-01-02')"), ("a text", "('2024-1-2')")]),
    (Construct::Time, "CREATE TABLE x (c {Time}); INSERT INTO x VALUES ('09:00:00'), ('10:00:00'); \
                       SELECT MIN(c) FROM x",
        &[("", "('09:00:00')"), ("a text", "('09:00:00')")]),
    (Construct::Time, "CREATE TABLE x (c {Time}); INSERT INTO x VALUES ('9:0:0'); SELECT c FROM x",
        &[("", "('09:00:00')"), ("a text", "('9:0:0')")]),
    (Construct::Timestamp, "CREATE TABLE x (c {Timestamp}); INSERT INTO x VALUES ('2024-01-02 03:04:05'); \
                            SELECT c FROM x",
        &[("", "('2024-01-02 03:04:05')"), ("a text", "('2024-01-02 03:04:05')")]),
    (Construct::Timestamp, "CREATE TABLE x (c {Timestamp}); INSERT INTO x VALUES ('2024-1-2 3:4:5'); SELECT c FROM x",
        &[("", "('2024-01-02 03:04:05')"), ("a text", "('2024-1-2 3:4:5')")]),
    (Construct::Blob, "CREATE TABLE x (c {Blob}); SELECT COUNT(*) FROM x", &[("", "(0)")]),
    (Construct::BytesLiteral, "CREATE TABLE x (c {Blob}); \
                               INSERT INTO x VALUES ({BytesLiteral}00ff'), ({BytesLiteral}'); \
                               SELECT c FROM x WHERE c = {BytesLiteral}00ff'",
        &[("", "(X'00ff')")]),
    (Construct::Boolean, "CREATE TABLE x (c {Boolean}); INSERT INTO x VALUES (TRUE); SELECT c FROM x WHERE c",
        &[("a type", "(TRUE)"), ("a number", "(1)")]),
    (Construct::AutoIncrement, "CREATE TABLE x (id {AutoIncrement}, v INT); INSERT INTO x (v) VALUES (5), (6); \
                                SELECT id, v FROM x ORDER BY id",
        &[("", "(1, 5) (2, 6)")]),
    (Construct::Bounds, "CREATE TABLE x (c SMALLINT); INSERT INTO x VALUES (40000); SELECT c FROM x",
        &[("an error", "error out-of-range"), ("none", "(40000)"), ("clipped", "(32767)")]),
    (Construct::Bounds, "CREATE TABLE x (c VARCHAR(2)); INSERT INTO x VALUES ('abc'); SELECT c FROM x",
        &[("an error", "error out-of-range"), ("none", "('abc')"), ("clipped", "('ab')")]),
    (Construct::DefaultKeyword, "INSERT INTO t VALUES (4, {DefaultKeyword}); SELECT v FROM t WHERE id = 4",
        &[("", "(NULL)")]),
    (Construct::Check, "CREATE TABLE x (c INT {Check} (c > 0)); INSERT INTO x VALUES (NULL); INSERT INTO x VALUES (-1)",
        &[("", "error check")]),
    (Construct::ForeignKey, "CREATE TABLE x (c INT, {ForeignKey} (c) REFERENCES t (id)); \
                             INSERT INTO x VALUES (1), (NULL); \
                             INSERT INTO x VALUES (9)",
        &[("", "error foreign-key")]),
    (Construct::Keyless, "CREATE TABLE x (c INT); INSERT INTO x VALUES (1), (1); SELECT c FROM x", &[("", "(1) (1)")]),
];

#[rustfmt::skip]
const STATEMENTS: &[Trial] = &[
    (Construct::ForShare, "BEGIN; SELECT v FROM t WHERE id = 1 {ForShare}", &[("", "(10)")]),
    (Construct::ForUpdate, "BEGIN; SELECT v FROM t WHERE id = 1 {ForUpdate}", &[("", "(10)")]),
    (Construct::InsertIgnore, "{InsertIgnore} t VALUES (1, 5), (4, 40); SELECT SUM(v) FROM t", &[("", "(70)")]),
    (Construct::OnConflictDoNothing, "INSERT INTO t VALUES (1, 5), (4, 40) {OnConflictDoNothing}; SELECT SUM(v) FROM t",
        &[("", "(70)")]),
    (Construct::OnConflictDoUpdate, "INSERT INTO t VALUES (1, 5) {OnConflictDoUpdate} (id) DO UPDATE SET v = 7; \
                                     SELECT SUM(v) FROM t",
        &[("", "(27)")]),
    (Construct::OnDuplicateKeyUpdate, "INSERT INTO t VALUES (1, 5) {OnDuplicateKeyUpdate} v = 7; SELECT SUM(v) FROM t",
        &[("", "(27)")]),
    (Construct::Replace, "{Replace} t VALUES (1, 5)",
        &[("counts new rows", "affected 1"), ("counts old rows, too", "affected 2")]),
    (Construct::FullJoin, "SELECT COUNT(*) FROM t {FullJoin} t AS u ON t.id = u.v", &[("", "(6)")]),
    (Construct::With, "{With} x AS (SELECT v FROM t WHERE id = 1) SELECT v FROM x", &[("", "(10)")]),
    (Construct::Window, "SELECT id, SUM(id) {Window} (ORDER BY id) FROM t", &[("", "(1, 1) (2, 3) (3, 6)")]),
    (Construct::Except, "SELECT v FROM t WHERE id < 3 {Except} SELECT v FROM t WHERE id = 1", &[("", "(20)")]),
    (Construct::Intersect, "SELECT v FROM t {Intersect} SELECT v FROM t WHERE id > 2", &[("", "(NULL)")]),
    (Construct::SelfSubquery, "UPDATE t SET v = 0 WHERE id IN (SELECT id FROM t WHERE v > 10)", &[("", "affected 1")]),
    (Construct::LimitedWrite, "UPDATE t SET v = 0 ORDER BY id {LimitedWrite} 1", &[("", "affected 1")]),
];

#[rustfmt::skip]
const EXPRESSIONS: &[Trial] = &[
    (Construct::NullSafeEqual, "SELECT id FROM t WHERE v {NullSafeEqual} NULL", &[("", "(3)")]),
    (Construct::IntegerDivision, "SELECT -7 {IntegerDivision} 2", &[("", "(-3)")]),
    (Construct::Remainder, "SELECT -7 {Remainder} 3", &[("", "(-1)")]),
    (Construct::TextComparison, "CREATE TABLE x (c VARCHAR(9)); INSERT INTO x VALUES ('a'), ('A'), ('a '), ('ß'); \
                                 SELECT (SELECT COUNT(*) FROM x WHERE c {TextComparison} 'a'), \
                                 (SELECT COUNT(*) FROM x WHERE c LIKE 'A'), (SELECT COUNT(*) FROM x WHERE c = 'ss')",
        &[("bytes", "(1, 1, 0)"), ("bytes, but not in LIKE", "(1, 2, 0)"), ("general_ci", "(3, 2, 0)"),
          ("0900_ai_ci", "(2, 2, 1)"), ("uca1400_ai_ci", "(3, 2, 1)")]),
    (Construct::ConcatOperator, "SELECT 'a' {ConcatOperator} 'b', 'a' {ConcatOperator} NULL", &[("", "('ab', NULL)")]),
    (Construct::Concat, "SELECT {Concat}('a', NULL, 'b')", &[("NULL wins", "(NULL)"), ("NULL is empty", "('ab')")]),
    (Construct::Like, "SELECT id FROM t WHERE 'abc' {Like} 'a%c' AND NOT 'abc' {Like} 'a_' AND id = 1", &[("", "(1)")]),
    (Construct::CharLength, "SELECT {CharLength}('abc'), {CharLength}('')", &[("", "(3, 0)")]),
    (Construct::Upper, "SELECT (SELECT COUNT(*) FROM t WHERE id = 1 AND {Upper}('a') = 'a'), \
                        (SELECT COUNT(*) FROM t WHERE id = 1 AND {Upper}('a') LIKE 'a')",
        &[("bytes", "(0, 0)"), ("bytes, but not in LIKE", "(0, 1)"), ("case is ignored", "(1, 1)")]),
    (Construct::Lower, "SELECT {Lower}('aB1')", &[("", "('ab1')")]),
    (Construct::Substring, "SELECT {Substring}('abc', 2, 1), {Substring}('abc', 3, 9), {Substring}('abc', 1, 0)",
        &[("", "('b', 'c', '')")]),
    (Construct::Trim, "SELECT {Trim}(' a ')", &[("", "('a')")]),
    (Construct::Abs, "SELECT {Abs}(-7), {Abs}(0.25)", &[("", "(7, 0.25)")]),
    (Construct::Round, "CREATE TABLE x (c DOUBLE PRECISION); INSERT INTO x VALUES (2.5); \
                        SELECT {Round}(c), {Round}(7) FROM x",
        &[("halves of floats to the even number", "(2, 7)"), ("halves away from 0, also of floats", "(3, 7)")]),
    (Construct::Sign, "SELECT {Sign}(-7), {Sign}(0), {Sign}(0.25)", &[("", "(-1, 0, 1)")]),
    (Construct::Coalesce, "SELECT {Coalesce}(v, 0) FROM t WHERE id = 3", &[("", "(0)")]),
    (Construct::NullIf, "SELECT {NullIf}(v, 10) FROM t WHERE id < 3 ORDER BY id", &[("", "(NULL) (20)")]),
    (Construct::Greatest, "SELECT {Greatest}(1, 2), {Greatest}(1, NULL)",
        &[("NULL wins", "(2, NULL)"), ("NULL is ignored", "(2, 1)")]),
    (Construct::Least, "SELECT {Least}(1, 2), {Least}(1, NULL)",
        &[("NULL wins", "(1, NULL)"), ("NULL is ignored", "(1, 1)")]),
    (Construct::OrderOfNulls, "SELECT v FROM t {OrderOfNulls} v LIMIT 1", &[("first", "(NULL)"), ("last", "(10)")]),
    (Construct::TruthValue, "SELECT 1 = 1", &[("a number", "(1)"), ("a type", "(TRUE)")]),
    (Construct::CastToInteger, "SELECT CAST(2.5 AS {CastToInteger}), CAST('7' AS {CastToInteger})",
        &[("", "(3, 7)"), ("rounds", "(3, 7)"), ("cuts off", "(2, 7)")]),
    (Construct::CastToText, "CREATE TABLE x (c DECIMAL(10, 2)); INSERT INTO x VALUES (1.5); \
                             SELECT CAST(c AS {CastToText}), CAST(7 AS {CastToText}) FROM x",
        &[("", "('1.50', '7')"), ("with all decimals", "('1.50', '7')"), ("as stored", "('1.5', '7')")]),
];

fn trials() -> impl Iterator<Item = &'static Trial> {
    TYPES.iter().chain(STATEMENTS).chain(EXPRESSIONS)
}

fn spelling(info: &EngineInfo, construct: Construct) -> Option<Spelling> {
    info.dialect.spelling(construct, &info.version)
}

/// The statements with constructs as an engine writes them; for what it lacks, as `other` does.
fn written(template: &str, info: &EngineInfo, other: &EngineInfo) -> String {
    Construct::ALL.iter().fold(template.to_string(), |text, construct| {
        let spelling = spelling(info, *construct).or_else(|| spelling(other, *construct));
        text.replace(&format!("{{{construct:?}}}"), spelling.map_or("", |spelling| spelling.text))
    })
}

/// What the last statement answers, or the first error.
fn answer(engine: &mut dyn Engine, statements: &str) -> String {
    let setup =
        ["CREATE TABLE t (id INT NOT NULL PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 10), (2, 20), (3, NULL)"];
    let done = engine.reset(&setup.map(str::to_string)).expect("the engine resets");
    assert!(done.iter().all(|outcome| outcome.error.is_none()), "{done:?}");
    let name = SessionName::new("a").expect("a name");
    let spec = SessionSpec { id: SessionId(0), name, node: None, level: None };
    let mut session = engine.open(&spec).expect("a session opens");
    let mut last = String::new();
    for statement in statements.split("; ") {
        let outcome = session.execute(statement).expect("the engine answers");
        last = shown(&outcome, engine.info());
        if outcome.error.is_some() {
            break;
        }
    }
    last
}

fn shown(outcome: &Outcome, info: &EngineInfo) -> String {
    if let Some(error) = &outcome.error {
        return format!("error {}", error.class);
    }
    match outcome.rows() {
        Some(result) => {
            let tuple =
                |row: Vec<_>| format!("({})", row.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
            info.dialect.values(result).into_iter().map(tuple).collect::<Vec<_>>().join(" ")
        }
        None => format!("affected {}", outcome.affected().unwrap_or(0)),
    }
}

#[test]
fn engines_answer_as_their_dialects_say() {
    limited(|| {
        for target in TARGETS {
            let mut engine = engine(target);
            let info = engine.info().clone();
            for (construct, template, answers) in trials() {
                let Some(spelling) = spelling(&info, *construct) else { continue };
                let expected = answers.iter().find(|(sense, _)| *sense == spelling.sense);
                let (_, expected) = expected.unwrap_or_else(|| panic!("{construct:?}: no trial of {spelling:?}"));
                let sql = written(template, &info, &info);
                assert_eq!(answer(engine.as_mut(), &sql), *expected, "{target}, {construct:?}: {sql}");
            }
        }
    });
}

#[test]
fn what_an_engine_is_said_to_lack_it_lacks() {
    limited(|| {
        let mut engines: Vec<_> = TARGETS.iter().map(|target| engine(target)).collect();
        let infos: Vec<EngineInfo> = engines.iter().map(|engine| engine.info().clone()).collect();
        for (engine, info) in engines.iter_mut().zip(&infos) {
            for (construct, template, answers) in trials().filter(|trial| spelling(info, trial.0).is_none()) {
                for other in infos.iter().filter(|other| spelling(other, *construct).is_some()) {
                    let sql = written(template, info, other);
                    let answer = answer(engine.as_mut(), &sql);
                    assert!(
                        answers.iter().all(|(_, good)| *good != answer),
                        "{} has {construct:?}: {sql}",
                        info.target
                    );
                }
            }
        }
    });
}

#[test]
fn every_construct_is_tried_and_every_sense_shows() {
    for construct in Construct::ALL {
        let of_it: Vec<&Trial> = trials().filter(|trial| trial.0 == *construct).collect();
        assert!(!of_it.is_empty(), "{construct:?}");
        // Two senses of one construct differ in the answer to some trial, unless they are spelled differently.
        let answers = |sense: &str| -> Vec<Option<&str>> {
            let one = |trial: &&Trial| trial.2.iter().find(|(name, _)| *name == sense).map(|(_, answer)| *answer);
            of_it.iter().map(one).collect()
        };
        let senses: Vec<&str> = of_it[0].2.iter().map(|(sense, _)| *sense).filter(|sense| !sense.is_empty()).collect();
        for (at, sense) in senses.iter().enumerate() {
            assert!(senses[..at].iter().all(|other| answers(other) != answers(sense)), "{construct:?}: {sense}");
        }
    }
}
