//! Text → syntax tree → text, with the older spelling of a shared lock.
//!
//! The parser knows `FOR SHARE`, MariaDB only `LOCK IN SHARE MODE`, MySQL both. So the older spelling is read as the
//! newer one, and written again where the statement had it, or where we add locks.

use sqlparser::ast::{Ident, ObjectName, Statement};

use super::Skip;
use crate::sql;
use crate::sql::parse::parse;

/// MySQL's spelling of a shared lock, old and new. All versions know the old one.
const OLD: &[&str] = &["LOCK", "IN", "SHARE", "MODE"];
const NEW: &[&str] = &["FOR", "SHARE"];

pub(super) const SEVERAL: Skip = Skip("several statements in one step");

/// A statement that was read.
pub(super) struct Parsed {
    pub(super) statement: Statement,
    /// Whether it used the older spelling.
    is_old: bool,
}

impl Parsed {
    /// Reads one statement.
    pub(super) fn read(text: &str) -> Result<Parsed, Skip> {
        if !is_single(text) {
            return Err(SEVERAL);
        }
        let new = respelled(text, OLD, NEW);
        let statement = parse(&new).ok_or(Skip("a statement that cannot be read"))?;
        Ok(Parsed { statement, is_old: new != text })
    }

    /// The statement as text, which can be read again.
    pub(super) fn print(&self) -> Result<String, Skip> {
        let text = self.statement.to_string();
        parse(&text).ok_or(Skip("a statement that cannot be written again"))?;
        Ok(if self.is_old { with_old_locks(&text) } else { text })
    }
}

/// Whether a text has no more than one statement. (A case has no semicolon at its end.)
pub(super) fn is_single(text: &str) -> bool {
    !sql::tokens(text).iter().any(|token| token.is_symbol(";"))
}

/// The text with shared locks in the older spelling.
pub(super) fn with_old_locks(text: &str) -> String {
    respelled(text, NEW, OLD)
}

/// Replaces words that follow each other; what is in strings and comments stays.
fn respelled(text: &str, from: &[&str], to: &[&str]) -> String {
    let tokens = sql::tokens(text);
    let mut changed = String::new();
    let mut end = 0;
    for window in tokens.windows(from.len()) {
        if window.iter().zip(from).all(|(token, word)| token.is_word(word)) {
            changed.push_str(&text[end..window[0].span.start]);
            changed.push_str(&to.join(" "));
            end = window[from.len() - 1].span.end;
        }
    }
    changed.push_str(&text[end..]);
    changed
}

/// A name as it is compared: without quotes, in lower case.
pub(super) fn plain(ident: &Ident) -> String {
    ident.value.to_lowercase()
}

/// The last part of a name, as it is compared.
pub(super) fn last_plain(name: &ObjectName) -> String {
    name.0.last().and_then(|part| part.as_ident()).map_or_else(|| name.to_string().to_lowercase(), plain)
}
