//! The flags, as they are written. Nothing is checked here that needs more than the text itself.

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{ArgAction, Parser, Subcommand, ValueEnum};

use super::analyze::AnalyzeArgs;
use super::check::CheckArgs;
use super::convert::ConvertArgs;
use super::reduce::ReduceArgs;
use super::storm::StormArgs;
use crate::engines::FAMILIES;
use crate::exit::Exit;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Yellow.on_default().bold())
    .usage(AnsiColor::Yellow.on_default().bold())
    .literal(AnsiColor::Cyan.on_default());

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "txloom",
    version,
    styles = STYLES,
    arg_required_else_help = true,
    subcommand_required = true,
    disable_help_subcommand = true,
    disable_help_flag = true,
    about = "Finds transaction bugs, in databases and in the applications that use them.",
    after_help = after_help()
)]
pub struct Args {
    /// Use colours: on a terminal (unless NO_COLOR is set), always, or never
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", display_order = 100)]
    pub color: ColorWhen,
    // One help text for -h and --help: it is short enough.
    /// Print help
    #[arg(short, long, global = true, action = ArgAction::HelpShort, display_order = 101)]
    help: Option<bool>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Look for bugs with generated transactions, in one database or in the difference between several; without a
    /// target, see txloom at work (needs nothing installed)
    #[command(after_help = hunt_help())]
    Hunt(HuntArgs),
    /// Let many sessions loose on a database at once, record what they see, and check it
    #[command(after_help = super::storm::EXAMPLES)]
    Storm(StormArgs),
    /// Tell which orders of an application's transactions can go wrong, and run them to see whether they do
    #[command(after_help = super::analyze::EXAMPLES)]
    Analyze(AnalyzeArgs),
    /// Run cases, and compare what happens with what they expect
    #[command(after_help = run_help())]
    Run(RunArgs),
    /// Make a case smaller that shows something wrong, until only what matters is left
    #[command(after_help = super::reduce::EXAMPLES)]
    Reduce(ReduceArgs),
    /// Tell what the isolation levels of a database really mean: which anomalies each of them prevents, and how
    #[command(after_help = LEVELS_EXAMPLES)]
    Levels(LevelsArgs),
    /// Tell which isolation levels a recorded history satisfies, and explain what violates the others
    #[command(after_help = super::check::EXAMPLES)]
    Check(CheckArgs),
    /// Write a case in another format: for PostgreSQL's or MariaDB's test runners, or for a bug tracker
    Convert(ConvertArgs),
    /// Tell which databases can be started here, and which package brings the others
    Doctor(DoctorArgs),
}

/// What private servers are told, and what is allowed on running ones.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ServerArgs {
    /// Start private servers with this setting of theirs, e.g. innodb_snapshot_isolation=ON; may be repeated
    #[arg(long = "server-arg", value_name = "NAME=VALUE")]
    pub settings: Vec<String>,
    /// Leave private servers running at the end, to look inside
    #[arg(long)]
    pub keep_server: bool,
    /// Log in to running servers with the password in the first line of FILE, instead of one in the URL
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Log in to running servers as a user who may do anything there
    #[arg(long)]
    pub allow_superuser: bool,
    /// Send running servers statements that reach beyond our own database, too
    #[arg(long)]
    pub allow_server_changes: bool,
    /// Open at most N sessions at once on running servers [default: half of the connections that are left]
    #[arg(long, value_name = "N")]
    pub max_connections: Option<u32>,
    /// Send passwords as they are to running servers that ask for that without TLS: others may read them
    #[arg(long)]
    pub insecure_auth: bool,
}

/// The flags of `hunt`.
#[derive(Debug, Default, clap::Args)]
pub struct HuntArgs {
    /// What to hunt in: one target, or several that should do the same (the same one twice is allowed). Without any, a
    /// demonstration
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,
    /// The same, as every command takes it
    #[arg(long, value_name = "TARGET", num_args = 1..)]
    pub on: Vec<String>,
    /// End after this time, e.g. 30s, 5m, 1h [default: 60s, unless --cases is given]
    #[arg(long = "for", value_name = "TIME")]
    pub time: Option<String>,
    /// End after so many cases
    #[arg(long, value_name = "N")]
    pub cases: Option<u64>,
    /// What all random choices follow from: the same seed, the same cases
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Generate and judge only group N of this seed: the same cases as in a hunt with the same targets, profile, levels
    /// and oracles. With -o, all of its cases are written, too
    #[arg(long, value_name = "N", conflicts_with = "storm")]
    pub group: Option<u64>,
    /// What cases look like: dt2, dbstorm, txcheck (for the graph oracle), or a TOML file [default: dt2]
    #[arg(long, value_name = "NAME|FILE")]
    pub profile: Option<String>,
    /// Only at this isolation level; may be repeated [default: all that the targets share]
    #[arg(long)]
    pub level: Vec<String>,
    /// Judge by this oracle; may be repeated [default: diff; for one target serial, graph, invariant and crash]
    #[arg(long, value_name = "NAME")]
    pub oracle: Vec<String>,
    /// Judge so many cases at the same time, each worker with servers of its own
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub workers: usize,
    /// Also let storms loose between the cases: many sessions at once, recorded and checked
    #[arg(long)]
    pub storm: bool,
    /// Write findings into this directory: reduced cases, and reports beside them [default: txloom-findings, created with
    /// the first finding]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// End with the first finding
    #[arg(long)]
    pub stop_on_first: bool,
    /// Also count what this file lists as known; may be repeated
    #[arg(long, value_name = "FILE")]
    pub known: Vec<PathBuf>,
    /// Treat nothing as known, not even what is shipped
    #[arg(long, conflicts_with = "known")]
    pub no_known: bool,
    /// Run at most so many tests to make one finding smaller
    #[arg(long, value_name = "N", default_value_t = crate::hunt::REDUCE_TESTS)]
    pub reduce_tests: usize,
    /// Cancel a statement that runs (not: waits) longer than this, e.g. 500ms, 10s, 2m
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub statement_limit: String,
    /// The form of the report
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// What private servers are told.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// The flags of `run`.
#[derive(Debug, Default, clap::Args)]
pub struct RunArgs {
    /// Case files (also *.spec and DT² text); directories stand for all *.sql files in them; - is the standard input
    #[arg(value_name = "CASE")]
    pub cases: Vec<PathBuf>,
    /// Where to run them: one target or several [default: sqlite]
    #[arg(long, value_name = "TARGET", num_args = 1..)]
    pub on: Vec<String>,
    /// Run every session at this isolation level, whatever the case says
    #[arg(long)]
    pub level: Option<String>,
    /// Have an oracle judge the cases, instead of their expectations: diff, serial, graph, invariant or crash
    #[arg(long, value_name = "ORACLE")]
    pub oracle: Option<String>,
    /// Write what happens into the case files, as their expectations
    #[arg(long)]
    pub record: bool,
    /// Write what happens to FILE as a history for `txloom check`, in the format that its ending names (.txh, .edn, …)
    #[arg(long, value_name = "FILE")]
    pub save_history: Option<PathBuf>,
    /// Run everything twice, and fail if the second time differs
    #[arg(long)]
    pub twice: bool,
    /// When a session waits: go on with the others (skip), or wait for it (wait)
    #[arg(long, value_name = "POLICY", default_value = "skip")]
    pub policy: PolicyName,
    /// Cancel a statement that runs (not: waits) longer than this, e.g. 500ms, 10s, 2m
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub statement_limit: String,
    /// Only one line per case
    #[arg(short, long)]
    pub quiet: bool,
    /// Fail cases in which nothing is checked: those without an expectation that applies
    #[arg(long, conflicts_with = "oracle")]
    pub strict: bool,
    /// The form of the report
    #[arg(long, default_value = "text")]
    pub format: RunFormat,
    /// What private servers are told.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Write the report to FILE instead of the standard output
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// The flags of `levels`.
#[derive(Debug, Default, clap::Args)]
pub struct LevelsArgs {
    /// The databases [default: sqlite]
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,
    /// The same, as every command takes it
    #[arg(long, value_name = "TARGET", num_args = 1..)]
    pub on: Vec<String>,
    /// Only this level; may be repeated
    #[arg(long)]
    pub level: Vec<String>,
    /// The form of the report
    #[arg(long, default_value = "text")]
    pub format: TableFormat,
    /// What private servers are told.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Write the report to FILE instead of the standard output
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// The flags of `doctor`.
#[derive(Debug, Default, clap::Args)]
pub struct DoctorArgs {
    /// Running servers: say what the user can do there that is not needed, and print the statements that make one who
    /// can do no more than is needed
    #[arg(value_name = "URL")]
    pub urls: Vec<String>,
    /// Drop the databases that killed runs of this machine left on these servers
    #[arg(long, requires = "urls")]
    pub sweep: bool,
    /// Log in with the password in the first line of FILE, instead of one in the URL
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// The form of the report
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Write the report to FILE instead of the standard output
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Text,
    /// For programs; versioned
    Json,
}

/// The form of a report that is a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum TableFormat {
    /// For people
    #[default]
    Text,
    /// For documents and issues
    Markdown,
    /// For programs; versioned
    Json,
}

/// The form of what `run` reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum RunFormat {
    /// For people
    #[default]
    Text,
    /// For programs; versioned
    Json,
    /// For PostgreSQL isolation tests (*.spec): the transcript of PostgreSQL's own runner
    Isolationtester,
}

/// What to do when the next step's session waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum PolicyName {
    /// Go on with the steps of other sessions, and come back
    #[default]
    Skip,
    /// Submit nothing until the session goes on; cancel it if it never does
    Wait,
}

const HUNT_EXAMPLES: &str = "\
Examples:
  txloom hunt                                      a demonstration: nothing to prepare, a few seconds
  txloom hunt model model+lost-update --cases 500  find a bug that we planted
  txloom hunt postgres --for 5m -o found           does PostgreSQL keep its promises?
  txloom hunt postgres --seed 7 --group 12         the cases of group 12 of that seed once more
  txloom hunt postgres --oracle graph --profile txcheck   long statements, one database
  txloom hunt mariadb mysql@/opt/mysql --for 1h -o found --workers 2

";

const LEVELS_EXAMPLES: &str = "\
Examples:
  txloom levels postgres                       all levels of a private PostgreSQL
  txloom levels sqlite model --format markdown
  txloom levels postgres --level repeatable-read";

fn hunt_help() -> String {
    HUNT_EXAMPLES.to_string() + &targets_help()
}

fn run_help() -> String {
    let mut text = "\
Examples:
  txloom run lost-update.sql                             on SQLite, which is built in
  txloom run lost-update.sql --on postgres --level rr    on a private PostgreSQL
  txloom run corpus --on sqlite model postgres --quiet   a whole directory, side by side
  txloom run new.sql --on postgres --record              write down what happens
  txloom run new.sql --on mariadb mysql --oracle diff    do they do the same? (exit 1 if not, 5 if that is open)
  txloom run new.sql --save-history new.edn              then `txloom check new.edn` tells which levels that satisfies

"
    .to_string();
    text.push_str(&targets_help());
    text
}

/// The table of targets, from the registry.
fn targets_help() -> String {
    let forms = || FAMILIES.iter().flat_map(|family| family.forms);
    let widest = forms().map(|form| form.written.len()).max().unwrap_or(0);
    let lines: Vec<String> = forms().map(|form| format!("  {:widest$}  {}", form.written, form.what)).collect();
    format!("Targets (`txloom doctor` tells which can be started here):\n{}", lines.join("\n"))
}

fn after_help() -> String {
    let mut codes: Vec<Exit> = Exit::ALL.to_vec();
    codes.sort_by_key(|exit| exit.code());
    let codes: Vec<String> = codes.iter().map(|exit| format!("  {:>3}  {}", exit.code(), exit.meaning())).collect();
    format!(
        "\
Start here:
  txloom hunt                              see a bug found, reduced and explained
  txloom hunt postgres --for 5m            look for bugs in a database
  txloom doctor                            see which databases can be used here
  txloom run CASE.sql --on postgres        run a case and see who waits for whom

Exit codes:
{}",
        codes.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn help_names_every_target() {
        let help = run_help();
        for form in FAMILIES.iter().flat_map(|family| family.forms) {
            assert!(help.contains(form.written) && help.contains(form.what), "{help}");
        }
    }

    #[test]
    fn several_targets_may_follow_one_flag() {
        let args = Args::try_parse_from(["txloom", "run", "a.sql", "--on", "sqlite", "model", "--on", "postgres"]);
        let Ok(Args { command: Command::Run(args), .. }) = args else { panic!("{args:?}") };
        assert_eq!(args.on, ["sqlite", "model", "postgres"]);
    }
}
