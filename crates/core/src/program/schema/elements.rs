//! A table whose statement is not understood, read one element at a time.
//!
//! One word that the parser does not know must not cost the whole table. So each column or constraint between the
//! commas is read as if it were the only one, and only those that cannot be read are complained about.

use sqlparser::ast::Statement;

use super::Table;
use super::read::Reader;
use crate::program::diagnostic::{Diagnostic, Severity};
use crate::program::front::Unit;
use crate::program::located::Located;
use crate::sql::{self, Token};

impl Reader {
    /// Reads what can be read; `complaint` is said if that is nothing.
    pub(super) fn elements(&mut self, unit: &Unit<'_>, complaint: Diagnostic) {
        let Some(open) = unit.tokens.iter().position(|token| token.is_symbol("(")).filter(|open| *open > 1) else {
            self.diagnostics.push(complaint);
            return;
        };
        let name = &unit.tokens[open - 1];
        let mut table = Table::new(sql::plain_name(name.text), written(&unit.tokens[..open]), unit.span_of(&name.span));
        let before = self.diagnostics.len();
        for element in elements(&unit.tokens[open..]) {
            let (Some(first), Some(last)) = (element.first(), element.last()) else { continue };
            let range = first.span.start..last.span.end;
            let text = &unit.text[range.start - unit.span.start..range.end - unit.span.start];
            let located = Located::wrapped("CREATE TABLE t (", text, unit.span_of(&range), ")");
            match located.parse(self.language) {
                Ok(Statement::CreateTable(create)) => {
                    create.columns.iter().for_each(|column| self.column(&mut table, column, &located));
                    create.constraints.iter().for_each(|one| self.constraint(&mut table, one, &located));
                }
                Ok(_) => {}
                Err(complaint) => {
                    let message = complaint.message.replace("the statement", &format!("a part of {}", table.name));
                    // The rest of the table is there.
                    self.diagnostics.push(Diagnostic { message, severity: Severity::Warning, ..complaint });
                }
            }
        }
        // What follows the list may be all that is not understood: then nothing is missing.
        if table.columns.is_empty() && self.diagnostics.len() == before {
            self.diagnostics.push(complaint);
        }
        self.add(table);
    }
}

/// The name at the end of these tokens, with its schema.
fn written(tokens: &[Token<'_>]) -> String {
    match tokens {
        [.., schema, dot, name] if dot.is_symbol(".") => format!("{}.{}", schema.text, name.text),
        _ => tokens.last().map_or(String::new(), |name| name.text.to_string()),
    }
}

/// The parts, between commas, of the parenthesised list that these tokens begin with.
fn elements<'a, 'b>(list: &'b [Token<'a>]) -> Vec<&'b [Token<'a>]> {
    let mut depth = 0_usize;
    let mut parts = Vec::new();
    let mut start = 1;
    for (at, token) in list.iter().enumerate() {
        depth += usize::from(token.is_symbol("("));
        let closes = token.is_symbol(")");
        depth = depth.saturating_sub(usize::from(closes));
        if (closes && depth == 0) || (depth == 1 && token.is_symbol(",")) {
            parts.push(&list[start..at]);
            start = at + 1;
        }
        if closes && depth == 0 {
            return parts;
        }
    }
    parts.push(&list[start.min(list.len())..]);
    parts
}
