//! What the methods of a database library do: data, one table per library.
//!
//! A host language has values that we follow because they lead to SQL: connections, statements, result sets. Which names
//! make them and what can be done with them is all that differs between libraries, so that it is a table:
//!
//! ```text
//!   prepareStatement  →  Prepare          stmt = conn.prepareStatement("SELECT …")
//!   setInt            →  Bind             stmt.setInt(1, id)
//!   executeQuery      →  Query            rs = stmt.executeQuery()
//!   next              →  Next             rs.next()
//!   getInt            →  Get              rs.getInt("balance")
//! ```

use super::tree::Call;

/// What a call does. (Not every library has all of it.)
#[allow(dead_code)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// Gives a connection.
    Connect,
    /// Gives a statement without text.
    Create,
    /// Gives a statement with text, the first argument that is text.
    Prepare,
    /// The same, and further arguments are bound, in order.
    PrepareWith,
    /// Wraps text that is a statement: its value is the text.
    Text,
    /// Binds a value: position or name, and value.
    Bind,
    /// Binds NULL.
    BindNull,
    /// Binds all values of a list, or the named ones of a map.
    BindAll,
    /// Sends a query, whose text may be an argument, and gives its rows; further arguments are bound.
    Query,
    /// Sends a statement and gives how many rows it changed.
    Update,
    /// Sends a statement; `ResultOf` and `CountOf` ask about it.
    Execute,
    /// Sends a query for one row, whose columns go to the expressions of the last argument; without a row, these stay.
    Into,
    /// Whether the last statement had a row, or changed one.
    Found,
    /// How many rows the last statement had or changed.
    Count,
    /// Sends a statement once for each element of a list.
    ExecuteMany,
    /// Sends a query and gives the first column of its first row.
    QueryScalar,
    /// Keeps the statement with its values, to be sent later.
    AddBatch,
    /// Sends what was kept.
    ExecuteBatch,
    /// Forgets what was kept.
    ClearBatch,
    /// The rows of the statement that was sent last.
    ResultOf,
    /// How many rows the statement that was sent last has changed.
    CountOf,
    /// The keys that the server gave to the rows of the last INSERT.
    Keys,
    /// Goes to the next row, and says whether there is one.
    Next,
    /// The next row itself, or nothing.
    FetchOne,
    /// The first column of the next row, or NULL if there is none.
    Scalar,
    /// The first column of the next row, which must be there.
    ScalarOne,
    /// All rows.
    FetchAll,
    /// Gives the receiver.
    Itself,
    /// The value of a column of the current row, by position from 1 or by name.
    Get,
    /// Whether the value of the last `Get` was NULL.
    WasNull,
    /// Forgets rows or a statement.
    Close,
    /// Begins a transaction.
    Begin,
    /// Begins a transaction, unless one begins anyway, and gives the connection.
    Transaction,
    /// Ends the transaction, if there is anything to end.
    End,
    /// Ends the transaction.
    Commit,
    /// Undoes the transaction.
    Rollback,
    /// Switches between transactions and statements on their own: the argument.
    AutoCommit,
    /// Sets the isolation level: the argument.
    Isolation,
    /// Sets a point to go back to.
    Savepoint,
    /// Nothing that matters here, and not a reason to say anything.
    Nothing,
}

/// What a value is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Connection,
    Statement,
    Rows,
    /// Text that is a statement.
    SqlText,
    /// A text that is put together piece by piece.
    Builder,
    /// Several values.
    List,
    Whole,
    Real,
    Text,
    Bool,
    /// A date or a time.
    Time,
    /// Anything else: an object of some class.
    Object,
}

/// How values are marked in SQL. (Not every library has all of them.)
#[allow(dead_code)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marks {
    /// `?`
    Question,
    /// `%s` and `%(name)s`
    Percent,
    /// `:name`
    Colon,
}

/// The words of a host language and its database library.
pub(crate) trait Vocabulary: Sync {
    /// What a call does to a value of that sort; nothing if it is not the library's.
    fn act(&self, on: Sort, call: &Call) -> Option<Act>;
    /// What a call does whose receiver is not known to be the library's.
    fn act_anywhere(&self, call: &Call) -> Option<Act>;
    /// What a type of the language is good for.
    fn sort(&self, type_name: &str) -> Sort;
    /// The SQL type of a type of the language.
    fn sql_type(&self, type_name: &str) -> &'static str;
    /// What sort of value a getter gives; `Object` if its name does not say.
    fn result_sort(&self, getter: &str) -> Sort;
    /// What sort of value a setter takes; `Object` if its name does not say.
    fn setter_sort(&self, setter: &str) -> Sort;
    /// Whether a call that sends anything gives the statement back, for its rows.
    fn execute_gives_statement(&self) -> bool;
    /// The isolation level that a constant means: its last name, or its text.
    fn level(&self, constant: &str) -> Option<&'static str>;
    /// How values are marked in SQL.
    fn marks(&self) -> &'static [Marks];
    /// Whether whole numbers are divided into whole numbers.
    fn divides_whole(&self) -> bool;
    /// Whether the call of that name opens a connection that commits each statement, unless it is told otherwise.
    fn opens_autocommit(&self, _name: &str) -> bool {
        false
    }
    /// The methods that are a transaction whatever they are called from: their class gives the name.
    fn is_main(&self, _method: &str) -> bool {
        false
    }
    /// Whether what the source says of the types of variables can be relied upon. (C says it, but a pointer to a struct may
    /// come from anywhere.)
    fn says_types(&self) -> bool {
        false
    }
    /// Whether the methods that end transactions are the procedures, whoever calls them.
    fn roots_own_transactions(&self) -> bool {
        true
    }
}
