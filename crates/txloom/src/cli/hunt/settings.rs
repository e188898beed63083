//! What the flags of `hunt` mean.

use std::path::Path;
use std::time::Duration;

use txloom_core::engine::EngineInfo;
use txloom_core::finding::known::Known;
use txloom_core::finding::shell_word;
use txloom_core::generate::model::Model;
use txloom_core::generate::profile;
use txloom_core::level::LevelName;
use txloom_core::oracle::{self, Oracle};
use txloom_core::suggest::hint;

use super::super::args::{Format, HuntArgs, PolicyName};
use super::super::failure::Failure;
use super::super::settings;
use crate::engines::{Place, Target};
use crate::files::{self, FileError};
use crate::hunt::{Budget, DEFAULT_PROFILE, Storms};

/// How long a hunt takes that is told neither a time nor a number of cases.
const DEFAULT_TIME: Duration = Duration::from_secs(60);

/// More workers than this are a slip: each starts servers of its own.
const WORKERS_MAX: usize = 64;

/// What `hunt` is to do.
#[derive(Debug)]
pub(super) struct HuntSettings {
    /// What to hunt in; at least one.
    pub(super) targets: Vec<Target>,
    /// What cases look like.
    pub(super) model: Model,
    /// What all random choices follow from.
    pub(super) seed: u64,
    /// The levels; all that the targets share, if empty.
    pub(super) levels: Vec<LevelName>,
    /// The names of the oracles; those that suit the targets, if empty.
    oracles: Vec<&'static str>,
    /// When it ends.
    pub(super) budget: Budget,
    /// Whether nobody said when it ends.
    pub(super) has_default_budget: bool,
    /// How many cases are judged at the same time.
    pub(super) workers: usize,
    /// Whether it ends with the first finding.
    pub(super) stop_on_first: bool,
    /// What is known.
    pub(super) known: Known,
    /// How many tests one reduction may run.
    pub(super) reduce_tests: usize,
    /// How long one statement may run.
    pub(super) statement_limit: Duration,
    /// The form of the report.
    pub(super) format: Format,
    /// Whether private servers stay when it ends.
    pub(super) keep_server: bool,
    /// Whether storms come between the cases.
    pub(super) storms: Option<Storms>,
    /// What private servers are told, as flags.
    pub(super) replay_flags: String,
    /// What generates the same groups, as flags.
    pub(super) group_flags: String,
    /// Whether the user named the directory of findings.
    pub(super) is_out_named: bool,
    /// The only group to judge, if there is one.
    pub(super) group: Option<u64>,
}

impl HuntSettings {
    /// Checks the flags, and reads the files that they name.
    pub(super) fn new(args: &HuntArgs) -> Result<HuntSettings, Failure> {
        let mut targets = settings::targets_to_compare(args.targets.iter().chain(&args.on))?;
        settings::tell_servers(&mut targets, &args.server)?;
        let time = args.time.as_deref().map(settings::parse_span).transpose()?;
        // A group ends by itself.
        let has_default_budget = time.is_none() && args.cases.is_none() && args.group.is_none();
        check_counts(args, &targets)?;
        Ok(HuntSettings {
            targets,
            model: model(args.profile.as_deref().unwrap_or(DEFAULT_PROFILE))?,
            seed: args.seed,
            levels: args.level.iter().map(|name| settings::level(name)).collect::<Result<_, _>>()?,
            oracles: args.oracle.iter().map(|name| settings::oracle_name(name)).collect::<Result<_, _>>()?,
            budget: Budget { time: time.or(has_default_budget.then_some(DEFAULT_TIME)), cases: args.cases },
            has_default_budget,
            workers: args.workers,
            stop_on_first: args.stop_on_first,
            known: known(args)?,
            reduce_tests: args.reduce_tests,
            statement_limit: settings::parse_duration(&args.statement_limit)?,
            format: args.format,
            keep_server: args.server.keep_server,
            storms: args.storm.then(Storms::default),
            replay_flags: settings::replay_flags(&args.server, &args.statement_limit, PolicyName::Skip),
            group_flags: group_flags(args),
            group: args.group,
            is_out_named: args.out.is_some(),
        })
    }

    /// The oracles, for these targets.
    pub(super) fn oracles(&self, targets: &[EngineInfo]) -> Vec<Box<dyn Oracle>> {
        if self.oracles.is_empty() {
            return oracle::usual(targets);
        }
        self.oracles.iter().filter_map(|name| oracle::in_hunt(name)).collect()
    }
}

fn check_counts(args: &HuntArgs, targets: &[Target]) -> Result<(), Failure> {
    if args.cases == Some(0) {
        return Err(Failure::bad_input("--cases 0 leaves nothing to judge; write how many cases, or --for TIME"));
    }
    if !(1..=WORKERS_MAX).contains(&args.workers) {
        let message = format!("--workers {} is not between 1 and {WORKERS_MAX}", args.workers);
        return Err(Failure::bad_input(message));
    }
    // Workers on one server would see each other's locks.
    match targets.iter().find(|target| matches!(target.place, Place::Running(_))) {
        Some(running) if args.workers > 1 => {
            let message = format!("{running} is a running server: it serves one worker; leave out --workers");
            Err(Failure::bad_input(message))
        }
        _ => Ok(()),
    }
}

/// The flags with which the same groups are generated and judged in the same way.
fn group_flags(args: &HuntArgs) -> String {
    let flag = |name: &str, value: &str| format!("--{name} {}", shell_word(value));
    let mut flags: Vec<String> = args.profile.iter().map(|profile| flag("profile", profile)).collect();
    flags.extend(args.level.iter().map(|level| flag("level", level)));
    flags.extend(args.oracle.iter().map(|oracle| flag("oracle", oracle)));
    flags.extend(args.known.iter().map(|known| flag("known", &known.display().to_string())));
    flags.extend(args.no_known.then(|| "--no-known".to_string()));
    let servers = settings::replay_flags(&args.server, &args.statement_limit, PolicyName::Skip);
    flags.extend((!servers.is_empty()).then_some(servers));
    flags.join(" ")
}

/// A profile that is shipped, or one from a file.
fn model(name: &str) -> Result<Model, Failure> {
    let names = || profile::SHIPPED.iter().map(|(name, _)| *name);
    if let Some(model) = profile::shipped(name) {
        return Ok(model);
    }
    let is_file = name.ends_with(".toml") || name.contains('/') || Path::new(name).is_file();
    if !is_file {
        let known = names().collect::<Vec<_>>().join(", ");
        let message =
            format!("there is no profile `{name}`{} (there are: {known}; or name a file, *.toml)", hint(name, names()));
        return Err(Failure::bad_input(message));
    }
    profile::read(&read(Path::new(name), "read the profile")?, name).map_err(Failure::bad_input)
}

fn read(path: &Path, what: &'static str) -> Result<String, Failure> {
    Ok(files::read_text(path).map_err(|error| FileError { attempt: what, ..error })?)
}

fn known(args: &HuntArgs) -> Result<Known, Failure> {
    if args.no_known {
        return Ok(Known::nothing());
    }
    let mut known = Known::shipped();
    for path in &args.known {
        let text = read(path, "read known behaviours from")?;
        let more = Known::parse(&text, &path.display().to_string()).map_err(Failure::bad_input)?;
        known = known.join(more);
    }
    Ok(known)
}
