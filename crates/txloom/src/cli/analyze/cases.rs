//! What goes wrong, as files that can be run again.

use std::path::{Path, PathBuf};

use txloom_core::case::{Case, print};
use txloom_core::finding::{Finding, shell_word};
use txloom_core::oracle::invariant;

use super::super::failure::Failure;
use super::super::settings::with_flags;
use crate::analyze::Project;
use crate::analyze::trial::PROGRAM_FILE;
use crate::files::{FileError, write};
use crate::report::model::analysis::FateReport;
use crate::report::model::check::ViolationReport;
use crate::report::svg;

/// The directory of the cases. The program is written beside them, in our own notation.
pub(super) struct Folder {
    path: PathBuf,
    count: usize,
    /// What replay commands say besides the case, its target and the oracle.
    flags: String,
    /// The first thing that could not be written.
    unwritten: Option<Failure>,
}

impl Folder {
    /// Creates the directory, and writes the program.
    pub(super) fn new(path: &Path, project: &Project, flags: &str) -> Result<Folder, Failure> {
        std::fs::create_dir_all(path).map_err(|error| FileError::new("create", path, error))?;
        write(&path.join(PROGRAM_FILE), &project.program.to_string())?;
        Ok(Folder { path: path.to_path_buf(), count: 0, flags: flags.to_string(), unwritten: None })
    }

    /// Writes the case of a schedule, and says in the report how to run it.
    pub(super) fn write(&mut self, name: &str, finding: &Finding, fate: &mut FateReport) {
        let Some(shown) = self.next(name, &finding.case) else { return };
        fate.replay = Some(with_flags(&finding.replay_command(&shown), &self.flags));
        fate.case = Some(shown);
    }

    /// Writes a picture beside the case that was written last, and says so in the report.
    pub(super) fn draw(&mut self, picture: &ViolationReport, fate: &mut FateReport) {
        let Some(case) = &fate.case else { return };
        let picture_file = Path::new(case).with_extension("svg");
        if self.put(&picture_file, &svg::print(picture)) {
            fate.picture = Some(picture_file.display().to_string());
        }
    }

    /// Writes the case of a call that was lost.
    pub(super) fn write_lost(&mut self, name: &str, case: &Case, target: &str, fate: &mut FateReport) {
        let Some(shown) = self.next(&format!("lost-behind-{name}"), case) else { return };
        let (file, target) = (shell_word(&shown), shell_word(target));
        let command = format!("txloom run {file} --on {target} --oracle {}", invariant::NAME);
        fate.replay = Some(with_flags(&command, &self.flags));
        fate.case = Some(shown);
    }

    /// The first thing that could not be written.
    pub(super) fn unwritten(&self) -> Option<&Failure> {
        self.unwritten.as_ref()
    }

    /// Writes a file; false if that fails. What was found is told all the same.
    fn put(&mut self, path: &Path, text: &str) -> bool {
        let written = write(path, text);
        let is_written = written.is_ok();
        self.unwritten = self.unwritten.take().or(written.err());
        is_written
    }

    fn next(&mut self, name: &str, case: &Case) -> Option<String> {
        self.count += 1;
        let plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || "_,-".contains(*c)).collect();
        let file = self.path.join(format!("{:03}-{}.sql", self.count, plain.replace(',', "-")));
        self.put(&file, &print::print(case)).then(|| file.display().to_string())
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    Ok(write::file(path, text.as_bytes())?)
}
