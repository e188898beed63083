//! What the flags of `storm` mean.

use std::path::{Path, PathBuf};
use std::time::Duration;

use txloom_core::engine::EngineInfo;
use txloom_core::level::LevelName;
use txloom_core::shadow::Access;
use txloom_core::suggest::hint;

use super::super::args::Format;
use super::super::check::save;
use super::super::failure::Failure;
use super::super::settings;
use super::{AccessKind, Check, StormArgs};
use crate::engines::{Place, Target};
use crate::files::FileError;
use crate::files::write::PendingFile;
use crate::servers::StartLimit;
use crate::storm::workload::Profile;
use crate::storm::{Budget, FaultKind, PROFILES, Recurring, SESSIONS_MAX, Scale, Shape, Workload};

/// How many transactions a storm has that is told neither a number nor a time.
const DEFAULT_TRANSACTIONS: u64 = 1_000;

/// More keys than this are a slip: all of them are made before the storm begins.
const KEYS_MAX: usize = 10_000_000;

/// What `storm` is to do.
pub(super) struct StormSettings {
    /// Where.
    pub(super) target: Target,
    /// What sessions do.
    profile: &'static Profile,
    /// What that is like.
    pub(super) shape: Shape,
    /// The isolation level, if not the engine's own.
    pub(super) level: Option<LevelName>,
    /// When it ends.
    pub(super) budget: Budget,
    /// How many transactions a second are begun at most.
    pub(super) rate: Option<u32>,
    /// What befalls the server.
    pub(super) faults: Vec<Recurring>,
    /// Whether statements are made and not sent.
    pub(super) generate_only: bool,
    /// Whether what was recorded is checked.
    pub(super) check: bool,
    /// How long the check may take.
    pub(super) check_limit: Duration,
    /// Where the history goes.
    pub(super) save_history: Option<PathBuf>,
    /// How long one statement may take.
    pub(super) statement_limit: Duration,
    /// The form of the report.
    pub(super) format: Format,
    /// Whether private servers stay when it ends.
    pub(super) keep_server: bool,
}

impl StormSettings {
    /// Checks the flags.
    pub(super) fn new(args: &StormArgs) -> Result<StormSettings, Failure> {
        let mut targets = settings::targets(args.target.iter().chain(&args.on))?;
        settings::tell_servers(&mut targets, &args.server)?;
        let mut target = targets.remove(0);
        let time = args.time.as_deref().map(settings::parse_span).transpose()?;
        let transactions = args.transactions.or(time.is_none().then_some(DEFAULT_TRANSACTIONS));
        check_counts(args)?;
        let profile = profile(&args.profile)?;
        let faults = faults(args, &target)?;
        target.server.sessions = args.sessions;
        if !faults.is_empty() {
            target.server.durable = true;
            target.server.small_disk = faults.iter().any(|fault| fault.kind == FaultKind::FullDisk);
            target.server.start_limit = StartLimit(settings::parse_duration(&args.recovery_limit)?);
        }
        Ok(StormSettings {
            faults,
            target,
            shape: shape(args, profile)?,
            profile,
            level: args.level.as_deref().map(settings::level).transpose()?,
            budget: Budget { transactions, time, only_commits: false },
            rate: args.rate,
            generate_only: args.generate_only,
            check: args.check == Check::On && !args.generate_only,
            check_limit: settings::parse_duration(&args.limit)?,
            save_history: args.save_history.clone(),
            statement_limit: settings::parse_duration(&args.statement_limit)?,
            format: args.format,
            keep_server: args.server.keep_server,
        })
    }

    /// Whether what happens is written down.
    pub(super) fn is_recording(&self) -> bool {
        self.check || self.save_history.is_some()
    }

    /// The workload, for an engine.
    pub(super) fn workload(&self, engine: &EngineInfo) -> Result<Box<dyn Workload>, Failure> {
        (self.profile.make)(&self.shape, engine)
            .map_err(|why| Failure::bad_input(format!("{} on {}: {why}", self.profile.name, engine.target)))
    }
}

/// Sees that a history can be written there, before an hour of work depends on it.
pub(super) fn prepare_history(path: &Path) -> Result<(), Failure> {
    save::format_of(path)?;
    // Dropped before it is complete, it leaves nothing behind.
    let tried = PendingFile::create(path);
    tried.map(drop).map_err(|error| FileError { attempt: "save a history to", ..error }.into())
}

/// What the workload is to be like.
fn shape(args: &StormArgs, profile: &Profile) -> Result<Shape, Failure> {
    let scale = Scale { sessions: args.sessions, keys: args.keys.unwrap_or(profile.keys), ..Scale::default() };
    if !(0.0..=1.0).contains(&args.dynamic) {
        return Err(Failure::bad_input(format!("--dynamic {} is not a share between 0 and 1", args.dynamic)));
    }
    if !(0.0..=10.0).contains(&args.skew) {
        let meaning = "0 means that all keys are accessed alike";
        return Err(Failure::bad_input(format!("--skew {} is not between 0 and 10; {meaning}", args.skew)));
    }
    Ok(Shape {
        seed: args.seed,
        access: match args.access {
            AccessKind::Independent => Access::Independent,
            AccessKind::Even => Access::Even,
        },
        skew: args.skew,
        dynamic: args.dynamic,
        has_predicates: args.predicate == Check::On,
        ..Shape::new(scale)
    })
}

fn check_counts(args: &StormArgs) -> Result<(), Failure> {
    let wrong = |message: String| Err(Failure::bad_input(message));
    if !(1..=SESSIONS_MAX).contains(&args.sessions) {
        return wrong(format!("--sessions {} is not between 1 and {SESSIONS_MAX}", args.sessions));
    }
    if let Some(keys) = args.keys.filter(|keys| !(1..=KEYS_MAX).contains(keys)) {
        return wrong(format!("--keys {keys} is not between 1 and {KEYS_MAX}"));
    }
    if args.transactions == Some(0) {
        return wrong("--transactions 0 leaves nothing to do; write how many, or --for TIME".to_string());
    }
    if args.rate == Some(0) {
        return wrong("--rate 0 leaves nothing to do; write how many transactions a second".to_string());
    }
    Ok(())
}

fn profile(name: &str) -> Result<&'static Profile, Failure> {
    PROFILES.iter().find(|profile| profile.name == name).ok_or_else(|| {
        let names: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
        let near = hint(name, names.iter().copied());
        Failure::bad_input(format!("there is no workload `{name}`{near} (there are: {})", names.join(", ")))
    })
}

/// `--kill every 5s` and its like, where that is allowed.
fn faults(args: &StormArgs, target: &Target) -> Result<Vec<Recurring>, Failure> {
    let flags = [
        (FaultKind::Kill, &args.kill),
        (FaultKind::Pause, &args.pause),
        (FaultKind::Restart, &args.restart),
        (FaultKind::FullDisk, &args.full_disk),
        (FaultKind::Partition, &args.partition),
    ];
    let asked = flags.into_iter().filter(|(_, words)| !words.is_empty());
    let faults = asked.map(|(kind, words)| recurring(kind, words)).collect::<Result<Vec<_>, _>>()?;
    let cuts = faults.iter().any(|fault| fault.kind == FaultKind::Partition);
    if cuts && target.nodes < 2 {
        let why = "is for targets with several nodes, e.g. replicas:3";
        return Err(Failure::bad_input(format!("--partition {why}; {target} has one")));
    }
    let breaking = faults.iter().find(|fault| fault.kind != FaultKind::Partition);
    let Some(Recurring { kind, .. }) = breaking else { return Ok(faults) };
    let why = match target.place {
        Place::Private(_) => None,
        Place::BuiltIn => Some("it is a part of txloom"),
        Place::Running(_) => Some("it was running before, and others may need it"),
    };
    if let Some(why) = why {
        return Err(Failure::bad_input(format!(
            "--{kind} is for servers that txloom started itself, e.g. postgres; {target} is left alone: {why}"
        )));
    }
    if args.check == Check::Off {
        let why = "after a fault it is checked whether everything is there";
        return Err(Failure::bad_input(format!("--{kind} and --check off exclude each other: {why}")));
    }
    Ok(faults)
}

fn recurring(kind: FaultKind, words: &[String]) -> Result<Recurring, Failure> {
    match words {
        [word, time] if word == "every" => Ok(Recurring { kind, every: settings::parse_duration(time)? }),
        _ => Err(Failure::bad_input(format!("`--{kind} {}`: write e.g. --{kind} every 5s", words.join(" ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    fn args() -> StormArgs {
        StormArgs {
            profile: "registers".to_string(),
            sessions: 8,
            dynamic: 0.2,
            limit: "60s".to_string(),
            statement_limit: "10s".to_string(),
            recovery_limit: "60s".to_string(),
            ..StormArgs::default()
        }
    }

    #[track_caller]
    fn check_error(args: &StormArgs, expect: &str) {
        let Err(failure) = StormSettings::new(args) else { panic!("no error: {expect}") };
        assert_eq!(failure.exit, Exit::BadInput);
        assert!(failure.message.contains(expect), "{}", failure.message);
    }

    #[test]
    fn what_is_not_said_has_a_default() {
        let settings = StormSettings::new(&args()).unwrap_or_else(|failure| panic!("{}", failure.message));
        assert_eq!((settings.target.name(), settings.profile.name), ("sqlite", "registers"));
        assert_eq!(settings.budget, Budget::transactions(1_000));
        let timed = StormArgs { time: Some("5s".to_string()), ..args() };
        let budget = StormSettings::new(&timed).map(|settings| settings.budget).ok();
        assert_eq!(budget, Some(Budget::time(Duration::from_secs(5))));
    }

    #[test]
    fn bad_flags_are_explained() {
        let args = args;
        check_error(&StormArgs { sessions: 0, ..args() }, "--sessions 0 is not between 1 and 1024");
        check_error(&StormArgs { keys: Some(0), ..args() }, "--keys 0 is not between");
        check_error(&StormArgs { dynamic: 1.5, ..args() }, "--dynamic 1.5 is not a share between 0 and 1");
        check_error(&StormArgs { skew: f64::NAN, ..args() }, "--skew NaN is not between 0 and 10");
        check_error(&StormArgs { transactions: Some(0), ..args() }, "leaves nothing to do");
        check_error(&StormArgs { rate: Some(0), ..args() }, "leaves nothing to do");
        check_error(&StormArgs { profile: "register".to_string(), ..args() }, "did you mean registers?");
        check_error(&StormArgs { time: Some("soon".to_string()), ..args() }, "is not a length of time");
        check_error(&StormArgs { level: Some("chaos".to_string()), ..args() }, "is not an isolation level");
        let kill = |word: &str, target: &str| StormArgs {
            kill: vec![word.to_string(), "5s".to_string()],
            target: Some(target.to_string()),
            ..args()
        };
        check_error(&kill("each", "postgres"), "write e.g. --kill every 5s");
        check_error(&kill("every", "sqlite"), "sqlite is left alone: it is a part of txloom");
        check_error(&kill("every", "postgres://localhost/db"), "it was running before");
        check_error(&StormArgs { check: Check::Off, ..kill("every", "postgres") }, "exclude each other");
        let full_disk = vec!["every".to_string(), "soon".to_string()];
        check_error(&StormArgs { full_disk, ..args() }, "is not a time limit");
        let partition = |target: &str| StormArgs {
            partition: vec!["every".to_string(), "5s".to_string()],
            target: Some(target.to_string()),
            ..args()
        };
        check_error(&partition("postgres"), "--partition is for targets with several nodes");
        assert_eq!(StormSettings::new(&partition("replicas:3")).unwrap().faults.len(), 1);
    }
}
