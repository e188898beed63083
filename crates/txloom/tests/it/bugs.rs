//! The corpus of bugs: every engine still answers what the files say, at every level.

use txloom::corpus;
use txloom_core::case::check::check;
use txloom_core::oracle::{Mode, RunError, RunRequest, Runner};
use txloom_core::schedule::Policy;

use crate::support::{limited, runner};

fn holds_on(target: &'static str) {
    limited(move || {
        let mut runner = runner(target);
        let levels = runner.engines_mut()[0].info().levels.clone();
        let mut complaints = Vec::new();
        let mut run_count = 0;
        for corpus_case in corpus::BUGS {
            for level in &levels {
                let mut case = corpus_case.parse();
                case.set_level(level.clone());
                let request = RunRequest { case: &case, target: 0, policy: Policy::Skip, mode: Mode::Scheduled(None) };
                let trace = match runner.run(&request) {
                    Ok(trace) => trace,
                    // Some cases are written in a language that not every engine speaks.
                    Err(RunError::Setup { .. }) => continue,
                    Err(error) => panic!("{}: {error}", corpus_case.path),
                };
                run_count += 1;
                for mismatch in check(&case, &trace) {
                    complaints.push(format!("{} at {level}: {mismatch:?}", corpus_case.path));
                }
            }
        }
        assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
        assert!(run_count >= 5 * levels.len(), "only {run_count} runs");
    });
}

#[test]
fn sqlite() {
    holds_on("sqlite");
}

#[test]
fn model() {
    holds_on("model");
}

#[test]
fn postgres() {
    holds_on("postgres");
}

#[test]
fn mariadb() {
    holds_on("mariadb");
}
