//! One history, one level, one process: reads the file as `txloom check` does, and tells times and the peak of memory.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use txloom_core::history::check::{Checker, Verdict};
use txloom_core::history::formats::Reader;
use txloom_core::level::formal::Requirement;

use super::super::peak::peak_kib;

/// Files are read in pieces of this size.
const PIECE: usize = 1 << 20;
/// Longer than any bar; then it is undecided.
const LIMIT: Duration = Duration::from_secs(60);

/// What a check took.
pub(super) struct Measured {
    pub(super) read: f64,
    pub(super) check: f64,
    pub(super) peak_mib: f64,
    pub(super) verdict: String,
}

impl Measured {
    pub(super) fn total(&self) -> f64 {
        self.read + self.check
    }

    /// How much of the time reading took.
    pub(super) fn read_share(&self) -> f64 {
        100.0 * self.read / self.total().max(1e-9)
    }
}

/// How often a check is measured. The work is always the same, so the fastest is the one that was disturbed least.
const REPETITIONS: usize = 3;

/// Checks a file, and takes the fastest of several times.
pub(super) fn measure(path: &Path, level: &str) -> Result<Measured> {
    let mut best = measure_once(path, level)?;
    for _ in 1..REPETITIONS {
        let next = measure_once(path, level)?;
        if next.total() < best.total() {
            best = next;
        }
    }
    Ok(best)
}

/// Checks a file in a process of its own.
fn measure_once(path: &Path, level: &str) -> Result<Measured> {
    let program = std::env::current_exe().context("looking for this program")?;
    let output = Command::new(program).arg("check-history").arg(path).arg(level).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let words: Vec<&str> = text.split_whitespace().collect();
    let [read, check, peak, verdict] = words[..] else {
        anyhow::bail!("checking {} failed: {}", path.display(), String::from_utf8_lossy(&output.stderr));
    };
    let peak_kib: f64 = peak.parse()?;
    Ok(Measured {
        read: read.parse()?,
        check: check.parse()?,
        peak_mib: peak_kib / 1024.0,
        verdict: verdict.to_string(),
    })
}

/// The process: prints seconds for reading, seconds for checking, KiB at the peak, and the verdict.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    let [path, level] = arguments else { anyhow::bail!("usage: xtask check-history FILE LEVEL") };
    let requirement = Requirement::parse(level).with_context(|| format!("`{level}` is not a level"))?;
    let began = Instant::now();
    let mut reader = Reader::new(path);
    let mut file = File::open(path).with_context(|| format!("reading {path}"))?;
    let mut piece = vec![0; PIECE];
    loop {
        let length = file.read(&mut piece)?;
        if length == 0 {
            break;
        }
        reader.feed(&piece[..length]).map_err(|error| anyhow::anyhow!("{path}: {}", error.message))?;
    }
    let history = reader.finish().map_err(|error| anyhow::anyhow!("{path}: {}", error.message))?.history;
    let read = began.elapsed();
    let checking = Instant::now();
    let verdict = Checker::new(&history)?.check(requirement, &|| checking.elapsed() > LIMIT);
    let checked = checking.elapsed();
    let word = match verdict {
        Verdict::Holds(_) => "holds",
        Verdict::Violated(_) => "violated",
        Verdict::Undecided(_) => "undecided",
    };
    println!("{} {} {} {word}", read.as_secs_f64(), checked.as_secs_f64(), peak_kib());
    Ok(true)
}
