//! `txloom analyze --level …`: which calls break each other at a level?

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use txloom_core::budget::WorkBudget;
use txloom_core::engine::EngineInfo;
use txloom_core::level::LevelName;
use txloom_core::program::front::Definitions;
use txloom_core::search::ground::Rows;
use txloom_core::search::level::Target as Level;

use super::super::failure::Failure;
use super::super::run::start_targets;
use super::super::streams::Streams;
use super::cases::Folder;
use super::progress::Progress;
use super::settings::{AnalyzeSettings, SearchSettings};
use super::suited;
use crate::analyze::Project;
use crate::analyze::search::fix::{Fixer, Runs};
use crate::analyze::search::second::Trouble;
use crate::analyze::search::{self, Searched, Shown, Trials, Wanted, report};
use crate::exit::Exit;
use crate::report::model::analysis::{AnalysisReport, AnomaliesReport, RunOn};

/// Searches, and runs what is found if that is asked for.
pub(super) fn search(
    settings: &AnalyzeSettings,
    asked: &SearchSettings,
    project: &Project,
    told: &mut AnalysisReport,
    (progress, streams): (&Progress, &mut Streams),
) -> Result<(), Failure> {
    let given = asked.initial.as_ref().map(|file| project.with_rows(Definitions::read(&file.text).rows()));
    let project = given.as_ref().unwrap_or(project);
    let needs_engine = settings.runs || given.is_some();
    progress.begin("starting the target");
    let mut runner = match needs_engine {
        true => Some(start_targets(std::slice::from_ref(&settings.target), settings.trial.limit, streams)?),
        false => None,
    };
    let remade = runner.as_mut().map(|runner| suited(project, runner, streams)).transpose()?.flatten();
    let project = remade.as_ref().unwrap_or(project);
    let info = runner.as_mut().map(|runner| runner.engines_mut()[0].info().clone());
    let level = level(settings, asked, info.as_ref())?;
    let level = staying(level, asked, info.as_ref(), streams);
    let initial = match (&given, &mut runner) {
        (Some(_), Some(runner)) => Some(search::rows_of(project, runner.engines_mut()[0].as_mut())?),
        _ => None,
    };
    progress.begin("the search for cycles");
    let wanted = wanted(asked, level, initial, progress.budget());
    let called = search::called(project);
    let prepared = search::prepare(project, &called, &wanted);
    let found = search::search(&prepared);
    agreement(settings, &wanted, streams)?;
    if !asked.patterns {
        told.schedules.clear();
        told.commit_points.clear();
    }
    let mut anomalies = report::report(project, &wanted, &prepared, &found);
    anomalies.assumed.clone_from(&asked.assumed);
    anomalies.patterns = asked.patterns;
    let mut runs = None;
    if let (Some(runner), Some(info), true) = (&mut runner, &info, settings.runs) {
        let of_engine = matches!(wanted.level, Level::Engine(_));
        let name = of_engine.then(|| LevelName::custom(&asked.level));
        if let Some(name) = &name {
            info.require_level(name)?;
        }
        let shown = name.as_ref().unwrap_or(&info.default_level).to_string();
        told.run = Some(RunOn { target: info.target.clone(), version: info.version.to_string(), level: shown });
        super::super::settings::tell_of_kept(std::slice::from_ref(info), &settings.server, streams);
        let mut folder =
            settings.out.as_deref().map(|out| Folder::new(out, project, &settings.replay_flags)).transpose()?;
        told.anomalies = Some(anomalies.clone());
        progress.begin("running the tests");
        progress.leave(told);
        let trials = Trials::new(project, runner, name.clone(), given.is_some());
        run_all(trials, &found, (&mut anomalies, folder.as_mut()), &mut |so_far| {
            told.anomalies = Some(so_far.clone());
            progress.leave(told);
            progress.has_stopped()
        })?;
        folder.iter().filter_map(Folder::unwritten).for_each(|failure| streams.fail(failure));
        runs = Some(Runs::new(project, runner, name, given.is_some()));
    }
    told.anomalies = Some(anomalies.clone());
    progress.leave(told);
    if asked.fix {
        progress.begin("the search for fixes");
        Fixer::new(project, &wanted, &prepared, &found).fix(&mut anomalies, runs.as_mut())?;
    }
    told.anomalies = Some(anomalies);
    Ok(())
}

fn wanted(asked: &SearchSettings, level: Level, initial: Option<Rows>, budget: &WorkBudget) -> Wanted {
    Wanted {
        level,
        bounds: asked.bounds,
        external: asked.external,
        initial,
        prefix: asked.prefix,
        budget: budget.clone(),
        grouping: true,
        second: asked.second.clone(),
    }
}

/// What became of the second opinion, if one was asked for.
fn agreement(settings: &AnalyzeSettings, wanted: &Wanted, streams: &mut Streams) -> Result<(), Failure> {
    let Some(second) = &wanted.second else { return Ok(()) };
    match second.trouble() {
        None => {
            let (agreed, undecided) = second.counts();
            let open = if undecided > 0 { format!("; one of them gave up on {undecided}") } else { String::new() };
            streams.complain(&format!("both solvers have the same answer to {agreed} questions{open}"));
            Ok(())
        }
        Some(Trouble::Failed(error)) => Err(Failure { exit: Exit::Unreachable, message: format!("txloom: {error}") }),
        Some(Trouble::Disagreement(found)) => {
            let folder = settings.out.clone().unwrap_or_else(|| PathBuf::from("."));
            let saved = match found.save(&folder) {
                Ok([smt, cnf]) => format!("the question is in {} and {}", smt.display(), cnf.display()),
                Err(error) => format!("the question could not be written to {}: {error}", folder.display()),
            };
            Err(Failure { exit: Exit::Internal, message: format!("txloom: {found}; {saved}; please report it") })
        }
    }
}

/// The rules of the level: the target's, if it has levels of its own, or a store's.
fn level(settings: &AnalyzeSettings, asked: &SearchSettings, info: Option<&EngineInfo>) -> Result<Level, Failure> {
    let family = settings.target.family.name;
    let is_store = family == "replicas";
    let none = Vec::new();
    let of = info.map_or(&none, |info| &info.settings);
    let engine = (!is_store).then_some((family, of.as_slice()));
    Level::parse(&asked.level, engine).map_err(Failure::bad_input)
}

/// The level, where each call stays on its node if that is asked for, or if the target's sessions do.
fn staying(level: Level, asked: &SearchSettings, info: Option<&EngineInfo>, streams: &mut Streams) -> Level {
    let is_store = matches!(level, Level::Store(_));
    let is_ring = info.is_some_and(|info| info.capabilities.is_ring);
    if is_store && is_ring && !asked.sticky {
        streams.complain("txloom: sessions stay on their servers in a ring, so that what is searched is --sticky");
    }
    if is_ring || asked.sticky { level.staying() } else { level }
}

/// How often it is remembered what has shown so far.
const REMEMBERED: Duration = Duration::from_millis(250);

/// Runs the test of every anomaly, once each, until `is_over` says so; it is given what has shown so far.
fn run_all(
    mut trials: Trials<'_>,
    found: &Searched,
    (anomalies, folder): (&mut AnomaliesReport, Option<&mut Folder>),
    is_over: &mut dyn FnMut(&AnomaliesReport) -> bool,
) -> Result<(), Failure> {
    let mut shown: BTreeMap<usize, Shown> = BTreeMap::new();
    let mut remembered = Instant::now();
    let mut so_far = anomalies.clone();
    for (at, test) in found.tests.iter().enumerate() {
        if remembered.elapsed() > REMEMBERED {
            so_far.clone_from(anomalies);
            tell(&mut so_far, found, &shown, None);
            remembered = Instant::now();
        }
        if is_over(&so_far) {
            break;
        }
        shown.insert(at, trials.run(test)?);
    }
    tell(anomalies, found, &shown, folder);
    Ok(())
}

/// Adds what became of the tests.
fn tell(
    anomalies: &mut AnomaliesReport,
    found: &Searched,
    shown: &BTreeMap<usize, Shown>,
    mut folder: Option<&mut Folder>,
) {
    let is_manifest = |test: &usize| matches!(shown.get(test), Some(Shown::Manifest(_)));
    let count = found.anomalies.iter().filter(|anomaly| is_manifest(&anomaly.test)).count();
    anomalies.shown = Some((found.anomalies.len(), count));
    for structure in &mut anomalies.structures {
        let alike: Vec<usize> = structure.tests.clone();
        structure.shown = Some(alike.iter().filter(|test| is_manifest(test)).count());
        let best = alike.iter().copied().find(|test| is_manifest(test)).unwrap_or(alike[0]);
        let Some(one) = shown.get(&best) else { continue };
        let mut fate = report::fate(one);
        fate.calls.clone_from(&structure.calls);
        if let Shown::Manifest(finding) = one {
            structure.breaks = finding.breaks.clone();
            if let Some(folder) = &mut folder {
                folder.write(&structure_name(structure.number, &structure.class), finding, &mut fate);
                structure.fate = Some(fate.clone());
                folder.draw(&structure.picture(), &mut fate);
            }
        }
        structure.fate = Some(fate);
    }
}

fn structure_name(number: usize, class: &str) -> String {
    format!("{number}-{}", class.replace(' ', "-"))
}
