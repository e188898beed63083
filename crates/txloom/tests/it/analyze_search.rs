//! `analyze --level`: serializability anomalies that are predicted, and show when they are run.

use std::collections::BTreeSet;

use txloom::analyze::search::{self, Shown, Trials, Wanted};
use txloom::analyze::{Project, SourceFile};
use txloom::engines;
use txloom::execute::EngineRunner;
use txloom::report::json;
use txloom::report::model::Body;
use txloom::report::model::analysis::{AnomaliesReport, StructureReport, TrialVerdict};
use txloom_core::budget::WorkBudget;
use txloom_core::search::cycles::{Bounds, Cycle};
use txloom_core::search::find::{Group, Search};
use txloom_core::search::level::Target;

use crate::support::{Finished, TestDir, limited, output};

fn analyze(arguments: &[&str]) -> Finished {
    output(&[&["analyze"], arguments].concat())
}

fn path(name: &str) -> String {
    format!("{}/../../corpus/programs/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// What is found in a small program, or in one of the benchmarks.
fn found(name: &str, arguments: &[&str]) -> (AnomaliesReport, i32) {
    let (file, schema) = match name.ends_with(".sql") {
        true => (path(name), None),
        false => (path(&format!("{name}/mariadb.sql")), Some(path(&format!("{name}/schema.sql")))),
    };
    let mut all = vec![file.as_str()];
    all.extend(schema.iter().flat_map(|schema| ["--schema", schema.as_str()]));
    all.extend(arguments);
    searched(&all)
}

fn searched(arguments: &[&str]) -> (AnomaliesReport, i32) {
    let all = [arguments, &["--format", "json"]].concat();
    let done = analyze(&all);
    match json::parse(&done.stdout).map(|report| report.body) {
        Ok(Body::Analysis(report)) => (report.anomalies.expect("it searched"), done.code),
        other => panic!("{all:?}: {other:?}\n{}", done.stderr),
    }
}

fn classes(report: &AnomaliesReport) -> Vec<&str> {
    let mut classes: Vec<&str> = report.structures.iter().map(|one| one.class.as_str()).collect();
    classes.sort_unstable();
    classes.dedup();
    classes
}

/// Everything that is predicted shows, and this class is among it; or nothing is predicted.
fn check(name: &str, level: &str, target: &str, expect: Option<&str>) {
    let (report, code) = found(name, &["--level", level, "--on", target, "--run"]);
    let told = format!("{name} at {level} on {target}: {:?}", classes(&report));
    match expect {
        Some(class) => {
            assert!(classes(&report).contains(&class), "{told}");
            let all = report.found;
            assert_eq!((report.shown, code), (Some((all, all)), 1), "{told}");
        }
        None => assert_eq!((report.found, code), (0, 0), "{told}"),
    }
}

#[test]
fn small_programs_go_wrong_on_replicas() {
    limited(|| {
        check("lost-update.sql", "eventual", "replicas:3", Some("lost update"));
        check("write-skew.sql", "eventual", "replicas:3", Some("lost update"));
        check("dirty-write.sql", "eventual", "replicas:3", Some("dirty write"));
        // Three calls whose statements may be answered anywhere need more nodes than calls.
        check("dirty-read.sql", "eventual", "replicas:6", Some("circular information flow"));
    });
}

#[test]
fn what_a_level_forbids_is_not_predicted() {
    limited(|| {
        check("lost-update.sql", "read committed", "model", Some("lost update"));
        check("lost-update.sql", "snapshot isolation", "model", None);
        check("write-skew.sql", "snapshot isolation", "model", Some("write skew"));
        let (report, code) = found("write-skew.sql", &["--level", "serializable", "--on", "model"]);
        assert_eq!((report.found, report.unknown, code), (0, 0, 0));
    });
}

#[test]
fn small_programs_go_wrong_on_postgres() {
    limited(|| {
        check("lost-update.sql", "read committed", "postgres", Some("lost update"));
        check("lost-update.sql", "repeatable read", "postgres", None);
        check("write-skew.sql", "repeatable read", "postgres", Some("write skew"));
        check("invoices.sql", "repeatable read", "postgres", Some("phantom"));
        check("bookings.sql", "repeatable read", "postgres", Some("phantom"));
    });
}

#[test]
fn small_programs_go_wrong_on_mariadb() {
    limited(|| {
        check("lost-update.sql", "repeatable read", "mariadb", Some("lost update"));
        check("write-skew.sql", "repeatable read", "mariadb", Some("write skew"));
        check("dirty-read.sql", "read uncommitted", "mariadb", Some("dirty read"));
        check("dirty-read.sql", "read committed", "mariadb", None);
        // What INSERT … SELECT reads is locked at one level and not at the other.
        check("bookings.sql", "read committed", "mariadb", Some("phantom"));
        check("bookings.sql", "repeatable read", "mariadb", None);
    });
}

/// What a query makes of its rows is computed, not guessed: the two see the same rows, and write the same.
#[test]
fn answers_are_computed() {
    let answer = |(answer, rest): (&str, &str)| {
        format!("SELECT {answer} INTO :n FROM t WHERE g = :g {rest}; INSERT INTO t (id, g, v) VALUES (:id, :g, :n);")
    };
    let answers = [
        ("COALESCE(MAX(v), 0) + 1", ""),
        ("MAX(v) - MIN(v)", "LIMIT 1 OFFSET 0"),
        ("NULLIF(COUNT(*), 2)", ""),
        ("SUM(CASE WHEN v > 5 THEN v ELSE 1 END)", ""),
        ("SUM(CASE g WHEN 1 THEN 2 END)", ""),
        ("COUNT(*)", "GROUP BY g"),
        ("COUNT(*) AS n", "GROUP BY v HAVING COUNT(*) > 1 ORDER BY n DESC LIMIT 1"),
        ("DISTINCT v + 1", "ORDER BY 1 DESC LIMIT 1"),
    ];
    let statements = [
        "INSERT INTO t (id, g, v) VALUES (:id, :g, (SELECT COALESCE(MAX(v), 0) + 1 FROM t WHERE g = :g));",
        "INSERT INTO t (id, g, v) SELECT :id, :g, COALESCE(MAX(v), 0) + 1 FROM t WHERE g = :g;",
        "INSERT INTO t (id, g, v) SELECT :id, :g, 1 FROM u WHERE n > (SELECT COUNT(*) FROM t WHERE t.g = u.g);",
        "INSERT INTO t (id, g, v) SELECT :id, :g, 1 WHERE :g NOT IN (SELECT g FROM t);",
        "UPDATE t SET v = (SELECT SUM(n) FROM u WHERE u.g = t.g) WHERE id = :id;
         UPDATE u SET n = (SELECT SUM(v) FROM t WHERE t.g = u.g) WHERE id = :id;",
        "DELETE FROM t WHERE id = :id AND NOT EXISTS (SELECT 1 FROM u WHERE u.g = t.g);
         INSERT INTO u (id, g, n) SELECT :id, :g, 1 FROM t WHERE t.g = :g LIMIT :g;",
    ];
    let bodies: Vec<String> = answers.map(answer).into_iter().chain(statements.map(str::to_string)).collect();
    limited(move || {
        let dir = TestDir::new("answers");
        for body in bodies {
            let program = format!(
                "-- @program 1\nCREATE TABLE t (id INT PRIMARY KEY, g INT NOT NULL, v INT);
                 CREATE TABLE u (id INT PRIMARY KEY, g INT NOT NULL, n INT NOT NULL);
                 CREATE PROCEDURE add(id INT, g INT) BEGIN DECLARE n INT; {body} COMMIT; END;"
            );
            let file = dir.file("add.sql", &program);
            let (report, code) = searched(&[&file, "--level", "read committed", "--on", "model", "--run"]);
            let counts = (report.found > 0, report.shown, report.unknown, code);
            assert_eq!(counts, (true, Some((report.found, report.found)), 0, 1), "{body}");
        }
    });
}

/// A read that is not understood leaves cycles undecided: nobody is told that nothing can happen.
#[test]
fn what_is_not_understood_is_not_decided() {
    limited(|| {
        let dir = TestDir::new("not-understood");
        let program = "-- @program 1\nCREATE TABLE t (id INT PRIMARY KEY, v INT);
            CREATE PROCEDURE add(id INT) BEGIN DECLARE n INT;
              SELECT COUNT(*) INTO :n FROM (SELECT v FROM t UNION SELECT id FROM t) AS both;
              INSERT INTO t (id, v) VALUES (:id, :n); COMMIT; END;";
        let file = dir.file("add.sql", program);
        let (report, code) = searched(&[&file, "--level", "read committed", "--on", "model"]);
        assert_eq!((report.found, report.unknown > 0, code), (0, true, 5));
    });
}

/// CLOTHO reports nothing for these two.
#[test]
fn what_the_paper_missed_is_found_and_shows() {
    limited(|| {
        let (tatp, _) = found("tatp", &["--level", "store:eventual", "--run"]);
        let is_dirty_write = |one: &&StructureReport| {
            one.class == "dirty write" && one.procedures == ["update_subscriber_data", "update_subscriber_data"]
        };
        let written = tatp.structures.iter().find(is_dirty_write).expect("two UpdateSubscriberData write dirty");
        assert_eq!(written.shown, Some(written.anomalies));
        let (voter, _) = found("voter", &["--level", "store:eventual", "--run"]);
        assert_eq!(voter.shown, Some((voter.found, voter.found)));
        let skews = |one: &&StructureReport| one.tables.iter().all(|table| table == "votes");
        let limit = voter.structures.iter().find(skews).expect("both count the votes before either votes");
        assert_eq!(limit.fate.as_ref().map(|fate| fate.verdict), Some(TrialVerdict::Manifest));
    });
}

/// On the rows of the schema file, which keep all assertions, one telephone votes too often: both calls count its votes
/// before either votes.
#[test]
fn the_limit_of_votes_is_exceeded() {
    limited(|| {
        let project = benchmark("voter");
        let engine = engines::open(&engines::Target::parse("replicas:2").expect("it is a target")).expect("it opens");
        let mut runner = EngineRunner::new(vec![engine]);
        let rows = search::rows_of(&project, runner.engines_mut()[0].as_mut()).expect("the setup works");
        let wanted = Wanted { initial: Some(rows), ..eventual(2) };
        let called = search::called(&project);
        let search = search::prepare(&project, &called, &wanted);
        let group = &search.candidates().next().expect("votes meet");
        let is_exceeded = |cycle: &Cycle| {
            let one = Group { procedures: group.procedures.clone(), cycles: vec![cycle.clone()] };
            let found = search.examine(&one);
            found.tests.iter().any(|test| {
                let mut trials = Trials::new(&project, &mut runner, None, true);
                let shown = trials.run(test).expect("it runs");
                let breaks = match &shown {
                    Shown::Manifest(finding) => finding.breaks.clone(),
                    _ => Vec::new(),
                };
                breaks.iter().any(|name| name.contains("no telephone votes more than twice"))
            })
        };
        let mut cycles: Vec<Cycle> = group.cycles.clone();
        cycles.sort_by_key(|cycle| std::cmp::Reverse(hops_on(cycle, &search, "votes")));
        assert!(cycles.iter().any(is_exceeded));
    });
}

/// With no rows at the start, nobody can withdraw twice; after a call that opens the account, two can.
#[test]
fn calls_that_come_before_make_the_rows() {
    const BANK: &str = "CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);
        CREATE PROCEDURE open_account(p_id INT, p_amount INT) BEGIN
          INSERT INTO accounts VALUES (:p_id, :p_amount);
        END;
        CREATE PROCEDURE withdraw(p_id INT, p_amount INT) BEGIN
          DECLARE v INT;
          SELECT balance INTO :v FROM accounts WHERE id = :p_id;
          IF :v >= :p_amount THEN UPDATE accounts SET balance = :v - :p_amount WHERE id = :p_id; END IF;
        END;";
    limited(|| {
        let dir = TestDir::new("prefix");
        let (bank, rows) = (dir.file("bank.sql", BANK), dir.file("rows.sql", "-- none\n"));
        let common = [bank.as_str(), "--initial", &rows, "--instances", "2", "--run"];
        for level in
            [["--level", "read-committed", "--on", "postgres"], ["--level", "store:eventual", "--on", "replicas:2"]]
        {
            let none = analyze(&[&common[..], &level].concat());
            assert_eq!(none.code, 0, "{}", none.stdout);
            let out = dir.path().join(level[3]).to_string_lossy().into_owned();
            let done = analyze(&[&common[..], &level, &["--prefix", "1", "-o", &out]].concat());
            assert_eq!(done.code, 1, "{}{}", done.stdout, done.stderr);
            assert!(done.stdout.contains("c = open_account("), "{}", done.stdout);
            assert!(done.stdout.contains("which comes before"), "{}", done.stdout);
            let cases = std::fs::read_dir(&out).expect("it was written").filter_map(Result::ok);
            let cases = cases.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "sql"));
            let texts = cases.filter_map(|path| std::fs::read_to_string(path).ok());
            assert!(texts.filter(|text| text.contains("-- @first c")).count() > 0);
        }
        let alone = analyze(&[bank.as_str(), "--level", "store:eventual", "--prefix", "1"]);
        assert_eq!((alone.code, alone.stderr.contains("--initial")), (2, true), "{}", alone.stderr);
    });
}

/// No order waits at the start: a delivery needs what a new order writes, and sees half of it.
#[test]
fn ways_may_need_what_others_write() {
    const ORDERS: &str = "CREATE TABLE waiting (d INT NOT NULL, o INT NOT NULL, PRIMARY KEY (d, o));
        CREATE TABLE orders (d INT NOT NULL, o INT NOT NULL, carrier INT, PRIMARY KEY (d, o));
        CREATE PROCEDURE new_order(p_d INT, p_o INT) BEGIN
          INSERT INTO orders VALUES (:p_d, :p_o, NULL);
          INSERT INTO waiting VALUES (:p_d, :p_o);
        END;
        CREATE PROCEDURE delivery(p_d INT, p_carrier INT) BEGIN
          DECLARE v INT;
          SELECT MIN(o) INTO :v FROM waiting WHERE d = :p_d;
          IF :v IS NOT NULL THEN
            DELETE FROM waiting WHERE d = :p_d AND o = :v;
            UPDATE orders SET carrier = :p_carrier WHERE d = :p_d AND o = :v;
          END IF;
        END;
        -- @assert each waits: SELECT * FROM orders LEFT JOIN waiting USING (d, o) WHERE carrier IS NULL AND waiting.o IS NULL\n";
    limited(|| {
        let dir = TestDir::new("ways");
        let (orders, rows) =
            (dir.file("orders.sql", ORDERS), dir.file("rows.sql", "INSERT INTO orders VALUES (1, 1, 5);"));
        let level = ["--level", "store:eventual", "--instances", "2", "--run", "--on", "replicas:2"];
        let done = analyze(&[&[orders.as_str(), "--initial", &rows], &level[..]].concat());
        assert_eq!(done.code, 1, "{}{}", done.stdout, done.stderr);
        assert!(done.stdout.contains("the assertion waits holds in every order of the calls"), "{}", done.stdout);
    });
}

fn eventual(instances: usize) -> Wanted {
    Wanted {
        level: Target::parse("eventual", None).expect("it is a level"),
        bounds: Bounds { length: 4, instances },
        external: false,
        initial: None,
        prefix: 0,
        budget: WorkBudget::unlimited(),
        grouping: false,
        second: None,
    }
}

fn benchmark(program: &str) -> Project {
    let source = |name: &str| {
        let name = path(&format!("{program}/{name}"));
        let text = std::fs::read_to_string(&name).expect("it is in the corpus");
        SourceFile::new(name, text)
    };
    Project::read(vec![source("schema.sql"), source("mariadb.sql")])
}

/// Table 4 of the paper: the calls, the table, and how many rows say so. Rows 9 and 10 come below; row 6 as well: two
/// payments of one moment overwrite each other's line in HISTORY, and how they were to follow one another, only another
/// table tells.
const TABLE_4: &[(&[&str], &str, usize)] = &[
    (&["payment", "payment"], "warehouse", 1),
    (&["payment", "payment"], "district", 1),
    (&["new_order", "new_order"], "district", 1),
    (&["delivery", "delivery"], "customer", 1),
    (&["delivery", "delivery"], "new_order", 1),
    (&["new_order", "new_order", "new_order"], "stock", 1),
    (&["new_order", "new_order"], "stock", 1),
    (&["delivery", "payment"], "customer", 2),
    (&["payment", "payment"], "customer", 1),
];

#[test]
fn every_anomaly_of_the_papers_table_is_found() {
    limited(|| {
        let project = benchmark("tpcc");
        let called = search::called(&project);
        let wanted = eventual(3);
        let search = search::prepare(&project, &called, &wanted);
        for (calls, table, rows) in TABLE_4 {
            let is_whole = |cycle: &Cycle| hops_on(cycle, &search, table) == cycle.visits.len();
            assert_eq!(happen(&project, &search, calls, &is_whole, *rows), *rows, "{calls:?} on {table}");
        }
        let is_part = |cycle: &Cycle| hops_on(cycle, &search, "history") > 0;
        assert_eq!(happen(&project, &search, &["payment", "payment"], &is_part, 1), 1);
    });
}

/// Rows 9 and 10: OrderStatus, which decides nothing, sees a delivery of lines of which another one is new.
#[test]
fn a_call_that_only_reads_is_part_of_anomalies() {
    limited(|| {
        let project = benchmark("tpcc");
        let called = search::called(&project);
        let wanted = Wanted { external: true, ..eventual(3) };
        let search = search::prepare(&project, &called, &wanted);
        let is_whole = |cycle: &Cycle| hops_on(cycle, &search, "order_line") == cycle.visits.len();
        assert_eq!(happen(&project, &search, &["delivery", "new_order", "order_status"], &is_whole, 2), 2);
    });
}

/// The paper's Table 2 counts so many structures; ours are finer (statements, not columns), and `SET x = x + 1`, which
/// the paper leaves out, has some of its own.
#[test]
fn no_fewer_structures_than_in_the_paper() {
    for (program, count) in [("seats", 18), ("tpcc", 13), ("smallbank", 15), ("twitter", 2), ("wikipedia", 3)] {
        limited(move || {
            let found = structures(program, count);
            assert!(found >= count, "{program}: {found}");
        });
    }
}

/// How many structures a benchmark has; once there are so many, no more are looked for.
fn structures(program: &str, enough: usize) -> usize {
    let project = benchmark(program);
    let called = search::called(&project);
    let wanted = Wanted { grouping: true, ..eventual(2) };
    let search = search::prepare(&project, &called, &wanted);
    let mut structures = BTreeSet::new();
    for group in search.candidates() {
        for cycles in group.cycles.chunks(8) {
            if structures.len() < enough {
                let part = Group { cycles: cycles.to_vec(), ..group.clone() };
                let examined = search.examine(&part);
                structures.extend(examined.anomalies.into_iter().map(|anomaly| anomaly.structure));
            }
        }
    }
    structures.len()
}

/// How many cycles of these calls happen, of those that are looked for, up to so many.
fn happen(
    project: &Project,
    search: &Search<'_>,
    calls: &[&str],
    is_wanted: &dyn Fn(&Cycle) -> bool,
    count_max: usize,
) -> usize {
    let name = |at: &u16| project.program.procedures[usize::from(*at)].name.as_str();
    let is_group = |group: &Group| {
        let mut names: Vec<&str> = group.procedures.iter().map(name).collect();
        names.sort_unstable();
        names == calls
    };
    let Some(group) = search.candidates().find(is_group) else { return 0 };
    let cycles = group.cycles.iter().filter(|cycle| is_wanted(cycle));
    let happens = |cycle: &&Cycle| {
        let one = Group { procedures: group.procedures.clone(), cycles: vec![(*cycle).clone()] };
        !search.examine(&one).anomalies.is_empty()
    };
    cycles.filter(happens).take(count_max).count()
}

/// How many dependencies of a cycle are on a table.
fn hops_on(cycle: &Cycle, search: &Search<'_>, table: &str) -> usize {
    let conflicts = &search.conflicts;
    let hops = cycle.visits.iter().map(|visit| &conflicts.edges[visit.hop as usize]);
    hops.filter(|edge| conflicts.tables[usize::from(edge.table)] == table).count()
}

/// What goes wrong is a case, and the command that is printed shows it again.
#[test]
fn what_shows_can_be_run_again() {
    limited(|| {
        let dir = TestDir::new("search-again");
        let out = dir.path().join("found").display().to_string();
        let program = path("lost-update.sql");
        let done = analyze(&[&program, "--level", "store:eventual", "--instances", "2", "--run", "-o", &out]);
        assert_eq!(done.code, 1, "{}", done.stderr);
        let replay = done.stdout.lines().find_map(|line| line.split("to see it again: txloom ").nth(1));
        let words: Vec<&str> = replay.expect("a command").split_whitespace().collect();
        let again = output(&words);
        assert_eq!(again.code, 1, "{words:?}\n{}{}", again.stdout, again.stderr);
        let picture = done.stdout.lines().find_map(|line| line.split("a picture of it: ").nth(1)).expect("a picture");
        let drawn = std::fs::read_to_string(picture.trim()).expect("it is there");
        assert!(drawn.starts_with("<?xml") && drawn.contains("rw accounts"), "{drawn}");
    });
}

#[test]
fn wrong_arguments_are_told() {
    limited(|| {
        let program = path("lost-update.sql");
        for (arguments, expect) in [
            (&["--level", "store:eventuel"][..], "did you mean eventual?"),
            (&["--level", "snapshot", "--on", "postgres"], "postgres"),
            (&["--level", "store:eventual", "--length", "1"], "--length 1"),
            (&["--level", "store:eventual", "--instances", "9"], "--instances 9"),
            (&["--level", "store:eventual", "--for", "soon"], "soon"),
            (&["--level", "store:eventual", "--initial", "/no/such/file"], "/no/such/file"),
        ] {
            let done = analyze(&[&[program.as_str()], arguments].concat());
            assert_eq!(done.code, 2, "{arguments:?}: {}", done.stderr);
            assert!(done.stderr.contains(expect), "{arguments:?}: {}", done.stderr);
        }
    });
}

/// What time did not allow is said, and the exit code says so as well.
/// Without its tables, a program is not found to be safe.
#[test]
fn tables_that_are_missing_are_asked_for() {
    let dir = TestDir::new("search-no-tables");
    let file = dir.path().join("p.sql");
    let text = "CREATE PROCEDURE w(IN acc INT)\nBEGIN\n  DECLARE b INT;\n  SELECT balance INTO b FROM accounts WHERE id = acc;\n  \
                UPDATE accounts SET balance = b - 1 WHERE id = acc;\nEND;\n";
    std::fs::write(&file, text).expect("a file");
    let done = analyze(&[&file.display().to_string(), "--level", "read-committed", "--on", "postgres"]);
    assert_eq!(done.code, 5, "{}", done.stderr);
    for expect in ["the table accounts is not known", "--schema FILE"] {
        assert!(done.stdout.contains(expect), "{}", done.stdout);
    }
}

#[test]
fn what_was_not_looked_at_is_said() {
    limited(|| {
        let (report, _) = found("smallbank", &["--level", "store:eventual", "--for", "1s"]);
        assert!(report.left > 0, "{} of {}", report.left, report.candidates);
    });
}
