//! What our own engines, which store in SQLite, cannot let pass: statements that would leave their control.

use rusqlite::Connection;
use txloom_core::sql::{Token, tokens};

/// Pragmas that only tell something.
const READING_PRAGMAS: &[&str] = &[
    "compile_options",
    "foreign_key_check",
    "foreign_key_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "quick_check",
    "table_info",
    "table_list",
    "table_xinfo",
];

/// What of a statement is in the way: other files, objects that belong to one connection, settings.
pub(crate) fn objection(sql: &str) -> Option<String> {
    let tokens = tokens(sql);
    let word = |at: usize, word: &str| tokens.get(at).is_some_and(|token| token.is_word(word));
    let first = tokens.first().map_or(String::new(), |token| token.text.to_ascii_uppercase());
    let is_temporary = || tokens.windows(2).any(|pair| pair[0].is_word("temp") && pair[1].is_symbol("."));
    let what = match first.as_str() {
        "ATTACH" | "DETACH" | "VACUUM" | "ANALYZE" => first.as_str(),
        "PRAGMA" if !harmless_pragma(&tokens) => "pragmas that change settings",
        "CREATE" if word(1, "VIRTUAL") => "virtual tables",
        "CREATE" if word(1, "TEMP") || word(1, "TEMPORARY") || is_temporary() => "temporary tables, views and triggers",
        _ => return None,
    };
    Some(what.to_string())
}

fn harmless_pragma(tokens: &[Token<'_>]) -> bool {
    let words: Vec<String> = tokens.iter().skip(1).map(|token| token.text.to_ascii_lowercase()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        // It is on already.
        ["foreign_keys", "=", "on" | "1" | "true" | "yes"] => true,
        ["main", ".", name, ..] | [name, ..] => READING_PRAGMAS.contains(name) && !words.contains(&"="),
        [] => false,
    }
}

/// Whether rows that are in the way of new ones are deleted.
pub(crate) fn replaces(sql: &str) -> bool {
    let tokens = tokens(sql);
    tokens.windows(2).any(|pair| {
        (pair[0].is_word("OR") && pair[1].is_word("REPLACE")) || (pair[0].is_word("REPLACE") && pair[1].is_word("INTO"))
    })
}

/// Whether a constraint of some table says `ON CONFLICT REPLACE`, or a trigger replaces rows.
pub(crate) fn replaces_on_conflict(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT sql FROM sqlite_schema WHERE type IN ('table', 'trigger') AND sql NOT NULL";
    let mut definitions = connection.prepare(sql)?;
    for definition in definitions.query_map([], |row| row.get::<_, String>(0))? {
        let definition = definition?;
        let tokens = tokens(&definition);
        if tokens.windows(2).any(|pair| pair[0].is_word("CONFLICT") && pair[1].is_word("REPLACE"))
            || replaces(&definition)
        {
            return Ok(true);
        }
    }
    Ok(false)
}
