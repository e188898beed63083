//! Reads beside a statement see what the statement sees: the claims of `instrument::views`, on the engines themselves.
//!
//! ```text
//!   a   BEGIN  SELECT … FROM v                                 [reads] statement [reads]  SELECT … FROM t  ROLLBACK
//!   b                           UPDATE u  DELETE u  INSERT u
//! ```
//!
//! Statements of a write or return what they found in u, its versions included. So they tell themselves which version
//! set they used, and it must be the one that was read beside them.

use std::collections::{BTreeMap, BTreeSet};

use txloom::engines::{self, Target};
use txloom::execute::EngineRunner;
use txloom_core::case::{self, Item, Line, SessionName, Sql};
use txloom_core::dialect::Dialect;
use txloom_core::level::LevelName;
use txloom_core::oracle::Runner;
use txloom_core::oracle::graph::instrument::views::{View, views};
use txloom_core::oracle::graph::instrument::{Prepared, Role, prepare};
use txloom_core::outcome::{Column, Outcome};
use txloom_core::schedule::StepRef;
use txloom_core::trace::{StepRun, Trace};

use crate::support::{limited, run, runner};

const SETUP: &str = "-- @case 1
/*init*/ CREATE TABLE t (k INT PRIMARY KEY, a INT, ver INT NOT NULL);
/*init*/ CREATE TABLE u (k INT PRIMARY KEY, b INT, ver INT NOT NULL);
/*init*/ CREATE TABLE v (k INT PRIMARY KEY);
/*init*/ INSERT INTO t VALUES (1, 10, 0), (2, 20, 0), (3, 30, 0), (4, 40, 0);
/*init*/ INSERT INTO u VALUES (1, 10, 0), (2, 20, 0);
";

/// What session b does: the versions of u after it are 1 (of row 1) and 2 (of row 3), before it 0.
const OTHERS: &str = "/*b*/ UPDATE u SET b = 30 WHERE k = 1;
/*b*/ INSERT INTO u VALUES (3, 30, 0);
/*b*/ DELETE FROM u WHERE k = 2;
";

/// The rows of a read: key and version.
type Rows = BTreeMap<i64, i64>;

const OLD: &[(i64, i64)] = &[(1, 0), (2, 0)];
const NEW: &[(i64, i64)] = &[(1, 1), (3, 2)];

/// What a statement tells of the version set that it used.
#[derive(Debug, Clone, Copy)]
enum Proof {
    /// Its first column is their sum.
    Returned,
    /// The rows that it wrote have their sum in column a.
    Assigned,
    /// It inserted a row 100 + k for every row k, with the version in column a.
    Inserted,
    /// It wrote or deleted the rows of t whose keys are one above the versions.
    Chosen,
}

/// A version set as one number.
const SUM: &str = "(SELECT SUM(100 * ver + k) FROM u)";

/// The statements, with `$SUM` for the sum of a version set.
const STATEMENTS: &[(&str, Proof)] = &[
    ("SELECT SUM(100 * ver + k) FROM u", Proof::Returned),
    ("SELECT $SUM, k FROM t WHERE k < 3", Proof::Returned),
    ("WITH c AS (SELECT ver, k FROM u) SELECT SUM(100 * ver + k) FROM c", Proof::Returned),
    ("UPDATE t SET a = $SUM", Proof::Assigned),
    ("UPDATE t SET a = a + 1 WHERE k - 1 IN (SELECT ver FROM u)", Proof::Chosen),
    ("UPDATE t SET a = 1 WHERE EXISTS (SELECT 1 FROM u WHERE u.ver = t.k - 1)", Proof::Chosen),
    (
        "UPDATE t SET a = 1 WHERE k - 1 IN (SELECT ver FROM u WHERE k = 1 UNION SELECT ver FROM u WHERE k > 1)",
        Proof::Chosen,
    ),
    ("UPDATE t SET a = 1 WHERE k - 1 IN (WITH c AS (SELECT ver FROM u) SELECT ver FROM c)", Proof::Chosen),
    ("UPDATE t SET a = 1 WHERE k - 1 IN (SELECT ver FROM (SELECT DISTINCT ver FROM u) AS d)", Proof::Chosen),
    ("DELETE FROM t WHERE k - 1 IN (SELECT ver FROM u)", Proof::Chosen),
    ("DELETE FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.ver = t.k - 1)", Proof::Chosen),
    ("INSERT INTO t SELECT 100 + k, ver, 0 FROM u", Proof::Inserted),
    ("INSERT INTO t SELECT 5, SUM(100 * ver + k), 0 FROM u", Proof::Assigned),
    ("INSERT INTO t VALUES (5, $SUM, 0), (6, $SUM, 0)", Proof::Assigned),
];

/// Upserts: one row is there, one is not.
fn upsert(family: &str) -> (&'static str, Proof) {
    let statement = match family {
        "mariadb" => "INSERT INTO t VALUES (1, $SUM, 0), (5, $SUM, 0) ON DUPLICATE KEY UPDATE a = $SUM",
        _ => "INSERT INTO t VALUES (1, $SUM, 0), (5, $SUM, 0) ON CONFLICT (k) DO UPDATE SET a = $SUM",
    };
    (statement, Proof::Assigned)
}

/// What was read and said around a statement.
struct Around {
    prepared: Prepared,
    step: StepRef,
    /// The whole tables before it.
    before: BTreeMap<String, Rows>,
    /// The rows that it was to write.
    before_write: Option<Rows>,
    outcome: Outcome,
    /// What it returned, if it is a query.
    returned: Vec<Vec<i64>>,
    /// The written table after it.
    after: Option<Rows>,
    /// Keys and column a of t, as the session sees them in the end.
    values: Rows,
}

/// The numbers that a query returned.
fn numbers(dialect: &dyn Dialect, outcome: &Outcome) -> Vec<Vec<i64>> {
    assert_eq!(outcome.error, None);
    let Some(result) = outcome.rows() else { return Vec::new() };
    let number = |(cell, column): (&Option<Vec<u8>>, &Column)| {
        let value = dialect.normalize(&column.type_name, cell.as_ref().expect("not NULL"));
        value.to_string().parse().unwrap_or_else(|_| panic!("not a number: {value}"))
    };
    result.rows.iter().map(|row| row.iter().zip(&result.columns).map(number).collect()).collect()
}

/// Runs a case with the reads around one step of a; its last statement in t is `SELECT k, a FROM t`.
fn observe(runner: &mut EngineRunner, text: &str, level: &LevelName, step: StepRef) -> Around {
    let mut case = case::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    case.set_level(level.clone());
    let prepared = prepare(&case).unwrap_or_else(|skip| panic!("{text}: {skip}"));
    let target = &prepared.targets[&step];
    let views = views(&runner.targets()[0], level).expect("a level with views");
    let view = if target.written.is_some() || target.locks { views.writes } else { views.queries };
    let reads = prepared.reads(&step, view);

    let mut instrumented = prepared.case.clone();
    let at = prepared.case.sessions().into_iter().find(|session| session.name == step.session).expect("the session");
    let at = at.entries[step.index];
    let entry =
        |sql: &str| Line::Step(step.session.clone(), Item::Sql(Sql::new(sql).expect("a step")), Vec::new()).into();
    let after = reads.after.iter().map(|read| read.sql.as_str()).chain(["SELECT k, a FROM t"]);
    instrumented.entries.splice(at + 1..at + 1, after.map(entry));
    instrumented.entries.splice(at..at, reads.before.iter().map(|read| entry(&read.sql)));
    let trace = run(runner, &instrumented);

    let outcomes = outcomes(&trace, &step);
    let (before, rest) = outcomes.split_at(reads.before.len());
    let dialect = trace.engine.dialect;
    let rows = |outcome: &Outcome| numbers(dialect, outcome).iter().map(|row| (row[0], row[1])).collect::<Rows>();
    let mut around = Around {
        before: BTreeMap::new(),
        before_write: None,
        outcome: rest[0].clone(),
        returned: Vec::new(),
        after: None,
        values: Rows::new(),
        prepared,
        step,
    };
    for (read, outcome) in reads.before.iter().zip(before) {
        assert_eq!(outcome.error, None, "{}", read.sql);
        match read.role {
            Role::BeforeWrite => around.before_write = Some(rows(outcome)),
            _ => drop(around.before.insert(read.table.to_string(), rows(outcome))),
        }
    }
    if around.outcome.error.is_none() {
        around.returned = numbers(dialect, &around.outcome);
        around.after = reads.after.first().map(|_| rows(&rest[1]));
        around.values = rows(&rest[1 + reads.after.len()]);
    }
    around
}

/// The outcomes of a session's steps from this one on. None of them waited.
fn outcomes(trace: &Trace, step: &StepRef) -> Vec<Outcome> {
    let is_own = |run: &&StepRun| *trace.name(run.session) == step.session && run.index >= step.index;
    let own = trace.steps.iter().filter(is_own);
    own.map(|run| {
        assert!(!run.waited, "{}", run.sql);
        run.outcome.clone().expect("the server lives")
    })
    .collect()
}

impl Around {
    /// Checks that what was written is what was to be written, and that nothing else happened; returns the rows.
    fn written(&self) -> BTreeSet<i64> {
        let target = &self.prepared.targets[&self.step];
        let (Some(table), Some(after)) = (&target.written, &self.after) else { return BTreeSet::new() };
        let before = &self.before[&**table];
        let mut written = BTreeSet::new();
        for key in before.keys().chain(after.keys()) {
            let (old, new) = (before.get(key), after.get(key));
            if old != new {
                assert_eq!(new.copied(), target.version, "row {key}");
                written.insert(*key);
            }
        }
        if let Some(before_write) = &self.before_write {
            assert_eq!(before_write.keys().copied().collect::<BTreeSet<_>>(), written, "the Before-Write Read");
            assert!(before_write.iter().all(|(key, version)| before.get(key) == Some(version)), "their versions");
        }
        // MySQL counts a row twice that an upsert found.
        let is_upsert = self.before_write.is_none() && target.uses.get(table).is_some_and(|uses| uses.write);
        assert!(is_upsert || self.outcome.affected() == Some(written.len() as u64), "the server's count");
        written
    }

    /// Checks that the statement used the versions of u that were read.
    fn check(&self, proof: Proof) {
        let seen = &self.before["u"];
        let sum: i64 = seen.iter().map(|(key, version)| 100 * version + key).sum();
        let written = self.written();
        match proof {
            Proof::Returned => assert_eq!(self.returned[0][0], sum),
            Proof::Assigned => {
                assert!(!written.is_empty());
                assert!(written.iter().all(|key| self.values[key] == sum), "{:?}: {sum}", self.values);
            }
            Proof::Inserted => {
                let inserted: Rows = written.iter().map(|key| (key - 100, self.values[key])).collect();
                assert_eq!(inserted, *seen);
            }
            Proof::Chosen => {
                let expect: BTreeSet<i64> = seen.values().map(|version| version + 1).collect();
                assert_eq!(written, expect);
            }
        }
    }
}

fn step(session: &str, index: usize) -> StepRef {
    StepRef { session: SessionName::new(session).expect("a name"), index }
}

/// Whether the statement failed, or which versions of u it saw.
fn verdict(around: &Around) -> &'static str {
    let seen: Vec<(i64, i64)> = around.before["u"].iter().map(|(key, version)| (*key, *version)).collect();
    match seen.as_slice() {
        _ if around.outcome.error.is_some() => "fails",
        seen if seen == OLD => "old",
        seen if seen == NEW => "new",
        seen => panic!("neither old nor new: {seen:?}"),
    }
}

/// What queries and writes see at a level when the transaction has read something before b came, and when it has not.
fn check_level(runner: &mut EngineRunner, level: &str, queries: &str, writes: &str) {
    let info = runner.targets()[0].clone();
    let target = &info.target;
    let level = LevelName::parse(level).expect("a level");
    for (statement, proof) in STATEMENTS.iter().copied().chain([upsert(info.family)]) {
        let statement = statement.replace("$SUM", SUM);
        let is_query = matches!(proof, Proof::Returned);
        for early in ["/*a*/ SELECT COUNT(*) FROM v;\n", ""] {
            let text = format!("{SETUP}/*a*/ BEGIN;\n{early}{OTHERS}/*a*/ {statement};\n/*a*/ ROLLBACK;\n");
            let index = if early.is_empty() { 1 } else { 2 };
            let around = observe(runner, &text, &level, step("a", index));
            let expect = match (early.is_empty(), is_query) {
                (true, _) => "new",
                (false, true) => queries,
                (false, false) => writes,
            };
            let what = format!("{target} at {level}, early {}: {statement}", !early.is_empty());
            assert_eq!(verdict(&around), expect, "{what}: {:?}", around.outcome.error);
            if around.outcome.error.is_none() {
                around.check(proof);
            }
        }
    }
}

/// A transaction sees its own changes, and so do the reads in it; a statement of its own sees what is committed.
fn check_own_changes(runner: &mut EngineRunner, level: &str) {
    let level = LevelName::parse(level).expect("a level");
    let own = "/*a*/ INSERT INTO u VALUES (7, 70, 0);\n/*a*/ DELETE FROM u WHERE k = 1;\n";
    for (begin, index) in [("/*a*/ BEGIN;\n", 3), ("", 2)] {
        for (statement, proof) in [
            ("INSERT INTO t SELECT 100 + k, ver, 0 FROM u", Proof::Inserted),
            ("SELECT SUM(100 * ver + k) FROM u", Proof::Returned),
        ] {
            let text = format!("{SETUP}{begin}{own}/*a*/ {statement};\n");
            let around = observe(runner, &text, &level, step("a", index));
            assert_eq!(around.outcome.error, None, "{level}: {statement}");
            assert!(
                around.before["u"].contains_key(&7) && !around.before["u"].contains_key(&1),
                "{level}: {statement}"
            );
            around.check(proof);
        }
    }
}

/// A write goes past rows that others have locked, if their committed versions do not meet its condition.
fn check_past_locks(runner: &mut EngineRunner) {
    let level = LevelName::parse("read committed").expect("a level");
    let open = "/*b*/ BEGIN;\n/*b*/ UPDATE t SET a = 20 WHERE k = 1;\n/*a*/ BEGIN;";
    let text = format!("{SETUP}{open}\n/*a*/ UPDATE t SET a = 5 WHERE a = 20;\n");
    let around = observe(runner, &text, &level, step("a", 1));
    assert_eq!(around.outcome.error, None);
    assert_eq!(around.written(), BTreeSet::from([2]));
}

/// Which statements wait for a row of u that another transaction has changed: those that lock what they read there.
fn check_locks_in_subqueries(runner: &mut EngineRunner) {
    for (statement, read_committed, repeatable_read, serializable) in [
        ("SELECT k FROM t WHERE k IN (SELECT ver FROM u)", false, false, true),
        ("UPDATE t SET a = 1 WHERE k IN (SELECT ver FROM u)", false, true, true),
        ("UPDATE t SET a = (SELECT SUM(ver) FROM u)", false, true, true),
        ("INSERT INTO t SELECT 100 + k, ver, 0 FROM u", false, true, true),
        ("INSERT INTO t VALUES (5, (SELECT SUM(ver) FROM u), 0)", true, true, true),
        ("DELETE FROM t WHERE k IN (SELECT ver FROM u)", true, true, true),
    ] {
        let expected = [read_committed, repeatable_read, serializable];
        for (level, expect) in ["read committed", "repeatable read", "serializable"].into_iter().zip(expected) {
            let open = "/*b*/ BEGIN;\n/*b*/ UPDATE u SET b = 30 WHERE k = 1;\n/*a*/ BEGIN;";
            let text = format!("{SETUP}{open}\n/*a*/ {statement};\n/*b*/ COMMIT;\n");
            let mut case = case::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            case.set_level(LevelName::custom(level));
            let trace = run(runner, &case);
            let waited = trace.steps.iter().any(|step| step.sql == statement && step.waited);
            assert_eq!(waited, expect, "{level}: {statement}");
        }
    }
}

/// A locking query reads what is there now in its own tables, and the snapshot in its subqueries.
fn check_locking_queries(runner: &mut EngineRunner) {
    let level = LevelName::custom("repeatable read");
    let of_t = "/*b*/ UPDATE t SET a = 11 WHERE k = 1;\n";
    for (statement, is_new) in [
        ("SELECT $SUM, k FROM t FOR UPDATE", true),
        ("SELECT $SUM, k FROM t WHERE k IN (SELECT k FROM u) LOCK IN SHARE MODE", true),
        ("SELECT $SUM, k FROM t", false),
    ] {
        let statement = statement.replace("$SUM", SUM);
        let text = format!("{SETUP}/*a*/ BEGIN;\n/*a*/ SELECT COUNT(*) FROM v;\n{OTHERS}{of_t}/*a*/ {statement};\n");
        let around = observe(runner, &text, &level, step("a", 2));
        assert_eq!(verdict(&around), "old", "{statement}");
        assert_eq!(around.before["t"][&1] > 0, is_new, "{statement}");
        // The versions that the query returns itself stand at the end.
        assert_eq!(around.returned[0][2..], [1, around.before["t"][&1]], "{statement}");
        around.check(Proof::Returned);
    }
}

#[test]
fn postgres_has_one_snapshot_for_everything_in_a_statement() {
    limited(|| {
        let mut runner = runner("postgres");
        check_level(&mut runner, "read uncommitted", "new", "new");
        check_level(&mut runner, "read committed", "new", "new");
        check_level(&mut runner, "repeatable read", "old", "old");
        check_level(&mut runner, "serializable", "old", "old");
        check_own_changes(&mut runner, "read committed");
        check_own_changes(&mut runner, "serializable");
        check_past_locks(&mut runner);
    });
}

#[test]
fn innodb_reads_a_snapshot_in_queries_and_what_is_there_now_in_writes() {
    limited(|| {
        let mut runner = runner("mariadb");
        let info = runner.targets()[0].clone();
        assert!(views(&info, &LevelName::custom("read uncommitted")).is_err());
        check_level(&mut runner, "read committed", "new", "new");
        check_level(&mut runner, "repeatable read", "old", "new");
        check_level(&mut runner, "serializable", "new", "new");
        check_own_changes(&mut runner, "read committed");
        check_own_changes(&mut runner, "repeatable read");
        check_own_changes(&mut runner, "serializable");
        check_past_locks(&mut runner);
        check_locks_in_subqueries(&mut runner);
        check_locking_queries(&mut runner);
    });
}

#[test]
fn innodb_with_snapshot_isolation_refuses_to_read_what_is_newer() {
    limited(|| {
        let mut strict = Target::parse("mariadb").expect("a target");
        strict.server.extra = vec![("innodb_snapshot_isolation".to_string(), "ON".to_string())];
        let engine = engines::open(&strict).unwrap_or_else(|error| panic!("{error}"));
        let mut runner = EngineRunner::new(vec![engine]);
        let level = LevelName::custom("repeatable read");
        assert_eq!(views(&runner.targets()[0], &level).map(|views| views.writes), Ok(View::Plain));
        check_level(&mut runner, "repeatable read", "old", "fails");
        check_own_changes(&mut runner, "repeatable read");
    });
}

#[test]
fn embedded_engines_have_one_snapshot_for_everything_in_a_transaction_or_statement() {
    limited(|| {
        check_level(&mut runner("sqlite"), "serializable", "old", "fails");
        check_own_changes(&mut runner("sqlite"), "serializable");
        let mut model = runner("model");
        check_level(&mut model, "read committed", "new", "new");
        check_level(&mut model, "snapshot isolation", "old", "old");
        check_level(&mut model, "serializable", "old", "old");
        for level in ["read committed", "snapshot isolation", "serializable"] {
            check_own_changes(&mut model, level);
        }
    });
}
