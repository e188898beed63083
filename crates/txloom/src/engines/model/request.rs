//! What a statement asks of the model, told by its leading words.
//!
//! SQLite executes what reads or changes rows; whatever concerns transactions is the model's own business. The same
//! goes for `FOR UPDATE` and `FOR SHARE`, which SQLite does not know: the query runs without them, and the rows that it
//! selects are locked.

use txloom_core::outcome::DbError;
use txloom_core::sql::{StatementKind, Token, TokenKind, tokens, top_level};

use super::errors::{syntax, unsupported};
use super::locks::LockMode;
use crate::engines::embedded::admit::objection;

/// A statement, understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request<'a> {
    /// `BEGIN`.
    Begin,
    /// `COMMIT`, `END`.
    Commit,
    /// `ROLLBACK`.
    Rollback,
    /// `SAVEPOINT name`.
    Savepoint(String),
    /// `ROLLBACK TO name`.
    RollbackTo(String),
    /// `RELEASE name`.
    Release(String),
    /// Reads or changes rows.
    Run(&'a str),
    /// A query with `FOR UPDATE` or `FOR SHARE`.
    LockRows(LockRows),
    /// Changes the schema.
    Define(&'a str),
}

/// A query of one table that locks the rows that it selects.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LockRows {
    /// The query, as SQLite understands it.
    pub(super) query: String,
    /// The table.
    pub(super) table: String,
    /// What follows the select list, from `FROM` on: another select list gives the rows' identities.
    pub(super) source: String,
    pub(super) mode: LockMode,
}

impl Request<'_> {
    /// Understands a statement, or says why the model refuses it.
    pub(super) fn read(sql: &str) -> Result<Request<'_>, DbError> {
        admit(sql)?;
        let tokens = tokens(sql);
        Ok(match StatementKind::of(sql) {
            StatementKind::Begin => Request::Begin,
            StatementKind::Commit => Request::Commit,
            StatementKind::Rollback => Request::Rollback,
            StatementKind::Savepoint => savepoint(&tokens),
            StatementKind::Ddl => Request::Define(sql),
            StatementKind::Query if tokens.iter().any(|token| token.is_word("FOR")) => {
                Request::LockRows(lock_rows(sql, &tokens)?)
            }
            _ => Request::Run(sql),
        })
    }
}

/// Refuses statements that would leave the model's control.
pub(super) fn admit(sql: &str) -> Result<(), DbError> {
    objection(sql).map_or(Ok(()), |what| Err(unsupported(&what)))
}

/// The last token names the savepoint; a statement that SQLite does not parse never gets here.
fn savepoint<'a>(tokens: &[Token<'_>]) -> Request<'a> {
    let name = tokens.last().map_or(String::new(), |token| plain_name(token));
    match tokens.first() {
        Some(first) if first.is_word("SAVEPOINT") => Request::Savepoint(name),
        Some(first) if first.is_word("RELEASE") => Request::Release(name),
        _ => Request::RollbackTo(name),
    }
}

pub(super) fn plain_name(token: &Token<'_>) -> String {
    match token.kind {
        TokenKind::Quoted | TokenKind::String => {
            let quote = &token.text[..1];
            token.text.trim_matches(|c| quote.starts_with(c)).replace(&quote.repeat(2), quote)
        }
        _ => token.text.to_string(),
    }
}

fn lock_rows(sql: &str, tokens: &[Token<'_>]) -> Result<LockRows, DbError> {
    let refuse = || {
        syntax(
            "FOR UPDATE and FOR SHARE must end a query of a single table, without DISTINCT, GROUP BY, set operations \
             or further words",
        )
    };
    let [rest @ .., end_for, end_mode] = tokens else { return Err(refuse()) };
    let mode = match end_mode {
        mode if mode.is_word("UPDATE") => LockMode::Exclusive,
        mode if mode.is_word("SHARE") => LockMode::Shared,
        _ => return Err(refuse()),
    };
    if !end_for.is_word("FOR") || !rest.first().is_some_and(|token| token.is_word("SELECT")) {
        return Err(refuse());
    }
    let top = top_level(rest);
    let forbidden = ["DISTINCT", "GROUP", "HAVING", "WINDOW", "UNION", "INTERSECT", "EXCEPT", "JOIN", "FOR"];
    let from = top.iter().position(|token| token.is_word("FROM")).ok_or_else(refuse)?;
    let table = top.get(from + 1).filter(|token| is_name(token)).ok_or_else(refuse)?;
    let single = follows_single_table(&top[from + 2..]);
    if !single || top.iter().any(|token| forbidden.iter().any(|word| token.is_word(word))) {
        return Err(refuse());
    }
    let without_lock = &sql[..end_for.span.start];
    let limit = top.iter().any(|token| token.is_word("LIMIT"));
    // Without LIMIT the order does not matter, and it may speak of the select list.
    let order = top.iter().find(|token| token.is_word("ORDER") && !limit);
    let end = order.map_or(without_lock.len(), |token| token.span.start);
    Ok(LockRows {
        query: without_lock.trim_end().to_string(),
        table: plain_name(table),
        source: without_lock[top[from].span.start..end].trim_end().to_string(),
        mode,
    })
}

pub(super) fn is_name(token: &Token<'_>) -> bool {
    matches!(token.kind, TokenKind::Word | TokenKind::Quoted)
}

/// An alias may follow, then only conditions, order and limit: a comma, a dot or a parenthesis is something else.
fn follows_single_table(tokens: &[&Token<'_>]) -> bool {
    let clause = |token: &Token<'_>| ["WHERE", "ORDER", "LIMIT"].iter().any(|word| token.is_word(word));
    match tokens {
        [] => true,
        [first, ..] if clause(first) => true,
        [first, name, rest @ ..] if first.is_word("AS") && is_name(name) => {
            rest.first().is_none_or(|token| clause(token))
        }
        [name, rest @ ..] if is_name(name) => rest.first().is_none_or(|token| clause(token)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_understood() {
        let check = |sql: &'static str, expect: Request<'_>| assert_eq!(Request::read(sql), Ok(expect));
        check("BEGIN IMMEDIATE", Request::Begin);
        check("END TRANSACTION", Request::Commit);
        check("rollback", Request::Rollback);
        check("SAVEPOINT One", Request::Savepoint("One".into()));
        check("ROLLBACK TRANSACTION TO SAVEPOINT \"O\"\"ne\"", Request::RollbackTo("O\"ne".into()));
        check("RELEASE one", Request::Release("one".into()));
        check("SELECT 'for update'", Request::Run("SELECT 'for update'"));
        check("PRAGMA main.table_info(t)", Request::Run("PRAGMA main.table_info(t)"));
        check("DROP TABLE t", Request::Define("DROP TABLE t"));
    }

    #[test]
    fn what_leaves_the_models_control_is_refused() {
        for sql in [
            "ATTACH 'x' AS x",
            "VACUUM",
            "PRAGMA foreign_keys = OFF",
            "PRAGMA recursive_triggers",
            "CREATE VIRTUAL TABLE t USING fts5(x)",
            "CREATE TEMP TABLE t (a)",
            "CREATE TABLE temp.t (a)",
        ] {
            assert_eq!(Request::read(sql).unwrap_err().code, "MODEL_UNSUPPORTED", "{sql}");
        }
    }

    #[test]
    fn locking_queries_are_taken_apart() {
        let check = |sql: &str, table: &str, source: &str, mode: LockMode| {
            let Ok(Request::LockRows(rows)) = Request::read(sql) else { panic!("{sql}: {:?}", Request::read(sql)) };
            assert_eq!((rows.table.as_str(), rows.source.as_str(), rows.mode), (table, source, mode));
            assert!(sql.starts_with(&rows.query) && !rows.query.to_uppercase().contains("FOR "));
        };
        let update = LockMode::Exclusive;
        check("SELECT * FROM t FOR UPDATE", "t", "FROM t", update);
        check(
            "select a from \"t\" x where a in (select 1 from u) for share",
            "t",
            "from \"t\" x where a in (select 1 from u)",
            LockMode::Shared,
        );
        check("SELECT a AS b FROM t AS x ORDER BY b FOR UPDATE", "t", "FROM t AS x", update);
        check("SELECT a FROM t ORDER BY a LIMIT 1 FOR UPDATE", "t", "FROM t ORDER BY a LIMIT 1", update);
    }

    #[test]
    fn locking_queries_of_several_tables_are_refused() {
        for sql in [
            "SELECT * FROM t, u FOR UPDATE",
            "SELECT * FROM t JOIN u FOR UPDATE",
            "SELECT * FROM (SELECT 1) x FOR UPDATE",
            "SELECT * FROM f(1) FOR UPDATE",
            "SELECT * FROM main.t FOR UPDATE",
            "SELECT a FROM t GROUP BY a FOR UPDATE",
            "SELECT a FROM t UNION SELECT 1 FOR UPDATE",
            "SELECT * FROM t FOR UPDATE NOWAIT",
            "SELECT * FROM t FOR NO KEY UPDATE",
            "SELECT 1 FOR UPDATE",
        ] {
            assert_eq!(Request::read(sql).unwrap_err().code, "MODEL_SYNTAX", "{sql}");
        }
    }
}
