//! An application after some changes of its sources.

use std::collections::BTreeMap;

use txloom_core::level::LevelName;
use txloom_core::program::Severity;
use txloom_core::program::front;
use txloom_core::program::schema::Schema;
use txloom_core::search::fix::{Change, Edit, Home, apply, diff, is_said_inside};
use txloom_core::search::level::Target;

use super::super::super::Project;
use super::super::Wanted;

/// An application after some changes.
#[derive(Debug, Clone)]
pub struct Edited {
    /// What its sources say now.
    pub project: Project,
    /// What is searched for in it: as before, but perhaps at another level.
    pub wanted: Wanted,
    /// What changed in the sources.
    pub diff: String,
}

impl Edited {
    /// Makes the changes; `None` if they cannot be made together, or if the result cannot be read as well as before.
    pub fn new(project: &Project, wanted: &Wanted, changes: &[&Change]) -> Option<Edited> {
        let mut by_file: BTreeMap<usize, Vec<&Edit>> = BTreeMap::new();
        let mut levels = Vec::new();
        for change in changes {
            for edit in &change.edits {
                let file = file_of(project, &edit.home)?;
                match (&edit.home, change.sets_level) {
                    // PostgreSQL takes no level inside of a procedure: CALL has its snapshot already. Its caller sets it.
                    (Home::Procedure(at), Some(level)) if is_plpgsql(project, file, *at) => {
                        levels.push((usize::from(*at), LevelName::custom(level)));
                    }
                    _ if project.files[file].is_sql() || !edit.is_of_statements() => {
                        by_file.entry(file).or_default().push(edit);
                    }
                    (Home::Procedure(at), Some(level)) => levels.push((usize::from(*at), LevelName::custom(level))),
                    // What is a statement in SQL is several lines in another language, in words that we do not know.
                    _ => return None,
                }
            }
        }
        let mut files = project.files.clone();
        let mut text = String::new();
        for (at, edits) in &by_file {
            let file = &mut files[*at];
            let changed = apply(&file.text, edits)?;
            text += &diff::unified(&file.name, &file.text, &changed);
            file.text = changed;
        }
        let wanted =
            Wanted { level: changes.iter().find_map(|change| change.level).unwrap_or(wanted.level), ..wanted.clone() };
        let mut read = if by_file.is_empty() {
            project.clone()
        } else {
            // Rows may have been given apart from the files.
            Project { rows: project.rows.clone(), ..Project::read(files) }
        };
        if !is_as_good(&read, project) {
            return None;
        }
        let inside = matches!(wanted.level, Target::Engine(rules) if is_said_inside(rules.engine));
        levels.iter().for_each(|(at, level)| read.set_level(*at, level, inside));
        Some(Edited { project: read, wanted, diff: text })
    }
}

/// Whether a procedure is one of PostgreSQL's.
fn is_plpgsql(project: &Project, file: usize, procedure: u16) -> bool {
    let span = project.program.procedures[usize::from(procedure)].span;
    let text = project.files[file].text.get(span.start..span.end).unwrap_or_default();
    let tokens = txloom_core::sql::tokens(text);
    tokens.windows(2).any(|pair| pair[0].is_word("LANGUAGE") && pair[1].is_word("plpgsql"))
}

fn file_of(project: &Project, home: &Home) -> Option<usize> {
    match home {
        Home::Procedure(at) => project.homes.get(usize::from(*at)).copied(),
        Home::Table(name) => {
            let creates = |text: &str| front::read(text, &Schema::default()).schema.tables.contains_key(name);
            project.files.iter().position(|file| creates(&file.text))
        }
    }
}

/// Whether the same procedures are there, and no more is unclear.
fn is_as_good(read: &Project, before: &Project) -> bool {
    let errors =
        |project: &Project| project.diagnostics.iter().filter(|(_, one)| one.severity == Severity::Error).count();
    let names = |project: &Project| -> Vec<String> {
        project.program.procedures.iter().map(|procedure| procedure.name.clone()).collect()
    };
    names(read) == names(before) && errors(read) <= errors(before)
}
