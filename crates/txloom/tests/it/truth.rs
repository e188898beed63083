//! Programs with known truth: `analyze` calls no broken cell safe and accuses no safe one.
//!
//! The truth was found out by running every interleaving on real servers (`xtask soak real`); see `txloom::truth`. Exit
//! codes are what a user relies on: 0 is "holds", 1 is "violated", 5 is "unknown".

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use txloom::truth::{self, Cell, Entry, Truth};

use crate::support::{check_document, limited, output, root, update_asked_for};

/// Cells of which `analyze` says what is wrong, by program and position of the cell: a list that may only become shorter.
/// `TXLOOM_UPDATE_GOLDEN=1` writes it anew.
const KNOWN_WRONG: &str = "crates/txloom/tests/it/truth_wrong.txt";

/// At most so many of a hundred cells may be undecided.
const UNDECIDED_PERCENT_MAX: usize = 10;

/// What `analyze` says of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Holds,
    Violated,
    Unknown,
    /// It ended with another exit code.
    Failed(i32),
}

/// How that fits the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Judged {
    Right,
    Undecided,
    Acquitted,
    Accused,
    Failed,
}

fn judge(truth: Truth, said: Said) -> Judged {
    match (truth, said) {
        (Truth::Broken, Said::Violated) | (Truth::Safe, Said::Holds) => Judged::Right,
        (_, Said::Unknown) => Judged::Undecided,
        (Truth::Broken, Said::Holds) => Judged::Acquitted,
        (Truth::Safe, Said::Violated) => Judged::Accused,
        (_, Said::Failed(_)) => Judged::Failed,
    }
}

fn analyze(entry: &Entry, cell: Cell) -> (Said, String) {
    let file = |name: &str| root().join("corpus/truth").join(name).to_string_lossy().into_owned();
    let program = file(&entry.file);
    let schema = entry.schema.as_deref().map(file);
    let mut arguments = vec!["analyze", &program, "--level", cell.level, "--on", cell.target];
    arguments.extend(schema.iter().flat_map(|schema| ["--schema", schema.as_str()]));
    let done = output(&arguments);
    let said = match done.code {
        0 => Said::Holds,
        1 => Said::Violated,
        5 => Said::Unknown,
        code => Said::Failed(code),
    };
    let last = done.stdout.lines().chain(done.stderr.lines()).rfind(|line| !line.trim().is_empty()).unwrap_or("");
    (said, last.trim().to_string())
}

/// Every cell of the corpus, with its truth and what is said of it.
fn all_cells(entries: &[Entry]) -> BTreeMap<(usize, usize), (Truth, Said, String)> {
    let truth = |entry: usize, cell: usize| entries[entry].truth[cell].map(|truth| (entry, cell, truth));
    let work: Vec<(usize, usize, Truth)> = (0..entries.len())
        .flat_map(|entry| (0..Cell::ALL.len()).map(move |cell| (entry, cell)))
        .filter_map(|(entry, cell)| truth(entry, cell))
        .collect();
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((entry, cell, truth)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (said, why) = analyze(&entries[*entry], Cell::ALL[*cell]);
                    done.lock().expect("no worker panics").insert((*entry, *cell), (*truth, said, why));
                }
            });
        }
    });
    done.into_inner().expect("no worker panics")
}

/// What the list says of cells: `FILE: acquitted - - - -`.
fn known_wrong() -> BTreeMap<(String, usize), Judged> {
    let mut known = BTreeMap::new();
    let text = std::fs::read_to_string(root().join(KNOWN_WRONG)).expect("the list can be read");
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let (file, words) = line.split_once(':').unwrap_or_else(|| panic!("no colon: {line}"));
        for (at, word) in words.split_whitespace().filter(|word| *word != "|").enumerate() {
            let judged = match word {
                "-" => continue,
                "acquitted" => Judged::Acquitted,
                "accused" => Judged::Accused,
                "failed" => Judged::Failed,
                _ => panic!("{word}: {line}"),
            };
            known.insert((file.to_string(), at), judged);
        }
    }
    known
}

/// The list as it should be.
fn list(entries: &[Entry], cells: &BTreeMap<(usize, usize), (Truth, Said, String)>) -> String {
    let mut text = "# What `analyze` says wrongly today, by the cells of corpus/truth/truth.txt.\n".to_string();
    for (number, entry) in entries.iter().enumerate() {
        let judged = |cell| cells.get(&(number, cell)).map(|(truth, said, _)| judge(*truth, *said));
        let words = (0..Cell::ALL.len()).map(|cell| match judged(cell) {
            Some(judged @ (Judged::Acquitted | Judged::Accused | Judged::Failed)) => {
                format!("{judged:?}").to_lowercase()
            }
            _ => "-".to_string(),
        });
        let words: Vec<String> = words.collect();
        if words.iter().any(|word| word != "-") {
            text += &format!("{}: {} | {}\n", entry.file, words[..3].join(" "), words[3..].join(" "));
        }
    }
    text
}

/// The table that a failure shows.
fn table(entries: &[Entry], cells: &BTreeMap<(usize, usize), (Truth, Said, String)>) -> String {
    let mut lines = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        let shown = (0..Cell::ALL.len()).map(|cell| match cells.get(&(number, cell)) {
            None => format!("{:<10}", "-"),
            Some((truth, said, _)) => format!("{:<10}", format!("{:?}", judge(*truth, *said)).to_lowercase()),
        });
        lines.push(format!("{:<40} {}", entry.file, shown.collect::<Vec<_>>().join(" ")));
    }
    for ((number, cell), (truth, said, why)) in cells {
        if judge(*truth, *said) != Judged::Right {
            lines.push(format!("{} at {}: {truth:?}, and {said:?}: {why}", entries[*number].file, Cell::ALL[*cell]));
        }
    }
    lines.join("\n")
}

#[test]
fn analyze_acquits_no_broken_program_and_accuses_no_safe_one() {
    limited(|| {
        let text = std::fs::read_to_string(root().join(truth::TABLE)).expect("the table can be read");
        let entries = truth::read(&text).unwrap_or_else(|error| panic!("{error}"));
        let cells = all_cells(&entries);
        let mut known = known_wrong();
        let mut surprises = Vec::new();
        for ((number, cell), (truth, said, _)) in &cells {
            let (judged, file) = (judge(*truth, *said), &entries[*number].file);
            let listed = known.remove(&(file.clone(), *cell));
            if listed != Some(judged).filter(|judged| *judged > Judged::Undecided) {
                let listed = listed.map_or("not listed".to_string(), |listed| format!("listed as {listed:?}"));
                surprises.push(format!("{file} at {}: {judged:?}, and {listed}", Cell::ALL[*cell]));
            }
        }
        surprises.extend(known.keys().map(|(file, cell)| format!("{file} has no cell {cell}, and is listed")));
        let count = |wanted: Judged| cells.values().filter(|(truth, said, _)| judge(*truth, *said) == wanted).count();
        let kinds = [Judged::Right, Judged::Undecided, Judged::Acquitted, Judged::Accused, Judged::Failed];
        let counts = kinds.map(|kind| format!("{} {kind:?}", count(kind)).to_lowercase()).join(", ");
        let told = || format!("{counts}\n{}\n{}", table(&entries, &cells), surprises.join("\n"));
        if update_asked_for() {
            return check_document(KNOWN_WRONG, |_| list(&entries, &cells));
        }
        assert!(surprises.is_empty(), "{}", told());
        assert!(count(Judged::Undecided) * 100 <= cells.len() * UNDECIDED_PERCENT_MAX, "{}", told());
    });
}

#[test]
fn the_corpus_covers_what_it_promises() {
    let text = std::fs::read_to_string(root().join(truth::TABLE)).expect("the table can be read");
    let entries = truth::read(&text).unwrap_or_else(|error| panic!("{error}"));
    let is_safe = |entry: &&Entry| entry.truth.iter().flatten().all(|truth| *truth == Truth::Safe);
    let safe = entries.iter().filter(is_safe).count();
    assert!(entries.len() >= 60 && safe * 5 >= entries.len() * 2, "{safe} of {} are safe everywhere", entries.len());
    for entry in &entries {
        assert!(entry.truth.iter().any(Option::is_some), "{} has no truth", entry.file);
        match &entry.like {
            None => assert!(!entry.calls.is_empty(), "{} has no calls", entry.file),
            // The same program has the same truth, where it can be run.
            Some(like) => {
                let twin = entries.iter().find(|twin| twin.file == *like);
                let twin = twin.unwrap_or_else(|| panic!("{} is like {like}, which is not there", entry.file));
                let differ = entry.truth.iter().zip(&twin.truth).any(|(own, other)| own.is_some() && own != other);
                assert!(!differ, "{} and {like} differ", entry.file);
            }
        }
    }
}
