//! What goes wrong, as files that can be run again.

use std::path::{Path, PathBuf};

use txloom_core::case::{Case, print};
use txloom_core::finding::{Finding, shell_word};
use txloom_core::oracle::invariant;

use super::super::failure::Failure;
use super::super::settings::with_flags;
use crate::analyze::Project;
use crate::analyze::trial::PROGRAM_FILE;
use crate::report::model::analysis::FateReport;
use crate::report::model::check::ViolationReport;
use crate::report::svg;

/// The directory of the cases. The program is written beside them, in our own notation.
pub(super) struct Folder {
    path: PathBuf,
    count: usize,
    /// What replay commands say besides the case, its target and the oracle.
    flags: String,
}

impl Folder {
    /// Creates the directory, and writes the program.
    pub(super) fn new(path: &Path, project: &Project, flags: &str) -> Result<Folder, Failure> {
        std::fs::create_dir_all(path)
            .map_err(|error| Failure::bad_input(format!("cannot create {}: {error}", path.display())))?;
        write(&path.join(PROGRAM_FILE), &project.program.to_string())?;
        Ok(Folder { path: path.to_path_buf(), count: 0, flags: flags.to_string() })
    }

    /// Writes the case of a schedule, and says in the report how to run it.
    pub(super) fn write(&mut self, name: &str, finding: &Finding, fate: &mut FateReport) -> Result<(), Failure> {
        let shown = self.next(name, &finding.case)?;
        fate.replay = Some(with_flags(&finding.replay_command(&shown), &self.flags));
        fate.case = Some(shown);
        Ok(())
    }

    /// Writes a picture beside the case that was written last, and says so in the report.
    pub(super) fn draw(&self, picture: &ViolationReport, fate: &mut FateReport) -> Result<(), Failure> {
        let Some(case) = &fate.case else { return Ok(()) };
        let file = Path::new(case).with_extension("svg");
        write(&file, &svg::print(picture))?;
        fate.picture = Some(file.display().to_string());
        Ok(())
    }

    /// Writes the case of a call that was lost.
    pub(super) fn write_lost(
        &mut self,
        name: &str,
        case: &Case,
        target: &str,
        fate: &mut FateReport,
    ) -> Result<(), Failure> {
        let shown = self.next(&format!("lost-behind-{name}"), case)?;
        let (file, target) = (shell_word(&shown), shell_word(target));
        let command = format!("txloom run {file} --on {target} --oracle {}", invariant::NAME);
        fate.replay = Some(with_flags(&command, &self.flags));
        fate.case = Some(shown);
        Ok(())
    }

    fn next(&mut self, name: &str, case: &Case) -> Result<String, Failure> {
        self.count += 1;
        let plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || "_,-".contains(*c)).collect();
        let file = self.path.join(format!("{:03}-{}.sql", self.count, plain.replace(',', "-")));
        write(&file, &print::print(case))?;
        Ok(file.display().to_string())
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| Failure::bad_input(format!("cannot write {}: {error}", path.display())))
}
