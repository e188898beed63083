//! Every command that a report prints to show a finding again is executed by a shell, exactly as it is printed, in the
//! directory in which the finding was made: it ends with 1 and says the same.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Finished, TestDir, limited, root};

/// What stands above the command in a report.
const HEADINGS: &[&str] = &["To see it again", "To generate it again", "To check it again"];

/// Runs a line of shell in a directory, with `txloom` on the path and some standard input.
fn shell(line: &str, directory: &Path, input: &str) -> Finished {
    let binary = Path::new(env!("CARGO_BIN_EXE_txloom")).parent().expect("a directory");
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(directory).env("PATH", path).env("NO_COLOR", "1").env("COLUMNS", "1000");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a shell");
    // A command that does not read it may have ended.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    Finished::from(child.wait_with_output().expect("it ends"))
}

/// The commands that a report prints.
fn commands(report: &str) -> Vec<String> {
    let lines: Vec<&str> = report.lines().collect();
    let below = lines.windows(2).filter(|pair| HEADINGS.contains(&pair[0])).map(|pair| pair[1].trim().to_string());
    let beside = lines.iter().filter_map(|line| line.split_once("to see it again: ")).map(|(_, command)| command);
    below.chain(beside.map(|command| command.trim().to_string())).collect()
}

/// Runs a command that finds something, and then every command that its report prints. Each must say the words.
fn check(name: &'static str, line: &'static str, input: &'static str, words: &'static str) {
    limited(move || {
        let directory = TestDir::new(name);
        let found = shell(line, directory.path(), input);
        assert_eq!(found.code, 1, "{line}\n{}{}", found.stdout, found.stderr);
        assert!(found.stdout.contains(words), "no `{words}` in\n{}", found.stdout);
        let commands = commands(&found.stdout);
        assert!(!commands.is_empty(), "no command in\n{}", found.stdout);
        for command in commands {
            let again = shell(&command, directory.path(), "");
            assert_eq!(again.code, 1, "{command}\n{}{}", again.stdout, again.stderr);
            assert!(again.stdout.contains(words), "no `{words}` after {command}\n{}", again.stdout);
        }
    });
}

/// A file of the repository.
fn example(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

const LOST: &str = "-- @isolation read committed
/*init*/ CREATE TABLE t (n INT);
/*init*/ INSERT INTO t VALUES (0);
/*a*/ BEGIN;
/*a*/ SELECT n FROM t;
/*b*/ UPDATE t SET n = 5;
/*a*/ UPDATE t SET n = 1;
/*a*/ COMMIT;
";

#[test]
fn of_a_hunt_in_two_targets() {
    let hunt = "txloom hunt model model+lost-update --stop-on-first --level serializable";
    check("replay-diff", hunt, "", "fails (error serialization-failure) on model, but succeeds on model+lost-update");
}

#[test]
fn of_a_hunt_in_one_target() {
    let hunt = "txloom hunt model+lost-update --oracle graph --profile txcheck --seed 1 --stop-on-first";
    check("replay-graph", hunt, "", "both replaced version 0 of");
}

#[test]
fn of_a_hunt_into_a_directory_with_an_unusual_name() {
    let hunt = "txloom hunt model model+lost-update --stop-on-first -o \"it's found\" --statement-limit 9s";
    check("replay-out", hunt, "", "on model, but");
}

#[test]
fn of_a_storm_in_a_hunt() {
    let hunt = "txloom hunt model+write-skew --level serializable --oracle crash --storm --stop-on-first --cases 640";
    check("replay-hunt-storm", hunt, "", "is violated");
}

#[test]
fn of_a_storm() {
    check("replay-storm", "txloom storm model+write-skew --level serializable --for 2s", "", "is violated");
}

#[test]
fn of_the_demonstration() {
    limited(|| {
        let directory = TestDir::new("replay-demonstration");
        let shown = shell("txloom hunt --cases 1", directory.path(), "");
        let command = commands(&shown.stdout).into_iter().next().expect("a command");
        let again = shell(&command, directory.path(), "");
        assert_eq!(again.code, 1, "{command}\n{}{}", again.stdout, again.stderr);
        // The balance is wrong, and the report says what it should be.
        let harm = "the table accounts would have held";
        assert!(shown.stdout.contains(harm) && again.stdout.contains(harm), "{}{}", shown.stdout, again.stdout);
    });
}

#[test]
fn of_a_reduction_from_the_standard_input() {
    let reduce = "txloom reduce - --on model --oracle serial";
    check("replay-reduce-stdin", reduce, LOST, "would have returned");
}

#[test]
fn of_a_reduction_of_a_file() {
    let reduce = "cat > 'a case.sql'; txloom reduce 'a case.sql' --on model --oracle serial";
    check("replay-reduce", reduce, LOST, "would have returned");
}

#[test]
fn of_a_run_of_the_standard_input() {
    check("replay-run-stdin", "txloom run - --on model --oracle serial", LOST, "would have returned");
}

#[test]
fn of_a_run_at_a_level_that_the_case_does_not_say() {
    let run = "grep -v isolation > c.sql; txloom run c.sql --on model --oracle serial --level rc --policy wait";
    check("replay-run", run, LOST, "would have returned");
}

#[test]
fn of_an_analysis() {
    limited(|| {
        let directory = TestDir::new("replay-analyze");
        directory.file("seats.sql", &example("corpus/programs/agenda-1.sql"));
        let line = "txloom analyze seats.sql --run -o 'what is found'";
        let found = shell(line, directory.path(), "");
        assert_eq!(found.code, 1, "{}{}", found.stdout, found.stderr);
        let commands = commands(&found.stdout);
        assert!(!commands.is_empty(), "{}", found.stdout);
        for command in commands {
            let again = shell(&command, directory.path(), "");
            assert_eq!(again.code, 1, "{command}\n{}{}", again.stdout, again.stderr);
            let words = "the table flights would have held";
            assert!(found.stdout.contains(words) && again.stdout.contains(words), "{}", again.stdout);
        }
    });
}

#[test]
fn silence_leaves_no_directory() {
    limited(|| {
        let directory = TestDir::new("replay-silence");
        let hunt = shell("txloom hunt model model --cases 5", directory.path(), "");
        assert_eq!(hunt.code, 0, "{}{}", hunt.stdout, hunt.stderr);
        assert!(!directory.path().join("txloom-findings").exists());
    });
}
