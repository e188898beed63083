//! `txloom run --format isolationtester`: PostgreSQL's isolation tests, with the transcript of its own runner.
//!
//! Nothing is compared and nothing is judged: what comes out is what that runner prints, to be compared with the files
//! that come with the tests.

use std::path::{Path, PathBuf};
use std::time::Duration;

use txloom_core::formats::spec::tester::Flow;
use txloom_core::formats::spec::{self, Spec};

use super::args::RunArgs;
use super::cases;
use super::failure::Failure;
use super::settings::{RunSettings, is_stdin};
use super::streams::Streams;
use crate::engines::postgres::isolation::{IsolationHarness, STEP_LIMIT};
use crate::engines::{Place, Target};
use crate::exit::Exit;

/// The variable by which PostgreSQL's runner is told how long a step may take, in seconds.
const TIMEOUT_VARIABLE: &str = "PGISOLATIONTIMEOUT";

/// A test that was read.
struct LoadedSpec {
    name: String,
    spec: Spec,
}

/// Runs the command.
pub fn run(args: &RunArgs, streams: &mut Streams) -> Result<Exit, Failure> {
    let (target, paths) = target_and_paths(args)?;
    let specs = load(&paths, streams)?;
    let out_dir = args.out.as_deref().filter(|out| out.is_dir());
    if let (Some(out), None) = (&args.out, out_dir) {
        streams.redirect(out)?;
    }
    let Place::Private(programs) = &target.place else {
        return Err(Failure::bad_input(format!("{target} is not a private server: isolation tests need one")));
    };
    let mut harness = IsolationHarness::start(target.name(), programs)?;
    let mut exit = Exit::Clean;
    for LoadedSpec { name, spec } in &specs {
        if streams.is_closed() {
            break;
        }
        if let Some(directory) = out_dir {
            streams.redirect(&directory.join(format!("{name}.out")))?;
        }
        let mut printed = Ok(());
        let flow = harness.run(name, spec, step_limit(), |piece| {
            if printed.is_ok() {
                printed = streams.print_exactly(&String::from_utf8_lossy(piece));
            }
        })?;
        printed?;
        // A test that could not be run to its end has not shown what it should.
        exit = exit.or(if flow == Flow::Continue { Exit::Clean } else { Exit::Found });
    }
    Ok(exit)
}

/// The one target, and the files: PostgreSQL if none is named.
fn target_and_paths(args: &RunArgs) -> Result<(Target, Vec<PathBuf>), Failure> {
    let settings = RunSettings::new(args)?;
    match settings.targets.as_slice() {
        _ if args.on.is_empty() => Ok((Target::parse("postgres").map_err(Failure::bad_input)?, settings.cases)),
        [target] if target.family.name == "postgres" && target.bugs.is_empty() => Ok((target.clone(), settings.cases)),
        _ => Err(Failure::bad_input("--format isolationtester needs one target, and that must be a PostgreSQL")),
    }
}

fn load(paths: &[PathBuf], streams: &mut Streams) -> Result<Vec<LoadedSpec>, Failure> {
    let mut specs = Vec::new();
    for path in paths {
        for file in cases::expand(path, "spec")? {
            let text = cases::read_file(&file, streams)?;
            let spec = spec::parse(&text).map_err(|error| {
                let file = file.display().to_string();
                Failure::in_file(&file, error.line, error.column, &error.message, &error.text)
            })?;
            specs.push(LoadedSpec { name: name(&file), spec });
        }
    }
    Ok(specs)
}

/// The name of a test is that of its file.
fn name(path: &Path) -> String {
    let stem = path.file_stem().filter(|_| !is_stdin(path));
    stem.map_or("stdin".to_string(), |stem| stem.to_string_lossy().into_owned())
}

/// How long a step may take: what the runner's own variable says, or what the runner takes for granted.
fn step_limit() -> Duration {
    let seconds = std::env::var(TIMEOUT_VARIABLE).ok().and_then(|text| text.parse().ok());
    seconds.filter(|seconds| *seconds > 0).map_or(STEP_LIMIT, Duration::from_secs)
}
