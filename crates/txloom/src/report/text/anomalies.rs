//! Which calls break each other: the statements of each cycle in the sources, and what became of its run.

use txloom_core::search::script;

use super::super::model::analysis::{AnalysisReport, AnomaliesReport, FixesReport, RemarkSeverity, StructureReport};
use super::TextOptions;
use super::analysis::{Printer, understood, verdicts};
use super::hunt::count;
use super::wrapped;
use crate::analyze::SourceFile;

/// The whole report; structures that contain a smaller one only with `all`.
pub fn print_anomalies(report: &AnalysisReport, sources: &[SourceFile], options: &TextOptions, all: bool) -> String {
    let printer = Printer { sources, options };
    let mut text: String = report.remarks.iter().map(|remark| printer.remark(remark, None) + "\n").collect();
    let Some(anomalies) = &report.anomalies else { return text };
    for structure in anomalies.structures.iter().filter(|one| all || !one.contains_smaller) {
        text += &print_structure(structure, &printer, options);
        text += "\n";
    }
    text += &printer.patterns(report);
    text + &conclusion(report, anomalies, options, all)
}

fn print_structure(structure: &StructureReport, printer: &Printer<'_>, options: &TextOptions) -> String {
    let mut remark = structure.remark.clone();
    let width = options.width.saturating_sub(16).max(40);
    let fold = |text: &str| wrapped(text, width).join("\n");
    remark.notes.push(structure.dependencies.iter().map(|one| fold(one)).collect::<Vec<_>>().join("\n"));
    let concurrent = structure.calls.len() - structure.before;
    let named = structure.calls.iter().zip(script::names(structure.calls.len())).enumerate();
    let calls = named.map(|(at, (call, name))| match at < concurrent {
        true => fold(&format!("{name} = {call}")),
        false => fold(&format!("{name} = {call}, which comes before")),
    });
    remark.notes.push(calls.collect::<Vec<_>>().join("\n"));
    if !structure.rows.is_empty() {
        remark.notes.push(structure.rows.iter().map(|row| fold(row)).collect::<Vec<_>>().join("\n"));
    }
    if !structure.breaks.is_empty() {
        remark.notes.push(fold(&format!("breaks {}", structure.breaks.join(", "))));
    }
    if let Some(fix) = &structure.fix {
        let told = |text: &Option<String>| text.as_deref().map(fold).unwrap_or_default();
        let parts = [fold(&fix.says), fix.diff.clone(), told(&fix.run), told(&fix.refusals)];
        let parts = parts.iter().map(|part| part.trim_end()).filter(|part| !part.is_empty());
        remark.help = Some(parts.collect::<Vec<_>>().join("\n"));
    }
    let mut fate = structure.fate.clone();
    if let Some(fate) = &mut fate {
        fate.calls.clear();
    }
    let mut text = printer.remark(&remark, fate.as_ref());
    if structure.anomalies > 1 {
        text += &format!("    {} cycles of this structure\n", structure.anomalies);
    }
    text
}

/// Whether cycles were left out, so that nothing can be said of all.
fn is_partial(report: &AnalysisReport, anomalies: &AnomaliesReport) -> bool {
    anomalies.is_cut || anomalies.unconnected > 0 || report.stopped.is_some()
}

fn conclusion(report: &AnalysisReport, anomalies: &AnomaliesReport, options: &TextOptions, all: bool) -> String {
    let AnomaliesReport { level, means, found, candidates, structures, .. } = anomalies;
    let mut lines = vec![match &anomalies.assumed {
        Some(why) => format!("At {level}: {means}. That level is assumed ({why}); --on and --level name another one."),
        None => format!("At {level}: {means}."),
    }];
    let looked = format!(
        "{} of dependencies, up to {} statements in {} calls",
        count(*candidates as u64, "candidate cycle"),
        anomalies.length,
        anomalies.instances
    );
    lines.push(match (found, candidates) {
        (0, 0) if report.remarks.iter().any(|remark| remark.severity == RemarkSeverity::Error) => {
            "No statements that were read, of two calls, depend on each other in a cycle.".to_string()
        }
        (0, 0) if !is_partial(report, anomalies) => {
            "No statements of two calls depend on each other in a cycle: every run is serializable.".to_string()
        }
        (0, _) if anomalies.unknown + anomalies.left == 0 && !is_partial(report, anomalies) => {
            format!("None of {looked} can happen and show: every run that was looked at is serializable.")
        }
        (0, _) => format!("Of {looked}, none was found to happen."),
        (1, _) => format!("Of {looked}, one happens."),
        _ => format!("Of {looked}, {found} happen, in {}.", count(structures.len() as u64, "structure")),
    });
    let hidden = structures.iter().filter(|one| one.contains_smaller).count() as u64;
    if hidden > 0 && !all {
        lines.push(format!(
            "{} through more calls, whose runs contain one of the above, not shown (--all does).",
            count(hidden, "structure")
        ));
    }
    if let (Some((ran, shown)), Some(run)) = (anomalies.shown, &report.run) {
        lines.push(format!("Run on {} {} at {}: {shown} of {ran} show.", run.target, run.version, run.level));
    } else if *found > 0 {
        lines.push("--run tells whether they do on a real database.".to_string());
    }
    for (number, what) in [(anomalies.unknown, "could not be decided"), (anomalies.left, "were not looked at")] {
        if number > 0 {
            lines.push(format!("{} {what}.", count(number as u64, "cycle")));
        }
    }
    if is_partial(report, anomalies) {
        lines.push("There are more cycles, which were not counted.".to_string());
    }
    if let Some(fixes) = anomalies.fixes.as_ref().filter(|_| *found > 0) {
        lines.extend(removed_by(fixes, structures.len()));
    }
    if anomalies.patterns {
        lines.push(understood(&report.summary));
        lines.push(format!("Whole transactions, at serializable: {}", verdicts(report).trim_end().replace('\n', "; ")));
    }
    lines.iter().flat_map(|line| wrapped(line, options.width)).map(|line| line + "\n").collect()
}

/// What to do about all of them.
fn removed_by(fixes: &FixesReport, all: usize) -> Vec<String> {
    let changes = count(fixes.changes.len() as u64, "change");
    let mut lines = vec![match (fixes.changes.len(), fixes.left) {
        (0, _) => "No change was found that removes one of them.".to_string(),
        (1, 0) => "One change removes all of them:".to_string(),
        (_, 0) => format!("{changes} remove all of them:"),
        (_, left) => format!("{changes} leave {left} of {}:", count(all as u64, "structure")),
    }];
    lines.extend(fixes.changes.iter().map(|fix| format!("  * {}", fix.says)));
    lines
}
