//! What names mean while a statement looks at rows.

use std::collections::BTreeMap;

use super::world::{Row, Slots, World};
use crate::program::ir::BinaryOp;
use crate::program::paths::ReasonKind;
use crate::program::paths::expression::Scope;
use crate::program::paths::symbol::{Place, Shape, Symbol, Symbols};
use crate::program::predicate::{Aggregation, ColumnRef};
use crate::solve::{Bool, Int};

/// The values of a call's variables.
pub(super) type Variables = BTreeMap<String, Symbol>;

/// A call's variables and the rows that are looked at.
pub(super) struct Scene<'s, 'a> {
    symbols: &'s mut Symbols,
    variables: Option<&'s Variables>,
    found: Bool,
    count: Option<Int>,
    /// By the position of the access in its statement.
    rows: BTreeMap<usize, (&'s Slots<'a>, &'s Row)>,
    /// What rows are together.
    together: &'s [(&'s Aggregation, Symbol)],
}

impl<'s, 'a> Scene<'s, 'a> {
    /// A row by itself.
    pub(super) fn of_row(symbols: &'s mut Symbols, slots: &'s Slots<'a>, row: &'s Row) -> Scene<'s, 'a> {
        let found = symbols.never;
        Scene { symbols, variables: None, found, count: None, rows: [(0, (slots, row))].into(), together: &[] }
    }

    /// A call, and no rows.
    pub(super) fn of_call(
        symbols: &'s mut Symbols,
        variables: &'s Variables,
        found: Bool,
        count: Int,
    ) -> Scene<'s, 'a> {
        Scene { symbols, variables: Some(variables), found, count: Some(count), rows: BTreeMap::new(), together: &[] }
    }

    /// A statement of a call that looks at one row of each of some tables, by the positions of their accesses.
    pub(super) fn of_rows(
        symbols: &'s mut Symbols,
        variables: &'s Variables,
        world: &'s World<'a>,
        rows: &[(usize, usize, &'s Row)],
    ) -> Scene<'s, 'a> {
        let found = symbols.never;
        let rows = rows.iter().map(|(access, table, row)| (*access, (&world.tables[*table], *row))).collect();
        Scene { symbols, variables: Some(variables), found, count: None, rows, together: &[] }
    }

    /// The same, with what a group of rows is together.
    pub(super) fn with(self, together: &'s [(&'s Aggregation, Symbol)]) -> Scene<'s, 'a> {
        Scene { together, ..self }
    }
}

impl Scope for Scene<'_, '_> {
    fn symbols(&mut self) -> &mut Symbols {
        self.symbols
    }

    fn variable(&mut self, _instance: usize, name: &str) -> Symbol {
        let known = self.variables.and_then(|variables| variables.get(name)).copied();
        known.unwrap_or_else(|| self.symbols.null())
    }

    fn column(&mut self, column: &ColumnRef) -> Symbol {
        let row = self.rows.get(&column.access).filter(|(slots, _)| slots.definition.name == column.element.table);
        let value = row.and_then(|(slots, row)| slots.value(row, &column.element.column));
        value.unwrap_or_else(|| self.symbols.opaque())
    }

    fn aggregate(&mut self, aggregation: &Aggregation) -> Symbol {
        let known = self.together.iter().find(|(one, _)| *one == aggregation).map(|(_, value)| *value);
        known.unwrap_or_else(|| self.symbols.opaque())
    }

    fn found(&self, _instance: usize) -> Bool {
        self.found
    }

    fn count(&self, _instance: usize) -> Int {
        self.count.expect("only expressions of a call ask, and they are given it")
    }

    /// Where nothing is left, engines agree.
    fn divide_in_sql(&mut self, a: &Symbol, b: &Symbol, place: &Place) -> Symbol {
        self.divide(a, b, place)
    }

    /// Quotients that leave nothing are looked at, no others: `(x - x % 10) / 10` is whole.
    fn divide(&mut self, a: &Symbol, b: &Symbol, place: &Place) -> Symbol {
        let is_whole = |symbol: &Symbol| matches!(symbol.shape, Shape::Number { scale: 0, .. });
        if !is_whole(a) || !is_whole(b) {
            return self.symbols.arithmetic(BinaryOp::Divide, a, b, place);
        }
        let rest = self.symbols.arithmetic(BinaryOp::Remainder, a, b, place);
        let zero = self.symbols.problem.constant(0);
        let zero = self.symbols.whole(zero);
        let leaves = self.symbols.compare(BinaryOp::NotEqual, &rest, &zero).is_true;
        let divides = self.symbols.problem.not(leaves);
        self.symbols.demand(divides, place, ReasonKind::Succeeds);
        self.symbols.arithmetic(BinaryOp::Quotient, a, b, place)
    }
}
