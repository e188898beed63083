//! The second line of defence on servers that are not ours: statements that reach beyond our own database are not sent.
//!
//! The first line is the role that logs in: what it may not do, no statement does. The text is looked at because roles
//! often may do more than they should. What it cannot catch is text that the server puts together itself
//! (`EXECUTE` of a variable, `dblink`); where such a thing can be seen to happen, it is refused, too.
//!
//! A text is read twice. The first reading is SQL's: strings and comments are no statements. Servers disagree with it in
//! corners (backslashes, comments that are executed or nested, bodies of functions in strings), and what hides there must
//! not get through: so a text with any of these is read a second time, with all quotes and comments taken for blanks. The
//! second reading may refuse a harmless text, and never lets more through.

mod mysql;
mod postgres;

use std::fmt;
use std::sync::{PoisonError, RwLock};

use txloom_core::engine::{EngineError, EngineErrorKind};
use txloom_core::sql::{TokenKind, tokens, unquoted_name};

/// What the text of a statement is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Syntax {
    #[cfg_attr(not(feature = "postgres"), allow(dead_code))]
    Postgres,
    #[cfg_attr(not(feature = "mysql"), allow(dead_code))]
    MySql,
}

/// Looks at statements before they are sent.
#[derive(Debug)]
pub(in crate::engines) struct StatementGuard {
    syntax: Syntax,
    /// Whether everything may be sent: the server is ours, or the user says so.
    is_open: bool,
    /// Our own database.
    own: String,
    /// The other databases of the server, in lower case.
    others: RwLock<Vec<String>>,
}

impl StatementGuard {
    /// Lets everything through.
    pub(in crate::engines) fn open() -> StatementGuard {
        StatementGuard { is_open: true, ..StatementGuard::new(Syntax::MySql, "") }
    }

    /// For a database of ours on a PostgreSQL server.
    #[cfg(feature = "postgres")]
    pub(in crate::engines) fn postgres(own: &str) -> StatementGuard {
        StatementGuard::new(Syntax::Postgres, own)
    }

    /// For a database of ours on a MySQL or MariaDB server.
    #[cfg(feature = "mysql")]
    pub(in crate::engines) fn mysql(own: &str) -> StatementGuard {
        StatementGuard::new(Syntax::MySql, own)
    }

    fn new(syntax: Syntax, own: &str) -> StatementGuard {
        StatementGuard { syntax, is_open: false, own: own.to_lowercase(), others: RwLock::default() }
    }

    /// Returns true if everything is let through.
    pub(in crate::engines) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Names the databases of the server.
    pub(in crate::engines) fn set_databases(&self, names: impl IntoIterator<Item = String>) {
        let names = names.into_iter().map(|name| name.to_lowercase()).filter(|name| *name != self.own).collect();
        *self.others.write().unwrap_or_else(PoisonError::into_inner) = names;
    }

    /// Refuses a message that reaches beyond our own database.
    pub(in crate::engines) fn check(&self, target: &str, sql: &str) -> Result<(), EngineError> {
        match self.trespass(sql) {
            None => Ok(()),
            Some(trespass) => {
                let sql = txloom_core::sql::one_line(sql);
                let why = format!(
                    "the statement `{sql}` is not sent, since it reaches beyond our own database: it {trespass}; leave it \
                     out, use a private server, or allow it with --allow-server-changes"
                );
                Err(EngineError::new(target, EngineErrorKind::Refused(why)))
            }
        }
    }

    fn trespass(&self, sql: &str) -> Option<Trespass> {
        if self.is_open {
            return None;
        }
        let others = self.others.read().unwrap_or_else(PoisonError::into_inner);
        let scope = Scope { own: &self.own, others: &others };
        let judge = match self.syntax {
            Syntax::Postgres => postgres::trespass,
            Syntax::MySql => mysql::trespass,
        };
        let reading = Reading::of_sql(sql);
        judge(&reading, &scope).or_else(|| {
            let raw = may_hide(sql).then(|| Reading::of_anything(sql))?;
            judge(&raw, &scope)
        })
    }
}

/// Which databases there are.
struct Scope<'a> {
    own: &'a str,
    others: &'a [String],
}

impl Scope<'_> {
    fn is_other(&self, name: &str) -> bool {
        self.others.iter().any(|other| other == name)
    }
}

/// How a statement reaches beyond our own database: the rest of a sentence about it.
#[derive(Debug, PartialEq, Eq)]
struct Trespass(String);

impl fmt::Display for Trespass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One word, string or sign of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Sign {
    /// A word or a quoted name, in lower case and without quotes.
    Word(String),
    /// A string, with its contents.
    Text(String),
    Symbol(String),
}

/// A text, taken apart.
struct Reading {
    signs: Vec<Sign>,
    /// Whether strings and comments were recognised, so that statements have a first word.
    is_exact: bool,
}

impl Reading {
    /// As SQL.
    fn of_sql(sql: &str) -> Reading {
        let sign = |token: &txloom_core::sql::Token<'_>| match token.kind {
            TokenKind::Word | TokenKind::Quoted => Sign::Word(unquoted_name(token.text).to_lowercase()),
            TokenKind::String => Sign::Text(inside(token.text).to_string()),
            _ => Sign::Symbol(token.text.to_string()),
        };
        Reading { signs: tokens(sql).iter().map(sign).collect(), is_exact: true }
    }

    /// With quotes and comment signs as blanks.
    fn of_anything(sql: &str) -> Reading {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '@';
        let mut signs = Vec::new();
        let mut rest = sql;
        while let Some(first) = rest.chars().next() {
            let end = if is_word(first) {
                let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                signs.push(Sign::Word(rest[..end].to_lowercase()));
                end
            } else {
                if ".,;()=".contains(first) {
                    signs.push(Sign::Symbol(first.to_string()));
                }
                first.len_utf8()
            };
            rest = &rest[end..];
        }
        // The number of `/*!50000 …` stands where a keyword would have to follow.
        signs.retain(
            |sign| !matches!(sign, Sign::Word(word) if word.len() >= 5 && word.bytes().all(|b| b.is_ascii_digit())),
        );
        Reading { signs, is_exact: false }
    }

    /// The word at a place; empty if there is none.
    fn word(&self, at: usize) -> &str {
        match self.signs.get(at) {
            Some(Sign::Word(word)) => word,
            _ => "",
        }
    }

    fn is_symbol(&self, at: usize, symbol: &str) -> bool {
        matches!(self.signs.get(at), Some(Sign::Symbol(found)) if found == symbol)
    }

    fn is_text(&self, at: usize) -> bool {
        matches!(self.signs.get(at), Some(Sign::Text(_)))
    }

    fn has(&self, words: &[&str]) -> bool {
        self.signs.iter().any(|sign| matches!(sign, Sign::Word(word) if words.contains(&word.as_str())))
    }

    /// The places of a word.
    fn places<'a>(&'a self, word: &'a str) -> impl Iterator<Item = usize> + 'a {
        (0..self.signs.len()).filter(move |at| self.word(*at) == word)
    }

    /// The statements, as ranges of signs without the semicolons.
    fn statements(&self) -> Vec<Reading> {
        let parts = self.signs.split(|sign| *sign == Sign::Symbol(";".to_string()));
        parts
            .filter(|part| !part.is_empty())
            .map(|part| Reading { signs: part.to_vec(), is_exact: self.is_exact })
            .collect()
    }

    /// The strings that may hold code.
    fn texts(&self) -> impl Iterator<Item = &str> {
        self.signs.iter().filter_map(|sign| match sign {
            Sign::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }
}

/// A string without its quotes, whichever they are.
fn inside(text: &str) -> &str {
    if let Some(rest) = text.strip_prefix('$') {
        let tag = rest.find('$').map_or(text.len(), |end| end + 2);
        return text.get(tag..text.len().saturating_sub(tag)).unwrap_or_default();
    }
    let text = text.find('\'').map_or(text, |quote| &text[quote + 1..]);
    text.strip_suffix('\'').unwrap_or(text)
}

/// Returns true if a server may read the text in another way than we do.
fn may_hide(sql: &str) -> bool {
    let nests = sql.find("/*").is_some_and(|start| {
        let rest = &sql[start + 2..];
        rest.find("/*").is_some_and(|inner| rest.find("*/").is_none_or(|end| inner < end))
    });
    let bytes = sql.as_bytes();
    let odd_dashes =
        sql.match_indices("--").any(|(at, _)| bytes.get(at + 2).is_some_and(|next| !next.is_ascii_whitespace()));
    nests || odd_dashes || sql.contains(['\\', '#', '$']) || sql.contains("/*!") || sql.contains("/*M!")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    pub(super) fn check(guard: &StatementGuard, harmless: &[&str], harmful: &[&str]) {
        for sql in harmless {
            assert_eq!(guard.trespass(sql), None, "{sql}");
        }
        for sql in harmful {
            let error = guard.check("t", sql).expect_err(sql).to_string();
            assert!(error.contains("--allow-server-changes"), "{error}");
        }
    }

    #[test]
    fn an_open_guard_lets_everything_through() {
        check(&StatementGuard::open(), &["DROP DATABASE precious", ""], &[]);
    }

    #[test]
    fn strings_are_taken_apart() {
        assert_eq!(inside("'a''b'"), "a''b");
        assert_eq!(inside("E'a'"), "a");
        assert_eq!(inside("$x$ a $x$"), " a ");
        assert_eq!(inside("$$a"), "");
        assert_eq!(inside("'"), "");
    }
}
