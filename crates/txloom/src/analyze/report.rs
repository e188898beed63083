//! What was found, as a report.

use txloom_core::budget::WorkBudget;
use txloom_core::case::expect::print_rows;
use txloom_core::flow::explain::{Act, Deed};
use txloom_core::flow::{CommitPoint, Element, Explanation, Schedule, TransactionId};
use txloom_core::program::diagnostic::Severity;
use txloom_core::program::{Diagnostic, Span};

use super::Analysis;
use super::atomicity::Remainder;
use super::force::Done;
use super::project::{Project, SourceFile};
use super::trial::Fate;
use crate::report::model::analysis::{
    AnalysisReport, CommitPointReport, CountReport, FateReport, FunnelReport, LogReport, MarkReport, RemarkReport,
    RemarkSeverity, ScheduleReport, StepReport, SummaryReport, TablesReport, TrialVerdict,
};

/// Everything that can be said without running anything.
pub fn report(project: &Project, analysis: &Analysis) -> AnalysisReport {
    let writer = Writer { project, analysis };
    let mut groups = vec![0; analysis.schedules.len()];
    for (number, group) in analysis.groups.iter().enumerate() {
        group.members.iter().for_each(|member| groups[*member] = number + 1);
    }
    let schedules = analysis.schedules.iter().zip(groups);
    AnalysisReport {
        summary: writer.summary(),
        remarks: project.diagnostics.iter().map(|(file, diagnostic)| writer.diagnostic(*file, diagnostic)).collect(),
        tables: None,
        run: None,
        schedules: schedules.map(|(schedule, group)| writer.schedule(schedule, group)).collect(),
        commit_points: analysis.points.iter().map(|point| writer.commit_point(point)).collect(),
        anomalies: None,
        stopped: None,
    }
}

/// AGENDA's tables.
pub fn tables(project: &Project, analysis: &Analysis) -> TablesReport {
    let split = |element: &Element| {
        let text = element.to_string();
        let (table, column) = text.rsplit_once('.').unwrap_or((&text, ""));
        (table.to_string(), column.to_string())
    };
    let accessed = analysis.flowing.read_write().into_iter().map(|(transaction, op, element)| {
        let (table, column) = split(&element);
        [transaction, op.to_string(), table, column]
    });
    let parameters = analysis.flowing.parameters(&project.given()).into_iter().map(|row| {
        let (table, column) = split(&row.element);
        let op = if row.is_defined { "D" } else { "U" };
        [row.transaction, row.variable, op.to_string(), table, column]
    });
    TablesReport { xact_read_write: accessed.collect(), xact_parameter: parameters.collect() }
}

/// How many schedules each step of the analysis leaves: it costs as much as the analysis itself, and more.
pub fn funnel(analysis: &Analysis, budget: &WorkBudget) -> FunnelReport {
    let (funnel, is_complete) = analysis.funnel(budget);
    FunnelReport { w1: funnel.all, w2: funnel.w2, w3: funnel.w3, w4: funnel.w4, is_complete }
}

/// What became of a schedule.
pub fn fate(analysis: &Analysis, schedule: &Schedule, fate: &Fate) -> FateReport {
    match fate {
        Fate::Manifest(manifest) => FateReport {
            calls: manifest.calls.iter().map(ToString::to_string).collect(),
            steps: steps(analysis, [schedule.first.procedure, schedule.between.procedure], &manifest.done),
            ..FateReport::new(TrialVerdict::Manifest, manifest.finding.sentence.clone())
        },
        Fate::Harmless { witness, tries } => {
            FateReport::new(TrialVerdict::Harmless, format!("it comes to the same as {witness} ({})", on_data(*tries)))
        }
        Fate::Impossible(why) => FateReport::new(TrialVerdict::Impossible, why.clone()),
        Fate::NotReached { instead, tries } => {
            FateReport::new(TrialVerdict::NotReached, format!("{instead} ({})", on_data(*tries)))
        }
        Fate::Undecided(why) => FateReport::new(TrialVerdict::Undecided, why.clone()),
    }
}

/// What became of a commit point.
pub fn remainder(analysis: &Analysis, point: &CommitPoint, fate: &Remainder) -> FateReport {
    match fate {
        Remainder::Broken { assertion, rows, call, done, .. } => FateReport {
            calls: vec![call.to_string()],
            steps: steps(analysis, [point.after.procedure; 2], done),
            ..FateReport::new(
                TrialVerdict::Manifest,
                format!("the assertion {assertion} does not hold any more: its query returns {rows}"),
            )
        },
        Remainder::Kept => FateReport::new(TrialVerdict::Harmless, "all assertions still hold".to_string()),
        Remainder::NothingAsserted => FateReport::new(
            TrialVerdict::Undecided,
            "nothing is asserted: write `-- @assert each NAME: SELECT …` for what must be true".to_string(),
        ),
        Remainder::NotReached => {
            FateReport::new(TrialVerdict::NotReached, "no call came there with the data that was tried".to_string())
        }
    }
}

fn on_data(tries: u64) -> String {
    if tries == 1 { "tried once".to_string() } else { format!("tried on {tries} different data") }
}

fn steps(analysis: &Analysis, procedures: [usize; 2], done: &[Done]) -> Vec<StepReport> {
    let step = |one: &Done| {
        let procedure = procedures[one.instance];
        let nodes = analysis.flowing.places[procedure].iter().enumerate();
        let mut fitting = nodes.filter(|(_, place)| place.begins.contains(&one.from) && place.ends.contains(&one.to));
        let name =
            fitting.next().map(|(node, _)| analysis.flowing.application.procedures[procedure].nodes[node].name.clone());
        let change = |(table, (went, came)): (&String, &(_, _))| {
            let part = |sign: &str, rows| format!(" {sign} {}", print_rows(rows));
            let (went, came): (&txloom_core::case::expect::Rows, &txloom_core::case::expect::Rows) = (went, came);
            let minus = if went.is_empty() { String::new() } else { part("-", went) };
            let plus = if came.is_empty() { String::new() } else { part("+", came) };
            format!("{table}{minus}{plus}")
        };
        StepReport {
            instance: ["A", "B"][one.instance].to_string(),
            transaction: name.unwrap_or_else(|| "?".to_string()),
            changes: one.changes.iter().map(change).collect(),
        }
    };
    done.iter().map(step).collect()
}

impl Project {
    /// A place, up to the end of its first line: a picture of ten lines shows nothing.
    pub(super) fn mark(&self, file: usize, span: Span, says: String) -> MarkReport {
        let source = &self.files[file];
        let rest = source.text.get(span.start..span.end).unwrap_or_default();
        let end = span.start + rest.find('\n').unwrap_or(rest.len());
        MarkReport { file: source.name.clone(), line: span.line, start: span.start, end, says }
    }
}

fn log(file: &SourceFile) -> Option<LogReport> {
    let survey = file.log.as_ref()?.survey.clone();
    let counts = survey.procedures.into_iter().map(|(name, count)| CountReport { name, count });
    Some(LogReport {
        file: file.name.clone(),
        format: survey.format,
        lines: survey.lines,
        sessions: survey.sessions,
        transactions: survey.transactions,
        rolled_back: survey.rolled_back,
        statements: survey.committed,
        understood: survey.understood,
        control: survey.control,
        noise: survey.noise,
        definitions: survey.definitions,
        failed: survey.failed,
        dropped: survey.dropped,
        unread: survey.unread,
        unread_at: survey.unread_at.into_iter().map(|(line, _)| line).collect(),
        not_text: survey.not_text,
        procedures: counts.collect(),
    })
}

struct Writer<'a> {
    project: &'a Project,
    analysis: &'a Analysis,
}

impl Writer<'_> {
    fn summary(&self) -> SummaryReport {
        let nodes = self.analysis.flowing.application.procedures.iter().flat_map(|procedure| &procedure.nodes);
        SummaryReport {
            files: self.project.files.iter().map(|file| file.name.clone()).collect(),
            tables: self.project.schema.tables.len(),
            procedures: self.project.program.procedures.len(),
            transactions: nodes.filter(|node| node.is_transaction).count(),
            statements: self.project.statements.0,
            understood: self.project.statements.1,
            assertions: self.project.asserts.len(),
            complete: self.analysis.is_complete,
            funnel: None,
            logs: self.project.files.iter().filter_map(log).collect(),
        }
    }

    fn diagnostic(&self, file: usize, diagnostic: &Diagnostic) -> RemarkReport {
        RemarkReport {
            severity: match diagnostic.severity {
                Severity::Error => RemarkSeverity::Error,
                Severity::Warning => RemarkSeverity::Warning,
                Severity::Note => RemarkSeverity::Note,
            },
            code: None,
            title: diagnostic.message.clone(),
            marks: vec![self.mark(file, diagnostic.span, String::new())],
            notes: Vec::new(),
            help: diagnostic.hint.clone(),
        }
    }

    fn mark(&self, file: usize, span: Span, says: String) -> MarkReport {
        self.project.mark(file, span, says)
    }

    fn schedule(&self, schedule: &Schedule, group: usize) -> ScheduleReport {
        let application = &self.analysis.flowing.application;
        let name = |id: TransactionId| self.project.program.procedures[id.procedure].name.clone();
        let explanations = schedule.explain(application);
        let phenomena: Vec<String> = schedule.phenomena().iter().map(|it| it.code().to_string()).collect();
        ScheduleReport {
            name: schedule.label(application),
            procedures: [name(schedule.first), name(schedule.between)],
            phenomena,
            group,
            remark: self.schedule_remark(schedule, &explanations),
            fate: None,
        }
    }

    fn schedule_remark(&self, schedule: &Schedule, explanations: &[Explanation]) -> RemarkReport {
        // What a host variable carries over says more than that both read the same column.
        let telling = |it: &&Explanation| !matches!(it.first.deed, Deed::Reads(_) | Deed::Writes(..));
        let exact = |it: &&Explanation| telling(it) && self.is_origin(&it.first);
        let chosen = explanations.iter().find(exact).or(explanations.iter().find(telling)).or(explanations.first());
        let Some(told) = chosen else {
            let title = schedule.label(&self.analysis.flowing.application);
            return RemarkReport {
                severity: RemarkSeverity::Warning,
                code: None,
                title,
                marks: Vec::new(),
                notes: Vec::new(),
                help: None,
            };
        };
        let procedure = |act: &Act| self.project.program.procedures[act.transaction.procedure].name.clone();
        let (a, b) = (procedure(&told.first), procedure(&told.between));
        let other = if a == b { "another call of it".to_string() } else { b };
        let mut marks = vec![self.act(1, &told.first), self.act(2, &told.between), self.act(3, &told.last)];
        let early = self.commit_of(schedule.first);
        marks.extend(early.map(|(file, span)| self.mark(file, span, "A's transaction ends here".to_string())));
        let line = early.map(|(_, span)| format!("the commit in line {}", span.line));
        let line = line.unwrap_or_else(|| "the end of its first transaction".to_string());
        RemarkReport {
            severity: RemarkSeverity::Warning,
            code: Some(told.phenomenon.code().to_string()),
            title: format!("{}: {a} lets {other} in between, at {line}", told.phenomenon.name()),
            marks,
            notes: Vec::new(),
            help: Some(format!(
                "if {} and {} belong together, make them one transaction; if not, have {} check that nothing has changed",
                told.first.name, told.last.name, told.last.name
            )),
        }
    }

    /// Whether the value that is remembered is the element's, and not only chosen by it.
    fn is_origin(&self, act: &Act) -> bool {
        let Deed::Remembers(element, Some(variable)) = &act.deed else { return false };
        let nodes = self.project.accesses[act.transaction.procedure].nodes.iter();
        let mut definitions = nodes.filter(|node| node.operation.span.line == act.line).flat_map(|node| &node.defines);
        definitions.any(|it| {
            it.variable.name == *variable && it.origins.iter().any(|origin| origin.to_string() == element.to_string())
        })
    }

    fn act(&self, number: usize, act: &Act) -> MarkReport {
        let id = act.transaction;
        let place = &self.analysis.flowing.places[id.procedure][id.node];
        let nodes = &self.project.accesses[id.procedure].nodes;
        let spans = || place.operations.iter().map(|position| nodes[*position].operation.span);
        let span = spans().find(|span| span.line == act.line).or(spans().next()).unwrap_or_default();
        let says = format!("{number}. {}: {} ({})", act.instance, act.deed, act.name);
        self.mark(self.project.homes[id.procedure], span, says)
    }

    /// Where the program commits a transaction, if it says so.
    fn commit_of(&self, id: TransactionId) -> Option<(usize, Span)> {
        let place = &self.analysis.flowing.places[id.procedure][id.node];
        let nodes = &self.project.accesses[id.procedure].nodes;
        let end = place.ends.iter().find_map(|end| nodes.get(*end))?;
        Some((self.project.homes[id.procedure], end.operation.span))
    }

    fn commit_point(&self, point: &CommitPoint) -> CommitPointReport {
        let application = &self.analysis.flowing.application;
        let id = point.after;
        let procedure = self.project.program.procedures[id.procedure].name.clone();
        let names = |elements: Vec<String>| elements.join(", ");
        let written: Vec<String> = point.written.iter().map(Element::to_string).collect();
        let lost: Vec<String> =
            point.lost.iter().flat_map(|(_, elements)| elements.iter().map(Element::to_string)).collect();
        let mut marks = Vec::new();
        let place = &self.analysis.flowing.places[id.procedure][id.node];
        let nodes = &self.project.accesses[id.procedure].nodes;
        let home = self.project.homes[id.procedure];
        let writes = |position: &&usize| nodes[**position].access.tables.iter().any(|table| !table.writes.is_empty());
        if let Some(position) = place.positions.iter().find(writes) {
            let says = format!("1. {} is written ({})", names(written.clone()), application.node(id).name);
            marks.push(self.mark(home, nodes[*position].operation.span, says));
        }
        if let Some((file, span)) = self.commit_of(id) {
            marks.push(self.mark(file, span, "2. and committed; if the process dies here …".to_string()));
        }
        for (later, elements) in &point.lost {
            let place = &self.analysis.flowing.places[later.procedure][later.node];
            if let Some(position) = place.positions.iter().find(writes) {
                let elements: Vec<String> = elements.iter().map(Element::to_string).collect();
                let says = format!("3. … {} is never written ({})", names(elements), application.node(*later).name);
                marks.push(self.mark(home, nodes[*position].operation.span, says));
            }
        }
        let remark = RemarkReport {
            severity: RemarkSeverity::Warning,
            code: Some("atomicity".to_string()),
            title: format!("{procedure} commits half of its work"),
            marks,
            notes: Vec::new(),
            help: Some("commit once, at the end".to_string()),
        };
        let transaction = application.node(id).name.clone();
        CommitPointReport { procedure, transaction, written, lost, remark, fate: None }
    }
}
