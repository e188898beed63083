//! `--oracle`: an oracle judges the cases, instead of their expectations. This is how findings are shown again.

use txloom_core::case::check::{MismatchCause, check};
use txloom_core::case::{Case, print::print};
use txloom_core::conclusion::{Conclusion, Gap, GapCause};
use txloom_core::finding::Finding;
use txloom_core::oracle::{self, Mode, Oracle, RunError, RunRequest, Runner, Verdict};

use super::super::args::Format;
use super::super::cases::{LoadedCase, replayable};
use super::super::conclude::conclude;
use super::super::failure::Failure;
use super::super::settings::{RunSettings, with_flags};
use super::super::streams::Streams;
use super::execute::{error_cause, fatal};
use crate::exit::Exit;
use crate::interrupt;
use crate::report::build::finding_report;
use crate::report::model::{Body, JudgedCase, JudgedReport, Report, VerdictReport};
use crate::report::{json, text};

/// Judges the cases, showing each as soon as that is done; JSON is one document at the end.
pub(super) fn run_on(
    name: &'static str,
    settings: &RunSettings,
    cases: &[LoadedCase],
    runner: &mut dyn Runner,
    streams: &mut Streams,
) -> Result<Exit, Failure> {
    let oracle = oracle::with_policy(name, &settings.policy)
        .ok_or_else(|| Failure::bad_input(format!("there is no oracle {name}")))?;
    let mut report = JudgedReport { oracle: name.to_string(), cases: Vec::new() };
    let mut concluded = Conclusion::default().covering("cases", 0, Some(cases.len() as u64));
    let mut failure = None;
    for loaded in cases {
        if interrupt::requested() || streams.is_closed() {
            break;
        }
        match judge(oracle.as_ref(), settings, loaded, runner) {
            Ok((verdict, gap)) => {
                let case = JudgedCase { file: loaded.file.clone(), verdict };
                conclude_one(&mut concluded, name, &case, gap);
                match settings.format {
                    Format::Json => report.cases.push(case),
                    Format::Text => show(name, settings, &case, streams)?,
                }
            }
            Err(fatal) => {
                failure = Some(fatal);
                break;
            }
        }
    }
    concluded.is_interrupted = interrupt::requested();
    if settings.format == Format::Json {
        streams.print(&json::print(&Report::concluded(Body::Judged(report), &concluded)))?;
    }
    match failure.filter(|failure| failure.exit != Exit::Interrupted) {
        Some(failure) => Err(failure),
        None if settings.format == Format::Json => Ok((&concluded).into()),
        None => conclude(&concluded, streams),
    }
}

/// Adds what the oracle says of one case.
fn conclude_one(concluded: &mut Conclusion, oracle: &str, case: &JudgedCase, gap: Option<Gap>) {
    let judged = concluded.covered.iter_mut().map(|count| {
        count.done += 1;
        count.done
    });
    let judged = judged.last().unwrap_or_default();
    if let VerdictReport::Violated { findings } = &case.verdict {
        concluded.violations += 1;
        let what = findings.first().map_or("a violation", |finding| finding.sentence.as_str());
        concluded.counterclaim = match concluded.violations {
            1 => format!("{oracle}: {}: {what}", case.file),
            violated => format!("{oracle}: {violated} of {judged} cases are violated"),
        };
    }
    concluded.gaps.extend(gap.map(|gap| gap.at(&case.file)));
    let is_vacuous = matches!(case.verdict, VerdictReport::Vacuous { .. });
    concluded.is_unchecked = is_vacuous && (judged == 1 || concluded.is_unchecked);
    concluded.claim = match judged {
        1 if is_vacuous => format!("{oracle} has nothing to judge in {}", case.file),
        _ if concluded.is_unchecked => format!("{oracle} has nothing to judge in {judged} cases"),
        1 => format!("{oracle} holds for {}", case.file),
        _ => format!("{oracle} holds for {judged} cases"),
    };
}

fn show(oracle: &str, settings: &RunSettings, case: &JudgedCase, streams: &mut Streams) -> Result<(), Failure> {
    let options = *streams.text_options();
    let text = if settings.quiet {
        text::print_judged_line(oracle, case, &options)
    } else {
        text::print_judged(oracle, case, &options)
    };
    streams.print(&text)
}

/// Judges one case. `Err` means that there is no point in going on with other cases.
fn judge(
    oracle: &dyn Oracle,
    settings: &RunSettings,
    loaded: &LoadedCase,
    runner: &mut dyn Runner,
) -> Result<(VerdictReport, Option<Gap>), Failure> {
    let mut case = loaded.case.clone();
    if let Some(level) = &settings.level {
        case.set_level(level.clone());
    }
    let verdict = match fatal(oracle.judge(&case, runner))? {
        Ok(verdict) => verdict,
        Err(error) => return Ok(failed(&error)),
    };
    if settings.twice {
        let second = match fatal(oracle.judge(&case, runner))? {
            Ok(second) => in_short(&second),
            Err(error) => return Ok(failed(&error)),
        };
        let first = in_short(&verdict);
        if first != second {
            let gap = Gap::new(GapCause::Unstable, format!("the first verdict was {first}, the second {second}"));
            return Ok((VerdictReport::Unstable { first, second }, Some(gap)));
        }
    }
    Ok(match verdict {
        Verdict::Holds(witness) => match unobserved(settings, &case, runner)? {
            None => (VerdictReport::Holds { witness }, None),
            Some(gap) => (VerdictReport::Unknown { reason: gap.what.clone() }, Some(gap)),
        },
        Verdict::Vacuous(reason) => match unobserved(settings, &case, runner)? {
            None => (VerdictReport::Vacuous { reason }, None),
            Some(gap) => (VerdictReport::Unknown { reason: gap.what.clone() }, Some(gap)),
        },
        Verdict::Unknown(reason) => {
            let gap = Gap::new(GapCause::NotJudged, &reason);
            (VerdictReport::Unknown { reason }, Some(gap))
        }
        Verdict::Unstable(reason) => {
            let gap = Gap::new(GapCause::Unstable, &reason);
            (VerdictReport::Unknown { reason }, Some(gap))
        }
        Verdict::Violated(findings) => {
            let (mut reports, mut unwritten) = (Vec::new(), None);
            for finding in findings {
                // What cannot be found out about a finding does not make it less of one.
                let explained = fatal(oracle.explain(finding.clone(), runner))?.unwrap_or(finding);
                let replay = replay(settings, loaded, &explained).unwrap_or_else(|failure| {
                    unwritten = Some(Gap::new(GapCause::FileFailed, failure.message.trim_start_matches("txloom: ")));
                    String::new()
                });
                reports.push(finding_report(&explained, print(&explained.case), replay));
            }
            (VerdictReport::Violated { findings: reports }, unwritten)
        }
    })
}

/// A statement that the engine did not understand in the case as it is: what holds then says nothing of what was meant.
fn unobserved(settings: &RunSettings, case: &Case, runner: &mut dyn Runner) -> Result<Option<Gap>, Failure> {
    for target in 0..runner.targets().len() {
        let (policy, mode) = (settings.policy.clone(), Mode::Scheduled(None));
        let Ok(trace) = fatal(runner.run(&RunRequest { case, target, policy, mode }))? else { continue };
        let mismatches = check(case, &trace);
        let typo = mismatches.iter().find(|one| matches!(one.cause, MismatchCause::Misunderstood(_)));
        if let Some(typo) = typo {
            let what = format!("a statement was not understood: {}", typo.found);
            return Ok(Some(
                Gap::new(GapCause::NotJudged, what).advise("mend it, or state that the error is expected"),
            ));
        }
    }
    Ok(None)
}

fn failed(error: &RunError) -> (VerdictReport, Option<Gap>) {
    let gap = Gap::new(error_cause(error), error);
    (VerdictReport::Failed { failure: error.to_string() }, Some(gap))
}

/// What a second verdict must say to be the same.
fn in_short(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Holds(_) => "that it holds".to_string(),
        Verdict::Vacuous(_) => "that there is nothing to judge".to_string(),
        Verdict::Unknown(_) | Verdict::Unstable(_) => "that it cannot tell".to_string(),
        Verdict::Violated(findings) => {
            let kinds: Vec<&str> = findings.iter().map(|finding| finding.fingerprint.as_str()).collect();
            kinds.join(" and ")
        }
    }
}

/// The command that shows a finding again: on the file that was judged, which says nothing of the flags.
fn replay(settings: &RunSettings, loaded: &LoadedCase, finding: &Finding) -> Result<String, Failure> {
    let told: &Case = &loaded.case;
    let mut as_written = finding.clone();
    as_written.case = told.clone();
    let mut command = as_written.replay_command(&replayable(loaded)?);
    if let Some(level) = settings.level.as_ref().filter(|_| !command.contains(" --level ")) {
        command.push_str(&format!(" --level {}", level.as_str().replace(' ', "-")));
    }
    Ok(with_flags(&command, &settings.replay_flags))
}
