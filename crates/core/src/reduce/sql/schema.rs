//! The tables that the setup creates.

use sqlparser::ast::{CreateTable, ObjectName, Statement};

use crate::case::{Case, Line};
use crate::sql;
use crate::sql::parse::parse;

/// A table of the setup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    /// Its name, in lower case and without quotes.
    pub(super) name: String,
    /// The names of its columns, likewise.
    pub(super) columns: Vec<String>,
}

/// The tables that the setup creates, in order.
pub(super) fn tables(case: &Case) -> Vec<Table> {
    let table = |line: &Line| match line {
        Line::Init(sql, _) => match parse(sql.as_str()) {
            Some(Statement::CreateTable(create)) => Some(table(&create)),
            _ => None,
        },
        _ => None,
    };
    case.entries.iter().filter_map(|entry| table(&entry.line)).collect()
}

fn table(create: &CreateTable) -> Table {
    let columns = create.columns.iter().map(|column| column.name.value.to_lowercase()).collect();
    Table { name: name_of(&create.name), columns }
}

/// The last part of a name, in lower case and without quotes.
pub(super) fn name_of(name: &ObjectName) -> String {
    let last = name.0.last().and_then(|part| part.as_ident());
    last.map_or_else(|| name.to_string(), |ident| ident.value.clone()).to_lowercase()
}

/// Whether a statement speaks of something by this name (in lower case).
pub(super) fn mentions(text: &str, name: &str) -> bool {
    sql::tokens(text).iter().any(|token| is_name(token, name))
}

/// Whether a token is this name (in lower case), quoted or not.
pub(super) fn is_name(token: &sql::Token<'_>, name: &str) -> bool {
    let is_word = matches!(token.kind, sql::TokenKind::Word | sql::TokenKind::Quoted);
    is_word && token.text.trim_matches(['"', '`']).to_lowercase() == name
}
