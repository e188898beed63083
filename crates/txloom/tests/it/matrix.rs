//! The matrix *oracle × planted bug*: each oracle finds the bugs that it can see, and is silent without them.
//!
//! A cell is a *pin*: the numbers of a group and of a case in it that shows the bug to the oracle. Only that case is
//! run with the bug; the whole group is run without it. The pins stand in `matrix.txt`, one `ORACLE BUG GROUP CASE` a
//! line. Whoever changes what is generated looks for new ones:
//!
//! ```text
//! TXLOOM_UPDATE_GOLDEN=1 cargo test --release --test it matrix
//! ```
//!
//! That keeps what still shows its bug and otherwise searches the groups from 0, fails if a bug is not found among the
//! first of them, and also if an oracle finds a bug that it should be blind to.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use txloom::execute::EngineRunner;
use txloom::matrix::{self, ORACLES, Sight};
use txloom_core::case::Case;
use txloom_core::generate::{Demands, Generator, profile};
use txloom_core::oracle::{self, Oracle, Runner, Verdict, diff, graph, invariant, serial};
use txloom_core::planted::{self, PlantedBug};

use crate::support::{check_document, engine, limited, root, update_asked_for};

const SEED: u64 = 1;
/// The target that is healthy, and that bugs are planted in.
const HEALTHY: &str = "model";
/// So many groups are searched for a bug that can be seen; a twentieth of that for one that cannot.
const GROUPS_MAX: u64 = 400;
/// The document with the table.
const DOCUMENT: &str = "docs/reference/planted-bugs.md";

fn pins_file() -> PathBuf {
    root().join("crates/txloom/tests/it/matrix.txt")
}

/// A generated case: its group, and its position in it.
type Place = (u64, usize);

/// The pinned cases, by oracle and bug.
type Pins = BTreeMap<(String, String), Place>;

fn pins() -> Pins {
    let text = std::fs::read_to_string(pins_file()).unwrap_or_default();
    let pin = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [oracle, bug, group, case] = words[..] else { panic!("`{line}` is not `ORACLE BUG GROUP CASE`") };
        let place = (group.parse().expect("a number"), case.parse().expect("a number"));
        ((oracle.to_string(), bug.to_string()), place)
    };
    text.lines().map(pin).collect()
}

fn write_pins(pins: &Pins) {
    let lines = pins.iter().map(|((oracle, bug), (group, case))| format!("{oracle} {bug} {group} {case}\n"));
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
        let reorderable = [serial::NAME, graph::NAME].contains(&oracle_name);
        let demands = Demands { reorderable, assertions: oracle_name == invariant::NAME };
        let model = profile::shipped(matrix::profile(oracle_name)).expect("a shipped profile");
        let generator = Generator::new(model, &runner.targets(), demands, &[], SEED).expect("a generator");
        Hunt { oracle: oracle::in_hunt(oracle_name).expect("an oracle"), runner, generator }
    }

    /// The violation that a case shows, in one sentence.
    fn judge(&mut self, case: &Case) -> Option<String> {
        match self.oracle.judge(case, &mut self.runner).unwrap_or_else(|error| panic!("{error}")) {
            Verdict::Violated(findings) => findings.into_iter().next().map(|finding| finding.sentence),
            Verdict::Holds(_) | Verdict::Vacuous(_) | Verdict::Unknown(_) | Verdict::Unstable(_) => None,
        }
    }

    /// The first case of a group that shows a violation.
    fn find(&mut self, group: u64) -> Option<usize> {
        self.generator.group(group).cases.iter().position(|case| self.judge(case).is_some())
    }
}

/// The same targets, without the bug.
fn healthy(oracle_name: &str) -> Vec<String> {
    vec![HEALTHY.to_string(); if oracle_name == diff::NAME { 2 } else { 1 }]
}

fn check_cell(oracle_name: &str, bug: &PlantedBug, (group, case): Place) {
    let mut hunt = Hunt::new(oracle_name, &matrix::targets(oracle_name, bug, HEALTHY));
    let cases = hunt.generator.group(group).cases;
    let found = cases.get(case).and_then(|case| hunt.judge(case));
    let name = bug.name;
    assert!(found.is_some(), "{oracle_name} does not see {name} in case {case} of group {group} of seed {SEED}");
}

fn check_silence(oracle_name: &str, groups: BTreeSet<u64>) {
    let mut hunt = Hunt::new(oracle_name, &healthy(oracle_name));
    for group in groups {
        for case in hunt.generator.group(group).cases {
            assert_eq!(hunt.judge(&case), None, "{oracle_name} on a healthy target, in group {group} of seed {SEED}");
        }
    }
}

/// The case that was pinned, if it still shows the bug; or the first one that does, among so many groups.
fn search(oracle_name: &str, bug: &PlantedBug, pinned: Option<Place>, groups: u64) -> Option<Place> {
    let mut hunt = Hunt::new(oracle_name, &matrix::targets(oracle_name, bug, HEALTHY));
    let shows = |hunt: &mut Hunt, (group, case): Place| {
        hunt.generator.group(group).cases.get(case).is_some_and(|case| hunt.judge(case).is_some())
    };
    let kept = pinned.filter(|place| shows(&mut hunt, *place));
    kept.or_else(|| (0..groups).find_map(|group| Some((group, hunt.find(group)?))))
}

fn find_pins(oracle_name: &str) -> Pins {
    let (pinned, mut pins) = (pins(), Pins::new());
    let mut complaints = Vec::new();
    for bug in planted::ALL {
        let sight = matrix::expected(oracle_name, bug.name).expect("a cell of the matrix");
        let groups = if sight == Sight::Seen { GROUPS_MAX } else { GROUPS_MAX / 20 };
        let cell = (oracle_name.to_string(), bug.name.to_string());
        match (search(oracle_name, bug, pinned.get(&cell).copied(), groups), sight) {
            (Some(place), Sight::Seen) => {
                pins.insert(cell, place);
            }
            (Some(place), Sight::Blind(_)) => complaints.push(format!("{} is seen in {place:?}", bug.name)),
            (None, Sight::Seen) => complaints.push(format!("{} is not seen in {groups} groups", bug.name)),
            (None, Sight::Blind(_)) => {}
        }
    }
    assert!(complaints.is_empty(), "{oracle_name}:\n{}", complaints.join("\n"));
    pins
}

#[test]
fn every_oracle_sees_its_bugs_and_is_silent_without_them() {
    if update_asked_for() {
        let pins: Pins = ORACLES.iter().flat_map(|oracle| find_pins(oracle)).collect();
        return write_pins(&pins);
    }
    limited(|| {
        let pins = pins();
        for oracle_name in ORACLES {
            for bug in planted::ALL {
                let pin = pins.get(&(oracle_name.to_string(), bug.name.to_string()));
                match (matrix::expected(oracle_name, bug.name).expect("a cell of the matrix"), pin) {
                    (Sight::Seen, Some(place)) => check_cell(oracle_name, bug, *place),
                    (Sight::Blind(_), None) => {}
                    (sight, pin) => panic!("{oracle_name} and {}: {sight:?}, and pinned to {pin:?}", bug.name),
                }
            }
            let of_oracle = pins.iter().filter(|((oracle, _), _)| oracle == oracle_name);
            check_silence(oracle_name, of_oracle.map(|(_, (group, _))| *group).collect());
        }
    });
}

/// The table of the document, with the reasons below it.
fn table() -> String {
    let mut table =
        format!("| bug | {} |\n|---|---|---|---|---|---|\n", ORACLES.map(|name| format!("`{name}`")).join(" | "));
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
    check_document(DOCUMENT, |text| {
        let start = text.find("| bug |").expect("the document has the table");
        format!("{}{}", &text[..start], table())
    });
}
