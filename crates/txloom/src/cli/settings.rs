//! What the flags mean: checked, with everything that can be known before the first case is read.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use txloom_core::engine::EngineInfo;
use txloom_core::finding::shell_word;
use txloom_core::level::{KNOWN_LEVELS, LevelName};
use txloom_core::oracle;
use txloom_core::schedule::Policy;
use txloom_core::suggest::hint;

use super::args::{Format, PolicyName, RunArgs, RunFormat, ServerArgs};
use super::failure::Failure;
use super::streams::Streams;
use crate::engines::access::Password;
use crate::engines::{AccessOptions, Place, Target};
use crate::execute::ExecuteOptions;
use crate::servers::ServerOptions;

/// How long the first line of a password file may be.
const PASSWORD_BYTES_MAX: u64 = 64 * 1024;

/// The target of a run that names none: it needs nothing installed.
pub const DEFAULT_TARGET: &str = "sqlite";

/// What `run` is to do.
#[derive(Debug)]
pub struct RunSettings {
    /// Files and directories, as they were written; `-` is the standard input.
    pub cases: Vec<PathBuf>,
    /// Where to run them; at least one, and none twice unless the oracle compares them.
    pub targets: Vec<Target>,
    /// The oracle that judges them instead of their expectations: one of [`oracle::NAMES`].
    pub oracle: Option<&'static str>,
    /// The level of every session, if the case is overruled.
    pub level: Option<LevelName>,
    /// Whether the files are rewritten with what happened.
    pub record: bool,
    /// Whether everything runs twice.
    pub twice: bool,
    /// What to do when a session waits.
    pub policy: Policy,
    /// How long one statement may run.
    pub statement_limit: Duration,
    /// Whether only one line per case is shown.
    pub quiet: bool,
    /// Whether a case in which nothing is checked fails.
    pub strict: bool,
    /// The form of the report.
    pub format: Format,
    /// Where the report goes, if not to the standard output.
    pub out: Option<PathBuf>,
    /// Where the history of the run goes, if it is wanted.
    pub save_history: Option<PathBuf>,
    /// What a command must say besides case, targets, oracle and level so that the same happens.
    pub replay_flags: String,
}

impl RunSettings {
    /// The defaults, for a command that runs cases of its own.
    pub fn for_own_cases(targets: Vec<Target>) -> RunSettings {
        RunSettings {
            cases: Vec::new(),
            targets,
            oracle: None,
            level: None,
            record: false,
            twice: false,
            policy: Policy::default(),
            statement_limit: ExecuteOptions::default().statement_limit,
            quiet: false,
            strict: false,
            format: Format::Text,
            out: None,
            save_history: None,
            replay_flags: String::new(),
        }
    }

    /// Checks the flags.
    pub fn new(args: &RunArgs) -> Result<RunSettings, Failure> {
        let oracle = args.oracle.as_deref().map(oracle_name).transpose()?;
        let (mut targets, strays) = targets_and_strays(&args.on, oracle.is_some_and(compares))?;
        tell_servers(&mut targets, &args.server)?;
        let cases: Vec<PathBuf> = args.cases.iter().cloned().chain(strays).collect();
        if cases.is_empty() {
            return Err(Failure::bad_input("no CASE to run: name a file, a directory, or - for the standard input"));
        }
        let settings = RunSettings {
            cases,
            targets,
            oracle,
            level: args.level.as_deref().map(level).transpose()?,
            record: args.record,
            twice: args.twice,
            policy: match args.policy {
                PolicyName::Skip => Policy::Skip,
                PolicyName::Wait => Policy::Wait,
            },
            statement_limit: parse_duration(&args.statement_limit)?,
            quiet: args.quiet,
            strict: args.strict,
            format: match args.format {
                RunFormat::Json => Format::Json,
                // Transcripts are no reports: whoever prints them asks for no form of report.
                RunFormat::Text | RunFormat::Isolationtester => Format::Text,
            },
            out: args.out.clone(),
            save_history: args.save_history.clone(),
            replay_flags: replay_flags(&args.server, &args.statement_limit, args.policy),
        };
        settings.check()?;
        Ok(settings)
    }

    fn check(&self) -> Result<(), Failure> {
        let stdin_count = self.cases.iter().filter(|path| is_stdin(path)).count();
        if stdin_count > 1 {
            return Err(Failure::bad_input("the standard input (-) can be read only once"));
        }
        if let Some(oracle) = self.oracle.filter(|_| self.record) {
            return Err(Failure::bad_input(format!(
                "--record writes down what happens, and --oracle {oracle} judges it: ask for one of them"
            )));
        }
        if let Some(oracle) = self.oracle.filter(|_| self.save_history.is_some()) {
            return Err(Failure::bad_input(format!(
                "--save-history saves one run, and --oracle {oracle} needs several: ask for one of them"
            )));
        }
        if let Some(oracle) = self.oracle.filter(|oracle| compares(oracle) && self.targets.len() < 2) {
            return Err(Failure::bad_input(format!(
                "--oracle {oracle} compares targets: name at least two of them, e.g. --on sqlite model"
            )));
        }
        if self.record && stdin_count > 0 {
            return Err(Failure::bad_input("--record writes into the case's file; the standard input has none"));
        }
        Ok(())
    }
}

/// The flags with which a replay command opens the same servers and treats waiting and slow statements the same way.
pub fn replay_flags(server: &ServerArgs, statement_limit: &str, policy: PolicyName) -> String {
    let mut flags: Vec<String> =
        server.settings.iter().map(|setting| format!("--server-arg {}", shell_word(setting))).collect();
    let limit = parse_duration(statement_limit).ok();
    if limit.is_some_and(|limit| limit != ExecuteOptions::default().statement_limit) {
        flags.push(format!("--statement-limit {}", shell_word(statement_limit)));
    }
    if let Some(path) = &server.password_file {
        flags.push(format!("--password-file {}", shell_word(&path.to_string_lossy())));
    }
    let switches = [
        (server.allow_superuser, "--allow-superuser"),
        (server.allow_server_changes, "--allow-server-changes"),
        (server.insecure_auth, "--insecure-auth"),
    ];
    flags.extend(switches.iter().filter(|(is_on, _)| *is_on).map(|(_, flag)| (*flag).to_string()));
    flags.extend(server.max_connections.map(|max| format!("--max-connections {max}")));
    if policy == PolicyName::Wait {
        flags.push("--policy wait".to_string());
    }
    flags.join(" ")
}

/// A command followed by flags, if there are any.
pub fn with_flags(command: &str, flags: &str) -> String {
    format!("{command} {flags}").trim_end().to_string()
}

/// Whether a case is to be read from the standard input.
pub fn is_stdin(path: &std::path::Path) -> bool {
    path.as_os_str() == "-"
}

/// `--on` takes several targets, so that it also swallows a case that follows them: `--on sqlite case.sql`. What is no
/// target but reads like a file is given back.
fn targets_and_strays(texts: &[String], twice: bool) -> Result<(Vec<Target>, Vec<PathBuf>), Failure> {
    let is_file = |text: &str| text == "-" || text.ends_with(".sql") || PathBuf::from(text).exists();
    let is_stray = |text: &&String| Target::parse(text).is_err() && is_file(text);
    let (strays, named): (Vec<&String>, Vec<&String>) = texts.iter().partition(is_stray);
    let targets = if twice { targets_to_compare(named)? } else { targets(named)? };
    Ok((targets, strays.into_iter().map(PathBuf::from).collect()))
}

/// Reads the name of an oracle.
pub fn oracle_name(text: &str) -> Result<&'static str, Failure> {
    oracle::NAMES.iter().copied().find(|name| *name == text).ok_or_else(|| {
        let near = hint(text, oracle::NAMES.iter().copied());
        Failure::bad_input(format!("`{text}` is not an oracle{near} (known are: {})", oracle::NAMES.join(", ")))
    })
}

/// Whether an oracle compares targets with each other, so that the same one may be named twice.
fn compares(oracle: &str) -> bool {
    oracle == oracle::diff::NAME
}

/// The targets of a command that takes no files; the default target if none is named. None may be named twice.
pub fn targets<'a>(texts: impl IntoIterator<Item = &'a String>) -> Result<Vec<Target>, Failure> {
    let targets = targets_to_compare(texts)?;
    let named_before = |(at, target): &(usize, &Target)| targets[..*at].iter().any(|one| one.name() == target.name());
    match targets.iter().enumerate().find(named_before) {
        Some((_, target)) => Err(Failure::bad_input(format!("the target {target} is named twice"))),
        None => Ok(targets),
    }
}

/// The same for a command that compares targets: one may be named twice, to see that it does the same as itself.
pub fn targets_to_compare<'a>(texts: impl IntoIterator<Item = &'a String>) -> Result<Vec<Target>, Failure> {
    let parse = |text: &str| Target::parse(text).map_err(Failure::bad_input);
    let targets = texts.into_iter().map(|text| parse(text)).collect::<Result<Vec<_>, _>>()?;
    if targets.is_empty() { Ok(vec![parse(DEFAULT_TARGET)?]) } else { Ok(targets) }
}

/// Tells all targets what the flags say: private servers their settings, running ones what is allowed there.
pub fn tell_servers(targets: &mut [Target], args: &ServerArgs) -> Result<(), Failure> {
    let access = access(args)?;
    let running = |target: &&mut Target| matches!(target.place, Place::Running(_));
    targets.iter_mut().filter(running).for_each(|target| target.access = access.clone());
    let setting = |text: &String| {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let usage = || Failure::bad_input(format!("`{text}` is not a setting of a server; write NAME=VALUE"));
        if name.is_empty() || name.starts_with('-') || !text.contains('=') {
            Err(usage())
        } else {
            Ok((name.to_string(), value.to_string()))
        }
    };
    let extra = args.settings.iter().map(setting).collect::<Result<Vec<_>, _>>()?;
    let asked = !extra.is_empty() || args.keep_server;
    let mut private = targets.iter_mut().filter(|target| matches!(target.place, Place::Private(_))).peekable();
    if asked && private.peek().is_none() {
        return Err(Failure::bad_input("--server-arg and --keep-server are for private servers; no target is one"));
    }
    private.for_each(|target| {
        target.server = ServerOptions { extra: extra.clone(), keep: args.keep_server, ..ServerOptions::default() };
    });
    Ok(())
}

/// What the flags allow on running servers.
fn access(args: &ServerArgs) -> Result<AccessOptions, Failure> {
    let password = args.password_file.as_deref().map(password_in).transpose()?;
    Ok(AccessOptions {
        allow_superuser: args.allow_superuser,
        allow_server_changes: args.allow_server_changes,
        insecure_auth: args.insecure_auth,
        max_connections: args.max_connections,
        password,
    })
}

/// The first line of a file.
fn password_in(path: &Path) -> Result<Password, Failure> {
    let failure = |why: &dyn std::fmt::Display| {
        Failure::bad_input(format!("cannot read a password from {}: {why}", path.display()))
    };
    let file = File::open(path).map_err(|error| failure(&error))?;
    let mut line = String::new();
    let read = BufReader::new(file.take(PASSWORD_BYTES_MAX)).read_line(&mut line).map_err(|error| failure(&error))?;
    if read as u64 == PASSWORD_BYTES_MAX {
        return Err(failure(&"its first line is longer than 64 kB"));
    }
    Ok(Password::new(line.trim_end_matches(['\r', '\n'])))
}

/// Says how to look inside the servers that are kept, and how to end them.
pub fn tell_of_kept(engines: &[EngineInfo], args: &ServerArgs, streams: &mut Streams) {
    for (engine, client) in engines.iter().filter_map(|engine| Some((engine, engine.client.as_ref()?))) {
        if args.keep_server {
            streams.complain(&format!("txloom: {}: stays running; look inside with: {client}", engine.target));
        }
    }
}

/// Reads the name of an isolation level.
pub fn level(text: &str) -> Result<LevelName, Failure> {
    LevelName::parse(text).ok_or_else(|| {
        let known = KNOWN_LEVELS.join(", ");
        let near = hint(&LevelName::custom(text).to_string(), KNOWN_LEVELS.iter().copied());
        Failure::bad_input(format!("`{text}` is not an isolation level{near} (known are: {known})"))
    })
}

/// `500ms`, `10s`, `2m`.
pub fn parse_duration(text: &str) -> Result<Duration, Failure> {
    duration(text, &["ms", "s", "m"])
        .ok_or_else(|| Failure::bad_input(format!("`{text}` is not a time limit; write e.g. 500ms, 10s or 2m")))
}

/// `30s`, `5m`, `1h`: how long something may take as a whole.
pub fn parse_span(text: &str) -> Result<Duration, Failure> {
    duration(text, &["s", "m", "h"])
        .ok_or_else(|| Failure::bad_input(format!("`{text}` is not a length of time; write e.g. 30s, 5m or 1h")))
}

/// `500M`, `4G`: an amount of memory in bytes.
pub fn parse_size(text: &str) -> Result<u64, Failure> {
    let wrong = || Failure::bad_input(format!("`{text}` is not an amount of memory; write e.g. 500M or 4G"));
    let (digits, scale) = match text.strip_suffix('G') {
        Some(digits) => (digits, 1 << 30),
        None => (text.strip_suffix('M').ok_or_else(wrong)?, 1 << 20),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|count| count.checked_mul(scale));
    bytes.filter(|bytes| *bytes > 0).ok_or_else(wrong)
}

/// A whole number of one of these units, more than 0.
fn duration(text: &str, units: &[&str]) -> Option<Duration> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let scale = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    let milliseconds = digits.parse::<u64>().ok().and_then(|count| count.checked_mul(scale))?;
    (milliseconds > 0 && units.contains(&unit)).then(|| Duration::from_millis(milliseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(cases: &[&str], on: &[&str]) -> RunArgs {
        RunArgs {
            cases: cases.iter().map(PathBuf::from).collect(),
            on: on.iter().map(ToString::to_string).collect(),
            statement_limit: "10s".to_string(),
            ..RunArgs::default()
        }
    }

    #[track_caller]
    fn check_error(args: &RunArgs, expect: &str) {
        let failure = RunSettings::new(args).unwrap_err();
        assert_eq!(failure.exit, crate::exit::Exit::BadInput);
        assert!(failure.message.contains(expect), "{}", failure.message);
    }

    #[test]
    fn what_is_not_said_has_a_default() {
        let settings = RunSettings::new(&args(&["a.sql"], &[])).unwrap();
        assert_eq!(settings.targets[0].name(), "sqlite");
        assert_eq!(settings.statement_limit, Duration::from_secs(10));
        assert_eq!(settings.policy, Policy::Skip);
    }

    #[test]
    fn a_case_may_stand_after_the_targets() {
        let settings = RunSettings::new(&args(&[], &["sqlite", "model", "b.sql", "-"])).unwrap();
        assert_eq!(settings.targets.len(), 2);
        assert_eq!(settings.cases, [PathBuf::from("b.sql"), PathBuf::from("-")]);
    }

    #[test]
    fn bad_flags_are_explained() {
        check_error(&args(&[], &[]), "no CASE to run");
        check_error(&args(&["a.sql"], &["postgre"]), "did you mean postgres?");
        check_error(&args(&["a.sql"], &["sqlite", "sqlite"]), "named twice");
        check_error(&args(&["-", "-"], &[]), "only once");
        let oracle = |name: &str, on: &[&str]| RunArgs { oracle: Some(name.to_string()), ..args(&["a.sql"], on) };
        check_error(
            &oracle("dif", &["sqlite", "model"]),
            "did you mean diff? (known are: diff, serial, calls, graph, invariant, crash)",
        );
        check_error(&oracle("diff", &["sqlite"]), "name at least two");
        check_error(&oracle("serial", &["sqlite", "sqlite"]), "named twice");
        check_error(&RunArgs { record: true, ..oracle("serial", &[]) }, "ask for one of them");
        check_error(&RunArgs { record: true, ..args(&["-"], &[]) }, "standard input has none");
        let level = |level: &str| RunArgs { level: Some(level.to_string()), ..args(&["a.sql"], &[]) };
        check_error(&level("serialisible"), "did you mean serializable?");
        check_error(&level("chaos"), "known are: read uncommitted, read committed");
        for limit in ["", "10", "s", "0s", "-1s", "1.5s", "99999999999999999999s", "1h"] {
            let args = RunArgs { statement_limit: limit.to_string(), ..args(&["a.sql"], &[]) };
            check_error(&args, "is not a time limit");
        }
    }

    #[test]
    fn a_target_may_be_compared_with_itself() {
        let args = RunArgs { oracle: Some("diff".to_string()), ..args(&["a.sql"], &["model", "model"]) };
        assert_eq!(RunSettings::new(&args).unwrap().targets.len(), 2);
    }

    #[test]
    fn levels_are_read_in_any_spelling() {
        let args = RunArgs { level: Some("REPEATABLE-READ".to_string()), ..args(&["a.sql"], &[]) };
        assert_eq!(RunSettings::new(&args).unwrap().level.unwrap().as_str(), "repeatable read");
    }
}
