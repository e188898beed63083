//! The little that must be known of tables to fill them.

use std::cmp::Ordering;
use std::fmt;

use crate::program::BinaryOp;
use crate::program::predicate::{Predicate, Term};
use crate::program::schema::{self as program, ColumnType, TypeKind};
use crate::value::Value;

/// Tables to be filled. Their names, and those of their columns, are plain and unique.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schema {
    /// The tables, in any order.
    pub tables: Vec<Table>,
}

impl Schema {
    /// The table of that name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its keys, the primary key among them: each a list of columns whose values no two rows share.
    pub keys: Vec<Vec<String>>,
    /// Its foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
    /// Its checks: none of them may be false.
    pub checks: Vec<Check>,
}

impl Table {
    /// The position of a column.
    pub fn position(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|it| it.name == column)
    }
}

/// A column. Those of a primary key are not nullable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What values it has.
    pub kind: Kind,
    /// Whether it may be NULL.
    pub nullable: bool,
}

/// A kind of values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Integer,
    /// Numbers with a fraction.
    Decimal,
    /// Strings, of at most so many characters.
    Text(Option<usize>),
    /// Truth values.
    Boolean,
    /// Days, as `2024-01-31`.
    Date,
    /// Times of day, as `23:59:00`.
    Time,
    /// Days with a time.
    Timestamp,
    /// Byte strings.
    Bytes,
    /// One of a few values.
    OneOf(Vec<Value>),
}

/// A foreign key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKey {
    /// Its columns.
    pub columns: Vec<String>,
    /// The table that it refers to.
    pub table: String,
    /// The columns there, as many.
    pub referred: Vec<String>,
}

/// A check: a column compared with a constant or with another column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The column on the left.
    pub column: String,
    /// How they are compared.
    pub comparison: Comparison,
    /// What it is compared with.
    pub with: Operand,
}

/// The right side of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand {
    /// A constant.
    Constant(Value),
    /// Another column of the same row.
    Column(String),
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

impl Comparison {
    /// Whether it is true of two values; not false if one of them is NULL. Texts that some engine takes for equal are.
    pub fn holds(self, left: &Value, right: &Value) -> bool {
        if *left == Value::Null || *right == Value::Null {
            return true;
        }
        let ordering = folded(left).cmp(&folded(right));
        match self {
            Comparison::Equal => ordering == Ordering::Equal,
            Comparison::NotEqual => ordering != Ordering::Equal,
            Comparison::Less => ordering == Ordering::Less,
            Comparison::LessEqual => ordering != Ordering::Greater,
            Comparison::Greater => ordering == Ordering::Greater,
            Comparison::GreaterEqual => ordering != Ordering::Less,
        }
    }

    /// How it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Comparison::Equal => "=",
            Comparison::NotEqual => "<>",
            Comparison::Less => "<",
            Comparison::LessEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterEqual => ">=",
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", self.column, self.comparison.sign())?;
        match &self.with {
            Operand::Constant(value) => value.fmt(f),
            Operand::Column(column) => f.write_str(column),
        }
    }
}

/// What no engine tells apart: some collations ignore case, some blanks at the end.
pub(super) fn folded(value: &Value) -> Value {
    match value {
        Value::Text(text) => Value::Text(text.trim_end_matches(' ').to_lowercase()),
        other => other.clone(),
    }
}

/// The tables of a program, as far as filling them goes.
impl From<&program::Schema> for Schema {
    fn from(schema: &program::Schema) -> Schema {
        Schema { tables: schema.tables.values().map(|table| from_table(table, schema)).collect() }
    }
}

fn from_table(table: &program::Table, schema: &program::Schema) -> Table {
    let is_key = |column: &program::Column| table.primary_key.contains(&column.name);
    let columns = table.columns.iter().filter(|column| !column.generated).map(|column| Column {
        name: column.name.clone(),
        kind: Kind::from(&column.column_type),
        nullable: column.nullable && !is_key(column),
    });
    let foreign_key = |key: &program::ForeignKey| ForeignKey {
        columns: key.columns.clone(),
        table: key.table.clone(),
        referred: match key.referred.as_slice() {
            [] => schema.table(&key.table).map(|table| table.primary_key.clone()).unwrap_or_default(),
            named => named.to_vec(),
        },
    };
    let known = |key: &ForeignKey| schema.table(&key.table).is_some() && key.columns.len() == key.referred.len();
    Table {
        name: table.name.clone(),
        columns: columns.collect(),
        keys: table.keys().map(<[String]>::to_vec).collect(),
        foreign_keys: table.foreign_keys.iter().map(foreign_key).filter(known).collect(),
        checks: table.checks.iter().flat_map(|check| checks(&check.predicate)).collect(),
    }
}

/// The parts of a condition that compare a column with a constant or another column; all of them must hold.
fn checks(predicate: &Predicate) -> Vec<Check> {
    match predicate {
        Predicate::And(all) => all.iter().flat_map(checks).collect(),
        Predicate::Compare { op, left: Term::Column(column), right, .. } => {
            let with = match right {
                Term::Constant(value) => Operand::Constant(value.clone()),
                Term::Column(other) => Operand::Column(other.element.column.clone()),
                _ => return Vec::new(),
            };
            let comparison = match op {
                BinaryOp::Equal => Comparison::Equal,
                BinaryOp::NotEqual => Comparison::NotEqual,
                BinaryOp::Less => Comparison::Less,
                BinaryOp::LessEqual => Comparison::LessEqual,
                BinaryOp::Greater => Comparison::Greater,
                BinaryOp::GreaterEqual => Comparison::GreaterEqual,
                _ => return Vec::new(),
            };
            vec![Check { column: column.element.column.clone(), comparison, with }]
        }
        _ => Vec::new(),
    }
}

impl From<&ColumnType> for Kind {
    fn from(column: &ColumnType) -> Kind {
        /// So many values of a type with a form of its own are enough for every row that is made.
        const FORMED: usize = 64;
        if column.has_form() {
            return Kind::OneOf((1..=FORMED).filter_map(|number| column.formed(number)).collect());
        }
        match column.kind {
            TypeKind::Integer => Kind::Integer,
            TypeKind::Decimal | TypeKind::Float => Kind::Decimal,
            TypeKind::Boolean => Kind::Boolean,
            TypeKind::Date => Kind::Date,
            TypeKind::Time => Kind::Time,
            TypeKind::Timestamp => Kind::Timestamp,
            TypeKind::Bytes => Kind::Bytes,
            TypeKind::Enumeration => Kind::OneOf(column.values.iter().cloned().map(Value::Text).collect()),
            TypeKind::Text | TypeKind::Other => {
                Kind::Text(column.length.and_then(|length| usize::try_from(length).ok()))
            }
        }
    }
}
