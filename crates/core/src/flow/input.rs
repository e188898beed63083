//! What the analysis is given: procedures as graphs of transactions, each with what it reads, writes, uses and defines.
//!
//! Nothing here knows SQL. A front-end says of each statement which elements it reads and writes, and the rules by
//! which it does so are these:
//!
//! * A statement reads the columns whose values it takes and those that its condition mentions. If it finds its rows by
//!   anything but the full primary key, it also reads the *existence* of rows, [`Element::Rows`].
//! * INSERT and DELETE write the existence of rows and every column of the table.
//! * A query that fills several variables is several operations, one for each, so that a variable comes only from
//!   what it is computed from. If one of the variables is used by the query, too, its operation comes last.
//! * A transaction is what ends at one commit point. An operation is [`certain`](Operation::certain) if every way
//!   to that commit passes it.

use std::fmt;

/// Something in the database that transactions share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Element {
    /// A column of a table. Prints as `table.column`.
    Column {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// Which rows there are in a table. Prints as `table.*`.
    Rows {
        /// The table.
        table: String,
    },
}

impl Element {
    /// A column of a table.
    pub fn column(table: impl Into<String>, column: impl Into<String>) -> Element {
        Element::Column { table: table.into(), column: column.into() }
    }

    /// The existence of a table's rows.
    pub fn rows(table: impl Into<String>) -> Element {
        Element::Rows { table: table.into() }
    }

    /// The table that it belongs to.
    pub fn table(&self) -> &str {
        match self {
            Element::Column { table, .. } | Element::Rows { table } => table,
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Column { table, column } => write!(f, "{table}.{column}"),
            Element::Rows { table } => write!(f, "{table}.*"),
        }
    }
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// It is read from the database.
    Element(Element),
    /// It is a host variable's value. A variable that nobody defines is an input of the procedure.
    Variable(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Element(element) => element.fmt(f),
            Source::Variable(variable) => f.write_str(variable),
        }
    }
}

/// What kind of statement an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// Reads.
    Select,
    /// Changes values of rows.
    Update,
    /// Adds rows.
    Insert,
    /// Removes rows.
    Delete,
    /// Computes in the host program.
    Assign,
    /// Chooses, in the host program, how to go on: an IF, the condition of a loop.
    Decide,
}

impl Verb {
    /// Whether it adds or removes rows.
    pub fn changes_rows(self) -> bool {
        matches!(self, Verb::Insert | Verb::Delete)
    }
}

/// One statement, as far as data flow goes. Everything that it writes or defines depends on everything that it reads or
/// uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// What kind of statement it is.
    pub verb: Verb,
    /// What the values that it returns or writes are computed from.
    pub values: Vec<Source>,
    /// What its rows are chosen by. Contains [`Element::Rows`] if they are searched, not addressed by their key.
    pub choice: Vec<Source>,
    /// What it writes.
    pub writes: Vec<Element>,
    /// The host variables that it defines.
    pub defines: Vec<String>,
    /// Whether it happens whenever its transaction (or piece of host code) does.
    pub certain: bool,
    /// The line in the source, from 1; 0 if it has none.
    pub line: usize,
}

impl Operation {
    /// An operation of that kind that does nothing yet.
    pub fn new(verb: Verb) -> Operation {
        Operation { verb, values: vec![], choice: vec![], writes: vec![], defines: vec![], certain: true, line: 0 }
    }

    /// Everything that it reads or uses.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.values.iter().chain(&self.choice)
    }

    /// The elements that it reads.
    pub fn reads(&self) -> impl Iterator<Item = &Element> {
        self.sources().filter_map(|source| match source {
            Source::Element(element) => Some(element),
            Source::Variable(_) => None,
        })
    }

    /// The host variables that it uses.
    pub fn uses(&self) -> impl Iterator<Item = &str> {
        self.sources().filter_map(|source| match source {
            Source::Variable(variable) => Some(variable.as_str()),
            Source::Element(_) => None,
        })
    }
}

/// A node of the transaction control-flow graph: a whole transaction, or host code between transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its name: `T1`.
    pub name: String,
    /// Whether it is a transaction.
    pub is_transaction: bool,
    /// What it does, in order.
    pub operations: Vec<Operation>,
    /// The nodes that may follow at once, as positions in [`Procedure::nodes`].
    pub successors: Vec<usize>,
    /// Whether the procedure may end here. A node without successors is always the last.
    pub may_end: bool,
    /// The line in the source, from 1; 0 if it has none.
    pub line: usize,
}

impl Node {
    /// Whether it writes to the database.
    pub fn writes(&self) -> bool {
        self.operations.iter().any(|operation| !operation.writes.is_empty())
    }
}

/// One application program; each instance of it has host variables of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Procedure {
    /// Its name.
    pub name: String,
    /// Its nodes; the first is where it begins.
    pub nodes: Vec<Node>,
}

/// Procedures that may run at the same time, on one database.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Application {
    /// The procedures.
    pub procedures: Vec<Procedure>,
}

/// One transaction of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransactionId {
    /// The position of its procedure.
    pub procedure: usize,
    /// The position of its node.
    pub node: usize,
}

impl Application {
    /// The node of a transaction.
    ///
    /// # Panics
    ///
    /// If the transaction is one of another application.
    pub fn node(&self, id: TransactionId) -> &Node {
        &self.procedures[id.procedure].nodes[id.node]
    }
}
