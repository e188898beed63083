//! Whether a read beside a statement sees what the statement sees: per engine and level.
//!
//! The versions that a statement saw are not told by the statement, but by reads right before it, in its own
//! transaction. What makes them evidence:
//!
//! ```text
//!   a   BEGIN  …  [all of u] [all of t] [t WHERE …]  UPDATE t … (SELECT … FROM u)  [all of t]  …  COMMIT
//!                 └───────────── nobody else completes a statement in between, nothing here waits ──────────────┘
//! ```
//!
//! Within the bracket nothing is committed by others, so whoever reads *what is committed now* reads the same all along;
//! and whoever reads a *snapshot* does so anyway. (A run in which something came in between, or waited, is not used.) The
//! one question left is which of the two the statement reads, in its target, in its subqueries, in its source; the reads
//! must do likewise. A transaction's own changes are seen by both.
//!
//! **PostgreSQL.** A statement has one snapshot for everything in it: taken at its beginning (READ COMMITTED; READ
//! UNCOMMITTED is another name for it) or at the beginning of the transaction (REPEATABLE READ, SERIALIZABLE). An UPDATE or
//! DELETE whose row has a newer version waits, takes the newer one or fails; without a wait, at READ COMMITTED, there is
//! no newer one, since the snapshot was taken just now. Plain reads.
//!
//! **SQLite.** A transaction reads one snapshot and writes only while that is the newest one. Plain reads.
//!
//! **The model.** A statement works on one copy of one version, made when it begins (READ COMMITTED) or when its
//! transaction does (SNAPSHOT ISOLATION, SERIALIZABLE), with the transaction's own changes. Plain reads.
//!
//! **InnoDB** has two ways of reading within one transaction. A *consistent* read takes a snapshot, a *locking* read the
//! newest version, which it locks first.
//!
//! | level | plain query | UPDATE, DELETE: own table | subqueries of UPDATE, source of INSERT … SELECT | subqueries of DELETE |
//! |---|---|---|---|---|
//! | READ UNCOMMITTED | newest, committed or not | locking | newest, committed or not | locking |
//! | READ COMMITTED | snapshot of the statement | locking | snapshot of the statement | locking |
//! | REPEATABLE READ | snapshot of the transaction | locking | locking | locking |
//! | SERIALIZABLE | locking; outside a transaction, a snapshot | locking | locking | locking |
//!
//! * READ COMMITTED: a snapshot of now and the newest committed version are the same thing, as long as nobody holds a lock;
//!   a statement that meets a lock waits, and is not used. (An UPDATE that meets a locked row reads its last committed
//!   version first, and waits only if that meets the condition: if not, it has seen just what a plain read sees.) So plain
//!   reads will do everywhere.
//! * REPEATABLE READ: a query reads the snapshot, so plain reads; everything that writes or locks reads the newest
//!   version, even in its subqueries, so locking reads. They lock more than the statement would, whole tables: others wait
//!   for them that would not have waited. That changes which interleavings are seen, not what they mean. A lock in the outer query
//!   does not reach its subqueries, so the Before-Write Read has one in each.
//! * REPEATABLE READ with `innodb_snapshot_isolation=ON`: a locking read of a row that is newer than the snapshot fails.
//!   So whatever succeeds has read what the snapshot has, and locking reads of whole tables would only fail more often
//!   than the statement. Plain reads.
//! * SERIALIZABLE: within a transaction every plain query is a locking one; outside, it reads what is committed, as does
//!   the statement after it. Plain reads.
//! * READ UNCOMMITTED is refused: a plain query sees rows that others have written and not committed, and an UPDATE beside
//!   it waits for those rows, or, if they are rolled back meanwhile, never sees them. A subquery of the same UPDATE does see
//!   them. No read sees what the whole statement sees, and what was read may never have been a version.
//!
//! The facts of this table are tested on real servers (`views.rs` of the integration tests).

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
}

const PLAIN: Views = Views { queries: View::Plain, writes: View::Plain };
const WRITES_LOCK: Views = Views { queries: View::Plain, writes: View::Locking };

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
            Ok(if is_snapshot { PLAIN } else { WRITES_LOCK })
        }
        ("mariadb" | "mysql", "read uncommitted") => {
            Err("at READ UNCOMMITTED a query sees what others have not committed, and a write beside it does not: no \
                 read tells what a write saw"
                .to_string())
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
                "repeatable read" if is_innodb && row.settings.is_empty() => Some(WRITES_LOCK),
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
