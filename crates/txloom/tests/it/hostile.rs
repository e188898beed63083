//! Inputs that are meant to hurt: each ends with the right exit code, within four gigabytes of memory and a minute of the
//! processor, without a crash.

use std::os::unix::fs::symlink;
use std::process::Command;

use crate::support::{Finished, TestDir, limited, root, txloom};

/// Memory in kilobytes, and time of the processor in seconds: a busy machine does not matter.
const LIMITS: &str = "ulimit -v 4000000; ulimit -t 60; exec \"$@\"";

/// Runs the binary within the limits, in a directory of its own.
fn run(dir: &TestDir, arguments: &[&str]) -> Finished {
    let program = env!("CARGO_BIN_EXE_txloom");
    let mut command = Command::new("sh");
    command.args(["-c", LIMITS, "sh", program]).args(arguments).current_dir(dir.path()).env("NO_COLOR", "1");
    Finished::from(command.stdin(std::process::Stdio::null()).output().expect("a shell is there"))
}

/// A hostile input: a file of that name with that text, given to a command.
struct HostileInput {
    file: &'static str,
    text: String,
    command: &'static [&'static str],
    code: i32,
    /// What is said, on either stream.
    says: &'static str,
}

fn check(inputs: Vec<HostileInput>) {
    limited(move || {
        let dir = TestDir::new(&format!("hostile-{}", inputs[0].file));
        for HostileInput { file, text, command, code, says } in inputs {
            dir.file(file, &text);
            let finished = run(&dir, &[command, &[file]].concat());
            let said = format!("{}{}", finished.stdout, finished.stderr);
            let shown: String = said.chars().take(2_000).collect();
            assert_eq!(finished.code, code, "{command:?} {file}: {shown}");
            assert!(said.contains(says), "{command:?} {file}: no `{says}` in {shown}");
            assert!(!said.contains("panicked"), "{command:?} {file}: {shown}");
            assert!(said.len() < 1 << 20, "{command:?} {file}: {} bytes are said", said.len());
        }
    });
}

/// A statement in a case.
fn case(statement: &str) -> String {
    format!("-- @case 1\n/*init*/ CREATE TABLE t (a INT);\n/*a*/ {statement};\n")
}

/// A method of Java with a connection.
fn java(body: &str) -> String {
    format!("class A {{ void f(java.sql.Connection c, String a) throws Exception {{ {body} }} }}\n")
}

/// The body of a procedure.
fn procedure(body: &str) -> String {
    format!("CREATE TABLE t (a INT PRIMARY KEY, b INT);\nCREATE PROCEDURE p(x INT)\nBEGIN\n{body}\nEND;\n")
}

const RUN: &[&str] = &["run", "--on", "sqlite"];
const ANALYZE: &[&str] = &["analyze", "--summary"];
const CHECK: &[&str] = &["check"];

#[test]
fn cases() {
    let input = |file, text, code, says| HostileInput { file, text, command: RUN, code, says };
    let deep = |open: &str, close: &str| case(&format!("SELECT {}1{}", open.repeat(50_000), close.repeat(50_000)));
    check(vec![
        input("parentheses.sql", deep("(", ")"), 0, "error"),
        input("chain.sql", deep("1 + ", ""), 0, "error"),
        input("rows.sql", case("SELECT 1") + &format!("-- > rows {}\n", "(".repeat(100_000)), 2, "rows.sql:4:"),
        input("sessions.sql", (0..2_000).map(|n| format!("/*s{n}*/ SELECT 1;\n")).collect(), 2, "1000 sessions"),
        input("nul.sql", case("SELECT '\0'"), 2, "NUL character"),
        input("line.sql", "x".repeat(20 << 20), 2, "line.sql:1:1: expected a label"),
        input("large.sql", "x".repeat((32 << 20) + 1), 2, "it has more than 32 MB"),
        input("schedule.sql", case("SELECT 1") + &format!("-- @schedule {}\n", "a ".repeat(200_000)), 2, "has 1 steps"),
    ]);
}

#[test]
fn other_formats() {
    let sessions: String = (0..2_000).map(|n| format!("session s{n}\nstep a{n} {{ SELECT 1; }}\n")).collect();
    let input = |file, text, command, code, says| HostileInput { file, text, command, code, says };
    check(vec![
        input("many.spec", sessions, RUN, 2, "interleavings"),
        input("open.spec", format!("setup {{ {}", "SELECT '".repeat(100_000)), RUN, 2, "open.spec:1:"),
        input("deep.edn", format!("{{:value {}", "[".repeat(200_000)), CHECK, 2, "too deeply"),
        input("discarded.edn", format!("{{:value {}1}}", "#_ ".repeat(200_000)), CHECK, 2, "too deeply"),
        input("deep.json", "{\"a\":".repeat(200_000), CHECK, 2, "deep.json"),
        input("long.edn", format!("{{:type :ok, :f \"{}", "x".repeat(30 << 20)), CHECK, 2, "long.edn:1"),
        input("nul.edn", "\0".repeat(1 << 20), CHECK, 2, "neither text nor a history"),
        input(
            "known.toml",
            format!("a = {}", "[".repeat(100_000)),
            &["hunt", "sqlite", "--cases", "1", "--known"],
            2,
            "known",
        ),
    ]);
}

#[test]
fn applications() {
    let nested: String = (0..2_000).map(|depth| format!("{}if x:\n", " ".repeat(depth + 1))).collect();
    let (braces, ends) = ("{".repeat(50_000), "}".repeat(50_000));
    let doubled = "s = s + s; ".repeat(60);
    let columns: Vec<String> = (0..20_000).map(|n| format!("c{n} INT")).collect();
    let jumps: String = (0..3_000).map(|n| format!("L{n}: goto L{};\n", (n + 1) % 3_000)).collect();
    let input = |file, text, code, says| HostileInput { file, text, command: ANALYZE, code, says };
    check(vec![
        input(
            "nested.py",
            format!("def f(c):\n{nested}{}c.execute('SELECT 1')\n", " ".repeat(2_001)),
            5,
            "indentations",
        ),
        input("doubled.java", java(&format!("String s = a; {doubled}c.prepareStatement(s).execute();")), 5, ""),
        input(
            "chain.java",
            java(&format!("String s = {}a; c.prepareStatement(s).execute();", "a + ".repeat(20_000))),
            5,
            "",
        ),
        input("braces.pgc", format!("void f() {{ {braces} EXEC SQL UPDATE t SET a = 1; {ends} }}"), 5, "deeply"),
        input("jumps.pgc", format!("void f() {{ EXEC SQL UPDATE t SET a = 1; {jumps} }}"), 0, "1 procedures"),
        input(
            "columns.sql",
            format!("CREATE TABLE wide ({});\n", columns.join(", ")) + &procedure("UPDATE t SET b = 1;"),
            0,
            "",
        ),
        input("ifs.sql", procedure(&format!("{}{}", "IF x = 1 THEN ".repeat(20_000), "END IF;".repeat(20_000))), 5, ""),
        input(
            "expression.sql",
            procedure(&format!("UPDATE t SET b = {}1;", "b + ".repeat(100_000))),
            5,
            "deeply nested",
        ),
    ]);
}

#[test]
fn what_is_no_file_ends_at_once() {
    limited(|| {
        let dir = TestDir::new("hostile-files");
        let pipe = dir.path().join("pipe.sql");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is there").success());
        symlink("loop.sql", dir.path().join("loop.sql")).expect("a link can be made");
        for (command, file, code, says) in [
            (RUN, "/dev/zero", 2, "it is a device"),
            (CHECK, "/dev/zero", 2, "it is a device"),
            (ANALYZE, "/dev/zero", 2, "it is a device"),
            (RUN, "pipe.sql", 2, "nobody writes to"),
            (ANALYZE, "pipe.sql", 2, "nobody writes to"),
            (RUN, "loop.sql", 2, "cannot read loop.sql"),
            (RUN, "missing.sql", 2, "cannot read missing.sql"),
        ] {
            let finished = run(&dir, &[command, &[file]].concat());
            assert_eq!(finished.code, code, "{command:?} {file}: {}", finished.stderr);
            assert!(finished.stderr.contains(says), "{command:?} {file}: {}", finished.stderr);
        }
    });
}

#[test]
fn directories_are_walked_once() {
    limited(|| {
        let dir = TestDir::new("hostile-walk");
        std::fs::create_dir_all(dir.path().join("a/b")).expect("directories can be made");
        dir.file("a/b/case.sql", &case("SELECT 1"));
        for name in ["a/up", "a/b/up", "a/b/again"] {
            symlink(dir.path(), dir.path().join(name)).expect("a link can be made");
        }
        let finished = run(&dir, &["run", "--on", "sqlite", "--quiet", "."]);
        assert_eq!(finished.code, 0, "{}", finished.stderr);
        assert_eq!(finished.stdout.matches("case.sql").count(), 1, "{}", finished.stdout);
    });
}

#[test]
fn findings_that_cannot_be_written_are_printed() {
    limited(|| {
        let dir = TestDir::new("hostile-full");
        let shop = root().join("examples/counter.sql").display().to_string();
        let judged = ["run", &shop, "--on", "model", "--level", "read-committed", "--oracle", "serial"];
        let full = run(&dir, &[&judged[..], &["-o", "/dev/full"]].concat());
        assert_eq!(full.code, 1, "{}", full.stderr);
        assert!(full.stderr.contains("cannot write to /dev/full"), "{}", full.stderr);
        assert!(full.stdout.contains("txloom run"), "the finding is printed: {}", full.stdout);
        let reduced =
            ["reduce", &shop, "--on", "model", "--level", "read-committed", "--oracle", "serial", "--tests", "5"];
        let reduced = run(&dir, &[&reduced[..], &["-o", "/dev/full"]].concat());
        assert_eq!(reduced.code, 1, "{}", reduced.stderr);
        assert!(reduced.stdout.contains("UPDATE"), "{}", reduced.stdout);
    });
}

#[test]
fn reports_that_cannot_be_written_have_an_exit_code() {
    limited(|| {
        let dir = TestDir::new("hostile-report");
        dir.file("case.sql", &case("SELECT 1"));
        let full = run(&dir, &["run", "case.sql", "-o", "/dev/full"]);
        assert_eq!((full.code, full.stdout.contains("SELECT 1")), (74, true), "{}", full.stderr);
        let missing = run(&dir, &["run", "case.sql", "-o", "no/such/file"]);
        assert_eq!(missing.code, 2, "{}", missing.stderr);
        // What fails leaves no file, and no half of one.
        let bad = run(&dir, &["run", "no.sql", "-o", "report.txt"]);
        assert_eq!((bad.code, dir.path().join("report.txt").exists()), (2, false), "{}", bad.stderr);
        let names = std::fs::read_dir(dir.path()).expect("it can be read").count();
        assert_eq!(names, 1);
    });
}

#[test]
fn a_closed_output_ends_quietly() {
    limited(|| {
        let dir = TestDir::new("hostile-closed");
        dir.file("case.sql", &case("SELECT 1"));
        let mut child = txloom(&["run", "case.sql"])
            .current_dir(dir.path())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("the binary starts");
        drop(child.stdout.take());
        let finished = Finished::from(child.wait_with_output().expect("it ends"));
        assert_eq!((finished.code, finished.stderr.as_str()), (0, ""));
    });
}
