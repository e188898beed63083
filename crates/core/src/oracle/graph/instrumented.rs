//! A prepared case with the reads around its statements, as a case that can be run.

use std::collections::BTreeMap;

use crate::case::{Case, Item, Line, SessionName, Sql};
use crate::oracle::graph::instrument::{Prepared, Read, View, views::Views};
use crate::schedule::StepRef;
use crate::sql::StatementKind;
use crate::trace::{StepId, Trace};

/// An instrumented case, and what its steps are for.
pub(super) struct Instrumented {
    pub(super) case: Case,
    parts: BTreeMap<SessionName, Vec<Part>>,
}

/// A step of the instrumented case.
pub(super) struct Part {
    /// The step of the prepared case that it belongs to.
    pub(super) step: StepRef,
    /// The read that it is; `None` for the step itself.
    pub(super) read: Option<Read>,
}

impl Instrumented {
    /// The steps of `order`, and nothing else, with reads around those that can be expected to commit.
    pub(super) fn new(
        prepared: &Prepared,
        order: &[StepRef],
        views: &BTreeMap<SessionName, Views>,
    ) -> Result<Instrumented, String> {
        let items = items(&prepared.case);
        let mut case = Case { program: prepared.case.program.clone(), ..Case::default() };
        let is_setting = |line: &Line| matches!(line, Line::Isolation(..) | Line::Node(..) | Line::Init(..));
        case.entries.extend(prepared.case.entries.iter().filter(|entry| is_setting(&entry.line)).cloned());
        let mut parts: BTreeMap<SessionName, Vec<Part>> = BTreeMap::new();
        for (position, step) in order.iter().enumerate() {
            let item = items.get(step).ok_or_else(|| format!("the case has no step {step}"))?;
            let reads = match views.get(&step.session) {
                Some(views) if !is_rolled_back(&order[position..], step, &items) => {
                    prepared.reads(step, view(prepared, step, views))
                }
                _ => Default::default(),
            };
            let before = reads.before.into_iter().map(Some);
            let after = reads.after.into_iter().map(Some);
            for read in before.chain([None]).chain(after) {
                let item = match &read {
                    Some(read) => Item::Sql(Sql::new(&read.sql)?),
                    None => (*item).clone(),
                };
                case.entries.push(Line::Step(step.session.clone(), item, Vec::new()).into());
                parts.entry(step.session.clone()).or_default().push(Part { step: step.clone(), read });
            }
        }
        Ok(Instrumented { case, parts })
    }

    /// What a step of a run is for.
    pub(super) fn part(&self, trace: &Trace, id: StepId) -> Option<&Part> {
        let step = trace.step(id);
        self.parts.get(trace.name(step.session))?.get(step.item)
    }
}

fn view(prepared: &Prepared, step: &StepRef, views: &Views) -> View {
    match prepared.targets.get(step) {
        Some(target) if target.chooses => views.choices,
        Some(target) if target.written.is_some() || target.locks => views.writes,
        _ => views.queries,
    }
}

/// Every step of a case.
pub(super) fn items(case: &Case) -> BTreeMap<StepRef, &Item> {
    let mut items = BTreeMap::new();
    let mut counts: BTreeMap<&SessionName, usize> = BTreeMap::new();
    for entry in &case.entries {
        let Line::Step(session, item, _) = &entry.line else { continue };
        let index = counts.entry(session).or_default();
        items.insert(StepRef { session: session.clone(), index: *index }, item);
        *index += 1;
    }
    items
}

/// Whether the next end of a transaction of the step's session is a ROLLBACK: then nothing of it is compared, and reads
/// around it would only lock more than the case itself does.
fn is_rolled_back(rest: &[StepRef], step: &StepRef, items: &BTreeMap<StepRef, &Item>) -> bool {
    let kinds = rest.iter().filter(|other| other.session == step.session).map(|other| match items.get(other) {
        Some(Item::Sql(sql)) => StatementKind::of(sql.as_str()),
        _ => StatementKind::Other,
    });
    let ends =
        |kind: &StatementKind| matches!(kind, StatementKind::Begin | StatementKind::Commit | StatementKind::Rollback);
    kinds.skip(1).find(ends) == Some(StatementKind::Rollback)
}
