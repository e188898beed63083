//! *Defaults*: the hunt that users run (`txloom hunt TARGET`, profile dt2, every oracle that suits one target) accuses no
//! healthy engine. Every finding is printed with its seed, to be examined by hand with a plain client.
//!
//! The cases come in pieces of a thousand, each with a seed of its own, so that a second start goes on where the first one
//! stopped. `TXLOOM_SOAK_TARGETS` names more targets (5,000 cases each), `TXLOOM_SOAK_SEED` the first seed.

use std::env;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use txloom::report::json;
use txloom::report::model::Body;

use super::hunts::{once, table};
use super::{MORE_TARGETS, Section, TARGETS};

/// The number of cases of one piece.
const PIECE: u64 = 1_000;
/// The number of pieces for each target that is always at hand.
const PIECES: u64 = 20;
/// The number of pieces for each further target.
const PIECES_MORE: u64 = 5;
/// Names the first seed.
const SEED: &str = "TXLOOM_SOAK_SEED";
/// The first seed if none is named.
const SEED_DEFAULT: u64 = 20_261_118;

pub(super) fn run() -> Result<Section> {
    let seed = env::var(SEED).ok().and_then(|seed| seed.parse().ok()).unwrap_or(SEED_DEFAULT);
    let more = env::var(MORE_TARGETS).unwrap_or_default();
    let ours = TARGETS.iter().map(|target| (*target, PIECES));
    let mut rows = Vec::new();
    let mut met = true;
    for (target, pieces) in ours.chain(more.split_whitespace().map(|target| (target, PIECES_MORE))) {
        let mut sums = [0u64; 5];
        for piece in 0..pieces {
            let name = format!("{target}-{}", seed + piece);
            let cells = once("defaults", &name, || measure(target, seed + piece))?;
            let numbers = cells.iter().map(|cell| cell.parse::<u64>().unwrap_or_default());
            sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
        }
        let [cases, findings, known, undecided, milliseconds] = sums;
        met &= findings == 0;
        let rate = format!("{:.1}", cases as f64 * 1_000.0 / milliseconds.max(1) as f64);
        let name = format!("`{target}`");
        rows.push([name].into_iter().chain([cases, findings, known, undecided].map(|n| n.to_string())).chain([rate]));
    }
    let rows: Vec<Vec<String>> = rows.into_iter().map(Iterator::collect).collect();
    let header = "target | cases: | findings: | known: | undecided: | cases per second:";
    let words = format!("`txloom hunt TARGET --cases {PIECE}` with the seeds from {seed} on.\n\n");
    Ok(Section { met, text: words + &table(header, &rows) })
}

/// Cases, findings, known behaviours, undecided cases, milliseconds.
fn measure(target: &str, seed: u64) -> Result<Vec<String>> {
    let program = env::current_exe()?.with_file_name("txloom");
    let out = format!("soak-results/defaults/found-{}-{seed}", target.replace(['/', '@'], "_"));
    let mut command = Command::new(program);
    command.args(["hunt", target, "--cases", &PIECE.to_string(), "--seed", &seed.to_string(), "--format", "json"]);
    command.args(["-o", &out]);
    let Output { stdout, stderr, .. } = command.stdin(Stdio::null()).output().context("running txloom")?;
    match json::parse(&String::from_utf8_lossy(&stdout)).map(|report| report.body) {
        Ok(Body::Hunt(hunt)) if hunt.failure.is_none() => {
            hunt.findings.iter().for_each(|one| println!("{target} seed {seed}: {}", one.finding.sentence));
            let counts = &hunt.counts;
            let milliseconds = (hunt.seconds * 1_000.0) as u64;
            let found = counts.new + counts.repeated;
            let cells = [counts.cases, found, counts.known, counts.undecided_cases, milliseconds];
            Ok(cells.map(|number| number.to_string()).to_vec())
        }
        _ => bail!("{target}: {}", String::from_utf8_lossy(&stderr)),
    }
}
