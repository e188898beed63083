//! What is shown while a storm runs.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::super::args::Format;
use super::super::failure::Failure;
use super::super::streams::Streams;
use super::settings::StormSettings;
use crate::report::text;
use crate::storm::report::{plan_report, progress_report};
use crate::storm::{Loading, Plan, Progress, Watcher};

/// How often a line of progress is printed where it cannot be written over.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Shows a storm.
pub(super) struct Show<'a> {
    settings: &'a StormSettings,
    streams: &'a mut Streams,
    last_line: Instant,
    /// The first failure to print.
    failure: Option<Failure>,
}

impl<'a> Show<'a> {
    /// Nothing has been shown yet.
    pub(super) fn new(settings: &'a StormSettings, streams: &'a mut Streams) -> Show<'a> {
        Show { settings, streams, last_line: Instant::now(), failure: None }
    }

    /// Shows a line of progress: `line` is told whether it may have colours, and how wide it may be.
    fn show(&mut self, line: impl Fn(bool, Option<usize>) -> String) {
        if let Some(options) = self.streams.status_options() {
            let line = line(options.color, Some(options.width));
            self.streams.show_status(&line);
        } else if self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            self.streams.complain(&line(false, None));
        }
    }

    /// Removes what is to be written over. `Err` if something could not be printed.
    pub(super) fn finish(self) -> Result<(), Failure> {
        self.streams.clear_status();
        self.failure.map_or(Ok(()), Err)
    }
}

impl Watcher for Show<'_> {
    fn loading(&mut self, loading: &Loading<'_>) -> ControlFlow<()> {
        let Loading { table, rows, positions, elapsed } = loading;
        let seconds = elapsed.as_secs();
        self.show(|_, _| format!("txloom: filling {table}: {rows} rows of at most {positions} in {seconds} s"));
        ControlFlow::Continue(())
    }

    fn started(&mut self, plan: &Plan) -> ControlFlow<()> {
        if let Some(client) = plan.engine.client.as_ref().filter(|_| self.settings.keep_server) {
            let message = format!("txloom: {}: stays running; look inside with: {client}", plan.engine.target);
            self.streams.complain(&message);
        }
        if self.settings.format == Format::Json {
            return ControlFlow::Continue(());
        }
        let text = text::print_storm_plan(&plan_report(plan), self.streams.text_options());
        match self.streams.print(&text) {
            Ok(()) if self.streams.is_closed() => ControlFlow::Break(()),
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                self.failure = Some(failure);
                ControlFlow::Break(())
            }
        }
    }

    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        let progress = progress_report(progress);
        self.show(|color, width| text::print_storm_progress(&progress, color, width));
        ControlFlow::Continue(())
    }
}
