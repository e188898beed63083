//! Statements about transactions, and those that only drivers care for.

use super::value::hash_of;

/// The levels that logs name, by their position.
pub(super) const LEVELS: [&str; 4] = ["read uncommitted", "read committed", "repeatable read", "serializable"];

/// A level of [`LEVELS`].
pub(super) type Level = u8;

/// What a statement does to transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Control {
    /// BEGIN, perhaps with a level.
    Begin(Option<Level>),
    /// COMMIT; with AND CHAIN the next transaction begins at once.
    Commit { chain: bool },
    /// ROLLBACK.
    Rollback { chain: bool },
    /// SAVEPOINT, by a hash of its name.
    Savepoint(u64),
    /// ROLLBACK TO.
    RollbackTo(u64),
    /// RELEASE.
    Release(u64),
    /// SET autocommit.
    Autocommit(bool),
    /// SET TRANSACTION ISOLATION LEVEL: of this or the next transaction.
    NextLevel(Level),
    /// SET SESSION …: of all that follow.
    SessionLevel(Level),
    /// Nothing that reads or writes rows: settings, SHOW, DEALLOCATE, …
    Noise,
}

/// Tells by the first words; `None` for what may read or write rows.
pub(super) fn of(statement: &[u8]) -> Option<Control> {
    let mut words = statement.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').filter(|it| !it.is_empty());
    let first = words.next()?;
    let is = |word: &[u8], name: &str| word.eq_ignore_ascii_case(name.as_bytes());
    let any = |names: &[&str]| names.iter().any(|name| is(first, name));
    let has = |name: &str| has_word(statement, name);
    // Most statements are none of these, and begin with one of four words.
    if any(&["SELECT", "UPDATE", "INSERT", "DELETE"]) {
        return None;
    }
    let chain = || has("CHAIN") && !has("NO");
    if is(first, "BEGIN") || (is(first, "START") && has("TRANSACTION")) {
        return Some(Control::Begin(level(statement)));
    }
    if any(&["COMMIT", "END"]) {
        return Some(if has("PREPARED") { Control::Noise } else { Control::Commit { chain: chain() } });
    }
    if any(&["ROLLBACK", "ABORT"]) {
        let name = words.next_back().map_or(0, name_hash);
        return Some(if has("TO") { Control::RollbackTo(name) } else { Control::Rollback { chain: chain() } });
    }
    if any(&["SAVEPOINT", "RELEASE"]) {
        let name = words.next_back().map_or(0, name_hash);
        return Some(if is(first, "SAVEPOINT") { Control::Savepoint(name) } else { Control::Release(name) });
    }
    if is(first, "SET") {
        return Some(set(statement));
    }
    let noise = [
        "SHOW",
        "DISCARD",
        "DEALLOCATE",
        "PREPARE",
        "RESET",
        "LISTEN",
        "UNLISTEN",
        "NOTIFY",
        "USE",
        "EXPLAIN",
        "DESCRIBE",
        "DESC",
        "KILL",
        "FLUSH",
        "ANALYZE",
        "VACUUM",
        "CLUSTER",
        "REINDEX",
        "CHECKPOINT",
        "LOAD",
        "CLOSE",
        "FETCH",
        "MOVE",
        "UNLOCK",
        "OPTIMIZE",
        "CHECK",
        "HELP",
        "PURGE",
        "CHANGE",
        "XA",
        "BINLOG",
        "HANDLER",
        "KEEPALIVE",
        "ping",
    ];
    any(&noise).then_some(Control::Noise)
}

/// `SET autocommit = 0`, `SET [SESSION] TRANSACTION ISOLATION LEVEL …`, `SET SESSION CHARACTERISTICS AS TRANSACTION …`.
fn set(statement: &[u8]) -> Control {
    let has = |name: &str| has_word(statement, name);
    if has("autocommit") {
        let tail = statement.split(|byte| *byte == b'=').next_back().unwrap_or_default();
        let tail: Vec<u8> = tail.iter().filter(|byte| byte.is_ascii_alphanumeric()).copied().collect();
        let is_off = [&b"0"[..], b"off", b"false"].iter().any(|off| tail.eq_ignore_ascii_case(off));
        return Control::Autocommit(!is_off);
    }
    let about_level =
        has("ISOLATION") || has("transaction_isolation") || has("default_transaction_isolation") || has("tx_isolation");
    match level(statement).filter(|_| about_level) {
        Some(level) if has("TRANSACTION") && !has("SESSION") && !has("GLOBAL") => Control::NextLevel(level),
        Some(level) if !has("GLOBAL") => Control::SessionLevel(level),
        _ => Control::Noise,
    }
}

/// The level that a statement names.
fn level(statement: &[u8]) -> Option<Level> {
    let plain: Vec<u8> = statement
        .iter()
        .map(|byte| if byte.is_ascii_alphanumeric() { byte.to_ascii_lowercase() } else { b' ' })
        .collect();
    let plain = String::from_utf8_lossy(&plain);
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    LEVELS.iter().position(|level| plain.contains(level)).and_then(|at| Level::try_from(at).ok())
}

fn has_word(statement: &[u8], word: &str) -> bool {
    let words = statement.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    words.into_iter().any(|one| one.eq_ignore_ascii_case(word.as_bytes()))
}

fn name_hash(name: &[u8]) -> u64 {
    hash_of(&name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_is_told_by_the_first_words() {
        let name = |name: &str| hash_of(name.as_bytes());
        for (statement, expect) in [
            ("BEGIN", Some(Control::Begin(None))),
            ("begin isolation level Repeatable Read read only", Some(Control::Begin(Some(2)))),
            ("START TRANSACTION", Some(Control::Begin(None))),
            ("START SLAVE", None),
            ("COMMIT AND CHAIN", Some(Control::Commit { chain: true })),
            ("END", Some(Control::Commit { chain: false })),
            ("ROLLBACK TO SAVEPOINT \"Sa_1\"", Some(Control::RollbackTo(name("sa_1")))),
            ("SAVEPOINT sa_1", Some(Control::Savepoint(name("sa_1")))),
            ("RELEASE SAVEPOINT sa_1", Some(Control::Release(name("sa_1")))),
            ("ROLLBACK", Some(Control::Rollback { chain: false })),
            ("SET autocommit=0", Some(Control::Autocommit(false))),
            ("SET @@session.autocommit = ON", Some(Control::Autocommit(true))),
            ("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", Some(Control::NextLevel(3))),
            (
                "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED",
                Some(Control::SessionLevel(1)),
            ),
            ("SET SESSION transaction_isolation='REPEATABLE-READ'", Some(Control::SessionLevel(2))),
            ("SET NAMES utf8", Some(Control::Noise)),
            ("SHOW search_path", Some(Control::Noise)),
            ("SELECT 1", None),
            ("", None),
        ] {
            assert_eq!(of(statement.as_bytes()), expect, "{statement}");
        }
    }
}
