//! What `analyze` tells of an application.

use std::fmt;

use serde::{Deserialize, Serialize};
use txloom_core::budget::SpentCause;
use txloom_core::search::script;

use super::check::{EdgeReport, ViolationReport};
use super::finding::ExplanationReport;

/// What can go wrong in an application, and what does.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AnalysisReport {
    /// What was analysed.
    pub summary: SummaryReport,
    /// What could not be read or resolved.
    pub remarks: Vec<RemarkReport>,
    /// What transactions read, write, define and use; if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<TablesReport>,
    /// Where it was run, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunOn>,
    /// The schedules that may go wrong.
    pub schedules: Vec<ScheduleReport>,
    /// The commits behind which the end of the process would leave half of the work.
    pub commit_points: Vec<CommitPointReport>,
    /// Serializability anomalies, if a level was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anomalies: Option<AnomaliesReport>,
    /// Where it stopped, if it did before its end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stopped: Option<StoppedReport>,
}

/// Where an analysis stopped before its end, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoppedReport {
    /// The reason.
    pub cause: StopCause,
    /// What was being done: `searching for cycles`.
    pub stage: String,
}

/// The reason why an analysis stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopCause {
    /// The user asked for it.
    Interrupt,
    /// The time was up.
    Time,
    /// The memory budget was spent.
    Memory,
    /// The steps were used up.
    Steps,
}

impl From<SpentCause> for StopCause {
    fn from(cause: SpentCause) -> StopCause {
        match cause {
            SpentCause::Interrupt => StopCause::Interrupt,
            SpentCause::Time => StopCause::Time,
            SpentCause::Memory => StopCause::Memory,
            SpentCause::Steps => StopCause::Steps,
        }
    }
}

impl From<StopCause> for SpentCause {
    fn from(cause: StopCause) -> SpentCause {
        match cause {
            StopCause::Interrupt => SpentCause::Interrupt,
            StopCause::Time => SpentCause::Time,
            StopCause::Memory => SpentCause::Memory,
            StopCause::Steps => SpentCause::Steps,
        }
    }
}

/// The serializability anomalies of an application at a level.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AnomaliesReport {
    /// The level: `store:eventual`, `postgres read committed`.
    pub level: String,
    /// Why that level was assumed, if no flag names it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub assumed: Option<String>,
    /// Whether orders of whole transactions were looked at, too.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub patterns: bool,
    /// What holds at that level.
    pub means: String,
    /// How many statements a cycle may have.
    pub length: usize,
    /// How many calls.
    pub instances: usize,
    /// Whether reads count that decide nothing.
    pub external: bool,
    /// How many candidate cycles there were.
    pub candidates: usize,
    /// How many of them happen.
    pub found: usize,
    /// How many cannot happen, or do not show.
    pub impossible: usize,
    /// How many could not be decided.
    pub unknown: usize,
    /// How many were not looked at, because the budget was spent.
    pub left: usize,
    /// True if there are more candidate cycles than were counted.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_cut: bool,
    /// How many procedures, the last ones, were left out, because there are too many dependencies.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub unconnected: usize,
    /// How many anomalies were run, and how many of these showed; if they were run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<(usize, usize)>,
    /// Those that happen, alike ones together.
    pub structures: Vec<StructureReport>,
    /// What removes them all, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fixes: Option<FixesReport>,
}

fn all_are_counted() -> bool {
    true
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The changes that cost least of those that remove everything.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FixesReport {
    /// The changes.
    pub changes: Vec<FixReport>,
    /// How many structures are there still with all of them.
    pub left: usize,
}

/// Anomalies that are alike: the same procedures, tables and kinds of dependencies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StructureReport {
    /// Its number, from 1.
    pub number: usize,
    /// What people call it: `lost update`.
    pub class: String,
    /// `payment ─rw customer→ payment ─rw customer→`
    pub structure: String,
    /// The procedures, one for each call.
    pub procedures: Vec<String>,
    /// The tables, one for each dependency.
    pub tables: Vec<String>,
    /// How many anomalies there are of this structure.
    pub anomalies: usize,
    /// The run that shows each of them, by number from 0.
    pub tests: Vec<usize>,
    /// Whether the run has a cycle through fewer calls in it, too.
    pub contains_smaller: bool,
    /// How many of them showed, if they were run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<usize>,
    /// The first of them: what happens, and where.
    pub remark: RemarkReport,
    /// Its dependencies: `a reads customer.c_balance (payment.sql:87), which b overwrites (payment.sql:93)`.
    pub dependencies: Vec<String>,
    /// The same to be drawn: between calls, by their names.
    #[serde(default)]
    pub cycle: Vec<EdgeReport>,
    /// Its calls, as text: those of the cycle, and then those that came before.
    pub calls: Vec<String>,
    /// How many of them came before.
    #[serde(default)]
    pub before: usize,
    /// The rows that matter at the start.
    pub rows: Vec<String>,
    /// Who sends when, as in a case.
    pub schedule: String,
    /// The assertions that it breaks, if it was run on rows for which they hold.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub breaks: Vec<String>,
    /// What became of it, if it was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fate: Option<FateReport>,
    /// What removes it, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<FixReport>,
}

impl StructureReport {
    /// What is drawn: the cycle between the calls, and in words which they are and what each reads and writes.
    pub fn picture(&self) -> ViolationReport {
        let names = script::names(self.calls.len());
        let lets = names.iter().zip(&self.calls).map(|(name, call)| format!("{name} = {call}")).collect();
        let fate = self.fate.as_ref().filter(|fate| !fate.says.is_empty()).map(|fate| fate.says.clone());
        let however = fate.unwrap_or_else(|| "no order of the calls, one after the other, does that".to_string());
        let explanation = ExplanationReport { lets, thens: self.dependencies.clone(), however: vec![however] };
        ViolationReport {
            anomaly: self.class.clone(),
            name: self.class.replace('-', " "),
            what: self.remark.title.clone(),
            citation: String::new(),
            count: self.anomalies,
            explanation,
            transactions: Vec::new(),
            cycle: self.cycle.clone(),
        }
    }
}

/// A change that removes anomalies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FixReport {
    /// What kind of change it is: `lock`, `fold`, `transaction level`, …
    pub kind: String,
    /// What to do, in a sentence.
    pub says: String,
    /// The change, as a diff; empty if the sources stay as they are.
    pub diff: String,
    /// How many structures of the program it removes.
    pub removes: usize,
    /// What became of the tests on the changed program, if they were run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<String>,
    /// What callers must be ready for afterwards: which calls are refused, and what to do then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refusals: Option<String>,
}

/// What was analysed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SummaryReport {
    /// The files.
    pub files: Vec<String>,
    /// How many tables there are.
    pub tables: usize,
    /// How many procedures.
    pub procedures: usize,
    /// How many transactions.
    pub transactions: usize,
    /// How many SQL statements stand in procedures.
    pub statements: usize,
    /// How many of them are understood.
    pub understood: usize,
    /// How many assertions there are.
    pub assertions: usize,
    /// Whether all schedules were looked at.
    pub complete: bool,
    /// How many schedules each step of the analysis leaves; if a summary was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub funnel: Option<FunnelReport>,
    /// What was found in each log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<LogReport>,
}

/// What was found in a log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LogReport {
    /// The file.
    pub file: String,
    /// Its format, in words.
    pub format: String,
    /// How many lines it has.
    pub lines: usize,
    /// How many sessions sent something.
    pub sessions: u64,
    /// How many transactions committed.
    pub transactions: u64,
    /// How many were rolled back or failed.
    pub rolled_back: u64,
    /// How many statements these transactions have.
    pub statements: u64,
    /// How many of them are understood.
    pub understood: u64,
    /// Statements that begin, end or configure transactions.
    pub control: u64,
    /// Statements that drivers and tools send on their own.
    pub noise: u64,
    /// Statements that change the schema.
    pub definitions: u64,
    /// Statements that failed.
    pub failed: u64,
    /// Statements of transactions that were rolled back, or whose beginning or end is not there.
    pub dropped: u64,
    /// Lines that could not be read.
    pub unread: u64,
    /// The first of them.
    pub unread_at: Vec<usize>,
    /// Messages that are not UTF-8.
    pub not_text: u64,
    /// The procedures, and how many transactions each stands for.
    pub procedures: Vec<CountReport>,
}

/// How often a procedure was called.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CountReport {
    /// The procedure.
    pub name: String,
    /// How many transactions it stands for.
    pub count: u64,
}

/// How many schedules each step of the analysis leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FunnelReport {
    /// All triples of transactions.
    pub w1: u64,
    /// Those that access the same data.
    pub w2: u64,
    /// … and whose first and last are connected by the flow of data.
    pub w3: u64,
    /// … and whose accesses are a conflict pattern: the schedules.
    pub w4: u64,
    /// Whether these are all: counting ends once there are too many, or the budget is spent.
    #[serde(default = "all_are_counted")]
    pub is_complete: bool,
}

/// Something to say about places in the sources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemarkReport {
    /// `error`, `warning` or `note`.
    pub severity: RemarkSeverity,
    /// What it is about: `P0`, `atomicity`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What there is to say.
    pub title: String,
    /// The places, in the order of what happens there.
    pub marks: Vec<MarkReport>,
    /// What else is to be said.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<String>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// A place in a source, and what happens there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkReport {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
    /// What happens there.
    pub says: String,
}

/// Where a program was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOn {
    /// The target.
    pub target: String,
    /// Its version.
    pub version: String,
    /// The isolation level.
    pub level: String,
}

/// A schedule that may go wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScheduleReport {
    /// `⟨T1_A, T2_B, T2_A⟩`
    pub name: String,
    /// The procedures of A and B.
    pub procedures: [String; 2],
    /// What may be seen: `P0` to `P3`.
    pub phenomena: Vec<String>,
    /// The group of schedules that it belongs to, from 1: one change settles all of them, as a rule.
    pub group: usize,
    /// What happens, and where.
    pub remark: RemarkReport,
    /// What became of it, if it was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fate: Option<FateReport>,
}

/// A commit behind which the end of the process would leave half of the work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommitPointReport {
    /// The procedure.
    pub procedure: String,
    /// The transaction that is committed.
    pub transaction: String,
    /// What has been written.
    pub written: Vec<String>,
    /// What would never be written.
    pub lost: Vec<String>,
    /// What happens, and where.
    pub remark: RemarkReport,
    /// What became of it, if it was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fate: Option<FateReport>,
}

/// What became of a schedule or a commit point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FateReport {
    /// The verdict of the trial.
    pub verdict: TrialVerdict,
    /// Why, or what happened.
    pub says: String,
    /// The calls, as text.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub calls: Vec<String>,
    /// What each transaction changed, in order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub steps: Vec<StepReport>,
    /// The file that shows it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// The command that does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// A picture of the cycle.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub picture: Option<String>,
}

impl FateReport {
    /// A verdict with its reason, and nothing to show.
    pub fn new(verdict: TrialVerdict, says: impl Into<String>) -> FateReport {
        let says = says.into();
        FateReport { verdict, says, calls: Vec::new(), steps: Vec::new(), case: None, replay: None, picture: None }
    }
}

/// The severity of a remark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemarkSeverity {
    /// Something was not understood.
    Error,
    /// Something can go wrong.
    Warning,
    /// Something that is worth knowing.
    Note,
}

impl fmt::Display for RemarkSeverity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RemarkSeverity::Error => "error",
            RemarkSeverity::Warning => "warning",
            RemarkSeverity::Note => "note",
        })
    }
}

/// The verdict of a trial of a schedule, a commit point or an anomaly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialVerdict {
    /// It happened, and its outcome is wrong.
    Manifest,
    /// It happened, and its outcome is that of a serial order.
    Harmless,
    /// No arguments and rows lead to it.
    Impossible,
    /// No trial reached it.
    NotReached,
    /// The trial could not decide.
    Undecided,
}

impl TrialVerdict {
    /// True if nothing is known about the schedule.
    pub fn is_open(self) -> bool {
        matches!(self, TrialVerdict::NotReached | TrialVerdict::Undecided)
    }
}

impl TrialVerdict {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            TrialVerdict::Manifest => "manifest",
            TrialVerdict::Harmless => "harmless",
            TrialVerdict::Impossible => "impossible",
            TrialVerdict::NotReached => "not-reached",
            TrialVerdict::Undecided => "undecided",
        }
    }
}

impl fmt::Display for TrialVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name().replace('-', " "))
    }
}

/// What a transaction changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepReport {
    /// `A` or `B`.
    pub instance: String,
    /// The transaction.
    pub transaction: String,
    /// `flights - (1, 2) + (1, 1)`, for each table that changed.
    pub changes: Vec<String>,
}

/// AGENDA's tables.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TablesReport {
    /// `xact_read_write`: transaction, `R` or `W`, table, column (`*`: which rows there are).
    pub xact_read_write: Vec<[String; 4]>,
    /// `xact_parameter`: transaction, host variable, `D` or `U`, table, column.
    pub xact_parameter: Vec<[String; 5]>,
}
