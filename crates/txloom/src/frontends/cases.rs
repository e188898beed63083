//! Small sources → our notation: each file of `tests/frontends/LANGUAGE` beside what it becomes, in a file of the same
//! name that ends with `.sql`. `TXLOOM_UPDATE_GOLDEN=1` writes these anew.

use std::fs;
use std::path::{Path, PathBuf};

use txloom_core::program::schema::Schema;
use txloom_core::program::{Diagnostic, Language, Program};

use crate::analyze::SourceFile;
use crate::frontends::{self, SourceLanguage};

const SCHEMA: &str = "CREATE TABLE accounts (id INT PRIMARY KEY, owner VARCHAR(20), balance INT NOT NULL);
CREATE TABLE log (id INT PRIMARY KEY, account INT, amount INT, note VARCHAR(100));";

/// What a source becomes, with what is said about it.
fn read(name: &str, text: &str) -> String {
    let (schema, _) = Schema::read(SCHEMA, Language::Any);
    let files = [SourceFile::new(name, text)];
    let readings = frontends::read(&files, &schema, Language::Any);
    assert!(!readings.is_empty(), "{name} is read");
    let mut said = String::new();
    let mut program = Program::default();
    for (_, reading) in readings {
        let (all, understood) = reading.statements;
        said.push_str(&format!("-- {understood} of {all} statements understood\n"));
        let line = |one: &Diagnostic| format!("-- line {}: {}\n", one.span.line, one.message);
        said.extend(reading.diagnostics.iter().map(line));
        program.procedures.extend(reading.procedures);
    }
    said + program.to_string().trim_start_matches("-- @program 1\n")
}

fn sources(language: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/frontends").join(language);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("a folder can be read").path());
    let mut sources: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_none_or(|ending| ending != "sql")).collect();
    sources.sort();
    sources
}

fn check(language: &str, minimum: usize) {
    let all = sources(language);
    assert!(all.len() >= minimum, "{language}: {}", all.len());
    let mut wrong = Vec::new();
    for path in all {
        let text = fs::read_to_string(&path).expect("a source can be read");
        let is = read(&path.to_string_lossy(), &text);
        let expected = path.with_extension("sql");
        if std::env::var_os("TXLOOM_UPDATE_GOLDEN").is_some() {
            fs::write(&expected, &is).expect("what it becomes can be written");
        }
        if fs::read_to_string(&expected).unwrap_or_default() != is {
            wrong.push(format!("{}\n{is}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "these differ; TXLOOM_UPDATE_GOLDEN=1 accepts\n{}", wrong.join("\n"));
}

#[test]
fn python_becomes_what_it_means() {
    check("python", 10);
}

#[test]
fn c_becomes_what_it_means() {
    check("c", 8);
}

/// Whatever a file says, and wherever it ends, it is no reason to stop.
#[test]
fn pieces_of_files_are_read_as_far_as_they_go() {
    for language in ["python", "c"] {
        for path in sources(language) {
            let text = fs::read_to_string(&path).expect("a source can be read");
            let name = path.to_string_lossy().into_owned();
            let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            for end in ends.iter().step_by(37) {
                read(&name, &text[..*end]);
                read(&name, &text[*end..]);
                read(&name, &format!("{} \u{fffd}}}])(\u{0} {}", &text[..*end], &text[*end..]));
            }
        }
    }
}

/// Functions of thousands of lines, and nests that nobody writes.
#[test]
fn long_functions_and_deep_nests_are_read() {
    let line = "    cur.execute(\"UPDATE accounts SET balance = %s WHERE id = %s\", (amount, account))\n";
    let python =
        format!("def f(conn, account, amount):\n    cur = conn.cursor()\n{}    conn.commit()\n", line.repeat(3000));
    assert!(read("long.py", &python).starts_with("-- 3000 of 3000 statements understood"));
    let line = "  EXEC SQL UPDATE accounts SET balance = :amount WHERE id = :account;\n";
    let c = format!("int f(int account, int amount) {{\n{}  EXEC SQL COMMIT;\n}}\n", line.repeat(3000));
    assert!(read("long.pgc", &c).starts_with("-- 3000 of 3000 statements understood"));
    for (name, open, close) in
        [("deep.py", "(", ")"), ("deep.py", "[", "]"), ("deep.pgc", "(", ")"), ("deep.pgc", "{", "}")]
    {
        let nest = format!("{}1{}", open.repeat(5000), close.repeat(5000));
        let text = if name.ends_with("py") {
            format!("def f():\n    x = {nest}\n")
        } else {
            format!("int f() {{ x = {nest}; }}")
        };
        read(name, &text);
    }
}

#[test]
fn files_are_known_by_their_endings() {
    let of = |name: &str| SourceLanguage::of(&SourceFile::new(name, ""));
    let known = [("a.py", SourceLanguage::Python), ("a.PGC", SourceLanguage::C), ("a.pc", SourceLanguage::C)];
    for (name, language) in known {
        assert_eq!(of(name), language, "{name}");
    }
}
