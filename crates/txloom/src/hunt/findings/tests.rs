//! Findings are written whole, are never written over, and can be read back.

use super::*;
use crate::engines::{self, Target};
use crate::hunt::tests::ByHand;
use crate::hunt::{Budget, Hunt, Summary};

/// A directory that is not there yet, and is removed at the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        Directory(std::env::temp_dir().join(format!("txloom-findings-{name}-{}", std::process::id())))
    }

    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A hunt that finds one thing.
fn summary() -> Summary {
    let engines = || {
        ["model", "model+lost-update"]
            .into_iter()
            .map(|target| engines::open(&Target::parse(target).unwrap()))
            .collect()
    };
    let hunt = Hunt { budget: Budget::cases(6), replay_flags: "--flag".to_string(), ..Hunt::new(&engines) };
    hunt.run_cases(&ByHand, &mut ()).unwrap()
}

#[test]
fn they_are_written_and_numbers_go_on() {
    let directory = Directory::new("written");
    let Summary { found, plan, .. } = summary();
    let mut findings = Findings::open(&directory.0).unwrap();
    let written = findings.write(&found[0], &plan).unwrap();
    let kind = found[0].finding.fingerprint.kind();
    let expected = [format!("0001-{kind}-original.sql"), format!("0001-{kind}.json"), format!("0001-{kind}.sql")];
    assert_eq!(directory.names(), expected);

    let text = fs::read_to_string(&written.case).unwrap();
    let read = case::parse(&text).expect("a finding's case can be read back");
    assert_eq!(case::print::print(&read), text);
    let file = written.case.display().to_string();
    let replay = format!("txloom run {file} --on model model+lost-update --oracle diff --flag");
    for part in [replay.as_str(), "profile dt2, seed 1, group 1, case 1", "model+lost-update 0.1.0"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let report = fs::read_to_string(written.case.with_extension("json")).unwrap();
    let Body::Findings(told) = json::parse(&report).unwrap().body else { panic!("{report}") };
    assert_eq!(told.findings, [written.report]);

    let mut again = Findings::open(&directory.0).unwrap();
    let second = again.write(&found[0], &plan).unwrap();
    assert!(second.case.ends_with(format!("0002-{kind}.sql")), "{}", second.case.display());
    assert_eq!(fs::read_to_string(&written.case).unwrap(), text, "what was there is as it was");
}

#[test]
fn summaries_are_kept_apart() {
    let directory = Directory::new("summaries");
    let findings = Findings::open(&directory.0).unwrap();
    let report = Report::new(Body::Findings(FindingsReport::default()));
    findings.write_summary(&report).unwrap();
    findings.write_summary(&report).unwrap();
    assert_eq!(directory.names(), ["hunt-2.json", "hunt.json"]);
}

#[test]
fn what_is_no_directory_is_refused_before_the_hunt() {
    let directory = Directory::new("refused");
    fs::create_dir_all(&directory.0).unwrap();
    let file = directory.0.join("file");
    fs::write(&file, "").unwrap();
    let error = Findings::open(&file).unwrap_err().to_string();
    assert!(error.starts_with("cannot use the directory") && error.contains("it is a file"), "{error}");
    let below = Findings::open(&file.join("below")).unwrap_err().to_string();
    assert!(below.contains("cannot make the directory"), "{below}");
}

#[test]
fn what_cannot_be_written_is_said_and_leaves_nothing_half_done() {
    let directory = Directory::new("gone");
    let Summary { found, plan, .. } = summary();
    let mut findings = Findings::open(&directory.0).unwrap();
    fs::remove_dir_all(&directory.0).unwrap();
    let error = findings.write(&found[0], &plan).unwrap_err().to_string();
    assert!(error.starts_with("cannot write") && error.contains("0001-"), "{error}");
    fs::create_dir_all(&directory.0).unwrap();
    findings.write(&found[0], &plan).expect("it can be written now");
    assert!(directory.names().iter().all(|name| !name.starts_with('.')), "{:?}", directory.names());
}

#[test]
fn a_directory_that_is_not_named_appears_with_the_first_finding() {
    let directory = Directory::new("later");
    let Summary { found, plan, .. } = summary();
    let mut findings = Findings::later(&directory.0);
    assert!(!findings.is_open() && !directory.0.exists());
    findings.write(&found[0], &plan).unwrap();
    assert!(findings.is_open() && directory.0.is_dir());
}

#[test]
fn two_hunts_at_once_do_not_write_over_each_other() {
    let directory = Directory::new("at-once");
    let Summary { found, plan, .. } = summary();
    let (mut one, mut other) = (Findings::open(&directory.0).unwrap(), Findings::open(&directory.0).unwrap());
    let first = one.write(&found[0], &plan).unwrap().case;
    assert_ne!(other.write(&found[0], &plan).unwrap().case, first);
}

#[test]
fn a_case_has_a_name_of_its_own() {
    let directory = Directory::new("case");
    let mut findings = Findings::later(&directory.0);
    let names = ["SELECT 1", "SELECT 2", "SELECT 1", "SELECT 2"].map(|text| findings.write_case("a", text).unwrap());
    assert_eq!(names, ["a.sql", "a-2.sql", "a.sql", "a-2.sql"].map(|name| directory.0.join(name)));
}
