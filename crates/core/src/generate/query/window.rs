//! Functions of windows: of the rows before and after a row.
//!
//! What `LAG(c)` returns depends on which row is the one before: so the order is that of whole keys, which no two rows
//! share. Without such an order there are aggregates of whole partitions, and ranks, which equal rows share.

use crate::dialect::Construct;
use crate::generate::expression::extent::Extent;
use crate::generate::expression::{Aggregate, Expression, Window, WindowFunction};
use crate::generate::features;
use crate::generate::maker::{Maker, Scope, can_group, can_order};
use crate::generate::schema::Kind;

impl Maker<'_> {
    /// A function of windows over the rows of a scope; `keys` order them totally, if there are some.
    pub(super) fn window(&mut self, scope: &Scope, keys: Option<&[Expression]>) -> Option<Expression> {
        if !self.has(Construct::Window) {
            return None;
        }
        let of = self.window_argument(scope)?;
        let summable = matches!(of.kind(), Kind::Integer | Kind::Decimal) && Extent::of(&of).is_safe();
        let ranks = of.is_not_null() || self.has(Construct::OrderOfNulls);
        let allowed = |word: &str| match word {
            "row_number" | "lag" | "lead" => keys.is_some(),
            "rank" => ranks,
            "sum" => summable,
            _ => true,
        };
        let function = match self.model.word(&features::QUERY_WINDOW, &mut self.random, allowed)? {
            "row_number" => WindowFunction::RowNumber,
            "rank" => WindowFunction::Rank,
            "lag" => WindowFunction::Lag,
            "lead" => WindowFunction::Lead,
            "sum" => WindowFunction::Aggregate(Aggregate::Sum),
            "min" => WindowFunction::Aggregate(Aggregate::Minimum),
            "max" => WindowFunction::Aggregate(Aggregate::Maximum),
            _ => WindowFunction::Aggregate(Aggregate::Count),
        };
        let partition = self.partition(scope);
        let order = match (function, keys) {
            // Equal rows have the same rank.
            (WindowFunction::Rank, _) => vec![of.clone()],
            (WindowFunction::Aggregate(_), Some(keys)) if self.random.chance(2, 3) => keys.to_vec(),
            (WindowFunction::Aggregate(_), _) => Vec::new(),
            (_, keys) => keys?.to_vec(),
        };
        let descending = order.len() == 1 && self.random.chance(1, 4);
        let of = match function {
            WindowFunction::RowNumber | WindowFunction::Rank => None,
            WindowFunction::Aggregate(Aggregate::Count) if self.random.chance(1, 2) => None,
            _ => Some(of),
        };
        Some(Expression::Window(Box::new(Window { function, of, partition, order, descending })))
    }

    /// A column, or a little more.
    fn window_argument(&mut self, scope: &Scope) -> Option<Expression> {
        let (source, column) = self.pick_column(scope, can_order)?;
        let kind = self.kind_of(&source, column);
        match self.random.chance(1, 4) {
            true => Some(self.anchored(kind, &scope.flat(), 1)),
            false => Some(Expression::Column(self.column_use(&source, column))),
        }
    }

    /// What rows are divided by: at most one column.
    fn partition(&mut self, scope: &Scope) -> Vec<Expression> {
        let wanted = self.random.chance(2, 3);
        let column = if wanted { self.pick_column(scope, can_group) } else { None };
        column.map(|(source, column)| Expression::Column(self.column_use(&source, column))).into_iter().collect()
    }
}
