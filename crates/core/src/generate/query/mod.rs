//! Deep queries: joins, queries in the place of tables, subqueries within subqueries.
//!
//! An optimizer that rewrites, materializes and reorders has many ways to go wrong, and simple statements reach few of
//! them. SQLsmith has shown how much is found by statements that nest everything into everything. These are as deep,
//! but not as wild: most of them do something, and all of them end.
//!
//! ```text
//!   WITH w1 AS (SELECT … FROM t2 AS r2 …)                               a query with a name          from
//!   SELECT r3.c0, SUM(q4.c1) OVER (PARTITION BY … ORDER BY r3.c0)       functions of windows         window
//!     FROM t0 AS r3 LEFT JOIN (SELECT … FROM … GROUP BY …) AS q4        a query instead of a table   from, shape
//!     ON r3.c1 = q4.c0
//!    WHERE r3.c2 < (SELECT MAX(r5.c1) FROM t1 AS r5 JOIN w1 …           a subquery with joins        subquery
//!                    WHERE r5.c0 = r3.c0)                               that refers to the outside
//! ```
//!
//! **A relation is a relation.** A query that stands in a FROM clause becomes a [`Relation`](super::maker::Relation)
//! like any table: columns with kinds and extents, perhaps a key, and *some rows that it might have*, which are made
//! from rows of its tables. So whatever makes conditions and values for tables makes them for queries, too, with
//! constants that are likely to be found.
//!
//! **Results are functions of the data.** The order of a window or of a LIMIT is that of whole keys. Texts stay in small
//! letters, so that it does not matter which of several equal ones stands for its group.
//!
//! **Bounds.** A statement has at most so many queries, and so many levels of them ([`Budget`]). How often a condition
//! is evaluated is known: no FROM clause has more than [`PRODUCT_MAX`] combinations of rows, and with those of all
//! queries around it no more than [`WORK_MAX`]. No engine needs longer than the stupidest one, that tries them all.
//!
//! Limits: a query in a FROM clause does not refer to the outside (LATERAL), a query in a WITH clause not to itself.

mod from;
mod shape;
mod window;
mod subquery;

use crate::dialect::Construct;
use crate::generate::expression::print::print_query;
use crate::generate::features;
use crate::generate::maker::{Maker, Scope};
use crate::generate::model::Model;

/// A FROM clause has no more combinations of rows.
const PRODUCT_MAX: usize = 20_000;
/// No condition is evaluated more often, in one statement on the rows at the start.
const WORK_MAX: usize = 1_000_000;
/// How many levels of subqueries there are where queries are not deep.
const USUAL_LEVELS: usize = 2;

/// How deep a statement may get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Budget {
    /// Whether statements are deep at all.
    deep: bool,
    /// How many levels of queries there may be.
    levels: usize,
    /// How many more queries there may be.
    queries: usize,
    /// How many names have been given to tables and queries.
    names: usize,
}

impl Budget {
    pub(super) fn of(model: &Model) -> Budget {
        let deep = model.can(&features::QUERY_DEPTH);
        Budget { deep, levels: USUAL_LEVELS, queries: usize::MAX, names: 0 }
    }
}

impl Maker<'_> {
    /// Whether statements are deep.
    pub(super) fn is_deep(&self) -> bool {
        self.budget.deep
    }

    /// Forgets the queries of the last statement, and decides how deep the next one may get.
    pub(super) fn begin_statement(&mut self) {
        self.relations.truncate(self.schema.tables.len());
        if self.is_deep() {
            let levels = self.model.count(&features::QUERY_DEPTH, &mut self.random);
            let queries = self.model.count(&features::QUERY_NUMBER, &mut self.random);
            self.budget = Budget { levels, queries, names: 0, ..self.budget };
        }
    }

    /// Whether there may be a query inside of what stands in this scope.
    pub(super) fn may_nest(&self, scope: &Scope) -> bool {
        scope.level < self.budget.levels && self.budget.queries > 0
    }

    /// A name for a table or a query in a FROM clause: `r1`.
    pub(super) fn name(&mut self, letter: char) -> String {
        self.budget.names += 1;
        format!("{letter}{}", self.budget.names)
    }

    /// A query that locks nothing by itself, as deep as it gets.
    pub(super) fn deep_select(&mut self) -> String {
        match self.query(Scope::EMPTY, &|_| true, true) {
            Some(made) => print_query(&made.query, self.language),
            None => self.select(),
        }
    }

    /// For how many rows a condition in the scope is evaluated.
    fn rows_of(&self, scope: &Scope) -> usize {
        let product = |product: usize, size: usize| product.saturating_mul(size.max(1));
        let sizes = scope.sources.iter().map(|source| self.relations[source.table].size);
        scope.rows.unwrap_or_else(|| sizes.fold(1, product))
    }

    /// The scope of a query inside of another one, before it has any table.
    fn inside_of(&self, scope: &Scope) -> Scope {
        let level = scope.level.saturating_add(1);
        let plain = level >= self.budget.levels;
        Scope { sources: Vec::new(), level, plain, rows: Some(self.rows_of(scope)), ..scope.clone() }
    }

    fn has_with(&self) -> bool {
        self.has(Construct::With)
    }
}
