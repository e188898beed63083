//! Bad input: an error that says what, where and what to do next, with its exit code, and nothing left running.

use crate::support::{TestDir, limited, output};

/// The command fails with this code, and says these words on standard error.
fn check(arguments: &[&str], code: i32, words: &[&str]) {
    let finished = output(arguments);
    assert_eq!(finished.code, code, "{arguments:?}\n{}{}", finished.stdout, finished.stderr);
    for word in words {
        assert!(finished.stderr.contains(word), "{arguments:?}: no `{word}` in\n{}", finished.stderr);
    }
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
    // A wrong flag is followed by the usage; everything else is one paragraph.
    let paragraphs = finished.stderr.trim().split("\n\n").count();
    let allowed = if finished.stderr.contains("try '--help'") { 3 } else { 1 };
    assert!(paragraphs <= allowed, "{arguments:?}: {paragraphs} paragraphs:\n{}", finished.stderr);
}

#[test]
fn targets() {
    limited(|| {
        let case = "corpus/contract/savepoints.sql";
        check(&["run", case, "--on", "postgrse"], 2, &["postgrse", "did you mean postgres?"]);
        check(&["run", case, "--on", "model+lost-updat"], 2, &["lost-updat", "did you mean lost-update?"]);
        check(&["run", case, "--on", "postgres:9"], 3, &["9", "postgresql"]);
        check(&["run", case, "--on", "postgres@/nowhere"], 3, &["/nowhere"]);
        check(&["run", case, "--on", "postgres://nobody@127.0.0.1:1/x"], 3, &["127.0.0.1", "1"]);
        check(&["run", case, "--on", "postgres://nobody:secret@127.0.0.1:1/x"], 3, &["127.0.0.1"]);
        let finished = output(&["run", case, "--on", "postgres://nobody:secret@127.0.0.1:1/x"]);
        assert!(!finished.stderr.contains("secret"), "no password in a message: {}", finished.stderr);
    });
}

#[test]
fn levels() {
    limited(|| {
        let case = "corpus/contract/savepoints.sql";
        check(&["run", case, "--on", "sqlite", "--level", "read committed"], 2, &["read committed", "serializable"]);
        check(&["run", case, "--on", "sqlite", "--level", "serialisible"], 2, &["serialisible", "serializable"]);
    });
}

#[test]
fn files() {
    limited(|| {
        let folder = TestDir::new("bad-files");
        check(&["run", "/nowhere/case.sql"], 2, &["/nowhere/case.sql"]);
        check(&["run", &folder.path().to_string_lossy()], 2, &["no case"]);
        let binary = folder.path().join("binary.sql");
        std::fs::write(&binary, [0xff, 0xfe, 0x00]).expect("it can be written");
        check(&["run", &binary.to_string_lossy()], 2, &["binary.sql", "UTF-8"]);
        let program = folder.file("call.sql", "-- @program gone.sql\n/*a*/ -- call f()\n");
        check(&["run", &program], 2, &["gone.sql"]);
    });
}

#[test]
fn cases() {
    limited(|| {
        let folder = TestDir::new("bad-cases");
        let syntax = folder.file("syntax.sql", "-- @case 1\n/*a*/ BEGIN;\n-- > blokced\n");
        check(&["run", &syntax], 2, &["syntax.sql:3:6", "did you mean blocked?", "-- > blokced"]);
        let directive = folder.file("directive.sql", "-- @isolaton serializable\n/*a*/ BEGIN;\n");
        check(&["run", &directive], 2, &["directive.sql:1:5", "did you mean @isolation?"]);
        let schedule = folder.file("schedule.sql", "-- @schedule a z\n/*a*/ BEGIN;\n");
        check(&["run", &schedule], 2, &["schedule.sql:1:16", "no step belongs to a session `z`"]);
        let setup = folder.file("setup.sql", "/*init*/ CREATE TABEL t (x INT);\n/*a*/ SELECT 1;\n");
        check(&["run", &setup], 2, &["the setup failed", "CREATE TABEL"]);
        let event = folder.file("event.sql", "/*a*/ SELECT 1;\n-- @heal\n");
        check(&["run", &event], 2, &["@heal"]);
        let call = folder.file("call.sql", "/*a*/ -- call withdraw(x=1)\n");
        check(&["run", &call], 2, &["withdraw", "@program"]);
    });
}

#[test]
fn flags() {
    limited(|| {
        check(&["rnu"], 2, &["rnu"]);
        check(&["run"], 2, &["CASE"]);
        check(&["run", "corpus/contract/savepoints.sql", "--policy", "hope"], 2, &["hope"]);
        check(&["run", "corpus/contract/savepoints.sql", "--statement-limit", "soon"], 2, &["soon"]);
        check(&["run", "-", "--record"], 2, &["--record"]);
    });
}
