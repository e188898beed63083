//! A hunt: what it will do, how far it is, what it came to.

use super::super::model::hunt::{CountsReport, HuntEnd, HuntFinding, HuntReport, PlanReport, RecordedFinding};
use super::finding;
use super::line::{Line, Role};
use super::page::Page;
use super::table::Table;

/// So many reasons for undecided judgements are told.
const REASONS_SHOWN: usize = 5;

/// What will be done.
pub(crate) fn write_plan(page: &mut Page, plan: &PlanReport) {
    let targets: Vec<String> = plan.targets.iter().map(|t| format!("{} {}", t.target, t.version)).collect();
    page.heading(format!("Hunting in {}", targets.join(" and ")));
    let budget = match (plan.seconds_max, plan.cases_max) {
        (None, None) => "until stopped".to_string(),
        (None, Some(cases)) => count(cases, "case"),
        (Some(seconds), None) => duration(seconds),
        (Some(seconds), Some(cases)) => format!("{} or {}", duration(seconds), count(cases, "case")),
    };
    let workers = if plan.workers == 1 { String::new() } else { format!(", {} workers", plan.workers) };
    let mut told = vec![
        ("levels", plan.levels.join(", ")),
        ("oracles", plan.oracles.join(", ")),
        ("profile", plan.profile.clone()),
        ("seed", plan.seed.to_string()),
    ];
    match plan.group {
        Some(group) => told.push(("group", format!("{group}, and no other"))),
        None => told.push(("budget", budget + &workers)),
    }
    if let Some(storms) = &plan.storms {
        let (groups, time) = (count(storms.every_groups, "group"), duration(storms.seconds));
        told.push(("storms", format!("{time} after every {groups} of cases")));
    }
    page.pairs(&told.into_iter().map(|(name, value)| (name, Line::plain(value))).collect::<Vec<_>>());
}

/// How far it is: as many of the parts as fit into one line, the most important first.
pub(crate) fn progress(counts: &CountsReport, seconds: f64, width: Option<usize>) -> Line {
    let mut line = Line::plain(duration(seconds));
    for (role, part) in progress_parts(counts, seconds) {
        let longer = line.clone().with(Role::Faint, " · ").with(role, part);
        if width.is_some_and(|width| longer.width() > width) {
            break;
        }
        line = longer;
    }
    line
}

fn progress_parts(counts: &CountsReport, seconds: f64) -> Vec<(Role, String)> {
    let rate = |number: u64| format!("{:.0}/s", number as f64 / seconds.max(0.001));
    let mut parts = vec![(Role::Plain, format!("{} ({})", count(counts.cases, "case"), rate(counts.cases)))];
    parts.push(match counts.new {
        0 => (Role::Good, "nothing found".to_string()),
        new => (Role::Bad, count(new, "finding")),
    });
    for (number, words) in [
        (counts.repeated, "repeated"),
        (counts.known, "known"),
        (counts.unreproducible, "not reproducible"),
        (counts.refused, "refused"),
        (counts.unobserved, "not observed"),
    ] {
        if number > 0 {
            parts.push((Role::Wait, format!("{number} {words}")));
        }
    }
    let statements = format!("{} statements ({})", counts.statements, rate(counts.statements));
    parts.push((Role::Plain, statements));
    parts.push((Role::Plain, format!("{} accepted", percent(counts.accepted, counts.statements))));
    parts.push((Role::Plain, format!("{} wait", percent(counts.with_wait, counts.runs))));
    parts.push((Role::Plain, format!("{} deadlock", percent(counts.with_deadlock, counts.runs))));
    if counts.examined > 0 {
        parts.push((Role::Plain, format!("{} write one row", percent(counts.contended, counts.examined))));
    }
    parts
}

/// One finding in full, with the command that generates its case again.
pub(crate) fn write_finding(page: &mut Page, found: &HuntFinding) {
    finding::write(page, &found.finding);
    if found.generate != found.finding.replay {
        page.heading("To generate it again");
        page.line(Line::plain(format!("  {}", found.generate)));
    }
}

/// One finding in one line.
pub(crate) fn write_finding_line(page: &mut Page, found: &HuntFinding) {
    let mut line = Line::new(Role::Bad, "✗ ").with(Role::Strong, format!("{}", found.number));
    line.push(Role::Plain, format!(" {}", found.finding.sentence));
    line.push(Role::Faint, format!(" ({})", found.finding.fingerprint));
    if let Some(file) = &found.file {
        line.push(Role::Plain, format!(": {file}"));
    }
    page.paragraph(&line, 0, 2);
}

/// One finding of a storm in one line.
pub(crate) fn write_recorded_line(page: &mut Page, found: &RecordedFinding) {
    let mut line = Line::new(Role::Bad, "✗ ").with(Role::Strong, format!("{}", found.number));
    line.push(Role::Plain, format!(" {}", found.sentence));
    if let Some(file) = &found.file {
        line.push(Role::Plain, format!(": {file}"));
    }
    page.paragraph(&line, 0, 2);
}

/// What it came to.
pub(crate) fn write_summary(page: &mut Page, report: &HuntReport) {
    let CountsReport { cases, statements, runs, .. } = report.counts;
    let counts = &report.counts;
    let rate = |number: u64| number as f64 / report.seconds.max(0.001);
    let ended = match report.ended {
        HuntEnd::Interrupted => ", then interrupted",
        HuntEnd::Failed => ", then the hunt could not go on",
        _ => "",
    };
    page.heading(format!("{} in {}{ended}", count(cases, "case"), duration(report.seconds)));
    let accepted = percent(counts.accepted, statements);
    let mut told = vec![
        ("speed", format!("{:.0} cases and {:.0} statements a second", rate(cases), rate(statements))),
        ("statements", format!("{statements}, {accepted} accepted")),
        ("runs with a wait", percent(counts.with_wait, runs)),
        ("with a deadlock", percent(counts.with_deadlock, runs)),
        ("with a serialization failure", percent(counts.with_serialization_failure, runs)),
    ];
    if counts.examined > 0 {
        let share = percent(counts.contended, counts.examined);
        told.push(("two write one row", format!("{share} of a sample of {}", count(counts.examined, "case"))));
    }
    if counts.storms > 0 {
        let (storms, transactions) = (counts.storms, count(counts.storm_transactions, "transaction"));
        told.push(("storms", format!("{storms}, {transactions}")));
    }
    for (name, number, words) in [
        ("undecided", counts.undecided, "judgement that was not possible/judgements that were not possible"),
        ("refused", counts.refused, "case whose setup a target refused/cases whose setup a target refused"),
        ("not observed", counts.unobserved, "case on which an engine failed/cases on which an engine failed"),
        (
            "not reproducible",
            counts.unreproducible,
            "violation that did not come again/violations that did not come again",
        ),
        (
            "repeated",
            counts.repeated,
            "violation of a kind that had been found/violations of kinds that had been found",
        ),
    ] {
        let words = words.split_once('/').map_or(words, |(one, several)| if number == 1 { one } else { several });
        if number > 0 {
            told.push((name, format!("{number} {words}")));
        }
    }
    let known: Vec<String> = report.known.iter().map(|known| format!("{} ({})", known.id, known.count)).collect();
    if !known.is_empty() {
        told.push(("known", known.join(", ")));
    }
    page.pairs(&told.into_iter().map(|(name, value)| (name, Line::plain(value))).collect::<Vec<_>>());
    for undecided in report.undecided.iter().take(REASONS_SHOWN) {
        let first = undecided.group.map(|group| format!(" (first in group {group})")).unwrap_or_default();
        let words = format!("{} × {}{first}", undecided.count, undecided.reason);
        page.paragraph(&Line::new(Role::Faint, words), 4, 2);
    }
    report.troubles.iter().for_each(|trouble| page.paragraph(&Line::new(Role::Wait, trouble.as_str()), 2, 2));
    write_findings(page, report);
}

fn write_findings(page: &mut Page, report: &HuntReport) {
    if report.findings.is_empty() && report.recorded.is_empty() {
        return;
    }
    page.heading("Findings");
    let mut table = Table::new(&["", "kind", "level", "group", "steps", "seen", "what"]);
    table.right = vec![true, false, false, true, true, true, false];
    let mut rows: Vec<(usize, Vec<Line>)> = Vec::new();
    for found in &report.findings {
        let kind = found.finding.fingerprint.rsplit_once('-').map_or("", |(kind, _)| kind);
        let levels: Vec<&str> = found.finding.trace.sessions.iter().map(|session| session.level.as_str()).collect();
        let level = levels.first().filter(|first| levels.iter().all(|level| level == *first)).copied();
        let cells = vec![
            Line::new(Role::Strong, found.number.to_string()),
            Line::plain(kind),
            Line::plain(level.unwrap_or("several")),
            Line::plain(found.group.to_string()),
            Line::plain(found.steps.to_string()),
            Line::plain((found.repeats + 1).to_string()),
            Line::plain(found.file.clone().unwrap_or_else(|| found.finding.sentence.clone())),
        ];
        rows.push((found.number, cells));
    }
    for found in &report.recorded {
        // A storm belongs to no group, has no steps that could be counted, and is not seen again.
        let cells = vec![
            Line::new(Role::Strong, found.number.to_string()),
            Line::plain(found.kind.as_str()),
            Line::plain(found.storm.plan.level.as_str()),
            Line::plain(""),
            Line::plain(""),
            Line::plain("recorded"),
            Line::plain(found.file.clone().unwrap_or_else(|| found.sentence.clone())),
        ];
        rows.push((found.number, cells));
    }
    rows.sort_by_key(|(number, _)| *number);
    table.rows = rows.into_iter().map(|(_, cells)| cells).collect();
    table.write(page, 2);
}

/// `1 case`, `2 cases`.
pub(super) fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A share, rounded down.
pub(super) fn percent(part: u64, whole: u64) -> String {
    match whole {
        0 => "–".to_string(),
        // A share that is not all of it must not look like all of it.
        _ => format!("{:.1} %", (part as f64 * 1000.0 / whole as f64).floor() / 10.0),
    }
}

/// `45 s`, `12 min 5 s`, `2 h 3 min`.
pub(super) fn duration(seconds: f64) -> String {
    let whole = seconds as u64;
    match whole {
        0..10 if seconds.fract() >= 0.05 => format!("{seconds:.1} s"),
        0..120 => format!("{whole} s"),
        120..7_200 if whole.is_multiple_of(60) => format!("{} min", whole / 60),
        120..7_200 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3_600, whole % 3_600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::model::hunt::{KnownReport, TargetVersion};
    use super::super::super::model::{Body, Report};
    use super::super::{TextOptions, print};
    use super::*;
    use crate::report::json;

    fn counts() -> CountsReport {
        CountsReport {
            cases: 1_000,
            runs: 2_000,
            statements: 30_000,
            accepted: 29_999,
            with_wait: 500,
            with_deadlock: 20,
            examined: 100,
            contended: 45,
            new: 1,
            known: 2,
            ..CountsReport::default()
        }
    }

    fn report() -> HuntReport {
        let target = |name: &str| TargetVersion { target: name.to_string(), version: "1.0".to_string() };
        HuntReport {
            plan: PlanReport {
                targets: vec![target("one"), target("two")],
                levels: vec!["serializable".to_string()],
                oracles: vec!["diff".to_string()],
                profile: "dt2".to_string(),
                seed: 7,
                group: None,
                workers: 2,
                seconds_max: Some(300.0),
                cases_max: None,
                storms: None,
            },
            ended: HuntEnd::Interrupted,
            failure: None,
            seconds: 10.0,
            counts: counts(),
            known: vec![KnownReport { id: "MDEV-1".to_string(), count: 2 }],
            rejections: Vec::new(),
            troubles: vec!["one: the connection was lost".to_string()],
            undecided: Vec::new(),
            findings: Vec::new(),
            recorded: Vec::new(),
        }
    }

    fn progress_in(width: usize) -> String {
        let mut text = String::new();
        progress(&counts(), 10.0, Some(width)).paint(false, &mut text);
        text
    }

    #[test]
    fn progress_shows_as_much_as_fits() {
        let whole = "10 s · 1000 cases (100/s) · 1 finding · 2 known · 30000 statements (3000/s) · 99.9 % accepted · \
                     25.0 % wait · 1.0 % deadlock · 45.0 % write one row";
        assert_eq!(progress_in(200), whole);
        assert_eq!(progress_in(40), "10 s · 1000 cases (100/s) · 1 finding");
        assert_eq!(progress_in(1), "10 s");
    }

    #[test]
    fn a_share_that_is_not_all_does_not_look_like_all() {
        assert_eq!(percent(29_999, 30_000), "99.9 %");
        assert_eq!(percent(5, 5), "100.0 %");
        assert_eq!(percent(0, 0), "–");
    }

    #[test]
    fn times_are_told_as_people_tell_them() {
        let expected =
            [(0.24, "0.2 s"), (45.9, "45 s"), (300.0, "5 min"), (725.0, "12 min 5 s"), (7_380.0, "2 h 3 min")];
        for (seconds, words) in expected {
            assert_eq!(duration(seconds), words);
        }
    }

    #[test]
    fn the_plan_says_what_will_be_done() {
        let text = super::super::print_hunt_plan(&report().plan, &TextOptions::default());
        let expected = "Hunting in one 1.0 and two 1.0\n  levels   serializable\n  oracles  diff\n  profile  dt2\n  \
                        seed     7\n  budget   5 min, 2 workers\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn the_summary_tells_everything_and_fits_into_a_narrow_terminal() {
        let whole = Report::new(Body::Hunt(Box::new(report())));
        assert_eq!(json::parse(&json::print(&whole)).unwrap(), whole);
        for words in [
            "1000 cases in 10 s, then interrupted",
            "45.0 % of a sample of 100 cases",
            "MDEV-1 (2)",
            "one: the connection was lost",
        ] {
            let text = print(&whole, &TextOptions::default());
            assert!(text.contains(words), "no `{words}` in\n{text}");
        }
        let narrow = print(&whole, &TextOptions { width: 40, color: false, ..TextOptions::default() });
        assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
    }
}
