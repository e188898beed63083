//! What calls leave behind: their outputs and the rows; and whether two runs leave the same. Calls that were
//! [refused](super::refusal) do not count.

use super::answer::Line;
use super::hops::{differ, is_opaque, unlike};
use super::run::{Ended, Run};
use super::world::Row;
use crate::program::paths::symbol::{Symbol, Symbols};
use crate::solve::Bool;

/// What a run leaves behind.
#[derive(Debug)]
pub(super) struct Outcome {
    /// How each call ended, with the rows that it showed.
    calls: Vec<(Ended, Vec<Vec<Line>>)>,
    /// The rows of each table.
    tables: Vec<Vec<Row>>,
    /// For each call, whether it was refused.
    pub(super) refused: Vec<Bool>,
}

impl Run<'_, '_> {
    /// What it leaves behind, now that it is over.
    pub(super) fn outcome(&mut self) -> Outcome {
        let call = |local: &super::run::Local| (local.ended.clone().unwrap_or(Ended::Failed), local.shown.clone());
        let calls = self.locals.iter().map(call).collect();
        let tables = (0..self.world.tables.len()).map(|table| self.rows_finally(table)).collect();
        Outcome { calls, tables, refused: self.refused_calls() }
    }
}

impl Outcome {
    /// Whether two runs of the same calls certainly leave something different, as far as these calls go that were made.
    pub(super) fn differs(&self, other: &Outcome, made: &[bool], symbols: &mut Symbols) -> Bool {
        let mut any = symbols.never;
        let calls = self.calls.iter().zip(&other.calls).zip(made).filter(|(_, made)| **made).map(|(calls, _)| calls);
        for ((ended, shown), (other_ended, other_shown)) in calls {
            let differs = match (ended, other_ended) {
                (Ended::Failed, Ended::Failed) => continue,
                (Ended::Returned(outputs), Ended::Returned(others)) => {
                    let outputs = outputs_differ(symbols, outputs, others);
                    let lines = shown_differ(symbols, shown, other_shown);
                    symbols.problem.or(outputs, lines)
                }
                _ => symbols.always,
            };
            any = symbols.problem.or(any, differs);
        }
        for (row, other) in self.tables.iter().flatten().zip(other.tables.iter().flatten()) {
            let differs = rows_differ(symbols, row, other);
            any = symbols.problem.or(any, differs);
        }
        any
    }
}

impl Outcome {
    /// Whether two runs of the same calls may leave something different where nobody knows what.
    pub(super) fn is_vague(&self, other: &Outcome, made: &[bool], symbols: &Symbols) -> bool {
        let is_vague = |(a, b): (&Symbol, &Symbol)| a != b && (is_opaque(a, symbols) || is_opaque(b, symbols));
        let any_vague = |a: &[Symbol], b: &[Symbol]| a.iter().zip(b).any(is_vague);
        let calls = self.calls.iter().zip(&other.calls).zip(made);
        let mut calls = calls.filter(|(_, made)| **made).map(|(calls, _)| calls);
        let mut rows = self.tables.iter().flatten().zip(other.tables.iter().flatten());
        calls.any(|((ended, shown), (other_ended, other_shown))| {
            let outputs = match (ended, other_ended) {
                (Ended::Returned(outputs), Ended::Returned(others)) => any_vague(outputs, others),
                _ => false,
            };
            let mut lines = shown.iter().flatten().zip(other_shown.iter().flatten());
            outputs || lines.any(|(line, other)| any_vague(&line.values, &other.values))
        }) || rows.any(|(row, other)| any_vague(&row.columns, &other.columns))
    }
}

fn outputs_differ(symbols: &mut Symbols, a: &[Symbol], b: &[Symbol]) -> Bool {
    a.iter().zip(b).fold(symbols.never, |any, (a, b)| {
        let one = differ(symbols, a, b);
        symbols.problem.or(any, one)
    })
}

fn shown_differ(symbols: &mut Symbols, a: &[Vec<Line>], b: &[Vec<Line>]) -> Bool {
    if a.len() != b.len() {
        return symbols.always;
    }
    let mut any = symbols.never;
    for (line, other) in a.iter().zip(b).flat_map(|(a, b)| a.iter().zip(b)) {
        let values = outputs_differ(symbols, &line.values, &other.values);
        let values = symbols.problem.and(line.there, values);
        let there = unlike(symbols, line.there, other.there);
        let one = symbols.problem.or(there, values);
        any = symbols.problem.or(any, one);
    }
    any
}

fn rows_differ(symbols: &mut Symbols, a: &Row, b: &Row) -> Bool {
    let there = unlike(symbols, a.present, b.present);
    let values = outputs_differ(symbols, &a.columns, &b.columns);
    let values = symbols.problem.and(a.present, values);
    symbols.problem.or(there, values)
}
