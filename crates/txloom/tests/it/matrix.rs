//! The matrix *oracle × planted bug*: each oracle finds the bugs that it can see, and is silent without them.
//!
//! A cell is a *pin*: the number of a group of generated cases that shows the bug to the oracle. Only that group is run. The
//! pins stand in `matrix.txt`, one `ORACLE BUG GROUP` a line. Whoever changes what is generated looks for new ones:
//!
//! ```text
//! TXLOOM_UPDATE_GOLDEN=1 cargo test --release --test it matrix
//! ```
//!
//! That searches the groups from 0, fails if a bug is not found among the first of them, and also if an oracle finds a bug
//! that it should be blind to.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use txloom::execute::EngineRunner;
use txloom::matrix::{self, ORACLES, Sight};
use txloom_core::generate::{Demands, Generator, profile};
use txloom_core::oracle::{self, Oracle, Runner, Verdict, diff, invariant, serial};
use txloom_core::planted::{self, PlantedBug};

use crate::support::{engine, limited, root};

const SEED: u64 = 1;
/// A cell that takes longer is no test but a soak run.
const CELL_LIMIT: Duration = Duration::from_secs(2);
/// The target that is healthy, and that bugs are planted in.
const HEALTHY: &str = "model";
/// So many groups are searched for a bug that can be seen; a tenth of that for one that cannot.
const GROUPS_MAX: u64 = 2_000;
/// The document with the table.
const DOCUMENT: &str = "docs/reference/planted-bugs.md";

fn is_update() -> bool {
    std::env::var_os("TXLOOM_UPDATE_GOLDEN").is_some()
}

fn pins_file() -> PathBuf {
    root().join("crates/txloom/tests/it/matrix.txt")
}

/// The pinned groups, by oracle and bug.
fn pins() -> BTreeMap<(String, String), u64> {
    let text = std::fs::read_to_string(pins_file()).unwrap_or_default();
    let pin = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [oracle, bug, group] = words[..] else { panic!("matrix.txt: `{line}` is not `ORACLE BUG GROUP`") };
        ((oracle.to_string(), bug.to_string()), group.parse().expect("a number"))
    };
    text.lines().map(pin).collect()
}

fn write_pins(pins: &BTreeMap<(String, String), u64>) {
    let lines = pins.iter().map(|((oracle, bug), group)| format!("{oracle} {bug} {group}\n"));
    std::fs::write(pins_file(), lines.collect::<String>()).expect("the pins can be written");
}

/// An oracle with targets to hunt on, and the cases for them.
struct Hunt {
    oracle: Box<dyn Oracle>,
    runner: EngineRunner,
    generator: Generator,
}

impl Hunt {
    fn new(oracle_name: &str, targets: &[String]) -> Hunt {
        let runner = EngineRunner::new(targets.iter().map(|target| engine(target)).collect());
        let demands = Demands { reorderable: oracle_name == serial::NAME, assertions: oracle_name == invariant::NAME };
        let model = profile::shipped("dt2").expect("a shipped profile");
        let generator = Generator::new(model, &runner.targets(), demands, &[], SEED).expect("a generator");
        Hunt { oracle: oracle::in_hunt(oracle_name).expect("an oracle"), runner, generator }
    }

    /// The first violation in a group, in one sentence.
    fn find(&mut self, group: u64) -> Option<String> {
        self.generator.group(group).cases.iter().find_map(|case| {
            match self.oracle.judge(case, &mut self.runner).unwrap_or_else(|error| panic!("{error}")) {
                Verdict::Violated(findings) => findings.into_iter().next().map(|finding| finding.sentence),
                Verdict::Holds(_) | Verdict::Unknown(_) => None,
            }
        })
    }
}

/// The same targets, without the bug.
fn healthy(oracle_name: &str) -> Vec<String> {
    vec![HEALTHY.to_string(); if oracle_name == diff::NAME { 2 } else { 1 }]
}

fn check_cell(oracle_name: &str, bug: &PlantedBug, group: u64) {
    let mut hunt = Hunt::new(oracle_name, &matrix::targets(oracle_name, bug, HEALTHY));
    let start = Instant::now();
    let found = hunt.find(group);
    let time = start.elapsed();
    assert!(found.is_some(), "{oracle_name} does not see {} in group {group} of seed {SEED}", bug.name);
    assert!(time < CELL_LIMIT, "{oracle_name} takes {time:?} to see {}", bug.name);
    let silent = Hunt::new(oracle_name, &healthy(oracle_name)).find(group);
    assert_eq!(silent, None, "{oracle_name} on a healthy target, in the group that shows {}", bug.name);
}

/// The first group that shows the bug, among so many.
fn search(oracle_name: &str, bug: &PlantedBug, groups: u64) -> Option<u64> {
    let mut hunt = Hunt::new(oracle_name, &matrix::targets(oracle_name, bug, HEALTHY));
    (0..groups).find(|group| hunt.find(*group).is_some())
}

fn find_pins(oracle_name: &str) -> BTreeMap<(String, String), u64> {
    let mut pins = BTreeMap::new();
    let mut complaints = Vec::new();
    for bug in planted::ALL {
        let sight = matrix::expected(oracle_name, bug.name).expect("a cell of the matrix");
        let groups = if sight == Sight::Seen { GROUPS_MAX } else { GROUPS_MAX / 10 };
        match (search(oracle_name, bug, groups), sight) {
            (Some(group), Sight::Seen) => {
                pins.insert((oracle_name.to_string(), bug.name.to_string()), group);
            }
            (Some(group), Sight::Blind(_)) => complaints.push(format!("{} is seen in group {group}", bug.name)),
            (None, Sight::Seen) => complaints.push(format!("{} is not seen in {groups} groups", bug.name)),
            (None, Sight::Blind(_)) => {}
        }
    }
    assert!(complaints.is_empty(), "{oracle_name}:\n{}", complaints.join("\n"));
    pins
}

#[test]
fn every_oracle_sees_its_bugs_and_is_silent_without_them() {
    if is_update() {
        let pins: BTreeMap<_, _> = ORACLES.iter().flat_map(|oracle| find_pins(oracle)).collect();
        return write_pins(&pins);
    }
    limited(|| {
        let pins = pins();
        for oracle_name in ORACLES {
            for bug in planted::ALL {
                let pin = pins.get(&(oracle_name.to_string(), bug.name.to_string()));
                match (matrix::expected(oracle_name, bug.name).expect("a cell of the matrix"), pin) {
                    (Sight::Seen, Some(group)) => check_cell(oracle_name, bug, *group),
                    (Sight::Blind(_), None) => {}
                    (sight, pin) => panic!("{oracle_name} and {}: {sight:?}, and pinned to {pin:?}", bug.name),
                }
            }
        }
    });
}

/// The table of the document, with the reasons below it.
fn table() -> String {
    let mut table =
        format!("| bug | {} |\n|---|---|---|---|---|\n", ORACLES.map(|name| format!("`{name}`")).join(" | "));
    let mut reasons: Vec<&str> = Vec::new();
    for bug in planted::ALL {
        let cell = |oracle: &str| match matrix::expected(oracle, bug.name).expect("a cell of the matrix") {
            Sight::Seen => "seen".to_string(),
            Sight::Blind(reason) => {
                let at = reasons.iter().position(|known| *known == reason).unwrap_or_else(|| {
                    reasons.push(reason);
                    reasons.len() - 1
                });
                format!("n/a ({})", at + 1)
            }
        };
        let cells = ORACLES.map(cell).join(" | ");
        writeln!(table, "| `{}` | {cells} |", bug.name).expect("a string can be written to");
    }
    table.push('\n');
    for (at, reason) in reasons.iter().enumerate() {
        writeln!(table, "{}. {reason}", at + 1).expect("a string can be written to");
    }
    table
}

#[test]
fn the_document_shows_the_matrix() {
    let path = root().join(DOCUMENT);
    let text = std::fs::read_to_string(&path).expect("the document");
    let start = text.find("| bug |").expect("the document has the table");
    let expected = format!("{}{}", &text[..start], table());
    if is_update() {
        std::fs::write(&path, &expected).expect("the document can be written");
    } else {
        assert_eq!(text, expected, "{DOCUMENT} differs; run with TXLOOM_UPDATE_GOLDEN=1 to accept");
    }
}
