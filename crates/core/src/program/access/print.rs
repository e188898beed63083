//! Accesses as text, one line for each mention of a table, in a fixed order of its parts.
//!
//! ```text
//!   accounts: read {balance} test {id} by key; write {balance}
//!   orders: by scan; delete {amount, customer, id}
//! ```

use std::collections::BTreeSet;
use std::fmt;

use super::{Access, Effect, Lock, Place, Reach, TableAccess, Use};
use crate::program::predicate::Element;

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.tables.iter().map(TableAccess::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl fmt::Display for TableAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.table)?;
        for (word, columns) in [("read", &self.reads), ("test", &self.tests)] {
            if !columns.is_empty() {
                write!(f, " {word} {}", set(columns))?;
            }
        }
        match &self.reach {
            Reach::Nothing => {}
            Reach::Key(key) if key.primary => f.write_str(" by key")?,
            Reach::Key(_) => f.write_str(" by unique key")?,
            Reach::Scan => f.write_str(" by scan")?,
        }
        match self.lock {
            Some(Lock::Share) => f.write_str(" for share")?,
            Some(Lock::Update) => f.write_str(" for update")?,
            Some(Lock::Session) => f.write_str(" until released")?,
            Some(Lock::Release) => f.write_str(" released")?,
            None => {}
        }
        let verb = match self.effect {
            Effect::Read => return Ok(()),
            Effect::Insert => "insert",
            Effect::Update => "write",
            Effect::Delete => "delete",
            Effect::Upsert => "upsert",
        };
        let looks = !self.reads.is_empty() || !self.tests.is_empty() || self.reach != Reach::Nothing;
        write!(f, "{} {verb} {}", if looks { ";" } else { "" }, set(&self.writes))
    }
}

fn set(columns: &BTreeSet<String>) -> String {
    format!("{{{}}}", columns.iter().map(String::as_str).collect::<Vec<_>>().join(", "))
}

/// `:x for accounts.balance`
impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.variable)?;
        match &self.place {
            Place::Value(element) => write!(f, " for {element}"),
            Place::Test(elements) if elements.is_empty() => f.write_str(" to choose"),
            Place::Test(elements) => {
                let elements: Vec<String> = elements.iter().map(Element::to_string).collect();
                write!(f, " to choose by {}", elements.join(", "))
            }
            Place::Other => Ok(()),
        }
    }
}
