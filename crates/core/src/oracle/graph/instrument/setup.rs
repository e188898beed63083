//! The setup, made ready: tables get version columns, and rows their first versions.

use sqlparser::ast::{Assignment, AssignmentTarget, Expr, Insert, ObjectName, ObjectType, Statement, TableObject};

use super::schema::{Definition, FIRST_VERSION, Schema};
use super::text::{Parsed, last_plain, plain};
use super::versions::{self, integer};
use super::{Skip, refuse};
use crate::sql::{self, StatementKind};

/// What is known of the setup so far.
#[derive(Debug, Default)]
pub(super) struct Setup {
    pub(super) schema: Schema,
    /// The highest version that it mentions.
    pub(super) highest: i64,
}

impl Setup {
    /// Makes a statement ready.
    pub(super) fn prepare(&mut self, text: &str) -> Result<String, Skip> {
        let mut parsed = match Parsed::read(text) {
            Ok(parsed) => parsed,
            // Settings need not be understood.
            Err(_) if StatementKind::of(text) == StatementKind::Other => return Ok(text.to_string()),
            Err(_) => return Err(unreadable(text)),
        };
        refuse::chance(&parsed.statement)?;
        match &mut parsed.statement {
            Statement::CreateTable(create) => self.schema.create(create)?,
            Statement::CreateIndex(index) => self.schema.index(index)?,
            Statement::Insert(insert) => self.insert(insert)?,
            Statement::Update(update) => {
                let table = update.table.to_string();
                for assignment in &update.assignments {
                    self.note_assigned(assignment, &table)?;
                }
            }
            Statement::Drop { object_type: ObjectType::Table, names, .. } => {
                if names.iter().any(|name| self.schema.find(name).is_some()) {
                    return Err(Skip("a table that is dropped again"));
                }
            }
            Statement::Delete(_) | Statement::Query(_) | Statement::Set(_) | Statement::Pragma { .. } => {}
            Statement::Analyze(_) | Statement::StartTransaction { .. } | Statement::Commit { .. } => {}
            _ => return Err(unreadable(text)),
        }
        match parsed.statement {
            Statement::CreateTable(_) | Statement::Insert(_) => parsed.print(),
            _ => Ok(text.to_string()),
        }
    }

    fn insert(&mut self, insert: &mut Insert) -> Result<(), Skip> {
        let TableObject::TableName(name) = &insert.table else {
            return Err(Skip("an insert into something else than a table"));
        };
        let (_, table) = self.schema.written(name)?;
        if !table.is_added {
            let highest = highest(insert, table)?;
            self.highest = self.highest.max(highest);
        } else if insert.columns.is_empty() && insert.assignments.is_empty() && insert.source.is_some() {
            versions::rows(insert, &self.schema, table, FIRST_VERSION)?;
        }
        Ok(())
    }

    /// An UPDATE of the setup may set versions, too.
    fn note_assigned(&mut self, assignment: &Assignment, table: &str) -> Result<(), Skip> {
        let AssignmentTarget::ColumnName(column) = &assignment.target else { return Ok(()) };
        let is_version = |definition: &Definition| {
            sql::tokens(table).iter().any(|token| sql::plain_name(token.text) == last_plain(&definition.name))
                && plain(&definition.version) == last_plain(column)
        };
        if self.schema.tables.values().any(is_version) {
            self.highest = self.highest.max(constant(&assignment.value)?);
        }
        Ok(())
    }
}

fn constant(value: &Expr) -> Result<i64, Skip> {
    integer(value).ok_or(Skip("a version that is not a number"))
}

/// The highest version that an INSERT puts into a version column that the case has itself.
fn highest(insert: &Insert, table: &Definition) -> Result<i64, Skip> {
    let is_version = |column: &ObjectName| last_plain(column) == plain(&table.version);
    let default = || table.version_default.ok_or(Skip("a row without a version"));
    if !insert.assignments.is_empty() {
        let mut assigned = insert.assignments.iter();
        let version = assigned.find(|assignment| versions::assigned_column(assignment) == Some(plain(&table.version)));
        return version.map_or_else(default, |assignment| constant(&assignment.value));
    }
    let position = if insert.columns.is_empty() {
        Some(table.version_position())
    } else {
        insert.columns.iter().position(is_version)
    };
    let (Some(position), Some(source)) = (position, &insert.source) else { return default() };
    let values = versions::at(source, position);
    if values.is_empty() {
        return Err(Skip("a version that is not a number"));
    }
    values.into_iter().map(constant).try_fold(0, |highest, value| Ok(highest.max(value?)))
}

/// Why a statement of the setup cannot be followed: what it creates, if it says so.
fn unreadable(text: &str) -> Skip {
    let tokens = sql::tokens(text);
    let has = |word: &str| tokens.iter().take(8).any(|token| token.is_word(word));
    match tokens.first() {
        Some(first) if first.is_word("ALTER") => Skip("a table that is altered"),
        Some(first) if first.is_word("CREATE") && has("VIEW") => Skip("a view"),
        Some(first) if first.is_word("CREATE") && has("TRIGGER") => Skip("a trigger"),
        Some(first) if first.is_word("CREATE") && (has("FUNCTION") || has("PROCEDURE")) => {
            Skip("a stored procedure or function")
        }
        Some(first) if first.is_word("CREATE") && has("SEQUENCE") => Skip("numbers that the server hands out"),
        _ => Skip("a setup that cannot be read"),
    }
}
