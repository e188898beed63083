//! The two executions, compared.

use std::collections::{BTreeMap, BTreeSet};

use crate::case::{Case, Entry, Line};
use crate::finding::Finding;
use crate::graph::Graph;
use crate::oracle::graph::explain::{self, Blame, Words};
use crate::oracle::graph::refine::{End, Refined};
use crate::oracle::graph::round::Round;
use crate::oracle::graph::{Followed, NAME, Trial, Triggering};
use crate::oracle::observe::{Observations, Place};
use crate::oracle::{Mode, RunError, RunRequest, Verdict, crash, unobserved};
use crate::schedule::{Policy, Schedule, StepRef};
use crate::trace::{StepId, Trace, TraceEvent};

/// So many further orders are run to find out which of two executions is wrong.
const BLAME_ORDERS: usize = 3;
/// So often another order is drawn for it.
const BLAME_DRAWS: usize = 12;
/// More sorted orders are not counted.
const ORDERS_COUNTED: u64 = 10_000;

impl Trial<'_> {
    /// Follows the case and judges it.
    pub(super) fn judge(mut self, schedule: Option<&Schedule>) -> Result<(Verdict, Followed), RunError> {
        let mut followed = Followed::default();
        let refined = match self.refine(schedule, &mut followed)? {
            Ok(refined) => refined,
            Err(reason) => return Ok((Verdict::Unknown(reason), followed)),
        };
        let trace = self.stripped(&refined);
        let words = Words { prepared: self.prepared, graph: &followed.graph, trace: &trace };
        let violation = match &refined.end {
            End::Acyclic => {
                let orders = self.compare(&trace, &followed.graph)?;
                followed.orders = orders.run;
                match orders.outcome {
                    Outcome::Same => {
                        return Ok((explain::witness(&followed), followed));
                    }
                    Outcome::Unknown(reason) => return Ok((Verdict::Unknown(reason), followed)),
                    Outcome::Violated(violation) => *violation,
                }
            }
            End::Died => explain::plain(crash::violation(&trace).unwrap_or_else(|| words.died())),
            End::Odd(odd) => words.odd(odd),
            End::Mismatch(mismatch) => words.mismatch(mismatch),
            End::Forbidden(violation) => words.forbidden(violation),
        };
        let mut finding = Finding::new(NAME, violation.violation, self.refined_case(&refined), trace);
        finding.exhibits = violation.exhibits;
        Ok((Verdict::Violated(vec![finding]), followed))
    }

    /// Runs sorted orders without transactions until one differs.
    fn compare(&mut self, trace: &Trace, graph: &Graph) -> Result<Orders, RunError> {
        let observed = compared(trace, graph);
        let words = Words { prepared: self.prepared, graph, trace };
        let mut run = 0;
        for _ in 0..self.oracle.orders.max(1) {
            let Some(order) = graph.order(&mut self.random) else { break };
            let plain = self.plain(graph, &order)?;
            run += 1;
            if let Some(violation) = crash::violation(&plain) {
                return Ok(Orders { run, outcome: Outcome::Violated(Box::new(words.plain_died(violation, &order))) });
            }
            if let Some(reason) = unobserved(&plain) {
                return Ok(Orders { run, outcome: Outcome::Unknown(reason) });
            }
            let without = observations(&plain, |_| true);
            if let Some(difference) = observed.difference(&without) {
                let blame = self.blame(graph, &order, &without)?;
                let violation = words.difference(&difference, &order, &plain, blame);
                return Ok(Orders { run, outcome: Outcome::Violated(Box::new(violation)) });
            }
        }
        Ok(Orders { run, outcome: Outcome::Same })
    }

    /// How many sorted orders there are, and how many of some of them differ from the execution with transactions.
    pub(super) fn triggering(&mut self, orders_max: usize) -> Result<Option<Triggering>, RunError> {
        let mut followed = Followed::default();
        let refined = match self.refine(None, &mut followed)? {
            Ok(refined) if matches!(refined.end, End::Acyclic) => refined,
            _ => return Ok(None),
        };
        let graph = &followed.graph;
        let observed = compared(&self.stripped(&refined), graph);
        let (mut run, mut differ) = (Vec::new(), 0);
        for _ in 0..orders_max {
            let Some(order) = graph.order(&mut self.random).filter(|order| !run.contains(order)) else { continue };
            let plain = self.plain(graph, &order)?;
            differ += usize::from(observed.difference(&observations(&plain, |_| true)).is_some());
            run.push(order);
        }
        let orders = graph.order_count(ORDERS_COUNTED);
        Ok(Some(Triggering { orders, run: run.len(), differ, is_cyclic: graph.is_transaction_cyclic(|_| true) }))
    }

    /// Runs the statements in this order, each on its own.
    fn plain(&mut self, graph: &Graph, order: &[usize]) -> Result<Trace, RunError> {
        let steps = order.iter().map(|at| graph.statements[*at].step.clone()).collect();
        let (case, target) = (&self.prepared.case, self.target);
        self.runner.run(&RunRequest { case, target, policy: Policy::default(), mode: Mode::Autocommit(steps) })
    }

    /// Which of two executions that differ is the odd one: if further orders agree with the one that was run without
    /// transactions, it is the one with them.
    fn blame(&mut self, graph: &Graph, first: &[usize], without: &Observations) -> Result<Blame, RunError> {
        let mut run = vec![first.to_vec()];
        let mut agreeing = 0;
        for _ in 0..BLAME_DRAWS {
            let drawn = graph.order(&mut self.random).filter(|order| !run.contains(order));
            let Some(order) = drawn.filter(|_| run.len() <= BLAME_ORDERS) else { continue };
            let plain = self.plain(graph, &order)?;
            run.push(order);
            if unobserved(&plain).is_some() {
                continue;
            }
            if without.difference(&observations(&plain, |_| true)).is_some() {
                return Ok(Blame::Plain);
            }
            agreeing += 1;
        }
        Ok(if agreeing > 0 { Blame::Transactions(agreeing + 1) } else { Blame::Unknown })
    }

    /// The run without the reads: as if nobody had looked.
    fn stripped(&self, refined: &Refined) -> Trace {
        let round = Round::new(self.prepared, &refined.instrumented, &refined.trace);
        let mut trace = Trace { steps: Vec::new(), events: Vec::new(), ..refined.trace.clone() };
        let mut ids: BTreeMap<StepId, StepId> = BTreeMap::new();
        for id in (0..refined.trace.steps.len()).map(StepId) {
            let Some(step) = round.step_of(id) else { continue };
            ids.insert(id, StepId(trace.steps.len()));
            let mut run = refined.trace.step(id).clone();
            (run.index, run.item) = (step.index, step.index);
            trace.steps.push(run);
        }
        let renamed = |event: &TraceEvent| match event {
            TraceEvent::Submitted(id) => Some(TraceEvent::Submitted(*ids.get(id)?)),
            TraceEvent::Waiting { step, holders, source } => {
                Some(TraceEvent::Waiting { step: *ids.get(step)?, holders: holders.clone(), source })
            }
            TraceEvent::Resumed(id) => Some(TraceEvent::Resumed(*ids.get(id)?)),
            TraceEvent::Completed(id) => Some(TraceEvent::Completed(*ids.get(id)?)),
            TraceEvent::Cancelled(id, reason) => Some(TraceEvent::Cancelled(*ids.get(id)?, *reason)),
            TraceEvent::Happened(_) | TraceEvent::Infeasible(_) => Some(event.clone()),
        };
        trace.events = refined.trace.events.iter().filter_map(renamed).collect();
        trace
    }

    /// The original case, with the steps of the last round only, in their order: what shows the same at once.
    fn refined_case(&self, refined: &Refined) -> Case {
        let mut steps: BTreeMap<StepRef, Entry> = BTreeMap::new();
        let mut case = Case { entries: Vec::new(), ..self.original.clone() };
        let mut counts = BTreeMap::new();
        for entry in &self.original.entries {
            match &entry.line {
                Line::Step(session, item, _) => {
                    let index = counts.entry(session.clone()).or_insert(0);
                    let step = StepRef { session: session.clone(), index: *index };
                    *index += 1;
                    let line = Line::Step(session.clone(), item.clone(), Vec::new());
                    steps.insert(step, Entry { prose: entry.prose.clone(), line });
                }
                Line::Schedule(_) | Line::Final(_) | Line::Anomaly(_) => {}
                _ => case.entries.push(entry.clone()),
            }
        }
        case.entries.extend(refined.order.iter().filter_map(|step| steps.remove(step)));
        case
    }
}

/// What came of running sorted orders.
struct Orders {
    run: usize,
    outcome: Outcome,
}

enum Outcome {
    Same,
    Unknown(String),
    Violated(Box<explain::Told>),
}

/// What the execution with transactions observed of the statements of the graph.
fn compared(trace: &Trace, graph: &Graph) -> Observations {
    let steps: BTreeSet<&StepRef> = graph.statements.iter().map(|one| &one.step).collect();
    observations(trace, |step| steps.contains(step))
}

/// What a run observed of the steps that are compared.
fn observations(trace: &Trace, is_compared: impl Fn(&StepRef) -> bool) -> Observations {
    Observations::of(trace, |id| {
        let step = trace.step(id);
        let reference = StepRef { session: trace.name(step.session).clone(), index: step.item };
        let StepRef { session, index } = reference.clone();
        is_compared(&reference).then_some(Place { session, item: index, position: 0 })
    })
}
