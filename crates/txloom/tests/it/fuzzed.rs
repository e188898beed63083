//! A small deterministic fuzzer: files of the corpus, changed in ways that hurt parsers, and what fuzzing once found.
//!
//! The same texts every time. The fuzz targets (`fuzz/`) look for new ones, by the same properties.

use std::path::Path;

use txloom_core::generate::random::Random;

use crate::support::{limited, root};

#[path = "../../../../fuzz/fuzz_targets/properties/mod.rs"]
#[allow(unreachable_pub)]
mod properties;

use properties::Property;

/// The number of changed texts for each file.
const CHANGES: u64 = 40;

/// Longer files are cut: what is special about a text stands near its beginning.
const LENGTH_MAX: usize = 4_000;

/// The stack of a main thread. Without optimisations, the parser of SQL takes a hundred kilobytes for each level.
const STACK_SIZE: usize = 8 << 20;

/// Pieces that are put where nobody expects them.
const PIECES: &[&str] = &[
    "\0",
    "\u{feff}",
    "\r\n",
    "'",
    "\"",
    "`",
    "$$",
    "$a$",
    "/*",
    "*/",
    "--",
    "#",
    ";",
    "\\",
    "(",
    ")",
    "{",
    "}",
    "[",
    ":",
    ":x",
    "DELIMITER //\n",
    "\\.\n",
    "COPY t FROM stdin;\n",
    "-- @",
    "-- > ",
    "/*a*/",
    "é",
    "99999999999999999999",
    "-0",
    "1e999",
    "BEGIN",
    "END",
    "END IF",
    "IF",
    "CASE",
    "LOOP",
    "session",
    "permutation",
    "step",
    "setup",
    "Tx1:",
    "END\n",
    "CREATE PROCEDURE p(",
    "CREATE TABLE t (",
    "CHECK (",
    "UNION SELECT ",
];

/// Texts that once did harm to any reader.
const REGRESSIONS: &[&str] =
    &["", "\0", "\u{feff}", "'", "$a", "/*", "--", "::", "(", "-- @program 1", "postgres://[", "mysql://:@/"];

/// The files in a directory with one of these extensions.
fn seeds(directory: &str, extensions: &[&str]) -> Vec<String> {
    let is_seed = |path: &Path| path.extension().is_some_and(|found| extensions.iter().any(|one| found == *one));
    let files = txloom::files::walk::files(&root().join(directory), is_seed).expect("the corpus can be read");
    assert!(!files.is_empty(), "{directory}");
    files.iter().map(|file| std::fs::read_to_string(file).expect("a seed is text")).collect()
}

/// The text from there on, up to the next border of characters.
fn border(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// Changes a text in a few places.
fn changed(text: &str, random: &mut Random) -> String {
    let mut text = text[..border(text, text.len().min(LENGTH_MAX))].to_string();
    for _ in 0..=random.below(4) {
        let from = border(&text, random.below(text.len() + 1));
        let to = border(&text, (from + random.below(30)).min(text.len()));
        let piece = random.pick(PIECES).copied().unwrap_or_default();
        match random.below(5) {
            0 => text.truncate(from),
            1 => text.replace_range(from..to, ""),
            2 => text.insert_str(from, piece),
            3 => text.insert_str(from, &piece.repeat(1 + random.below(300))),
            _ => {
                let copied = text[from..to].repeat(1 + random.below(20));
                text.insert_str(from, &copied);
            }
        }
    }
    text
}

/// The property holds for the seeds and for what becomes of them.
fn fuzz(seeds: Vec<String>, property: Property) {
    let all = move || {
        for text in REGRESSIONS {
            property(text);
        }
        for (number, seed) in seeds.iter().enumerate() {
            property(seed);
            for change in 0..CHANGES {
                property(&changed(seed, &mut Random::new(1, &[number as u64, change])));
            }
        }
    };
    limited(move || {
        let thread = std::thread::Builder::new().stack_size(STACK_SIZE).spawn(all).expect("a thread can be started");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

#[test]
fn isolation_specs() {
    fuzz(seeds("corpus/isolation", &["spec"]), properties::isolation_spec);
}

#[test]
fn troc_texts() {
    let text = "CREATE TABLE t(a INT PRIMARY KEY, b INT)\nINSERT INTO t VALUES (1, 2)\n\nBEGIN\nUPDATE t SET b = 3\nCOMMIT\n\n\
                BEGIN\nSELECT * FROM t\nCOMMIT\n\n1-1-2-2-2-1\nEND\n";
    fuzz(vec![text.to_string(); 8], properties::troc_text);
}

#[test]
fn stored_procedures() {
    fuzz(seeds("corpus/programs", &["sql"]).into_iter().step_by(3).collect(), properties::procedures);
}

#[test]
fn schemas_and_dumps() {
    fuzz(seeds("corpus/programs", &["sql", "ddl"]).into_iter().skip(1).step_by(5).collect(), properties::schema_dump);
}

#[test]
fn cases_of_any_format() {
    fuzz(seeds("corpus/bugs", &["sql"]).into_iter().step_by(2).collect(), properties::any_case);
}

#[test]
fn targets_and_urls() {
    let urls = [
        "postgres://user:secret@host:5432/database?sslmode=require",
        "mysql://user@[::1]:3306/?a=b",
        "replicas:3+stale-read",
        "postgres:17?work_mem=64kB",
        "mysql@/usr/local+missing-error",
    ];
    fuzz(urls.map(str::to_string).to_vec(), properties::target_name);
}
