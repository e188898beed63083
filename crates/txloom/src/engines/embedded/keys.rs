//! The tables of a database of SQLite's: their columns and their unique keys.

use rusqlite::Connection;

use super::run::quoted;

/// The user's tables in order of their names, and whether each is one `WITHOUT ROWID`.
pub(crate) fn table_names(connection: &Connection) -> rusqlite::Result<Vec<(String, bool)>> {
    let sql = "SELECT name, wr FROM pragma_table_list \
               WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    connection.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// A unique key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum UniqueKey {
    /// Of these columns. A partial index counts as if it covered all rows: it locks more than it must.
    Columns(Vec<KeyColumn>),
    /// Of an expression, which SQLite does not tell: the index is locked as a whole.
    Opaque,
}

/// A column within a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KeyColumn {
    pub(crate) name: String,
    pub(crate) collation: String,
}

/// The SQL expression that gives a key as literals, equal for equal keys; NULL if a part is NULL, since such keys are
/// never equal.
pub(crate) fn key_sql(columns: &[KeyColumn], prefix: &str) -> String {
    let parts = columns.iter().map(|column| {
        let name = format!("{prefix}{}", quoted(&column.name));
        let folded = match column.collation.to_ascii_uppercase().as_str() {
            "NOCASE" => format!("iif(typeof({name}) = 'text', lower({name}), {name})"),
            "RTRIM" => format!("iif(typeof({name}) = 'text', rtrim({name}, ' '), {name})"),
            _ => name,
        };
        // To an index, 1 and 1.0 are the same.
        let whole = format!("typeof({folded}) = 'real' AND {folded} = CAST({folded} AS INTEGER)");
        format!("nullif(quote(iif({whole}, CAST({folded} AS INTEGER), {folded})), 'NULL')")
    });
    parts.collect::<Vec<_>>().join(" || ',' || ")
}

/// A column of a table.
pub(crate) struct ColumnInfo {
    pub(crate) name: String,
    /// Whether it is part of the primary key.
    pub(crate) in_primary_key: bool,
    /// Whether its value follows from the others.
    pub(crate) generated: bool,
}

/// The columns of a table.
pub(crate) fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<ColumnInfo>> {
    let mut statement = connection.prepare("SELECT name, pk > 0, hidden <> 0 FROM pragma_table_xinfo(?1)")?;
    let column = |row: &rusqlite::Row<'_>| {
        Ok(ColumnInfo { name: row.get(0)?, in_primary_key: row.get(1)?, generated: row.get(2)? })
    };
    statement.query_map([table], column)?.collect()
}

/// An index that keeps values apart.
pub(crate) struct UniqueIndex {
    pub(crate) is_primary_key: bool,
    pub(crate) key: UniqueKey,
}

/// The unique indexes of a table, that of the primary key included where it has one.
pub(crate) fn unique_indexes(connection: &Connection, table: &str) -> rusqlite::Result<Vec<UniqueIndex>> {
    let sql = "SELECT name, origin = 'pk' FROM pragma_index_list(?1) WHERE \"unique\" ORDER BY name";
    let mut statement = connection.prepare(sql)?;
    let names = statement.query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut indexes = Vec::new();
    for index in names {
        let (name, is_primary_key): (String, bool) = index?;
        indexes.push(UniqueIndex { is_primary_key, key: index_key(connection, &name)? });
    }
    Ok(indexes)
}

fn index_key(connection: &Connection, index: &str) -> rusqlite::Result<UniqueKey> {
    let mut statement = connection.prepare("SELECT name, coll FROM pragma_index_xinfo(?1) WHERE key ORDER BY seqno")?;
    let column = |row: &rusqlite::Row<'_>| Ok((row.get::<_, Option<String>>(0)?, row.get::<_, String>(1)?));
    let mut columns = Vec::new();
    for column in statement.query_map([index], column)? {
        match column? {
            (Some(name), collation) => columns.push(KeyColumn { name, collation }),
            (None, _) => return Ok(UniqueKey::Opaque),
        }
    }
    Ok(UniqueKey::Columns(columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(columns: &[(&str, &str)]) -> Vec<KeyColumn> {
        let column =
            |(name, collation): &(&str, &str)| KeyColumn { name: (*name).into(), collation: (*collation).into() };
        columns.iter().map(column).collect()
    }

    #[test]
    fn equal_keys_have_equal_texts() {
        let connection = Connection::open_in_memory().unwrap();
        let check = |collation: &str, values: &str, expect: Option<&str>| {
            let key = key_sql(&key(&[("x", collation), ("y", "BINARY")]), "");
            let sql = format!("SELECT {key} FROM (SELECT {values})");
            let text: Option<String> = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
            assert_eq!(text.as_deref(), expect, "{values}");
        };
        check("BINARY", "1 AS x, 'A' AS y", Some("1,'A'"));
        check("BINARY", "1.0 AS x, 'NULL' AS y", Some("1,'NULL'"));
        check("BINARY", "1.5 AS x, X'00' AS y", Some("1.5,X'00'"));
        check("NOCASE", "'Ab' AS x, 'Ab' AS y", Some("'ab','Ab'"));
        check("RTRIM", "'a  ' AS x, 'a ' AS y", Some("'a','a '"));
        check("BINARY", "NULL AS x, 1 AS y", None);
    }
}
