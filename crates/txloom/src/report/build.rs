//! From what was observed to what is reported: the only place that knows both the core's types and the report's.

use std::collections::BTreeMap;

use txloom_core::case::check::{Mismatch, MismatchAt, MismatchCause};
use txloom_core::case::{Case, Entry, Expectation, Guard, Item, Line, SessionName};
use txloom_core::dialect::Dialect;
use txloom_core::engine::{EngineInfo, Holder, SessionId, State};
use txloom_core::finding::{Exhibit, Finding, labels};
use txloom_core::oracle::diff;
use txloom_core::outcome::{DbError, Outcome, StatementResult, TxStatus};
use txloom_core::planted;
use txloom_core::reduce::{Reduced, Size};
use txloom_core::schedule::Policy;
use txloom_core::sql::{StatementKind, one_line};
use txloom_core::trace::compare;
use txloom_core::trace::{CancelReason, Check, StepId, Trace, TraceEvent};

use super::model::cell::Cell;
use super::model::trace::{
    CancelCause, CheckReport, ColumnReport, DeathReport, ErrorReport, EventReport, NoticeReport, OutcomeReport, Remark,
    ResultReport, SessionReport, Status, StepReport, TableReport, TraceReport,
};
use super::model::{
    CaseReport, ComparisonReport, Difference, ExhibitReport, ExplanationReport, FindingReport, MismatchPlace,
    MismatchReport, OtherRun, ReducedCase, SizeReport,
};

/// A case before it ran: what its file says of it.
pub fn case_report(file: &str, case: &Case) -> CaseReport {
    CaseReport {
        file: file.to_string(),
        claim: case.claim(),
        anomaly: case.anomaly().map(str::to_string),
        expectations: expectation_count(case),
        runs: Vec::new(),
    }
}

/// Everything that the case states about its runs. Marks of its anomaly are descriptions, not expectations.
fn expectation_count(case: &Case) -> usize {
    let is_claim = |guard: &Option<Guard>| *guard != Some(Guard::Anomaly);
    let claims = |expectations: &[Expectation]| expectations.iter().filter(|e| is_claim(&e.guard)).count();
    let stated = |entry: &Entry| match &entry.line {
        Line::Init(_, expectations) | Line::Step(_, _, expectations) => claims(expectations),
        Line::Final(expected) => usize::from(is_claim(&expected.guard)),
        Line::Assert(_) => 1,
        _ => 0,
    };
    case.entries.iter().map(stated).sum()
}

/// What is done when a session waits, in a word.
pub fn policy_name(policy: &Policy) -> String {
    let name = match policy {
        Policy::Skip => "skip",
        Policy::Wait => "wait",
        Policy::Partial(_) => "partial",
    };
    name.to_string()
}

/// One execution of a case.
pub fn trace_report(case: &Case, trace: &Trace) -> TraceReport {
    let dialect = trace.engine.dialect;
    TraceReport {
        sessions: trace.sessions.iter().map(session_report).collect(),
        schedule: trace.schedule().to_string(),
        steps: steps(case, trace),
        events: trace.events.iter().map(|event| event_report(trace, event)).collect(),
        checks: trace.checks.iter().map(|check| check_report(dialect, check)).collect(),
        final_state: trace.final_state.as_ref().map(|state| tables(dialect, state)),
        death: trace.death.as_ref().map(|death| DeathReport { how: death.how.clone(), log: death.log.clone() }),
    }
}

/// An expectation that was not met; `lines` are those of the entries of its case, if they are known.
pub fn mismatch_report(mismatch: &Mismatch, lines: &[usize]) -> MismatchReport {
    let at = match &mismatch.at {
        MismatchAt::Setup(index) => MismatchPlace::Setup(index + 1),
        MismatchAt::Step(step) => MismatchPlace::Step(number(*step)),
        MismatchAt::Missing(session, item) => MismatchPlace::Missing { session: session.to_string(), item: item + 1 },
        MismatchAt::Final(table) => MismatchPlace::Final(table.clone()),
        MismatchAt::Assert(name) => MismatchPlace::Assert(name.clone()),
    };
    let misunderstood = match mismatch.cause {
        MismatchCause::Misunderstood(class) => Some(class.to_string()),
        MismatchCause::Unmet => None,
    };
    let line = mismatch.entry.and_then(|entry| lines.get(entry)).copied();
    MismatchReport { at, line, misunderstood, expected: mismatch.expected.clone(), found: mismatch.found.clone() }
}

/// Where the second of two executions differs from the first.
pub fn divergence_report(first: &Trace, difference: &compare::Difference) -> Difference {
    let at = match difference.step.and_then(|id| first.steps.get(id.0).map(|step| (id, step))) {
        Some((id, step)) => {
            let (name, sql) = (first.step_name(id), one_line(&step.sql));
            format!("the {} of step {name} ({sql})", difference.what)
        }
        None => format!("the {}", difference.what),
    };
    Difference { at, first: difference.left.clone(), other: difference.right.clone() }
}

/// A finding, with the text of its case and the command that shows it again.
pub fn finding_report(finding: &Finding, case_text: String, replay: String) -> FindingReport {
    let engine = &finding.trace.engine;
    let other = |trace: &Trace| OtherRun {
        target: trace.engine.target.clone(),
        version: engine_version(&trace.engine),
        trace: trace_report(&finding.case, trace),
    };
    FindingReport {
        sentence: finding.sentence.clone(),
        oracle: finding.oracle.to_string(),
        fingerprint: finding.fingerprint.to_string(),
        target: engine.target.clone(),
        version: engine_version(engine),
        planted: planted_in(finding),
        explanation: ExplanationReport {
            lets: finding.explanation.lets.clone(),
            thens: finding.explanation.thens.clone(),
            however: finding.explanation.however.clone(),
        },
        trace: trace_report(&finding.case, &finding.trace),
        others: finding.others.iter().map(other).collect(),
        comparison: comparison_report(finding),
        exhibits: finding.exhibits.iter().map(exhibit_report).collect(),
        case: case_text,
        replay,
    }
}

fn exhibit_report(exhibit: &Exhibit) -> ExhibitReport {
    ExhibitReport { title: exhibit.title.clone(), lines: exhibit.lines.clone() }
}

/// The planted bugs that the targets of a finding have.
fn planted_in(finding: &Finding) -> Vec<String> {
    let targets: Vec<&str> = finding.traces().iter().map(|trace| trace.engine.target.as_str()).collect();
    let bugs = planted::ALL.iter().map(|bug| bug.name);
    let has = |target: &&str, bug: &str| target.split('+').skip(1).any(|part| part == bug);
    bugs.filter(|bug| targets.iter().any(|target| has(target, bug))).map(str::to_string).collect()
}

fn comparison_report(finding: &Finding) -> Option<ComparisonReport> {
    let traces = finding.traces();
    if traces.len() < 2 {
        return None;
    }
    let (comparison, shared) = (diff::Comparison::of(&traces), diff::Shared::of(&traces));
    Some(ComparisonReport {
        labels: labels(&traces),
        groups: comparison.groups,
        step: comparison.first.and_then(|first| first.step).map(number),
        shared_events: shared.events,
        unlike_steps: shared.unlike.into_iter().map(number).collect(),
        tables: comparison.tables,
    })
}

/// A case that was made smaller.
pub fn reduced_case(file: &str, reduced: &Reduced, finding: FindingReport) -> ReducedCase {
    let size = |size: &Size| SizeReport {
        sessions: size.sessions,
        items: size.items,
        statements: size.statements,
        setup: size.setup,
        rows: size.rows,
        switches: size.switches,
        characters: size.characters,
    };
    ReducedCase {
        file: file.to_string(),
        tests: reduced.tests,
        complete: reduced.complete,
        before: size(&reduced.before),
        after: size(&reduced.after),
        finding,
    }
}

/// The version as numbers; what the server says, where it says no numbers.
pub fn engine_version(engine: &EngineInfo) -> String {
    if engine.version.numbers.is_empty() { engine.version.text.clone() } else { engine.version.to_string() }
}

fn session_report(session: &txloom_core::trace::SessionRun) -> SessionReport {
    SessionReport { name: session.name.to_string(), level: session.level.to_string(), left_open: session.left_open }
}

fn steps(case: &Case, trace: &Trace) -> Vec<StepReport> {
    let calls = calls(case);
    let remarks = remarks(trace);
    let report = |(at, step): (usize, &txloom_core::trace::StepRun)| {
        let id = StepId(at);
        let name = trace.name(step.session);
        let before = trace.steps[..at].iter().rev().find(|earlier| earlier.session == step.session);
        let begins_item = before.is_none_or(|earlier| earlier.item != step.item);
        StepReport {
            step: number(id),
            name: trace.step_name(id).to_string(),
            session: name.to_string(),
            sql: step.sql.clone(),
            call: calls.get(&(name.clone(), step.item)).filter(|_| begins_item).cloned(),
            waited: step.waited,
            holders: holders_of(trace, id),
            resumed: trace.resumed_by(id).into_iter().map(|session| trace.name(session).to_string()).collect(),
            cancelled: step.cancelled.map(cancel_cause),
            outcome: step.outcome.as_ref().map(|outcome| outcome_report(trace.engine.dialect, outcome)),
            remark: remarks.get(&id).copied(),
        }
    };
    trace.steps.iter().enumerate().map(report).collect()
}

fn number(step: StepId) -> usize {
    step.0 + 1
}

/// The calls of a case, by session and position of the item.
fn calls(case: &Case) -> BTreeMap<(SessionName, usize), String> {
    let mut calls = BTreeMap::new();
    for session in case.sessions() {
        for (at, item) in session.items.iter().enumerate() {
            if let Item::Call(call) = item {
                calls.insert((session.name.clone(), at), call.to_string());
            }
        }
    }
    calls
}

/// Everybody that a step was ever seen waiting for, in the order in which they were seen.
fn holders_of(trace: &Trace, id: StepId) -> Vec<String> {
    let mut names = Vec::new();
    for event in &trace.events {
        let TraceEvent::Waiting { step, holders, .. } = event else { continue };
        if *step == id {
            let new = holders.iter().map(|holder| holder_name(trace, holder)).filter(|name| !names.contains(name));
            let new: Vec<String> = new.collect();
            names.extend(new);
        }
    }
    names
}

fn holder_name(trace: &Trace, holder: &Holder) -> String {
    match holder {
        Holder::Session(id) => trace.name(*id).to_string(),
        Holder::Outside(description) => description.clone(),
    }
}

/// Compares, in order of completion, the status after each step with what the text of the step suggests.
fn remarks(trace: &Trace) -> BTreeMap<StepId, Remark> {
    let mut status: BTreeMap<SessionId, TxStatus> = BTreeMap::new();
    let mut remarks = BTreeMap::new();
    for event in &trace.events {
        let TraceEvent::Completed(id) = event else { continue };
        let step = trace.step(*id);
        let Some(outcome) = &step.outcome else { continue };
        let before = status.insert(step.session, outcome.status).unwrap_or(TxStatus::Idle);
        let kind = trace.engine.dialect.kind(&step.sql);
        if let Some(remark) = remark(before, kind, outcome) {
            remarks.insert(*id, remark);
        }
    }
    remarks
}

fn remark(before: TxStatus, kind: StatementKind, outcome: &Outcome) -> Option<Remark> {
    let was_open = matches!(before, TxStatus::Open | TxStatus::Failed);
    let ended = was_open && outcome.status == TxStatus::Idle;
    match kind {
        StatementKind::Commit if outcome.tag().is_some_and(|tag| tag.eq_ignore_ascii_case("rollback")) => {
            Some(Remark::CommitRolledBack)
        }
        StatementKind::Rollback => None,
        _ if ended && outcome.error.is_some() => Some(Remark::TransactionRolledBack),
        StatementKind::Commit => None,
        _ if ended => Some(Remark::TransactionEnded),
        _ => None,
    }
}

fn event_report(trace: &Trace, event: &TraceEvent) -> EventReport {
    match event {
        TraceEvent::Submitted(step) => EventReport::Submitted { step: number(*step) },
        TraceEvent::Waiting { step, holders, source } => EventReport::Waiting {
            step: number(*step),
            holders: holders.iter().map(|holder| holder_name(trace, holder)).collect(),
            source: (*source).to_string(),
        },
        TraceEvent::Resumed(step) => EventReport::Resumed { step: number(*step) },
        TraceEvent::Completed(step) => EventReport::Completed { step: number(*step) },
        TraceEvent::Cancelled(step, reason) => {
            EventReport::Cancelled { step: number(*step), cause: cancel_cause(*reason) }
        }
        TraceEvent::Happened(event) => EventReport::Happened { what: event.to_string() },
        TraceEvent::Infeasible(constraint) => EventReport::Infeasible { constraint: constraint.to_string() },
    }
}

fn cancel_cause(reason: CancelReason) -> CancelCause {
    match reason {
        CancelReason::StillBlocked => CancelCause::StillBlocked,
        CancelReason::TimeLimit => CancelCause::TimeLimit,
    }
}

fn check_report(dialect: &dyn Dialect, check: &Check) -> CheckReport {
    CheckReport {
        name: check.name.clone(),
        when: check.when.name().to_string(),
        after: check.after.map(number),
        holds: check.holds(),
        rows: check.outcome.rows().map(|result| cells(dialect, result)).unwrap_or_default(),
        error: check.outcome.error.as_ref().map(error_report),
    }
}

fn outcome_report(dialect: &dyn Dialect, outcome: &Outcome) -> OutcomeReport {
    let notice = |notice: &txloom_core::outcome::Notice| NoticeReport {
        severity: notice.severity.clone(),
        code: notice.code.clone(),
        message: notice.message.clone(),
    };
    OutcomeReport {
        results: outcome.results.iter().map(|result| result_report(dialect, result)).collect(),
        notices: outcome.notices.iter().map(notice).collect(),
        error: outcome.error.as_ref().map(error_report),
        status: match outcome.status {
            TxStatus::Idle => Status::Idle,
            TxStatus::Open => Status::Open,
            TxStatus::Failed => Status::Failed,
            TxStatus::Lost => Status::Lost,
        },
    }
}

fn result_report(dialect: &dyn Dialect, result: &StatementResult) -> ResultReport {
    ResultReport {
        columns: columns(result),
        rows: cells(dialect, result),
        affected: result.affected,
        tag: result.tag.clone(),
    }
}

fn columns(result: &StatementResult) -> Vec<ColumnReport> {
    let column = |column: &txloom_core::outcome::Column| ColumnReport {
        name: column.name.clone(),
        type_name: column.type_name.clone(),
    };
    result.columns.iter().map(column).collect()
}

fn cells(dialect: &dyn Dialect, result: &StatementResult) -> Vec<Vec<Cell>> {
    dialect.values(result).into_iter().map(|row| row.into_iter().map(Cell).collect()).collect()
}

fn error_report(error: &DbError) -> ErrorReport {
    ErrorReport {
        class: error.class.name().to_string(),
        code: error.code.clone(),
        native: error.native,
        message: error.message.clone(),
        detail: error.detail.clone(),
    }
}

fn tables(dialect: &dyn Dialect, state: &State) -> Vec<TableReport> {
    let table = |(name, result): (&String, &StatementResult)| {
        let mut rows = cells(dialect, result);
        rows.sort();
        TableReport { table: name.clone(), columns: columns(result), rows }
    };
    state.tables.iter().map(table).collect()
}
