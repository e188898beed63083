//! Tables → statements, for a system that does not take the original ones.
//!
//! A dump is written for one system: ``` `id` int(11) NOT NULL AUTO_INCREMENT ``` is nothing to PostgreSQL, and
//! `DEFAULT nextval('acc_id_seq'::regclass)` is nothing to anybody else. What was read of a table is enough to make one
//! that holds the same rows and refuses the same ones: columns, types, defaults, keys, references, and the checks that
//! are understood. Indexes that are no keys, triggers, views and what computes a column are lost.

use std::collections::BTreeSet;

use crate::dialect::Dialect;
use crate::program::predicate::{Predicate, Term};
use crate::program::schema::{Action, Column, ForeignKey, Schema, Table, TypeKind};
use crate::sql::{self, TokenKind};

/// Whose statements are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum System {
    Postgres,
    MySql,
    Sqlite,
    H2,
}

impl System {
    fn of(dialect: &dyn Dialect) -> System {
        match dialect.name() {
            "postgres" => System::Postgres,
            "mysql" => System::MySql,
            "h2" => System::H2,
            _ => System::Sqlite,
        }
    }

    /// A name such that statements find it that write it without quotes.
    fn name(self, plain: &str, written: &str) -> String {
        match self {
            System::Postgres => format!("\"{plain}\""),
            System::MySql => format!("`{}`", sql::unquoted_name(written)),
            System::Sqlite => format!("\"{}\"", sql::unquoted_name(written)),
            System::H2 => plain.to_string(),
        }
    }
}

/// Tables in another system's language.
#[derive(Debug, Clone)]
pub struct Remade {
    /// The tables, with their new names.
    pub schema: Schema,
    /// The statements that create them.
    pub statements: Vec<String>,
    system: System,
    /// The names of schemas, which are gone.
    dropped: BTreeSet<String>,
}

impl Schema {
    /// The same tables in another system's language.
    pub fn remade(&self, dialect: &dyn Dialect) -> Remade {
        let mut schema = self.clone();
        let (system, mut dropped) = (System::of(dialect), BTreeSet::new());
        for table in schema.tables.values_mut() {
            let (qualifier, last) = table.written.rsplit_once('.').unwrap_or(("", &table.written));
            dropped.insert(sql::plain_name(qualifier));
            table.written = system.name(&table.name, last);
            for column in &mut table.columns {
                column.written = system.name(&column.name, &column.written);
                column.forced = false;
            }
        }
        let maker = Maker { system, dialect, schema: &schema };
        let tables = schema.tables.values().map(|table| maker.table(table));
        let references = schema.tables.values().flat_map(|table| maker.late_references(table));
        let statements = tables.chain(references).collect();
        Remade { schema, statements, system, dropped }
    }
}

impl Remade {
    /// A statement about these tables, or a part of one: its names in the quotes of the system, without schemas.
    pub fn restated(&self, sql: &str) -> String {
        let tokens = sql::tokens(sql);
        let (mut restated, mut done) = (String::new(), 0);
        for (at, token) in tokens.iter().enumerate() {
            if token.span.start < done {
                continue;
            }
            let plain = || sql::plain_name(token.text);
            let dot = tokens.get(at + 1).filter(|next| next.is_symbol("."));
            let is_name = matches!(token.kind, TokenKind::Word | TokenKind::Quoted);
            restated.push_str(&sql[done..token.span.start]);
            done = token.span.end;
            match dot.filter(|_| is_name && self.dropped.contains(&plain())) {
                Some(dot) => done = dot.span.end,
                None if token.kind == TokenKind::Quoted => restated.push_str(&self.system.name(&plain(), token.text)),
                None => restated.push_str(token.text),
            }
        }
        restated + &sql[done..]
    }
}

struct Maker<'a> {
    system: System,
    dialect: &'a dyn Dialect,
    schema: &'a Schema,
}

impl Maker<'_> {
    fn table(&self, table: &Table) -> String {
        let mut parts: Vec<String> = table.columns.iter().map(|column| self.column(table, column)).collect();
        if !table.primary_key.is_empty() && !self.is_row_number(table) {
            parts.push(format!("PRIMARY KEY ({})", names(table, &table.primary_key)));
        }
        let keys = table.unique_keys.iter().map(|key| format!("UNIQUE ({})", names(table, &key.columns)));
        parts.extend(keys);
        let checks = table.checks.iter().filter_map(|check| self.condition(table, &check.predicate));
        parts.extend(checks.map(|condition| format!("CHECK ({condition})")));
        if self.system == System::Sqlite {
            parts.extend(table.foreign_keys.iter().filter_map(|key| self.reference(table, key)));
        }
        format!("CREATE TABLE {} ({})", table.written, parts.join(", "))
    }

    /// Whether the table is numbered as only SQLite's `INTEGER PRIMARY KEY` is.
    fn is_row_number(&self, table: &Table) -> bool {
        let is_numbered = |name: &String| table.column(name).is_some_and(|column| column.numbered);
        self.system == System::Sqlite && table.primary_key.len() == 1 && table.primary_key.iter().all(is_numbered)
    }

    fn column(&self, table: &Table, column: &Column) -> String {
        let mut text = format!("{} {}", column.written, self.type_of(table, column));
        let keys = || table.unique_keys.iter().map(|key| &key.columns).chain([&table.primary_key]);
        let is_key = keys().any(|key| key.first() == Some(&column.name));
        if self.is_row_number(table) && table.primary_key.contains(&column.name) {
            return format!("{} INTEGER PRIMARY KEY", column.written);
        }
        if !column.nullable {
            text.push_str(" NOT NULL");
        }
        match (column.numbered, self.system) {
            (true, System::Postgres | System::H2) => text.push_str(" GENERATED BY DEFAULT AS IDENTITY"),
            (true, System::MySql) if is_key => text.push_str(" AUTO_INCREMENT"),
            _ => text.push_str(&self.default(column).map(|value| format!(" DEFAULT {value}")).unwrap_or_default()),
        }
        text
    }

    fn default(&self, column: &Column) -> Option<String> {
        let default = column.default.as_ref()?;
        let kind = column.column_type.kind;
        if let Some(value) = &default.value {
            // MySQL has no defaults of long strings.
            let is_long = matches!(kind, TypeKind::Text | TypeKind::Bytes | TypeKind::Other);
            let is_refused = self.system == System::MySql && is_long && column.column_type.length.is_none();
            return (!is_refused).then(|| self.dialect.literal(value));
        }
        let word = default.text.to_lowercase();
        let is_clock = ["current_timestamp", "now(", "current_date", "current_time", "localtimestamp"];
        let is_clock = is_clock.iter().any(|clock| word.trim_start_matches('(').starts_with(clock));
        match (is_clock, kind) {
            (true, TypeKind::Timestamp) if self.system == System::MySql => Some("CURRENT_TIMESTAMP(6)".to_string()),
            (true, TypeKind::Timestamp) => Some("CURRENT_TIMESTAMP".to_string()),
            _ => None,
        }
    }

    fn type_of(&self, table: &Table, column: &Column) -> String {
        let kind = &column.column_type;
        let word = kind.name.to_lowercase();
        let is_in_key = table.primary_key.contains(&column.name)
            || table.unique_keys.iter().any(|key| key.columns.contains(&column.name))
            || self.is_referred(table, column);
        let long =
            |text: &str, key: &str| if self.system == System::MySql && is_in_key { key } else { text }.to_string();
        match kind.kind {
            TypeKind::Integer if word.contains("big") || word.contains('8') || word.contains("unsigned") => {
                "BIGINT".to_string()
            }
            TypeKind::Integer => "INT".to_string(),
            TypeKind::Decimal => match (kind.length, kind.scale) {
                (Some(length), scale) => format!("DECIMAL({length}, {})", scale.unwrap_or(0)),
                (None, _) => "DECIMAL(30, 6)".to_string(),
            },
            TypeKind::Float => "DOUBLE PRECISION".to_string(),
            TypeKind::Boolean => "BOOLEAN".to_string(),
            TypeKind::Text | TypeKind::Enumeration | TypeKind::Other => match kind.length {
                Some(length) if kind.kind == TypeKind::Text => format!("VARCHAR({length})"),
                _ => long("TEXT", "VARCHAR(255)"),
            },
            TypeKind::Bytes => match self.system {
                System::Postgres => "BYTEA".to_string(),
                System::H2 => "VARBINARY".to_string(),
                System::MySql | System::Sqlite => long("BLOB", "VARBINARY(255)"),
            },
            TypeKind::Date => "DATE".to_string(),
            TypeKind::Time => "TIME".to_string(),
            TypeKind::Timestamp if self.system == System::MySql => "DATETIME(6)".to_string(),
            TypeKind::Timestamp => "TIMESTAMP".to_string(),
        }
    }

    /// Whether a column is part of a foreign key, on either side.
    fn is_referred(&self, table: &Table, column: &Column) -> bool {
        let refers = |key: &ForeignKey| key.columns.contains(&column.name);
        let mut others = self.schema.tables.values().flat_map(|other| &other.foreign_keys);
        table.foreign_keys.iter().any(refers)
            || others.any(|key| key.table == table.name && key.referred.contains(&column.name))
    }

    /// The references of a table, where they can only be made when all tables are there.
    fn late_references(&self, table: &Table) -> Vec<String> {
        let keys = table.foreign_keys.iter().filter(|_| self.system != System::Sqlite);
        let added = |reference| format!("ALTER TABLE {} ADD {reference}", table.written);
        keys.filter_map(|key| self.reference(table, key)).map(added).collect()
    }

    fn reference(&self, table: &Table, key: &ForeignKey) -> Option<String> {
        let referred = self.schema.table(&key.table)?;
        let mut text = format!(
            "FOREIGN KEY ({}) REFERENCES {} ({})",
            names(table, &key.columns),
            referred.written,
            names(referred, &key.referred)
        );
        for (event, action) in [("DELETE", key.on_delete), ("UPDATE", key.on_update)] {
            let action = match action {
                Action::Restrict => continue,
                Action::Cascade => "CASCADE",
                Action::SetNull => "SET NULL",
                Action::SetDefault => "SET DEFAULT",
            };
            text.push_str(&format!(" ON {event} {action}"));
        }
        Some(text)
    }

    /// A condition, if all of it is understood.
    fn condition(&self, table: &Table, predicate: &Predicate) -> Option<String> {
        let joined = |inner: &[Predicate], word: &str| {
            let inner: Option<Vec<String>> = inner.iter().map(|one| self.condition(table, one)).collect();
            Some(format!("({})", inner?.join(word)))
        };
        match predicate {
            Predicate::True | Predicate::Exists(_) | Predicate::Among { .. } | Predicate::Any(_) => None,
            Predicate::And(inner) => joined(inner, " AND "),
            Predicate::Or(inner) => joined(inner, " OR "),
            Predicate::Not(inner) => Some(format!("NOT ({})", self.condition(table, inner)?)),
            Predicate::Compare { op, left, right } => {
                Some(format!("{} {op} {}", self.term(table, left)?, self.term(table, right)?))
            }
            Predicate::IsNull(term) => Some(format!("{} IS NULL", self.term(table, term)?)),
            Predicate::In { term, list } => {
                let list: Option<Vec<String>> = list.iter().map(|one| self.term(table, one)).collect();
                Some(format!("{} IN ({})", self.term(table, term)?, list?.join(", ")))
            }
        }
    }

    fn term(&self, table: &Table, term: &Term) -> Option<String> {
        Some(match term {
            Term::Column(column) => table.column(&column.element.column)?.written.clone(),
            Term::Constant(value) => self.dialect.literal(value),
            Term::Variable(_) | Term::Aggregate(_) | Term::Query(_) | Term::Any(_) => return None,
            Term::Negate(inner) => format!("-({})", self.term(table, inner)?),
            Term::Choice { condition, then, otherwise } => {
                let (then, otherwise) = (self.term(table, then)?, self.term(table, otherwise)?);
                format!("CASE WHEN {} THEN {then} ELSE {otherwise} END", self.condition(table, condition)?)
            }
            Term::Arithmetic { op, left, right } => {
                format!("({} {op} {})", self.term(table, left)?, self.term(table, right)?)
            }
        })
    }
}

fn names(table: &Table, columns: &[String]) -> String {
    let written = |name: &String| table.column(name).map_or(name.clone(), |column| column.written.clone());
    columns.iter().map(written).collect::<Vec<_>>().join(", ")
}
