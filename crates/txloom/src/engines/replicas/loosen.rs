//! A database without its secondary unique keys.
//!
//! Two nodes may each accept a row with the same e-mail address, and a store that never refuses what it hears has both
//! then. SQLite, however, keeps every unique key that a table declares. So the databases of the nodes declare none but
//! the primary keys; whoever executes a statement looks for duplicates himself ([`super::node`]), and who hears of one
//! does not. The index stays, to look fast.

use std::ops::Range;

use rusqlite::{Connection, params_from_iter};
use txloom_core::sql::{Token, tokens};

use super::schema::{Schema, Table};
use crate::engines::embedded::cell::Cell;
use crate::engines::embedded::keys::KeyColumn;
use crate::engines::embedded::run::quoted;

/// Makes `to`, which is empty, the same as `from`, but for unique keys.
pub(super) fn copy_loosely(from: &Connection, to: &Connection, schema: &Schema) -> rusqlite::Result<()> {
    for definition in definitions(from, "type = 'table'")? {
        to.execute_batch(&without_unique_keys(&definition))?;
    }
    for (position, table) in schema.tables.iter().enumerate() {
        copy_rows(from, to, table)?;
        for (at, key) in table.unique.iter().enumerate() {
            to.execute_batch(&index_sql(&format!("txloom_{position}_{at}"), table, key))?;
        }
    }
    for definition in definitions(from, "type <> 'table'")? {
        to.execute_batch(&without_unique_keys(&definition))?;
    }
    Ok(())
}

fn definitions(connection: &Connection, condition: &str) -> rusqlite::Result<Vec<String>> {
    let sql = format!(
        "SELECT sql FROM sqlite_schema WHERE sql NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND {condition} \
         ORDER BY rowid"
    );
    connection.prepare(&sql)?.query_map([], |row| row.get(0))?.collect()
}

fn copy_rows(from: &Connection, to: &Connection, table: &Table) -> rusqlite::Result<()> {
    let (name, columns) = (quoted(&table.name), table.columns_sql());
    let places = vec!["?"; table.columns.len()].join(", ");
    let mut insert = to.prepare(&format!("INSERT INTO main.{name} ({columns}) VALUES ({places})"))?;
    let mut select = from.prepare(&format!("SELECT {columns} FROM main.{name}"))?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let cells: rusqlite::Result<Vec<Cell>> =
            (0..table.columns.len()).map(|at| Ok(Cell::from(row.get_ref(at)?))).collect();
        insert.execute(params_from_iter(&cells?))?;
    }
    Ok(())
}

fn index_sql(name: &str, table: &Table, key: &[KeyColumn]) -> String {
    let column = |column: &KeyColumn| format!("{} COLLATE {}", quoted(&column.name), column.collation);
    let columns: Vec<String> = key.iter().map(column).collect();
    format!("CREATE INDEX main.{name} ON {} ({})", quoted(&table.name), columns.join(", "))
}

/// A definition of a table or an index without `UNIQUE`.
fn without_unique_keys(definition: &str) -> String {
    let tokens = tokens(definition);
    let mut text = definition.to_string();
    let uniques = (0..tokens.len()).filter(|at| tokens[*at].is_word("UNIQUE"));
    for at in uniques.collect::<Vec<_>>().into_iter().rev() {
        let cut = unique_key(&tokens, at);
        let span = tokens[cut.start].span.start..tokens[cut.end - 1].span.end;
        text.replace_range(span, "");
    }
    text
}

/// The tokens that belong to a `UNIQUE`: the name of the constraint, its columns, what to do on conflict; and the comma
/// before it, if it stands alone between commas.
fn unique_key(tokens: &[Token<'_>], at: usize) -> Range<usize> {
    let word = |at: usize, word: &str| tokens.get(at).is_some_and(|token| token.is_word(word));
    let symbol = |at: usize, symbol: &str| tokens.get(at).is_some_and(|token| token.is_symbol(symbol));
    let mut start = if at >= 2 && word(at - 2, "CONSTRAINT") { at - 2 } else { at };
    let mut end = at + 1;
    if symbol(end, "(") {
        while end < tokens.len() && !symbol(end, ")") {
            end += 1;
        }
        end = (end + 1).min(tokens.len());
    }
    if word(end, "ON") && word(end + 1, "CONFLICT") {
        end = (end + 3).min(tokens.len());
    }
    let stands_alone = start > 0 && symbol(start - 1, ",") && (symbol(end, ",") || symbol(end, ")"));
    start -= usize::from(stands_alone);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unique_keys_are_cut_out() {
        for (definition, expect) in [
            ("CREATE TABLE t (a INT PRIMARY KEY, b)", "CREATE TABLE t (a INT PRIMARY KEY, b)"),
            ("CREATE TABLE t (a INT UNIQUE NOT NULL, b)", "CREATE TABLE t (a INT  NOT NULL, b)"),
            (
                "CREATE TABLE t (a CONSTRAINT x UNIQUE ON CONFLICT IGNORE CHECK (a > 0))",
                "CREATE TABLE t (a  CHECK (a > 0))",
            ),
            ("CREATE TABLE t (a, UNIQUE (a), CONSTRAINT \"x y\" UNIQUE (a, b), c)", "CREATE TABLE t (a, c)"),
            (
                "CREATE TABLE t (a, \"unique\" DEFAULT 'UNIQUE', PRIMARY KEY (a) UNIQUE (b))",
                "CREATE TABLE t (a, \"unique\" DEFAULT 'UNIQUE', PRIMARY KEY (a) )",
            ),
            ("CREATE UNIQUE INDEX i ON t (a)", "CREATE  INDEX i ON t (a)"),
        ] {
            assert_eq!(without_unique_keys(definition), expect);
        }
    }

    #[test]
    fn everything_else_is_copied() {
        let (from, to) = (Connection::open_in_memory().unwrap(), Connection::open_in_memory().unwrap());
        from.execute_batch(
            "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT UNIQUE COLLATE NOCASE, c AS (a + 1), d CHECK (d > 0));
             CREATE TABLE u (x, y, PRIMARY KEY (x, y)) WITHOUT ROWID; CREATE UNIQUE INDEX i ON u (y);
             CREATE VIEW v AS SELECT a FROM t;
             INSERT INTO t (a, b, d) VALUES (1, 'x', 5), (3, NULL, 6); INSERT INTO u VALUES (1, X'00');
             CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM u; END;",
        )
        .unwrap();
        let schema = Schema::read(&from).unwrap().unwrap();
        copy_loosely(&from, &to, &schema).unwrap();
        let state = |connection: &Connection| crate::engines::embedded::run::state(connection).unwrap();
        assert_eq!(state(&from).tables["t"].rows, state(&to).tables["t"].rows);
        assert_eq!(state(&from).tables["u"].rows, state(&to).tables["u"].rows);
        to.execute_batch("INSERT INTO t (a, b, d) VALUES (4, 'X', 7)").unwrap();
        assert!(state(&to).tables["u"].rows.is_empty(), "the trigger is there");
        assert!(to.execute_batch("INSERT INTO t (a, d) VALUES (5, 0)").is_err(), "and the check");
    }
}
