//! What a step is, and which tables it touches: told from its tokens, so that it works in every dialect.

use std::collections::BTreeMap;

use super::pattern::Verb;
use crate::case::Case;
use crate::sql::{self, StatementKind, Token, TokenKind};

/// The tables of a case, with the columns of their primary keys. Names are in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tables(BTreeMap<String, Vec<String>>);

impl Tables {
    /// Those that the setup creates.
    pub(super) fn of(case: &Case) -> Tables {
        Tables(case.setup().iter().filter_map(|sql| created(sql)).collect())
    }

    /// Their names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.keys().map(String::as_str)
    }
}

/// A statement, as far as patterns ask about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    /// What sort it is; `None` for all that patterns have no word for.
    pub(super) verb: Option<Verb>,
    /// The tables that it names, in order: the first one is the one that it writes.
    tables: Vec<String>,
    /// Whether it assigns a column of the primary key of the table that it writes.
    pub(super) assigns_key: bool,
    /// Whether it has a WHERE.
    pub(super) is_selective: bool,
    /// Whether it has a condition NOT … IN (SELECT …).
    pub(super) is_excluding: bool,
}

impl Statement {
    /// Looks at a statement of a case with these tables.
    pub(super) fn of(sql: &str, known: &Tables) -> Statement {
        let tokens = sql::tokens(sql);
        let is_name = |token: &&Token<'_>| matches!(token.kind, TokenKind::Word | TokenKind::Quoted);
        let names = tokens.iter().filter(is_name).map(name);
        let tables: Vec<String> = names.filter(|name| known.0.contains_key(name)).collect();
        let key = tables.first().and_then(|table| known.0.get(table)).map_or(&[][..], Vec::as_slice);
        let assigns_key = assigned(&tokens).iter().any(|column| key.contains(column));
        let is_selective = tokens.iter().any(|token| token.is_word("WHERE"));
        Statement { verb: verb(sql, &tokens), tables, assigns_key, is_selective, is_excluding: is_excluding(&tokens) }
    }

    /// Whether it writes this table; or reads it, if it is a query.
    pub(super) fn is_about(&self, table: &str) -> bool {
        match self.verb {
            Some(Verb::Insert | Verb::Update | Verb::Delete) => self.tables.first().is_some_and(|first| first == table),
            _ => self.tables.iter().any(|name| name == table),
        }
    }
}

/// Whether there is `NOT … IN (SELECT`.
fn is_excluding(tokens: &[Token<'_>]) -> bool {
    let words: Vec<&Token<'_>> = tokens.iter().collect();
    let after_not = words.iter().skip_while(|token| !token.is_word("NOT")).copied().collect::<Vec<_>>();
    let is_subquery = |part: &[&Token<'_>]| part[0].is_word("IN") && part[1].text == "(" && part[2].is_word("SELECT");
    after_not.windows(3).any(is_subquery)
}

fn name(token: &Token<'_>) -> String {
    token.text.trim_matches(['"', '`']).to_lowercase()
}

fn verb(sql: &str, tokens: &[Token<'_>]) -> Option<Verb> {
    match StatementKind::of(sql) {
        StatementKind::Begin => Some(Verb::Begin),
        StatementKind::Commit => Some(Verb::Commit),
        StatementKind::Rollback => Some(Verb::Rollback),
        StatementKind::Query => Some(query(tokens)),
        StatementKind::Write => tokens.iter().find_map(|token| {
            let writes = [
                ("INSERT", Verb::Insert),
                ("REPLACE", Verb::Insert),
                ("UPDATE", Verb::Update),
                ("DELETE", Verb::Delete),
            ];
            writes.into_iter().find(|(word, _)| token.is_word(word)).map(|(_, verb)| verb)
        }),
        StatementKind::Savepoint | StatementKind::Ddl | StatementKind::Other => None,
    }
}

/// A query, by its locking clause: `FOR [NO KEY] UPDATE`, `FOR [KEY] SHARE`, `LOCK IN SHARE MODE`.
fn query(tokens: &[Token<'_>]) -> Verb {
    let clause = tokens.iter().rposition(|token| token.is_word("FOR") || token.is_word("LOCK"));
    let words = clause.map_or(&[][..], |at| &tokens[at + 1..]);
    let has = |word: &str| words.iter().take(2).any(|token| token.is_word(word));
    if has("UPDATE") || (has("NO") && has("KEY")) {
        Verb::SelectForUpdate
    } else if has("SHARE") {
        Verb::SelectForShare
    } else {
        Verb::Select
    }
}

/// The columns that the SET of an UPDATE assigns: what stands before the first `=` of each part.
fn assigned(tokens: &[Token<'_>]) -> Vec<String> {
    let Some(set) = tokens.iter().position(|token| token.is_word("SET")) else { return Vec::new() };
    let ends = |token: &Token<'_>| ["WHERE", "ORDER", "LIMIT", "RETURNING", "FROM"].iter().any(|it| token.is_word(it));
    let column = |part: &[Token<'_>]| {
        let equals = part.iter().position(|token| token.is_symbol("="))?;
        Some(name(part.get(equals.checked_sub(1)?)?))
    };
    parts(&tokens[set + 1..], ends).into_iter().filter_map(column).collect()
}

/// Splits at the commas that stand in no parentheses, up to the first token there that `ends` it all, or to the
/// parenthesis that closes more than was opened.
fn parts<'t, 's>(tokens: &'t [Token<'s>], ends: impl Fn(&Token<'s>) -> bool) -> Vec<&'t [Token<'s>]> {
    let mut parts = Vec::new();
    let (mut depth, mut start, mut end) = (0i32, 0, tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        depth += i32::from(token.is_symbol("(")) - i32::from(token.is_symbol(")"));
        if depth < 0 || (depth == 0 && ends(token)) {
            end = at;
            break;
        }
        if depth == 0 && token.is_symbol(",") {
            parts.push(&tokens[start..at]);
            start = at + 1;
        }
    }
    parts.push(&tokens[start..end]);
    parts
}

/// The name and the primary key of the table that a CREATE TABLE creates.
fn created(sql: &str) -> Option<(String, Vec<String>)> {
    let tokens = sql::tokens(sql);
    let opening = tokens.iter().position(|token| token.is_symbol("("))?;
    let is_create = tokens.first()?.is_word("CREATE") && tokens[..opening].iter().any(|token| token.is_word("TABLE"));
    let table = name(tokens[..opening].last().filter(|_| is_create)?);
    let elements = parts(&tokens[opening + 1..], |_| false);
    Some((table, elements.into_iter().flat_map(key_columns).collect()))
}

/// The columns that one element of a table's definition puts into the primary key: `c INT PRIMARY KEY`, `PRIMARY KEY
/// (a, b)`.
fn key_columns(element: &[Token<'_>]) -> Vec<String> {
    let Some(primary) = element.windows(2).position(|pair| pair[0].is_word("PRIMARY") && pair[1].is_word("KEY")) else {
        return Vec::new();
    };
    let is_constraint = primary == 0 || element[0].is_word("CONSTRAINT");
    let columns = if is_constraint { &element[primary + 2..] } else { &element[..1] };
    let is_name = |token: &&Token<'_>| matches!(token.kind, TokenKind::Word | TokenKind::Quoted);
    columns.iter().filter(is_name).map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables() -> Tables {
        let setup = [
            "CREATE TABLE x (k INT PRIMARY KEY, v INT DEFAULT (1 + 1), CHECK (v IN (1, 2)))",
            "CREATE TABLE IF NOT EXISTS \"Y\" (a INT, b VARCHAR(10), CONSTRAINT c PRIMARY KEY (a, `b`))",
            "CREATE TABLE z (a INT)",
            "CREATE INDEX i ON x (v)",
        ];
        Tables(setup.iter().filter_map(|sql| created(sql)).collect())
    }

    #[test]
    fn primary_keys_are_read_from_the_setup() {
        let keys: Vec<(String, Vec<String>)> = tables().0.into_iter().collect();
        let expect = |name: &str, key: &[&str]| (name.to_string(), key.iter().map(|c| c.to_string()).collect());
        assert_eq!(keys, [expect("x", &["k"]), expect("y", &["a", "b"]), expect("z", &[])]);
    }

    #[test]
    fn statements_are_told_apart() {
        let check = |sql: &str, verb: Option<Verb>| assert_eq!(Statement::of(sql, &tables()).verb, verb, "{sql}");
        check("SELECT * FROM x", Some(Verb::Select));
        check("SELECT 'FOR UPDATE' FROM x", Some(Verb::Select));
        check("SELECT * FROM x WHERE k = 1 FOR UPDATE", Some(Verb::SelectForUpdate));
        check("SELECT * FROM x FOR NO KEY UPDATE", Some(Verb::SelectForUpdate));
        check("SELECT * FROM x FOR SHARE", Some(Verb::SelectForShare));
        check("SELECT * FROM x LOCK IN SHARE MODE", Some(Verb::SelectForShare));
        check("REPLACE INTO x VALUES (1, 1)", Some(Verb::Insert));
        check("WITH w AS (SELECT 1) DELETE FROM x", Some(Verb::Delete));
        check("INSERT INTO x VALUES (1, 1) ON DUPLICATE KEY UPDATE v = 2", Some(Verb::Insert));
        check("START TRANSACTION", Some(Verb::Begin));
        check("ROLLBACK TO s", None);
        check("SET a = 1", None);
    }

    #[test]
    fn a_change_of_the_key_is_seen_and_nothing_else_is_taken_for_one() {
        let check = |sql: &str, expect: bool| assert_eq!(Statement::of(sql, &tables()).assigns_key, expect, "{sql}");
        check("UPDATE x SET k = 2", true);
        check("UPDATE x SET v = 1, k = k + 1 WHERE v = 3", true);
        check("UPDATE x AS q SET q.v = 1, q.K = 2", true);
        check("UPDATE `y` SET `b` = 'x'", true);
        check("UPDATE x SET v = 1 WHERE k = 2", false);
        check("UPDATE x SET v = (SELECT a FROM z WHERE a = k)", false);
        check("UPDATE x SET v = (k = 2)", false);
        check("UPDATE x SET v = v + k", false);
        check("UPDATE z SET a = 1", false);
        check("DELETE FROM x WHERE k = 1", false);
    }

    #[test]
    fn a_write_is_about_what_it_writes_and_a_query_about_all_that_it_reads() {
        let check = |sql: &str, table: &str, expect: bool| {
            assert_eq!(Statement::of(sql, &tables()).is_about(table), expect, "{sql}: {table}");
        };
        check("UPDATE x SET v = (SELECT MAX(a) FROM y)", "x", true);
        check("UPDATE x SET v = (SELECT MAX(a) FROM y)", "y", false);
        check("INSERT INTO z SELECT k FROM x", "z", true);
        check("INSERT INTO z SELECT k FROM x", "x", false);
        check("SELECT * FROM x JOIN Y ON x.v = y.a", "y", true);
        check("SELECT 'z' FROM x", "z", false);
        check("COMMIT", "x", false);
    }
}
