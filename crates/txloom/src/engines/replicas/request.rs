//! What a statement asks of the replicas, told by its leading words.

use txloom_core::outcome::DbError;
use txloom_core::sql::{StatementKind, plain_name, tokens};

use super::errors::unsupported;
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
}

impl Request<'_> {
    /// Understands a statement, or says why it is refused.
    pub(super) fn read(sql: &str) -> Result<Request<'_>, DbError> {
        admit(sql)?;
        if tokens(sql).get(1).is_some_and(|token| token.is_word("foreign_keys")) {
            return Err(unsupported("foreign keys: they are enforced nowhere"));
        }
        Ok(match StatementKind::of(sql) {
            StatementKind::Begin => Request::Begin,
            StatementKind::Commit => Request::Commit,
            StatementKind::Rollback => Request::Rollback,
            StatementKind::Savepoint => savepoint(sql),
            StatementKind::Ddl => return Err(unsupported("changes of the schema after the setup")),
            StatementKind::Query => Request::Run(without_lock(sql)),
            _ => Request::Run(sql),
        })
    }
}

/// Refuses statements that would leave our control.
pub(super) fn admit(sql: &str) -> Result<(), DbError> {
    objection(sql).map_or(Ok(()), |what| Err(unsupported(&what)))
}

/// Lets only pass what can be asked without changing anything that lasts.
pub(super) fn admit_probe(sql: &str) -> Result<(), DbError> {
    match StatementKind::of(sql).is_transaction_control() {
        true => Err(unsupported("transactions in a probe")),
        false => admit(sql),
    }
}

/// A query without `FOR UPDATE` or `FOR SHARE`: there is nothing to lock, since nobody ever waits.
fn without_lock(sql: &str) -> &str {
    match tokens(sql).as_slice() {
        [.., word, mode] if word.is_word("FOR") && (mode.is_word("UPDATE") || mode.is_word("SHARE")) => {
            sql[..word.span.start].trim_end()
        }
        _ => sql,
    }
}

/// The last token names the savepoint; a statement that SQLite does not parse is refused by it.
fn savepoint<'a>(sql: &str) -> Request<'a> {
    let tokens = tokens(sql);
    let name = tokens.last().map_or(String::new(), |token| plain_name(token.text));
    match tokens.first() {
        Some(first) if first.is_word("SAVEPOINT") => Request::Savepoint(name),
        Some(first) if first.is_word("RELEASE") => Request::Release(name),
        _ => Request::RollbackTo(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_understood() {
        let check = |sql: &'static str, expect: Request<'_>| assert_eq!(Request::read(sql), Ok(expect));
        check("BEGIN IMMEDIATE", Request::Begin);
        check("END", Request::Commit);
        check("ROLLBACK TO SAVEPOINT One", Request::RollbackTo("one".into()));
        check("SELECT * FROM t JOIN u ORDER BY 1 FOR UPDATE", Request::Run("SELECT * FROM t JOIN u ORDER BY 1"));
        check("select 'for update'", Request::Run("select 'for update'"));
        check("UPDATE t SET a = 1", Request::Run("UPDATE t SET a = 1"));
        for (sql, expect) in [("CREATE TABLE t (a)", "after the setup"), ("VACUUM", "VACUUM")] {
            let error = Request::read(sql).unwrap_err();
            assert!(error.code == "REPLICAS_UNSUPPORTED" && error.message.contains(expect), "{error}");
        }
    }
}
