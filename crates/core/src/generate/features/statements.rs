//! The features of statements, transactions and orders.

use super::{flag, number};
use crate::generate::model::{Domain, Feature, Usual};

/// A feature of words, all of which are usual; the weight 0 is for those that only some profiles choose.
macro_rules! words {
    ($name:literal, $what:literal, $(($word:literal, $weight:literal)),* $(,)?) => {
        Feature {
            name: $name,
            domain: Domain::Words(&[$($word),*]),
            default: Usual::Weights(&[$(($word, $weight)),*]),
            what: $what,
        }
    };
}

pub(super) use words;

/// How many groups of transactions a schema serves.
pub const GROUPS: Feature =
    number("schema.groups", (1, 100), (3, 3), "how many groups of transactions a schema serves");
/// How many sessions a case has.
pub const SESSIONS: Feature = number("session.count", (1, 8), (2, 4), "how many sessions a case has");
/// How many transactions a session has.
pub const TRANSACTIONS: Feature =
    number("session.transactions", (1, 4), (1, 1), "how many transactions a session has, one after the other");
/// Whether a statement stands outside of transactions.
pub const AUTOCOMMIT: Feature = flag(
    "session.autocommit",
    5,
    "whether a session executes a statement outside of a transaction, before each one and after the last",
);
/// How many statements a transaction has.
pub const STATEMENTS: Feature =
    number("transaction.statements", (1, 16), (1, 7), "how many statements stand between BEGIN and the end");
/// How a transaction ends.
pub const ENDING: Feature = words!("transaction.ending", "how a transaction ends", ("commit", 4), ("rollback", 1));
/// What happens to savepoints.
pub const SAVEPOINT: Feature = words!(
    "transaction.savepoint",
    "what a statement about savepoints does; without a savepoint, it sets one",
    ("set", 1),
    ("rollback", 2),
    ("release", 1),
);
/// Whether sessions have levels of their own.
pub const MIXED: Feature = flag("level.mixed", 0, "whether each session of a case has an isolation level of its own");
/// The level of a case.
pub const LEVEL: Feature = words!(
    "level.name",
    "the isolation level of a case, among those that all targets have",
    ("read uncommitted", 1),
    ("read committed", 1),
    ("repeatable read", 1),
    ("snapshot isolation", 1),
    ("serializable", 1),
);
/// How many orders are submitted.
pub const ORDERS: Feature = number(
    "order.count",
    (1, 100),
    (3, 3),
    "in how many orders the steps of a group of transactions are submitted; each is a case",
);
/// Whether another session is next.
pub const SWITCH: Feature = flag("order.switch", 60, "whether the next step is one of another session");

/// The rank of the table that a statement is about.
pub const TABLE_RANK: Feature = number(
    "heat.table",
    (1, 8),
    (1, 3),
    "the rank of the table that a statement is about, in an order that all sessions of a case share",
);
/// The rank of the row.
pub const ROW_RANK: Feature = number(
    "heat.row",
    (1, 1000),
    (1, 5),
    "the rank of the row whose values a statement uses, in an order that all sessions of a case share",
);
/// Whether a key is a contested one.
pub const KEY_CONTESTED: Feature = flag(
    "heat.contested",
    10,
    "whether a statement looks for a key that does not exist at the start but that several sessions insert",
);

/// What a statement is.
pub const STATEMENT: Feature = words!(
    "statement.kind",
    "what a statement is, as far as all targets have it",
    ("select", 6),
    ("select_share", 2),
    ("select_update", 3),
    ("insert", 4),
    ("insert_select", 1),
    ("insert_ignore", 1),
    ("upsert", 2),
    ("replace", 1),
    ("update", 8),
    ("delete", 3),
    ("savepoint", 2),
);

/// What a query returns.
pub const SELECT_SHAPE: Feature = words!(
    "select.shape",
    "what a query returns: rows, different rows, aggregates of all rows or of groups",
    ("rows", 6),
    ("distinct", 1),
    ("aggregate", 2),
    ("group", 1),
);
/// How many tables a query has.
pub const SELECT_TABLES: Feature = number("select.tables", (1, 2), (1, 2), "how many tables a query joins");
/// How tables are joined.
pub const JOIN: Feature = words!("select.join", "how two tables are joined", ("inner", 3), ("left", 2), ("full", 1));
/// Whether all columns are returned.
pub const SELECT_STAR: Feature = flag("select.star", 50, "whether a query of rows returns all columns");
/// How many values are returned.
pub const SELECT_ITEMS: Feature =
    number("select.items", (1, 8), (1, 3), "how many values a query returns that does not return all columns");
/// Whether rows are ordered.
pub const ORDERED: Feature = flag("select.ordered", 15, "whether rows are ordered, by the whole primary key");
/// Whether their number is limited.
pub const LIMITED: Feature = flag("select.limited", 50, "whether the number of rows is limited, if they are ordered");
/// Whether groups have a condition.
pub const HAVING: Feature = flag("select.having", 30, "whether groups have a condition");
/// An aggregate.
pub const AGGREGATE: Feature = words!(
    "select.aggregate",
    "which aggregate is computed, as far as its argument allows",
    ("count", 3),
    ("count_distinct", 1),
    ("sum", 3),
    ("min", 2),
    ("max", 2),
);

/// How many rows are inserted.
pub const INSERT_ROWS: Feature = number("insert.rows", (1, 10), (1, 2), "how many rows an INSERT has");
/// Whether columns are left out.
pub const INSERT_PARTIAL: Feature =
    flag("insert.partial", 30, "whether an INSERT leaves out columns that have a default or may be NULL");
/// Whether a value is the default.
pub const INSERT_DEFAULT: Feature = flag("insert.default", 5, "whether a value is written as DEFAULT");
/// Whether the server hands out the key.
pub const INSERT_HANDED_OUT: Feature =
    flag("insert.handed_out", 80, "whether the server hands out the key, where it can");
/// Where keys come from.
pub const INSERT_KEY: Feature = words!(
    "insert.key",
    "the key of a new row: drawn anew, one that several sessions insert, or one that exists",
    ("new", 4),
    ("contested", 3),
    ("existing", 1),
);
/// Whether a reference is to an existing row.
pub const REFERENCE_EXISTS: Feature =
    flag("insert.reference_exists", 85, "whether what a foreign key is set to exists at the start");

/// How many columns are set.
pub const UPDATE_COLUMNS: Feature = number("update.columns", (1, 8), (1, 2), "how many columns an UPDATE sets");
/// Whether a key is changed.
pub const UPDATE_KEY: Feature = flag("update.key", 12, "whether an UPDATE sets columns of the primary key");
/// What a column is set to.
pub const UPDATE_VALUE: Feature = words!(
    "update.value",
    "what a column is set to: a constant, itself and a little more or less, an expression, NULL, its default",
    ("constant", 4),
    ("arithmetic", 4),
    ("expression", 2),
    ("null", 1),
    ("default", 1),
);
/// Whether a write is limited.
pub const LIMITED_WRITE: Feature = flag(
    "update.limited",
    3,
    "whether an UPDATE or DELETE concerns only the first rows in the order of the key, where all targets have that",
);

/// The shape of predicates.
pub const PREDICATE_SHAPE: Feature = words!(
    "predicate.shape",
    "which rows a statement is about: by equality, range or list of the key, by one comparison, by any condition, all",
    ("key", 6),
    ("key_range", 2),
    ("key_in", 1),
    ("compare", 4),
    ("free", 3),
    ("none", 1),
);
/// How deep conditions are.
pub const PREDICATE_DEPTH: Feature =
    number("predicate.depth", (0, 5), (1, 2), "how many levels of AND, OR and NOT any condition has at most");
/// How conditions are combined.
pub const CONNECTIVE: Feature = words!(
    "predicate.connective",
    "what a level of a condition is; `atom` ends it",
    ("and", 3),
    ("or", 3),
    ("not", 1),
    ("atom", 1),
);
/// What a simple condition is.
pub const ATOM: Feature = words!(
    "predicate.atom",
    "what a condition without AND, OR and NOT is, as far as columns and targets allow",
    ("compare", 8),
    ("null_safe", 1),
    ("between", 2),
    ("in", 2),
    ("is_null", 2),
    ("like", 1),
    ("truth", 1),
    ("exists", 1),
    ("in_query", 1),
    ("compare_query", 0),
);
/// How values are compared.
pub const COMPARISON: Feature = words!(
    "predicate.comparison",
    "how two values are compared",
    ("equal", 4),
    ("not_equal", 1),
    ("less", 1),
    ("less_or_equal", 1),
    ("greater", 1),
    ("greater_or_equal", 1),
);

/// Where constants come from.
pub const CONSTANT_SOURCE: Feature = words!(
    "constant.source",
    "where a constant comes from: drawn anew, or from a row at the start",
    ("new", 1),
    ("existing", 1),
);
/// How deep values are.
pub const EXPRESSION_DEPTH: Feature =
    number("expression.depth", (0, 4), (0, 2), "how many levels of functions and operators a value has at most");
/// What stands at the leaves.
pub const EXPRESSION_LEAF: Feature =
    words!("expression.leaf", "what a value without functions and operators is", ("column", 1), ("constant", 3));
/// How values are computed.
pub const EXPRESSION_SHAPE: Feature = words!(
    "expression.shape",
    "how a value is computed, as far as its kind and the targets allow; `leaf` ends it",
    ("leaf", 2),
    ("arithmetic", 4),
    ("function", 3),
    ("case", 1),
    ("coalesce", 1),
    ("nullif", 1),
    ("extreme", 1),
    ("cast", 1),
    ("subquery", 1),
);
/// How numbers are combined.
pub const ARITHMETIC: Feature = words!(
    "expression.arithmetic",
    "how two numbers are combined",
    ("add", 3),
    ("subtract", 3),
    ("multiply", 2),
    ("divide", 1),
    ("remainder", 1),
);
/// Whether a subquery refers to the row outside.
pub const CORRELATED: Feature =
    flag("expression.correlated", 40, "whether a subquery refers to the row of the query around it");
