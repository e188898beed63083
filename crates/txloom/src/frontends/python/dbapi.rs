//! The words of DB-API drivers (psycopg, mysql-connector, PyMySQL, sqlite3, pg8000) and of SQLAlchemy.

use super::super::host::tree::Call;
use super::super::host::vocabulary::{Act, Marks, Sort, Vocabulary};

/// Python with DB-API and SQLAlchemy Core.
pub(crate) struct DbApi;

/// Attributes that are questions to a cursor.
pub(super) const ASKING: &[&str] = &["rowcount", "lastrowid", "inserted_primary_key"];

/// Attributes that switch something, as calls.
const SETTERS: &[(&str, &str)] =
    &[("autocommit", "__set_autocommit__"), ("isolation_level", "__set_isolation_level__")];

/// The call for an assignment to an attribute.
pub(super) fn setter(attribute: &str) -> Option<&'static str> {
    SETTERS.iter().find(|(known, _)| *known == attribute).map(|(_, call)| *call)
}

/// What is done with connections, engines and sessions.
const CONNECTION: &[(&str, Act)] = &[
    ("cursor", Act::Create),
    ("execute", Act::Execute),
    ("exec_driver_sql", Act::Execute),
    ("executemany", Act::ExecuteMany),
    ("scalar", Act::QueryScalar),
    ("scalars", Act::Execute),
    ("connect", Act::Connect),
    ("connection", Act::Connect),
    ("getconn", Act::Connect),
    ("get_connection", Act::Connect),
    ("begin", Act::Transaction),
    ("transaction", Act::Transaction),
    ("start_transaction", Act::Transaction),
    ("begin_nested", Act::Nothing),
    ("commit", Act::Commit),
    ("rollback", Act::Rollback),
    ("execution_options", Act::Isolation),
    ("set_isolation_level", Act::Isolation),
    ("__set_isolation_level__", Act::Isolation),
    ("__set_autocommit__", Act::AutoCommit),
    ("__exit__", Act::End),
    ("__abort__", Act::Rollback),
    ("close", Act::Close),
];

/// What is done with cursors and results.
const STATEMENT: &[(&str, Act)] = &[
    ("execute", Act::Execute),
    ("executemany", Act::ExecuteMany),
    ("fetchone", Act::FetchOne),
    ("first", Act::FetchOne),
    ("one", Act::FetchOne),
    ("one_or_none", Act::FetchOne),
    ("scalar", Act::Scalar),
    ("scalar_one", Act::ScalarOne),
    ("scalar_one_or_none", Act::Scalar),
    ("fetchall", Act::FetchAll),
    ("fetchmany", Act::FetchAll),
    ("all", Act::FetchAll),
    ("partitions", Act::FetchAll),
    ("mappings", Act::Itself),
    ("tuples", Act::Itself),
    ("unique", Act::Itself),
    ("rowcount", Act::CountOf),
    ("lastrowid", Act::Nothing),
    ("inserted_primary_key", Act::Nothing),
    ("__enter__", Act::Itself),
    ("close", Act::Close),
];

/// What calls mean whose receiver is not known.
const ANYWHERE: &[(&str, Act)] = &[
    ("text", Act::Text),
    ("create_engine", Act::Connect),
    ("create_async_engine", Act::Connect),
    ("connect", Act::Connect),
    ("getconn", Act::Connect),
    ("get_connection", Act::Connect),
    ("connection", Act::Connect),
    ("cursor", Act::Create),
    ("execute", Act::Execute),
    ("exec_driver_sql", Act::Execute),
    ("executemany", Act::ExecuteMany),
    ("begin", Act::Transaction),
    ("transaction", Act::Transaction),
    ("atomic", Act::Transaction),
    ("commit", Act::Commit),
    ("rollback", Act::Rollback),
    ("execution_options", Act::Isolation),
    ("set_isolation_level", Act::Isolation),
    ("__set_isolation_level__", Act::Isolation),
    ("__set_autocommit__", Act::AutoCommit),
    ("__commit__", Act::End),
    ("__rollback__", Act::Rollback),
    ("__exit__", Act::Nothing),
    ("__abort__", Act::Nothing),
];

/// Types, with what they are good for and what SQL calls them.
const TYPES: &[(&str, Sort, &str)] = &[
    ("int", Sort::Whole, "INT"),
    ("float", Sort::Real, "DOUBLE"),
    ("Decimal", Sort::Real, "DECIMAL"),
    ("str", Sort::Text, "VARCHAR"),
    ("UUID", Sort::Text, "VARCHAR"),
    ("bool", Sort::Bool, "BOOLEAN"),
    ("date", Sort::Time, "DATE"),
    ("time", Sort::Time, "TIME"),
    ("datetime", Sort::Time, "TIMESTAMP"),
    ("Connection", Sort::Connection, ""),
    ("AsyncConnection", Sort::Connection, ""),
    ("Engine", Sort::Connection, ""),
    ("Session", Sort::Connection, ""),
    ("ConnectionPool", Sort::Connection, ""),
    ("Cursor", Sort::Statement, ""),
    ("AsyncCursor", Sort::Statement, ""),
    ("SQL", Sort::SqlText, ""),
    ("Identifier", Sort::SqlText, ""),
    ("Literal", Sort::SqlText, ""),
    ("list", Sort::List, ""),
    ("List", Sort::List, ""),
    ("tuple", Sort::List, ""),
    ("set", Sort::List, ""),
    ("Iterable", Sort::List, ""),
    ("Sequence", Sort::List, ""),
];

/// Isolation levels, by the texts and constants for them.
const LEVELS: &[(&str, &str)] = &[
    ("READ UNCOMMITTED", "read uncommitted"),
    ("READ COMMITTED", "read committed"),
    ("REPEATABLE READ", "repeatable read"),
    ("SERIALIZABLE", "serializable"),
    ("SNAPSHOT", "snapshot"),
];

fn listed(table: &[(&str, Act)], name: &str) -> Option<Act> {
    table.iter().find(|(known, _)| *known == name).map(|(_, act)| *act)
}

fn known(type_name: &str) -> Option<&'static (&'static str, Sort, &'static str)> {
    let plain = type_name.split('[').next().unwrap_or(type_name);
    let plain = plain.rsplit('.').next().unwrap_or(plain).trim();
    TYPES.iter().find(|(name, _, _)| *name == plain)
}

impl Vocabulary for DbApi {
    fn act(&self, on: Sort, call: &Call) -> Option<Act> {
        let name = call.name.as_str();
        match on {
            Sort::Connection => listed(CONNECTION, name).or(Some(Act::Nothing)),
            Sort::Statement | Sort::Rows => listed(STATEMENT, name).or(Some(Act::Nothing)),
            Sort::SqlText => (name == "bindparams").then_some(Act::PrepareWith),
            _ => None,
        }
    }

    fn act_anywhere(&self, call: &Call) -> Option<Act> {
        listed(ANYWHERE, &call.name)
    }

    fn sort(&self, type_name: &str) -> Sort {
        let is_session = type_name.ends_with("Session") || type_name.ends_with("SessionLocal");
        known(type_name).map_or(if is_session { Sort::Connection } else { Sort::Object }, |(_, sort, _)| *sort)
    }

    fn sql_type(&self, type_name: &str) -> &'static str {
        known(type_name).map(|(_, _, sql)| *sql).filter(|sql| !sql.is_empty()).unwrap_or("VARCHAR")
    }

    fn result_sort(&self, _getter: &str) -> Sort {
        Sort::Object
    }

    fn setter_sort(&self, _setter: &str) -> Sort {
        Sort::Object
    }

    fn execute_gives_statement(&self) -> bool {
        true
    }

    fn level(&self, constant: &str) -> Option<&'static str> {
        let plain = constant.to_uppercase().replace('_', " ");
        let plain = plain.trim_start_matches("ISOLATION LEVEL ");
        LEVELS.iter().find(|(known, _)| *known == plain).map(|(_, level)| *level)
    }

    fn marks(&self) -> &'static [Marks] {
        &[Marks::Percent, Marks::Colon, Marks::Question]
    }

    fn divides_whole(&self) -> bool {
        false
    }
}
