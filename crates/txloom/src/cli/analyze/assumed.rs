//! The target and the level that are assumed where the flags name none.
//!
//! ```text
//!   --on TARGET          ──→ its default level
//!   a sign in the files  ──→ the default level of that database; with --run, a private server of it
//!   neither              ──→ PostgreSQL's READ COMMITTED; with --run, the embedded engine `model` at READ COMMITTED
//! ```

use crate::analyze::Project;
use crate::analyze::database::{self, DatabaseSign};
use crate::engines::Target;

use super::super::failure::Failure;
use super::super::settings;
use super::settings::{AnalyzeSettings, is_store};

/// Fills in what the flags leave open.
pub(super) fn assume(settings: &mut AnalyzeSettings, project: &Project) -> Result<(), Failure> {
    let Some(search) = &mut settings.search else { return Ok(()) };
    let why = match settings.is_target_named || is_store(&search.level) {
        true => format!("the default of {}", settings.target),
        false => {
            let told = database::told_by(project);
            let (target, why) = assumed_target(told, settings.runs)?;
            settings.target = target;
            settings::tell_servers(std::slice::from_mut(&mut settings.target), &settings.server)?;
            why
        }
    };
    if !search.level.is_empty() {
        return Ok(());
    }
    match database::default_level(settings.target.family.name) {
        Some(level) => {
            search.level = level.to_string();
            (search.assumed, search.patterns) = (Some(why), true);
        }
        // Nothing is known of its levels; the patterns of whole transactions are looked for all the same.
        None => settings.search = None,
    }
    Ok(())
}

/// The database whose level is assumed, and why.
fn assumed_target(told: Option<DatabaseSign>, runs: bool) -> Result<(Target, String), Failure> {
    let (name, why) = match told {
        Some(DatabaseSign { family, sign }) => (family, format!("{sign}, and this is its default")),
        None if runs => ("model", "no --on, and no file tells the database".to_string()),
        None => ("postgres", "no --on, and no file tells the database; it is PostgreSQL's default".to_string()),
    };
    Ok((Target::parse(name).map_err(Failure::bad_input)?, why))
}
