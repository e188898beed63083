//! The planted bugs: the case of each behaves on the healthy target, and not on the one with the bug; and the document
//! lists them all.

use txloom::corpus;
use txloom_core::case::check::check;
use txloom_core::level::LevelName;
use txloom_core::planted::{self, Place, PlantedBug};

use crate::support::{check_document, limited, run, runner};

/// The table of this document is written by this test, under `TXLOOM_UPDATE_GOLDEN=1`.
const DOCUMENT: &str = "docs/reference/planted-bugs.md";

/// The bug that a case shows: the one that gives the file its name.
fn shown_by(case: &corpus::CorpusCase) -> &'static PlantedBug {
    let name = case.path.trim_start_matches("planted/").trim_end_matches(".sql");
    planted::by_name(name).unwrap_or_else(|| panic!("{}: there is no such bug", case.path))
}

#[test]
fn every_bug_of_the_model_has_a_case() {
    let shown: Vec<&str> = corpus::PLANTED.iter().map(|case| shown_by(case).name).collect();
    for bug in planted::ALL.iter().filter(|bug| bug.place == Place::Model) {
        assert!(shown.contains(&bug.name), "corpus/planted/{}.sql is missing", bug.name);
    }
}

#[test]
fn every_case_shows_its_bug_and_nothing_without_it() {
    limited(|| {
        let mut healthy = runner("model");
        let levels = healthy.engines_mut()[0].info().levels.clone();
        for corpus_case in corpus::PLANTED {
            let bug = shown_by(corpus_case);
            let mut with_bug = runner(&format!("model+{}", bug.name));
            let shows_at = |level: &&LevelName| bug.levels.is_empty() || bug.levels.contains(&level.as_str());
            for level in levels.iter().filter(shows_at) {
                let mut case = corpus_case.parse();
                case.set_level(level.clone());
                let mismatches = check(&case, &run(&mut healthy, &case));
                assert!(mismatches.is_empty(), "{} on the healthy model at {level}: {mismatches:?}", corpus_case.path);
                let mismatches = check(&case, &run(&mut with_bug, &case));
                assert!(!mismatches.is_empty(), "{} does not show its bug at {level}", corpus_case.path);
            }
        }
    });
}

fn table() -> String {
    let mut table = "| name | in | what it does | stands for | shows at |\n|---|---|---|---|---|\n".to_string();
    for bug in planted::ALL {
        let place = match bug.place {
            Place::Model => "`model`",
            Place::AnyEngine => "any target",
        };
        let levels = if bug.levels.is_empty() { "every level".to_string() } else { bug.levels.join(", ") };
        table += &format!("| `{}` | {place} | {} | {} | {levels} |\n", bug.name, bug.what, bug.source);
    }
    table
}

#[test]
fn the_document_lists_every_bug() {
    check_document(DOCUMENT, |text| {
        let start = text.find("| name |").expect("the document has the table");
        let end = start + text[start..].find("\n\n").map_or(text.len() - start, |end| end + 1);
        format!("{}{}{}", &text[..start], table(), &text[end..])
    });
}
