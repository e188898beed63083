//! What the checker says of a history, as parts of a report: `check` and `storm` tell it in the same words.

use txloom_core::history::History;
use txloom_core::history::anomaly::Named;
use txloom_core::history::check::{Checker, Reason};
use txloom_core::history::explain::{self, Story};
use txloom_core::history::survey::Standing;
use txloom_core::level::formal::{Order, Requirement};

use super::model::ExplanationReport;
use super::model::check::{
    EdgeReport, StandingOrder, StandingReport, StandingVerdict, TransactionReport, ViolationReport,
};

/// What violates a level, and why; found so many times. `session` is what a session is called where the history comes from.
pub fn violation(
    history: &History,
    checker: &Checker<'_>,
    reason: &Reason,
    count: usize,
    session: &str,
) -> ViolationReport {
    let named = Named::of(reason);
    let Story { explanation, nodes, edges } = explain::tell(history, &checker.facts, reason, session);
    let cycle = edges.iter().map(|edge| EdgeReport {
        from: nodes[edge.from].name.clone(),
        to: nodes[edge.to].name.clone(),
        kind: edge.kind.name().to_string(),
        key: edge.key.clone(),
    });
    ViolationReport {
        anomaly: named.to_string(),
        name: named.anomaly.name.to_string(),
        what: named.anomaly.what.to_string(),
        citation: named.anomaly.citation.to_string(),
        count,
        cycle: cycle.collect(),
        explanation: ExplanationReport {
            lets: explanation.lets,
            thens: explanation.thens,
            however: explanation.however,
        },
        transactions: nodes
            .into_iter()
            .map(|node| TransactionReport { name: node.name, what: node.what, line: node.line })
            .collect(),
    }
}

/// A level, and whether it holds.
pub fn standing(requirement: Requirement, known: &Standing) -> StandingReport {
    let (verdict, anomaly) = match known {
        Standing::Holds => (StandingVerdict::Holds, None),
        Standing::Violated(reason) => (StandingVerdict::Violated, Some(Named::of(reason).to_string())),
        Standing::Undecided(_) => (StandingVerdict::Undecided, None),
    };
    let order = match requirement.order {
        Order::Free => StandingOrder::Free,
        Order::Session => StandingOrder::Session,
        Order::RealTime => StandingOrder::RealTime,
    };
    StandingReport { level: requirement.level.to_string(), order, verdict, anomaly }
}
