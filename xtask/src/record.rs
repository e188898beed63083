//! Writes into the corpus of bugs what every target answers at every level: `txloom run --record` for one level at a time
//! could not guard by level. Read the diff critically before you commit it.

use anyhow::{Context, Result};
use txloom::corpus::{self, CorpusCase};
use txloom::engines::{self, Target};
use txloom::execute::EngineRunner;
use txloom_core::case::{print, record};
use txloom_core::oracle::{Mode, RunError, RunRequest, Runner};
use txloom_core::schedule::Policy;
use txloom_core::trace::Trace;

/// Records on these targets.
pub(crate) fn run(targets: &[String]) -> Result<bool> {
    anyhow::ensure!(!targets.is_empty(), "name the targets to record");
    let open = |target: &String| -> Result<_> { Ok(engines::open(&Target::parse(target)?)?) };
    let mut runner = EngineRunner::new(targets.iter().map(open).collect::<Result<_>>()?);
    for case in corpus::BUGS {
        let path = format!("corpus/{}", case.path);
        let traces = traces(&mut runner, case)?;
        let recorded = record::record(&case.parse(), &traces.iter().collect::<Vec<_>>());
        std::fs::write(&path, print::print(&recorded)).with_context(|| format!("writing {path}"))?;
        println!("{path}: {} runs", traces.len());
    }
    Ok(true)
}

/// The runs at every level of every target that understands the case's setup.
fn traces(runner: &mut EngineRunner, corpus_case: &CorpusCase) -> Result<Vec<Trace>> {
    let mut traces = Vec::new();
    for (target, info) in runner.targets().into_iter().enumerate() {
        for level in &info.levels {
            let mut case = corpus_case.parse();
            case.set_level(level.clone());
            let request = RunRequest { case: &case, target, policy: Policy::Skip, mode: Mode::Scheduled(None) };
            match runner.run(&request) {
                Ok(trace) => traces.push(trace),
                Err(RunError::Setup { .. }) => {}
                Err(error) => return Err(error).with_context(|| format!("{} on {}", corpus_case.path, info.target)),
            }
        }
    }
    Ok(traces)
}
