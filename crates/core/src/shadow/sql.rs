//! The language of the database: tables, rows and filled operations as SQL.
//!
//! Everything that does not depend on parameters is put together once, for a schema and a dialect; a statement is then a
//! few texts and literals written one after the other into a buffer that is used again:
//!
//! ```text
//!   UPDATE y SET attr0 = 'China', v = 4711 WHERE pk = 12
//!   └──────────┘          │           │              │
//!     once                Φ           the version    Φ
//! ```
//!
//! Every table has one more column, [`VERSION`]: the version that its last writer gave the row. That is how a reader
//! knows whose row it saw.

use std::fmt::Write as _;

use super::column::{Columns, Form, VirtualColumn};
use super::fill::Filled;
use super::measure::OperationKind;
use super::predicate::{Comparison, Condition, Predicate, Subject};
use super::schema::{LinkPlan, NamedColumn, Schema, Table};
use super::table::Shadow;
use crate::dialect::{Construct, Dialect};
use crate::engine::Version;

/// The column that holds the version of a row.
pub const VERSION: &str = "v";

/// What an engine lacks that a schema needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it does not have {0}")]
pub struct Lacking(&'static str);

/// A schema in the language of an engine.
#[derive(Debug, Clone)]
pub struct Sql {
    tables: Vec<TableSql>,
    creates: Vec<String>,
}

#[derive(Debug, Clone)]
struct TableSql {
    name: String,
    key: Vec<ColumnSql>,
    attributes: Vec<Vec<ColumnSql>>,
    /// The columns of references; `None` for a prefix, whose columns are the key's.
    references: Vec<ReferenceSql>,
    /// `INSERT INTO y (pk, attr0, fk0, v) VALUES (`
    insert: String,
    /// `SELECT v FROM y WHERE `
    item_read: String,
    /// `SELECT y.pk, y.v FROM y`
    predicate_read: String,
}

#[derive(Debug, Clone)]
struct ReferenceSql {
    table: usize,
    columns: Vec<ColumnSql>,
    is_prefix: bool,
    /// ` JOIN z ON y.fk0 = z.pk`
    join: String,
}

/// A column: its name, and what stands before and after its literals.
#[derive(Debug, Clone)]
struct ColumnSql {
    name: String,
    before: &'static str,
    after: &'static str,
}

impl Sql {
    /// The schema in the language of an engine.
    pub fn new(schema: &Schema, dialect: &dyn Dialect, version: &Version) -> Result<Sql, Lacking> {
        let language = Language { dialect, version };
        let table = |table: &Table| language.table(schema, table);
        let tables = schema.tables.iter().map(table).collect::<Result<Vec<_>, _>>()?;
        let create = |table: &Table| language.create(schema, table);
        let creates = schema.tables.iter().map(create).collect::<Result<Vec<_>, _>>()?;
        Ok(Sql { tables, creates })
    }

    /// The statements that create the tables, in this order.
    pub fn creates(&self, order: &[usize]) -> Vec<String> {
        order.iter().map(|table| self.creates[*table].clone()).collect()
    }

    /// The names of all columns of a table, in the order in which rows are written.
    pub fn columns(&self, table: usize) -> Vec<&str> {
        self.tables[table].written().map(|column| column.name.as_str()).chain([VERSION]).collect()
    }

    /// A filled operation as a statement, at the end of a buffer. A write gives the row this version.
    pub fn write(&self, shadow: &Shadow, filled: &Filled, version: i64, out: &mut String) {
        let table = &self.tables[filled.table];
        match filled.kind {
            Some(OperationKind::ItemRead) => {
                out.push_str(&table.item_read);
                self.write_key(shadow, filled, out);
            }
            Some(OperationKind::Update) => {
                push_all(out, &["UPDATE ", &table.name, " SET "]);
                self.write_assignments(shadow, filled, out);
                write_number(out, version);
                out.push_str(" WHERE ");
                self.write_key(shadow, filled, out);
            }
            Some(OperationKind::Delete) => {
                push_all(out, &["DELETE FROM ", &table.name, " WHERE "]);
                self.write_key(shadow, filled, out);
            }
            Some(OperationKind::Insert) => {
                out.push_str(&table.insert);
                self.write_row(shadow, filled, version, out);
                out.push(')');
            }
            Some(OperationKind::PredicateRead) => {
                out.push_str(&table.predicate_read);
                if let Some(reference) = filled.join.and_then(|at| table.references.get(at)) {
                    out.push_str(&reference.join);
                }
                if let Some(condition) = &filled.condition {
                    out.push_str(" WHERE ");
                    self.write_predicate(shadow, filled.table, &condition.predicate, out);
                }
            }
            None => {}
        }
    }

    /// A query for the key and the version of every row, and for its attributes.
    pub fn read_all(&self, table: usize) -> String {
        let table = &self.tables[table];
        let attributes = table.attributes.iter().flatten();
        let columns: Vec<&str> = table.key.iter().map(|column| column.name.as_str()).chain([VERSION]).collect();
        let columns: Vec<&str> = columns.into_iter().chain(attributes.map(|column| column.name.as_str())).collect();
        format!("SELECT {} FROM {}", columns.join(", "), table.name)
    }

    fn write_key(&self, shadow: &Shadow, filled: &Filled, out: &mut String) {
        let columns = shadow.tables()[filled.table].key();
        let number = filled.key.map_or(0, |key| key.number);
        write_each(&self.tables[filled.table].key, columns, number, " AND ", out);
    }

    fn write_assignments(&self, shadow: &Shadow, filled: &Filled, out: &mut String) {
        let (table, of) = (&self.tables[filled.table], &shadow.tables()[filled.table]);
        for (at, number) in &filled.attributes {
            write_each(&table.attributes[*at], of.attributes()[*at].columns(), *number, ", ", out);
            out.push_str(", ");
        }
        for (at, number) in &filled.references {
            let reference = &table.references[*at];
            if !reference.is_prefix {
                write_each(&reference.columns, shadow.tables()[reference.table].key(), *number, ", ", out);
                out.push_str(", ");
            }
        }
        push_all(out, &[VERSION, " = "]);
    }

    fn write_row(&self, shadow: &Shadow, filled: &Filled, version: i64, out: &mut String) {
        let (table, of) = (&self.tables[filled.table], &shadow.tables()[filled.table]);
        let mut list = |columns: &[ColumnSql], values: &Columns, number: u64| {
            for (at, column) in columns.iter().enumerate() {
                column.write(&values.columns()[at], values.digit(number, at), out);
                out.push_str(", ");
            }
        };
        list(&table.key, of.key(), filled.key.map_or(0, |key| key.number));
        for (at, number) in &filled.attributes {
            list(&table.attributes[*at], of.attributes()[*at].columns(), *number);
        }
        for (at, number) in &filled.references {
            let reference = &table.references[*at];
            if !reference.is_prefix {
                list(&reference.columns, shadow.tables()[reference.table].key(), *number);
            }
        }
        write_number(out, version);
    }

    fn write_predicate(&self, shadow: &Shadow, table: usize, predicate: &Predicate, out: &mut String) {
        let (parts, word) = match predicate {
            Predicate::Leaf(condition) => return self.write_condition(shadow, table, condition, out),
            Predicate::And(parts) => (parts, " AND "),
            Predicate::Or(parts) => (parts, " OR "),
        };
        for (at, part) in parts.iter().enumerate() {
            out.push_str(if at == 0 { "" } else { word });
            // Ranges are written with AND, what lies outside of them with OR.
            let is_simple = matches!(part, Predicate::Leaf(leaf) if leaf.comparison != Comparison::Outside);
            out.push_str(if is_simple { "" } else { "(" });
            self.write_predicate(shadow, table, part, out);
            out.push_str(if is_simple { "" } else { ")" });
        }
    }

    fn write_condition(&self, shadow: &Shadow, table: usize, condition: &Condition, out: &mut String) {
        let (sql, of) = (&self.tables[table], &shadow.tables()[table]);
        let (columns, values) = match condition.subject {
            Subject::Key => (&sql.key, of.key()),
            Subject::Attribute(at) => (&sql.attributes[at], of.attributes()[at].columns()),
        };
        let compare = |operator: &str, number: u64, out: &mut String| {
            write_names(&sql.name, columns, out);
            push_all(out, &[" ", operator, " "]);
            write_values(columns, values, number, out);
        };
        let (low, last) = (condition.low, condition.high.saturating_sub(1));
        match condition.comparison {
            Comparison::Equal => compare("=", low, out),
            Comparison::NotEqual => compare("<>", low, out),
            Comparison::Less => compare("<=", last, out),
            Comparison::AtLeast => compare(">=", low, out),
            Comparison::Within => {
                compare(">=", low, out);
                out.push_str(" AND ");
                compare("<=", last, out);
            }
            Comparison::Outside => {
                compare("<", low, out);
                out.push_str(" OR ");
                compare(">", last, out);
            }
        }
    }
}

impl TableSql {
    /// The columns that rows are made of, without the version.
    fn written(&self) -> impl Iterator<Item = &ColumnSql> {
        let references = self.references.iter().filter(|reference| !reference.is_prefix);
        let references = references.flat_map(|reference| &reference.columns);
        self.key.iter().chain(self.attributes.iter().flatten()).chain(references)
    }
}

impl ColumnSql {
    fn write(&self, column: &VirtualColumn, number: u64, out: &mut String) {
        out.push_str(self.before);
        let start = out.len();
        column.write(number, out);
        if matches!(column.form(), Form::Words(_) | Form::Text { .. }) && out[start..].contains('\'') {
            let escaped = out[start..].replace('\'', "''");
            out.replace_range(start.., &escaped);
        }
        out.push_str(self.after);
    }
}

fn push_all(out: &mut String, parts: &[&str]) {
    parts.iter().for_each(|part| out.push_str(part));
}

fn write_number(out: &mut String, number: i64) {
    write!(out, "{number}").expect("writing to a string does not fail");
}

/// `a = 1 AND b = 2`, or with commas.
fn write_each(columns: &[ColumnSql], values: &Columns, number: u64, between: &str, out: &mut String) {
    for (at, column) in columns.iter().enumerate() {
        push_all(out, &[if at == 0 { "" } else { between }, &column.name, " = "]);
        column.write(&values.columns()[at], values.digit(number, at), out);
    }
}

/// `y.a`, or `(y.a, y.b)`.
fn write_names(table: &str, columns: &[ColumnSql], out: &mut String) {
    let is_row = columns.len() > 1;
    out.push_str(if is_row { "(" } else { "" });
    for (at, column) in columns.iter().enumerate() {
        push_all(out, &[if at == 0 { "" } else { ", " }, table, ".", &column.name]);
    }
    out.push_str(if is_row { ")" } else { "" });
}

/// `1`, or `(1, 2)`.
fn write_values(columns: &[ColumnSql], values: &Columns, number: u64, out: &mut String) {
    let is_row = columns.len() > 1;
    out.push_str(if is_row { "(" } else { "" });
    for (at, column) in columns.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { ", " });
        column.write(&values.columns()[at], values.digit(number, at), out);
    }
    out.push_str(if is_row { ")" } else { "" });
}

/// What an engine's language is asked for.
#[derive(Clone, Copy)]
struct Language<'a> {
    dialect: &'a dyn Dialect,
    version: &'a Version,
}

impl Language<'_> {
    fn spelling(self, construct: Construct, what: &'static str) -> Result<&'static str, Lacking> {
        self.dialect.spelling(construct, self.version).map(|spelling| spelling.text).ok_or(Lacking(what))
    }

    fn column(self, name: &str, column: &VirtualColumn) -> Result<ColumnSql, Lacking> {
        let (before, after) = match column.form() {
            Form::Integer { .. } | Form::Decimal { .. } | Form::Quarters { .. } | Form::Boolean => ("", ""),
            Form::Bytes { .. } => (self.spelling(Construct::BytesLiteral, "literals of bytes")?, "'"),
            Form::Text { .. } | Form::Words(_) | Form::Date { .. } | Form::Time | Form::Timestamp { .. } => ("'", "'"),
        };
        Ok(ColumnSql { name: name.to_string(), before, after })
    }

    fn columns(self, columns: &[NamedColumn]) -> Result<Vec<ColumnSql>, Lacking> {
        columns.iter().map(|named| self.column(&named.name, &named.column)).collect()
    }

    fn table(self, schema: &Schema, table: &Table) -> Result<TableSql, Lacking> {
        let name = table.name.clone();
        let attributes = table.attributes.iter().map(|attribute| self.columns(&attribute.columns));
        let mut references = Vec::new();
        for plan in &table.references {
            let at = schema.position(&plan.table).unwrap_or(0);
            let parent = &schema.tables[at];
            let named = |(name, key): (&String, &NamedColumn)| self.column(name, &key.column);
            let columns = plan.columns.iter().zip(&parent.key).map(named).collect::<Result<Vec<_>, _>>()?;
            let on = |(own, key): (&String, &NamedColumn)| format!("{name}.{own} = {}.{}", parent.name, key.name);
            let on: Vec<String> = plan.columns.iter().zip(&parent.key).map(on).collect();
            let join = format!(" JOIN {} ON {}", parent.name, on.join(" AND "));
            references.push(ReferenceSql { table: at, columns, is_prefix: plan.link == LinkPlan::Prefix, join });
        }
        let keys: Vec<String> = table.key.iter().map(|column| format!("{name}.{}", column.name)).collect();
        let mut made = TableSql {
            key: self.columns(&table.key)?,
            attributes: attributes.collect::<Result<_, _>>()?,
            references,
            insert: String::new(),
            item_read: format!("SELECT {VERSION} FROM {name} WHERE "),
            predicate_read: format!("SELECT {}, {name}.{VERSION} FROM {name}", keys.join(", ")),
            name,
        };
        let written: Vec<&str> = made.written().map(|column| column.name.as_str()).chain([VERSION]).collect();
        made.insert = format!("INSERT INTO {} ({}) VALUES (", made.name, written.join(", "));
        Ok(made)
    }

    fn create(self, schema: &Schema, table: &Table) -> Result<String, Lacking> {
        let mut parts = Vec::new();
        let keys = table.key.iter();
        for named in keys.chain(table.attributes.iter().flat_map(|attribute| &attribute.columns)) {
            parts.push(format!("{} {} NOT NULL", named.name, self.type_of(&named.column)?));
        }
        let mut foreign = Vec::new();
        for plan in &table.references {
            let parent = schema.tables.iter().find(|parent| parent.name == plan.table);
            let parent_key = parent.map_or(&[][..], |parent| &parent.key);
            if plan.link != LinkPlan::Prefix {
                for (name, key) in plan.columns.iter().zip(parent_key) {
                    parts.push(format!("{name} {} NOT NULL", self.type_of(&key.column)?));
                }
            }
            let names: Vec<&str> = parent_key.iter().map(|key| key.name.as_str()).collect();
            let columns = plan.columns.join(", ");
            foreign.push(format!("FOREIGN KEY ({columns}) REFERENCES {} ({})", plan.table, names.join(", ")));
        }
        parts.push(format!("{VERSION} {} NOT NULL", self.spelling(Construct::BigInt, "large whole numbers")?));
        let keys: Vec<&str> = table.key.iter().map(|column| column.name.as_str()).collect();
        parts.push(format!("PRIMARY KEY ({})", keys.join(", ")));
        parts.extend(foreign);
        Ok(format!("CREATE TABLE {} ({})", table.name, parts.join(", ")))
    }

    fn type_of(self, column: &VirtualColumn) -> Result<String, Lacking> {
        let plain = |construct, what| self.spelling(construct, what).map(str::to_string);
        match column.form() {
            Form::Integer { .. } => plain(Construct::BigInt, "large whole numbers"),
            Form::Decimal { scale, .. } => {
                Ok(format!("{}(20, {scale})", self.spelling(Construct::Decimal, "decimal numbers")?))
            }
            Form::Quarters { .. } => plain(Construct::Double, "floating-point numbers"),
            Form::Text { .. } | Form::Words(_) => {
                Ok(format!("{}({})", self.spelling(Construct::Varchar, "texts")?, column.width()))
            }
            Form::Date { .. } => plain(Construct::Date, "days"),
            Form::Time => plain(Construct::Time, "times of the day"),
            Form::Timestamp { .. } => plain(Construct::Timestamp, "timestamps"),
            Form::Bytes { .. } => plain(Construct::Blob, "byte strings"),
            Form::Boolean => plain(Construct::Boolean, "truth values"),
        }
    }
}

#[cfg(test)]
mod tests;
