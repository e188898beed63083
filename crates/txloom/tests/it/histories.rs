//! Histories with known verdicts: our own corpus, other tools' samples, bad files; and that the documents say what is so.
//!
//! The folder of a history in `corpus/histories` is its verdict: the strongest levels that hold, without sessions and real
//! time (where two hold of which neither implies the other, both). `TXLOOM_HISTORY_SAMPLES` names a directory with the
//! samples of other tools; without it they are not asked for.

use std::collections::BTreeSet;
use std::path::Path;

use txloom_core::generate::random::Random;
use txloom_core::history::anomaly::{self, Anomaly};
use txloom_core::history::formats::FORMATS;
use txloom_core::history::micro;
use txloom_core::history::simulate::small::{Comparison, compare, random_small};
use txloom_core::level::formal::{LEVELS, Order};

use crate::support::{Finished, TestDir, limited, output, root};

/// A history, the strongest levels that it satisfies, the anomalies that are found, and why.
struct Expected {
    file: &'static str,
    strongest: &'static str,
    anomalies: &'static str,
    why: &'static str,
}

const fn row(file: &'static str, strongest: &'static str, anomalies: &'static str, why: &'static str) -> Expected {
    Expected { file, strongest, anomalies, why }
}

const CORPUS: &[Expected] = &[
    row("none/g0-dirty-write.edn", "", "G0", "x and y tell opposite orders of the same two writers"),
    row("none/garbage-read.hist", "", "garbage-read", "no database can have returned 7"),
    row("none/incompatible-order.edn", "", "incompatible-order", "[2] is no beginning of [1 2]"),
    row("none/duplicate-elements.jsonl", "", "duplicate-elements", "1 was appended once"),
    row("read-uncommitted/g1a-aborted-read.edn", "strong read uncommitted", "G1a", "its writer was rolled back"),
    row("read-uncommitted/g1b-intermediate-read.txt", "read uncommitted", "G1b", "1 was overwritten by its own writer"),
    row("read-uncommitted/g1c-circular-information-flow.hist", "read uncommitted", "G1c", "each saw the other"),
    row(
        "read-uncommitted/future-read.json",
        "strong read uncommitted",
        "future-read",
        "1 was read before it was written",
    ),
    row(
        "read-uncommitted/dirty-update.edn",
        "strong read uncommitted",
        "G1a, dirty-update",
        "2 stands on an aborted 1",
    ),
    row(
        "read-committed/vanished-and-lost.hist",
        "read committed",
        "OTV, commit-order, P4, G-single",
        "the vanished x excludes monotonic atomic view, the lost z cursor stability",
    ),
    row(
        "cursor-stability/otv-observed-transaction-vanishes.txt",
        "cursor stability",
        "OTV, commit-order, G-single",
        "key 1 shows the transaction, then key 0 does not; nobody updates what he read",
    ),
    row("cursor-stability/internal.edn", "cursor stability", "internal", "2 was its own last write of x"),
    row(
        "monotonic-atomic-view/fractured-and-lost.txt",
        "monotonic atomic view",
        "commit-order, P4, G-single",
        "the old key comes first, so that nothing vanishes; still the view is fractured",
    ),
    row(
        "monotonic-atomic-view/unrepeatable-list.edn",
        "strong monotonic atomic view",
        "internal, P4",
        "x was empty, and then held an element before the own one",
    ),
    row(
        "monotonic-atomic-view+cursor-stability/fractured-read.txt",
        "strong session monotonic atomic view; strong session cursor stability",
        "commit-order, commit-order-process, G-single",
        "the same without a lost update",
    ),
    row(
        "read-atomic/causality-and-lost.json",
        "read atomic",
        "commit-order, P4, G-single",
        "the answer without its question is not causal, the lost update not cursor stability",
    ),
    row(
        "read-atomic+cursor-stability/causality.hist",
        "read atomic; cursor stability",
        "commit-order, G-single",
        "everything of whom he sees, but not of whom these had seen",
    ),
    row(
        "causal/long-fork-and-lost.hist",
        "causal",
        "P4, long-fork",
        "the fork excludes a common prefix, the lost update parallel snapshots",
    ),
    row("prefix/p4-lost-update.txt", "prefix", "P4", "whoever of the two wrote first, the other did not see it"),
    row("prefix/p4-lost-update.edn", "strong prefix", "P4", "the lists tell who wrote first"),
    row("parallel-snapshot-isolation/long-fork.json", "parallel snapshot isolation", "long-fork", "no common order"),
    row(
        "parallel-snapshot-isolation/g-nonadjacent.hist",
        "parallel snapshot isolation",
        "G-nonadjacent",
        "a fork of three",
    ),
    row("snapshot-isolation/write-skew.edn", "strong snapshot isolation", "write-skew", "two snapshots, two keys"),
    row("snapshot-isolation/g2-item.jsonl", "snapshot isolation", "G2-item", "the same with three"),
    row(
        "snapshot-isolation/read-only-anomaly.hist",
        "snapshot isolation",
        "G2-item",
        "the reader saw the second and not the first, which came before the second",
    ),
    row("serializable/double-read.txt", "serializable", "", "reading twice is no anomaly"),
    row(
        "serializable/stale-in-a-session.hist",
        "serializable; strong session monotonic atomic view; strong session cursor stability",
        "commit-order-process, G-single-process",
        "only the session says that the write came first",
    ),
    row(
        "serializable/stale-in-real-time.edn",
        "serializable; strong monotonic atomic view; strong cursor stability",
        "commit-order-realtime, G-SIb-realtime",
        "only the clock says that the write came first",
    ),
    row(
        "serializable/read-before-it-was-written.edn",
        "serializable; strong read uncommitted",
        "G-SIa-realtime",
        "only the clock says that the reader was first",
    ),
    row(
        "serializable/unknown-ends.edn",
        "strong serializable",
        "",
        "who was seen has committed, who was not need not have",
    ),
    row("serializable/blind-writes.txt", "serializable", "", "the second writer before the first explains everything"),
    row("serializable/uncommitted.hist", "serializable", "", "nobody saw what was rolled back"),
];

/// Samples of other tools. What each tool says of its own file agrees.
const SAMPLES: &[Expected] = &[
    row(
        "awdit/causal-lost-update.txt",
        "prefix",
        "P4",
        "AWDIT says causal, where it stops: a lost update is prefix-consistent as well",
    ),
    row(
        "awdit/read-committed-test-rc.txt",
        "strong session monotonic atomic view; strong session cursor stability",
        "commit-order, G-single",
        "AWDIT's read committed is monotonic atomic view; one transaction reads two versions of 2",
    ),
    row("dbcop/double-read.hist", "serializable", "", "reading twice is no anomaly"),
    row("dbcop/small.json", "", "garbage-read", "it is a part of a longer history: most writers are missing"),
    row(
        "elle/mariadb-repeatable-read.list-append.jsonl",
        "strong monotonic atomic view",
        "internal, P4, G-single, G-single-process, G-SIb-realtime, write-skew",
        "MariaDB's REPEATABLE READ loses updates, and after an own one shows what others had committed",
    ),
    row(
        "elle/paper-example.edn",
        "prefix; strong monotonic atomic view; strong cursor stability",
        "commit-order-realtime, G-single, G-SIb-realtime",
        "the read skew of Elle's paper",
    ),
    row(
        "elle/postgres-serializable.list-append.jsonl",
        "strong serializable",
        "",
        "PostgreSQL's SERIALIZABLE, on one node",
    ),
    row("elle/rw-register.edn", "", "garbage-read", "nobody writes 3"),
    row(
        "plume/yugabyte_tcc.txt",
        "prefix; strong session monotonic atomic view; strong session cursor stability",
        "commit-order-process, G-single, G-single-process",
        "line 91: a session reads an older version than it has written before",
    ),
];

/// What is found out about a file: the strongest levels, the anomalies.
fn survey(path: &str) -> (String, String) {
    let Finished { code, stdout, stderr } = output(&["check", path, "--format", "json"]);
    assert_eq!(code, 0, "{path}: {stderr}");
    let report: serde_json::Value = serde_json::from_str(&stdout).expect("the report is JSON");
    let survey = &report["histories"][0]["survey"];
    let texts = |list: &serde_json::Value, field: Option<&str>, gap: &str| {
        let text = |value: &serde_json::Value| {
            field.map_or(value, |field| &value[field]).as_str().expect("a text").to_string()
        };
        list.as_array().expect("a list").iter().map(text).collect::<Vec<_>>().join(gap)
    };
    (texts(&survey["strongest"], None, "; "), texts(&survey["anomalies"], Some("anomaly"), ", "))
}

#[test]
fn the_corpus_is_judged_as_its_folders_say() {
    limited(|| {
        for expected in CORPUS {
            let (strongest, anomalies) = survey(&format!("corpus/histories/{}", expected.file));
            let Expected { file, why, .. } = expected;
            assert_eq!(
                (strongest.as_str(), anomalies.as_str()),
                (expected.strongest, expected.anomalies),
                "{file}: {why}"
            );
            // The folder speaks of plain levels: the strongest of those that hold in any variant.
            let plain: Vec<&str> = strongest.split("; ").map(|name| name.trim_start_matches("strong ")).collect();
            let plain: Vec<&str> = plain.iter().map(|name| name.trim_start_matches("session ")).collect();
            let level = |name: &str| LEVELS.iter().find(|row| row.name == name).map(|row| row.level);
            let weaker = |name: &&&str| {
                let implied =
                    |other: &&str| other != *name && level(other).zip(level(name)).is_some_and(|(a, b)| a.implies(b));
                plain.iter().any(implied)
            };
            let strongest: BTreeSet<String> =
                plain.iter().filter(|name| !weaker(name)).map(|name| name.replace(' ', "-")).collect();
            let folder = Path::new(file).parent().expect("a folder").to_string_lossy().into_owned();
            let folder: BTreeSet<String> =
                folder.split('+').map(|name| if name == "none" { String::new() } else { name.to_string() }).collect();
            assert_eq!(strongest, folder, "{file}");
        }
    });
}

#[test]
fn every_history_of_the_corpus_has_a_verdict_and_every_anomaly_a_history() {
    let mut files = BTreeSet::new();
    for folder in std::fs::read_dir(root().join("corpus/histories")).expect("the corpus is there") {
        let folder = folder.expect("a folder").path();
        for file in std::fs::read_dir(&folder).expect("a folder") {
            let path = file.expect("a file").path();
            files.insert(path.strip_prefix(root().join("corpus/histories")).expect("below").display().to_string());
        }
    }
    assert_eq!(files, CORPUS.iter().map(|expected| expected.file.to_string()).collect());
    let found: BTreeSet<&str> = CORPUS.iter().flat_map(|expected| expected.anomalies.split(", ")).collect();
    let is_found = |anomaly: &&Anomaly| found.iter().any(|name| name.starts_with(anomaly.id));
    let missing: Vec<&str> = anomaly::ALL.iter().filter(|row| !is_found(row)).map(|row| row.id).collect();
    assert!(missing.is_empty(), "no history shows {missing:?}");
}

#[test]
fn samples_of_other_tools_are_judged_correctly() {
    let Ok(folder) = std::env::var("TXLOOM_HISTORY_SAMPLES") else { return };
    limited(move || {
        for Expected { file, strongest, anomalies, why } in SAMPLES {
            let (found, odd) = survey(&format!("{folder}/{file}"));
            assert_eq!((found.as_str(), odd.as_str()), (*strongest, *anomalies), "{file}: {why}");
        }
    });
}

#[track_caller]
fn check(arguments: &[&str], code: i32, words: &[&str]) {
    let found = output(arguments);
    assert_eq!(found.code, code, "{arguments:?}\n{}{}", found.stdout, found.stderr);
    for word in words {
        let all = format!("{}{}", found.stdout, found.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(all.contains(word), "{arguments:?}: no `{word}` in\n{all}");
    }
}

#[test]
fn the_exit_code_is_the_answer() {
    limited(|| {
        let skew = "corpus/histories/snapshot-isolation/write-skew.edn";
        check(&["check", skew, "--level", "Snapshot-Isolation"], 0, &["snapshot isolation holds"]);
        check(&["check", skew, "--level", "si", "--level", "ser"], 1, &["serializable is violated: write-skew"]);
        check(&["check", skew, "--level", "serialisible"], 2, &["did you mean serialisable?"]);
        check(&["check", skew, "--level", "strong-sesion-causal"], 2, &["did you mean strong session causal?"]);
        check(&["check", skew, "--level", ""], 2, &["`` is not an isolation level (known are: read uncommitted,"]);
        let fork = "corpus/histories/prefix/p4-lost-update.txt";
        check(&["check", fork, skew, "--level", "si"], 1, &["P4, lost update", "snapshot isolation holds"]);
        check(&["check", fork, "--level", "si", "--limit", "soon"], 2, &["`soon` is not a time limit"]);
    });
}

#[test]
fn a_level_is_what_the_tool_of_the_format_means() {
    limited(|| {
        let vanishes = "corpus/histories/cursor-stability/otv-observed-transaction-vanishes.txt";
        let words = [
            "strong session monotonic atomic view is violated: OTV",
            "as in Plume",
            "strong session read committed: holds",
        ];
        check(&["check", vanishes, "--level", "read-committed"], 1, &words);
        check(&["check", vanishes, "--level", "pl-2"], 0, &["strong session read committed holds"]);
        let stale = "corpus/histories/serializable/stale-in-a-session.hist";
        check(&["check", stale, "--level", "ser"], 1, &["G-single-process", "serializable: holds"]);
        check(
            &["check", stale, "--level", "plain ser"],
            0,
            &["strong session serializable: violated (G-single-process)"],
        );
    });
}

#[test]
fn bad_files_are_told_by_line() {
    limited(|| {
        let folder = TestDir::new("bad-histories");
        let cut = folder.file("cut.jsonl", "{\"type\":\"ok\",\"value\":[[\"w\",1,1]]}\n{\"type\":\"ok\",\"val");
        check(&["check", &cut], 2, &["cut.jsonl:2: the file ends in the middle of an operation"]);
        let twice = folder.file("twice.txt", "w 0 1\n=====\nr 0 1\nw 0 1\n");
        check(&["check", &twice], 2, &["twice.txt:3: 0 is given the value 1 a second time (first in line 1)"]);
        let odd = folder.file("odd.edn", "{:type :ok :value [[:append x 1]]}\n{:type :ok :value [[:cas x 1]]}\n");
        check(&["check", &odd], 2, &["odd.edn:2: unknown operation"]);
        let good = folder.file("good.hist", "[x:=1]\n");
        check(&["check", &odd, &good, "--level", "si"], 2, &["odd.edn:2:", "snapshot isolation holds"]);
        let open = folder.file("open.edn", "[{:type :ok :value [[:append x 1]]}\n");
        check(&["check", &open], 2, &["open.edn:1: the file ends in the middle of the vector that begins in line 1"]);
        check(&["check", "/nowhere.edn"], 2, &["cannot read /nowhere.edn"]);
        check(&["check", "README.md"], 2, &["README.md:1: cannot tell the format of this history"]);
        check(&["check", "corpus/anomalies/p4-lost-update.sql"], 2, &["this is a case", "--save-history"]);
        check(&["check", "Cargo.lock", "--level", "si"], 2, &["cannot tell the format"]);
        check(&["check"], 2, &["no FILE to check: name a history"]);
        check(&["check", &folder.file("empty.edn", "")], 2, &["the file is empty"]);
    });
}

#[test]
fn histories_are_saved_drawn_and_made_smaller() {
    limited(|| {
        let folder = TestDir::new("saved-histories");
        let path = |name: &str| folder.path().join(name).display().to_string();
        let lost = "corpus/histories/prefix/p4-lost-update.edn";
        check(
            &["check", lost, "--save", &path("lost.txh"), "--svg", &path("lost.svg")],
            0,
            &["satisfies strong prefix"],
        );
        check(
            &["check", &path("lost.txh"), "--level", "si", "--minimize"],
            1,
            &["{:type :ok :f :txn :process 1 :value [[:r :x []] [:append :x 2]]}"],
        );
        let svg = std::fs::read_to_string(path("lost.svg")).expect("the picture is there");
        assert!(svg.starts_with("<?xml") && svg.ends_with("</svg>\n"), "{svg}");
        check(&["check", lost, lost, "--save", &path("x.txh")], 2, &["--save takes one history"]);
        check(&["check", lost, "--minimize"], 2, &["--minimize needs a level"]);
        check(&["check", lost, "--save", &path("lost.sql")], 2, &["its ending does not tell in which format"]);
        check(&["check", lost, "--save", &path("lost.hist")], 2, &["cannot save the history", "lists"]);
        check(&["check", lost, "--save", &path("lost.jsonl")], 0, &["satisfies strong prefix"]);
        check(&["check", &path("lost.jsonl"), "--level", "si"], 1, &["P4, lost update"]);
    });
}

#[test]
fn runs_are_saved_as_histories() {
    limited(|| {
        let folder = TestDir::new("histories-of-runs");
        let path = |name: &str| folder.path().join(name).display().to_string();
        let save = |case: &str, file: &str, level: &str, code: i32, words: &[&str]| {
            let path = path(file);
            let arguments = ["run", case, "--on", "model", "--level", level, "--save-history", &path];
            check(&arguments, code, words);
        };
        let lost = "corpus/anomalies/p4-lost-update.sql";
        for file in ["lost.txh", "lost.edn", "lost.jsonl", "lost.json", "lost.txt"] {
            save(lost, file, "read-committed", 0, &[]);
            check(&["check", &path(file), "--level", "plain si"], 1, &["P4", "test/1"]);
        }
        save(lost, "lost.hist", "read-committed", 2, &["dbcop's format cannot hold the name of the key `test/1`"]);
        save(lost, "kept.edn", "serializable", 0, &[]);
        check(&["check", &path("kept.edn"), "--level", "strict-serializable"], 0, &["strong serializable holds"]);
        let phantom = "corpus/anomalies/a3-phantom.sql";
        save(phantom, "phantom.edn", "serializable", 2, &["a3-phantom.sql cannot be saved as a history: step "]);
        assert!(!folder.path().join("phantom.edn").exists(), "nothing is written of what is no history");
        save("corpus/anomalies", "all.edn", "serializable", 2, &["saves the history of one run, and these are"]);
        save(lost, "lost.sql", "serializable", 2, &["its ending does not tell in which format"]);
        let oracle = ["run", lost, "--oracle", "serial", "--save-history", "x.edn"];
        check(&oracle, 2, &["--oracle serial needs several"]);
    });
}

/// How many small random histories both checkers judge, at every level.
const COMPARED: u64 = 20_000;

#[test]
fn the_fast_checker_agrees_with_the_brute_force() {
    let compare_all = |seeds: std::ops::Range<u64>| {
        for seed in seeds {
            let history = random_small(&mut Random::new(seed, &[1]), seed % 2 == 0);
            let comparison = compare(&history).expect("values are unique");
            assert_eq!(comparison, Comparison::default(), "seed {seed}\n{}", micro::print(&history));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| compare_all(0..COMPARED / 2));
        compare_all(COMPARED / 2..COMPARED);
    });
}

/// Replaces, or compares, what stands between `<!-- NAME -->` and `<!-- end -->` in a document.
fn check_table(document: &str, name: &str, table: &str) {
    let path = root().join(document);
    let text = std::fs::read_to_string(&path).expect("the document is there");
    let (before, rest) =
        text.split_once(&format!("<!-- {name} -->\n")).expect("the document has a place for the table");
    let (found, after) = rest.split_once("<!-- end -->").expect("the place has an end");
    if std::env::var_os("TXLOOM_UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, format!("{before}<!-- {name} -->\n{table}<!-- end -->{after}"))
            .expect("it can be written");
    } else {
        assert_eq!(found, table, "{document} is out of date: TXLOOM_UPDATE_GOLDEN=1 cargo test writes it anew");
    }
}

#[test]
fn the_documents_have_the_tables_of_the_code() {
    let mut levels =
        "| level | other names | no cycle, that is | implies | defined in |\n|---|---|---|---|---|\n".to_string();
    for row in LEVELS {
        let implies: Vec<String> = row.implies.iter().map(ToString::to_string).collect();
        levels += &format!(
            "| {} | {} | {} | {} | {} |\n",
            row.name,
            row.aliases.join(", "),
            row.condition,
            implies.join(", "),
            row.citation
        );
    }
    check_table("docs/reference/levels.md", "levels", &levels);
    let mut anomalies = "| anomaly | people call it | what it is | defined in |\n|---|---|---|---|\n".to_string();
    for row in anomaly::ALL {
        anomalies += &format!("| {} | {} | {} | {} |\n", row.id, row.name, row.what, row.citation);
    }
    check_table("docs/reference/levels.md", "anomalies", &anomalies);
    let mut formats =
        "| format | usual endings | a level respects sessions | `read committed` is |\n|---|---|---|---|\n".to_string();
    for row in FORMATS {
        let sessions = if row.convention.order == Order::Free { "no" } else { "yes" };
        let endings: Vec<String> = row.extensions.iter().map(|ending| format!("`.{ending}`")).collect();
        formats +=
            &format!("| {} | {} | {sessions} | {} |\n", row.name, endings.join(", "), row.convention.read_committed);
    }
    check_table("docs/reference/histories.md", "formats", &formats);
}
