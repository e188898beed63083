//! The parts of a write that can be told without a grammar: what it does, to which table, and to which of its rows.
//!
//! ```text
//!   UPDATE IGNORE t AS x SET a = a + 1 WHERE x.a IN (1, 2) RETURNING *
//!                 ╰source╯                   ╰─condition─╯
//! ```

use std::ops::Range;

use super::{Token, TokenKind, plain_name, tokens};

/// What a write does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// `INSERT` or `REPLACE`.
    Insert,
    /// `UPDATE`.
    Update,
    /// `DELETE`.
    Delete,
}

/// A statement that writes to a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write<'a> {
    /// What it does.
    pub verb: Verb,
    /// The table that it names first, by its plain name (see [`plain_name`]) without a schema.
    pub table: String,
    /// The same as the statement writes it.
    pub name: &'a str,
    /// Which rows an UPDATE or DELETE reaches; `None` where more than a condition decides (a second table, LIMIT).
    pub reach: Option<Reach<'a>>,
}

/// The rows that an UPDATE or DELETE of a single table reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach<'a> {
    /// The table as the statement names it, with its alias: what FROM takes.
    pub source: &'a str,
    /// Where its condition stands, in bytes; `None` if it reaches all rows.
    pub condition: Option<Range<usize>>,
}

impl<'a> Write<'a> {
    /// Reads a statement that begins with the verb; `None` for any other, and for a message of several statements.
    pub fn read(sql: &'a str) -> Option<Write<'a>> {
        let all = tokens(sql);
        let top = top_level(&all);
        if top.iter().any(|token| token.is_symbol(";")) {
            return None;
        }
        let (verb, modifiers): (Verb, &[&str]) = match top.first()?.text.to_ascii_uppercase().as_str() {
            "INSERT" | "REPLACE" => (Verb::Insert, &["LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "IGNORE", "INTO"]),
            "UPDATE" => (Verb::Update, &["LOW_PRIORITY", "IGNORE", "ONLY"]),
            "DELETE" => (Verb::Delete, &["LOW_PRIORITY", "QUICK", "IGNORE", "FROM", "ONLY"]),
            _ => return None,
        };
        let at = skip_modifiers(&top, modifiers);
        let end = name_end(&top, at)?;
        let table = plain_name(top[end - 1].text);
        let reach = match verb {
            Verb::Insert => None,
            Verb::Update | Verb::Delete => reach(sql, verb, &top, at, end),
        };
        let name = &sql[top[at].span.start..top[end - 1].span.end];
        Some(Write { verb, table, name, reach })
    }
}

/// The position of the first token that is neither the verb nor a modifier of it. `OR` takes a word with it, as in
/// SQLite's `INSERT OR IGNORE`.
fn skip_modifiers(top: &[&Token<'_>], modifiers: &[&str]) -> usize {
    let mut at = 1;
    while let Some(token) = top.get(at) {
        at += match token {
            token if token.is_word("OR") => 2,
            token if modifiers.iter().any(|word| token.is_word(word)) => 1,
            _ => break,
        };
    }
    at
}

/// The position behind the name `t` or `schema.t` that begins here.
fn name_end(top: &[&Token<'_>], at: usize) -> Option<usize> {
    let is_name = |at: usize| top.get(at).is_some_and(|t| matches!(t.kind, TokenKind::Word | TokenKind::Quoted));
    let qualified = top.get(at + 1).is_some_and(|token| token.is_symbol("."));
    let end = if qualified { at + 3 } else { at + 1 };
    (is_name(at) && is_name(end - 1)).then_some(end)
}

fn reach<'a>(sql: &'a str, verb: Verb, top: &[&Token<'a>], at: usize, name_end: usize) -> Option<Reach<'a>> {
    let position = |words: &[&str]| top.iter().position(|token| words.iter().any(|word| token.is_word(word)));
    if position(&["LIMIT", "USING", "JOIN"]).is_some() || second_from(verb, top) {
        return None;
    }
    let condition_start = position(&["WHERE"]);
    let tail = position(&["ORDER", "RETURNING"]).unwrap_or(top.len());
    let source_end = match verb {
        Verb::Update => position(&["SET"])?,
        _ => condition_start.unwrap_or(tail),
    };
    let alias = top.get(name_end..source_end)?;
    let is_alias = match alias {
        [] => true,
        [name] => name.kind != TokenKind::Symbol,
        [as_word, name] => as_word.is_word("AS") && name.kind != TokenKind::Symbol,
        _ => false,
    };
    let text = |from: usize, to: usize| Some(top.get(from)?.span.start..top.get(to.checked_sub(1)?)?.span.end);
    let condition = match condition_start {
        Some(start) if start + 1 < tail => Some(text(start + 1, tail)?),
        _ => None,
    };
    is_alias.then_some(Reach { source: &sql[text(at, source_end)?], condition })
}

/// `UPDATE … FROM` has a second table; `IS DISTINCT FROM` is a comparison.
fn second_from(verb: Verb, top: &[&Token<'_>]) -> bool {
    let clauses = top.windows(2).filter(|pair| pair[1].is_word("FROM") && !pair[0].is_word("DISTINCT")).count();
    clauses > usize::from(verb == Verb::Delete)
}

/// The tokens outside all parentheses, and the outermost parentheses themselves.
pub(super) fn top_level<'a, 'b>(tokens: &'b [Token<'a>]) -> Vec<&'b Token<'a>> {
    let mut depth = 0_usize;
    let mut top = Vec::new();
    for token in tokens {
        if token.is_symbol(")") {
            depth = depth.saturating_sub(1);
        }
        if depth == 0 {
            top.push(token);
        }
        if token.is_symbol("(") {
            depth += 1;
        }
    }
    top
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `VERB table [source] where condition`.
    fn describe(sql: &str) -> String {
        let Some(write) = Write::read(sql) else { return "nothing".to_string() };
        let reach = write.reach.map(|reach| match reach.condition {
            Some(condition) => format!(" [{}] where {}", reach.source, &sql[condition]),
            None => format!(" [{}]", reach.source),
        });
        format!("{:?} {}{}", write.verb, write.table, reach.unwrap_or_default())
    }

    #[test]
    fn writes_are_taken_apart() {
        for (sql, expect) in [
            ("UPDATE t SET a = 1", "Update t [t]"),
            ("update t set a = (SELECT 1 FROM u WHERE 1 = 1) where (a) = 2", "Update t [t] where (a) = 2"),
            ("UPDATE OR IGNORE \"T x\" AS y SET a = 1 WHERE b", "Update t x [\"T x\" AS y] where b"),
            ("UPDATE t SET a = 1 WHERE a IS NOT DISTINCT FROM 1", "Update t [t] where a IS NOT DISTINCT FROM 1"),
            ("UPDATE t SET a = 1 WHERE a > 0 RETURNING *", "Update t [t] where a > 0"),
            ("UPDATE s.t SET a = 1", "Update t [s.t]"),
            ("DELETE FROM t", "Delete t [t]"),
            ("DELETE FROM t WHERE a IN (SELECT b FROM u)", "Delete t [t] where a IN (SELECT b FROM u)"),
            ("DELETE FROM t x WHERE x.a = 1 ORDER BY a", "Delete t [t x] where x.a = 1"),
            ("INSERT INTO `t` (a) VALUES (1)", "Insert t"),
            ("REPLACE t VALUES (1)", "Insert t"),
            ("INSERT OR REPLACE INTO main.t VALUES (1)", "Insert t"),
        ] {
            assert_eq!(describe(sql), expect, "{sql}");
        }
    }

    #[test]
    fn what_is_not_certain_is_not_said() {
        for (sql, expect) in [
            ("UPDATE t SET a = 1 FROM u WHERE u.b = t.a", "Update t"),
            ("UPDATE t, u SET t.a = 1 WHERE u.b = t.a", "Update t"),
            ("UPDATE t JOIN u ON 1 SET t.a = 1", "Update t"),
            ("UPDATE t SET a = 1 WHERE a > 0 LIMIT 1", "Update t"),
            ("DELETE FROM t USING u WHERE 1 = 1", "Delete t"),
            ("DELETE t FROM t, u", "Delete t"),
            ("SELECT 1", "nothing"),
            ("UPDATE t SET a = 1; COMMIT", "nothing"),
            ("UPDATE", "nothing"),
            ("UPDATE t", "Update t"),
            ("UPDATE t SET", "Update t [t]"),
            ("UPDATE t SET a = 1 WHERE", "Update t [t]"),
            ("DELETE FROM s.", "nothing"),
            ("INSERT INTO (", "nothing"),
        ] {
            assert_eq!(describe(sql), expect, "{sql}");
        }
    }
}
