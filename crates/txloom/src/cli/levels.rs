//! `txloom levels`: what the isolation levels of a database really mean.

use txloom_core::level::LevelName;
use txloom_core::level::matrix::Reaction;
use txloom_core::oracle::Runner as _;

use super::args::{LevelsArgs, TableFormat};
use super::failure::Failure;
use super::settings;
use super::streams::Streams;
use crate::cli::run::announce_rights;
use crate::engines;
use crate::execute::EngineRunner;
use crate::exit::Exit;
use crate::levels::{self, Cell, Matrix};
use crate::report::build::engine_version;
use crate::report::model::levels::{AnomalyReport, CellReport, LevelsReport, MatrixReport, ReactionReport};
use crate::report::model::{Body, Report};
use crate::report::{json, text};

/// Runs the command. What it finds is an answer, not a failure: it ends with 0.
pub fn run(args: &LevelsArgs, streams: &mut Streams) -> Result<Exit, Failure> {
    let mut targets = settings::targets(args.targets.iter().chain(&args.on))?;
    settings::tell_servers(&mut targets, &args.server)?;
    let levels = args.level.iter().map(|name| settings::level(name)).collect::<Result<Vec<LevelName>, _>>()?;
    if let Some(path) = &args.out {
        streams.redirect(path)?;
    }
    announce_rights(&targets, streams);
    let mut matrices = Vec::new();
    for target in &targets {
        let mut runner = EngineRunner::new(vec![engines::open(target)?]);
        settings::tell_of_kept(&runner.targets(), &args.server, streams);
        matrices.push(matrix_report(&levels::measure(&mut runner, 0, &levels)?));
    }
    let report = LevelsReport { targets: matrices };
    let printed = match args.format {
        TableFormat::Markdown => text::markdown_levels(&report),
        TableFormat::Json => json::print(&Report::new(Body::Levels(report))),
        TableFormat::Text => text::print(&Report::new(Body::Levels(report)), streams.text_options()),
    };
    streams.print(&printed)?;
    Ok(Exit::Clean)
}

fn matrix_report(matrix: &Matrix) -> MatrixReport {
    let row = |row: &levels::Row| AnomalyReport {
        anomaly: row.anomaly.id.to_string(),
        name: row.anomaly.name.to_string(),
        case: row.case.to_string(),
        cells: row.cells.iter().map(cell_report).collect(),
    };
    MatrixReport {
        target: matrix.engine.target.clone(),
        version: engine_version(&matrix.engine),
        levels: matrix.levels.iter().map(ToString::to_string).collect(),
        rows: matrix.rows.iter().map(row).collect(),
    }
}

fn cell_report(cell: &Cell) -> CellReport {
    let reaction = match &cell.reaction {
        Err(why) => ReactionReport::Failed { why: why.clone() },
        Ok(Reaction::Allowed) => ReactionReport::Allowed,
        Ok(Reaction::Versions) => ReactionReport::Versions,
        Ok(Reaction::Waited(session)) => ReactionReport::Waited { session: session.to_string() },
        Ok(Reaction::Refused(session, class)) => {
            ReactionReport::Refused { session: session.to_string(), class: class.to_string() }
        }
    };
    CellReport { reaction, news: cell.is_news() }
}
