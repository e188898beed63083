//! A SQL statement of a routine as text with holes: which of its names are variables.
//!
//! The languages write variables without a colon, so a name may be a column, a variable, an alias, a function. The
//! parser tells: only a name that stands for a *value* can be a variable, and then it is one if one of that name is
//! declared. (A statement that the parser does not understand is searched by words; that it is not understood is said
//! when it is analysed.)

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};

use sqlparser::ast::{Expr, Ident, ObjectName, Statement as Tree, Visit, Visitor};

use super::body::{Body, Flavor};
use super::names::Binding;
use crate::program::access;
use crate::program::cursor::Cursor;
use crate::program::diagnostic::Diagnostic;
use crate::program::ir::{IntoClause, IntoRule, Span, SqlPart, SqlStatement, SqlText, Variable};
use crate::program::located::{Located, last_plain, plain};
use crate::sql::{self, Token, TokenKind};

/// INTO with its targets, among the tokens of a statement.
struct IntoTokens {
    /// Their positions.
    range: Range<usize>,
    is_strict: bool,
    /// Each target: a name, perhaps with a field, and where it stands.
    targets: Vec<(String, Option<String>, Span)>,
}

impl Body<'_, '_> {
    /// A statement, with something put before it.
    pub(super) fn holes(&mut self, tokens: &Cursor<'_>, prefix: &str) -> SqlStatement {
        let all = tokens.rest();
        let (Some(first), Some(last)) = (all.first(), all.last()) else { return SqlStatement { parts: Vec::new() } };
        let whole = tokens.span(first.span.start, last.span.end);
        let into = self.take_into(tokens);
        let texts = match &into {
            None => vec![whole],
            Some(into) => {
                let before = into.range.start.checked_sub(1).map(|at| all[at].span.end);
                let after = all.get(into.range.end).map(|_| all[into.range.end - 1].span.end);
                let before = before.map(|end| tokens.span(whole.start, end));
                before.into_iter().chain(after.map(|start| tokens.span(start, whole.end))).collect()
            }
        };
        let draft = self.draft(tokens, &texts, prefix);
        let located = Located::statement(&draft, whole);
        let tree = located.parse(self.language).ok();
        let uses = match &tree {
            Some(tree) => self.uses_in_tree(tree, &located, tokens.source()),
            None => self.uses_in_words(tokens, &texts),
        };
        let clause = into.map(|into| self.clause_of(&into, tree.as_ref(), &located));
        self.cut(draft, &uses, clause)
    }

    /// The texts of a statement before its variables are known; the prefix belongs to the first.
    fn draft(&self, tokens: &Cursor<'_>, texts: &[Span], prefix: &str) -> SqlStatement {
        let part = |(at, span): (usize, &Span)| {
            let lead = if at == 0 { prefix } else { "" };
            let text = format!("{lead}{}", &tokens.source()[span.start..span.end]);
            SqlPart::Text(SqlText { text, lead: lead.len(), span: *span })
        };
        SqlStatement { parts: texts.iter().enumerate().map(part).collect() }
    }

    /// Finds INTO, as against `INSERT INTO`.
    fn take_into(&mut self, tokens: &Cursor<'_>) -> Option<IntoTokens> {
        let all = tokens.rest();
        let inserts = ["INSERT", "REPLACE", "MERGE"].iter().any(|verb| all.first().is_some_and(|t| t.is_word(verb)));
        let mut depth = 0_usize;
        let mut found = all.iter().enumerate().filter(|(_, token)| {
            depth = (depth + usize::from(token.is_symbol("("))).saturating_sub(usize::from(token.is_symbol(")")));
            depth == 0 && token.is_word("INTO")
        });
        let start = if inserts { found.nth(1)?.0 } else { found.next()?.0 };
        let is_strict = all.get(start + 1).is_some_and(|token| token.is_word("STRICT"));
        let mut at = start + 1 + usize::from(is_strict);
        let mut targets = Vec::new();
        let is_name = |at: usize| all.get(at).is_some_and(|t| matches!(t.kind, TokenKind::Word | TokenKind::Quoted));
        let is = |at: usize, symbol: &str| all.get(at).is_some_and(|token| token.is_symbol(symbol));
        while is_name(at) {
            let name = sql::plain_name(all[at].text);
            let has_field = is(at + 1, ".") && is_name(at + 2);
            let last = if has_field { at + 2 } else { at };
            let field = has_field.then(|| sql::plain_name(all[last].text));
            targets.push((name, field, tokens.span(all[at].span.start, all[last].span.end)));
            at = last + 1;
            if !is(at, ",") {
                break;
            }
            at += 1;
        }
        (!targets.is_empty()).then_some(IntoTokens { range: start..at, is_strict, targets })
    }

    fn clause_of(&mut self, into: &IntoTokens, tree: Option<&Tree>, located: &Located) -> IntoClause {
        let mut variables = Vec::new();
        for (name, field, span) in &into.targets {
            let variable = match field {
                Some(field) => Some(self.field(name, field, *span)),
                None if self.is_record(name) => {
                    let outputs = tree.map(|tree| access::of_tree(tree, located, self.schema).0.outputs);
                    variables.extend(self.record_variables(name, &outputs.unwrap_or_default(), *span));
                    continue;
                }
                None => self.known(name),
            };
            match variable {
                Some(name) => variables.push(Variable { name, span: *span }),
                None => {
                    let visible = self.names.visible();
                    let hint = crate::suggest::hint(name, visible.keys().map(String::as_str));
                    let diagnostic = Diagnostic::error(*span, format!("the variable {name} is not declared"));
                    self.diagnostics.push(diagnostic.with_hint(hint.trim_start_matches("; ")));
                    // The others must keep their columns.
                    let unknown = self.names.add_implicit(name, "TEXT");
                    variables.push(Variable { name: unknown, span: *span });
                }
            }
        }
        let rule = match (self.flavor, into.is_strict) {
            (Flavor::MySql, _) => IntoRule::Keep,
            (Flavor::PlPgSql, true) => IntoRule::Strict,
            (Flavor::PlPgSql, false) => IntoRule::First,
        };
        IntoClause { variables, rule }
    }

    /// The values in a syntax tree that are variables.
    fn uses_in_tree(&mut self, tree: &Tree, located: &Located, source: &str) -> Vec<Variable> {
        let mut values = Values::default();
        let _ = tree.visit(&mut values);
        let is_insert = matches!(tree, Tree::Insert(_));
        let mut uses = Vec::new();
        for (qualifier, name) in &values.names {
            let span = located.name(name);
            let variable = match qualifier {
                None => self.known(&plain(name)),
                Some(record) => self.names.field(&plain(record), &plain(name)).map(str::to_string),
            };
            let Some(variable) = variable else { continue };
            // A name without a place of its own cannot be cut out.
            if sql::plain_name(&source[span.start..span.end]) != plain(name) {
                continue;
            }
            if qualifier.is_none() && !is_insert && self.is_also_column(&plain(name), &values.tables, span) {
                continue;
            }
            let start = qualifier.as_ref().map_or(span.start, |record| located.name(record).start);
            uses.push(Variable { name: variable, span: Span { start, ..span } });
        }
        uses
    }

    /// A name that is a variable and a column, too. MySQL takes the variable, whatever was meant; PL/pgSQL refuses.
    /// Gives whether it is to be taken for the column.
    fn is_also_column(&mut self, name: &str, tables: &BTreeSet<String>, span: Span) -> bool {
        let tables = tables.iter().filter_map(|table| self.schema.table(table));
        let Some(table) = tables.into_iter().find(|table| table.column(name).is_some()) else { return false };
        let column = format!("{}.{name}", table.name);
        match self.flavor {
            Flavor::MySql => {
                let message = format!("this is the variable {name}, not the column {column}");
                self.warn(span, &message, &format!("write {column}, or give the variable another name"));
                false
            }
            Flavor::PlPgSql => {
                let message = format!("{name} could be the variable or the column {column}");
                let diagnostic = Diagnostic::error(span, message);
                self.diagnostics.push(diagnostic.with_hint("qualify the column, or give the variable another name"));
                true
            }
        }
    }

    /// Without a syntax tree: words that are variables and do not look like anything else.
    fn uses_in_words(&mut self, tokens: &Cursor<'_>, texts: &[Span]) -> Vec<Variable> {
        let all = tokens.rest();
        let is = |at: Option<usize>, symbols: &[&str]| {
            at.and_then(|at| all.get(at)).is_some_and(|token| symbols.iter().any(|symbol| token.is_symbol(symbol)))
        };
        let mut uses = Vec::new();
        for (at, token) in all.iter().enumerate() {
            let inside = texts.iter().any(|text| text.start <= token.span.start && token.span.end <= text.end);
            let alone = !is(at.checked_sub(1), &["."]) && !is(Some(at + 1), &[".", "("]);
            if token.kind != TokenKind::Word || !inside || !alone {
                continue;
            }
            if let Some(name) = self.known(&token.text.to_lowercase()) {
                uses.push(Variable { name, span: tokens.span(token.span.start, token.span.end) });
            }
        }
        uses
    }

    /// Cuts the texts at the variables, and puts INTO where it stood.
    fn cut(&self, draft: SqlStatement, uses: &[Variable], into: Option<IntoClause>) -> SqlStatement {
        let mut sorted: Vec<&Variable> = uses.iter().collect();
        sorted.sort_by_key(|variable| variable.span.start);
        sorted.dedup_by_key(|variable| variable.span.start);
        let mut parts = Vec::new();
        let mut into = into.map(SqlPart::Into);
        for part in draft.parts {
            let SqlPart::Text(text) = part else { continue };
            let mut rest = text;
            for variable in &sorted {
                if variable.span.start < rest.span.start || variable.span.end > rest.span.end {
                    continue;
                }
                let at = rest.lead + variable.span.start - rest.span.start;
                let behind = at + variable.span.end - variable.span.start;
                let before = Span { end: variable.span.start, ..rest.span };
                push_text(&mut parts, SqlText { text: rest.text[..at].to_string(), lead: rest.lead, span: before });
                parts.push(SqlPart::Use((*variable).clone()));
                let lines = rest.text[..behind].matches('\n').count();
                let after = Span { start: variable.span.end, end: rest.span.end, line: rest.span.line + lines };
                rest = SqlText { text: rest.text[behind..].to_string(), lead: 0, span: after };
            }
            push_text(&mut parts, rest);
            parts.extend(into.take());
        }
        SqlStatement { parts }
    }

    fn is_record(&self, name: &str) -> bool {
        matches!(self.names.find(name), Some(Binding::Record(_)))
    }
}

fn push_text(parts: &mut Vec<SqlPart>, text: SqlText) {
    if !text.text.is_empty() {
        parts.push(SqlPart::Text(text));
    }
}

/// The names that stand for values, and the tables, of a statement.
#[derive(Default)]
struct Values {
    names: Vec<(Option<Ident>, Ident)>,
    tables: BTreeSet<String>,
}

impl Visitor for Values {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Identifier(name) => self.names.push((None, name.clone())),
            Expr::CompoundIdentifier(names) => {
                if let [qualifier, name] = names.as_slice() {
                    self.names.push((Some(qualifier.clone()), name.clone()));
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        self.tables.insert(last_plain(relation));
        ControlFlow::Continue(())
    }
}

/// Whether tokens begin a query.
pub(super) fn is_query(tokens: &[Token<'_>]) -> bool {
    let begins = |word: &&str| tokens.first().is_some_and(|token| token.is_word(word));
    ["SELECT", "WITH", "VALUES"].iter().any(begins) || tokens.first().is_some_and(|t| t.is_symbol("("))
}
