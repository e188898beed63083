//! `txloom doctor`: which targets can be started here, and how servers are told to log what applications do.
//!
//! A target is *ready* if it was really started a moment ago, not if its files are there.

mod access;

use txloom_core::planted::{self, Place, PlantedBug};

use super::args::{DoctorArgs, Format};
use super::failure::Failure;
use super::streams::Streams;
use crate::engines::registry::{Family, Form, Installed, Source};
use crate::engines::{self, FAMILIES, Target};
use crate::exit::Exit;
use crate::interrupt;
use crate::report::build::engine_version;
use crate::report::model::doctor::{LogAdvice, PlantedReport, RunningReport, TargetState};
use crate::report::model::{Body, DoctorReport, Report, TargetStatus};
use crate::report::{json, text};
use crate::servers::confinement;

/// Runs the command.
pub fn run(args: &DoctorArgs, streams: &mut Streams) -> Result<Exit, Failure> {
    if let Some(path) = &args.out {
        streams.redirect(path)?;
    }
    if !args.urls.is_empty() {
        return access::run(args, streams);
    }
    let report = Report::new(Body::Doctor(examine()));
    if interrupt::requested() {
        return Err(Failure::interrupted());
    }
    let printed = match args.format {
        Format::Text => text::print(&report, streams.text_options()),
        Format::Json => json::print(&report),
    };
    streams.print(&printed)?;
    Ok(Exit::Clean)
}

fn examine() -> DoctorReport {
    let urls = FAMILIES.iter().flat_map(|family| family.forms).filter(|form| form.written.contains("://"));
    let running = |form: &Form| RunningReport { target: form.written.to_string(), what: form.what.to_string() };
    DoctorReport {
        targets: FAMILIES.iter().flat_map(examine_family).collect(),
        unconfined: confinement::losses(),
        planted: planted::ALL.iter().map(planted_report).collect(),
        running: urls.map(running).collect(),
        logs: LOGS.iter().map(log_advice).collect(),
    }
}

fn examine_family(family: &'static Family) -> Vec<TargetStatus> {
    let installed = family.installed();
    match family.source {
        Source::Package(package) if installed.is_empty() => vec![TargetStatus {
            target: family.name.to_string(),
            what: what(family),
            state: TargetState::Missing,
            version: None,
            place: None,
            problem: Some(format!("apt install {package}")),
        }],
        _ => installed.iter().map(|found| try_out(family, found)).collect(),
    }
}

fn try_out(family: &Family, found: &Installed) -> TargetStatus {
    let mut status = TargetStatus {
        target: found.target.clone(),
        what: what(family),
        state: TargetState::Ready,
        version: None,
        place: Some(found.place.clone()),
        problem: None,
    };
    let opened = Target::parse(&found.target).map_err(|error| error.to_string());
    match opened.and_then(|target| engines::open(&target).map_err(|error| error.kind.to_string())) {
        Ok(engine) => status.version = Some(engine_version(engine.info())),
        Err(problem) => {
            status.state = TargetState::Failing;
            status.problem = Some(problem);
        }
    }
    status
}

fn what(family: &Family) -> String {
    family.forms.first().map(|form| form.what.to_string()).unwrap_or_default()
}

/// How servers are told to log every statement with its values, and the session that sent it.
#[rustfmt::skip]
const LOGS: &[(&str, &[&str])] = &[
    ("PostgreSQL", &[
        "ALTER SYSTEM SET log_statement = 'all';",
        "ALTER SYSTEM SET log_line_prefix = '%m [%p] ';        (any prefix with %p or %c will do)",
        "ALTER SYSTEM SET lc_messages = 'C';",
        "SELECT pg_reload_conf();                              SHOW log_directory; tells where it is",
        "for one application only: ALTER ROLE app SET log_statement = 'all';",
    ]),
    ("MySQL, MariaDB", &[
        "SET GLOBAL log_output = 'FILE';",
        "SET GLOBAL general_log_file = 'app.log';",
        "SET GLOBAL general_log = ON;                          OFF afterwards: it grows fast",
    ]),
    ("then", &[
        "let the application work for a while; pg_dump --schema-only or mysqldump --no-data for the tables",
        "txloom analyze app.log --schema dump.sql --level read-committed --on postgres",
    ]),
];

fn log_advice((server, settings): &(&str, &[&str])) -> LogAdvice {
    LogAdvice { server: (*server).to_string(), settings: settings.iter().map(ToString::to_string).collect() }
}

fn planted_report(bug: &PlantedBug) -> PlantedReport {
    let target = match bug.place {
        Place::Model => "model",
        Place::AnyEngine => "TARGET",
    };
    PlantedReport { target: format!("{target}+{}", bug.name), what: bug.what.to_string() }
}
