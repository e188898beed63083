//! The features of deep queries.

use super::number;
use super::statements::words;
use crate::generate::model::{Domain, Feature, Usual};

/// How deep queries are.
pub const QUERY_DEPTH: Feature = number(
    "query.depth",
    (0, 4),
    (0, 0),
    "how many queries deep a statement may be. Where it is always 0, subqueries have one table and are at most two deep",
);
/// How many queries a statement has.
pub const QUERY_NUMBER: Feature =
    number("query.number", (1, 16), (4, 8), "how many queries a deep statement has at most, subqueries included");
/// How many tables a query joins.
pub const QUERY_TABLES: Feature =
    number("query.tables", (1, 3), (1, 3), "how many tables a deep query joins, as far as there are not too many rows");
/// What is joined.
pub const QUERY_SOURCE: Feature = words!(
    "query.source",
    "what stands in a FROM clause of a deep query: a table, a query, the name of a query in a WITH clause",
    ("table", 6),
    ("derived", 2),
    ("common", 1),
);
/// How it is joined.
pub const QUERY_JOIN: Feature =
    words!("query.join", "how tables of a deep query are joined", ("inner", 3), ("left", 2));
/// What a query returns.
pub const QUERY_SHAPE: Feature = words!(
    "query.shape",
    "what a deep query returns: rows, different rows, aggregates of all rows or of groups, rows with functions of their \
     windows, rows of two queries",
    ("rows", 6),
    ("distinct", 1),
    ("aggregate", 2),
    ("group", 2),
    ("window", 2),
    ("set", 1),
);
/// How the rows of two queries are put together.
pub const QUERY_SET: Feature = words!(
    "query.set",
    "how the rows of two queries are put together, as far as all targets have it",
    ("union", 2),
    ("union_all", 2),
    ("except", 1),
    ("intersect", 1),
);
/// Which function of a window.
pub const QUERY_WINDOW: Feature = words!(
    "query.window",
    "which function of a window is computed, as far as its argument allows",
    ("row_number", 2),
    ("rank", 1),
    ("count", 1),
    ("sum", 2),
    ("min", 1),
    ("max", 1),
    ("lag", 1),
    ("lead", 1),
);
/// How a subquery comes to one value.
pub const QUERY_SCALAR: Feature = words!(
    "query.scalar",
    "how a deep subquery comes to one value: an aggregate, the row of a key, the first row in the order of keys",
    ("aggregate", 4),
    ("key", 1),
    ("first", 1),
);
/// How many cases a CASE has.
pub const BRANCHES: Feature =
    number("expression.branches", (1, 4), (1, 2), "how many cases a CASE of a deep statement tells apart");
