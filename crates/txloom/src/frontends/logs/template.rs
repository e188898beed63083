//! The templates of a log: each kept once, with the place where it was first seen.

use txloom_core::program::access::{Effect, OutputColumn, of_statement};
use txloom_core::program::schema::Schema;
use txloom_core::program::{
    self, Language, Mode, Parameter, Procedure, Program, Span, SqlPart, SqlStatement, SqlText, Statement, Variable,
};
use txloom_core::sql::{self, StatementKind, Token, TokenKind};

use super::deed::{Deed, Role, deed, roles};
use super::event::Sent;
use super::lines::Place;
use super::scan::{Quoting, Scanned};
use super::value::ByHash;

/// More templates than this are not told apart: a log with so many has its names or its structure in literals.
pub(super) const TEMPLATES_MAX: usize = 20_000;

/// The template that stands for a commit between two transactions of one procedure.
pub(super) const COMMIT: u32 = 0;

/// What a template is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// It reads or writes rows of the application.
    Work,
    /// It changes the schema.
    Definition,
    /// Catalogues, versions, pings.
    Noise,
    /// No statement of any database: a quote that never ends, say, where a log is damaged.
    Damaged,
}

/// A template.
#[derive(Debug, Clone)]
pub(super) struct Template {
    pub(super) class: Class,
    /// The statement as it was first seen.
    pub(super) text: String,
    /// How its literals are written.
    pub(super) quoting: Quoting,
    /// What stands before it on its line.
    pub(super) head: String,
    /// Where it was first seen.
    pub(super) place: Place,
    /// Its slots: the bytes of the text, and whether it is a list.
    pub(super) slots: Vec<(std::ops::Range<usize>, bool)>,
    /// Bytes of the text that do not belong to it: other rows of an INSERT.
    pub(super) others: Vec<std::ops::Range<usize>>,
    pub(super) deed: Deed,
    pub(super) roles: Vec<Role>,
    /// Whether it writes.
    pub(super) writes: bool,
    /// Whether it was read and resolved.
    pub(super) is_understood: bool,
    /// The verb and the table, for names: `update_items`.
    pub(super) name: String,
    /// The columns that it returns: their names and types.
    pub(super) outputs: Vec<(String, Option<String>)>,
    /// How often it was seen.
    pub(super) count: u64,
}

/// All templates.
pub(super) struct Templates<'s> {
    pub(super) schema: &'s Schema,
    language: Language,
    by_hash: ByHash<u32>,
    pub(super) all: Vec<Template>,
}

impl<'s> Templates<'s> {
    pub(super) fn new(schema: &'s Schema, language: Language) -> Templates<'s> {
        let mark = Template {
            class: Class::Work,
            text: String::new(),
            quoting: Quoting::Postgres,
            head: String::new(),
            place: Place::default(),
            slots: Vec::new(),
            others: Vec::new(),
            deed: Deed::Nothing,
            roles: Vec::new(),
            writes: false,
            is_understood: true,
            name: String::new(),
            outputs: Vec::new(),
            count: 0,
        };
        Templates { schema, language, by_hash: ByHash::default(), all: vec![mark] }
    }

    /// The template of a statement; `None` if there are too many.
    pub(super) fn intern(&mut self, scanned: &Scanned, sent: &Sent<'_>) -> Option<u32> {
        let id = match self.by_hash.get(&scanned.hash) {
            Some(id) => *id,
            None if self.all.len() >= TEMPLATES_MAX => return None,
            None => {
                let id = u32::try_from(self.all.len()).ok()?;
                let template = self.analyse(scanned, sent);
                self.all.push(template);
                self.by_hash.insert(scanned.hash, id);
                id
            }
        };
        self.all[id as usize].count += 1;
        Some(id)
    }

    /// Makes a template of a statement.
    pub(super) fn analyse(&self, scanned: &Scanned, sent: &Sent<'_>) -> Template {
        let start = scanned.range.start;
        let (head, place) = head_of(sent, start);
        let (text, slots, others) = readable(sent.text, scanned);
        let class = class_of(&text);
        let is_mysql = self.language == Language::MySql;
        let mut template = Template {
            class,
            quoting: if is_mysql { Quoting::MySql } else { Quoting::Postgres },
            head,
            place,
            deed: Deed::Nothing,
            roles: vec![Role::default(); slots.len()],
            writes: StatementKind::of(&text) != StatementKind::Query,
            is_understood: true,
            name: String::new(),
            outputs: Vec::new(),
            count: 0,
            text,
            slots,
            others,
        };
        if class == Class::Work {
            self.resolve(&mut template);
        }
        template
    }

    fn resolve(&self, template: &mut Template) {
        let name = |slot: usize| Some(Source::Variable(format!("s{slot}")));
        let statement = template.statement(0, &name, &[]);
        if !survives_printing(&statement, template.slots.len()) {
            template.class = Class::Damaged;
            return;
        }
        let (access, complaints) = of_statement(&statement, Span::default(), self.schema, self.language);
        template.is_understood = complaints.iter().all(|one| one.severity != txloom_core::program::Severity::Error);
        template.deed = deed(&access, self.schema);
        template.roles = roles(&access, template.slots.len(), self.schema);
        template.outputs = access.outputs.iter().map(|output| self.output(output)).collect();
        template.writes = access.tables.iter().any(|table| table.effect != Effect::Read) || !template.is_understood;
        let subject = access.tables.iter().find(|table| table.effect != Effect::Read).or(access.tables.first());
        let verb = first_word(&template.text).to_lowercase();
        template.name = subject.map_or(verb.clone(), |table| format!("{verb}_{}", plain(&table.table)));
    }

    fn output(&self, output: &OutputColumn) -> (String, Option<String>) {
        let kind = output.origins.first().and_then(|origin| self.schema.type_of(origin));
        (output.name.clone().unwrap_or_else(|| "read".to_string()), kind.map(|kind| kind.name.clone()))
    }
}

/// Whether a statement is read as itself when it stands in a program.
fn survives_printing(statement: &SqlStatement, slots: usize) -> bool {
    let parameter = |slot| Parameter {
        name: format!("s{slot}"),
        mode: Mode::In,
        type_name: "INT".to_string(),
        span: Span::default(),
    };
    let kind = program::StatementKind::Sql(statement.clone());
    let procedure = Procedure {
        name: "p".to_string(),
        parameters: (0..slots).map(parameter).collect(),
        autocommit: false,
        body: vec![Statement { kind, span: Span::default() }],
        span: Span::default(),
    };
    let program = Program { procedures: vec![procedure] };
    Program::parse(&program.to_string()).is_ok_and(|read| read == program)
}

/// What stands before a statement on its own line, and where that line is: statements that were sent together may begin
/// further down than the first.
fn head_of(sent: &Sent<'_>, start: usize) -> (String, Place) {
    let before = &sent.text[..start];
    let breaks = before.iter().filter(|byte| **byte == b'\n').count();
    let on_line = match before.iter().rposition(|byte| *byte == b'\n') {
        Some(at) => before[at + 1..].to_vec(),
        None => [sent.head, before].concat(),
    };
    let place = Place { line: sent.place.line + breaks, ..sent.place };
    (String::from_utf8_lossy(&on_line).into_owned(), place)
}

type Ranges = Vec<std::ops::Range<usize>>;

/// The text of a statement, with its slots and other rows as ranges of it. Bytes that are no text become `?`, so that
/// every place stays where it is.
fn readable(text: &[u8], scanned: &Scanned) -> (String, Vec<(std::ops::Range<usize>, bool)>, Ranges) {
    let start = scanned.range.start;
    let bytes = &text[scanned.range.clone()];
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_string(),
        Err(_) => bytes.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { '?' }).collect(),
    };
    let shift = |range: &std::ops::Range<usize>| range.start - start..range.end - start;
    let slots = scanned.slots.iter().map(|slot| (shift(&slot.range), slot.is_list)).collect();
    (text, slots, scanned.others.iter().map(shift).collect())
}

/// What stands in a slot.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Source {
    /// The value of a variable.
    Variable(String),
    /// The same text every time.
    Constant(String),
    /// Several variables, with commas between them.
    List(Vec<String>),
}

impl Template {
    /// The statement with sources in its slots; its text begins at `start` of the excerpt.
    pub(super) fn statement(
        &self,
        start: usize,
        source: &dyn Fn(usize) -> Option<Source>,
        into: &[Variable],
    ) -> SqlStatement {
        let mut parts = Vec::new();
        let mut at = 0;
        let slots = self.slots.iter().enumerate().map(|(slot, (range, _))| (range.clone(), Some(slot)));
        let mut cuts: Vec<(std::ops::Range<usize>, Option<usize>)> =
            slots.chain(self.others.iter().map(|range| (range.clone(), None))).collect();
        cuts.sort_by_key(|(range, _)| range.start);
        for (range, slot) in cuts {
            if range.start < at {
                continue;
            }
            self.push_text(&mut parts, start, at..range.start);
            at = range.end;
            let span = self.span_of(start, &range);
            let variable = |name: String| SqlPart::Use(Variable { name, span });
            if let Some(SqlPart::Text(before)) = parts.last_mut().filter(|_| slot.is_some()) {
                // `[1:$2]`: two colons would be a cast.
                before.text.push_str(if before.text.ends_with(':') { " " } else { "" });
            }
            match slot.and_then(source) {
                Some(Source::Variable(name)) => parts.push(variable(name)),
                Some(Source::Constant(text)) => made(&mut parts, text, span),
                Some(Source::List(names)) => {
                    for (at, name) in names.into_iter().enumerate() {
                        if at > 0 {
                            made(&mut parts, ", ".to_string(), span);
                        }
                        parts.push(variable(name));
                    }
                }
                None if slot.is_some() => self.push_text(&mut parts, start, range),
                None => {}
            }
        }
        self.push_text(&mut parts, start, at..self.text.len());
        if !into.is_empty() {
            let rule = txloom_core::program::IntoRule::Single;
            parts.push(SqlPart::Into(txloom_core::program::IntoClause { variables: into.to_vec(), rule }));
        }
        SqlStatement { parts }
    }

    fn push_text(&self, parts: &mut Vec<SqlPart>, start: usize, range: std::ops::Range<usize>) {
        let Some(text) = self.text.get(range.clone()).filter(|text| !text.is_empty()) else { return };
        let (text, span) = (without_variables(text), self.span_of(start, &range));
        match parts.last_mut() {
            // Texts are never neighbours; a joined one has no exact place any more.
            Some(SqlPart::Text(before)) => before.text.push_str(&text),
            // `$1WHERE` is understood; the name of a variable would go on.
            Some(SqlPart::Use(_)) if text.starts_with(is_of_name) => {
                parts.push(SqlPart::Text(SqlText { text: format!(" {text}"), lead: 1, span }));
            }
            _ => parts.push(SqlPart::Text(SqlText { text, lead: 0, span })),
        }
    }

    /// The place of a range of the text, if the text begins at `start`.
    pub(super) fn span_of(&self, start: usize, range: &std::ops::Range<usize>) -> Span {
        let before = self.text.get(..range.start).unwrap_or_default();
        let line = self.place.line + before.matches('\n').count();
        Span { start: start + range.start, end: start + range.end, line }
    }

    /// The place of the whole statement.
    pub(super) fn span(&self, start: usize) -> Span {
        self.span_of(start, &(0..self.text.len()))
    }
}

/// In a log, `:name` is no variable of ours, but the end of a slice, or nonsense.
fn without_variables(text: &str) -> String {
    let mut written = text.to_string();
    let variables = sql::tokens(text).into_iter().filter(|token| token.kind == TokenKind::Variable);
    for token in variables.collect::<Vec<_>>().iter().rev() {
        written.insert(token.span.start + 1, ' ');
    }
    written
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '$' | '#')
}

/// Text that stands nowhere.
fn made(parts: &mut Vec<SqlPart>, text: String, span: Span) {
    match parts.last_mut() {
        Some(SqlPart::Text(before)) => before.text.push_str(&text),
        _ => parts.push(SqlPart::Text(SqlText { text, lead: 0, span })),
    }
}

/// What a statement is for.
fn class_of(text: &str) -> Class {
    let tokens = sql::tokens(text);
    match StatementKind::of(text) {
        StatementKind::Ddl => Class::Definition,
        StatementKind::Query if is_catalogue(&tokens) || is_idle(&tokens) => Class::Noise,
        StatementKind::Query | StatementKind::Write => Class::Work,
        StatementKind::Other if ["CALL", "DO", "COPY", "EXECUTE", "LOCK"].iter().any(|it| tokens[0].is_word(it)) => {
            Class::Work
        }
        StatementKind::Other if ["GRANT", "REVOKE", "COMMENT"].iter().any(|it| tokens[0].is_word(it)) => {
            Class::Definition
        }
        _ => Class::Noise,
    }
}

/// A query of the server's own tables.
fn is_catalogue(tokens: &[Token<'_>]) -> bool {
    let is_own = |token: &Token<'_>| {
        let name = sql::plain_name(token.text);
        matches!(token.kind, TokenKind::Word | TokenKind::Quoted)
            && (name.starts_with("pg_")
                || name == "information_schema"
                || name == "performance_schema"
                || name == "mysql")
    };
    let from = tokens.iter().position(|token| token.is_word("FROM"));
    from.is_some_and(|from| {
        let names = tokens[from + 1..].iter().take_while(|token| !token.is_word("WHERE"));
        names.into_iter().any(is_own)
    })
}

/// A query without tables, unless it calls a function that may do something.
fn is_idle(tokens: &[Token<'_>]) -> bool {
    if tokens.iter().any(|token| token.is_word("FROM")) {
        return false;
    }
    const HARMLESS: &[&str] = &[
        "version",
        "now",
        "current_schema",
        "current_schemas",
        "current_database",
        "current_setting",
        "set_config",
        "database",
        "schema",
        "user",
        "last_insert_id",
        "lastval",
        "currval",
        "nextval",
        "setval",
        "found_rows",
        "row_count",
        "connection_id",
        "sleep",
        "coalesce",
        "cast",
        "txid_current",
        "uuid",
        "gen_random_uuid",
        "concat",
        "get_lock",
        "release_lock",
    ];
    let called = tokens.windows(2).filter(|pair| pair[0].kind == TokenKind::Word && pair[1].is_symbol("("));
    called.into_iter().all(|pair| {
        let name = pair[0].text.to_lowercase();
        HARMLESS.contains(&name.as_str()) || name.starts_with("pg_") || name.starts_with('@')
    })
}

fn first_word(text: &str) -> &str {
    let word = text.trim_start_matches('(').trim_start();
    &word[..word.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(word.len())]
}

/// A name that can be part of a name.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
