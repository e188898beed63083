//! `txloom run`: run cases, and compare what happens with what they expect; or have an oracle judge them.

mod execute;
mod judge;
mod record;
mod history;

use std::time::Duration;

use txloom_core::conclusion::{Conclusion, Gap};
use txloom_core::engine::Engine;
use txloom_core::oracle::Runner;

use super::args::{Format, RunArgs, RunFormat};
use super::cases::{self, LoadedCase};
use super::conclude::conclude;
use super::failure::Failure;
use super::settings::{self, RunSettings};
use super::streams::Streams;
use crate::engines::{self, Place, Target};
use crate::execute::{EngineRunner, ExecuteOptions};
use crate::exit::Exit;
use crate::interrupt;
use crate::report::model::{Body, CaseReport, Report, RunReport, RunResult, Totals};
use crate::report::{json, text};

pub(crate) use execute::{Execution, execute};

/// Runs the command.
pub fn run(args: &RunArgs, streams: &mut Streams) -> Result<Exit, Failure> {
    if args.format == RunFormat::Isolationtester {
        if args.oracle.is_some() {
            return Err(Failure::bad_input(
                "--format isolationtester prints a transcript, and nothing for an oracle to judge",
            ));
        }
        if args.save_history.is_some() {
            return Err(Failure::bad_input(
                "--format isolationtester prints a transcript: save the history without it",
            ));
        }
        return super::isolation::run(args, streams);
    }
    let settings = RunSettings::new(args)?;
    let cases = cases::load(&settings.cases, streams)?;
    if settings.record {
        cases.iter().try_for_each(record::check)?;
    }
    if let Some(path) = &settings.save_history {
        history::check(path, &settings, &cases)?;
    }
    if let Some(path) = &settings.out {
        streams.redirect(path)?;
    }
    let mut runner = start(&settings, streams)?;
    settings::tell_of_kept(&runner.targets(), &args.server, streams);
    run_on(&settings, &cases, &mut runner, streams)
}

/// Starts all targets. What can be wrong with the case files is known by now, so that no server starts in vain.
pub(crate) fn start(settings: &RunSettings, streams: &mut Streams) -> Result<EngineRunner, Failure> {
    start_targets(&settings.targets, settings.statement_limit, streams)
}

/// Starts targets, and says first what will be done on servers that run already.
pub(crate) fn start_targets(
    targets: &[Target],
    statement_limit: Duration,
    streams: &mut Streams,
) -> Result<EngineRunner, Failure> {
    for target in targets.iter().filter(|target| matches!(target.place, Place::Running(_))) {
        let promise = "works in a database txloom_… of its own, which it creates now and drops at the end; what reaches \
                       further is not sent";
        streams.complain(&format!("txloom: {target}: {promise}"));
    }
    announce_rights(targets, streams);
    let engines: Vec<Box<dyn Engine>> = targets.iter().map(engines::open).collect::<Result<_, _>>()?;
    let options = ExecuteOptions { statement_limit };
    Ok(EngineRunner::new(engines).with_options(options))
}

/// How many rights that are not needed are listed; `doctor` lists all.
const RIGHTS_SHOWN: usize = 3;

/// Says what the users of running servers could do beyond databases of ours: no text of a statement tells all that it
/// does.
pub(crate) fn announce_rights(targets: &[Target], streams: &mut Streams) {
    for target in targets {
        // A server that cannot be asked says why when it is opened.
        let Some(Ok(report)) = engines::examine_access(target, false) else { continue };
        let (shown, rest) = report.excess.split_at(report.excess.len().min(RIGHTS_SHOWN));
        if !shown.is_empty() {
            let more = if rest.is_empty() { String::new() } else { format!("; and {} more", rest.len()) };
            let (user, shown) = (&report.user, shown.join("; "));
            streams
                .complain(&format!("txloom: {target}: the user `{user}` could do more than is needed: {shown}{more}"));
        }
    }
}

/// Runs the cases on targets that have been started, showing each case as soon as it is over.
pub(crate) fn run_on(
    settings: &RunSettings,
    cases: &[LoadedCase],
    runner: &mut dyn Runner,
    streams: &mut Streams,
) -> Result<Exit, Failure> {
    if let Some(level) = &settings.level {
        runner.targets().iter().try_for_each(|target| target.require_level(level))?;
    }
    if let Some(oracle) = settings.oracle {
        return judge::run_on(oracle, settings, cases, runner, streams);
    }
    let mut shown = Shown::new(settings);
    let (mut failure, mut unwritten) = (None, Vec::new());
    for loaded in cases {
        if interrupt::requested() || streams.is_closed() {
            break;
        }
        match execute(settings, loaded, runner) {
            Ok(done) => {
                let recorded = if settings.record { record::write(loaded, &done) } else { Ok(()) };
                shown.show(done.report, done.gaps, streams)?;
                unwritten.extend(recorded.err());
                if let (Some(path), Some(history)) = (&settings.save_history, done.history) {
                    unwritten.extend(history::write(path, loaded, history).err());
                }
            }
            Err(fatal) => {
                failure = Some(fatal);
                break;
            }
        }
    }
    let exit = shown.finish(cases.len(), streams)?;
    unwritten.iter().for_each(|failure| streams.fail(failure));
    // The conclusion says that it was interrupted.
    failure.filter(|failure| failure.exit != Exit::Interrupted).map_or(Ok(exit), Err)
}

/// What has been shown. Text appears case by case, and nothing of it is kept; JSON is one document at the end.
struct Shown<'a> {
    settings: &'a RunSettings,
    totals: Totals,
    report: RunReport,
    gaps: Vec<Gap>,
    /// Whether the page of a case has been printed.
    any_page: bool,
}

impl<'a> Shown<'a> {
    fn new(settings: &'a RunSettings) -> Shown<'a> {
        Shown { settings, totals: Totals::default(), report: RunReport::default(), gaps: Vec::new(), any_page: false }
    }

    fn show(&mut self, case: CaseReport, gaps: Vec<Gap>, streams: &mut Streams) -> Result<(), Failure> {
        self.totals.add(&case);
        self.gaps.extend(gaps);
        let options = *streams.text_options();
        let is_lost = case.is_lost();
        if is_lost && !self.settings.quiet {
            complain_of_failures(&case, streams);
        }
        match self.settings.format {
            Format::Json => {
                self.report.cases.push(case);
                Ok(())
            }
            Format::Text if is_lost && !self.settings.quiet => Ok(()),
            Format::Text if self.settings.quiet => streams.print(&text::print_case_line(&case, &options)),
            Format::Text => {
                let gap = if std::mem::replace(&mut self.any_page, true) { "\n\n" } else { "" };
                streams.print(&format!("{gap}{}", text::print_case(&case, &options)))
            }
        }
    }

    fn finish(self, planned: usize, streams: &mut Streams) -> Result<Exit, Failure> {
        let concluded = self.conclusion(planned);
        match self.settings.format {
            Format::Json => {
                streams.print(&json::print(&Report::concluded(Body::Run(self.report), &concluded)))?;
                Ok((&concluded).into())
            }
            // The last line of the page, or the message, says it all.
            Format::Text if self.totals.cases <= 1 && !self.settings.quiet && !concluded.is_interrupted => {
                Ok((&concluded).into())
            }
            Format::Text => conclude(&concluded, streams),
        }
    }

    fn conclusion(&self, planned: usize) -> Conclusion {
        let totals = &self.totals;
        let strictly = if self.settings.strict { totals.nothing_checked } else { 0 };
        let checked = totals.as_expected + totals.happened + totals.prevented;
        Conclusion::new(totals)
            .violated(totals.unmet + strictly, totals)
            .covering("cases", totals.cases as u64, Some(planned as u64))
            .with_gaps(self.gaps.iter().cloned())
            .interrupted(interrupt::requested())
            .unchecked(checked == 0)
    }
}

/// A case that could be run nowhere has no interleaving to show: what is wrong with it is told beside the report.
fn complain_of_failures(case: &CaseReport, streams: &mut Streams) {
    for target in case.runs.iter().flat_map(|run| &run.targets) {
        if let RunResult::Failed { failure } = &target.result {
            streams.complain(&format!("txloom: {} on {}: {failure}", case.file, target.target));
        }
    }
}
