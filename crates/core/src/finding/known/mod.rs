//! Known behaviours: differences that everybody who hunts will find, and that somebody has written down already.
//!
//! A hunt between two systems finds the same few designs again and again: MariaDB from 11.6.2 on refuses what older
//! versions let through, InnoDB misses a row whose key moved while it waited. Such findings are counted apart, by the
//! public id under which the behaviour is known, so that what is *new* can be seen.
//!
//! What a hunt finds has other tables, other values, other bystanders every time. So an entry is not a case but a
//! *pattern over the runs* of a finding:
//!
//! ```toml
//! [[known]]
//! id = "MDEV-27992"
//! what = "a DELETE that waited for a change of the primary key misses the row under its new key"
//! source = "DT², Figure 3; expected behaviour to MySQL (bug 106629)"
//! oracle = "diff"
//! differs = ["count"]
//! on = "mariadb read committed, mysql read committed"
//! against = "postgres"
//! trace = ["a UPDATE t key committed", "b DELETE t waits for a, fewer, first"]
//! ```
//!
//! It matches a finding of the oracle `diff` about a count if one of its runs is *on* the one and another *against*
//! the other, and if in the run *on* the first there are, in this order and with anything in between:
//!
//! ```text
//!   a                        b
//!   UPDATE x SET k = 2                                 k is in the primary key of x, for which t stands; a commits
//!                            DELETE FROM x             waits for a, and hits fewer rows than in the other run;
//!                                                      the runs went the same way so far
//! ```
//!
//! 1. `pattern`: the language of `trace`; `read`: the file.
//! 2. `statement`: what a step is and which tables it touches, told from its tokens alone, in every dialect.
//! 3. `matching`: does the pattern occur?
//!
//! # Limits
//!
//! A pattern that occurs in a run need not be why the runs differ. Patterns therefore say what is different at which
//! step (`fewer`, `ok / waits`), and only reduced findings should be asked about: they hold little else. An entry
//! without a test of what it must *not* match is not accepted: see `corpus/known`.

mod pattern;
mod statement;
mod read;
mod matching;
#[cfg(test)]
mod tests;

use crate::case::Guard;
use crate::finding::Finding;
use pattern::Moment;

/// Everything that is wrong with a file of known behaviours.
pub type KnownError = crate::toml_text::FileError;

/// The file that is compiled in.
const SHIPPED: &str = include_str!("../../../../../known.toml");

/// Known behaviours.
#[derive(Debug, Clone, Default)]
pub struct Known {
    entries: Vec<Entry>,
}

/// One known behaviour.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The public id: `MDEV-27992`.
    pub id: String,
    /// What happens, in one sentence.
    pub what: String,
    /// Where it is described.
    pub source: String,
    /// The oracle that finds it.
    oracle: String,
    /// What it finds: the kind of the fingerprint, without the name of the oracle; empty for anything.
    differs: Vec<String>,
    /// The targets, with the levels, that show it.
    on: Guard,
    /// The targets that do not; `None` if one run says it all.
    against: Option<Guard>,
    /// What occurs in the run.
    trace: Vec<Moment>,
}

impl Known {
    /// Nothing is known.
    pub fn nothing() -> Known {
        Known::default()
    }

    /// Reads a file; `file` is its name in messages.
    pub fn parse(text: &str, file: &str) -> Result<Known, KnownError> {
        read::read(text, file).map(|entries| Known { entries })
    }

    /// The behaviours that are compiled in.
    pub fn shipped() -> Known {
        Known::parse(SHIPPED, "known.toml").expect("a test reads the file that is shipped")
    }

    /// These and those. An entry of `other` that has the id of one of these replaces it.
    pub fn join(mut self, other: Known) -> Known {
        self.entries.retain(|entry| other.entries.iter().all(|theirs| theirs.id != entry.id));
        self.entries.extend(other.entries);
        self
    }

    /// The entries, in the order of the file.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The first entry that a finding matches.
    pub fn matching(&self, finding: &Finding) -> Option<&Entry> {
        self.entries.iter().find(|entry| matching::matches(entry, finding))
    }
}
