//! What cannot be part of a graph: observations that contradict each other.
//!
//! A graph needs a story for every row: it began with one version or with none, each version was replaced at most once, and
//! everybody saw one of them. Where there is none, the engine has done something that no order of the statements explains:
//!
//! ```text
//!   Stranger    somebody saw, or wrote over, what was rolled back             aborted read, dirty write
//!   Fork        two statements replaced the same version                     lost update (of births: a key taken twice)
//!   Unwritten   somebody saw a version that nobody wrote                      a row out of thin air, a write that tore
//!   Outside     a query returned a version that its table did not have        a query that disagrees with another
//!   Vanished    somebody did not find a row that nobody had deleted           a lost row, an aborted or missed write
//!   Twice       one read returned two rows with one primary key               a broken key
//!   Reused      a key was used again after it was deleted                     no bug
//! ```
//!
//! All but the last are bugs of the engine, at read committed and everything above it, *if* the observations are right:
//! reads beside a statement see what the statement sees, and every statement that writes is followed. A reused key is the
//! case's own doing: a statement that did not find the row cannot say before which birth that was.
//!
//! # Initial versions
//!
//! Nobody says with which version a row began. It is the one that is seen and that nobody wrote, and there can be only
//! one: of two different ones, or beside a birth, or if it is a version that one of the statements gave to *other* rows,
//! it is [`Odd::Unwritten`].

use std::collections::{BTreeMap, BTreeSet};

use super::lives::Life;
use super::{Row, Statement, Version};
use crate::schedule::StepRef;

/// Why there is no graph. See the essay for which of them are bugs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Odd {
    /// A version was seen or replaced that a transaction wrote which did not commit.
    #[error("{reader} met version {version} of {row}, which {writer} wrote, and its transaction did not commit")]
    Stranger {
        /// Who saw or replaced it.
        reader: StepRef,
        /// The row.
        row: Row,
        /// The version.
        version: i64,
        /// Who wrote it.
        writer: StepRef,
    },
    /// A version was seen or replaced that nobody wrote.
    #[error("{reader} met version {version} of {row}, which nobody wrote")]
    Unwritten {
        /// Who saw or replaced it.
        reader: StepRef,
        /// The row.
        row: Row,
        /// The version.
        version: i64,
    },
    /// A query returned a version that is not among those that it saw.
    #[error("{statement} returned version {version} of {row}, which the table did not have when it was read beside it")]
    Outside {
        /// The query.
        statement: StepRef,
        /// The row.
        row: Row,
        /// The version.
        version: i64,
    },
    /// Two statements replaced the same version.
    #[error("{first} and {second} both replaced {} of {row}", shown(*before))]
    Fork {
        /// The row.
        row: Row,
        /// The version; `None`: both inserted it.
        before: Version,
        /// The one that completed first.
        first: StepRef,
        /// The other one.
        second: StepRef,
    },
    /// A row was not found that was there from the start, or that the same transaction had inserted, and nobody deleted it.
    #[error("{reader} did not find {row}, which nobody deleted")]
    Vanished {
        /// Who did not find it.
        reader: StepRef,
        /// The row.
        row: Row,
    },
    /// A read returned two rows with the same primary key.
    #[error("{reader} met two rows with the primary key of {row}")]
    Twice {
        /// The statement beside the read.
        reader: StepRef,
        /// The row.
        row: Row,
    },
    /// A key was used again.
    #[error("{again} used the key of {row} again after it was deleted")]
    Reused {
        /// The row.
        row: Row,
        /// The statement that inserted it once more.
        again: StepRef,
    },
}

fn shown(version: Version) -> String {
    version.map_or_else(|| "the absence".to_string(), |version| format!("version {version}"))
}

impl Odd {
    /// Whether the engine is to blame.
    pub fn is_bug(&self) -> bool {
        !matches!(self, Odd::Reused { .. })
    }

    /// The row that it is about.
    pub fn row(&self) -> &Row {
        match self {
            Odd::Stranger { row, .. }
            | Odd::Unwritten { row, .. }
            | Odd::Outside { row, .. }
            | Odd::Fork { row, .. }
            | Odd::Vanished { row, .. }
            | Odd::Twice { row, .. }
            | Odd::Reused { row, .. } => row,
        }
    }

    /// The statements that it is about.
    pub fn steps(&self) -> Vec<&StepRef> {
        match self {
            Odd::Stranger { reader, writer, .. } => vec![writer, reader],
            Odd::Unwritten { reader, .. } | Odd::Vanished { reader, .. } | Odd::Twice { reader, .. } => vec![reader],
            Odd::Outside { statement, .. } => vec![statement],
            Odd::Fork { first, second, .. } => vec![first, second],
            Odd::Reused { again, .. } => vec![again],
        }
    }
}

/// The first contradiction: versions by statement, then lives by row, then what is missing; keys that are used again,
/// which are nobody's fault, only if there is nothing else.
pub(super) fn find(
    statements: &[Statement],
    lives: &BTreeMap<Row, Life>,
    strangers: &BTreeMap<i64, StepRef>,
) -> Option<Odd> {
    let assigned = statements.iter().flat_map(|statement| &statement.writes).filter_map(|write| write.after).collect();
    let mut finder = Finder { statements, lives, strangers, assigned, initial: BTreeMap::new() };
    finder.versions().or_else(|| finder.forks()).or_else(|| finder.vanished()).or_else(|| finder.reused())
}

struct Finder<'a> {
    statements: &'a [Statement],
    lives: &'a BTreeMap<Row, Life>,
    strangers: &'a BTreeMap<i64, StepRef>,
    /// Every version that a statement gave to some row.
    assigned: BTreeSet<i64>,
    /// The versions with which rows began.
    initial: BTreeMap<&'a Row, i64>,
}

impl<'a> Finder<'a> {
    /// Every version that somebody met has a writer who committed, or is initial.
    fn versions(&mut self) -> Option<Odd> {
        for statement in self.statements {
            let seen = statement.seen.iter().map(|(row, version)| (row, *version));
            let replaced = statement.writes.iter().filter_map(|write| Some((&write.row, write.before?)));
            let returned = statement.output.iter().flatten().map(|(row, version)| (row, *version));
            for (row, version) in seen.chain(replaced).chain(returned.clone()) {
                if let Some(odd) = self.version(&statement.step, row, version) {
                    return Some(odd);
                }
            }
            for (row, version) in returned {
                if statement.seen.get(row) != Some(&version) {
                    return Some(Odd::Outside { statement: statement.step.clone(), row: row.clone(), version });
                }
            }
        }
        None
    }

    fn version(&mut self, reader: &StepRef, row: &'a Row, version: i64) -> Option<Odd> {
        let life = self.lives.get(row);
        if life.is_some_and(|life| life.writers.contains_key(&version)) {
            return None;
        }
        let (reader, of) = (reader.clone(), row.clone());
        if let Some(writer) = self.strangers.get(&version) {
            return Some(Odd::Stranger { reader, row: of, version, writer: writer.clone() });
        }
        let is_born = life.is_some_and(|life| !life.births.is_empty() && life.deaths.is_empty());
        let is_only = *self.initial.entry(row).or_insert(version) == version;
        let can_be_initial = is_only && !is_born && !self.assigned.contains(&version);
        (!can_be_initial).then_some(Odd::Unwritten { reader, row: of, version })
    }

    /// Nobody replaced what another one had replaced.
    fn forks(&self) -> Option<Odd> {
        self.lives.iter().find_map(|(row, life)| {
            // A key that is deleted can be used again, so that deaths make room for births.
            let births = (life.births.len() > life.deaths.len() + 1).then_some((None, &life.births));
            let versions = life.replacers.iter().map(|(version, replacers)| (Some(*version), replacers));
            versions.chain(births).find_map(|(before, both)| {
                let [first, second, ..] = both.as_slice() else { return None };
                let step = |at: usize| self.statements[at].step.clone();
                Some(Odd::Fork { row: row.clone(), before, first: step(*first), second: step(*second) })
            })
        })
    }

    /// Whoever chooses among the rows of a table finds those that nobody deleted.
    fn vanished(&self) -> Option<Odd> {
        let begun: BTreeSet<&Row> = self.initial.keys().copied().chain(self.lives.keys()).collect();
        self.statements.iter().enumerate().find_map(|(at, statement)| {
            let missing = |row: &&&Row| {
                let uses = statement.uses.get(&row.table).copied().unwrap_or_default();
                uses.is_any() && !statement.seen.contains_key(**row) && self.must_be_there(at, row)
            };
            let row = (*begun.iter().find(missing)?).clone();
            Some(Odd::Vanished { reader: statement.step.clone(), row })
        })
    }

    /// Whether a statement cannot but find a row: nobody deleted it, and it was there from the start or its own
    /// transaction inserted it. (Other births may be too late, or in a transaction that it must not see.)
    fn must_be_there(&self, at: usize, row: &Row) -> bool {
        let Some(life) = self.lives.get(row) else { return true };
        let transaction = self.statements[at].transaction;
        let is_own = |birth: &usize| *birth < at && self.statements[*birth].transaction == transaction;
        life.deaths.is_empty() && (self.initial.contains_key(row) || life.births.iter().any(is_own))
    }

    fn reused(&self) -> Option<Odd> {
        self.lives.iter().find_map(|(row, life)| {
            let first = usize::from(!self.initial.contains_key(row));
            let again = self.statements[*life.births.get(first)?].step.clone();
            Some(Odd::Reused { row: row.clone(), again })
        })
    }
}
