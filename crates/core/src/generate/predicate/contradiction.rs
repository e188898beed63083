//! Does a predicate contradict itself?
//!
//! `c = 1 AND c >= 2` selects nothing: a statement with it touches no row, takes no lock and collides with nobody.
//! Random predicates are like that surprisingly often, and the opposite, `c < 3 OR c >= 2`, selects everything.
//! Neither is worth running. DBStorm (§3) walks the tree of a predicate: first each child is checked for itself, then
//! the root with all of its children together. A child that contradicts itself is dead weight even where the whole
//! does not (`c = 1 OR (c = 2 AND c = 3)`), so any node will do.
//!
//! **One node** is decided by cases. The constants that a column is compared with cut its values into finitely many
//! cells, within which no comparison can tell two values apart:
//!
//! ```text
//!   c = 1 AND c >= 2        cells of c:   NULL   (…,1)   1   2   (2,…)        (no whole number lies between 1 and 2)
//!                           c = 1           ?      f     t   f     f
//!                           c >= 2          ?      f     f   t     t
//!                           AND             ?      f     f   f     f          never true: a contradiction
//! ```
//!
//! With several columns all combinations of cells are tried. What is no comparison of a column with constants
//! (functions, subqueries, two columns) is taken to be true, false or unknown as it likes, but the same wherever it
//! appears again.
//!
//! So the answers *contradiction* and *tautology* are right, and for comparisons with constants *open* is right, too;
//! a test compares with brute force. Limits: texts are ordered by code points here, but by collations in a database;
//! a node with more than [`COMBINATIONS_MAX`] combinations is left open; that `c + 1 > 3` and `c < 1` exclude each
//! other is not seen.

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
    let space = Space::of(node);
    let sizes: Vec<usize> = space.variables.iter().map(Variable::cell_count).collect();
    let combinations = sizes.iter().try_fold(1_usize, |product, size| product.checked_mul(*size));
    let Some(combinations) = combinations.filter(|count| *count <= COMBINATIONS_MAX) else { return Verdict::Open };
    let mut cells = vec![0; sizes.len()];
    let (mut ever, mut always) = (false, true);
    for mut combination in 0..combinations {
        for (cell, size) in cells.iter_mut().zip(&sizes) {
            *cell = combination % size;
            combination /= size;
        }
        let is_true = space.truth(node, &cells, &mut 0) == Some(true);
        ever |= is_true;
        always &= is_true;
        if ever && !always {
            return Verdict::Open;
        }
    }
    if ever { Verdict::Tautology } else { Verdict::Contradiction }
}

/// What a node is about.
#[derive(Default)]
struct Space<'e> {
    variables: Vec<Variable<'e>>,
    /// The atoms, in the order in which a walk through the tree meets them.
    atoms: Vec<Atom<'e>>,
}

/// What an atom depends on.
enum Variable<'e> {
    /// A column: the constants that it is compared with, in order, and its cells.
    Column { column: &'e ColumnUse, points: Vec<&'e Value>, cells: Vec<Cell> },
    /// An expression that is true, false or unknown.
    Opaque(&'e Expression),
}

/// A part without AND, OR and NOT.
struct Atom<'e> {
    expression: &'e Expression,
    /// The position of the variable that it depends on.
    variable: usize,
    /// Its truth in each cell of the variable.
    truths: Vec<Truth>,
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

    /// The truth of an atom in each cell.
    fn truths(&self, atom: &Expression) -> Vec<Truth> {
        match self {
            Variable::Column { points, cells, .. } => {
                cells.iter().map(|cell| truth_in_cell(atom, points, *cell)).collect()
            }
            Variable::Opaque(_) => vec![Some(true), Some(false), None],
        }
    }
}

impl<'e> Space<'e> {
    fn of(node: &'e Expression) -> Space<'e> {
        let mut space = Space::default();
        space.collect(node);
        for variable in &mut space.variables {
            if let Variable::Column { column, points, cells } = variable {
                points.sort();
                points.dedup();
                *cells = cells_of(column, points);
            }
        }
        for atom in &mut space.atoms {
            atom.truths = space.variables[atom.variable].truths(atom.expression);
        }
        space
    }

    fn collect(&mut self, node: &'e Expression) {
        match node {
            Expression::And(parts) | Expression::Or(parts) => parts.iter().for_each(|part| self.collect(part)),
            Expression::Not(part) => self.collect(part),
            atom => {
                let variable = match understood(atom) {
                    Some((column, constants)) => self.column(column, constants),
                    None => self.opaque(atom),
                };
                self.atoms.push(Atom { expression: atom, variable, truths: Vec::new() });
            }
        }
    }

    fn column(&mut self, wanted: &'e ColumnUse, constants: Vec<&'e Value>) -> usize {
        let same = |variable: &Variable<'_>| matches!(variable, Variable::Column { column, .. } if *column == wanted);
        let at = self.variables.iter().position(same).unwrap_or_else(|| {
            self.variables.push(Variable::Column { column: wanted, points: Vec::new(), cells: Vec::new() });
            self.variables.len() - 1
        });
        if let Variable::Column { points, .. } = &mut self.variables[at] {
            points.extend(constants.into_iter().filter(|value| **value != Value::Null));
        }
        at
    }

    fn opaque(&mut self, wanted: &'e Expression) -> usize {
        let same = |variable: &Variable<'_>| matches!(variable, Variable::Opaque(other) if *other == wanted);
        self.variables.iter().position(same).unwrap_or_else(|| {
            self.variables.push(Variable::Opaque(wanted));
            self.variables.len() - 1
        })
    }

    /// The truth of a node, if each variable is in the cell that is given; `next` counts the atoms on the way.
    fn truth(&self, node: &Expression, cells: &[usize], next: &mut usize) -> Truth {
        match node {
            Expression::And(parts) => all(parts.iter().map(|part| self.truth(part, cells, next))),
            Expression::Or(parts) => any(parts.iter().map(|part| self.truth(part, cells, next))),
            Expression::Not(part) => self.truth(part, cells, next).map(|truth| !truth),
            _ => {
                let atom = &self.atoms[*next];
                *next += 1;
                atom.truths[cells[atom.variable]]
            }
        }
    }
}

/// The truth of an atom about a column whose value lies in a cell between these constants.
fn truth_in_cell(atom: &Expression, points: &[&Value], cell: Cell) -> Truth {
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
        Expression::In { list, not, .. } => negate(any(list.iter().map(|item| compare(Comparison::Equal, item))), *not),
        Expression::IsNull { not, .. } => Some((cell == Cell::Null) != *not),
        // A truth value: false stands before true.
        _ => match cell {
            Cell::Null => None,
            Cell::Position(at) => Some(at == 3),
        },
    }
}

static FALSE: Value = Value::Bool(false);
static TRUE: Value = Value::Bool(true);

/// If the atom compares a column with constants: both.
fn understood(atom: &Expression) -> Option<(&ColumnUse, Vec<&Value>)> {
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

fn constant(expression: &Expression) -> Option<&Value> {
    match expression {
        Expression::Constant(_, value) => Some(value),
        _ => None,
    }
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
        Value::Number(number) => number.to_i64(),
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

/// False if one of them is, else unknown if one of them is. All are looked at: walks count on it.
fn all(truths: impl Iterator<Item = Truth>) -> Truth {
    let mut together = Some(true);
    for truth in truths {
        together = match (together, truth) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        };
    }
    together
}

fn any(truths: impl Iterator<Item = Truth>) -> Truth {
    all(truths.map(|truth| truth.map(|truth| !truth))).map(|truth| !truth)
}

#[cfg(test)]
mod tests;
