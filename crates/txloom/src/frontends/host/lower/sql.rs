//! Texts → SQL statements with holes.
//!
//! ```text
//!   "SELECT a FROM t WHERE b = ? AND c = '" + name + "'"
//!   SELECT a FROM t WHERE b = :stmt_1 AND c = :part
//! ```
//!
//! A piece that is not known stands for a value, if a value can stand there. If it is the name of a table, the schema
//! may tell which: the one with which the statement makes sense.

use std::collections::BTreeMap;

use txloom_core::level::LevelName;
use txloom_core::program::access::{self, Access, OutputColumn, Reach, TableAccess};
use txloom_core::program::{
    self as ir, Diagnostic, Severity, Span, SqlPart, SqlStatement, SqlText, StatementKind, Variable,
};

use super::super::values::{Object, Piece, Template, Value, any, variable};
use super::super::vocabulary::{Marks, Sort};
use super::database::{REST, Wanted};
use super::join::same_text;
use super::{CursorInfo, Lowerer, Site};

/// What a statement that was sent gives.
#[derive(Debug, Clone, Default)]
pub(super) struct Answers {
    pub(super) rows: Option<Value>,
    pub(super) count: Option<Value>,
}

/// How many tables are tried for a name that is not known.
const GUESSES_MAX: usize = 200;

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

    fn unknown_statement(&mut self, span: Span) {
        let message = "what is sent here is not known, and not analysed";
        let hint = "text that is put together from constants is followed";
        let file = self.file();
        self.diagnostics.push((file, Diagnostic::error(span, message).with_hint(hint)));
        self.sites.entry((file, span.start)).or_insert(Site { span, is_sent: true, is_understood: false });
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
        if self.control(&verb, span) {
            self.sites.insert((file, place.start), Site { span: place, is_sent: true, is_understood: true });
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
        let site = self.sites.entry((file, place.start)).or_insert(Site { span: place, is_sent: true, is_understood });
        site.is_understood |= is_understood;
        let is_query = match wanted {
            Wanted::Rows => true,
            Wanted::Count => false,
            Wanted::Either => ["select", "with", "values", "show"].iter().any(|word| verb.starts_with(word)),
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
            let origin = output.origins.iter().next().filter(|_| output.is_copy);
            let known = origin.and_then(|element| self.world.schema.type_of(element)).map(|known| known.name.clone());
            let name = self.temporary(&format!("{cursor}_{wish}"), &known.unwrap_or_else(|| "VARCHAR".to_string()));
            columns.push((output.name.as_deref().map(str::to_lowercase), name));
        }
        columns
    }

    /// The statement of a text, with variables for its marks and holes.
    fn statement_of(&mut self, template: &Template, binds: &BTreeMap<String, String>, span: Span) -> SqlStatement {
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

    /// A statement that makes no sense with a value where the name of a table must stand: the tables of the schema are
    /// tried, the most similar name first.
    fn guess_tables(
        &mut self,
        template: &Template,
        binds: &BTreeMap<String, String>,
        span: Span,
    ) -> Option<SqlStatement> {
        let mut template = template.clone();
        let holes: Vec<usize> = (0..template.pieces.len())
            .filter(|at| matches!(&template.pieces[*at], Piece::Hole { .. }) && stands_for_table(&template.pieces, *at))
            .collect();
        if holes.is_empty() || holes.len() > 4 {
            return None;
        }
        let tables: Vec<String> = self.world.schema.tables.keys().take(GUESSES_MAX).cloned().collect();
        let mut taken = Vec::new();
        for hole in &holes {
            let Piece::Hole { name, span: place, .. } = template.pieces[*hole].clone() else { continue };
            let mut ranked = tables.clone();
            ranked.sort_by_key(|table| std::cmp::Reverse(likeness(&name, table)));
            let mut best: Option<(usize, String)> = None;
            for table in ranked {
                let piece = Piece::Text { text: table.clone(), file: usize::MAX, span: place };
                template.pieces[*hole] = piece;
                let errors = self.errors_of(&template, binds, span);
                if best.as_ref().is_none_or(|(fewest, _)| errors < *fewest) {
                    best = Some((errors, table));
                }
                if errors == 0 {
                    break;
                }
            }
            let (_, table) = best?;
            template.pieces[*hole] = Piece::Text { text: table.clone(), file: usize::MAX, span: place };
            taken.push((place, name, table));
        }
        if self.errors_of(&template, binds, span) > 0 {
            return None;
        }
        for (place, name, table) in taken {
            let what = if name.is_empty() { "this".to_string() } else { name };
            self.warn(place, format!("{what} is not known; it is taken for the table {table}"), "give its file, too");
        }
        Some(self.statement_of(&template, binds, span))
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
    let is_aggregate = access.selection.as_ref().is_some_and(|one| one.is_exact && one.aggregates());
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

/// Whether the text before a hole ends with a word that the name of a table follows.
fn stands_for_table(pieces: &[Piece], at: usize) -> bool {
    let Some(Piece::Text { text, .. }) = at.checked_sub(1).and_then(|before| pieces.get(before)) else { return false };
    let word = text.trim_end_matches(|c: char| c.is_whitespace() || c == '"' || c == '`' || c == ',');
    let word = word.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or("").to_lowercase();
    ["from", "into", "update", "join", "table"].contains(&word.as_str()) || text.trim_end().ends_with(',')
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

/// How similar the name of a constant is to that of a table.
fn likeness(name: &str, table: &str) -> usize {
    let plain = |text: &str| text.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    let (name, table) = (plain(name.rsplit('.').next().unwrap_or(name)), plain(table));
    if name == table {
        return 1000;
    }
    if name.ends_with(&table) || table.ends_with(&name) {
        return 500 + table.len().min(name.len());
    }
    let shared = (1..=table.len())
        .rev()
        .find(|length| (0..=table.len() - length).any(|start| name.contains(&table[start..start + length])));
    shared.unwrap_or(0)
}

/// Where we are in SQL text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Lexer {
    #[default]
    Code,
    /// Inside quotes of that kind.
    Quoted(char),
    LineComment,
    BlockComment,
}

/// A part of a text: as it is, or a mark, with its name if it has one.
enum Marked {
    Text(std::ops::Range<usize>),
    Mark(std::ops::Range<usize>, Option<String>),
}

/// Cuts a text at its marks; quotes and comments hide them.
fn split_marks(text: &str, marks: &[Marks], lexer: &mut Lexer) -> Vec<Marked> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() {
        let rest = &text[at..];
        let mut width = rest.chars().next().map_or(1, char::len_utf8);
        match *lexer {
            Lexer::Code => {
                if let Some((length, name)) = mark(rest, marks, text[..at].chars().next_back()) {
                    if start < at {
                        parts.push(Marked::Text(start..at));
                    }
                    parts.push(Marked::Mark(at..at + length, name));
                    at += length;
                    start = at;
                    continue;
                }
                if rest.starts_with("--") {
                    *lexer = Lexer::LineComment;
                } else if rest.starts_with("/*") {
                    *lexer = Lexer::BlockComment;
                    width = 2;
                } else if let Some(quote) = rest.chars().next().filter(|c| ['\'', '"', '`'].contains(c)) {
                    *lexer = Lexer::Quoted(quote);
                }
            }
            Lexer::Quoted(quote) if rest.starts_with(quote) => *lexer = Lexer::Code,
            Lexer::LineComment if rest.starts_with('\n') => *lexer = Lexer::Code,
            Lexer::BlockComment if rest.starts_with("*/") => {
                *lexer = Lexer::Code;
                width = 2;
            }
            _ => {}
        }
        at += width;
    }
    if start < text.len() {
        parts.push(Marked::Text(start..text.len()));
    }
    parts
}

/// The mark at the beginning of a text: its length and its name.
fn mark(rest: &str, marks: &[Marks], before: Option<char>) -> Option<(usize, Option<String>)> {
    let word = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').len();
    marks.iter().find_map(|kind| match kind {
        // Two of them are a list of values.
        Marks::Question if rest.starts_with("??") => Some((2, None)),
        Marks::Question if rest.starts_with('?') => Some((1, None)),
        Marks::Percent if rest.starts_with("%s") => Some((2, None)),
        Marks::Percent if rest.starts_with("%(") => {
            let length = word(&rest[2..]);
            rest[2 + length..].starts_with(")s").then(|| (length + 4, Some(rest[2..2 + length].to_string())))
        }
        Marks::Colon if rest.starts_with(':') && before != Some(':') => {
            let length = word(&rest[1..]);
            let is_name = rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            is_name.then(|| (length + 1, Some(rest[1..1 + length].to_string())))
        }
        _ => None,
    })
}

/// Puts a statement together.
struct Writer {
    parts: Vec<SqlPart>,
    lexer: Lexer,
    home: usize,
    whole: Span,
    is_elsewhere: bool,
    /// Whether the rest of a quoted text is left out, because a part of it is not known.
    skips_quote: Option<char>,
}

impl Writer {
    fn new(home: usize, whole: Span, is_elsewhere: bool) -> Writer {
        Writer { parts: Vec::new(), lexer: Lexer::Code, home, whole, is_elsewhere, skips_quote: None }
    }

    /// The place of a range of a constant.
    fn place(&self, text: &str, range: &std::ops::Range<usize>, file: usize, place: Span) -> Span {
        if file != self.home || self.is_elsewhere {
            return self.whole;
        }
        if place.end - place.start != text.len() {
            return place;
        }
        let line = place.line + text[..range.start].matches('\n').count();
        Span { start: place.start + range.start, end: place.start + range.end, line }
    }

    fn text(&mut self, text: &str, mut range: std::ops::Range<usize>, file: usize, place: Span) {
        if let Some(quote) = self.skips_quote.take() {
            match text[range.clone()].find(quote) {
                Some(at) => range.start += at + quote.len_utf8(),
                None => {
                    self.skips_quote = Some(quote);
                    return;
                }
            }
        }
        if range.is_empty() {
            return;
        }
        let span = self.place(text, &range, file, place);
        let piece = &text[range];
        match self.parts.last_mut() {
            Some(SqlPart::Text(last)) => {
                last.text.push_str(piece);
                last.span = if span.end >= last.span.start {
                    Span { end: span.end.max(last.span.end), ..last.span }
                } else {
                    last.span
                };
            }
            last => {
                // `?AND` is two words; `:name` must not grow.
                let is_glued = piece.starts_with(|c: char| c.is_alphanumeric() || c == '_');
                let gap = if is_glued && matches!(last, Some(SqlPart::Use(_))) { " " } else { "" };
                self.parts.push(SqlPart::Text(SqlText { text: format!("{gap}{piece}"), lead: gap.len(), span }));
            }
        }
    }

    fn value(&mut self, name: String, text: &str, range: &std::ops::Range<usize>, file: usize, place: Span) {
        let span = self.place(text, range, file, place);
        self.parts.push(SqlPart::Use(Variable { name, span }));
    }

    /// A piece that is not known; inside quotes, all that is quoted is not known.
    fn hole(&mut self, name: String, place: Span) {
        let span = if self.is_elsewhere { self.whole } else { place };
        if self.skips_quote.is_some() {
            return;
        }
        if let Lexer::Quoted(quote) = self.lexer {
            if let Some(SqlPart::Text(last)) = self.parts.last_mut()
                && let Some(at) = last.text.rfind(quote)
            {
                last.text.truncate(at);
                if last.text.is_empty() {
                    self.parts.pop();
                }
            }
            self.skips_quote = Some(quote);
        }
        self.parts.push(SqlPart::Use(Variable { name, span }));
    }

    fn finish(mut self) -> SqlStatement {
        if let Some(SqlPart::Text(first)) = self.parts.first_mut() {
            let spaces = first.text.len() - first.text.trim_start().len();
            first.text.drain(..spaces);
            if first.span.end - first.span.start == first.text.len() + spaces {
                first.span.start += spaces;
            }
        }
        if let Some(SqlPart::Text(last)) = self.parts.last_mut() {
            let kept = last.text.trim_end_matches(|c: char| c.is_whitespace() || c == ';').len();
            let cut = last.text.len() - kept;
            if last.span.end - last.span.start == last.text.len() {
                last.span.end -= cut;
            }
            last.text.truncate(kept);
        }
        self.parts.retain(|part| !matches!(part, SqlPart::Text(text) if text.text.is_empty()));
        SqlStatement { parts: self.parts }
    }
}
