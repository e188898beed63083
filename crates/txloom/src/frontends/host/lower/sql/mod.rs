//! Texts → SQL statements with holes.
//!
//! ```text
//!   "SELECT a FROM t WHERE b = ? AND c = '" + name + "'"
//!   SELECT a FROM t WHERE b = :stmt_1 AND c = :part
//! ```
//!
//! * `marks`: where the values go; `writer`: pieces and variables as one statement, with their places
//! * `guess`: tables whose names are not known
//!
//! A piece that is not known stands for a value, if a value can stand there. If it is the name of a table, the schema
//! may tell which: the one with which the statement makes sense.

mod guess;
mod marks;
mod writer;

use std::collections::BTreeMap;

use txloom_core::level::LevelName;
use txloom_core::program::access::{self, Access, OutputColumn, Reach, TableAccess};
use txloom_core::program::schema::TypeKind;
use txloom_core::program::{self as ir, Diagnostic, Severity, Span, SqlStatement, StatementKind};

use super::super::values::{Object, Piece, Template, Value, any, variable};
use super::super::vocabulary::Sort;
use super::database::{REST, Wanted};
use super::join::same_text;
use super::{CursorInfo, Lowerer, Site};
use marks::{Lexer, Marked, split_marks};
use writer::Writer;

/// What a statement that was sent gives.
#[derive(Debug, Clone, Default)]
pub(super) struct Answers {
    pub(super) rows: Option<Value>,
    pub(super) count: Option<Value>,
}

impl Lowerer<'_> {
    /// Sends a text with the values that were bound.
    pub(super) fn send(
        &mut self,
        text: Value,
        binds: &BTreeMap<String, String>,
        wanted: Wanted,
        wish: Option<String>,
        span: Span,
    ) -> Answers {
        let text = self.possible(text, binds, span);
        let mut kinds = Answers::default();
        let mut opened: Vec<(String, usize)> = Vec::new();
        let answer = self.each_option(text, span, &mut |this, text| match text {
            Value::Text(template) => {
                let answers = this.send_template(&template, binds, wanted, (wish.as_deref(), &mut opened), span);
                let result = answers.rows.clone().or(answers.count.clone()).unwrap_or(Value::Unknown(span));
                kinds = answers;
                result
            }
            _ => {
                this.unknown_statement(span);
                Value::Unknown(span)
            }
        });
        if kinds.rows.is_some() {
            kinds.rows = Some(answer);
        } else {
            kinds.count = Some(answer);
        }
        kinds
    }

    /// A choice without the options that are no SQL, if there are others: ways that we tell apart but the program does
    /// not take, like a comma before the first element of a list.
    fn possible(&mut self, text: Value, binds: &BTreeMap<String, String>, span: Span) -> Value {
        let Value::Choice(selector, options) = text else { return text };
        let options: Vec<(i64, Value)> =
            options.into_iter().map(|(at, option)| (at, self.possible(option, binds, span))).collect();
        let good: Vec<bool> = options.iter().map(|(_, option)| self.is_sql(option, binds, span)).collect();
        let all_or_none = good.iter().all(|good| *good) || !good.contains(&true);
        let mut kept: Vec<(i64, Value)> =
            options.into_iter().zip(good).filter(|(_, good)| all_or_none || *good).map(|(option, _)| option).collect();
        let is_same = kept.iter().all(|(_, option)| same_text(option, &kept[0].1));
        if is_same && !kept.is_empty() { kept.swap_remove(0).1 } else { Value::Choice(selector, kept) }
    }

    fn is_sql(&mut self, text: &Value, binds: &BTreeMap<String, String>, span: Span) -> bool {
        match text {
            Value::Text(template) => self.errors_of(template, binds, span) == 0,
            Value::Choice(_, options) => options.iter().any(|(_, option)| self.is_sql(option, binds, span)),
            _ => false,
        }
    }

    pub(super) fn unknown_statement(&mut self, span: Span) {
        let message = "what is sent here is not known, and not analysed";
        let hint = "text that is put together from constants is followed";
        let file = self.file();
        self.diagnostics.push((file, Diagnostic::error(span, message).with_hint(hint)));
        self.sites.entry((file, span.start)).or_insert(Site {
            span,
            is_sent: true,
            is_understood: false,
            is_alone: false,
        });
    }

    fn send_template(
        &mut self,
        template: &Template,
        binds: &BTreeMap<String, String>,
        wanted: Wanted,
        (wish, opened): (Option<&str>, &mut Vec<(String, usize)>),
        span: Span,
    ) -> Answers {
        let Some((file, place)) = template.site() else {
            self.unknown_statement(span);
            return Answers::default();
        };
        let verb = first_words(template);
        let says_nothing = template.as_constant().is_some_and(|text| text.trim_matches([';', ' ', '\n']).is_empty());
        if says_nothing || self.control(&verb, span) {
            self.sites
                .insert((file, place.start), Site { span: place, is_sent: true, is_understood: true, is_alone: false });
            return Answers::default();
        }
        let mut sql = self.statement_of(template, binds, span);
        let at = self.at(span);
        let (mut access, mut complaints) = access::of_statement(&sql, at, self.world.schema, self.world.language);
        if has_errors(&complaints)
            && let Some(guessed) = self.guess_tables(template, binds, span)
        {
            sql = guessed;
            (access, complaints) = access::of_statement(&sql, at, self.world.schema, self.world.language);
        }
        let is_understood = !has_errors(&complaints);
        let site = self.sites.entry((file, place.start)).or_insert(Site {
            span: place,
            is_sent: true,
            is_understood,
            is_alone: false,
        });
        site.is_understood |= is_understood;
        let is_query = match wanted {
            Wanted::Rows => true,
            Wanted::Count => false,
            // A write with RETURNING answers like a query.
            Wanted::Either => {
                let is_query_word = ["select", "with", "values", "show"].iter().any(|word| verb.starts_with(word));
                is_query_word || !access.outputs.is_empty()
            }
        };
        if is_query {
            let rows = self.open(sql, &access, (wish, opened), span);
            return Answers { rows: Some(rows), count: None };
        }
        self.emit(StatementKind::Sql(sql), span);
        let name = self.temporary("count", "INT");
        self.set(&name, ir::Expr { kind: ir::ExprKind::RowCount, span: at }, span);
        let count = Value::Plain(variable(&name, at), Sort::Whole);
        Answers { rows: None, count: Some(count) }
    }

    /// Notes a statement as found, and whether it is understood.
    pub(super) fn note_site(&mut self, template: &Template, sql: &SqlStatement, span: Span) {
        let Some((file, place)) = template.site() else { return };
        let complaints = access::of_statement(sql, self.at(span), self.world.schema, self.world.language).1;
        let is_understood = !has_errors(&complaints);
        let site = self.sites.entry((file, place.start)).or_insert(Site {
            span: place,
            is_understood,
            is_sent: true,
            is_alone: false,
        });
        site.is_understood |= is_understood;
    }

    /// Statements that begin and end transactions.
    fn control(&mut self, words: &str, span: Span) -> bool {
        let kind = match words.trim_end_matches(';').trim() {
            "commit" | "commit work" | "commit transaction" | "end" => StatementKind::Commit,
            "rollback" | "rollback work" | "rollback transaction" | "abort" => StatementKind::Rollback,
            "begin" | "start transaction" | "begin transaction" | "begin work" => StatementKind::Begin,
            words => {
                let level = words
                    .strip_prefix("set transaction isolation level ")
                    .or_else(|| words.strip_prefix("set session transaction isolation level "));
                match level.and_then(LevelName::parse) {
                    Some(level) => StatementKind::Isolation(level),
                    None => return false,
                }
            }
        };
        self.ends_transactions |= !matches!(kind, StatementKind::Isolation(_));
        self.emit(kind, span);
        true
    }

    /// `OPEN cursor FOR …`; queries with the same number of columns, of which one is sent, share a cursor.
    fn open(
        &mut self,
        query: SqlStatement,
        access: &Access,
        (wish, opened): (Option<&str>, &mut Vec<(String, usize)>),
        span: Span,
    ) -> Value {
        let outputs = &access.outputs;
        let is_open = outputs.is_empty() || outputs.iter().any(|output| output.name.as_deref() == Some(access::EVERY));
        let names: Vec<Option<String>> =
            outputs.iter().map(|output| output.name.as_deref().map(str::to_lowercase)).collect();
        let fits = |(cursor, _): &&(String, usize)| {
            let columns = self.cursors.get(cursor).map(|info| info.columns.iter().map(|(name, _)| name));
            !is_open && columns.is_some_and(|columns| columns.eq(names.iter()))
        };
        let shared = opened.iter().find(fits).cloned();
        let (cursor, rows) = match shared {
            Some((cursor, id)) => {
                self.state.objects.insert(id, Object::Rows(cursor.clone()));
                (cursor, Value::Object(id))
            }
            None => {
                let cursor = self.fresh(wish.filter(|wish| !wish.is_empty()).unwrap_or("answer"));
                let columns = if is_open { Vec::new() } else { self.columns_of(&cursor, outputs) };
                self.cursors.insert(cursor.clone(), CursorInfo { columns, is_open });
                let rows = self.object(Object::Rows(cursor.clone()));
                if let Value::Object(id) = rows {
                    opened.push((cursor.clone(), id));
                }
                (cursor, rows)
            }
        };
        if has_one_row(access) || is_limited(&query) {
            self.single.insert(cursor.clone());
        }
        self.emit(StatementKind::Open { cursor, query }, span);
        rows
    }

    /// A variable for each column of an answer.
    fn columns_of(&mut self, cursor: &str, outputs: &[OutputColumn]) -> Vec<(Option<String>, String)> {
        let mut columns = Vec::new();
        for (at, output) in outputs.iter().enumerate() {
            let wish = output.name.clone().unwrap_or_else(|| (at + 1).to_string());
            let known = self.type_of_column(output);
            let name = self.temporary(&format!("{cursor}_{wish}"), &known.unwrap_or_else(|| "VARCHAR".to_string()));
            columns.push((output.name.as_deref().map(str::to_lowercase), name));
        }
        columns
    }

    /// The type of a column of an answer: that of the table's column, or a whole number for what is counted or computed
    /// from whole numbers. (Where variables have no types, what is done with them says more.)
    fn type_of_column(&self, output: &OutputColumn) -> Option<String> {
        let mut origins = output.origins.iter().map(|element| self.world.schema.type_of(element));
        if output.is_copy {
            return origins.next().flatten().map(|known| known.name.clone());
        }
        if !self.world.vocabulary.says_types() {
            return None;
        }
        let is_named = |name: &str| output.name.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(name));
        let mut is_whole = origins.all(|known| known.is_some_and(|known| known.kind == TypeKind::Integer));
        is_whole &= !output.origins.is_empty() && !is_named("avg");
        (is_whole || is_named("count")).then(|| "BIGINT".to_string())
    }

    /// The statement of a text, with variables for its marks and holes.
    pub(super) fn statement_of(
        &mut self,
        template: &Template,
        binds: &BTreeMap<String, String>,
        span: Span,
    ) -> SqlStatement {
        let mut writer =
            Writer::new(self.home, self.at(span), self.frames.last().is_some_and(|f| f.stands_at.is_some()));
        let mut marks = 0;
        for (at, piece) in template.pieces.iter().enumerate() {
            match piece {
                Piece::Text { text, file, span: place } => {
                    for part in split_marks(text, self.world.vocabulary.marks(), &mut writer.lexer) {
                        match part {
                            Marked::Text(range) => writer.text(text, range, *file, *place),
                            Marked::Mark(range, key) => {
                                let key = key.unwrap_or_else(|| {
                                    marks += 1;
                                    marks.to_string()
                                });
                                let name = binds.get(&key).or_else(|| binds.get(REST)).cloned();
                                let name = name.unwrap_or_else(|| self.unbound(span));
                                writer.value(name, text, &range, *file, *place);
                            }
                        }
                    }
                }
                Piece::Hole { value, span: place, .. } => {
                    let is_whole = match writer.lexer {
                        Lexer::Quoted(quote) => fills_quotes(&template.pieces, at, quote),
                        _ => true,
                    };
                    let name = match &value.kind {
                        ir::ExprKind::Variable(name) if is_whole => name.clone(),
                        _ => self.unbound(*place),
                    };
                    writer.hole(name, *place);
                }
            }
        }
        writer.finish()
    }

    /// A variable for a value that nobody has bound.
    fn unbound(&mut self, span: Span) -> String {
        let name = self.temporary("unknown", "VARCHAR");
        let at = self.at(span);
        self.set(&name, any(at), span);
        name
    }

    fn errors_of(&mut self, template: &Template, binds: &BTreeMap<String, String>, span: Span) -> usize {
        let outer = std::mem::take(&mut self.out);
        let sql = self.statement_of(template, binds, span);
        self.out = outer;
        let complaints = access::of_statement(&sql, self.at(span), self.world.schema, self.world.language).1;
        complaints.iter().filter(|one| one.severity == Severity::Error).count()
    }
}

/// Whether a query has one row at most: by key, or computed over all rows.
fn has_one_row(access: &Access) -> bool {
    let is_by_key = |table: &TableAccess| matches!(table.reach, Reach::Key(_));
    let is_aggregate = access.selection.as_ref().is_some_and(|one| one.is_exact && one.is_one_row());
    is_aggregate || (!access.tables.is_empty() && access.tables.iter().all(is_by_key))
}

/// Whether a query says itself that one row is enough.
fn is_limited(query: &SqlStatement) -> bool {
    let text = query.to_string().to_uppercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    words.ends_with(&["LIMIT", "1"]) || words.windows(4).any(|four| four == ["FETCH", "FIRST", "1", "ROW"])
}

fn has_errors(complaints: &[Diagnostic]) -> bool {
    complaints.iter().any(|complaint| complaint.severity == Severity::Error)
}

/// The beginning of a text, in lower case, with single spaces.
fn first_words(template: &Template) -> String {
    let text: String = template
        .pieces
        .iter()
        .map_while(|piece| match piece {
            Piece::Text { text, .. } => Some(text.as_str()),
            Piece::Hole { .. } => None,
        })
        .collect();
    let start: String = text.trim_start_matches(['(', ' ', '\n', '\t', '\r']).chars().take(200).collect();
    start.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Whether a hole is all that stands between two quotes.
fn fills_quotes(pieces: &[Piece], at: usize, quote: char) -> bool {
    let text = |at: Option<usize>| match at.and_then(|at| pieces.get(at)) {
        Some(Piece::Text { text, .. }) => Some(text.as_str()),
        _ => None,
    };
    let before = text(at.checked_sub(1)).is_some_and(|text| text.ends_with(quote));
    before && text(Some(at + 1)).is_some_and(|text| text.starts_with(quote))
}
