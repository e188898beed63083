//! Other tools' cases and transcripts, read and written.

use crate::support::{TestDir, limited, output, root};

#[test]
fn an_isolation_test_prints_the_transcript_of_postgresql() {
    limited(|| {
        let run = output(&["run", "corpus/isolation/notices.spec", "--on", "postgres", "--format", "isolationtester"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        let expected = std::fs::read_to_string(root().join("corpus/isolation/notices.out")).unwrap();
        assert_eq!(run.stdout, expected);
    });
}

#[test]
fn a_directory_of_isolation_tests_becomes_a_directory_of_transcripts() {
    limited(|| {
        let directory = TestDir::new("transcripts");
        let out = directory.path().display().to_string();
        let run = output(&["run", "corpus/isolation", "--format", "isolationtester", "-o", &out]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        for entry in std::fs::read_dir(root().join("corpus/isolation")).unwrap() {
            let expected = entry.unwrap().path();
            if expected.extension().is_some_and(|extension| extension == "out") {
                let printed = std::fs::read(directory.path().join(expected.file_name().unwrap())).unwrap();
                assert!(printed == std::fs::read(&expected).unwrap(), "{}", expected.display());
            }
        }
    });
}

#[test]
fn an_isolation_test_that_cannot_be_run_says_why() {
    limited(|| {
        let directory = TestDir::new("bad-spec");
        let path = directory.file("bad.spec", "setup { nonsense }\nsession a\nstep x { SELECT 1; }\n");
        let run = output(&["run", &path, "--format", "isolationtester"]);
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert!(run.stdout.ends_with("setup failed: ERROR:  syntax error at or near \"nonsense\"\n"), "{}", run.stdout);
        let path = directory.file("worse.spec", "session a\nstep x { SELECT 1; }\npermutation y\n");
        let run = output(&["run", &path, "--format", "isolationtester"]);
        assert_eq!(run.code, 2);
        assert!(run.stderr.contains("worse.spec:3:13: there is no step named `y`"), "{}", run.stderr);
        let run = output(&["run", &path, "--on", "sqlite", "--format", "isolationtester"]);
        assert_eq!(run.code, 2);
        assert!(run.stderr.contains("must be a PostgreSQL"), "{}", run.stderr);
    });
}

#[test]
fn a_spec_is_run_as_cases() {
    limited(|| {
        let directory = TestDir::new("spec-cases");
        let path = directory.file(
            "two.spec",
            "setup { CREATE TABLE t (v INT); }\nsession a\nstep w { INSERT INTO t VALUES (1); }\nsession b\n\
             step r { SELECT * FROM t; }\nstep s { SELECT 1; }\npermutation w r\npermutation r w\npermutation s w\n",
        );
        let run = output(&["run", &path, "--on", "model", "--quiet"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.stdout.contains("two.spec#1") && run.stdout.contains("two.spec#3"), "{}", run.stdout);
        let run = output(&["run", &path, "--on", "model", "--record"]);
        assert_eq!(run.code, 2);
        assert!(run.stderr.contains("no room for expectations"), "{}", run.stderr);
    });
}

#[test]
fn a_case_is_written_as_it_happened() {
    limited(|| {
        let case = "corpus/contract/wait-and-resume.sql";
        let mtr = output(&["convert", case, "--to", "mtr", "--on", "model"]);
        assert_eq!(mtr.code, 0, "{}", mtr.stderr);
        assert!(mtr.stdout.contains("\nsend ") && mtr.stdout.contains("\n--reap\n"), "{}", mtr.stdout);
        let markdown = output(&["convert", case, "--to", "markdown", "--on", "model"]);
        assert!(
            markdown.stdout.contains("| observed |") && markdown.stdout.contains("Final state"),
            "{}",
            markdown.stdout
        );
        let spec = output(&["convert", case, "--to", "spec"]);
        assert!(spec.stdout.contains("\npermutation "), "{}", spec.stdout);
    });
}

#[test]
fn several_cases_go_to_a_directory() {
    limited(|| {
        let directory = TestDir::new("convert");
        let path = directory.file(
            "three.spec",
            "session a\nstep x { SELECT 1; }\nstep y { SELECT 2; }\npermutation x\npermutation x y\npermutation y\n",
        );
        let refused = output(&["convert", &path, "--to", "sql"]);
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.contains("holds 3 cases: name a directory"), "{}", refused.stderr);
        let out = directory.path().join("cases");
        let converted = output(&["convert", &path, "--to", "sql", "-o", &out.display().to_string()]);
        assert_eq!(converted.code, 0, "{}", converted.stderr);
        let text = std::fs::read_to_string(out.join("three-2.sql")).unwrap();
        assert_eq!(text, "-- @case 1\n-- step x\n/*a*/ SELECT 1;\n-- step y\n/*a*/ SELECT 2;\n");
    });
}

#[test]
fn what_cannot_be_converted_is_explained() {
    limited(|| {
        let directory = TestDir::new("unconvertible");
        let path = directory.file("brace.sql", "/*a*/ SELECT '}';\n");
        let run = output(&["convert", &path, "--to", "spec"]);
        assert_eq!(run.code, 2);
        assert!(run.stderr.contains("cannot convert") && run.stderr.contains("cannot hold the `}`"), "{}", run.stderr);
        let path = directory.file("bug.txt", "CREATE TABLE t(a INT)\n\nBEGIN\n\n1-2\nEND\n");
        let run = output(&["convert", &path, "--to", "sql"]);
        assert!(run.stderr.contains("bug.txt:5:1: the schedule names transaction 2"), "{}", run.stderr);
    });
}

/// Cases in the format of DT² and Troc, written as people write it: with a level or without, with semicolons or without,
/// with remarks at the end. They are those of `corpus/bugs/` that have a public id.
const DT2_CASES: &[(&str, &str)] = &[
    (
        "mariadb27992.txt",
        "CREATE TABLE t(c1 INT PRIMARY KEY);\nINSERT INTO t VALUES (3);\n\nBEGIN;\nUPDATE t SET c1 = 2;\n\
         UPDATE t SET c1 = 1;\nCOMMIT;\n\nBEGIN;\nDELETE FROM t;\nSELECT * FROM t FOR UPDATE;\nCOMMIT;\n\n\
         1-1-2-2-1-1-2-2\nEND",
    ),
    (
        "mysql106655.txt",
        "CREATE TABLE t(c1 INT, c2 INT);\nINSERT INTO t VALUES (1, 1), (2, 2);\n\nBEGIN;\nSELECT * FROM t;\n\
         DELETE FROM t;\nCOMMIT;\n\nBEGIN;\nDELETE FROM t WHERE c1 = 1;\nCOMMIT;\n\n1-1-2-2-2-1-1\nEND\n",
    ),
    (
        "mariadb26671.txt",
        "CREATE TABLE t (c1 INT, c2 INT)\nINSERT INTO t VALUES (0, 0), (1, 1)\n\nRR\nBEGIN\nSELECT * FROM t\n\
         SELECT * FROM t\nUPDATE t SET c1 = 10\nSELECT * FROM t\nCOMMIT\n\nRR\nBEGIN\nINSERT INTO t VALUES (10, 2)\n\
         COMMIT\n\n1-1-2-2-2-1-1-1-1\nEND\n\nError: Inconsistent query result\n",
    ),
];

/// Imports a case, runs it on MariaDB, exports it to both test languages, and runs the isolation test that came out.
fn travels(path: &str, folder: &TestDir) {
    let run = output(&["run", path, "--on", "mariadb", "--twice", "--quiet"]);
    assert_eq!(run.code, 0, "{path}: {}{}", run.stdout, run.stderr);
    let mtr = output(&["convert", path, "--to", "mtr", "--on", "mariadb"]);
    assert_eq!(mtr.code, 0, "{path}: {}", mtr.stderr);
    assert!(mtr.stdout.contains("--connect (t1,"), "{path}: {}", mtr.stdout);
    let spec = output(&["convert", path, "--to", "spec"]);
    assert_eq!(spec.code, 0, "{path}: {}", spec.stderr);
    let exported = folder.file("exported.spec", &spec.stdout);
    let again = output(&["run", &exported, "--on", "mariadb", "--quiet"]);
    assert_eq!(again.code, 0, "{path}: {}{}", again.stdout, again.stderr);
}

#[test]
fn cases_of_dt2_and_troc_run_and_are_exported() {
    limited(|| {
        let folder = TestDir::new("dt2");
        for (name, text) in DT2_CASES {
            travels(&folder.file(name, text), &folder);
        }
    });
}

/// The same for every file in the directory that `TXLOOM_CASE_SAMPLES` names.
#[test]
fn sample_cases_run_and_are_exported() {
    let Some(samples) = std::env::var_os("TXLOOM_CASE_SAMPLES") else { return };
    limited(move || {
        let folder = TestDir::new("samples");
        for entry in std::fs::read_dir(samples).expect("the directory of samples").flatten() {
            travels(&entry.path().to_string_lossy(), &folder);
        }
    });
}
