//! What engines do on one node, as rules.
//!
//! What a level's name is worth, [`guarantees`](crate::level::guarantees) says: which anomalies can happen. To make a
//! plan, one has to know how they are prevented: what a query sees at its place in a schedule, and who would wait, or
//! be refused.
//!
//! | | plain queries see | writes and locking reads act on |
//! |---|---|---|
//! | InnoDB, read uncommitted | what is there, committed or not | what is committed |
//! | read committed | what is committed when the statement begins | what is committed then |
//! | InnoDB, repeatable read | what was committed at the transaction's first query | what is committed |
//! | snapshot isolation | what was committed at the transaction's first statement | the same, if unchanged since |
//!
//! Rows that were written or locked are locked until the transaction ends, everywhere. Foreign keys lock the row that
//! they refer to, against its removal (PostgreSQL) or against any change (InnoDB). InnoDB's serializable locks what
//! queries read; at repeatable read, it locks what writes read beside the rows that they change, and at read committed
//! what a DELETE or an `INSERT … VALUES ((SELECT …))` reads, but not `INSERT … SELECT` and the UPDATE of one table.
//!
//! # Limits
//!
//! What InnoDB locks beside the rows that match (gaps, but for those that queries inside of writes look into, and every
//! row that a scan without an index looks at) is not here: a plan may wait where nobody expects it, and a run says so.
//! Nor are plans in which somebody waits: two who have waited for a third one may go on at once. That H2's serializable
//! is none, which guarantees do not say either, is not here.

use std::fmt;

use crate::level::LevelName;
use crate::search::conflicts::Within;

/// What a plain query sees of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// What is there, committed or not.
    Latest,
    /// What was committed when the statement began.
    Statement,
    /// What was committed when the transaction's first statement began.
    FirstStatement,
    /// What was committed when the transaction's first plain query began.
    FirstQuery,
}

/// What writes and locking reads act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acts {
    /// What is committed when the statement begins.
    Committed,
    /// The transaction's snapshot; a row that was changed since refuses them.
    Snapshot,
}

/// Whether writes lock what they only read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InnerReads {
    /// They do not.
    Free,
    /// They do, but for `INSERT … SELECT` and the UPDATE of one table.
    Mostly,
    /// They do, shared.
    Locked,
}

/// What a foreign key does to the row that it refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum References {
    /// Nothing: it is looked up when the transaction commits.
    Late,
    /// It may not be removed, and its key not be changed, until the transaction ends.
    Keep,
    /// It may not be changed at all until then.
    Share,
}

/// The rules of one level of one engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineRules {
    /// The engine's family.
    pub engine: &'static str,
    /// The settings that it must have; rows that ask for more stand before those that ask for less.
    pub settings: &'static [&'static str],
    /// The level, by the engine's own name.
    pub level: &'static str,
    /// What plain queries see.
    pub view: View,
    /// What writes and locking reads act on.
    pub acts: Acts,
    /// Whether plain queries lock what they read, shared.
    pub queries_lock: bool,
    /// Whether queries that are parts of writes do.
    pub inner_reads: InnerReads,
    /// What foreign keys lock.
    pub references: References,
    /// Whether everything is serializable: then transactions are planned one after the other, and nothing else.
    pub serializable: bool,
}

const SETTING: &[&str] = &["innodb_snapshot_isolation=ON"];

/// The table.
pub const RULES: &[EngineRules] = &[
    serializable(row("sqlite", "serializable", View::FirstStatement, Acts::Snapshot, References::Keep)),
    row("model", "read committed", View::Statement, Acts::Committed, References::Late),
    row("model", "snapshot isolation", View::FirstStatement, Acts::Snapshot, References::Late),
    serializable(row("model", "serializable", View::FirstStatement, Acts::Snapshot, References::Late)),
    row("postgres", "read uncommitted", View::Statement, Acts::Committed, References::Keep),
    row("postgres", "read committed", View::Statement, Acts::Committed, References::Keep),
    row("postgres", "repeatable read", View::FirstStatement, Acts::Snapshot, References::Keep),
    serializable(row("postgres", "serializable", View::FirstStatement, Acts::Snapshot, References::Keep)),
    // The setting, the usual one since 11.6.2, makes a difference at repeatable read only.
    set(innodb("mariadb", "read uncommitted", View::Latest, Acts::Committed)),
    innodb("mariadb", "read uncommitted", View::Latest, Acts::Committed),
    set(innodb("mariadb", "read committed", View::Statement, Acts::Committed)),
    innodb("mariadb", "read committed", View::Statement, Acts::Committed),
    set(innodb("mariadb", "repeatable read", View::FirstQuery, Acts::Snapshot)),
    innodb("mariadb", "repeatable read", View::FirstQuery, Acts::Committed),
    set(locking(innodb("mariadb", "serializable", View::Statement, Acts::Committed))),
    locking(innodb("mariadb", "serializable", View::Statement, Acts::Committed)),
    innodb("mysql", "read uncommitted", View::Latest, Acts::Committed),
    innodb("mysql", "read committed", View::Statement, Acts::Committed),
    innodb("mysql", "repeatable read", View::FirstQuery, Acts::Committed),
    locking(innodb("mysql", "serializable", View::Statement, Acts::Committed)),
    row("h2", "read uncommitted", View::Latest, Acts::Committed, References::Share),
    row("h2", "read committed", View::Statement, Acts::Committed, References::Share),
    row("h2", "repeatable read", View::FirstStatement, Acts::Snapshot, References::Share),
    row("h2", "snapshot isolation", View::FirstStatement, Acts::Snapshot, References::Share),
    serializable(row("h2", "serializable", View::FirstStatement, Acts::Snapshot, References::Share)),
];

const fn row(engine: &'static str, level: &'static str, view: View, acts: Acts, references: References) -> EngineRules {
    let inner_reads = InnerReads::Free;
    let (settings, queries_lock, serializable) = (&[], false, false);
    EngineRules { engine, settings, level, view, acts, queries_lock, inner_reads, references, serializable }
}

/// InnoDB: at the lower levels some of the queries inside of writes lock, at the higher ones all do.
const fn innodb(engine: &'static str, level: &'static str, view: View, acts: Acts) -> EngineRules {
    let inner_reads = match view {
        View::Latest | View::Statement => InnerReads::Mostly,
        View::FirstStatement | View::FirstQuery => InnerReads::Locked,
    };
    EngineRules { inner_reads, ..row(engine, level, view, acts, References::Share) }
}

const fn serializable(rules: EngineRules) -> EngineRules {
    EngineRules { serializable: true, ..rules }
}

/// On a server with the setting.
const fn set(rules: EngineRules) -> EngineRules {
    EngineRules { settings: SETTING, ..rules }
}

/// Serializable by locks.
const fn locking(rules: EngineRules) -> EngineRules {
    EngineRules { serializable: true, queries_lock: true, inner_reads: InnerReads::Locked, ..rules }
}

impl EngineRules {
    /// The rules of an engine with these settings at one of its levels; `None` if nobody has written them down.
    pub fn of(engine: &str, settings: &[String], level: &LevelName) -> Option<&'static EngineRules> {
        RULES.iter().find(|rules| {
            rules.engine == engine
                && rules.level == level.as_str()
                && rules.settings.iter().all(|setting| settings.iter().any(|other| other == setting))
        })
    }

    /// Whether what is only looked at is locked.
    pub fn locks_reads(&self, within: Within) -> bool {
        match within {
            Within::Query => self.queries_lock,
            Within::Fill => self.inner_reads == InnerReads::Locked,
            Within::Write => self.inner_reads != InnerReads::Free,
        }
    }

    /// The rules of the same engine, with the same settings, at another level.
    pub fn at(&self, level: &LevelName) -> Option<&'static EngineRules> {
        let settings: Vec<String> = self.settings.iter().map(|setting| (*setting).to_string()).collect();
        EngineRules::of(self.engine, &settings, level)
    }
}

/// `postgres read committed`
impl fmt::Display for EngineRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.engine, self.level)?;
        if !self.settings.is_empty() {
            write!(f, " ({})", self.settings.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::guarantees::TABLE;

    /// Each level that something is known of has rules, and both tables agree on what is serializable.
    #[test]
    fn rules_and_guarantees_have_the_same_rows() {
        // What is replicated has axioms instead.
        let has_rules = |engine: &str| RULES.iter().any(|rules| rules.engine == engine);
        let rows = TABLE.iter().filter(|row| has_rules(row.engine));
        let of_guarantees: Vec<_> =
            rows.map(|row| (row.engine, row.level, row.settings, row.is_serializable())).collect();
        // A row with settings that is like the one without is there only to remember them.
        let is_reminder = |rules: &&EngineRules| {
            let without = EngineRules { settings: &[], ..**rules };
            !rules.settings.is_empty() && RULES.contains(&without)
        };
        let of_rules: Vec<_> = RULES
            .iter()
            .filter(|rules| !is_reminder(rules))
            .map(|rules| (rules.engine, rules.level, rules.settings, rules.serializable))
            .collect();
        assert_eq!(of_rules, of_guarantees);
    }

    #[test]
    fn settings_choose_the_row() {
        let level = LevelName::parse("repeatable read").unwrap();
        let acts = |settings: &[&str]| {
            let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
            EngineRules::of("mariadb", &settings, &level).unwrap().acts
        };
        assert_eq!((acts(&[]), acts(SETTING)), (Acts::Committed, Acts::Snapshot));
        let refusing = EngineRules::of("mariadb", &[SETTING[0].to_string()], &level).unwrap();
        let weaker = refusing.at(&LevelName::parse("rc").unwrap()).unwrap();
        assert_eq!((weaker.view, weaker.at(&level)), (View::Statement, Some(refusing)));
        assert_eq!(refusing.at(&level), Some(refusing));
        assert_eq!(refusing.at(&LevelName::parse("si").unwrap()), None);
    }
}
