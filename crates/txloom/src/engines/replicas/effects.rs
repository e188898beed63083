//! Effects: what a write statement did to rows, and what becomes of a row when several are known.
//!
//! ```text
//!   stamp  statement                      effects
//!     1    INSERT INTO t VALUES (7, 0)    row 7: Insert (7, 0)
//!     2    UPDATE t SET v = v + 1         row 7: Update v := 1
//!     3    DELETE FROM t WHERE id = 7     row 7: Delete
//! ```
//!
//! Who knows the statements 1 and 3 sees no row; who knows 1 and 2 sees (7, 1); who knows 2 alone sees nothing yet, and
//! (7, 1) as soon as it hears of 1. The last one wins, column by column, and an UPDATE does not revive a dead row. So a
//! row is a *fold* of its effects in the order of their stamps, and does not depend on the order in which they arrived.

use crate::engines::embedded::cell::Cell;

/// The place of a statement in the arbitration, which is the order of execution.
pub(super) type Stamp = u64;

/// The values of a row, one for each column that can be inserted.
pub(super) type Cells = Vec<Cell>;

/// A row of any node, alive or not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct RowId {
    /// The table, by its position in the schema.
    pub(super) table: usize,
    /// The primary key as SQL literals; equal for equal keys.
    pub(super) key: String,
}

/// What one statement did to one row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Effect {
    /// The row is alive, with these values.
    Insert(Cells),
    /// These columns, by position, have these values now; the same as before, perhaps.
    Update(Vec<(usize, Cell)>),
    /// The row is not alive.
    Delete,
}

/// A row after some effects, in the order of their stamps. Where it was not there before, `base` is `None`.
pub(super) fn fold<'a>(base: Option<Cells>, effects: impl IntoIterator<Item = &'a Effect>) -> Option<Cells> {
    // An INSERT writes all columns: what was written to a dead row is never seen.
    effects.into_iter().fold(base, |row, effect| match (row, effect) {
        (_, Effect::Insert(cells)) => Some(cells.clone()),
        (_, Effect::Delete) | (None, Effect::Update(_)) => None,
        (Some(mut cells), Effect::Update(columns)) => {
            columns.iter().for_each(|(column, cell)| cells[*column] = cell.clone());
            Some(cells)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_effect_wins_column_by_column() {
        let row = |cells: &[i64]| cells.iter().copied().map(Cell::Integer).collect::<Cells>();
        let insert = |cells: &[i64]| Effect::Insert(row(cells));
        let update = |column, value| Effect::Update(vec![(column, Cell::Integer(value))]);
        let check = |effects: &[Effect], expect: Option<&[i64]>| {
            assert_eq!(fold(None, effects), expect.map(row), "{effects:?}");
        };
        check(&[], None);
        check(&[insert(&[1, 2]), update(0, 5), update(1, 6)], Some(&[5, 6]));
        check(&[insert(&[1, 2]), update(0, 5), insert(&[3, 4])], Some(&[3, 4]));
        check(&[insert(&[1, 2]), Effect::Delete, update(0, 5)], None);
        check(&[insert(&[1, 2]), Effect::Delete, update(0, 5), insert(&[7, 8])], Some(&[7, 8]));
        check(&[update(0, 5), Effect::Delete], None);
        assert_eq!(fold(Some(row(&[1, 2])), &[update(1, 9)]), Some(row(&[1, 9])));
    }
}
