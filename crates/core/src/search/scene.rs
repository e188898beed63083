//! What names mean while a statement looks at rows.

use std::collections::BTreeMap;

use super::run::View;
use super::statement::Combination;
use super::world::{Row, Slots, World};
use crate::program::access::Access;
use crate::program::ir::BinaryOp;
use crate::program::paths::ReasonKind;
use crate::program::paths::expression::Scope;
use crate::program::paths::symbol::{Place, Shape, Symbol, Symbols, Truth};
use crate::program::predicate::{Aggregation, ColumnRef};
use crate::program::selection::Subquery;
use crate::solve::{Bool, Int};

/// The values of a call's variables.
pub(super) type Variables = BTreeMap<String, Symbol>;

/// Where a statement finds its rows.
#[derive(Clone, Copy)]
pub(super) struct Around<'s, 'a> {
    pub(super) world: &'s World<'a>,
    /// The rows that it sees.
    pub(super) view: &'s View,
    /// The tables that it mentions.
    pub(super) access: &'s Access,
}

/// A call's variables and the rows that are looked at.
pub(super) struct Scene<'s, 'a> {
    pub(super) symbols: &'s mut Symbols,
    variables: Option<&'s Variables>,
    found: Bool,
    count: Option<Int>,
    /// By the position of the access in its statement.
    rows: BTreeMap<usize, (&'s Slots<'a>, &'s Row)>,
    /// What rows are together.
    together: &'s [(&'s Aggregation, Symbol)],
    /// Where queries look.
    pub(super) around: Option<Around<'s, 'a>>,
}

impl<'s, 'a> Scene<'s, 'a> {
    /// A row by itself.
    pub(super) fn of_row(symbols: &'s mut Symbols, slots: &'s Slots<'a>, row: &'s Row) -> Scene<'s, 'a> {
        let found = symbols.never;
        Scene {
            symbols,
            variables: None,
            found,
            count: None,
            rows: [(0, (slots, row))].into(),
            together: &[],
            around: None,
        }
    }

    /// A call, and no rows.
    pub(super) fn of_call(
        symbols: &'s mut Symbols,
        variables: &'s Variables,
        found: Bool,
        count: Int,
    ) -> Scene<'s, 'a> {
        Scene {
            symbols,
            variables: Some(variables),
            found,
            count: Some(count),
            rows: BTreeMap::new(),
            together: &[],
            around: None,
        }
    }

    /// A statement of a call, before it looks at rows.
    pub(super) fn of_statement(
        symbols: &'s mut Symbols,
        variables: &'s Variables,
        around: Around<'s, 'a>,
    ) -> Scene<'s, 'a> {
        let (found, rows) = (symbols.never, BTreeMap::new());
        Scene { symbols, variables: Some(variables), found, count: None, rows, together: &[], around: Some(around) }
    }

    /// The same, looking at rows.
    pub(super) fn at<'t>(&'t mut self, combination: &Combination) -> Scene<'t, 'a> {
        let mut rows = self.rows.clone();
        if let Some(around) = self.around {
            let row = |(access, table, slot): &(usize, usize, usize)| {
                (*access, (&around.world.tables[*table], &around.view[table][*slot]))
            };
            rows.extend(combination.iter().map(row));
        }
        let Scene { variables, found, count, together, around, .. } = *self;
        Scene { symbols: self.symbols, variables, found, count, rows, together, around }
    }

    /// The same, with what a group of rows is together.
    pub(super) fn with<'t>(self, together: &'t [(&'t Aggregation, Symbol)]) -> Scene<'t, 'a>
    where
        's: 't,
    {
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

    fn query(&mut self, query: &Subquery, place: &Place) -> Symbol {
        let Some(lines) = self.select(&query.selection, place) else { return self.symbols.opaque() };
        let nothing = self.symbols.null();
        lines.iter().rev().fold(nothing, |rest, line| match line.values.first() {
            Some(value) => self.symbols.choose(line.there, value, &rest),
            None => rest,
        })
    }

    fn exists(&mut self, query: &Subquery, place: &Place) -> Truth {
        let Some(lines) = self.select(&query.selection, place) else { return self.symbols.opaque_truth() };
        let any = lines.iter().fold(self.symbols.never, |any, line| self.symbols.problem.or(any, line.there));
        self.symbols.certain(any)
    }

    fn among(&mut self, value: &Symbol, query: &Subquery, place: &Place) -> Truth {
        let Some(lines) = self.select(&query.selection, place) else { return self.symbols.opaque_truth() };
        let always = self.symbols.always;
        let mut none = self.symbols.certain(always);
        for line in lines {
            let Some(one) = line.values.first() else { continue };
            let equal = self.symbols.compare(BinaryOp::Equal, value, one);
            let gone = self.symbols.problem.not(line.there);
            let is_true = self.symbols.problem.or(gone, equal.is_false);
            let is_false = self.symbols.problem.and(line.there, equal.is_true);
            none = self.symbols.both(none, Truth { is_true, is_false });
        }
        none.opposite()
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
