//! Does a predicate contradict itself?
//!
//! `c = 1 AND c >= 2` selects nothing: a statement with it touches no row, takes no lock and collides with nobody. Random
//! predicates are like that surprisingly often, and the opposite, `c < 3 OR c >= 2`, selects everything. Neither is worth
//! running. DBStorm (§3) walks the tree of a predicate: first each child is checked for itself, then the root with all of
//! its children together. A child that contradicts itself is dead weight even where the whole does not (`c = 1 OR (c = 2 AND
//! c = 3)`), so any node will do.
//!
//! **One node** is decided by cases. The constants that a column is compared with cut its values into finitely many cells,
//! within which no comparison can tell two values apart:
//!
//! ```text
//!   c = 1 AND c >= 2        cells of c:   NULL   (…,1)   1   2   (2,…)        (no whole number lies between 1 and 2)
//!                           c = 1           ?      f     t   f     f
//!                           c >= 2          ?      f     f   t     t
//!                           AND             ?      f     f   f     f          never true: a contradiction
//! ```
//!
//! With several columns all combinations of cells are tried. What is no comparison of a column with constants (functions,
//! subqueries, two columns) is taken to be true, false or unknown as it likes, but the same wherever it appears again.
//!
//! So the answers *contradiction* and *tautology* are right, and for comparisons with constants *open* is right, too; a test
//! compares with brute force. Limits: texts are ordered by code points here, but by collations in a database; a node with
//! more than [`COMBINATIONS_MAX`] combinations is left open; that `c + 1 > 3` and `c < 1` exclude each other is not seen.

use crate::generate::expression::{ColumnUse, Comparison, Expression};
use crate::generate::schema::Kind;
use crate::value::Value;

/// A node with more combinations of cells is not decided.
pub const COMBINATIONS_MAX: usize = 4_096;

/// What can be said of a predicate without looking at any row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It depends on the row, and so does each of its parts.
    Open,
    /// It, or a part of it, is never true.
    Contradiction,
    /// It, or a part of it, is always true.
    Tautology,
}

/// A truth value of SQL: `None` is unknown.
type Truth = Option<bool>;

/// Checks a predicate: the children first, then the root.
pub fn check(predicate: &Expression) -> Verdict {
    let children: &[Expression] = match predicate {
        Expression::And(parts) | Expression::Or(parts) => parts,
        Expression::Not(part) => std::slice::from_ref(part),
        _ => &[],
    };
    let of_children = children.iter().map(check).find(|verdict| *verdict != Verdict::Open);
    of_children.unwrap_or_else(|| check_root(predicate))
}

/// Checks one node, with all that is below it, by trying all combinations of cells.
fn check_root(node: &Expression) -> Verdict {
    let mut space = Space::default();
    space.collect(node);
    let sizes: Vec<usize> = space.variables.iter().map(Variable::cell_count).collect();
    let combinations = sizes.iter().try_fold(1_usize, |product, size| product.checked_mul(*size));
    let Some(combinations) = combinations.filter(|count| *count <= COMBINATIONS_MAX) else { return Verdict::Open };
    let (mut ever, mut always) = (false, true);
    for mut combination in 0..combinations {
        let choose = |size: &usize| {
            let cell = combination % size;
            combination /= size;
            cell
        };
        let cells: Vec<usize> = sizes.iter().map(choose).collect();
        let is_true = space.truth(node, &cells) == Some(true);
        ever |= is_true;
        always &= is_true;
        if ever && !always {
            return Verdict::Open;
        }
    }
    if ever { Verdict::Tautology } else { Verdict::Contradiction }
}

/// What a node is about: columns with the constants that they are compared with, and everything else.
#[derive(Default)]
struct Space<'e> {
    variables: Vec<Variable<'e>>,
}

enum Variable<'e> {
    /// A column: its constants in order, and its cells.
    Column { column: &'e ColumnUse, points: Vec<&'e Value>, cells: Vec<Cell> },
    /// An expression that is true, false or unknown.
    Opaque(&'e Expression),
}

/// Some values of a column that no comparison tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    Null,
    /// On a line on which the n-th constant stands at `2n + 1`, and what lies before it at `2n`.
    Position(usize),
}

impl Variable<'_> {
    fn cell_count(&self) -> usize {
        match self {
            Variable::Column { cells, .. } => cells.len(),
            Variable::Opaque(_) => 3,
        }
    }
}

impl<'e> Space<'e> {
    fn collect(&mut self, node: &'e Expression) {
        self.find_variables(node);
        for variable in &mut self.variables {
            if let Variable::Column { column, points, cells } = variable {
                points.sort();
                points.dedup();
                *cells = cells_of(column, points);
            }
        }
    }

    fn find_variables(&mut self, node: &'e Expression) {
        match node {
            Expression::And(parts) | Expression::Or(parts) => parts.iter().for_each(|part| self.find_variables(part)),
            Expression::Not(part) => self.find_variables(part),
            atom => match understood(atom) {
                Some((column, constants)) => self.add_column(column, constants),
                None if self.opaque(atom).is_none() => self.variables.push(Variable::Opaque(atom)),
                None => {}
            },
        }
    }

    fn add_column(&mut self, wanted: &'e ColumnUse, constants: Vec<&'e Value>) {
        let constants = constants.into_iter().filter(|value| **value != Value::Null);
        let found = self.variables.iter_mut().find_map(|variable| match variable {
            Variable::Column { column, points, .. } if *column == wanted => Some(points),
            _ => None,
        });
        match found {
            Some(points) => points.extend(constants),
            None => {
                let points = constants.collect();
                self.variables.push(Variable::Column { column: wanted, points, cells: Vec::new() });
            }
        }
    }

    fn opaque(&self, wanted: &Expression) -> Option<usize> {
        self.variables.iter().position(|variable| matches!(variable, Variable::Opaque(other) if *other == wanted))
    }

    /// The truth of a node, if each variable is in the cell that is given.
    fn truth(&self, node: &Expression, cells: &[usize]) -> Truth {
        match node {
            Expression::And(parts) => all(parts.iter().map(|part| self.truth(part, cells))),
            Expression::Or(parts) => any(parts.iter().map(|part| self.truth(part, cells))),
            Expression::Not(part) => self.truth(part, cells).map(|truth| !truth),
            atom => match understood(atom) {
                Some((column, _)) => self.truth_of_atom(atom, column, cells),
                None => {
                    let at = self.opaque(atom).expect("every atom has been collected");
                    [Some(true), Some(false), None][cells[at]]
                }
            },
        }
    }

    fn truth_of_atom(&self, atom: &Expression, wanted: &ColumnUse, cells: &[usize]) -> Truth {
        let found = self.variables.iter().zip(cells).find_map(|(variable, cell)| match variable {
            Variable::Column { column, points, cells } if *column == wanted => Some((points, cells[*cell])),
            _ => None,
        });
        let (points, cell) = found.expect("every column has been collected");
        // Where the column's value stands in relation to a constant; unknown if either is NULL.
        let order = |constant: &Expression| -> Option<std::cmp::Ordering> {
            let (Cell::Position(at), Expression::Constant(_, value)) = (cell, constant) else { return None };
            let point = points.binary_search(&value).ok()?;
            Some(at.cmp(&(2 * point + 1)))
        };
        let compare = |comparison: Comparison, constant: &Expression| -> Truth {
            let is_null = matches!(constant, Expression::Constant(_, Value::Null));
            match comparison {
                Comparison::NullSafeEqual if is_null || cell == Cell::Null => Some(is_null && cell == Cell::Null),
                _ => order(constant).map(|order| holds(comparison, order)),
            }
        };
        let negate = |truth: Truth, not: bool| truth.map(|truth| truth != not);
        match atom {
            Expression::Compare(comparison, sides) => compare(*comparison, &sides[1]),
            Expression::Between { range, not, .. } => {
                let low = compare(Comparison::GreaterOrEqual, &range[0]);
                let high = compare(Comparison::LessOrEqual, &range[1]);
                negate(all([low, high].into_iter()), *not)
            }
            Expression::In { list, not, .. } => {
                negate(any(list.iter().map(|item| compare(Comparison::Equal, item))), *not)
            }
            Expression::IsNull { not, .. } => Some((cell == Cell::Null) != *not),
            // A truth value: false stands before true.
            _ => match cell {
                Cell::Null => None,
                Cell::Position(at) => Some(at == 3),
            },
        }
    }
}

static FALSE: Value = Value::Bool(false);
static TRUE: Value = Value::Bool(true);

/// If the atom compares a column with constants: both.
fn understood(atom: &Expression) -> Option<(&ColumnUse, Vec<&Value>)> {
    let constant = |expression| match expression {
        &Expression::Constant(_, ref value) => Some(value),
        _ => None,
    };
    let (of, constants): (&Expression, Option<Vec<&Value>>) = match atom {
        Expression::Compare(_, sides) => (&sides[0], constant(&sides[1]).map(|value| vec![value])),
        Expression::Between { of, range, .. } => (of, range.iter().map(constant).collect()),
        Expression::In { of, list, .. } => (of, list.iter().map(constant).collect()),
        Expression::IsNull { of, .. } => (of, Some(Vec::new())),
        column @ Expression::Column(_) => (column, Some(Vec::new())),
        _ => return None,
    };
    let Expression::Column(column) = of else { return None };
    let mut constants = constants?;
    if column.kind == Kind::Boolean {
        constants.extend([&FALSE, &TRUE]);
    }
    Some((column, constants))
}

/// The cells of a column that is compared with these constants, in order.
fn cells_of(column: &ColumnUse, points: &[&Value]) -> Vec<Cell> {
    let mut cells = Vec::new();
    if !column.not_null {
        cells.push(Cell::Null);
    }
    for (at, point) in points.iter().enumerate() {
        let touches = at > 0 && column.kind == Kind::Integer && is_next(points[at - 1], point);
        if column.kind != Kind::Boolean && !touches {
            cells.push(Cell::Position(2 * at));
        }
        cells.push(Cell::Position(2 * at + 1));
    }
    if column.kind != Kind::Boolean {
        cells.push(Cell::Position(2 * points.len()));
    }
    cells
}

/// Whether no whole number lies between the two.
fn is_next(low: &Value, high: &Value) -> bool {
    let number = |value: &Value| match value {
        Value::Number(number) => number.as_str().parse::<i64>().ok(),
        _ => None,
    };
    matches!((number(low), number(high)), (Some(low), Some(high)) if low.checked_add(1) == Some(high))
}

fn holds(comparison: Comparison, order: std::cmp::Ordering) -> bool {
    match comparison {
        Comparison::Equal | Comparison::NullSafeEqual => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    }
}

fn all(truths: impl Iterator<Item = Truth>) -> Truth {
    truths.fold(Some(true), |left, right| match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    })
}

fn any(truths: impl Iterator<Item = Truth>) -> Truth {
    all(truths.map(|truth| truth.map(|truth| !truth))).map(|truth| !truth)
}

#[cfg(test)]
mod tests;
