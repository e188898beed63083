//! The language of patterns.
//!
//! ```text
//!   moment   = session statement [ outcome { "," outcome } [ "/" outcome { "," outcome } ] ]
//!            | session "resumes"
//!   session  = "a" | "b" | "c" | "d"          different letters stand for different sessions
//!   statement= verb [ table ] [ "key" ] [ "where" ] [ "not-in" ]
//!   verb     = "BEGIN" | "SELECT" | "SELECT FOR SHARE" | "SELECT FOR UPDATE" | "INSERT" | "UPDATE" | "DELETE" | "COMMIT" | "ROLLBACK"
//!            | "READ"                         any SELECT
//!            | "WRITE"                        an INSERT, UPDATE or DELETE
//!            | "LOCK"                         whatever locks rows that are there: an UPDATE, a DELETE, a locking SELECT
//!            | "STEP"                         anything
//!   table    = "t" | "u"                      different letters stand for different tables
//!   "key"                                     an UPDATE that assigns a column of the primary key
//!   "where"                                   a statement with a WHERE
//!   "not-in"                                  a statement with a condition NOT … IN (SELECT …)
//!   outcome  = "waits" | "waits for " session | "at once"
//!            | "ok" | "error" | "error " class
//!            | "open" | "idle"                the transaction's status after the step, as the server tells it
//!            | "committed"                    the transaction that it belongs to has committed
//!            | "fewer" | "more"               rows, changed or returned, than in the other run
//!            | "first"                        this is where the runs differ first (if not only in the data that they leave)
//! ```
//!
//! What stands behind the `/` is true of the same step in the other run.

use crate::outcome::ErrorClass;
use crate::suggest;

/// The letters that stand for sessions.
pub(super) const SESSIONS: &[&str] = &["a", "b", "c", "d"];
/// The letters that stand for tables.
pub(super) const TABLES: &[&str] = &["t", "u"];

/// A session of a pattern: a position in [`SESSIONS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SessionVariable(pub(super) usize);

/// A table of a pattern: a position in [`TABLES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TableVariable(pub(super) usize);

/// Something that occurs in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Moment {
    /// A step of this sort is submitted.
    Step(StepPattern),
    /// A step that waited goes on.
    Resumes(SessionVariable),
}

/// What is asked of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StepPattern {
    pub(super) session: SessionVariable,
    pub(super) verb: Verb,
    pub(super) table: Option<TableVariable>,
    /// It assigns a column of the primary key.
    pub(super) key: bool,
    /// It has a WHERE.
    pub(super) selective: bool,
    /// Whether it has a condition NOT … IN (SELECT …).
    pub(super) excluding: bool,
    /// What is true of it in the run itself.
    pub(super) here: Vec<Condition>,
    /// What is true of it in the run that it is compared with.
    pub(super) there: Vec<Condition>,
}

/// What sort of statement a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Begin,
    Select,
    SelectForShare,
    SelectForUpdate,
    Insert,
    Update,
    Delete,
    Commit,
    Rollback,
    Read,
    Write,
    Lock,
    Step,
}

impl Verb {
    /// Every verb; those that begin with another one stand before it.
    const ALL: &'static [(&'static str, Verb)] = &[
        ("BEGIN", Verb::Begin),
        ("SELECT FOR SHARE", Verb::SelectForShare),
        ("SELECT FOR UPDATE", Verb::SelectForUpdate),
        ("SELECT", Verb::Select),
        ("INSERT", Verb::Insert),
        ("UPDATE", Verb::Update),
        ("DELETE", Verb::Delete),
        ("COMMIT", Verb::Commit),
        ("ROLLBACK", Verb::Rollback),
        ("READ", Verb::Read),
        ("WRITE", Verb::Write),
        ("LOCK", Verb::Lock),
        ("STEP", Verb::Step),
    ];

    /// Whether a statement is of this sort; `None` is one that patterns have no word for.
    pub(super) fn covers(self, verb: Option<Verb>) -> bool {
        use Verb::{Delete, Insert, Lock, Read, Select, SelectForShare, SelectForUpdate, Step, Update, Write};
        match self {
            Read => matches!(verb, Some(Select | SelectForShare | SelectForUpdate)),
            Write => matches!(verb, Some(Insert | Update | Delete)),
            Lock => matches!(verb, Some(Update | Delete | SelectForShare | SelectForUpdate)),
            Step => true,
            _ => verb == Some(self),
        }
    }
}

/// What is true of a step in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    /// It waited, for that session if one is named.
    Waits(Option<SessionVariable>),
    /// It did not wait.
    AtOnce,
    /// It completed without an error.
    Ok,
    /// It failed, with an error of that class if one is named.
    Error(Option<ErrorClass>),
    /// A transaction is open after it.
    Open,
    /// No transaction is open after it.
    Idle,
    /// Its transaction committed.
    Committed,
    /// It changed or returned fewer rows than in the other run.
    Fewer,
    /// It changed or returned more rows than in the other run.
    More,
    /// It is the step at which the runs differ first, or they differ only in the data that they leave.
    First,
}

impl Condition {
    /// Whether it is about both runs.
    fn compares(self) -> bool {
        matches!(self, Condition::Fewer | Condition::More | Condition::First)
    }
}

/// The words that begin a condition, for messages.
const CONDITIONS: &[&str] = &["waits", "at once", "ok", "error", "open", "idle", "committed", "fewer", "more", "first"];

impl Moment {
    /// Reads a moment; the error says what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Moment, String> {
        let (first, rest) = split_word(text.trim());
        let session = session(first)?;
        if rest == "resumes" {
            return Ok(Moment::Resumes(session));
        }
        let (mut step, outcomes) = statement(session, rest)?;
        if step.key && step.verb != Verb::Update {
            return Err("key is said of an UPDATE".to_string());
        }
        let (here, there) = outcomes.split_once('/').map_or((outcomes, None), |(here, there)| (here, Some(there)));
        step.here = if here.trim().is_empty() { Vec::new() } else { conditions(here)? };
        step.there = there.map_or(Ok(Vec::new()), conditions)?;
        if step.there.iter().any(|condition| condition.compares()) {
            return Err("fewer, more and first are said before the /".to_string());
        }
        Ok(Moment::Step(step))
    }

    /// Whether it says something of the run that is compared with.
    pub(super) fn compares(&self) -> bool {
        match self {
            Moment::Resumes(_) => false,
            Moment::Step(step) => !step.there.is_empty() || step.here.iter().any(|condition| condition.compares()),
        }
    }

    /// The sessions that it names.
    pub(super) fn sessions(&self) -> Vec<SessionVariable> {
        let Moment::Step(step) = self else {
            let Moment::Resumes(session) = self else { return Vec::new() };
            return vec![*session];
        };
        let holders = step.here.iter().chain(&step.there).filter_map(|condition| match condition {
            Condition::Waits(holder) => *holder,
            _ => None,
        });
        std::iter::once(step.session).chain(holders).collect()
    }

    /// The table that it names.
    pub(super) fn table(&self) -> Option<TableVariable> {
        match self {
            Moment::Step(step) => step.table,
            Moment::Resumes(_) => None,
        }
    }
}

fn split_word(text: &str) -> (&str, &str) {
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim()))
}

fn session(word: &str) -> Result<SessionVariable, String> {
    let position = SESSIONS.iter().position(|letter| *letter == word);
    let expected = SESSIONS.join(", ");
    position.map(SessionVariable).ok_or_else(|| format!("expected a session ({expected}), found `{word}`"))
}

/// The statement, and what follows it.
fn statement(session: SessionVariable, text: &str) -> Result<(StepPattern, &str), String> {
    let ends = |rest: &&str| rest.is_empty() || rest.starts_with(char::is_whitespace);
    let known = Verb::ALL.iter().find_map(|(name, verb)| Some((*verb, text.strip_prefix(name).filter(ends)?.trim())));
    let Some((verb, rest)) = known else {
        let (word, _) = split_word(text);
        let names = Verb::ALL.iter().map(|(name, _)| *name);
        let hint = suggest::hint(word, names.clone());
        let all = names.collect::<Vec<_>>().join(", ");
        return Err(format!("unknown statement `{word}`{hint} (statements: {all}; or resumes)"));
    };
    let (word, after) = split_word(rest);
    let table = TABLES.iter().position(|letter| *letter == word).map(TableVariable);
    let rest = if table.is_some() { after } else { rest };
    let (key, rest) = flag(rest, "key");
    let (selective, rest) = flag(rest, "where");
    let (excluding, rest) = flag(rest, "not-in");
    Ok((StepPattern { session, verb, table, key, selective, excluding, here: Vec::new(), there: Vec::new() }, rest))
}

/// Whether a text begins with that word, and what follows it.
fn flag<'a>(text: &'a str, word: &str) -> (bool, &'a str) {
    match split_word(text) {
        (first, rest) if first == word => (true, rest),
        _ => (false, text),
    }
}

/// `waits for a, error deadlock`.
fn conditions(text: &str) -> Result<Vec<Condition>, String> {
    text.split(',').map(|part| condition(part.trim())).collect()
}

fn condition(text: &str) -> Result<Condition, String> {
    let (word, rest) = split_word(text);
    match (word, rest) {
        ("waits", "") => Ok(Condition::Waits(None)),
        ("waits", holder) => match split_word(holder) {
            ("for", name) => session(name).map(|holder| Condition::Waits(Some(holder))),
            _ => Err(format!("expected `waits` or `waits for a`, found `{text}`")),
        },
        ("at", "once") => Ok(Condition::AtOnce),
        ("ok", "") => Ok(Condition::Ok),
        ("error", "") => Ok(Condition::Error(None)),
        ("error", class) => ErrorClass::parse(class).map(|class| Condition::Error(Some(class))).ok_or_else(|| {
            let hint = suggest::hint(class, ErrorClass::ALL.iter().map(|class| class.name()));
            format!("unknown error class `{class}`{hint}")
        }),
        ("open", "") => Ok(Condition::Open),
        ("idle", "") => Ok(Condition::Idle),
        ("committed", "") => Ok(Condition::Committed),
        ("fewer", "") => Ok(Condition::Fewer),
        ("more", "") => Ok(Condition::More),
        ("first", "") => Ok(Condition::First),
        _ => {
            let hint = suggest::hint(text, CONDITIONS.iter().copied());
            Err(format!("unknown outcome `{text}`{hint} (outcomes: {})", CONDITIONS.join(", ")))
        }
    }
}
