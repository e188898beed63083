//! What the flags of `analyze` mean.

use std::path::{Path, PathBuf};

use txloom_core::program::state::{self, Samples};

use super::super::args::ServerArgs;
use super::super::cases::{expand, read_file};
use super::super::failure::Failure;
use super::super::settings;
use super::super::streams::Streams;
use super::AnalyzeArgs;
use crate::analyze::trial::Settings;
use crate::analyze::{Project, SourceFile};
use crate::engines::Target;

/// What `analyze` is to do.
pub(super) struct AnalyzeSettings {
    /// The files with tables, and then those with procedures; none twice.
    files: Vec<PathBuf>,
    /// Where schedules are run.
    pub(super) target: Target,
    /// How they are run.
    pub(super) trial: Settings,
    /// Where cases go.
    pub(super) out: Option<PathBuf>,
    /// What private servers are told.
    pub(super) server: ServerArgs,
}

impl AnalyzeSettings {
    /// Checks the flags.
    pub(super) fn new(args: &AnalyzeArgs) -> Result<AnalyzeSettings, Failure> {
        let mut targets = settings::targets(&args.on)?;
        settings::tell_servers(&mut targets, &args.server)?;
        let mut files: Vec<PathBuf> = Vec::new();
        for path in args.schema.iter().chain(&args.files) {
            for file in expand(path, "sql")? {
                if !files.contains(&file) {
                    files.push(file);
                }
            }
        }
        let trial = Settings {
            level: settings::level(&args.level)?,
            samples: Samples::default(),
            seed: args.seed,
            limit: settings::parse_duration(&args.statement_limit)?,
        };
        let (out, server) = (args.out.clone(), args.server.clone());
        Ok(AnalyzeSettings { files, target: targets.remove(0), trial, out, server })
    }

    /// Reads all files.
    pub(super) fn read(&self, streams: &mut Streams) -> Result<Vec<SourceFile>, Failure> {
        let mut read = Vec::new();
        let mut failures = Vec::new();
        for path in &self.files {
            match read_file(path, streams) {
                Ok(text) => read.push(SourceFile { name: path.display().to_string(), text }),
                Err(failure) => failures.push(failure),
            }
        }
        if failures.is_empty() { Ok(read) } else { Err(Failure::all(&failures)) }
    }
}

/// Reads sample values for the tables of an application.
pub(super) fn samples(path: &Path, project: &Project) -> Result<Samples, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::bad_input(format!("cannot read {}: {error}", path.display())))?;
    let schema = state::Schema::from(&project.schema);
    state::read(&text, &path.display().to_string(), &schema).map_err(Failure::bad_input)
}
