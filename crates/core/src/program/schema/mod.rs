//! The tables of a program: columns, keys, constraints.
//!
//! Read from `CREATE TABLE`, `ALTER TABLE … ADD`, `CREATE [UNIQUE] INDEX` and `CREATE VIEW`, as people write them and as
//! `pg_dump`, `mysqldump` and SQLite's `.dump` do. What else stands in such a file (SET, INSERT, COPY, COMMENT, LOCK
//! TABLES, …) is skipped without a word; what should be a definition and cannot be read is a diagnostic, and the rest of
//! the table is still read.
//!
//! Names are plain: without quotes, schema and case. Two tables that differ in nothing else become one.
//!
//! * `types`: what a type name means
//! * `read`: statements → tables
//! * [`advisory`]: tables that stand for advisory locks
//! * `elements`: a table whose statement is not understood, read one element at a time
//! * `remake`: tables → statements, for a system that does not take the original ones

mod types;
pub mod advisory;
mod read;
mod elements;
mod remake;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub(crate) use read::Reader;
pub use remake::Remade;
pub use types::{ColumnType, TypeKind};

use crate::program::diagnostic::Diagnostic;
use crate::program::front::Source;
use crate::program::ir::Span;
use crate::program::located::Language;
use crate::program::predicate::{Element, Predicate};
use crate::value::Value;

/// The tables of a program.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schema {
    /// By their plain names.
    pub tables: BTreeMap<String, Table>,
    /// Views, by their plain names.
    pub views: BTreeMap<String, View>,
}

impl Schema {
    /// Reads the definitions in a file, and says what it cannot read.
    pub fn read(text: &str, language: Language) -> (Schema, Vec<Diagnostic>) {
        let source = Source::new(text);
        let language = if language == Language::Any { source.language } else { language };
        let mut reader = Reader::new(Schema::default(), language);
        source.units().iter().for_each(|unit| reader.unit(unit));
        reader.finish()
    }

    /// The table of that name, in any case; also one that stands for [advisory locks](advisory).
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.get(&name.to_lowercase()).or_else(|| advisory::find(name))
    }

    /// The name of a table as it is written in its definition.
    pub fn written<'a>(&'a self, table: &'a str) -> &'a str {
        self.table(table).map_or(table, |table| &table.written)
    }

    /// The name of a column as it is written in its definition.
    pub fn written_column<'a>(&'a self, table: &str, column: &'a str) -> &'a str {
        self.table(table).and_then(|table| table.column(column)).map_or(column, |column| &column.written)
    }

    /// The type of a column.
    pub fn type_of(&self, element: &Element) -> Option<&ColumnType> {
        Some(&self.table(&element.table)?.column(&element.column)?.column_type)
    }
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its plain name.
    pub name: String,
    /// Its name as written, with quotes and schema: `public."User"`.
    pub written: String,
    /// Its columns, in order.
    pub columns: Vec<Column>,
    /// The columns of its primary key; empty if it has none.
    pub primary_key: Vec<String>,
    /// Its other unique keys.
    pub unique_keys: Vec<Key>,
    /// Its foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
    /// Its checks.
    pub checks: Vec<Check>,
    /// Its name, where it is created.
    pub span: Span,
}

impl Table {
    /// The column of that plain name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The primary key, and then every unique key: what a row can be found by.
    pub fn keys(&self) -> impl Iterator<Item = &[String]> {
        let primary = (!self.primary_key.is_empty()).then_some(self.primary_key.as_slice());
        primary.into_iter().chain(self.unique_keys.iter().map(|key| key.columns.as_slice()))
    }
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its plain name.
    pub name: String,
    /// Its name as written, with quotes.
    pub written: String,
    /// Its type.
    pub column_type: ColumnType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// What it gets if an INSERT does not name it.
    pub default: Option<DefaultValue>,
    /// Whether the server numbers its rows: AUTO_INCREMENT, SERIAL, IDENTITY.
    pub numbered: bool,
    /// Whether numbers of others are refused, unless they insist: GENERATED ALWAYS.
    pub forced: bool,
    /// Whether its value is computed from others.
    pub generated: bool,
    /// Its name, where it is defined.
    pub span: Span,
}

/// What a column gets if an INSERT does not name it.
#[derive(Debug, Clone, PartialEq)]
pub struct DefaultValue {
    /// As written.
    pub text: String,
    /// The value, if it is a constant.
    pub value: Option<Value>,
}

/// A unique key.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// Its columns. A key over expressions, or over some rows only, is not here: no row can be found by it for certain.
    pub columns: Vec<String>,
    /// Whether it is looked at only when a transaction commits: `INITIALLY DEFERRED`.
    pub is_deferred: bool,
    /// Where it is defined.
    pub span: Span,
}

/// What happens to a row when the row that it refers to goes or changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Action {
    /// The change is refused.
    #[default]
    Restrict,
    /// It goes or changes as well.
    Cascade,
    /// Its columns become NULL.
    SetNull,
    /// Its columns become their defaults.
    SetDefault,
}

/// A foreign key.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignKey {
    /// Its columns.
    pub columns: Vec<String>,
    /// The table that it refers to.
    pub table: String,
    /// The columns there: the primary key if none are named.
    pub referred: Vec<String>,
    /// When the row that it refers to is deleted.
    pub on_delete: Action,
    /// When the key of the row that it refers to is changed.
    pub on_update: Action,
    /// Whether it is looked at only when a transaction commits: `INITIALLY DEFERRED`.
    pub is_deferred: bool,
    /// Where it is defined.
    pub span: Span,
}

/// A check.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// As written.
    pub text: String,
    /// What must not be false.
    pub predicate: Predicate,
    /// Where it stands.
    pub span: Span,
}

/// A view.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// The names of its columns, if it names them.
    pub columns: Vec<String>,
    /// What it stands for.
    pub(crate) query: Box<sqlparser::ast::Query>,
    /// Its name, where it is created.
    pub span: Span,
}
