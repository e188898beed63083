//! Every feature of the stochastic model. One constant and one entry in [`FEATURES`] each; profiles, their errors and
//! their documentation derive from the table.

mod queries;
mod statements;
mod storm;

pub use queries::*;
pub use statements::*;
pub use storm::*;

use super::model::{Domain, Feature, Usual};

const fn number(name: &'static str, bounds: (i64, i64), usual: (i64, i64), what: &'static str) -> Feature {
    Feature { name, domain: Domain::Number(bounds.0, bounds.1), default: Usual::Range(usual.0, usual.1), what }
}

const fn flag(name: &'static str, percent: u64, what: &'static str) -> Feature {
    Feature { name, domain: Domain::Flag, default: Usual::Percent(percent), what }
}

const fn words(
    name: &'static str,
    words: &'static [&'static str],
    usual: &'static [(&'static str, u64)],
    what: &'static str,
) -> Feature {
    Feature { name, domain: Domain::Words(words), default: Usual::Weights(usual), what }
}

/// How many tables a schema has.
pub const TABLES: Feature = number("schema.tables", (1, 8), (1, 3), "how many tables a schema has");
/// How many columns a table has at most.
pub const COLUMNS: Feature =
    number("schema.columns", (1, 16), (4, 4), "how many columns a table has at most, as far as its keys let it");
/// How many rows a table has at the start.
pub const ROWS: Feature = number("schema.rows", (0, 1000), (1, 5), "how many rows a table has at the start");

/// Whether the rows are those of all tables.
pub const ROWS_TOGETHER: Feature =
    flag("schema.rows_together", 0, "whether `schema.rows` is how many rows all tables have together");
/// Whether rows have versions.
pub const VERSION: Feature =
    flag("schema.version", 0, "whether tables have a version column, which statements do not speak of");

/// Whether a table has a primary key.
pub const PRIMARY_KEY: Feature = flag("primary_key.exists", 90, "whether a table has a primary key");
/// How many columns a primary key has.
pub const PRIMARY_KEY_SIZE: Feature = number("primary_key.size", (1, 4), (1, 2), "how many columns a primary key has");
/// The type of a primary key's columns.
pub const PRIMARY_KEY_TYPE: Feature = words(
    "primary_key.type",
    KEY_TYPES,
    &[("int", 6), ("varchar", 2), ("bigint", 1), ("smallint", 1), ("decimal", 1), ("char", 1), ("date", 1)],
    "the type of a primary key's columns",
);
/// Whether the server hands out the values of a primary key.
pub const AUTO_INCREMENT: Feature = flag(
    "primary_key.auto_increment",
    20,
    "whether the server hands out the values of a primary key that is one INT column",
);
/// Whether keys are used once.
pub const KEYS_ONCE: Feature = flag(
    "primary_key.once",
    0,
    "whether a primary key that is one INT or BIGINT column is used once: never changed, never inserted again",
);
/// How many foreign keys a table has.
pub const FOREIGN_KEYS: Feature = number("foreign_key.number", (0, 4), (0, 1), "how many foreign keys a table has");
/// Which table a foreign key refers to.
pub const FOREIGN_KEY_TARGET: Feature = number(
    "foreign_key.target",
    (1, 7),
    (1, 7),
    "which of the tables before it a foreign key refers to, the first being 1; those that do not exist are not chosen",
);
/// Whether a row at the start refers to nothing.
pub const REFERENCE_NULL: Feature =
    flag("foreign_key.null", 10, "whether a row at the start refers to nothing, where the column allows NULL");
/// How many unique keys a table has.
pub const UNIQUE_KEYS: Feature =
    number("unique_key.number", (0, 4), (0, 1), "how many unique keys a table has beside its primary key");
/// How many attributes a unique key has.
pub const UNIQUE_KEY_SIZE: Feature = number("unique_key.size", (1, 4), (1, 2), "how many attributes a unique key has");
/// How many indexes a table has that are not keys.
pub const INDEXES: Feature = number("index.number", (0, 4), (0, 1), "how many indexes a table has that are not keys");
/// How many attributes an index has.
pub const INDEX_SIZE: Feature = number("index.size", (1, 4), (1, 2), "how many attributes an index has");

/// How many attributes a table has beside its keys.
pub const ATTRIBUTES: Feature =
    number("attribute.number", (1, 8), (1, 3), "how many attributes a table has beside its primary and foreign keys");
/// How many columns an attribute has.
pub const ATTRIBUTE_SIZE: Feature =
    number("attribute.size", (1, 4), (1, 1), "how many columns an attribute has, all of one type");
/// The type of an attribute's columns.
pub const ATTRIBUTE_TYPE: Feature = words(
    "attribute.type",
    TYPES,
    &[
        ("int", 6),
        ("smallint", 1),
        ("bigint", 1),
        ("decimal", 2),
        ("double", 1),
        ("varchar", 4),
        ("char", 1),
        ("text", 1),
        ("date", 1),
        ("time", 1),
        ("timestamp", 1),
        ("blob", 1),
        ("boolean", 1),
    ],
    "the type of an attribute's columns",
);
/// Whether a column refuses NULL.
pub const NOT_NULL: Feature = flag("column.not_null", 20, "whether a column refuses NULL");
/// Whether a column has a default.
pub const DEFAULT: Feature = flag("column.default", 20, "whether a column has a default");
/// Whether a column has a CHECK constraint.
pub const CHECK: Feature = flag("column.check", 15, "whether a column has a CHECK constraint");

/// A whole number; numbers with decimals are quarters of it.
pub const INTEGER: Feature =
    number("value.integer", (-1000, 1000), (0, 9), "a new whole number; decimals and floats are quarters of one");
/// How many letters there are.
pub const LETTERS: Feature =
    number("value.letters", (1, 26), (3, 3), "how many different letters a new text is made of");
/// How long a text is.
pub const LENGTH: Feature = number("value.length", (0, 10), (1, 2), "how long a new text or byte string is");
/// Which day a date is, and which minute a time.
pub const DAY: Feature = number(
    "value.day",
    (0, 365),
    (0, 4),
    "a new date, in days of the year 2024, and a new time, in minutes of the day",
);
/// Whether a value is NULL.
pub const NULL: Feature = flag("value.null", 10, "whether a new value is NULL, where the column allows it");
/// Whether a value is an extreme one.
pub const EXTREME: Feature = flag(
    "value.extreme",
    3,
    "whether a new value lies at the edge of its type: the largest, the smallest, an empty text",
);

/// All types, as profiles name them.
const TYPES: &[&str] = &[
    "smallint",
    "int",
    "bigint",
    "decimal",
    "double",
    "varchar",
    "char",
    "text",
    "date",
    "time",
    "timestamp",
    "blob",
    "boolean",
];
/// Those that keys may have. Not `double`, in which equality is a matter of luck; not `text` and `blob`, which MySQL
/// indexes only in part; not `boolean`, of which there are too few.
pub(super) const KEY_TYPES: &[&str] =
    &["smallint", "int", "bigint", "decimal", "varchar", "char", "date", "time", "timestamp"];

/// All of them, in the order of the documentation.
pub const FEATURES: &[&Feature] = &[
    &TABLES,
    &COLUMNS,
    &ROWS,
    &ROWS_TOGETHER,
    &VERSION,
    &PRIMARY_KEY,
    &PRIMARY_KEY_SIZE,
    &PRIMARY_KEY_TYPE,
    &AUTO_INCREMENT,
    &KEYS_ONCE,
    &FOREIGN_KEYS,
    &FOREIGN_KEY_TARGET,
    &REFERENCE_NULL,
    &UNIQUE_KEYS,
    &UNIQUE_KEY_SIZE,
    &INDEXES,
    &INDEX_SIZE,
    &ATTRIBUTES,
    &ATTRIBUTE_SIZE,
    &ATTRIBUTE_TYPE,
    &NOT_NULL,
    &DEFAULT,
    &CHECK,
    &INTEGER,
    &LETTERS,
    &LENGTH,
    &DAY,
    &NULL,
    &EXTREME,
    // Statements, transactions, orders.
    &GROUPS,
    &SESSIONS,
    &TRANSACTIONS,
    &AUTOCOMMIT,
    &STATEMENTS,
    &ENDING,
    &SAVEPOINT,
    &MIXED,
    &LEVEL,
    &ORDERS,
    &SWITCH,
    &TABLE_RANK,
    &ROW_RANK,
    &KEY_CONTESTED,
    &STATEMENT,
    &SELECT_SHAPE,
    &SELECT_TABLES,
    &JOIN,
    &SELECT_STAR,
    &SELECT_ITEMS,
    &ORDERED,
    &LIMITED,
    &HAVING,
    &AGGREGATE,
    &INSERT_ROWS,
    &INSERT_PARTIAL,
    &INSERT_DEFAULT,
    &INSERT_HANDED_OUT,
    &INSERT_KEY,
    &REFERENCE_EXISTS,
    &UPDATE_COLUMNS,
    &UPDATE_KEY,
    &UPDATE_VALUE,
    &LIMITED_WRITE,
    &PREDICATE_SHAPE,
    &PREDICATE_DEPTH,
    &CONNECTIVE,
    &ATOM,
    &COMPARISON,
    &CONSTANT_SOURCE,
    &EXPRESSION_DEPTH,
    &EXPRESSION_LEAF,
    &EXPRESSION_SHAPE,
    &ARITHMETIC,
    &CORRELATED,
    // Deep queries.
    &BRANCHES,
    &QUERY_DEPTH,
    &QUERY_NUMBER,
    &QUERY_TABLES,
    &QUERY_SOURCE,
    &QUERY_JOIN,
    &QUERY_SHAPE,
    &QUERY_SET,
    &QUERY_WINDOW,
    &QUERY_SCALAR,
    &STORM_TEMPLATES,
    &STORM_LOOP,
    &STORM_ROUNDS,
    &STORM_BRANCH,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_defaults_lie_in_their_domains() {
        let mut names: Vec<&str> = FEATURES.iter().map(|feature| feature.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        for feature in FEATURES {
            assert_eq!(feature.name.split('.').count(), 2, "{}: section.name", feature.name);
            let fits = match (feature.domain, feature.default) {
                (Domain::Number(low, high), Usual::Range(from, to)) => low <= from && from <= to && to <= high,
                (Domain::Words(words), Usual::Weights(usual)) => usual.iter().all(|(word, _)| words.contains(word)),
                (Domain::Flag, Usual::Percent(percent)) => percent <= 100,
                _ => false,
            };
            assert!(fits, "{}", feature.name);
        }
    }
}
