//! The words for what the graph oracle found.

use crate::finding::{Exhibit, Explanation, Fingerprint, Violation, shape};
use crate::graph::IsolationViolation;
use crate::graph::Odd;
use crate::graph::{Graph, Row, draw};
use crate::oracle::graph::instrument::Prepared;
use crate::oracle::graph::instrumented::items;
use crate::oracle::graph::round::Mismatch;
use crate::oracle::graph::{Followed, NAME};
use crate::oracle::observe::words::{STATEMENT_SHOWN, aspect, difference, shortened};
use crate::oracle::observe::{Difference, Seen};
use crate::schedule::StepRef;
use crate::sql::one_line;
use crate::trace::compare::describe;
use crate::trace::{StepRun, Trace};

/// How many rows a clause names.
const ROWS_SHOWN: usize = 5;
/// How wide each of two executions is drawn.
const SIDE_WIDTH: usize = 46;

/// Which of two executions that differ is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Blame {
    /// The one with transactions: so many orders without them agree with each other.
    Transactions(usize),
    /// The one without: its orders do not agree with each other.
    Plain,
    /// It cannot be told.
    Unknown,
}

/// A violation, and what is shown beside it.
pub(super) struct Told {
    pub(super) violation: Violation,
    pub(super) exhibits: Vec<Exhibit>,
}

/// A violation that speaks for itself.
pub(super) fn plain(violation: Violation) -> Told {
    Told { violation, exhibits: Vec::new() }
}

/// Why a case holds.
pub(super) fn witness(followed: &Followed) -> String {
    let (statements, transactions) = (followed.graph.statements.len(), followed.transactions());
    format!(
        "{statements} statements of {transactions} transactions answer the same without transactions, sorted by {} dependencies ({} rounds)",
        followed.graph.edges.len(),
        followed.rounds
    )
}

/// What the words are about.
pub(super) struct Words<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) graph: &'a Graph,
    /// The run with transactions, without the reads.
    pub(super) trace: &'a Trace,
}

impl Words<'_> {
    fn sql(&self, step: &StepRef) -> String {
        items(&self.prepared.case).get(step).map_or_else(String::new, |item| one_line(&item.to_string()))
    }

    /// `a2 (UPDATE …)`
    fn named(&self, step: &StepRef) -> String {
        format!("{step} ({})", shortened(&self.sql(step), STATEMENT_SHOWN))
    }

    fn told(&self, what: &str, about: &[&StepRef], sentence: String, explanation: Explanation) -> Told {
        let shapes: Vec<String> = about.iter().map(|step| shape([self.sql(step).as_str()])).collect();
        let fingerprint = Fingerprint::new(&format!("{NAME}-{what}"), &shapes);
        Told { violation: Violation { sentence, explanation, fingerprint }, exhibits: self.graph_exhibit() }
    }

    fn graph_exhibit(&self) -> Vec<Exhibit> {
        if self.graph.statements.is_empty() {
            return Vec::new();
        }
        let text = |step: &StepRef| self.sql(step);
        vec![Exhibit { title: "Dependencies".to_string(), lines: draw::draw(self.graph, &text) }]
    }

    /// The two executions differ.
    pub(super) fn difference(&self, found: &Difference, order: &[usize], plain: &Trace, blame: Blame) -> Told {
        let steps: Vec<&StepRef> = order.iter().map(|at| &self.graph.statements[*at].step).collect();
        let sorted: Vec<String> = steps.iter().map(|step| step.to_string()).collect();
        let because = difference(found);
        let sentence =
            format!("the same statements, sorted by their dependencies, differ without transactions: {because}");
        let verdict = match blame {
            Blame::Transactions(orders) => {
                format!(
                    "{orders} sorted orders without transactions agree, so it is the execution with transactions that is wrong"
                )
            }
            Blame::Plain => {
                "sorted orders without transactions do not even agree with each other: there the engine is wrong"
                    .to_string()
            }
            Blame::Unknown => "which of the two executions is wrong cannot be told from here".to_string(),
        };
        let explanation = Explanation {
            lets: vec![format!("without transactions, the order is {}", sorted.join(", "))],
            thens: vec![
                "it respects every dependency, so each statement sees the same rows and must answer the same"
                    .to_string(),
            ],
            however: vec![because, verdict],
        };
        let about: Vec<&StepRef> = steps.iter().copied().filter(|step| is_about(found, step)).collect();
        let about = if about.is_empty() { self.writers(&steps) } else { about };
        let mut told = self.told(aspect(found), &about, sentence, explanation);
        told.exhibits.push(self.side_by_side(&steps, plain, found));
        told
    }

    /// The statements that write something.
    fn writers<'b>(&self, steps: &[&'b StepRef]) -> Vec<&'b StepRef> {
        let writes = |step: &&&StepRef| self.prepared.targets.get(**step).is_some_and(|one| one.written.is_some());
        steps.iter().filter(writes).copied().collect()
    }

    /// What each statement answered, with transactions and without, in the sorted order.
    fn side_by_side(&self, steps: &[&StepRef], plain: &Trace, found: &Difference) -> Exhibit {
        let answer = |trace: &Trace, step: &StepRef| {
            let is_it = |run: &&StepRun| *trace.name(run.session) == step.session && run.item == step.index;
            let outcome = trace.steps.iter().find(is_it).and_then(|run| run.outcome.as_ref());
            outcome.map_or("no answer".to_string(), |outcome| describe(trace.engine.dialect, outcome))
        };
        let mut lines = vec![format!("  {:5} {:SIDE_WIDTH$}  {}", "", "with transactions", "without")];
        for step in steps {
            let (with, without) = (answer(self.trace, step), answer(plain, step));
            let mark = if is_about(found, step) { "✗" } else { " " };
            let (with, without) = (shortened(&with, SIDE_WIDTH - 1), shortened(&without, SIDE_WIDTH - 1));
            lines.push(format!("{mark} {:5} {with:SIDE_WIDTH$}  {without}", step.to_string()));
        }
        Exhibit { title: "The two executions".to_string(), lines }
    }

    /// The server died without transactions.
    pub(super) fn plain_died(&self, mut violation: Violation, order: &[usize]) -> Told {
        let steps: Vec<String> = order.iter().map(|at| self.graph.statements[*at].step.to_string()).collect();
        violation.sentence = format!("without transactions, {}", violation.sentence);
        violation
            .explanation
            .lets
            .insert(0, format!("the statements ran on their own, in the order {}", steps.join(", ")));
        Told { violation, exhibits: self.graph_exhibit() }
    }

    /// The server died, and nothing more is known.
    pub(super) fn died(&self) -> Violation {
        let (sentence, explanation) = ("the server died".to_string(), Explanation::default());
        Violation { sentence, explanation, fingerprint: Fingerprint::new("crash", &[]) }
    }

    /// A statement wrote other rows than its condition selects.
    pub(super) fn mismatch(&self, found: &Mismatch) -> Told {
        let step = self.named(&found.step);
        let what = match (found.missed.is_empty(), found.extra.is_empty()) {
            (true, _) => format!("also wrote {}, which its condition did not select", rows(&found.extra)),
            (false, true) => format!("did not write {}, which its condition selected", rows(&found.missed)),
            (false, false) => {
                format!("wrote {} instead of {}, which its condition selected", rows(&found.extra), rows(&found.missed))
            }
        };
        let explanation = Explanation {
            lets: vec![format!(
                "a query with the condition of {} ran directly before it, in the same transaction",
                found.step
            )],
            thens: vec!["nothing came between, so both choose the same rows".to_string()],
            however: vec![format!("{} {what}", found.step)],
        };
        self.told("rows", &[&found.step], format!("{step} {what}"), explanation)
    }

    /// The versions are impossible.
    pub(super) fn odd(&self, odd: &Odd) -> Told {
        let (kind, about): (&str, Vec<&StepRef>) = match odd {
            Odd::Stranger { reader, writer, .. } => ("aborted", vec![reader, writer]),
            Odd::Fork { first, second, .. } => ("lost-update", vec![first, second]),
            Odd::Unwritten { reader, .. } => ("unwritten", vec![reader]),
            Odd::Outside { statement, .. } => ("outside", vec![statement]),
            Odd::Vanished { reader, .. } => ("vanished", vec![reader]),
            Odd::Reused(_) => ("reused", Vec::new()),
        };
        let named = |step: &&StepRef| format!("{step} = {}", shortened(&self.sql(step), STATEMENT_SHOWN));
        let explanation = Explanation {
            lets: about.iter().map(named).collect(),
            thens: vec!["the reads around each statement say which versions it saw and which it replaced".to_string()],
            however: vec![odd.to_string()],
        };
        self.told(kind, &about, odd.to_string(), explanation)
    }

    /// The transactions depend on each other in a way that their level forbids.
    pub(super) fn forbidden(&self, found: &IsolationViolation) -> Told {
        let level = self.trace.sessions.first().map_or(String::new(), |session| session.level.to_string());
        let anomaly = found.anomaly;
        let sentence = format!("{} ({anomaly}) at {level}: {}", anomaly.anomaly.name, anomaly.anomaly.what);
        let steps: Vec<&StepRef> = self.graph.statements.iter().map(|one| &one.step).collect();
        self.told(&anomaly.to_string().to_lowercase(), &steps, sentence, found.explanation.clone())
    }
}

/// Whether a difference is about this statement.
fn is_about(found: &Difference, step: &StepRef) -> bool {
    let same = |seen: &Seen| *seen.session() == step.session && seen.item() == step.index;
    match found {
        Difference::Answer { did, .. } | Difference::Missing(did) | Difference::Extra(did) => same(did),
        Difference::State { .. } => false,
    }
}

/// `t(1), t(2) and 3 more`
fn rows(rows: &[Row]) -> String {
    let shown: Vec<String> = rows.iter().take(ROWS_SHOWN).map(Row::to_string).collect();
    let more = if rows.len() > ROWS_SHOWN { format!(" and {} more", rows.len() - ROWS_SHOWN) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}
