//! The words for what the graph oracle found.

use crate::finding::{Exhibit, Explanation, Fingerprint, Violation, shape};
use crate::graph::IsolationViolation;
use crate::graph::Odd;
use crate::graph::{Graph, Row, draw};
use crate::oracle::Verdict;
use crate::oracle::graph::instrument::Prepared;
use crate::oracle::graph::instrumented::items;
use crate::oracle::graph::round::Mismatch;
use crate::oracle::graph::{Followed, NAME};
use crate::oracle::observe::words::{STATEMENT_SHOWN, answer, aspect, rows as values, shortened};
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
pub(super) fn witness(followed: &Followed) -> Verdict {
    let (statements, edges) = (followed.graph.statements.len(), followed.graph.edges.len());
    if statements == 0 {
        return Verdict::Vacuous("no statement of a committed transaction is left to be compared".to_string());
    }
    Verdict::Holds(format!(
        "the same answers without transactions ({} of {}, {}, {})",
        counted(statements, "statement", "statements"),
        counted(followed.transactions(), "transaction", "transactions"),
        counted(edges, "dependency", "dependencies"),
        counted(followed.rounds, "round", "rounds")
    ))
}

/// `1 round`, `2 rounds`
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
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
        let sentence = self.unlike(found);
        let explanation = Explanation {
            lets: vec![format!("the statements ran again without transactions, in the order {}", sorted.join(", "))],
            thens: vec![
                "this order respects every dependency, so each of them meets the same rows and must answer the same"
                    .to_string(),
            ],
            however: vec![sentence.clone(), verdict(blame)],
        };
        let about: Vec<&StepRef> = steps.iter().copied().filter(|step| is_about(found, step)).collect();
        let about = if about.is_empty() { self.writers(&steps) } else { about };
        let mut told = self.told(aspect(found), &about, sentence, explanation);
        told.exhibits.push(self.side_by_side(&steps, plain, found));
        told
    }

    /// `a3 (SELECT …) returned (2), but without transactions, on the same rows, it returned (1)`
    fn unlike(&self, found: &Difference) -> String {
        let named = |seen: &Seen| self.named(&StepRef { session: seen.session().clone(), index: seen.item() });
        match found {
            Difference::Answer { did, would } => {
                let (step, did, would) = (named(did), answer(&did.answer), answer(would));
                format!("{step} {did}, but without transactions, on the same rows, it {would}")
            }
            Difference::Missing(did) => format!("{} was not answered without transactions", named(did)),
            Difference::Extra(would) => format!("{} was answered only without transactions", named(would)),
            Difference::State { table, did, would } => match (did.is_empty(), would.is_empty()) {
                (true, true) => format!("the table {table} is not the same without transactions"),
                (true, false) => {
                    format!(
                        "the table {table} lacked {} at the end, which it holds without transactions",
                        values(would)
                    )
                }
                (false, true) => {
                    format!(
                        "the table {table} held {} at the end, which it does not hold without transactions",
                        values(did)
                    )
                }
                (false, false) => {
                    let (did, would) = (values(did), values(would));
                    format!("the table {table} held {did} at the end, but without transactions it held {would}")
                }
            },
        }
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
        let (missed, extra) = (rows(&found.missed), rows(&found.extra));
        let what = match (found.missed.is_empty(), found.extra.is_empty()) {
            (true, _) => format!("wrote {extra}, which its condition had not selected"),
            (false, true) => format!("did not write {missed}, which its condition had selected"),
            (false, false) => format!("wrote {extra} and not {missed}, which its condition had selected"),
        };
        let step = &found.step;
        let explanation = Explanation {
            lets: vec![
                format!("a query with the condition of {step} ran directly before it, in the same session"),
                format!("what {step} wrote is known by its version, in a read of the whole table directly after it"),
            ],
            thens: vec!["nothing came between, so the query and the statement choose the same rows".to_string()],
            however: vec![format!("{step} {what}")],
        };
        self.told("rows", &[step], format!("{} {what}", self.named(step)), explanation)
    }

    /// The versions are impossible.
    pub(super) fn odd(&self, odd: &Odd) -> Told {
        let (kind, about): (&str, Vec<&StepRef>) = match odd {
            Odd::Stranger { reader, writer, .. } => ("aborted", vec![reader, writer]),
            Odd::Fork { first, second, .. } => ("lost-update", vec![first, second]),
            Odd::Unwritten { reader, .. } => ("unwritten", vec![reader]),
            Odd::Outside { statement, .. } => ("outside", vec![statement]),
            Odd::Vanished { reader, .. } => ("vanished", vec![reader]),
            Odd::Twice { reader, .. } => ("twice", vec![reader]),
            Odd::Reused { again, .. } => ("reused", vec![again]),
        };
        let named = |step: &&StepRef| format!("{step} = {}", shortened(&self.sql(step), STATEMENT_SHOWN));
        let versions = "the version of a row is the number that the last statement to write it put there";
        let sentence = match odd {
            Odd::Fork { row, before: None, first, second } => format!("{first} and {second} both inserted {row}"),
            other => other.to_string(),
        };
        let explanation = Explanation {
            lets: [versions.to_string()].into_iter().chain(about.iter().map(named)).collect(),
            thens: vec![expected(odd).to_string()],
            however: vec![sentence.clone()],
        };
        self.told(kind, &about, sentence, explanation)
    }

    /// The transactions depend on each other in a way that their level forbids.
    pub(super) fn forbidden(&self, found: &IsolationViolation) -> Told {
        let level = self.trace.sessions.first().map_or(String::new(), |session| session.level.to_string());
        let (anomaly, name) = (found.anomaly, found.anomaly.anomaly.name);
        let alias = anomaly.to_string();
        let alias = if alias.replace('-', " ") == name { String::new() } else { format!(" ({alias})") };
        let sentence = format!("{name}{alias} at {level}: {}", anomaly.anomaly.what);
        let steps: Vec<&StepRef> = self.graph.statements.iter().map(|one| &one.step).collect();
        self.told(&anomaly.to_string().to_lowercase(), &steps, sentence, found.explanation.clone())
    }
}

/// Which of two executions is wrong, and how that is known.
fn verdict(blame: Blame) -> String {
    match blame {
        Blame::Transactions(orders) => {
            format!(
                "{orders} such orders without transactions agree: it is the execution with transactions that is wrong"
            )
        }
        Blame::Plain => {
            "two such orders do not even agree with each other: the one without transactions is wrong".into()
        }
        Blame::Unknown => "there is no other such order to ask, so either of the two executions may be wrong".into(),
    }
}

/// What an engine that works would have shown.
fn expected(odd: &Odd) -> &'static str {
    match odd {
        Odd::Stranger { .. } => "nobody else meets a version whose transaction does not commit",
        Odd::Fork { before: None, .. } => "a row that is there cannot be inserted, and nobody deleted it",
        Odd::Fork { .. } => "a version that was replaced is gone: nobody else can replace it",
        Odd::Unwritten { .. } => "every version comes from the setup, or from a statement that gave it to this row",
        Odd::Outside { .. } => "the table was read directly before, and nothing came between: both see the same",
        Odd::Vanished { .. } => "a row stays until somebody deletes it",
        Odd::Twice { .. } => "a primary key has one row",
        Odd::Reused { .. } => "a key is used once",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    #[test]
    fn one_and_many() {
        assert_eq!(counted(1, "dependency", "dependencies"), "1 dependency");
        assert_eq!(counted(0, "round", "rounds"), "0 rounds");
        let nothing = witness(&Followed { rounds: 3, ..Followed::default() });
        assert!(matches!(nothing, Verdict::Vacuous(_)), "{nothing:?}");
    }

    #[test]
    fn some_of_many_rows() {
        let row = |key: i64| Row { table: "t".into(), key: vec![Value::int(key)] };
        assert_eq!(rows(&[row(1), row(2)]), "t(1), t(2)");
        assert_eq!(rows(&(0..8).map(row).collect::<Vec<_>>()), "t(0), t(1), t(2), t(3), t(4) and 3 more");
    }
}
