//! `txloom doctor URL`: what a user can do on a running server, and what is enough.

use serde_json::json;

use crate::cli::args::{DoctorArgs, Format, ServerArgs};
use crate::cli::failure::Failure;
use crate::cli::settings;
use crate::cli::streams::Streams;
use crate::engines::{self, AccessReport};
use crate::exit::Exit;

/// Examines the servers one after the other. The exit code says whether all of them could be logged in to.
pub(super) fn run(args: &DoctorArgs, streams: &mut Streams) -> Result<Exit, Failure> {
    let mut targets = settings::targets(&args.urls)?;
    let server = ServerArgs { password_file: args.password_file.clone(), ..ServerArgs::default() };
    settings::tell_servers(&mut targets, &server)?;
    for target in &targets {
        let report = engines::examine_access(target, args.sweep);
        let report =
            report.ok_or_else(|| Failure::bad_input(format!("{target} is not the URL of a running server")))??;
        let printed = match args.format {
            Format::Text => text(target.name(), &report),
            Format::Json => json(target.name(), &report),
        };
        streams.print(&printed)?;
    }
    Ok(Exit::Clean)
}

fn json(target: &str, report: &AccessReport) -> String {
    let AccessReport { user, excess, grants, dropped, left } = report;
    let value = json!({
        "target": target, "user": user, "excess": excess, "grants": grants, "dropped": dropped, "left": left,
    });
    format!("{value}\n")
}

fn text(target: &str, report: &AccessReport) -> String {
    let list = |title: String, lines: &[String]| match lines {
        [] => String::new(),
        lines => format!("{title}\n{}", lines.iter().map(|line| format!("  {line}\n")).collect::<String>()),
    };
    let user = &report.user;
    let rights = match report.excess.as_slice() {
        [] => format!("The user `{user}` can do nothing beyond databases of its own.\n"),
        excess => list(format!("What the user `{user}` can do and need not:"), excess),
    };
    format!(
        "{target}\n{rights}{}{}{}",
        list("A user who can do what is needed, and no more:".to_string(), &report.grants),
        list("Dropped, since its process is no more:".to_string(), &report.dropped),
        list(
            "Databases of txloom that are in use, or belong to another machine (drop them yourself if not):"
                .to_string(),
            &report.left
        ),
    )
}
