//! Which rows an UPDATE or DELETE is aimed at, and the same statement aimed at others.
//!
//! Only planted bugs need this: they evaluate a condition on the wrong data, or lose sight of a row. The statement is
//! taken apart at its WHERE, without a grammar:
//!
//! ```text
//!   UPDATE t AS x SET v = 0 WHERE v > 5 RETURNING v
//!   ╰────────── head ─────╯       ╰───╯ ╰─ tail ──╯        source: t AS x
//! ```

use std::collections::BTreeSet;

use rusqlite::Connection;
use txloom_core::sql::{Token, tokens, top_level};

use super::capture::{self, text};
use super::locks::LockKey;
use super::request::{is_name, plain_name};
use super::schema::{Identity, Table};
use crate::engines::embedded::keys::{UniqueKey, key_sql};

/// An UPDATE or DELETE of one table, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Aim<'a> {
    /// The table's name.
    pub(super) table: String,
    /// The table as the statement names it, with its alias.
    source: &'a str,
    head: &'a str,
    /// `None`: all rows.
    condition: Option<&'a str>,
    tail: &'a str,
}

/// A row that a statement hits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) identity: Identity,
    /// Its identity and its unique keys.
    pub(super) keys: BTreeSet<LockKey>,
}

impl Aim<'_> {
    /// Takes a statement apart. `None` if it is no UPDATE or DELETE of a single table.
    pub(super) fn read(sql: &str) -> Option<Aim<'_>> {
        let tokens = tokens(sql);
        let top = top_level(&tokens);
        let word = |at: usize, word: &str| top.get(at).is_some_and(|token| token.is_word(word));
        let position = |word: &str| top.iter().position(|token| token.is_word(word));
        let name_at = match () {
            () if word(0, "DELETE") && word(1, "FROM") => 2,
            () if word(0, "UPDATE") && word(1, "OR") => 3,
            () if word(0, "UPDATE") => 1,
            () => return None,
        };
        let name = top.get(name_at).filter(|token| is_name(token))?;
        let several = position("FROM").is_some_and(|at| at >= name_at) || position("LIMIT").is_some();
        if several || top.get(name_at + 1).is_some_and(|token| token.is_symbol(".")) {
            return None;
        }
        let start_of = |token: Option<&&Token<'_>>| token.map_or(sql.len(), |token| token.span.start);
        let tail_at = start_of(position("RETURNING").map(|at| top[at]).as_ref());
        let condition = position("WHERE").map(|at| &sql[top[at].span.end..tail_at]);
        let head = &sql[..position("WHERE").map_or(tail_at, |at| top[at].span.start)];
        let source_end = position("SET").map_or(head.len(), |at| top[at].span.start);
        let source = &sql[name.span.start..source_end];
        Some(Aim { table: plain_name(name), source, head, condition, tail: &sql[tail_at..] })
    }

    /// The rows that the statement hits, as this connection sees them.
    pub(super) fn hits(&self, view: &Connection, table: &Table) -> rusqlite::Result<Vec<Hit>> {
        let keys = table.unique.iter().map(|key| match key {
            UniqueKey::Columns(columns) => key_sql(columns, ""),
            UniqueKey::Opaque => "NULL".to_string(),
        });
        let wanted: Vec<String> = std::iter::once(table.identity_sql("")).chain(keys).collect();
        let condition = self.condition.unwrap_or("TRUE");
        let mut statement =
            view.prepare(&format!("SELECT {} FROM {} WHERE {condition}", wanted.join(", "), self.source))?;
        let hit = |row: &rusqlite::Row<'_>| -> rusqlite::Result<Hit> {
            let identity = capture::identity(row.get_ref(0)?);
            let mut keys = BTreeSet::from([table.row_key(&identity)]);
            for (number, _) in (1_u32..).zip(&table.unique) {
                let value = row.get_ref(number as usize)?;
                if value != rusqlite::types::ValueRef::Null {
                    keys.insert(LockKey::Key { table: table.name.clone(), key: number, value: text(value) });
                }
            }
            Ok(Hit { identity, keys })
        };
        statement.query_map([], hit)?.collect()
    }

    /// The statement, aimed at these rows.
    pub(super) fn at(&self, table: &Table, hits: &[Hit]) -> String {
        let rows: Vec<String> = hits.iter().map(|hit| table.condition_sql(&hit.identity)).collect();
        let condition = if rows.is_empty() { "FALSE".to_string() } else { rows.join(" OR ") };
        format!("{} WHERE {condition} {}", self.head, self.tail)
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema::Schema;
    use super::*;

    #[test]
    fn statements_are_aimed_at_other_rows() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE TABLE t (id INT PRIMARY KEY, v); INSERT INTO t VALUES (1, 5), (2, 6)")
            .unwrap();
        let schema = Schema::read(&connection).unwrap().unwrap();
        let check = |sql: &str, hits: &[i64], other: &str| {
            let aim = Aim::read(sql).unwrap();
            let found = aim.hits(&connection, schema.table(&aim.table).unwrap()).unwrap();
            let rows: Vec<Identity> = found.iter().map(|hit| hit.identity.clone()).collect();
            assert_eq!(rows, hits.iter().map(|rowid| Identity::Rowid(*rowid)).collect::<Vec<_>>(), "{sql}");
            assert!(found.iter().all(|hit| hit.keys.len() == 2), "identity and primary key: {found:?}");
            let rewritten = aim.at(schema.table("t").unwrap(), &[]);
            assert_eq!(rewritten.split_whitespace().collect::<Vec<_>>().join(" "), other, "{sql}");
            connection.prepare(&rewritten).unwrap();
        };
        check("DELETE FROM t", &[1, 2], "DELETE FROM t WHERE FALSE");
        check("delete from t as x where x.v = 6", &[2], "delete from t as x WHERE FALSE");
        check(
            "UPDATE OR IGNORE \"t\" SET v = (SELECT 1 FROM t WHERE v > 1) WHERE (v < 6 AND id IN (1)) RETURNING v",
            &[1],
            "UPDATE OR IGNORE \"t\" SET v = (SELECT 1 FROM t WHERE v > 1) WHERE FALSE RETURNING v",
        );
        check("UPDATE t SET v = 'WHERE'", &[1, 2], "UPDATE t SET v = 'WHERE' WHERE FALSE");
    }

    #[test]
    fn other_statements_are_left_alone() {
        for sql in ["SELECT 1", "INSERT INTO t VALUES (1)", "UPDATE t SET v = u.v FROM u", "DELETE FROM main.t", ""] {
            assert_eq!(Aim::read(sql), None, "{sql}");
        }
    }
}
