//! A case: everything that is needed to reproduce a run, as a SQL file that people already write in bug reports.
//!
//! ```sql
//! -- @case 1
//! -- A lost update: both sessions read before either writes.
//! -- @isolation read committed
//! /*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
//! /*init*/ INSERT INTO t VALUES (1, 10);
//! /*a*/ BEGIN;
//! /*b*/ BEGIN;
//! /*a*/ UPDATE t SET v = 11 WHERE id = 1;
//! /*b*/ UPDATE t SET v = 12 WHERE id = 1;
//! -- > blocked
//! /*a*/ COMMIT;
//! -- > resumes b
//! /*b*/ COMMIT;
//! -- @final t (1, 12)
//! ```
//!
//! Labels delimit steps, semicolons do not: procedure bodies and strings need no lexing. The file is kept as a list of
//! [`Entry`]s in file order, each with the prose above it, so that a case that was read can be printed again without
//! losing a word; sessions, setup, schedule and so on are views of that list.
//!
//! * [`mod@parse`]: text → `Case`, with errors that name line and column
//! * [`mod@print`]: `Case` → text, in canonical form; `parse(print(c)) == c` for every case
//! * [`event`]: partitions, deliveries and the like
//! * [`expect`]: what a step is expected to do, and guards that say where
//! * [`check`]: does a trace meet a case's expectations?
//! * [`record`]: a trace's outcomes, as expectations

pub mod check;
pub mod event;
pub mod expect;
pub mod literal;
pub mod parse;
pub mod print;
pub mod record;

use std::fmt;
use std::sync::Arc;

pub use event::Event;
pub use expect::{Expect, Expectation, Guard, Rows};
pub use parse::{CaseError, parse, parse_with_lines};

use crate::dialect::Dialect;
use crate::level::LevelName;
use crate::program::Program;
use crate::program::interpret::CallEnd;
use crate::schedule::{Schedule, Turn};
use crate::script::EndedCall;
use crate::sql::{self, TokenKind};
use crate::value::Value;

/// The version of the case format that this library writes, and the only one that it reads.
pub const FORMAT_VERSION: u32 = 1;

/// The name of a session: a lower-case letter, then letters, digits and underscores; not `init`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionName(Arc<str>);

impl SessionName {
    /// Checks the name; `None` if it is not one.
    pub fn new(name: &str) -> Option<SessionName> {
        let mut chars = name.chars();
        let valid = chars.next().is_some_and(|c| c.is_ascii_lowercase())
            && chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            && name != "init";
        valid.then(|| SessionName(name.into()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The SQL text of one step: not empty, trimmed, without a final semicolon, and free of lines that a case file would
/// take for a label, a directive or an expectation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Sql(String);

impl Sql {
    /// Normalises and checks a statement; the error says why a case file cannot hold it.
    pub fn new(text: &str) -> Result<Sql, String> {
        let mut text = text.to_string();
        while text.contains("\r\n") {
            text = text.replace("\r\n", "\n");
        }
        let (trimmed, _) = parse::split_body(&text);
        if trimmed.is_empty() {
            return Err("the step is empty".to_string());
        }
        if trimmed.contains('\0') {
            return Err("the step contains a NUL character".to_string());
        }
        if trimmed.starts_with("-- call ") {
            return Err("the step reads as a call".to_string());
        }
        if let Some(line) = trimmed.lines().skip(1).find(|line| parse::is_structural(line)) {
            return Err(format!("a line inside the step would be read as part of the case format: {line}"));
        }
        Ok(Sql(trimmed.to_string()))
    }

    /// The text that is sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a session does next: a message, or a call of a procedure of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// One message to the server.
    Sql(Sql),
    /// An instance of a procedure: as many messages as its control flow asks for.
    Call(Call),
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Item::Sql(sql) => f.write_str(sql.as_str()),
            Item::Call(call) => call.fmt(f),
        }
    }
}

/// A procedure with its arguments. Prints as `withdraw(account=1, amount=50)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The procedure's name.
    pub procedure: String,
    /// The arguments, in the order in which they were written.
    pub arguments: Vec<(String, Value)>,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arguments: Vec<String> = self.arguments.iter().map(|(name, value)| format!("{name}={value}")).collect();
        write!(f, "{}({})", self.procedure, arguments.join(", "))
    }
}

/// When an assertion is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssertWhen {
    /// After the setup.
    Start,
    /// After each transaction.
    Each,
    /// After each call of a procedure.
    After,
    /// After the last step, once for each call of a procedure: what a call brought about is still there.
    Kept,
    /// After the last step.
    End,
}

impl AssertWhen {
    /// Every moment.
    pub const ALL: &'static [AssertWhen] =
        &[AssertWhen::Start, AssertWhen::Each, AssertWhen::After, AssertWhen::Kept, AssertWhen::End];

    /// The word of the `@assert` directive.
    pub fn name(self) -> &'static str {
        match self {
            AssertWhen::Start => "start",
            AssertWhen::Each => "each",
            AssertWhen::After => "after",
            AssertWhen::Kept => "kept",
            AssertWhen::End => "end",
        }
    }

    /// Whether it is asked about calls, not about a state.
    pub fn is_of_calls(self) -> bool {
        matches!(self, AssertWhen::After | AssertWhen::Kept)
    }
}

/// An assertion: holds iff its query returns no rows; the rows are the evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assert {
    /// When it is checked.
    pub when: AssertWhen,
    /// The procedure about whose calls it is; `Some` exactly if it [is of calls](AssertWhen::is_of_calls). In the query,
    /// `:name` is the value that a parameter has at the end of the call.
    pub procedure: Option<String>,
    /// What it is called.
    pub name: String,
    /// The query, on one line.
    pub sql: String,
}

impl Assert {
    /// Reads what follows `@assert`; the error says what is expected there.
    pub fn parse(text: &str) -> Result<Assert, &'static str> {
        let usage = "expected `@assert start|each|end NAME: SELECT …` or `@assert after|kept PROCEDURE NAME: SELECT …`";
        let (when, rest) = text.trim().split_once(char::is_whitespace).ok_or(usage)?;
        let when = AssertWhen::ALL.iter().copied().find(|moment| moment.name() == when).ok_or(usage)?;
        let (head, sql) = rest.split_once(':').ok_or(usage)?;
        let (procedure, name) = match head.trim().split_once(char::is_whitespace) {
            Some((procedure, name)) if when.is_of_calls() => (Some(procedure.to_lowercase()), name.trim()),
            None if when.is_of_calls() => return Err(usage),
            _ => (None, head.trim()),
        };
        let sql = sql.trim().trim_end_matches(';').trim_end();
        let is_complete = !name.is_empty() && !sql.is_empty();
        let assert = Assert { when, procedure, name: name.to_string(), sql: sql.to_string() };
        if is_complete { Ok(assert) } else { Err(usage) }
    }
}

impl Assert {
    /// Whether it is to be checked after this call: one of its procedure, that succeeded.
    pub fn is_about(&self, call: &EndedCall) -> bool {
        let is_its = |name: &String| name.eq_ignore_ascii_case(&call.procedure);
        call.end == CallEnd::Returned && self.procedure.as_ref().is_some_and(is_its)
    }

    /// The query, with the values of the call's variables.
    pub fn query_about(&self, call: &EndedCall, dialect: &dyn Dialect) -> String {
        let mut query = String::new();
        let mut done = 0;
        for token in sql::tokens(&self.sql).iter().filter(|token| token.kind == TokenKind::Variable) {
            let name = token.text.trim_start_matches(':').to_lowercase();
            if let Some(value) = call.variables.get(&name) {
                query.push_str(&self.sql[done..token.span.start]);
                dialect.push_literal(value, &mut query);
                done = token.span.end;
            }
        }
        query.push_str(&self.sql[done..]);
        query
    }
}

/// `each positive: SELECT …`
impl fmt::Display for Assert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.when.name())?;
        self.procedure.iter().try_for_each(|procedure| write!(f, "{procedure} "))?;
        write!(f, "{}: {}", self.name, self.sql)
    }
}

/// What a table is expected to hold at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Final {
    /// Where this is expected; everywhere if absent.
    pub guard: Option<Guard>,
    /// The table.
    pub table: String,
    /// Its rows, in any order.
    pub rows: Rows,
}

/// One element of a case file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// `@isolation LEVEL` or `@isolation SESSION LEVEL`.
    Isolation(Option<SessionName>, LevelName),
    /// `@node SESSION N`.
    Node(SessionName, u32),
    /// `@first SESSION`: in every serial order of calls, its calls come before those of others.
    First(SessionName),
    /// `@program FILE`, relative to the case file.
    Program(String),
    /// `@anomaly NAME`: the anomaly that the run shows if all expectations marked `[anomaly]` are met.
    Anomaly(String),
    /// `@schedule a b [heal] a …`; each one is a run of its own.
    Schedule(Schedule),
    /// `@assert WHEN NAME: QUERY`, or `@assert after|kept PROCEDURE NAME: QUERY`.
    Assert(Assert),
    /// `@final TABLE ROWS`.
    Final(Final),
    /// A positioned event.
    Event(Event),
    /// `/*init*/`: part of the setup.
    Init(Sql, Vec<Expectation>),
    /// A step of a session.
    Step(SessionName, Item, Vec<Expectation>),
}

/// A line with the prose above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Comment lines, without the leading `--`.
    pub prose: Vec<String>,
    /// What follows them.
    pub line: Line,
}

impl From<Line> for Entry {
    fn from(line: Line) -> Entry {
        Entry { prose: Vec::new(), line }
    }
}

/// Everything that is needed to reproduce a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Case {
    /// The file, element by element.
    pub entries: Vec<Entry>,
    /// Prose after the last element.
    pub epilogue: Vec<String>,
    /// The program that `@program` names, once somebody has read it.
    pub program: Option<Arc<Program>>,
}

/// A session of a case: its name and what it does.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionItems {
    /// The session's name.
    pub name: SessionName,
    /// Its items, in order.
    pub items: Vec<Item>,
    /// For each item, its position in [`Case::entries`].
    pub entries: Vec<usize>,
}

impl Case {
    /// The setup, one message each.
    pub fn setup(&self) -> Vec<String> {
        let init = |entry: &Entry| match &entry.line {
            Line::Init(sql, _) => Some(sql.as_str().to_string()),
            _ => None,
        };
        self.entries.iter().filter_map(init).collect()
    }

    /// The sessions, in order of their first step.
    pub fn sessions(&self) -> Vec<SessionItems> {
        let mut sessions: Vec<SessionItems> = Vec::new();
        for (position, entry) in self.entries.iter().enumerate() {
            let Line::Step(name, item, _) = &entry.line else { continue };
            let found = sessions.iter().position(|session| session.name == *name);
            let index = found.unwrap_or_else(|| {
                sessions.push(SessionItems { name: name.clone(), items: Vec::new(), entries: Vec::new() });
                sessions.len() - 1
            });
            sessions[index].items.push(item.clone());
            sessions[index].entries.push(position);
        }
        sessions
    }

    /// The isolation level that the case asks for in a session: its own, or the one for all.
    pub fn level_of(&self, session: &SessionName) -> Option<&LevelName> {
        let wanted = |of: Option<&SessionName>| {
            self.entries.iter().rev().find_map(|entry| match &entry.line {
                Line::Isolation(name, level) if name.as_ref() == of => Some(level),
                _ => None,
            })
        };
        wanted(Some(session)).or_else(|| wanted(None))
    }

    /// Runs every session at this level, whatever the case said.
    pub fn set_level(&mut self, level: LevelName) {
        self.entries.retain(|entry| !matches!(entry.line, Line::Isolation(..)));
        self.entries.insert(0, Line::Isolation(None, level).into());
    }

    /// The node that a session connects to.
    pub fn node_of(&self, session: &SessionName) -> Option<u32> {
        self.entries.iter().find_map(|entry| match &entry.line {
            Line::Node(name, node) if name == session => Some(*node),
            _ => None,
        })
    }

    /// Whether the calls of a session come before those of others in every serial order.
    pub fn is_first(&self, session: &SessionName) -> bool {
        self.entries.iter().any(|entry| matches!(&entry.line, Line::First(name) if name == session))
    }

    /// The file that `@program` names.
    pub fn program_path(&self) -> Option<&str> {
        self.entries.iter().find_map(|entry| match &entry.line {
            Line::Program(path) => Some(path.as_str()),
            _ => None,
        })
    }

    /// The name of the anomaly that the case provokes, if it says so.
    pub fn anomaly(&self) -> Option<&str> {
        self.entries.iter().find_map(|entry| match &entry.line {
            Line::Anomaly(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The explicit schedules, each a run of its own; empty if the line order is the schedule.
    pub fn schedules(&self) -> Vec<&Schedule> {
        self.entries
            .iter()
            .filter_map(|entry| match &entry.line {
                Line::Schedule(schedule) => Some(schedule),
                _ => None,
            })
            .collect()
    }

    /// Replaces all schedules by one. Events in the line order go, too: a schedule has those that it has.
    pub fn set_schedule(&mut self, schedule: Schedule) {
        self.entries.retain(|entry| !matches!(entry.line, Line::Schedule(_) | Line::Event(_)));
        let at = self.entries.iter().position(|entry| matches!(entry.line, Line::Init(..) | Line::Step(..)));
        self.entries.insert(at.unwrap_or(0), Line::Schedule(schedule).into());
    }

    /// The turns of the run under an explicit schedule, or (without one) in line order.
    pub fn turns(&self, schedule: Option<&Schedule>) -> Vec<Turn> {
        match schedule {
            Some(schedule) => schedule.0.iter().cloned().map(Turn::from).collect(),
            None => self
                .entries
                .iter()
                .filter_map(|entry| match &entry.line {
                    Line::Step(name, ..) => Some(Turn::Item(name.clone())),
                    Line::Event(event) => Some(Turn::Event(event.clone())),
                    _ => None,
                })
                .collect(),
        }
    }

    /// All events, of the line order and of the schedules.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.entries.iter().flat_map(|entry| match &entry.line {
            Line::Event(event) => vec![event],
            Line::Schedule(schedule) => schedule.events().collect(),
            _ => Vec::new(),
        })
    }

    /// The assertions for one moment.
    pub fn asserts(&self, when: AssertWhen) -> impl Iterator<Item = &Assert> {
        self.entries.iter().filter_map(move |entry| match &entry.line {
            Line::Assert(assert) if assert.when == when => Some(assert),
            _ => None,
        })
    }

    /// What tables are expected to hold at the end.
    pub fn finals(&self) -> impl Iterator<Item = &Final> {
        self.entries.iter().filter_map(|entry| match &entry.line {
            Line::Final(expected) => Some(expected),
            _ => None,
        })
    }

    /// The first paragraph of prose: the claim that the case proves.
    pub fn claim(&self) -> Option<String> {
        let prose = self.entries.iter().map(|entry| &entry.prose).find(|prose| !prose.is_empty())?;
        let lines: Vec<&str> =
            prose.iter().map(|line| line.trim()).skip_while(|l| l.is_empty()).take_while(|l| !l.is_empty()).collect();
        (!lines.is_empty()).then(|| lines.join(" "))
    }
}

#[cfg(test)]
mod tests;
