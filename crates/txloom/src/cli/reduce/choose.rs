//! Which violation is kept: that of the oracle that was asked for, or else the first that any of them finds.

use txloom_core::case::Case;
use txloom_core::finding::Finding;
use txloom_core::oracle::{self, Oracle, Runner, Verdict};

use super::super::failure::Failure;
use super::expectations::Expectations;

/// A violation, and the oracle that sees it.
pub(super) struct Chosen {
    /// The oracle.
    pub(super) oracle: Box<dyn Oracle>,
    /// What it says.
    pub(super) finding: Finding,
}

/// Looks for something wrong with a case.
pub(super) fn choose(asked: Option<&str>, file: &str, case: &Case, runner: &mut dyn Runner) -> Result<Chosen, Failure> {
    let mut silent = Vec::new();
    for oracle in candidates(asked, runner) {
        let why = match oracle.judge(case, runner)? {
            Verdict::Violated(findings) => match findings.into_iter().next() {
                Some(finding) => return Ok(Chosen { oracle, finding }),
                None => "it holds".to_string(),
            },
            Verdict::Holds(witness) if witness.is_empty() => "it holds".to_string(),
            Verdict::Holds(witness) => format!("it holds: {witness}"),
            Verdict::Vacuous(reason) | Verdict::Unknown(reason) | Verdict::Unstable(reason) => reason,
        };
        silent.push(format!("\n  {}: {why}", oracle.name()));
    }
    Err(nothing_wrong(asked, file, &silent, runner))
}

/// The oracles that are asked, in order.
fn candidates(asked: Option<&str>, runner: &dyn Runner) -> Vec<Box<dyn Oracle>> {
    if let Some(name) = asked {
        return oracle::by_name(name).into_iter().collect();
    }
    let compared = Some(oracle::diff::NAME).filter(|_| runner.targets().len() > 1);
    let names = compared.into_iter().chain([
        oracle::serial::NAME,
        oracle::graph::NAME,
        oracle::invariant::NAME,
        oracle::crash::NAME,
    ]);
    let expectations: Box<dyn Oracle> = Box::new(Expectations);
    [expectations].into_iter().chain(names.filter_map(oracle::in_hunt)).collect()
}

fn nothing_wrong(asked: Option<&str>, file: &str, silent: &[String], runner: &dyn Runner) -> Failure {
    let targets: Vec<String> = runner.targets().into_iter().map(|target| target.target).collect();
    let targets = targets.join(" ");
    let hint = match asked {
        Some(_) => "ask another oracle, or on another target",
        None if runner.targets().len() > 1 => "ask one oracle with --oracle NAME, or on other targets",
        None => "ask one oracle whatever the level promises (--oracle serial), or compare two targets (--on A B)",
    };
    Failure::bad_input(format!(
        "{file}: shows nothing wrong on {targets} that could be kept{}\n  {hint}",
        silent.concat()
    ))
}
