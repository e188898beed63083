//! Rows that a query answers with, each there or not: their order, their number, and what they are together.

use super::world::less;
use crate::program::access::OrderTerm;
use crate::program::ir::BinaryOp;
use crate::program::paths::symbol::{Shape, Symbol, Symbols};
use crate::program::predicate::{Aggregate, Aggregation};
use crate::solve::{Bool, Int};

/// A row of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    /// Whether it is there.
    pub(super) there: Bool,
    /// Its columns.
    pub(super) values: Vec<Symbol>,
    /// What it is ordered by.
    pub(super) order: Vec<Symbol>,
}

/// How many lines are there.
pub(super) fn count(symbols: &mut Symbols, there: impl IntoIterator<Item = Bool>) -> Int {
    let (zero, one) = (symbols.problem.constant(0), symbols.problem.constant(1));
    there.into_iter().fold(zero, |sum, there| {
        let one = symbols.problem.choose(there, one, zero);
        symbols.problem.plus(sum, one)
    })
}

/// Brings lines into their order, those that are there first. A network of exchanges: each line is compared with its
/// neighbour, as often as there are lines.
pub(super) fn sort(symbols: &mut Symbols, lines: &mut [Line], order: &[OrderTerm]) {
    for end in (1..lines.len()).rev() {
        for at in 0..end {
            let swaps = comes_first(symbols, &lines[at + 1], &lines[at], order);
            let (a, b) = (lines[at].clone(), lines[at + 1].clone());
            lines[at] = choose(symbols, swaps, &b, &a);
            lines[at + 1] = choose(symbols, swaps, &a, &b);
        }
    }
}

/// Whether a line has to come before another one that stands before it.
fn comes_first(symbols: &mut Symbols, a: &Line, b: &Line, order: &[OrderTerm]) -> Bool {
    let mut before = symbols.never;
    for ((a, b), term) in a.order.iter().zip(&b.order).zip(order).rev() {
        let (a, b) = if term.descending { (b, a) } else { (a, b) };
        let (first, last) = (less(symbols, a, b), less(symbols, b, a));
        let undecided = symbols.problem.not(last);
        let later = symbols.problem.and(undecided, before);
        before = symbols.problem.or(first, later);
    }
    let alone = symbols.problem.not(b.there);
    let wanted = symbols.problem.or(alone, before);
    symbols.problem.and(a.there, wanted)
}

fn choose(symbols: &mut Symbols, condition: Bool, a: &Line, b: &Line) -> Line {
    let mut all = |a: &[Symbol], b: &[Symbol]| -> Vec<Symbol> {
        a.iter().zip(b).map(|(a, b)| symbols.choose(condition, a, b)).collect()
    };
    let (values, order) = (all(&a.values, &b.values), all(&a.order, &b.order));
    Line { there: symbols.problem.choose_truth(condition, a.there, b.there), values, order }
}

/// The columns of the first line that is there.
pub(super) fn first(symbols: &mut Symbols, lines: &[Line]) -> Vec<Symbol> {
    let mut lines = lines.iter().rev();
    let Some(last) = lines.next() else { return Vec::new() };
    lines.fold(last.values.clone(), |rest, line| {
        line.values.iter().zip(&rest).map(|(value, rest)| symbols.choose(line.there, value, rest)).collect()
    })
}

/// What lines are together: each with whether it counts, and its value (`None` for `COUNT(*)`).
pub(super) fn aggregate(symbols: &mut Symbols, aggregation: &Aggregation, values: &[(Bool, Option<Symbol>)]) -> Symbol {
    let mut counted: Vec<(Bool, Symbol)> = Vec::new();
    for (there, value) in values {
        let zero = symbols.problem.constant(0);
        let value = value.unwrap_or_else(|| symbols.whole(zero));
        let is_there = symbols.problem.not(value.null);
        let mut counts = symbols.problem.and(*there, is_there);
        if aggregation.distinct {
            for (other_counts, other) in counted.clone() {
                let equal = symbols.compare(BinaryOp::Equal, &value, &other).is_true;
                let repeated = symbols.problem.and(other_counts, equal);
                let new = symbols.problem.not(repeated);
                counts = symbols.problem.and(counts, new);
            }
        }
        counted.push((counts, value));
    }
    match aggregation.function {
        Aggregate::Count => {
            let count = count(symbols, counted.into_iter().map(|(counts, _)| counts));
            symbols.whole(count)
        }
        Aggregate::Sum => sum(symbols, &counted),
        Aggregate::Min | Aggregate::Max => extreme(symbols, aggregation.function == Aggregate::Max, &counted),
    }
}

fn sum(symbols: &mut Symbols, counted: &[(Bool, Symbol)]) -> Symbol {
    let mut scale = 0;
    for (_, value) in counted {
        match value.shape {
            Shape::Number { scale: own, .. } => scale = scale.max(own),
            _ if symbols.problem.as_truth(value.null) == Some(true) => {}
            _ => return symbols.opaque(),
        }
    }
    let zero = symbols.problem.constant(0);
    let (mut total, mut any) = (zero, symbols.never);
    for (counts, value) in counted {
        let Shape::Number { digits, scale: own } = value.shape else { continue };
        let digits = symbols.scaled(digits, own, scale);
        let own = symbols.problem.choose(*counts, digits, zero);
        total = symbols.problem.plus(total, own);
        any = symbols.problem.or(any, *counts);
    }
    Symbol { null: symbols.problem.not(any), shape: Shape::Number { digits: total, scale } }
}

fn extreme(symbols: &mut Symbols, greatest: bool, counted: &[(Bool, Symbol)]) -> Symbol {
    let mut best = symbols.null();
    for (counts, value) in counted {
        let better = if greatest { less(symbols, &best, value) } else { less(symbols, value, &best) };
        let wins = symbols.problem.or(best.null, better);
        let wins = symbols.problem.and(*counts, wins);
        best = symbols.choose(wins, value, &best);
    }
    best
}
