//! Which targets can be started here: `txloom doctor`.

use serde::{Deserialize, Serialize};

/// The targets of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DoctorReport {
    /// One entry per target.
    pub targets: Vec<TargetStatus>,
    /// Targets with planted bugs, e.g. `model+lost-update`, and what each bug does.
    pub planted: Vec<PlantedReport>,
    /// What private servers, and with them the cases that they run, can do on this machine although they should not.
    #[serde(default)]
    pub unconfined: Vec<String>,
    /// How servers that are already running are named.
    pub running: Vec<RunningReport>,
    /// How servers are told to write the log that `analyze` reads.
    #[serde(default)]
    pub logs: Vec<LogAdvice>,
}

/// How a server is told to log its statements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogAdvice {
    /// The server.
    pub server: String,
    /// What to tell it, one statement or setting a line.
    pub settings: Vec<String>,
}

/// One target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetStatus {
    /// The target, as `--on` takes it.
    pub target: String,
    /// What it is.
    pub what: String,
    /// Whether it can be used.
    pub state: TargetState,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Where it comes from: `built in`, or a directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Why it could not be started, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Whether a target can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetState {
    /// It was started a moment ago.
    Ready,
    /// Its programs are not on this machine.
    Missing,
    /// Its programs are there, but it could not be started.
    Failing,
}

/// How a server that is already running is named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningReport {
    /// The target, as `--on` takes it, with capitals for what is to be filled in.
    pub target: String,
    /// What txloom does with such a server.
    pub what: String,
}

/// A target with a planted bug.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlantedReport {
    /// The target, as `--on` takes it.
    pub target: String,
    /// What the bug does.
    pub what: String,
}
