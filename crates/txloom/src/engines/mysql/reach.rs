//! What a statement may change: rows, the schema, or the server.
//!
//! A reset must undo all of it, and the less a case has done, the cheaper that is:
//!
//! ```text
//!   Rows      INSERT, UPDATE, DELETE, SELECT, BEGIN, COMMIT …     empty the tables, fill them again
//!   Schema    CREATE TABLE, CALL, whatever is not known           drop the database, create it again
//!   Server    SET GLOBAL, CREATE USER, XA …                       start the server again on pristine data
//! ```
//!
//! The answer may be too high, never too low: a statement is told by its first word, and a text that could hide another
//! statement (semicolons with escapes, executable comments) counts as one that does.

use txloom_core::sql::{Token, TokenKind, tokens};

use super::answer::statements;

/// What a statement may change, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// Rows of tables.
    Rows,
    /// Anything in our databases.
    Schema,
    /// Anything at all.
    Server,
}

/// Statements that change rows or nothing.
const ROW_STATEMENTS: &[&str] = &[
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "REPLACE",
    "WITH",
    "VALUES",
    "TABLE",
    "BEGIN",
    "START",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT",
    "RELEASE",
    "SET",
    "SHOW",
    "EXPLAIN",
    "DESC",
    "DESCRIBE",
    "DO",
    "USE",
    "UNLOCK",
    "LOCK",
    "KILL",
];

/// Words of statements that change the server: settings, accounts, plugins, replication, prepared transactions.
const SERVER_WORDS: &[&str] = &[
    "GLOBAL",
    "PERSIST",
    "PERSIST_ONLY",
    "PASSWORD",
    "USER",
    "ROLE",
    "GRANT",
    "REVOKE",
    "INSTALL",
    "UNINSTALL",
    "SONAME",
    "SERVER",
    "TABLESPACE",
    "LOGFILE",
    "INSTANCE",
    "MASTER",
    "SLAVE",
    "REPLICA",
    "BINLOG",
    "BINARY_LOG",
    "SHUTDOWN",
    "RESTART",
    "XA",
    "CLONE",
    "RESET",
    "MYSQL",
];

impl Reach {
    /// All of them, weakest first; each stands at its own number.
    pub(super) const ALL: [Reach; 3] = [Reach::Rows, Reach::Schema, Reach::Server];

    /// How far a message may reach.
    pub(super) fn of(sql: &str) -> Reach {
        let may_hide = sql.contains("/*!") || sql.contains("/*M!") || (sql.contains(';') && sql.contains('\\'));
        if !may_hide && statements(sql).into_iter().all(changes_rows_only) {
            return Reach::Rows;
        }
        let upper = sql.to_ascii_uppercase();
        let is_word =
            |word: &str| upper.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|part| part == word);
        if SERVER_WORDS.iter().any(|word| is_word(word)) { Reach::Server } else { Reach::Schema }
    }
}

fn changes_rows_only(statement: &str) -> bool {
    let tokens = tokens(statement);
    let first = tokens.iter().find(|token| !token.is_symbol("(")).map(|token| token.text.to_ascii_uppercase());
    let Some(first) = first.filter(|first| ROW_STATEMENTS.contains(&first.as_str())) else { return false };
    let has = |words: &[&str]| tokens.iter().any(|token| words.iter().any(|word| token.is_word(word)));
    match first.as_str() {
        "SET" => !tokens.iter().any(is_global_setting),
        "START" => has(&["TRANSACTION"]),
        "SELECT" | "SHOW" | "EXPLAIN" | "DESC" | "DESCRIBE" | "VALUES" | "TABLE" => !has(&["OUTFILE", "DUMPFILE"]),
        // The server's own tables.
        "INSERT" | "UPDATE" | "DELETE" | "REPLACE" | "WITH" => !tokens.iter().any(is_system_database),
        _ => true,
    }
}

/// `SET GLOBAL …`, `SET PERSIST …`, `SET @@global.…`, `SET PASSWORD`, `SET DEFAULT ROLE`.
fn is_global_setting(token: &Token<'_>) -> bool {
    let text = token.text.to_ascii_uppercase();
    let name = text.trim_start_matches('@');
    token.kind == TokenKind::Word && ["GLOBAL", "PERSIST", "PERSIST_ONLY", "PASSWORD", "ROLE"].contains(&name)
}

fn is_system_database(token: &Token<'_>) -> bool {
    let name = token.text.trim_matches(['`', '"']);
    matches!(token.kind, TokenKind::Word | TokenKind::Quoted)
        && ["mysql", "sys", "performance_schema"].iter().any(|system| name.eq_ignore_ascii_case(system))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_reaches_as_far_as_its_statements() {
        use Reach::*;
        for (sql, expect) in [
            ("SELECT * FROM t FOR UPDATE", Rows),
            ("(SELECT 1) UNION (SELECT 2)", Rows),
            ("BEGIN; UPDATE t SET v = 1; COMMIT;", Rows),
            ("START TRANSACTION READ ONLY", Rows),
            ("SET SESSION lock_wait_timeout = 1", Rows),
            ("SET @x = 1", Rows),
            ("INSERT INTO t VALUES ('CREATE USER; GLOBAL')", Rows),
            ("", Rows),
            ("CREATE TABLE t (a INT)", Schema),
            ("TRUNCATE t", Schema),
            ("CALL p()", Schema),
            ("ANALYZE TABLE t", Schema),
            ("BEGIN; DROP TABLE t", Schema),
            ("SELECT 'it\\'s'; DROP TABLE t -- '", Schema),
            ("SELECT 1 /*! ; DROP TABLE t */", Schema),
            ("SELECT 1 INTO OUTFILE 'x'", Schema),
            ("SET GLOBAL innodb_deadlock_detect = OFF", Server),
            ("set @@global.lock_wait_timeout = 1", Server),
            ("SET PASSWORD = ''", Server),
            ("CREATE USER u", Server),
            ("XA START 'x'", Server),
            ("START SLAVE", Server),
            ("UPDATE mysql.user SET x = 1", Server),
            ("DELETE FROM `mysql`.`proc`", Server),
            ("PREPARE s FROM 'SET GLOBAL x = 1'", Server),
            ("CREATE PROCEDURE p() SET GLOBAL x = 1", Server),
        ] {
            assert_eq!(Reach::of(sql), expect, "{sql}");
        }
    }
}
