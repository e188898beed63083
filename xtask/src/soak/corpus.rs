//! *Divergence*: the whole corpus runs again and again on each target, every case twice a round (this is what
//! `txloom run --twice` does), one isolation level a round in turn. Every run must have the transcript of the first one:
//! the same waits, the same victim of every deadlock, the same rows. The first transcripts are kept in files, so that
//! they bind later starts, too.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use txloom::contract::is_for;
use txloom::corpus::{self, CorpusCase};
use txloom::engines::{self, Target};
use txloom::execute::EngineRunner;
use txloom_core::level::LevelName;
use txloom_core::oracle::{Mode, RunRequest, Runner};
use txloom_core::schedule::Policy;
use txloom_core::trace::compare::transcript;

use super::{FOLDER, Section, TARGETS, more_targets, short};

/// Those of the further targets that run the whole corpus, too: newer servers of this family are too different to be left
/// out.
const MORE_FAMILY: &str = "mysql";

/// One line of the table.
struct Line {
    target: String,
    rounds: usize,
    runs: usize,
    deadlock_runs: usize,
    divergences: usize,
    seconds: f64,
}

/// Runs what is left to do.
pub(super) fn run(rounds: usize) -> Result<Section> {
    let more = more_targets();
    let more = more.iter().map(String::as_str).filter(|target| target.starts_with(MORE_FAMILY));
    let lines = TARGETS.iter().copied().chain(more).map(|target| soak_target(target, rounds));
    let lines = lines.collect::<Result<Vec<Line>>>()?;
    let met = lines.iter().all(|line| line.divergences == 0 && line.rounds >= rounds);
    Ok(Section { text: render(&lines), met })
}

fn soak_target(target: &str, rounds: usize) -> Result<Line> {
    let folder = Path::new(FOLDER).join(target.replace(['/', '@'], "_"));
    std::fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let mut line = load(&folder, target);
    if line.rounds >= rounds {
        return Ok(line);
    }
    let engine = engines::open(&Target::parse(target)?)?;
    let levels = engine.info().levels.clone();
    let dialect = engine.info().dialect.name();
    let mut runner = EngineRunner::new(vec![engine]);
    while line.rounds < rounds {
        let level = &levels[line.rounds % levels.len()];
        let start = Instant::now();
        for case in corpus::ANOMALIES.iter().chain(corpus::CONTRACT).filter(|case| is_for(case, dialect)) {
            run_case(&mut runner, case, level, &folder, &mut line)?;
        }
        line.seconds += start.elapsed().as_secs_f64();
        line.rounds += 1;
        save(&folder, &line)?;
        if line.rounds.is_multiple_of(50) {
            println!("{target}: {} rounds, {} runs, {} divergences", line.rounds, line.runs, line.divergences);
        }
    }
    Ok(line)
}

fn run_case(
    runner: &mut EngineRunner,
    corpus_case: &CorpusCase,
    level: &LevelName,
    folder: &Path,
    line: &mut Line,
) -> Result<()> {
    let mut case = corpus_case.parse();
    case.set_level(level.clone());
    let name = format!("{}@{level}.txt", corpus_case.path.replace('/', "-")).replace(' ', "-");
    let reference: PathBuf = folder.join(&name);
    for _ in 0..2 {
        let request = RunRequest { case: &case, target: 0, policy: Policy::Skip, mode: Mode::Scheduled(None) };
        let trace = runner.run(&request).with_context(|| format!("running {}", corpus_case.path))?;
        let text = transcript(&trace);
        line.runs += 1;
        line.deadlock_runs += usize::from(text.contains("error deadlock"));
        match std::fs::read_to_string(&reference) {
            Err(_) => std::fs::write(&reference, &text)?,
            Ok(expected) if expected == text => {}
            Ok(_) => {
                line.divergences += 1;
                let path = folder.join(format!("DIVERGED-{}-{name}", line.divergences));
                std::fs::write(&path, &text)?;
                println!("{}: diverged; see {}", corpus_case.path, path.display());
            }
        }
    }
    Ok(())
}

fn load(folder: &Path, target: &str) -> Line {
    let text = std::fs::read_to_string(folder.join("progress")).unwrap_or_default();
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let number = |at: usize| numbers.get(at).copied().unwrap_or(0.0);
    Line {
        target: target.to_string(),
        rounds: number(0) as usize,
        runs: number(1) as usize,
        deadlock_runs: number(2) as usize,
        divergences: number(3) as usize,
        seconds: number(4),
    }
}

fn save(folder: &Path, line: &Line) -> Result<()> {
    let text = format!("{} {} {} {} {}", line.rounds, line.runs, line.deadlock_runs, line.divergences, line.seconds);
    let temporary = folder.join("progress.new");
    std::fs::write(&temporary, text)?;
    std::fs::rename(&temporary, folder.join("progress")).context("saving progress")
}

fn render(lines: &[Line]) -> String {
    let mut table = "The corpus again and again, every case twice a round, one level a round in turn.\n\n".to_string();
    table.push_str("| target | rounds | runs | runs with a deadlock | divergences | runs per second |\n");
    table.push_str("|---|---:|---:|---:|---:|---:|\n");
    for line in lines {
        let speed = line.runs as f64 / line.seconds.max(0.001);
        table.push_str(&format!(
            "| {} | {} | {} | {} | {} | {speed:.0} |\n",
            short(&line.target),
            line.rounds,
            line.runs,
            line.deadlock_runs,
            line.divergences
        ));
    }
    table
}
