//! Whether a read beside a statement sees what the statement sees: per engine and level.
//!
//! Which versions a statement saw is not told by the statement, but by reads right before it, in its own transaction.
//! What makes them evidence:
//!
//! ```text
//!   a   …  [all of u] [all of t] [t WHERE …]  UPDATE t … (SELECT … FROM u)  [all of t]  …  COMMIT
//!          └──────── nobody else completes anything in between, nothing here waits ────────┘
//! ```
//!
//! Within the bracket others commit nothing. So whoever reads *what is committed now* reads the same all along, and
//! whoever reads a *snapshot* does so anyway. (A run in which somebody came in between, or something waited, is not
//! used.) One question is left: which of the two does the statement read, in its target, its subqueries, its source?
//! The reads must do likewise. A transaction's own changes are seen by both.
//!
//! **PostgreSQL.** A statement has one snapshot for everything in it, taken when it begins (READ COMMITTED, of which
//! READ UNCOMMITTED is another name) or when its transaction does (REPEATABLE READ, SERIALIZABLE). An UPDATE or DELETE
//! may find that a row has a newer version than the snapshot: at READ COMMITTED only after a wait, since the snapshot
//! was taken just now, and above it fails. Plain reads.
//!
//! **SQLite.** A transaction reads one snapshot, and writes only while that is the newest one. Plain reads.
//!
//! **The model.** A statement works on one copy of one committed version, chosen when it begins (READ COMMITTED) or
//! when its transaction does (SNAPSHOT ISOLATION, SERIALIZABLE), with the transaction's own changes. Plain reads.
//!
//! **InnoDB** reads in two ways, even within one statement. A *consistent* read takes a snapshot; a *locking* read
//! takes the newest version, which it locks first, waiting until it is a committed one.
//!
//! | level | plain query | target | subqueries (1) | subqueries (2) |
//! |---|---|---|---|---|
//! | READ UNCOMMITTED | newest, committed or not | locking | newest, committed or not | locking |
//! | READ COMMITTED | snapshot of the statement | locking | snapshot of the statement | locking |
//! | REPEATABLE READ | snapshot of the transaction | locking | locking | locking |
//! | SERIALIZABLE | locking (3) | locking | locking | locking |
//!
//! *Target*: the table of an UPDATE or DELETE, or the tables that a query names in FROM before it says FOR UPDATE. (1)
//! Of an UPDATE; the source of an INSERT … SELECT. (2) Of a DELETE; of the VALUES of an INSERT. Subqueries of a query
//! read as a plain query does, even if it locks. (3) Outside a transaction: what is committed.
//!
//! * **READ COMMITTED.** A snapshot of now and the newest committed versions are the same thing, unless somebody holds
//!   a lock; who meets a lock waits, and what waited is not used. There is one exception: an UPDATE that meets a locked
//!   row looks at its last committed version first, and waits only if that meets the condition. If it does not, the
//!   UPDATE has seen what a plain read sees. Plain reads.
//! * **REPEATABLE READ.** A query reads the snapshot: plain reads. What writes or locks reads the newest versions, down
//!   to the last subquery: locking reads. A lock in a query does not reach its subqueries, so the Before-Write Read
//!   says it in each of them. These reads lock whole tables, and others wait for them who would not have waited for the
//!   statement. That changes which interleavings are seen, not what is true of them.
//! * **REPEATABLE READ with `innodb_snapshot_isolation=ON`.** A locking read fails if it meets a row that is newer than
//!   the snapshot. So a statement that succeeds has met nothing but what the snapshot has, while locking reads of whole
//!   tables would fail where the statement does not. Plain reads.
//! * **SERIALIZABLE.** Within a transaction every query locks. Outside, a read takes what is committed, and so does the
//!   statement after it, unless it waits. Plain reads.
//! * **READ UNCOMMITTED** is refused. A query sees rows that others have not committed, and so does a subquery of an
//!   UPDATE, while the UPDATE itself waits for their owner, or misses them if they are gone by then. No read sees what
//!   the whole statement sees, and what it sees may never have been a version.
//!
//! All of this is tried on the engines themselves by the integration test `views`; if they contradict, they are right.

use crate::engine::EngineInfo;
use crate::level::LevelName;

/// How the reads around a statement are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// Plain queries.
    Plain,
    /// Queries that lock what they read, in subqueries too, and so read what is there now.
    Locking,
}

/// How the reads are written at one level of one engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Views {
    /// Around a plain query.
    pub queries: View,
    /// Around a statement that writes, or locks what it reads.
    pub writes: View,
    /// Around an INSERT that leaves it to the keys that are there what it does: IGNORE, upserts, REPLACE.
    pub choices: View,
}

const PLAIN: Views = Views { queries: View::Plain, writes: View::Plain, choices: View::Plain };
const CHOICES_LOCK: Views = Views { choices: View::Locking, ..PLAIN };
const WRITES_LOCK: Views = Views { writes: View::Locking, ..CHOICES_LOCK };

/// The setting with which InnoDB's REPEATABLE READ is snapshot isolation.
const SNAPSHOT_ISOLATION: &str = "innodb_snapshot_isolation=ON";

/// The views of a level; the error says why there are none.
pub fn views(engine: &EngineInfo, level: &LevelName) -> Result<Views, String> {
    match (engine.family, level.as_str()) {
        ("postgres", "read uncommitted" | "read committed" | "repeatable read" | "serializable") => Ok(PLAIN),
        ("sqlite", "serializable") => Ok(PLAIN),
        ("model", "read committed" | "snapshot isolation" | "serializable") => Ok(PLAIN),
        ("mariadb" | "mysql", "read committed" | "serializable") => Ok(PLAIN),
        ("mariadb" | "mysql", "repeatable read") => {
            let is_snapshot = engine.settings.iter().any(|setting| setting == SNAPSHOT_ISOLATION);
            Ok(if is_snapshot { CHOICES_LOCK } else { WRITES_LOCK })
        }
        ("mariadb" | "mysql", "read uncommitted") => {
            Err("at READ UNCOMMITTED a query sees what others have not committed, and a write beside it does not: no \
                 read tells what a write saw"
                .to_string())
        }
        ("replicas", _) => {
            Err("replicas isolate nobody: what a statement saw may be taken back, and is no version then".to_string())
        }
        (family, level) => Err(format!("it is not known what a read beside a write sees on {family} at {level}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::MySql;
    use crate::engine::{Capabilities, Version};

    fn engine(family: &'static str, settings: &[&str]) -> EngineInfo {
        let level = LevelName::custom("serializable");
        EngineInfo {
            target: family.to_string(),
            family,
            version: Version::parse("1.0"),
            settings: settings.iter().map(ToString::to_string).collect(),
            dialect: &MySql,
            levels: vec![level.clone()],
            default_level: level,
            capabilities: Capabilities::default(),
            client: None,
        }
    }

    #[test]
    fn every_level_that_is_known_has_views_or_a_reason() {
        for row in crate::level::guarantees::TABLE {
            let views = views(&engine(row.engine, row.settings), &LevelName::custom(row.level));
            let is_innodb = ["mariadb", "mysql"].contains(&row.engine);
            let expect = match row.level {
                "read uncommitted" if is_innodb => None,
                "eventual" => None,
                // Nobody has looked into it.
                _ if row.engine == "h2" => None,
                "repeatable read" if is_innodb && row.settings.is_empty() => Some(WRITES_LOCK),
                "repeatable read" if is_innodb => Some(CHOICES_LOCK),
                _ => Some(PLAIN),
            };
            assert_eq!(views.as_ref().ok(), expect.as_ref(), "{} {}", row.engine, row.level);
        }
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let refused = |family, level| views(&engine(family, &[]), &LevelName::custom(level)).unwrap_err();
        assert!(refused("mariadb", "read uncommitted").contains("not committed"));
        let expect = "it is not known what a read beside a write sees on tidb at repeatable read";
        assert_eq!(refused("tidb", "repeatable read"), expect);
        assert!(refused("sqlite", "read uncommitted").contains("not known"));
    }
}
