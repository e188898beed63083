//! What is shown and written while a hunt runs.
//!
//! The first finding of a kind is shown in full, the others in a line each; all of them go into the directory. If a
//! finding cannot be written there, it is shown in full: nothing is lost.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use txloom_core::case::print::print;
use txloom_core::generate::Group;

use super::super::args::Format;
use super::super::failure::Failure;
use super::super::streams::Streams;
use super::settings::HuntSettings;
use crate::hunt::findings::{self, Findings};
use crate::hunt::report::{counts_report, hunt_finding, plan_report, recorded_finding};
use crate::hunt::{Found, Plan, Progress, StormFound, Watcher};
use crate::report::model::hunt::{HuntFinding, RecordedFinding};
use crate::report::text;

/// How often a line of progress is printed where it cannot be written over.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Shows a hunt.
pub(super) struct Show<'a> {
    settings: &'a HuntSettings,
    streams: &'a mut Streams,
    plan: Option<Plan>,
    last_line: Instant,
    kinds: BTreeSet<String>,
    /// The first failure to print.
    failure: Option<Failure>,
    /// Where findings are written.
    pub(super) findings: Findings,
    /// What has been told of each finding.
    pub(super) told: Vec<HuntFinding>,
    /// What has been told of what storms found.
    pub(super) recorded: Vec<RecordedFinding>,
    /// Whether something could not be written.
    pub(super) trouble: bool,
}

impl<'a> Show<'a> {
    /// Nothing has been shown yet.
    pub(super) fn new(settings: &'a HuntSettings, findings: Findings, streams: &'a mut Streams) -> Show<'a> {
        Show {
            settings,
            streams,
            plan: None,
            last_line: Instant::now(),
            kinds: BTreeSet::new(),
            failure: None,
            findings,
            told: Vec::new(),
            recorded: Vec::new(),
            trouble: false,
        }
    }

    /// The last thing to do: removes what is to be written over. `Err` if something could not be printed.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        self.streams.clear_status();
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Prints a text of the report; the hunt ends when nobody reads it any more.
    fn print(&mut self, text: &str) -> ControlFlow<()> {
        if self.settings.format == Format::Json {
            return ControlFlow::Continue(());
        }
        match self.streams.print(text) {
            Ok(()) if self.streams.is_closed() => ControlFlow::Break(()),
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                self.failure.get_or_insert(failure);
                ControlFlow::Break(())
            }
        }
    }

    /// The number of the next finding, whoever found it.
    fn next_number(&self) -> usize {
        self.told.len() + self.recorded.len() + 1
    }

    /// Writes the history of a storm into the directory; says so if that fails.
    fn write_recorded(&mut self, found: &StormFound) -> RecordedFinding {
        let file = match self.findings.write_recorded(found) {
            Ok(file) => file.map(|file| file.display().to_string()),
            Err(error) => {
                self.trouble = true;
                self.streams.complain(&format!("txloom: {error}; the finding follows"));
                None
            }
        };
        recorded_finding(self.next_number(), found, file)
    }

    /// Writes a finding into the directory; says so if that fails.
    fn write(&mut self, found: &Found, plan: &Plan) -> HuntFinding {
        match self.findings.write(found, plan) {
            Ok(written) => {
                let file = written.case.display().to_string();
                hunt_finding(found, plan, written.report, Some(file))
            }
            Err(error) => {
                self.trouble = true;
                self.streams.complain(&format!("txloom: {error}; the finding follows"));
                hunt_finding(found, plan, findings::unwritten_report(found, plan), None)
            }
        }
    }
}

impl Watcher for Show<'_> {
    fn started(&mut self, plan: &Plan) -> ControlFlow<()> {
        self.plan = Some(plan.clone());
        if self.settings.keep_server {
            for (engine, client) in plan.targets.iter().filter_map(|engine| Some((engine, engine.client.as_ref()?))) {
                let message = format!("txloom: {}: stays running; look inside with: {client}", engine.target);
                self.streams.complain(&message);
            }
        }
        let text = text::print_hunt_plan(&plan_report(plan), self.streams.text_options());
        self.print(&text)
    }

    fn generated(&mut self, group: &Group) -> ControlFlow<()> {
        if !self.settings.is_out_named {
            return ControlFlow::Continue(());
        }
        for (position, case) in group.cases.iter().enumerate() {
            let name = format!("group-{}-case-{position}", group.number);
            if let Err(error) = self.findings.write_case(&name, &print(case)) {
                self.trouble = true;
                self.streams.complain(&format!("txloom: {error}"));
            }
        }
        ControlFlow::Continue(())
    }

    fn found(&mut self, found: &Found) -> ControlFlow<()> {
        let Some(plan) = self.plan.take() else { return ControlFlow::Continue(()) };
        let told = HuntFinding { number: self.next_number(), ..self.write(found, &plan) };
        self.plan = Some(plan);
        let is_first = self.kinds.insert(found.finding.fingerprint.kind().to_string());
        let is_lost = self.trouble && told.file.is_none();
        let options = self.streams.text_options();
        let text = if is_first || is_lost {
            format!("\n{}\n", text::print_whole_hunt_finding(&told, options))
        } else {
            text::print_hunt_finding(&told, options)
        };
        self.told.push(told);
        self.print(&text)
    }

    fn recorded(&mut self, found: &StormFound) -> ControlFlow<()> {
        let told = self.write_recorded(found);
        let is_first = self.kinds.insert(found.kind.clone());
        let is_whole = is_first || (self.trouble && told.file.is_none());
        let text = text::print_recorded_finding(&told, is_whole, self.streams.text_options());
        self.recorded.push(told);
        self.print(&if is_whole { format!("\n{text}\n") } else { text })
    }

    fn progress(&mut self, progress: &Progress<'_>) -> ControlFlow<()> {
        let (counts, seconds) = (counts_report(progress.counts), progress.elapsed.as_secs_f64());
        if let Some(options) = self.streams.status_options() {
            let line = text::print_hunt_progress(&counts, seconds, options.color, Some(options.width));
            self.streams.show_status(&line);
        } else if self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            self.streams.complain(&text::print_hunt_progress(&counts, seconds, false, None));
        }
        ControlFlow::Continue(())
    }
}
