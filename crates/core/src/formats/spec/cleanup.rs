//! What a case leaves behind, told from its text: a test that is run many times must remove what it made.

use crate::sql::{StatementKind, Token, TokenKind, tokens};

/// The kinds of objects that are removed, by the word after CREATE.
const KINDS: &[&str] =
    &["TABLE", "VIEW", "SEQUENCE", "TYPE", "DOMAIN", "FUNCTION", "PROCEDURE", "SCHEMA", "EXTENSION", "PUBLICATION"];

/// Words that may stand between CREATE and the kind.
const FILLERS: &[&str] =
    &["OR", "REPLACE", "TEMP", "TEMPORARY", "UNLOGGED", "GLOBAL", "LOCAL", "MATERIALIZED", "RECURSIVE"];

/// The statements that remove what these statements create, last first. What goes away with something else (indexes,
/// triggers) is not named.
pub(crate) fn removals<'a>(statements: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut drops: Vec<String> = Vec::new();
    for drop in statements.flat_map(|text| split_statements(text)).filter_map(removal) {
        if !drops.contains(&drop) {
            drops.push(drop);
        }
    }
    drops.reverse();
    drops
}

fn removal(statement: &str) -> Option<String> {
    let tokens = tokens(statement);
    let mut rest = tokens.iter().peekable();
    rest.next().filter(|token| token.is_word("CREATE"))?;
    let mut fillers = Vec::new();
    while let Some(token) = rest.next_if(|token| FILLERS.iter().any(|filler| token.is_word(filler))) {
        fillers.push(token);
    }
    let kind = rest.next()?;
    let kind = *KINDS.iter().find(|known| kind.is_word(known))?;
    // A temporary object goes away with its session.
    if fillers.iter().any(|token| token.is_word("TEMP") || token.is_word("TEMPORARY")) {
        return None;
    }
    let materialized = if fillers.iter().any(|token| token.is_word("MATERIALIZED")) { "MATERIALIZED " } else { "" };
    while rest.next_if(|token| ["IF", "NOT", "EXISTS"].iter().any(|word| token.is_word(word))).is_some() {}
    let name = qualified_name(&mut rest)?;
    let cascade = if matches!(kind, "FUNCTION" | "PROCEDURE") { "" } else { " CASCADE" };
    Some(format!("DROP {materialized}{kind} IF EXISTS {name}{cascade}"))
}

/// `t`, `public.t`, `"T"`.
fn qualified_name<'a>(rest: &mut std::iter::Peekable<impl Iterator<Item = &'a Token<'a>>>) -> Option<String> {
    let is_name = |token: &Token<'_>| matches!(token.kind, TokenKind::Word | TokenKind::Quoted);
    let mut name = rest.next().filter(|token| is_name(token))?.text.to_string();
    while rest.next_if(|token| token.is_symbol(".")).is_some() {
        name.push('.');
        name.push_str(rest.next().filter(|token| is_name(token))?.text);
    }
    Some(name)
}

/// Whether a session that executes these texts has a transaction open at the end, as far as its text tells.
pub(crate) fn leaves_open<'a>(texts: impl Iterator<Item = &'a str>) -> bool {
    let mut open = false;
    for statement in texts.flat_map(|text| split_statements(text)) {
        match StatementKind::of(statement) {
            StatementKind::Begin => open = true,
            StatementKind::Commit | StatementKind::Rollback => open = false,
            _ => {}
        }
    }
    open
}

/// The statements of a text, without their semicolons. The body of a function that is written without quotes (`BEGIN
/// ATOMIC …`) has semicolons of its own; a text with one is left whole.
pub(crate) fn split_statements(text: &str) -> Vec<&str> {
    let tokens = tokens(text);
    if tokens.windows(2).any(|pair| pair[0].is_word("BEGIN") && pair[1].is_word("ATOMIC")) {
        return vec![text.trim()];
    }
    let semicolons = tokens.iter().filter(|token| token.is_symbol(";")).map(|token| token.span.start);
    let mut start = 0;
    let mut statements = Vec::new();
    for end in semicolons.chain([text.len()]) {
        let statement = text[start..end].trim();
        if !crate::sql::tokens(statement).is_empty() {
            statements.push(statement);
        }
        start = end + 1;
    }
    statements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_created_is_removed() {
        let setup = [
            "CREATE TABLE IF NOT EXISTS \"T\" (a int); create index i on \"T\" (a)",
            "CREATE OR REPLACE FUNCTION s.f(int) RETURNS int LANGUAGE sql AS 'SELECT 1; CREATE TABLE no ()'",
            "CREATE TEMP TABLE gone (a int)",
            "CREATE UNLOGGED TABLE u ()",
            "CREATE MATERIALIZED VIEW m AS SELECT 1",
            "INSERT INTO t VALUES (1)",
            "CREATE",
        ];
        let expect = [
            "DROP MATERIALIZED VIEW IF EXISTS m CASCADE",
            "DROP TABLE IF EXISTS u CASCADE",
            "DROP FUNCTION IF EXISTS s.f",
            "DROP TABLE IF EXISTS \"T\" CASCADE",
        ];
        assert_eq!(removals(setup.into_iter()), expect);
    }

    #[test]
    fn open_transactions_are_told_from_the_text() {
        assert!(leaves_open(["BEGIN", "SELECT 1"].into_iter()));
        assert!(!leaves_open(["BEGIN; SELECT 1", "ABORT"].into_iter()));
        assert!(leaves_open(["BEGIN", "ROLLBACK TO s"].into_iter()));
    }

    #[test]
    fn semicolons_in_strings_do_not_split() {
        assert_eq!(split_statements(" a ';' ; $$ ; $$ ;; -- x;"), ["a ';'", "$$ ; $$"]);
        let atomic = "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END;";
        assert_eq!(split_statements(atomic), [atomic]);
        assert!(split_statements(" ; ").is_empty());
    }
}
