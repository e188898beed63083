//! The words of JDBC, and of the benchmark suites that wrap it.

use super::super::host::tree::Call;
use super::super::host::vocabulary::{Act, Marks, Sort, Vocabulary};

/// Java with JDBC.
pub(crate) struct Jdbc;

/// What methods of connections do.
const CONNECTION: &[(&str, Act)] = &[
    ("prepareStatement", Act::Prepare),
    ("prepareCall", Act::Prepare),
    ("createStatement", Act::Create),
    ("commit", Act::Commit),
    ("rollback", Act::Rollback),
    ("setAutoCommit", Act::AutoCommit),
    ("setTransactionIsolation", Act::Isolation),
    ("setSavepoint", Act::Savepoint),
    ("releaseSavepoint", Act::Nothing),
    ("close", Act::Close),
    ("setReadOnly", Act::Nothing),
    ("getConnection", Act::Connect),
    ("unwrap", Act::Connect),
];

/// What methods of statements do, besides setters.
const STATEMENT: &[(&str, Act)] = &[
    ("executeQuery", Act::Query),
    ("executeUpdate", Act::Update),
    ("executeLargeUpdate", Act::Update),
    ("execute", Act::Execute),
    ("addBatch", Act::AddBatch),
    ("executeBatch", Act::ExecuteBatch),
    ("executeLargeBatch", Act::ExecuteBatch),
    ("clearBatch", Act::ClearBatch),
    ("getResultSet", Act::ResultOf),
    ("getUpdateCount", Act::CountOf),
    ("getGeneratedKeys", Act::Keys),
    ("getConnection", Act::Connect),
    ("setNull", Act::BindNull),
    ("close", Act::Close),
    ("clearParameters", Act::Nothing),
    ("setMaxRows", Act::Nothing),
    ("setFetchSize", Act::Nothing),
    ("setQueryTimeout", Act::Nothing),
    ("setFetchDirection", Act::Nothing),
    ("setEscapeProcessing", Act::Nothing),
    ("setPoolable", Act::Nothing),
    ("setCursorName", Act::Nothing),
    ("registerOutParameter", Act::Nothing),
    ("closeOnCompletion", Act::Nothing),
    ("getMoreResults", Act::Nothing),
];

/// What methods of result sets do, besides getters.
const ROWS: &[(&str, Act)] = &[
    ("next", Act::Next),
    ("first", Act::Next),
    ("wasNull", Act::WasNull),
    ("close", Act::Close),
    ("getMetaData", Act::Nothing),
    ("getRow", Act::Nothing),
    ("getStatement", Act::Nothing),
    ("getFetchSize", Act::Nothing),
];

/// What calls do whose receiver we do not know: methods that a framework's base class has.
const ANYWHERE: &[(&str, Act)] = &[
    ("getPreparedStatement", Act::PrepareWith),
    ("getPreparedStatementReturnKeys", Act::Prepare),
    ("prepareStatement", Act::Prepare),
    ("prepareCall", Act::Prepare),
    ("createStatement", Act::Create),
    ("setAutoCommit", Act::AutoCommit),
    ("setTransactionIsolation", Act::Isolation),
    ("executeQuery", Act::Query),
    ("executeUpdate", Act::Update),
    ("getSQL", Act::Text),
    ("getConnection", Act::Connect),
];

/// Types, with what they are good for and what SQL calls them. The first letter counts as written.
const TYPES: &[(&str, Sort, &str)] = &[
    ("int", Sort::Whole, "INT"),
    ("Integer", Sort::Whole, "INT"),
    ("short", Sort::Whole, "SMALLINT"),
    ("Short", Sort::Whole, "SMALLINT"),
    ("byte", Sort::Whole, "SMALLINT"),
    ("Byte", Sort::Whole, "SMALLINT"),
    ("long", Sort::Whole, "BIGINT"),
    ("Long", Sort::Whole, "BIGINT"),
    ("BigInteger", Sort::Whole, "DECIMAL"),
    ("AtomicInteger", Sort::Whole, "INT"),
    ("AtomicLong", Sort::Whole, "BIGINT"),
    ("float", Sort::Real, "FLOAT"),
    ("Float", Sort::Real, "FLOAT"),
    ("double", Sort::Real, "DOUBLE"),
    ("Double", Sort::Real, "DOUBLE"),
    ("BigDecimal", Sort::Real, "DECIMAL"),
    ("boolean", Sort::Bool, "BOOLEAN"),
    ("Boolean", Sort::Bool, "BOOLEAN"),
    ("String", Sort::Text, "VARCHAR"),
    ("CharSequence", Sort::Text, "VARCHAR"),
    ("char", Sort::Text, "CHAR"),
    ("Character", Sort::Text, "CHAR"),
    ("UUID", Sort::Text, "VARCHAR"),
    ("Timestamp", Sort::Time, "TIMESTAMP"),
    ("Date", Sort::Time, "DATE"),
    ("Time", Sort::Time, "TIME"),
    ("LocalDate", Sort::Time, "DATE"),
    ("LocalDateTime", Sort::Time, "TIMESTAMP"),
    ("LocalTime", Sort::Time, "TIME"),
    ("OffsetDateTime", Sort::Time, "TIMESTAMP"),
    ("ZonedDateTime", Sort::Time, "TIMESTAMP"),
    ("Instant", Sort::Time, "TIMESTAMP"),
    ("Calendar", Sort::Time, "TIMESTAMP"),
    ("Connection", Sort::Connection, ""),
    ("PreparedStatement", Sort::Statement, ""),
    ("CallableStatement", Sort::Statement, ""),
    ("Statement", Sort::Statement, ""),
    ("AutoIncrementPreparedStatement", Sort::Statement, ""),
    ("ResultSet", Sort::Rows, ""),
    ("SQLStmt", Sort::SqlText, ""),
    ("StringBuilder", Sort::Builder, ""),
    ("StringBuffer", Sort::Builder, ""),
    ("List", Sort::List, ""),
    ("ArrayList", Sort::List, ""),
    ("LinkedList", Sort::List, ""),
    ("Collection", Sort::List, ""),
    ("Iterable", Sort::List, ""),
    ("Iterator", Sort::List, ""),
    ("Set", Sort::List, ""),
    ("HashSet", Sort::List, ""),
    ("LinkedHashSet", Sort::List, ""),
    ("TreeSet", Sort::List, ""),
    ("Vector", Sort::List, ""),
    ("Map", Sort::List, ""),
    ("HashMap", Sort::List, ""),
    ("LinkedHashMap", Sort::List, ""),
    ("TreeMap", Sort::List, ""),
    ("ConcurrentHashMap", Sort::List, ""),
];

/// Isolation levels by their constants.
const LEVELS: &[(&str, &str)] = &[
    ("TRANSACTION_READ_UNCOMMITTED", "read uncommitted"),
    ("TRANSACTION_READ_COMMITTED", "read committed"),
    ("TRANSACTION_REPEATABLE_READ", "repeatable read"),
    ("TRANSACTION_SERIALIZABLE", "serializable"),
];

impl Vocabulary for Jdbc {
    fn act(&self, on: Sort, call: &Call) -> Option<Act> {
        let name = call.name.as_str();
        let listed = |table: &[(&str, Act)]| table.iter().find(|(known, _)| *known == name).map(|(_, act)| *act);
        match on {
            Sort::Connection => listed(CONNECTION).or(Some(Act::Nothing)),
            Sort::Statement => {
                let is_setter = name.starts_with("set") && call.arguments.len() >= 2;
                listed(STATEMENT).or(is_setter.then_some(Act::Bind)).or(Some(Act::Nothing))
            }
            Sort::Rows => {
                let is_getter = name.starts_with("get") && !call.arguments.is_empty();
                listed(ROWS).or(is_getter.then_some(Act::Get)).or(Some(Act::Nothing))
            }
            Sort::SqlText => (name == "getSQL").then_some(Act::Text),
            Sort::List => match name {
                // What gives the keys of new rows.
                "getInt" | "getLong" | "getString" | "getObject" => Some(Act::Get),
                "next" if call.arguments.is_empty() => Some(Act::Next),
                _ => None,
            },
            _ => None,
        }
    }

    fn act_anywhere(&self, call: &Call) -> Option<Act> {
        ANYWHERE.iter().find(|(known, _)| *known == call.name).map(|(_, act)| *act)
    }

    fn sort(&self, type_name: &str) -> Sort {
        if type_name.ends_with("[]") || type_name.ends_with("...") {
            return Sort::List;
        }
        known(type_name).map_or(Sort::Object, |(_, sort, _)| *sort)
    }

    fn sql_type(&self, type_name: &str) -> &'static str {
        known(type_name).map(|(_, _, sql)| *sql).filter(|sql| !sql.is_empty()).unwrap_or("VARCHAR")
    }

    fn result_sort(&self, getter: &str) -> Sort {
        named_sort(getter.strip_prefix("get").unwrap_or(""))
    }

    fn setter_sort(&self, setter: &str) -> Sort {
        named_sort(setter.strip_prefix("set").unwrap_or(""))
    }

    fn execute_gives_statement(&self) -> bool {
        false
    }

    fn level(&self, constant: &str) -> Option<&'static str> {
        LEVELS.iter().find(|(known, _)| *known == constant).map(|(_, level)| *level)
    }

    fn marks(&self) -> &'static [Marks] {
        &[Marks::Question]
    }

    fn divides_whole(&self) -> bool {
        true
    }

    fn opens_autocommit(&self, name: &str) -> bool {
        name == "getConnection"
    }

    fn is_main(&self, method: &str) -> bool {
        method == "run"
    }

    fn says_types(&self) -> bool {
        true
    }

    /// Whoever calls them may end them.
    fn roots_own_transactions(&self) -> bool {
        false
    }
}

/// A type, without its package and what it is made of.
fn known(type_name: &str) -> Option<&'static (&'static str, Sort, &'static str)> {
    let plain = type_name.split('<').next().unwrap_or(type_name);
    let plain = plain.rsplit('.').next().unwrap_or(plain).trim();
    TYPES.iter().find(|(name, _, _)| *name == plain)
}

/// What a getter or setter is for, by the end of its name.
fn named_sort(type_name: &str) -> Sort {
    match type_name {
        "Int" | "Long" | "Short" | "Byte" => Sort::Whole,
        "Float" | "Double" | "BigDecimal" => Sort::Real,
        "String" | "NString" => Sort::Text,
        "Boolean" => Sort::Bool,
        "Timestamp" | "Date" | "Time" => Sort::Time,
        _ => Sort::Object,
    }
}
