//! Planted bugs of `model` in storms: every cell of the document that says *seen* is run.

use txloom_core::planted::{ALL, Place, PlantedBug};

use crate::storm::reported;
use crate::support::{limited, root};

/// The profiles, in the order of the table's columns.
const PROFILES: [&str; 4] = ["registers", "list-append", "ycsb-sql", "dbstorm"];
/// Transactions, keys and the number of seeds; the next size is tried where the one before shows nothing. A bug shows only
/// if the right transactions meet: of storms of the larger size, about four in ten show the rarest one (phantoms).
const SIZES: [(usize, usize, u64); 2] = [(300, 6, 2), (2_000, 10, 12)];

/// The rows of the table: a bug, and the cell of each profile.
fn rows() -> Vec<(String, Vec<String>)> {
    let text = std::fs::read_to_string(root().join("docs/reference/planted-bugs.md")).expect("the page is there");
    let section = text.split("\n## ").find(|section| section.starts_with("Which storm")).expect("the section");
    let lines = section.lines().filter(|line| line.starts_with("| `"));
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect::<Vec<_>>();
    lines
        .map(cells)
        .filter(|cells| cells.len() == PROFILES.len() + 1)
        .map(|mut cells| (cells.remove(0).trim_matches('`').to_string(), cells))
        .collect()
}

fn check_seen(profile: &str) {
    let column = PROFILES.iter().position(|name| *name == profile).expect("a column");
    let rows = rows();
    for bug in ALL.iter().filter(|bug| bug.place == Place::Model) {
        let (_, cells) = rows.iter().find(|(name, _)| name == bug.name).unwrap_or_else(|| panic!("no {}", bug.name));
        match cells[column].as_str() {
            "seen" => assert!(is_found(bug, profile), "{profile} does not see {}", bug.name),
            reason => assert!(reason.starts_with("n/a ("), "{}: {reason} is no reason", bug.name),
        }
    }
}

fn is_found(bug: &PlantedBug, profile: &str) -> bool {
    let storms = SIZES.iter().flat_map(|size| bug.levels.iter().rev().map(move |level| (size, level)));
    storms.into_iter().any(|((transactions, keys, seeds), level)| {
        (1..=*seeds).any(|seed| {
            let level = level.replace(' ', "-");
            let size = format!("--transactions {transactions} --keys {keys} --seed {seed}");
            let (report, code) = reported(&format!("model+{} --profile {profile} --level {level} {size}", bug.name));
            assert!([0, 1].contains(&code), "{}: {report:?}", bug.name);
            code == 1
        })
    })
}

#[test]
fn registers_see_their_bugs() {
    limited(|| check_seen("registers"));
}

#[test]
fn lists_see_their_bugs() {
    limited(|| check_seen("list-append"));
}

#[test]
fn ycsb_sees_its_bugs() {
    limited(|| check_seen("ycsb-sql"));
}

#[test]
fn dbstorm_sees_its_bugs() {
    limited(|| check_seen("dbstorm"));
}
