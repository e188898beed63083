//! What is known so far of an analysis, so that it can be reported whenever the budget is spent.

use std::sync::Arc;

use txloom_core::budget::{SpentCause, WorkBudget};
use txloom_core::conclusion::Conclusion;

use super::super::args::{ColorWhen, Format};
use super::super::conclude::conclude;
use super::super::failure::Failure;
use super::super::streams::Streams;
use super::AnalyzeArgs;
use crate::analyze::{SourceFile, conclusion};
use crate::exit::Exit;
use crate::interrupt;
use crate::report::model::analysis::{AnalysisReport, StoppedReport};
use crate::report::model::{Body, Report};
use crate::report::{json, text};
use crate::supervisor::{Supervisor, WorkLimits};

/// The form of the report.
#[derive(Debug, Clone, Default)]
struct ReportForm {
    format: Format,
    summary: bool,
    tables: bool,
    all: bool,
    files: Arc<[SourceFile]>,
}

/// An analysis under way: its limits, and how it is reported.
pub(super) struct Progress {
    supervisor: Supervisor,
    form: ReportForm,
    color: ColorWhen,
}

impl Progress {
    /// Begins to watch over the limits.
    pub(super) fn start(args: &AnalyzeArgs, limits: WorkLimits, color: ColorWhen) -> Progress {
        let form = ReportForm {
            format: args.format,
            summary: args.summary,
            tables: args.tables,
            all: args.all,
            files: Arc::default(),
        };
        let progress = Progress { supervisor: Supervisor::start(limits), form, color };
        progress.begin("reading the files");
        progress.leave(&AnalysisReport::default());
        progress
    }

    /// The files that the report shows.
    pub(super) fn set_files(&mut self, files: &[SourceFile]) {
        self.form.files = files.into();
    }

    pub(super) fn budget(&self) -> &WorkBudget {
        self.supervisor.budget()
    }

    /// Whether the budget is spent; what the user asked for is seen here at once.
    pub(super) fn has_stopped(&self) -> bool {
        if interrupt::requested() {
            self.budget().spend(SpentCause::Interrupt);
        }
        self.budget().is_spent()
    }

    /// A stage begins.
    pub(super) fn begin(&self, stage: &'static str) {
        self.supervisor.begin(stage);
    }

    /// Remembers what is known, in case that the stage does not stop in time.
    pub(super) fn leave(&self, told: &AnalysisReport) {
        let (told, form, color) = (told.clone(), self.form.clone(), self.color);
        let words = move |stage: &'static str, cause: SpentCause| {
            let mut streams = Streams::of_process(color);
            let exit = form.finish(stopped(told, stage, Some(cause)), &mut streams);
            i32::from(exit.unwrap_or(Exit::Internal).code())
        };
        self.supervisor.leave(Box::new(words));
    }

    /// Prints the report and gives the exit code that follows from it.
    pub(super) fn finish(&self, told: AnalysisReport, streams: &mut Streams) -> Result<Exit, Failure> {
        self.supervisor.finish();
        let told = stopped(told, self.supervisor.stage(), self.budget().cause());
        self.form.finish(told, streams)
    }
}

/// The report with the stage at which it stopped, if it did.
fn stopped(told: AnalysisReport, stage: &str, cause: Option<SpentCause>) -> AnalysisReport {
    let stopped = cause.map(|cause| StoppedReport { cause: cause.into(), stage: stage.to_string() });
    AnalysisReport { stopped: told.stopped.clone().or(stopped), ..told }
}

impl ReportForm {
    fn finish(&self, told: AnalysisReport, streams: &mut Streams) -> Result<Exit, Failure> {
        let is_interrupted =
            told.stopped.as_ref().is_some_and(|stopped| SpentCause::from(stopped.cause) == SpentCause::Interrupt);
        let concluded = conclusion(&told, self.summary || self.tables).interrupted(is_interrupted);
        self.print(told, &concluded, streams)?;
        match self.format {
            Format::Json => Ok((&concluded).into()),
            Format::Text => conclude(&concluded, streams),
        }
    }

    fn print(&self, told: AnalysisReport, concluded: &Conclusion, streams: &mut Streams) -> Result<(), Failure> {
        let options = *streams.text_options();
        match self.format {
            Format::Json => {
                let report = Report::concluded(Body::Analysis(Box::new(told)), concluded);
                streams.print(&json::print(&report))
            }
            Format::Text if self.summary => streams.print(&text::print_analysis_summary(&told, &options)),
            Format::Text if self.tables => streams.print(&text::print_analysis_tables(&told, &self.files, &options)),
            Format::Text if told.anomalies.is_some() => {
                streams.print(&text::print_anomalies(&told, &self.files, &options, self.all))
            }
            Format::Text => streams.print(&text::print_analysis(&told, &self.files, &options)),
        }
    }
}
