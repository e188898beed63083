//! From text to a case.
//!
//! The file is read line by line; what a line is, its first characters say. A step's body extends to the next line that
//! is *structural* (a label, a directive or an expectation in column 0), so nothing inside it is ever interpreted.
//! One refinement: comment lines at the end of a body are prose for what follows, not part of the statement; people
//! write remarks there.

use std::collections::BTreeMap;

use crate::case::expect::unknown_level;
use crate::case::literal::{self, LiteralError};
use crate::case::{Assert, Case, Entry, Event, Expect, Expectation, FORMAT_VERSION, Final, Guard};
use crate::case::{Item, Line, SessionName, Sql, event};
use crate::level::LevelName;
use crate::outcome::ErrorClass;
use crate::schedule::{Schedule, ScheduleEntry};
use crate::sql;
use crate::suggest;

/// What is wrong with a case file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct CaseError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong, and what would be right.
    pub message: String,
    /// The line itself.
    pub text: String,
}

/// The directives, for "did you mean".
const DIRECTIVES: &[&str] = &[
    "case",
    "isolation",
    "node",
    "first",
    "program",
    "anomaly",
    "schedule",
    "assert",
    "final",
    "partition",
    "route",
    "heal",
    "deliver",
    "kill",
];

/// The maximum number of sessions: each has a connection and a thread.
const SESSIONS_MAX: usize = 1_000;

/// Reads a case file.
pub fn parse(text: &str) -> Result<Case, CaseError> {
    parse_with_lines(text).map(|(case, _)| case)
}

/// Reads a case file; also gives the line, from 1, of every entry.
pub fn parse_with_lines(text: &str) -> Result<(Case, Vec<usize>), CaseError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut parser = Parser { lines: text.lines().collect(), ..Parser::default() };
    while parser.at < parser.lines.len() {
        parser.element()?;
    }
    let lines = parser.places.iter().map(|place| place + 1).collect();
    Ok((parser.finish()?, lines))
}

/// True for `--> rows (1)` and `--@final …`: whoever left out the blank did not mean a remark.
fn lacks_blank(line: &str) -> bool {
    let first_word = |text: &str| text.split(char::is_whitespace).next().unwrap_or_default().to_string();
    let is_directive = |rest: &str| DIRECTIVES.contains(&first_word(rest).as_str());
    line.starts_with("-->") || line.strip_prefix("--@").is_some_and(is_directive)
}

/// Whether a line ends the body of the step above it: a label, a directive or an expectation in column 0.
pub(crate) fn is_structural(line: &str) -> bool {
    line.starts_with("-- @") || line.starts_with("-- >") || lacks_blank(line) || label(line).is_some()
}

/// The label at the start of a line, and what follows it.
fn label(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix("/*")?.split_once("*/")?;
    (name == "init" || SessionName::new(name).is_some()).then_some((name, rest))
}

/// The statement of a body, without its final semicolon, and the remarks below it.
pub(crate) fn split_body(text: &str) -> (&str, Vec<String>) {
    let (body, mut below) = split_trailing_prose(text.trim());
    let Some(statement) = body.trim_end().strip_suffix(';') else { return (body.trim_end(), below) };
    // The semicolon may stand on a line of its own, below remarks.
    let (statement, mut remarks) = split_trailing_prose(statement.trim_end());
    remarks.append(&mut below);
    (statement.trim_end(), remarks)
}

/// Splits comment lines in column 0 off the end of a body. (The lexer tells a comment from the last line of a string that
/// looks like one.)
fn split_trailing_prose(text: &str) -> (&str, Vec<String>) {
    let statement_end = sql::tokens(text).last().map_or(0, |token| token.span.end);
    let mut body = text;
    let mut prose = Vec::new();
    while let Some((before, line)) = body.rsplit_once('\n') {
        let is_remark = line.starts_with("--") && before.len() >= statement_end;
        if !is_remark && !line.trim().is_empty() {
            break;
        }
        if is_remark {
            prose.push(line[2..].trim_end().to_string());
        }
        body = before;
    }
    prose.reverse();
    (body, prose)
}

/// The first word and the rest of a text, trimmed.
fn split_word(text: &str) -> (&str, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

#[derive(Default)]
struct Parser<'a> {
    lines: Vec<&'a str>,
    at: usize,
    prose: Vec<String>,
    entries: Vec<Entry>,
    /// For each entry, its line (from 0).
    places: Vec<usize>,
    /// Sessions that directives name, with the line and the column of the name: they must have steps.
    mentions: Vec<(SessionName, usize, usize)>,
}

impl<'a> Parser<'a> {
    fn error(&self, line: usize, column: usize, message: impl Into<String>) -> CaseError {
        let text = self.lines.get(line).copied().unwrap_or("");
        CaseError { line: line + 1, column: column + 1, message: message.into(), text: text.to_string() }
    }

    /// An error at a part of the current line.
    fn error_at(&self, part: &str, message: impl Into<String>) -> CaseError {
        self.error(self.at, self.column_of(part), message)
    }

    /// The column (from 0, in characters) of a slice of the current line.
    fn column_of(&self, part: &str) -> usize {
        self.column_at(self.at, self.offset_of(part))
    }

    /// The byte of the current line at which a slice of it begins.
    fn offset_of(&self, part: &str) -> usize {
        let line = self.lines[self.at];
        (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize).min(line.len())
    }

    /// The column (from 0, in characters) of a byte of a line. Takes time for each character before.
    fn column_at(&self, line: usize, offset: usize) -> usize {
        self.lines[line].get(..offset).map_or(0, |before| before.chars().count())
    }

    fn literal_error(&self, part: &str, error: &LiteralError) -> CaseError {
        self.error_at(part.get(error.at..).unwrap_or(part), error.message.clone())
    }

    fn push(&mut self, line: Line) {
        self.entries.push(Entry { prose: std::mem::take(&mut self.prose), line });
        self.places.push(self.at);
    }

    fn element(&mut self) -> Result<(), CaseError> {
        let line = self.lines[self.at];
        if let Some(directive) = line.strip_prefix("-- @") {
            self.directive(directive)?;
        } else if let Some(expectation) = line.strip_prefix("-- >") {
            self.expectation(expectation)?;
        } else if let Some((name, rest)) = label(line) {
            return self.step(name, rest);
        } else if lacks_blank(line) {
            return Err(self.error(self.at, 0, "expected `-- >` or `-- @`, with a blank after the dashes"));
        } else if let Some(prose) = line.strip_prefix("--") {
            self.prose.push(prose.trim_end().to_string());
        } else if !line.trim().is_empty() {
            return Err(self.error(self.at, 0, not_an_element(line)));
        }
        self.at += 1;
        Ok(())
    }

    // ---- steps ----------------------------------------------------------------------------------------------------

    fn step(&mut self, name: &'a str, rest: &'a str) -> Result<(), CaseError> {
        let start = self.at;
        let next = (start + 1..self.lines.len()).find(|at| is_structural(self.lines[*at]));
        let end = next.unwrap_or(self.lines.len());
        if let Some(at) = (start + 1..end).find(|at| is_misspelt_label(self.lines[*at])) {
            return Err(self.error(at, 2, "a session name is a lower-case letter, then letters, digits, underscores"));
        }
        let mut body = rest.to_string();
        self.lines[start + 1..end].iter().for_each(|line| {
            body.push('\n');
            body.push_str(line);
        });
        let is_call = rest.trim_start().starts_with("-- call ");
        let (item, prose) = if is_call { self.call(rest, start + 1..end)? } else { self.sql(rest, &body)? };
        match (SessionName::new(name), item) {
            (Some(session), item) => self.push(Line::Step(session, item, Vec::new())),
            (None, Item::Sql(sql)) => self.push(Line::Init(sql, Vec::new())),
            (None, Item::Call(_)) => return Err(self.error_at(rest, "the setup cannot call procedures")),
        }
        self.prose = prose;
        self.at = end;
        Ok(())
    }

    fn sql(&self, rest: &str, body: &str) -> Result<(Item, Vec<String>), CaseError> {
        let (_, prose) = split_body(body);
        let sql = Sql::new(body).map_err(|message| self.error_at(rest, message))?;
        Ok((Item::Sql(sql), prose))
    }

    /// A call stands on one line; only remarks may follow it.
    fn call(&self, rest: &str, following: std::ops::Range<usize>) -> Result<(Item, Vec<String>), CaseError> {
        let text = rest.trim_start().strip_prefix("-- call ").unwrap_or(rest);
        let call = literal::parse_call(text).map_err(|error| self.literal_error(text, &error))?;
        let mut prose = Vec::new();
        for at in following {
            match self.lines[at].strip_prefix("--") {
                Some(remark) => prose.push(remark.trim_end().to_string()),
                None if self.lines[at].trim().is_empty() => {}
                None => return Err(self.error(at, 0, "a call stands on one line; this line belongs to nothing")),
            }
        }
        Ok((Item::Call(call), prose))
    }

    // ---- expectations ---------------------------------------------------------------------------------------------

    fn expectation(&mut self, text: &'a str) -> Result<(), CaseError> {
        let (guard, what) = self.guard(text.trim())?;
        let expect = self.expect(what)?;
        let expectation = Expectation { guard, expect };
        match self.entries.last_mut().map(|entry| &mut entry.line) {
            Some(Line::Step(_, _, expectations) | Line::Init(_, expectations)) => expectations.push(expectation),
            _ => return Err(self.error(self.at, 0, "an expectation must follow a step")),
        }
        Ok(())
    }

    /// An optional `[guard]`, and what follows it.
    fn guard(&self, text: &'a str) -> Result<(Option<Guard>, &'a str), CaseError> {
        let Some(inner) = text.strip_prefix('[') else { return Ok((None, text)) };
        let (inner, rest) = inner.split_once(']').ok_or_else(|| self.error_at(text, "this guard has no `]`"))?;
        let guard = Guard::parse(inner).map_err(|error| self.error_at(error.part, error.message))?;
        Ok((Some(guard), rest.trim()))
    }

    fn expect(&self, text: &'a str) -> Result<Expect, CaseError> {
        let (word, value) = split_word(text);
        let rows = || literal::parse_rows(value).map_err(|error| self.literal_error(value, &error));
        let alone = |expect: Expect| match value {
            "" => Ok(expect),
            _ => Err(self.error_at(value, format!("nothing may follow `{word}`"))),
        };
        match word {
            "blocked" => alone(Expect::Blocked),
            "ok" => alone(Expect::Ok),
            "cancelled" => alone(Expect::Cancelled),
            "resumes" => self.sessions(value).map(Expect::Resumes),
            "rows" => rows().map(Expect::Rows),
            "ordered" => rows().map(Expect::Ordered),
            "tag" if !value.is_empty() => Ok(Expect::Tag(value.to_string())),
            "affected" => {
                let count = value.parse().map_err(|_| self.error_at(value, "expected a number of rows"))?;
                Ok(Expect::Affected(count))
            }
            "error" => ErrorClass::parse(value).map(Expect::Error).ok_or_else(|| {
                let names = ErrorClass::ALL.iter().map(|class| class.name());
                let hint = suggest::hint(value, names.clone());
                let all = names.collect::<Vec<_>>().join(", ");
                self.error_at(value, format!("unknown error class `{value}`{hint} (classes: {all})"))
            }),
            _ => {
                let words = ["blocked", "resumes", "ok", "error", "affected", "tag", "rows", "ordered", "cancelled"];
                let hint = suggest::hint(word, words);
                let all = words.join(", ");
                Err(self.error_at(text, format!("unknown expectation `{word}`{hint} (expected one of {all})")))
            }
        }
    }

    fn sessions(&self, text: &str) -> Result<Vec<SessionName>, CaseError> {
        let session = |name| SessionName::new(name).ok_or_else(|| self.error_at(name, not_a_session(name)));
        let names = text.split_whitespace().map(session).collect::<Result<Vec<_>, _>>()?;
        if names.is_empty() {
            return Err(self.error_at(text, "expected the names of sessions"));
        }
        Ok(names)
    }

    // ---- directives -----------------------------------------------------------------------------------------------

    fn directive(&mut self, text: &'a str) -> Result<(), CaseError> {
        let (key, value) = split_word(text);
        let line = match key {
            "case" => return self.format_version(value),
            // Only ends the step above: for one whose string or comment is never closed.
            "" => return Ok(()),
            "isolation" => self.isolation(value)?,
            "node" => self.node(value)?,
            "first" => self.first(value)?,
            "program" if !value.is_empty() => Line::Program(value.to_string()),
            "anomaly" if !value.is_empty() => Line::Anomaly(value.to_string()),
            "schedule" => Line::Schedule(self.schedule(value)?),
            "assert" => Line::Assert(self.assertion(value)?),
            "final" => Line::Final(self.final_rows(value)?),
            _ if event::WORDS.contains(&key) => Line::Event(self.event(text, value)?),
            _ if DIRECTIVES.contains(&key) => return Err(self.error_at(value, format!("@{key} needs a value"))),
            _ => {
                let hint = match suggest::nearest(key, DIRECTIVES.iter().copied()) {
                    Some(name) => format!("; did you mean @{name}?"),
                    None => format!(" (directives: {})", DIRECTIVES.join(", ")),
                };
                return Err(self.error_at(key, format!("unknown directive @{key}{hint}")));
            }
        };
        self.push(line);
        Ok(())
    }

    fn format_version(&self, value: &str) -> Result<(), CaseError> {
        if value == FORMAT_VERSION.to_string() {
            return Ok(());
        }
        let message =
            format!("this version reads case format {FORMAT_VERSION}, not `{value}`; a newer txloom may read it");
        Err(self.error_at(value, message))
    }

    fn isolation(&mut self, value: &'a str) -> Result<Line, CaseError> {
        if let Some(level) = LevelName::parse(value) {
            return Ok(Line::Isolation(None, level));
        }
        let (first, rest) = split_word(value);
        match (SessionName::new(first), LevelName::parse(rest)) {
            (Some(session), Some(level)) => {
                self.mentions.push((session.clone(), self.at, self.offset_of(first)));
                Ok(Line::Isolation(Some(session), level))
            }
            _ => Err(self.error_at(value, unknown_level(value))),
        }
    }

    fn first(&mut self, value: &'a str) -> Result<Line, CaseError> {
        let expected = "expected a session, such as `@first a`";
        let session = SessionName::new(value).ok_or_else(|| self.error_at(value, expected))?;
        self.mentions.push((session.clone(), self.at, self.offset_of(value)));
        Ok(Line::First(session))
    }

    fn node(&mut self, value: &'a str) -> Result<Line, CaseError> {
        let (name, number) = split_word(value);
        match (SessionName::new(name), number.parse()) {
            (Some(session), Ok(node)) => {
                self.mentions.push((session.clone(), self.at, self.offset_of(name)));
                Ok(Line::Node(session, node))
            }
            _ => Err(self.error_at(value, "expected a session and the number of its node, such as `@node a 2`")),
        }
    }

    /// Sessions, which must turn out to have steps, and events in brackets.
    fn schedule(&mut self, value: &'a str) -> Result<Schedule, CaseError> {
        let mut entries = Vec::new();
        let mut rest = value;
        while !rest.is_empty() {
            let entry = match rest.strip_prefix('[') {
                Some(inner) => {
                    let end = inner.find(']').ok_or_else(|| self.error_at(rest, "this event has no `]`"))?;
                    rest = inner[end + 1..].trim_start();
                    ScheduleEntry::Event(self.event(&inner[..end], inner)?)
                }
                None => {
                    let end = rest.find(|c: char| c.is_whitespace() || c == '[').unwrap_or(rest.len());
                    let (text, after) = rest.split_at(end);
                    let name = SessionName::new(text).ok_or_else(|| self.error_at(text, not_a_session(text)))?;
                    self.mentions.push((name.clone(), self.at, self.offset_of(text)));
                    rest = after.trim_start();
                    ScheduleEntry::Step(name)
                }
            };
            entries.push(entry);
        }
        if entries.is_empty() {
            return Err(self.error_at(value, "expected the names of sessions"));
        }
        Ok(Schedule(entries))
    }

    fn assertion(&self, value: &'a str) -> Result<Assert, CaseError> {
        Assert::parse(value).map_err(|usage| self.error_at(value, usage))
    }

    fn final_rows(&self, value: &'a str) -> Result<Final, CaseError> {
        let (guard, rest) = self.guard(value)?;
        let usage = "expected a table and its rows, such as `@final t (1, 'a') (2, NULL)` or `@final t (empty)`";
        let (table, rows) = rest.split_once(char::is_whitespace).ok_or_else(|| self.error_at(rest, usage))?;
        let rows = rows.trim();
        let rows = literal::parse_rows(rows).map_err(|error| self.literal_error(rows, &error))?;
        Ok(Final { guard, table: table.to_string(), rows })
    }

    /// An event; what is wrong with it is shown at `part`.
    fn event(&self, text: &str, part: &str) -> Result<Event, CaseError> {
        Event::parse(text).map_err(|problem| self.error_at(part, problem))
    }

    // ---- the whole ------------------------------------------------------------------------------------------------

    fn finish(self) -> Result<Case, CaseError> {
        let mut step_counts: BTreeMap<&SessionName, (usize, bool)> = BTreeMap::new();
        for entry in &self.entries {
            if let Line::Step(name, item, _) = &entry.line {
                let count = step_counts.entry(name).or_default();
                count.0 += 1;
                count.1 |= matches!(item, Item::Call(_));
            }
        }
        let stranger = self.mentions.iter().find(|(name, ..)| !step_counts.contains_key(name));
        if let Some((name, line, offset)) = stranger {
            let column = self.column_at(*line, *offset);
            let hint = suggest::hint(name.as_str(), step_counts.keys().map(|name| name.as_str()));
            return Err(self.error(*line, column, format!("no step belongs to a session `{name}`{hint}")));
        }
        if step_counts.len() > SESSIONS_MAX {
            let message = format!("the case has more than {SESSIONS_MAX} sessions, each of which is a connection");
            return Err(self.error(self.places.last().copied().unwrap_or_default(), 0, message));
        }
        self.check_schedules(&step_counts)?;
        Ok(Case { entries: self.entries, epilogue: self.prose, program: None })
    }

    /// A schedule has no more entries of a session than the session has steps, and replaces events in the line order.
    fn check_schedules(&self, step_counts: &BTreeMap<&SessionName, (usize, bool)>) -> Result<(), CaseError> {
        let event = self.entries.iter().position(|entry| matches!(entry.line, Line::Event(_)));
        for (entry, place) in self.entries.iter().zip(&self.places) {
            let Line::Schedule(schedule) = &entry.line else { continue };
            if let Some(event) = event {
                let message = "an event in the line order cannot stand beside a @schedule; write it there, in brackets";
                return Err(self.error(self.places[event], 0, message));
            }
            let mut entries: BTreeMap<&SessionName, usize> = BTreeMap::new();
            schedule.sessions().for_each(|name| *entries.entry(name).or_default() += 1);
            for (name, (count, has_calls)) in step_counts {
                let entries = entries.get(name).copied().unwrap_or_default();
                if entries > *count && !has_calls {
                    let message = format!("the schedule has {entries} entries of {name}, which has {count} steps");
                    return Err(self.error(*place, 0, message));
                }
            }
        }
        Ok(())
    }
}

fn is_misspelt_label(line: &str) -> bool {
    let name = line.strip_prefix("/*").and_then(|rest| rest.split_once("*/")).map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_') && label(line).is_none()
}

fn not_an_element(line: &str) -> String {
    if is_misspelt_label(line) {
        "a session name is a lower-case letter, then letters, digits, underscores".to_string()
    } else {
        "expected a label such as /*init*/ or /*a*/, a directive (`-- @…`) or a comment".to_string()
    }
}

fn not_a_session(name: &str) -> String {
    format!("`{name}` is not the name of a session (a lower-case letter, then letters, digits, underscores)")
}
