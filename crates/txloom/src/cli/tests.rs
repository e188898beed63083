//! The commands from flags to exit code, on engines that are played: no database is needed to see what people see.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::Parser as _;
use txloom_core::engine::{EngineError, EngineErrorKind, EngineInfo};
use txloom_core::oracle::{Mode, RunError, RunRequest, Runner};
use txloom_core::outcome::ErrorClass;
use txloom_core::trace::Trace;

use super::args::{RunArgs, RunFormat};
use super::run::run_on;
use super::settings::RunSettings;
use super::{Failure, Streams, cases, guarded};
use crate::exit::Exit;
use crate::report::fixtures::{Play, changed, error, ok, table};
use crate::report::{golden, json};

const CASE: &str = "\
-- @case 1
-- The second update waits for the first.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*a*/ BEGIN;
/*a*/ UPDATE t SET v = 1;
/*b*/ UPDATE t SET v = 2;
-- > blocked
-- > affected 1
/*a*/ COMMIT;
-- > resumes b
-- @final t (1, 2)
";

/// What happens in [`CASE`] on an engine that blocks.
fn waiting() -> Play {
    Play::new("a b")
        .done("a", "BEGIN", ok())
        .done("a", "UPDATE t SET v = 1", changed(1))
        .waits("b", "UPDATE t SET v = 2", "a")
        .done("a", "COMMIT", ok())
        .goes_on("b", changed(1))
        .ends_with("t", table("id v", &[&["1", "2"]]))
}

/// What happens in [`CASE`] on an engine that refuses.
fn refusing() -> Play {
    Play::new("a b")
        .on("model", "1")
        .done("a", "BEGIN", ok())
        .done("a", "UPDATE t SET v = 1", changed(1))
        .done("b", "UPDATE t SET v = 2", error(ErrorClass::LockTimeout, "busy", "somebody else writes"))
        .done("a", "COMMIT", ok())
        .ends_with("t", table("id v", &[&["1", "1"]]))
}

/// A stream whose contents the test can look at.
#[derive(Clone, Default)]
struct Tape(Rc<RefCell<Vec<u8>>>);

impl Tape {
    fn text(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).unwrap()
    }
}

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A pipe whose reader has gone.
struct ClosedPipe;

impl Write for ClosedPipe {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Plays the same traces again and again; for each target, one per execution in turn.
struct PlayedRunner {
    plays: Vec<Vec<Result<Trace, &'static str>>>,
    runs: usize,
}

impl PlayedRunner {
    fn new(plays: Vec<Vec<Result<Trace, &'static str>>>) -> PlayedRunner {
        PlayedRunner { plays, runs: 0 }
    }

    fn one(trace: Trace) -> PlayedRunner {
        PlayedRunner::new(vec![vec![Ok(trace)]])
    }
}

impl Runner for PlayedRunner {
    fn targets(&self) -> Vec<EngineInfo> {
        let info = |plays: &Vec<Result<Trace, &str>>| plays.iter().flatten().next().unwrap().engine.clone();
        self.plays.iter().map(info).collect()
    }

    fn run(&mut self, request: &RunRequest<'_>) -> Result<Trace, RunError> {
        assert!(matches!(request.mode, Mode::Scheduled(_)));
        let plays = &self.plays[request.target];
        self.runs += 1;
        match &plays[(self.runs - 1) % plays.len()] {
            Ok(trace) => Ok(trace.clone()),
            Err(problem) if *problem == "unreachable" => {
                Err(EngineError::new("postgres", EngineErrorKind::Unreachable("it is gone".to_string())).into())
            }
            Err(problem) => Err(RunError::Case((*problem).to_string())),
        }
    }
}

/// A directory of a test's own, removed at its end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("txloom-cli-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn args(cases: &[&Path]) -> RunArgs {
    let cases = cases.iter().map(|path| path.to_path_buf()).collect();
    RunArgs { cases, statement_limit: "10s".to_string(), ..RunArgs::default() }
}

/// Runs the command with played engines; gives its exit code, and what it printed and complained.
fn play(args: &RunArgs, input: &str, runner: &mut dyn Runner) -> (Exit, String, String) {
    let (out, err) = (Tape::default(), Tape::default());
    let mut streams = Streams::of(input, out.clone(), err.clone());
    let exit = guarded(&mut streams, |streams| {
        let settings = RunSettings::new(args)?;
        let cases = cases::load(&settings.cases, streams)?;
        run_on(&settings, &cases, runner, streams)
    });
    (exit, out.text(), err.text())
}

#[test]
fn a_case_from_the_standard_input() {
    let (exit, out, err) = play(&args(&[Path::new("-")]), CASE, &mut PlayedRunner::one(waiting().end()));
    assert_eq!((exit, err.as_str()), (Exit::Clean, ""));
    golden::check("command_run.txt", &out);
}

#[test]
fn unmet_expectations_are_found() {
    let (exit, out, _) = play(&args(&[Path::new("-")]), CASE, &mut PlayedRunner::one(refusing().end()));
    assert_eq!(exit, Exit::Found);
    golden::check("command_unmet.txt", &out);
}

#[test]
fn directories_are_run_in_order_and_programs_in_them_are_not_cases() {
    let directory = Directory::new("order");
    directory.write("b/second.sql", CASE);
    directory.write("a.sql", CASE);
    directory.write("b/notes.txt", "not a case");
    directory.write("b/bank.sql", "-- @program 1\nCREATE PROCEDURE …");
    let quiet = RunArgs { quiet: true, ..args(&[&directory.0]) };
    let (exit, out, err) = play(&quiet, "", &mut PlayedRunner::one(waiting().end()));
    let place = directory.0.display();
    assert_eq!((exit, err.as_str()), (Exit::Clean, ""));
    assert_eq!(
        out.replace(&place.to_string(), "DIR"),
        "✓ DIR/a.sql\n✓ DIR/b/second.sql\n\n✓ 2 cases on 1 target: 2 as expected\n"
    );
}

#[test]
fn a_run_that_comes_out_differently_is_not_trusted() {
    let twice = RunArgs { twice: true, ..args(&[Path::new("-")]) };
    let mut steady = PlayedRunner::one(waiting().end());
    assert_eq!(play(&twice, CASE, &mut steady).0, Exit::Clean);
    assert_eq!(steady.runs, 2);
    let mut fickle = PlayedRunner::new(vec![vec![Ok(waiting().end()), Ok(refusing().end())]]);
    let (exit, out, _) = play(&twice, CASE, &mut fickle);
    assert_eq!(exit, Exit::NonDeterministic);
    assert!(out.contains("The second execution differs first at"), "{out}");
    assert!(out.contains("came out differently the second time"), "{out}");
}

#[test]
fn targets_are_compared() {
    let waits = || vec![Ok(waiting().end())];
    let newer = vec![Ok(waiting().on("postgres:17", "17.2").end())];
    let mut runner = PlayedRunner::new(vec![waits(), newer, vec![Ok(refusing().end())]]);
    let json = RunArgs { format: RunFormat::Json, ..args(&[Path::new("-")]) };
    let (exit, out, _) = play(&json, CASE, &mut runner);
    assert_eq!(exit, Exit::Found);
    let report = json::parse(&out).unwrap();
    let crate::report::model::Body::Run(run) = report.body else { panic!("{out}") };
    let run = &run.cases[0].runs[0];
    let difference = &run.differences[0];
    assert_eq!(run.differences.len(), 1);
    assert_eq!((difference.first_target.as_str(), difference.other_target.as_str()), ("postgres", "model"));
    assert_eq!(difference.difference.first, "waits for a, then 1 row changed");
    assert_eq!(difference.difference.other, "error lock-timeout");
    let crate::report::model::RunResult::Observed(newer) = &run.targets[1].result else { panic!("{out}") };
    assert_eq!(newer.same_as.as_deref(), Some("postgres"));
}

#[test]
fn what_happens_is_recorded_in_place() {
    let directory = Directory::new("record");
    let path = directory.write("case.sql", CASE);
    let record = RunArgs { record: true, ..args(&[&path]) };
    let (exit, _, err) = play(&record, "", &mut PlayedRunner::one(refusing().end()));
    assert_eq!((exit, err.as_str()), (Exit::Clean, ""));
    let recorded = std::fs::read_to_string(&path).unwrap();
    assert!(recorded.contains("/*b*/ UPDATE t SET v = 2;\n-- > error lock-timeout\n"), "{recorded}");
    assert!(recorded.contains("-- @final t (1, 1)\n"), "{recorded}");
    let again = play(&args(&[&path]), "", &mut PlayedRunner::one(refusing().end()));
    assert_eq!(again.0, Exit::Clean, "{}", again.1);
}

#[test]
fn nothing_is_recorded_when_a_target_fails() {
    let directory = Directory::new("unrecorded");
    let path = directory.write("case.sql", CASE);
    let record = RunArgs { record: true, twice: true, ..args(&[&path]) };
    let mut fickle = PlayedRunner::new(vec![vec![Ok(waiting().end()), Ok(refusing().end())]]);
    assert_eq!(play(&record, "", &mut fickle).0, Exit::NonDeterministic);
    let mut failing = PlayedRunner::new(vec![vec![Ok(waiting().end()), Err("no such session")]]);
    assert_eq!(play(&record, "", &mut failing).0, Exit::BadInput);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), CASE);
}

#[test]
fn a_case_that_fails_is_told_beside_the_report_or_in_it() {
    let fails = || vec![Err("no such session"), Ok(waiting().on("model", "1").end())];
    let (exit, out, err) = play(&args(&[Path::new("-")]), CASE, &mut PlayedRunner::new(vec![fails()]));
    assert_eq!((exit, out.as_str(), err.as_str()), (Exit::BadInput, "", "txloom: - on model: no such session\n"));
    let mut runner = PlayedRunner::new(vec![fails(), vec![Ok(waiting().end())]]);
    let (exit, out, err) = play(&args(&[Path::new("-")]), CASE, &mut runner);
    assert_eq!((exit, err.as_str()), (Exit::BadInput, ""));
    assert!(out.contains("✗ model 1: failed: no such session"), "{out}");
}

#[test]
fn several_schedules_cannot_be_recorded() {
    let directory = Directory::new("schedules");
    let text = CASE.replace("/*init*/", "-- @schedule a a b a\n-- @schedule b a a a\n/*init*/");
    let path = directory.write("case.sql", &text);
    let record = RunArgs { record: true, ..args(&[&path]) };
    let mut streams = Streams::of("", Tape::default(), Tape::default());
    let failure = super::run::run(&record, &mut streams).unwrap_err();
    assert!(failure.message.contains("it has several schedules"), "{}", failure.message);
    let (exit, out, _) = play(&args(&[&path]), "", &mut PlayedRunner::one(waiting().end()));
    assert_eq!(exit, Exit::Clean);
    assert!(out.contains("a a b a (1 of 2)") && out.contains("b a a a (2 of 2)"), "{out}");
}

#[test]
fn a_lost_server_ends_the_command_but_not_what_was_shown() {
    let directory = Directory::new("lost");
    let (first, second) = (directory.write("1.sql", CASE), directory.write("2.sql", CASE));
    let mut runner = PlayedRunner::new(vec![vec![Ok(waiting().end()), Err("unreachable")]]);
    let (exit, out, err) = play(&args(&[&first, &second]), "", &mut runner);
    assert_eq!(exit, Exit::Unreachable);
    assert!(out.contains("1.sql") && !out.contains("2.sql"), "{out}");
    assert_eq!(err, "txloom: postgres: it is gone\n");
}

#[test]
fn a_level_that_a_target_lacks_is_said_before_anything_runs() {
    let chaos = RunArgs { level: Some("snapshot".to_string()), ..args(&[Path::new("-")]) };
    let mut runner = PlayedRunner::one(waiting().end());
    let (exit, _, err) = play(&chaos, CASE, &mut runner);
    assert_eq!((exit, runner.runs), (Exit::BadInput, 0));
    let expected = "does not have the isolation level `snapshot isolation` (it has: read committed, repeatable read";
    assert!(err.contains(expected), "{err}");
}

#[track_caller]
fn check_bad_input(paths: &[&Path], input: &str, expect: &str) {
    let (exit, out, err) = play(&args(paths), input, &mut PlayedRunner::one(waiting().end()));
    assert_eq!((exit, out.as_str()), (Exit::BadInput, ""));
    assert!(err.contains(expect), "{err}");
}

#[test]
fn bad_input_is_explained() {
    let directory = Directory::new("bad");
    let stdin = Path::new("-");
    check_bad_input(&[stdin], "-- @case 1\n-- @isolaton serializable\n", "-:2:5: ");
    check_bad_input(&[stdin], "-- @case 1\n-- @isolaton serializable\n", "\n  -- @isolaton serializable\n      ^\n");
    check_bad_input(&[&directory.0.join("nowhere.sql")], "", "nowhere.sql: No such file or directory");
    check_bad_input(&[&directory.0], "", "there are no cases (*.sql) in the directory");
    let latin = directory.0.join("latin.sql");
    std::fs::write(&latin, b"-- caf\xe9").unwrap();
    check_bad_input(&[&latin], "", "it is not UTF-8 text");
    let lonely = directory.write("lonely.sql", "-- @case 1\n-- @program gone.sql\n/*a*/ SELECT 1;\n");
    check_bad_input(&[&lonely], "", "gone.sql: No such file or directory");
    directory.write("bank.sql", "-- @program 1\nCREATE PROCEDURE pay()\nBEGIN\n  SET amount = 1;\nEND;\n");
    let calling = directory.write("calling.sql", "-- @case 1\n-- @program bank.sql\n/*a*/ -- call pay()\n");
    check_bad_input(&[&calling], "", "bank.sql:4:");
    // All that is wrong is told at once.
    check_bad_input(&[&latin, &lonely], "", "gone.sql");
    check_bad_input(&[&latin, &lonely], "", "latin.sql");
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let directory = Directory::new("pipe");
    let (first, second) = (directory.write("1.sql", CASE), directory.write("2.sql", CASE));
    let err = Tape::default();
    let mut streams = Streams::of("", ClosedPipe, err.clone());
    let mut runner = PlayedRunner::one(refusing().end());
    let settings = RunSettings::new(&args(&[&first, &second])).unwrap();
    let exit = guarded(&mut streams, |streams| {
        let cases = cases::load(&settings.cases, streams)?;
        run_on(&settings, &cases, &mut runner, streams)
    });
    assert_eq!((exit, err.text().as_str(), runner.runs), (Exit::Found, "", 1));
}

#[test]
fn a_report_may_go_to_a_file() {
    let directory = Directory::new("out");
    let path = directory.0.join("report.txt");
    let out = Tape::default();
    let mut streams = Streams::of("", out.clone(), Tape::default());
    streams.redirect(&path).unwrap();
    streams.print("told\n").unwrap();
    assert_eq!(streams.finish(Exit::Undecided), Exit::Undecided);
    assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), out.text().as_str()), ("told\n", ""));
    let failure = streams.redirect(&directory.0.join("no/such/file")).unwrap_err();
    assert!(failure.message.contains("cannot write to"), "{}", failure.message);
}

#[test]
fn a_report_without_a_text_makes_no_file() {
    let directory = Directory::new("empty");
    let path = directory.0.join("report.txt");
    let mut streams = Streams::of("", Tape::default(), Tape::default());
    streams.redirect(&path).unwrap();
    assert_eq!(streams.finish(Exit::BadInput), Exit::BadInput);
    assert_eq!(std::fs::read_dir(&directory.0).unwrap().count(), 0);
}

#[test]
fn a_report_that_cannot_be_written_is_printed_elsewhere() {
    for (exit, expect) in [(Exit::Clean, Exit::FileFailed), (Exit::Found, Exit::Found)] {
        let (out, err) = (Tape::default(), Tape::default());
        let mut streams = Streams::of("", out.clone(), err.clone());
        streams.redirect(Path::new("/dev/full")).unwrap();
        streams.print("told\n").unwrap();
        assert_eq!(streams.finish(exit), expect);
        assert_eq!(out.text(), "told\n");
        assert!(err.text().starts_with("txloom: cannot write to /dev/full: "), "{}", err.text());
    }
}

#[test]
fn usage_errors_are_one_paragraph() {
    let check = |flags: &[&str], expect: &str| {
        let error = super::Args::try_parse_from(["txloom"].iter().chain(flags)).unwrap_err();
        assert_eq!(super::usage_error(&error.render().to_string()), expect);
    };
    check(
        &["rum"],
        "txloom: unrecognized subcommand 'rum'\n  tip: a similar subcommand exists: 'run'\n  see `txloom --help`",
    );
    check(
        &["run", "x", "--policy", "hope"],
        "txloom: invalid value 'hope' for '--policy <POLICY>'\n  [possible values: skip, wait]\n  see `txloom --help`",
    );
}

#[test]
fn a_defect_of_ours_is_admitted() {
    let err = Tape::default();
    let mut streams = Streams::of("", Tape::default(), err.clone());
    let exit = guarded(&mut streams, |_| -> Result<Exit, Failure> { panic!("a test of panics: all is well") });
    assert_eq!(exit, Exit::Internal);
    assert!(err.text().contains("please report it"), "{}", err.text());
}
