//! What the isolation levels of an engine really mean: every anomaly of the corpus, run at every level.

use txloom_core::anomaly;
use txloom_core::engine::EngineInfo;
use txloom_core::level::matrix::Reaction;
use txloom_core::level::{LevelName, guarantees};
use txloom_core::oracle::{Mode, RunError, RunRequest, Runner};
use txloom_core::schedule::Policy;

use crate::corpus;
use crate::interrupt;

/// The reactions of one engine: anomalies down, levels across.
#[derive(Debug, Clone)]
pub struct Matrix {
    /// The engine.
    pub engine: EngineInfo,
    /// The levels, weakest first.
    pub levels: Vec<LevelName>,
    /// One row per anomaly, in the order of [`anomaly::ALL`].
    pub rows: Vec<Row>,
}

/// One anomaly at all levels.
#[derive(Debug, Clone)]
pub struct Row {
    /// The anomaly.
    pub anomaly: &'static anomaly::Anomaly,
    /// The case that provokes it, below `corpus/`.
    pub case: &'static str,
    /// What each level does about it.
    pub cells: Vec<Cell>,
}

/// One anomaly at one level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// What was seen; an error says why nothing was.
    pub reaction: Result<Reaction, String>,
    /// What the table of guarantees says; `None` if it does not know the level.
    pub known_prevented: Option<bool>,
}

impl Cell {
    /// Whether the run and the table of guarantees contradict each other.
    pub fn is_news(&self) -> bool {
        match (&self.reaction, self.known_prevented) {
            (Ok(reaction), Some(known)) => reaction.is_prevented() != known,
            _ => false,
        }
    }
}

/// Runs all anomalies at these levels (all of the engine's, if none is given) on one of the runner's targets.
pub fn measure(runner: &mut dyn Runner, target: usize, levels: &[LevelName]) -> Result<Matrix, RunError> {
    let engine = runner.targets()[target].clone();
    for level in levels {
        engine.require_level(level)?;
    }
    let levels = if levels.is_empty() { engine.levels.clone() } else { levels.to_vec() };
    let mut rows = Vec::new();
    for known in anomaly::ALL {
        for corpus_case in corpus::ANOMALIES {
            let case = corpus_case.parse();
            if case.anomaly() != Some(known.id) {
                continue;
            }
            let mut cells = Vec::new();
            for level in &levels {
                let mut case = case.clone();
                case.set_level(level.clone());
                let request = RunRequest { case: &case, target, policy: Policy::Skip, mode: Mode::Scheduled(None) };
                let reaction = match runner.run(&request) {
                    Ok(trace) => Reaction::of(&case, &trace).ok_or_else(|| "the server died".to_string()),
                    Err(error) if interrupt::requested() => return Err(error),
                    Err(error) => Err(error.to_string()),
                };
                let known_prevented = guarantees::of(&engine, level).map(|row| row.prevents(known));
                cells.push(Cell { reaction, known_prevented });
            }
            rows.push(Row { anomaly: known, case: corpus_case.path, cells });
        }
    }
    Ok(Matrix { engine, levels, rows })
}
