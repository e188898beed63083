//! What a run observed, and the first thing in which another run differs that ought to have observed the same.
//!
//! Compared are the answers to the steps (rows as values, counts, classes of errors) and the final state. Rows have no
//! order unless the query asks for one. Which of several constraints refuses a statement is promised nowhere, and
//! depends on the order in which an engine checks them: such errors are one class here. Waiting, notices and texts of
//! errors are not compared: the other run, one transaction or one statement at a time, has nobody to wait for.

pub(in crate::oracle) mod words;

use std::collections::BTreeMap;

use crate::case::SessionName;
use crate::case::expect::Rows;
use crate::dialect::Dialect;
use crate::outcome::{ErrorClass, Outcome};
use crate::schedule::StepRef;
use crate::sql;
use crate::trace::{StepId, Trace};
use crate::value::Value;

/// Where a step stands, in both runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::oracle) struct Place {
    pub(in crate::oracle) session: SessionName,
    pub(in crate::oracle) item: usize,
    pub(in crate::oracle) position: usize,
}

/// The answer to a step, as values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::oracle) struct Answer {
    pub(in crate::oracle) error: Option<ErrorClass>,
    /// Per statement: its rows (if it returns any) and how many it changed.
    pub(in crate::oracle) results: Vec<(Option<Rows>, Option<u64>)>,
}

/// A step with its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::oracle) struct Seen {
    place: Place,
    /// The name of the step, as the run had it.
    pub(in crate::oracle) name: StepRef,
    pub(in crate::oracle) sql: String,
    pub(in crate::oracle) answer: Answer,
}

impl Seen {
    pub(in crate::oracle) fn session(&self) -> &SessionName {
        &self.place.session
    }

    pub(in crate::oracle) fn item(&self) -> usize {
        self.place.item
    }
}

/// What a run observed.
pub(in crate::oracle) struct Observations {
    steps: Vec<Seen>,
    state: BTreeMap<String, Rows>,
}

/// The first thing in which another run differs from this one.
pub(in crate::oracle) enum Difference {
    /// A step would have been answered otherwise.
    Answer {
        /// What the run saw.
        did: Seen,
        /// What the other run saw.
        would: Answer,
    },
    /// This run had a step that the other does not have.
    Missing(Seen),
    /// The other run has a step that this one did not have.
    Extra(Seen),
    /// A table holds something else at the end.
    State {
        table: String,
        /// Rows that only this run left.
        did: Rows,
        /// Rows that only the other run leaves.
        would: Rows,
    },
}

impl Observations {
    /// The observations of those steps that have a place.
    pub(in crate::oracle) fn of(trace: &Trace, place: impl Fn(StepId) -> Option<Place>) -> Observations {
        let dialect = trace.engine.dialect;
        let seen = |(id, step): (usize, &crate::trace::StepRun)| {
            let answer = Answer::of(&step.sql, step.outcome.as_ref()?, dialect);
            Some(Seen {
                place: place(StepId(id))?,
                name: trace.step_name(StepId(id)),
                sql: sql::one_line(&step.sql),
                answer,
            })
        };
        let tables = trace.final_state.iter().flat_map(|state| &state.tables);
        let sorted = |mut rows: Rows| {
            rows.sort();
            rows
        };
        Observations {
            steps: trace.steps.iter().enumerate().filter_map(seen).collect(),
            state: tables.map(|(name, result)| (name.clone(), sorted(dialect.values(result)))).collect(),
        }
    }

    /// Only the final state, but for columns that are not to be compared.
    pub(in crate::oracle) fn of_state(trace: &Trace, is_left_out: impl Fn(&str, &str) -> bool) -> Observations {
        let mut observed = Observations::of(trace, |_| None);
        for (name, result) in trace.final_state.iter().flat_map(|state| &state.tables) {
            let Some(rows) = observed.state.get_mut(name) else { continue };
            let columns = result.columns.iter().enumerate();
            let out: Vec<usize> =
                columns.filter(|(_, column)| is_left_out(name, &column.name)).map(|(at, _)| at).collect();
            for value in rows.iter_mut().flat_map(|row| row.iter_mut().enumerate()).filter(|(at, _)| out.contains(at)) {
                *value.1 = Value::text("…");
            }
            rows.sort();
        }
        observed
    }

    /// The observations of a serial run of the committed case: every step has its place.
    pub(in crate::oracle) fn of_serial(trace: &Trace) -> Observations {
        let mut counts: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let place = |step: &crate::trace::StepRun| {
            let count = counts.entry((step.session.0, step.item)).or_default();
            *count += 1;
            Place { session: trace.name(step.session).clone(), item: step.item, position: *count - 1 }
        };
        let places: Vec<Place> = trace.steps.iter().map(place).collect();
        Observations::of(trace, |id| places.get(id.0).cloned())
    }

    /// The first difference, in the order of this run's steps; the state comes last.
    pub(in crate::oracle) fn difference(&self, other: &Observations) -> Option<Difference> {
        let by_place: BTreeMap<&Place, &Seen> = other.steps.iter().map(|seen| (&seen.place, seen)).collect();
        for did in &self.steps {
            match by_place.get(&did.place) {
                None => return Some(Difference::Missing(did.clone())),
                Some(would) if !would.answer.agrees(&did.answer) => {
                    return Some(Difference::Answer { did: did.clone(), would: would.answer.clone() });
                }
                Some(_) => {}
            }
        }
        let mine: Vec<&Place> = self.steps.iter().map(|seen| &seen.place).collect();
        if let Some(extra) = other.steps.iter().find(|seen| !mine.contains(&&seen.place)) {
            return Some(Difference::Extra(extra.clone()));
        }
        self.state_difference(other)
    }

    fn state_difference(&self, other: &Observations) -> Option<Difference> {
        let tables = self.state.keys().chain(other.state.keys());
        let none = Rows::new();
        let differs = |table: &&String| self.state.get(*table) != other.state.get(*table);
        let table = tables.into_iter().find(differs)?;
        let (did, would) = (self.state.get(table).unwrap_or(&none), other.state.get(table).unwrap_or(&none));
        Some(Difference::State { table: table.clone(), did: only_in(did, would), would: only_in(would, did) })
    }
}

impl Answer {
    /// True if two answers say the same of the transaction's effects and of what it saw.
    fn agrees(&self, other: &Answer) -> bool {
        let is_refusal = |answer: &Answer| answer.error.is_some_and(ErrorClass::is_constraint);
        self.results == other.results && (self.error == other.error || (is_refusal(self) && is_refusal(other)))
    }

    fn of(sql: &str, outcome: &Outcome, dialect: &dyn Dialect) -> Answer {
        let ordered = has_order(sql);
        let result = |result: &crate::outcome::StatementResult| {
            let rows = (!result.columns.is_empty()).then(|| dialect.values(result));
            let arranged = rows.map(|mut rows| {
                if !ordered {
                    rows.sort();
                }
                rows
            });
            (arranged, result.affected)
        };
        Answer { error: outcome.error_class(), results: outcome.results.iter().map(result).collect() }
    }
}

/// Whether a query asks for an order of its rows: ORDER BY outside all parentheses.
fn has_order(sql: &str) -> bool {
    let mut depth = 0i32;
    let tokens = sql::tokens(sql);
    tokens.iter().enumerate().any(|(at, token)| {
        depth += i32::from(token.is_symbol("(")) - i32::from(token.is_symbol(")"));
        depth == 0 && token.is_word("ORDER") && tokens.get(at + 1).is_some_and(|next| next.is_word("BY"))
    })
}

/// The rows that are in one table and not in the other, counting duplicates.
fn only_in(rows: &Rows, others: &Rows) -> Rows {
    let mut others = others.clone();
    let mut only = Rows::new();
    for row in rows {
        match others.iter().position(|other| other == row) {
            Some(at) => drop(others.swap_remove(at)),
            None => only.push(row.clone()),
        }
    }
    only
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    #[test]
    fn only_an_outer_order_by_orders() {
        assert!(has_order("SELECT * FROM t ORDER BY a"));
        assert!(!has_order("SELECT (SELECT a FROM t ORDER BY a LIMIT 1)"));
        assert!(!has_order("SELECT 'ORDER BY' FROM order"));
    }

    #[test]
    fn which_constraint_refuses_is_not_compared() {
        let failed = |class| Answer { error: Some(class), results: Vec::new() };
        let unique = failed(ErrorClass::Unique);
        assert!(unique.agrees(&failed(ErrorClass::ForeignKey)));
        assert!(!unique.agrees(&failed(ErrorClass::Deadlock)));
        assert!(!unique.agrees(&Answer { error: None, results: Vec::new() }));
        let rows = vec![(None, Some(1))];
        assert!(!unique.agrees(&Answer { results: rows, ..unique.clone() }));
    }

    #[test]
    fn duplicates_count() {
        let rows = |numbers: &[i64]| numbers.iter().map(|n| vec![Value::int(*n)]).collect::<Rows>();
        assert_eq!(only_in(&rows(&[1, 1, 2]), &rows(&[1, 3])), rows(&[1, 2]));
        assert_eq!(only_in(&rows(&[1]), &rows(&[1])), rows(&[]));
    }
}
