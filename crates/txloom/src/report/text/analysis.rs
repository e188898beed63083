//! What can go wrong in an application: places in its sources, and what happens there.

use ariadne::{CharSet, Color, Config, IndexType, Label, LabelAttach, Report, ReportKind};

use super::super::model::analysis::{
    AnalysisReport, FateReport, LogReport, MarkReport, RemarkReport, RemarkSeverity, ScheduleReport, SummaryReport,
    TablesReport, TrialVerdict,
};
use super::TextOptions;
use super::hunt::count;
use super::line::Line;
use super::sources::{Lines, Sources, renumbered};
use super::table::Table;
use super::{paint, wrapped};
use crate::analyze::SourceFile;

/// The colours of what A and B do, in the order of the marks.
const COLORS: [Color; 4] = [Color::Cyan, Color::Magenta, Color::Cyan, Color::Yellow];

/// The whole report; without the sources, without pictures of them.
pub fn print_analysis(report: &AnalysisReport, sources: &[SourceFile], options: &TextOptions) -> String {
    let printer = Printer { sources, options };
    let mut text = String::new();
    for remark in &report.remarks {
        text += &printer.remark(remark, None);
        text += "\n";
    }
    text += &printer.patterns(report);
    if let Some(tables) = &report.tables {
        text += &printer.tables(tables);
        text += "\n";
    }
    text + &printer.conclusion(report)
}

/// One schedule of each group: the first that goes wrong, or else the first.
fn representatives(schedules: &[ScheduleReport]) -> Vec<&ScheduleReport> {
    let mut groups: Vec<usize> = schedules.iter().map(|schedule| schedule.group).collect();
    groups.sort_unstable();
    groups.dedup();
    let of_group = |group: &usize| {
        let members = || schedules.iter().filter(|schedule| schedule.group == *group);
        members().find(|schedule| is_manifest(schedule.fate.as_ref())).or_else(|| members().next())
    };
    groups.iter().filter_map(of_group).collect()
}

fn is_manifest(fate: Option<&FateReport>) -> bool {
    fate.is_some_and(|fate| fate.verdict == TrialVerdict::Manifest)
}

pub(super) struct Printer<'a> {
    pub(super) sources: &'a [SourceFile],
    pub(super) options: &'a TextOptions,
}

impl Printer<'_> {
    /// The schedules and commit points.
    pub(super) fn patterns(&self, report: &AnalysisReport) -> String {
        let mut text = String::new();
        for schedule in representatives(&report.schedules) {
            text += &self.remark(&schedule.remark, schedule.fate.as_ref());
            text += &self.alike(schedule, &report.schedules);
            text += "\n";
        }
        for point in &report.commit_points {
            text += &self.remark(&point.remark, point.fate.as_ref());
            text += "\n";
        }
        text
    }

    pub(super) fn remark(&self, remark: &RemarkReport, fate: Option<&FateReport>) -> String {
        let is_error = remark.severity == RemarkSeverity::Error || is_manifest(fate);
        let kind = match remark.severity {
            _ if is_error => ReportKind::Error,
            RemarkSeverity::Note => ReportKind::Advice,
            _ => ReportKind::Warning,
        };
        let Some(first) = remark.marks.first().filter(|mark| self.knows(mark)) else {
            return format!("{}: {}\n", remark.severity, remark.title);
        };
        let config = Config::new()
            .with_color(self.options.color)
            .with_char_set(CharSet::Unicode)
            .with_index_type(IndexType::Byte)
            .with_label_attach(LabelAttach::Start);
        let span = self.place(first, first.end);
        let mut report = Report::build(kind, span).with_config(config).with_message(&remark.title);
        if let Some(code) = &remark.code {
            report = report.with_code(code);
        }
        // From top to bottom: the numbers in the texts say what comes first.
        let mut marks: Vec<(usize, &MarkReport)> = remark.marks.iter().enumerate().collect();
        marks.sort_by_key(|(at, mark)| (mark.file.as_str(), mark.start, *at));
        for (at, mark) in marks.into_iter().filter(|(_, mark)| self.knows(mark)) {
            let mut label = Label::new(self.place(mark, self.drawn_end(mark)));
            if !mark.says.is_empty() {
                label = label.with_message(&mark.says);
            }
            report = report.with_label(label.with_color(COLORS[at % COLORS.len()]));
        }
        for note in remark.notes.iter().chain(&self.fate_notes(fate)) {
            report.add_note(note);
        }
        if let Some(help) = &remark.help {
            report.add_help(help);
        }
        self.draw(&report.finish())
    }

    /// What is said of a statement is attached to its first word: it stands further left, and fits.
    fn drawn_end(&self, mark: &MarkReport) -> usize {
        let source = self.sources.iter().find(|source| source.name == mark.file);
        let text = source.and_then(|source| source.text.get(mark.start..mark.end)).unwrap_or_default();
        let word = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
        if mark.says.is_empty() || word == 0 { mark.end } else { mark.start + word }
    }

    fn knows(&self, mark: &MarkReport) -> bool {
        self.sources.iter().any(|source| source.name == mark.file)
    }

    /// The lines that a mark stands in, and its place in them.
    fn place(&self, mark: &MarkReport, end: usize) -> (Lines, std::ops::Range<usize>) {
        let source = self.sources.iter().find(|source| source.name == mark.file);
        let (start, ..) = source.map_or((0, 0, 1), |source| source.block(mark.start));
        let (from, to) = (mark.start.saturating_sub(start), end.max(mark.start).saturating_sub(start));
        (Lines { file: mark.file.clone(), start }, from..to)
    }

    fn draw(&self, report: &Report<'_, (Lines, std::ops::Range<usize>)>) -> String {
        let mut bytes = Vec::new();
        // Writing to memory does not fail; if it did, there would be nothing to show.
        let _ = report.write(Sources::new(self.sources), &mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        renumbered(&text, self.sources).lines().map(|line| clipped(line.trim_end()) + "\n").collect()
    }

    fn fate_notes(&self, fate: Option<&FateReport>) -> Vec<String> {
        let Some(fate) = fate else { return Vec::new() };
        let width = self.options.width.saturating_sub(16).max(40);
        let fold = |text: &str| wrapped(text, width).join("\n");
        let mut notes = Vec::new();
        match fate.verdict {
            TrialVerdict::Manifest => notes.push(fold(&format!("it happens: {}", fate.says))),
            verdict => notes.push(fold(&format!("{verdict}: {}", fate.says))),
        }
        if !fate.calls.is_empty() {
            let calls = fate.calls.iter().zip(["A", "B"]).map(|(call, who)| format!("{who} = {call}"));
            notes.push(calls.collect::<Vec<_>>().join("\n"));
        }
        if !fate.steps.is_empty() {
            let steps = fate.steps.iter().map(|step| {
                let changes = step.changes.join("; ");
                let changes = if changes.is_empty() { "nothing changes".to_string() } else { changes };
                format!("{}: {}  {changes}", step.instance, step.transaction)
            });
            notes.push(steps.collect::<Vec<_>>().join("\n"));
        }
        if let Some(replay) = &fate.replay {
            notes.push(format!("to see it again: {replay}"));
        }
        if let Some(picture) = &fate.picture {
            notes.push(format!("a picture of it: {picture}"));
        }
        notes
    }

    fn alike(&self, shown: &ScheduleReport, all: &[ScheduleReport]) -> String {
        let others = all.iter().filter(|other| other.group == shown.group && other.name != shown.name);
        let others: Vec<String> = others
            .map(|other| match &other.fate {
                Some(fate) => format!("{} ({})", other.name, fate.verdict),
                None => other.name.clone(),
            })
            .collect();
        if others.is_empty() {
            return String::new();
        }
        let text = format!("alike: {}", others.join(", "));
        wrapped(&text, self.options.width.saturating_sub(4)).iter().map(|line| format!("    {line}\n")).collect()
    }

    fn tables(&self, tables: &TablesReport) -> String {
        let mut text = String::from("xact_read_write\n");
        text += &table(self.options, &["transaction", "op", "table", "column"], &tables.xact_read_write);
        text += "\nxact_parameter\n";
        text + &table(self.options, &["transaction", "variable", "op", "table", "column"], &tables.xact_parameter)
    }

    fn conclusion(&self, report: &AnalysisReport) -> String {
        let SummaryReport { statements, understood, .. } = report.summary;
        let mut text = self::understood(&report.summary) + "\n";
        text += &verdicts(report);
        if let Some(run) = report.run.as_ref().filter(|_| has_patterns(report)) {
            text += &format!("Run on {} {} at {}.\n", run.target, run.version, run.level);
        }
        if !report.summary.complete {
            text += "There are more schedules; these are the first.\n";
        }
        if understood < statements {
            text += "What is not understood is not analysed: nothing can be said of it.\n";
        }
        text
    }
}

/// `1 procedure, 2 transactions; 5 of 6 statements understood`
pub(super) fn understood(summary: &SummaryReport) -> String {
    let SummaryReport { procedures, transactions, statements, understood, .. } = summary;
    format!(
        "{}, {}; {understood} of {} understood",
        count(*procedures as u64, "procedure"),
        count(*transactions as u64, "transaction"),
        count(*statements as u64, "statement"),
    )
}

fn has_patterns(report: &AnalysisReport) -> bool {
    !report.schedules.is_empty() || !report.commit_points.is_empty()
}

/// `3 schedules: 1 goes wrong, 2 are harmless; 1 commit point: 1 loses work`
pub(super) fn verdicts(report: &AnalysisReport) -> String {
    let schedules = report.schedules.len() as u64;
    let points = report.commit_points.len() as u64;
    if !has_patterns(report) {
        return "No order of whole transactions matches a pattern that can go wrong.\n".to_string();
    }
    if report.run.is_none() {
        return format!(
            "{} of transactions may go wrong, {} may lose work; --run tells whether they do\n",
            count(schedules, "schedule"),
            count(points, "commit point")
        );
    }
    let tally = |fates: Vec<Option<&FateReport>>| {
        let mut parts = Vec::new();
        for (verdict, words) in [
            (TrialVerdict::Manifest, "goes wrong"),
            (TrialVerdict::Harmless, "harmless"),
            (TrialVerdict::Impossible, "impossible"),
            (TrialVerdict::NotReached, "not reached"),
            (TrialVerdict::Undecided, "undecided"),
        ] {
            let number = fates.iter().flatten().filter(|fate| fate.verdict == verdict).count();
            if number > 0 {
                parts.push(format!(
                    "{number} {}",
                    if number > 1 { words.replace("goes", "go") } else { words.to_string() }
                ));
            }
        }
        parts.join(", ")
    };
    let mut text = String::new();
    for (number, noun, fates) in [
        (schedules, "schedule", report.schedules.iter().map(|it| it.fate.as_ref()).collect::<Vec<_>>()),
        (points, "commit point", report.commit_points.iter().map(|it| it.fate.as_ref()).collect()),
    ] {
        if number > 0 {
            text += &format!("{}: {}\n", count(number, noun), tally(fates));
        }
    }
    text
}

fn table<const N: usize>(options: &TextOptions, header: &[&str], rows: &[[String; N]]) -> String {
    let mut table = Table::new(header);
    table.rows = rows.iter().map(|row| row.iter().map(|cell| Line::plain(cell.as_str())).collect()).collect();
    paint(options, |page| table.write(page, 2))
}

/// What was read, and how many schedules each step of the analysis leaves.
pub fn print_analysis_summary(report: &AnalysisReport, options: &TextOptions) -> String {
    let summary = &report.summary;
    let unresolved = report.remarks.iter().filter(|remark| remark.severity == RemarkSeverity::Error);
    let mut told = vec![
        ("files", summary.files.join(", ")),
        ("tables", summary.tables.to_string()),
        ("procedures", summary.procedures.to_string()),
        ("transactions", summary.transactions.to_string()),
        ("statements", format!("{} of {} understood", summary.understood, summary.statements)),
        ("assertions", summary.assertions.to_string()),
    ];
    if let Some(funnel) = &summary.funnel {
        let least = if funnel.is_complete { "" } else { "at least " };
        told.extend([
            ("any three", format!("{} orders of three transactions (W1)", funnel.w1)),
            ("same data", format!("{least}{} of them access the same data (W2)", funnel.w2)),
            ("data flow", format!("{least}{} are connected by the flow of data (W3)", funnel.w3)),
            ("patterns", format!("{least}{} match a pattern that can go wrong (W4)", funnel.w4)),
        ]);
    }
    for log in &summary.logs {
        told.extend(log_lines(log));
    }
    told.extend([(
        "atomicity",
        format!("{} with writes before and behind them", count(report.commit_points.len() as u64, "commit")),
    )]);
    for remark in unresolved {
        let line = remark.marks.first().map(|mark| format!("{}:{}: ", mark.file, mark.line)).unwrap_or_default();
        told.push(("unresolved", format!("{line}{}", remark.title)));
    }
    paint(options, |page| {
        page.pairs(&told.into_iter().map(|(name, value)| (name, Line::plain(value))).collect::<Vec<_>>())
    })
}

/// What was found in a log.
fn log_lines(log: &LogReport) -> Vec<(&'static str, String)> {
    let mut told = vec![
        ("log", format!("{}: {}, {}", log.file, log.format, count(log.lines as u64, "line"))),
        (
            "",
            format!(
                "{} in {}: {} of {} understood",
                count(log.transactions, "transaction"),
                count(log.sessions, "session"),
                log.understood,
                count(log.statements, "statement")
            ),
        ),
    ];
    let rest = [
        (log.control, "that begin, end or configure transactions"),
        (log.noise, "of drivers: settings, catalogues, pings"),
        (log.definitions, "that change tables"),
        (log.failed, "that failed"),
        (log.dropped, "of transactions that were rolled back or are not there as a whole"),
    ];
    let rest: Vec<String> =
        rest.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}")).collect();
    if !rest.is_empty() {
        told.push(("", format!("besides, {}", rest.join("; "))));
    }
    if log.unread > 0 || log.not_text > 0 {
        let at: Vec<String> = log.unread_at.iter().map(usize::to_string).collect();
        let at = if at.is_empty() { String::new() } else { format!(" (line {}, …)", at.join(", ")) };
        told.push((
            "",
            format!("{} not read{at}; {} not UTF-8", count(log.unread, "line"), count(log.not_text, "message")),
        ));
    }
    for procedure in &log.procedures {
        told.push(("", format!("{:>8} × {}", procedure.count, procedure.name)));
    }
    let covered: u64 = log.procedures.iter().map(|procedure| procedure.count).sum();
    if covered < log.transactions {
        let share = covered as f64 * 100.0 / log.transactions as f64;
        told.push(("", format!("that is {share:.1} % of the transactions; the rarest are left out")));
    }
    told
}

/// What each transaction reads, writes, defines and uses; and what could not be read.
pub fn print_analysis_tables(report: &AnalysisReport, sources: &[SourceFile], options: &TextOptions) -> String {
    let printer = Printer { sources, options };
    let remarks: String = report.remarks.iter().map(|remark| printer.remark(remark, None) + "\n").collect();
    remarks + &report.tables.as_ref().map(|tables| printer.tables(tables)).unwrap_or_default()
}

/// The maximum length of a line of a picture, colours included: sources may have lines of a megabyte.
const PICTURE_WIDTH_MAX: usize = 600;

/// The beginning of a line that is too long.
fn clipped(line: &str) -> String {
    let Some((end, _)) = line.char_indices().nth(PICTURE_WIDTH_MAX) else { return line.to_string() };
    // A colour code that was cut in two would colour, or swallow, what follows.
    let shown = &line[..end];
    let is_open = |at: &usize| !shown[*at..].contains('m');
    let end = shown.rfind('\u{1b}').filter(is_open).unwrap_or(end);
    let reset = if shown.contains('\u{1b}') { "\u{1b}[0m" } else { "" };
    format!("{}…{reset}", &line[..end])
}
