//! Programs with known truth: which of them are broken at which level of which server.
//!
//! # The problem
//!
//! `analyze` claims that some calls of a program can break each other, or that none can. A test that compares such a
//! claim with an expectation that somebody wrote down proves little: the expectation may be wrong.
//!
//! # The idea
//!
//! Small programs can be tried out. For a few calls and rows, *every interleaving* of the calls' statements is executed
//! on a real server, with its own locks and snapshots, and judged by the serial orders of the calls that succeeded:
//!
//! ```text
//!   corpus/truth/truth.txt ──table──→ entries: file, rows, sets of calls, truth of each cell
//!           │                                │
//!           │                          interleavings: all of them, on a real server ──→ broken or safe
//!           │                                                                            ‖ compared by a soak
//!           └──→ a test: what `analyze` says of each cell ──→ never "holds" for broken, never "violated" for safe
//! ```
//!
//! A *cell* is a server with one of its levels.
//!
//! # Limits
//!
//! *Safe* means safe for the calls and rows of the entry; whoever writes an entry chooses them so that they meet.

mod table;
mod interleavings;

pub use interleavings::{Interleavings, Tried};
pub use table::{Cell, Entry, Truth, TruthError, read};

use std::path::Path;
use std::sync::Arc;

use txloom_core::case::{Case, Item, Line, SessionName, Sql};
use txloom_core::level::LevelName;

use crate::analyze::trial::PROGRAM_FILE;
use crate::analyze::{Project, SourceFile};

/// The table, below the root of the repository.
pub const TABLE: &str = "corpus/truth/truth.txt";

impl Entry {
    /// The program and its tables; `folder` is that of the table.
    pub fn project(&self, folder: &Path) -> Result<Project, TruthError> {
        let files = self.schema.iter().chain([&self.file]);
        let read = |name: &String| match std::fs::read_to_string(folder.join(name)) {
            Ok(text) => Ok(SourceFile::new(name.clone(), text)),
            Err(error) => Err(TruthError { line: self.line, message: format!("cannot read {name}: {error}") }),
        };
        Ok(Project::read(files.map(read).collect::<Result<_, _>>()?))
    }

    /// The case of one of the sets of calls, each call in a session of its own.
    pub fn case(&self, project: &Project, calls: &[Item], level: &str) -> Result<Case, TruthError> {
        let wrong = |message: String| TruthError { line: self.line, message };
        let mut lines = vec![Line::Isolation(None, LevelName::custom(level)), Line::Program(PROGRAM_FILE.to_string())];
        for sql in project.definitions.iter().chain(&self.rows) {
            lines.push(Line::Init(Sql::new(sql).map_err(wrong)?, Vec::new()));
        }
        for (call, letter) in calls.iter().zip('a'..='z') {
            let name = SessionName::new(&letter.to_string()).ok_or_else(|| wrong("too many calls".to_string()))?;
            lines.push(Line::Step(name, call.clone(), Vec::new()));
        }
        let entries = lines.into_iter().map(Into::into).collect();
        Ok(Case { program: Some(Arc::clone(&project.program)), entries, ..Case::default() })
    }
}
