//! Tables that the target takes.
//!
//! The definitions of an application are written for one system, by people or by its dump tool. A target gets them as
//! they are, if it takes them; if not, it gets tables that were made anew from what was read of them, and statements that
//! quote names as it does.

use std::sync::Arc;

use txloom_core::dialect::Dialect;
use txloom_core::engine::Engine;
use txloom_core::oracle::RunError;
use txloom_core::program::schema::Remade;
use txloom_core::program::{SqlPart, Statement};

use super::Project;
use crate::execute::reset;

/// The project with tables that an engine takes, and why they are not those that were written; `None` if they are.
pub fn suited(project: &Project, engine: &mut dyn Engine) -> Result<Option<(Project, String)>, RunError> {
    let refusal = match reset(engine, &project.definitions) {
        Ok(_) => return Ok(None),
        Err(RunError::Setup { sql, error, .. }) => format!("{}: {}", beginning(&sql, 40), beginning(&error, 80)),
        Err(error) => return Err(error),
    };
    let remade = project.remade(engine.info().dialect);
    match reset(engine, &remade.definitions) {
        Ok(_) => Ok(Some((remade, refusal))),
        // What people wrote is what they can mend.
        Err(RunError::Setup { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Project {
    /// The same application for a system that does not take its tables as they are written.
    #[must_use]
    pub fn remade(&self, dialect: &dyn Dialect) -> Project {
        let remade = self.schema.remade(dialect);
        let mut program = (*self.program).clone();
        program.procedures.iter_mut().for_each(|procedure| restate(&mut procedure.body, &remade));
        let restated = |sql: &String| remade.restated(sql);
        let mut asserts = self.asserts.clone();
        asserts.iter_mut().for_each(|(_, assert)| assert.sql = restated(&assert.sql));
        Project {
            program: Arc::new(program),
            rows: self.rows.iter().map(restated).collect(),
            definitions: remade.statements.clone(),
            asserts,
            is_remade: true,
            schema: remade.schema,
            ..self.clone()
        }
    }
}

fn restate(statements: &mut [Statement], remade: &Remade) {
    for statement in statements {
        for part in statement.sql_mut().into_iter().flat_map(|sql| &mut sql.parts) {
            if let SqlPart::Text(text) = part {
                text.text = remade.restated(&text.text);
            }
        }
        statement.bodies_mut().into_iter().for_each(|body| restate(body, remade));
    }
}

/// The beginning of a text, on one line.
fn beginning(text: &str, letters: usize) -> String {
    let line = txloom_core::sql::one_line(text);
    let cut: String = line.chars().take(letters).collect();
    if cut.len() < line.len() { format!("{cut}…") } else { line }
}
