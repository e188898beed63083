//! The primary keys that CREATE TABLE declares.

use std::collections::BTreeMap;

use super::write::top_level;
use super::{Token, TokenKind, plain_name, tokens};

/// The columns of the primary key of each table that a setup creates, as CREATE TABLE writes them, by the plain name of
/// the table. A table without a key is not there. Views, `CREATE TABLE … AS` and later ALTERs are not understood.
pub fn primary_keys<S: AsRef<str>>(setup: &[S]) -> BTreeMap<String, Vec<String>> {
    let statements = setup.iter().flat_map(|message| {
        let tokens = tokens(message.as_ref());
        tokens.split(|token| token.is_symbol(";")).filter_map(primary_key).collect::<Vec<_>>()
    });
    statements.collect()
}

fn primary_key(statement: &[Token<'_>]) -> Option<(String, Vec<String>)> {
    let open = statement.iter().position(|token| token.is_symbol("("))?;
    let (head, body) = statement.split_at(open);
    let is_create = head.first()?.is_word("CREATE") && head.iter().any(|token| token.is_word("TABLE"));
    let table = head.last().filter(|_| is_create && head.len() > 2)?;
    let elements = elements(body);
    let key = elements.iter().find_map(|element| key_of(element))?;
    Some((plain_name(table.text), key))
}

/// The elements of the parenthesised list that these tokens begin with.
fn elements<'a, 'b>(list: &'b [Token<'a>]) -> Vec<&'b [Token<'a>]> {
    let mut depth = 0_usize;
    let end = list.iter().position(|token| {
        depth = depth + usize::from(token.is_symbol("(")) - usize::from(token.is_symbol(")") && depth > 0);
        depth == 0
    });
    let inner = &list[1..end.unwrap_or(list.len())];
    inner
        .split(|token| {
            depth = depth + usize::from(token.is_symbol("(")) - usize::from(token.is_symbol(")") && depth > 0);
            depth == 0 && token.is_symbol(",")
        })
        .collect()
}

/// The key that a column or constraint declares.
fn key_of(element: &[Token<'_>]) -> Option<Vec<String>> {
    let top = top_level(element);
    let primary = top.windows(2).position(|pair| pair[0].is_word("PRIMARY") && pair[1].is_word("KEY"))?;
    let is_constraint = primary == 0 || top[0].is_word("CONSTRAINT");
    if !is_constraint {
        return Some(vec![element.first()?.text.to_string()]);
    }
    let open = element.iter().position(|token| token.is_symbol("("))?;
    let column = |part: &&[Token<'_>]| {
        part.first().filter(|t| matches!(t.kind, TokenKind::Word | TokenKind::Quoted)).map(|t| t.text.to_string())
    };
    elements(&element[open..]).iter().map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(setup: &[&str], expect: &[(&str, &[&str])]) {
        let found = primary_keys(setup);
        let found: Vec<(&str, Vec<&str>)> =
            found.iter().map(|(t, key)| (t.as_str(), key.iter().map(String::as_str).collect())).collect();
        let expect: Vec<(&str, Vec<&str>)> = expect.iter().map(|(t, key)| (*t, key.to_vec())).collect();
        assert_eq!(found, expect, "{setup:?}");
    }

    #[test]
    fn keys_are_read_from_columns_and_constraints() {
        check(&["CREATE TABLE t (a INT PRIMARY KEY, b INT)"], &[("t", &["a"])]);
        check(&["create table if not exists `T` (a DECIMAL(3, 1), `b` INT primary key)"], &[("t", &["`b`"])]);
        check(&["CREATE TABLE t (a INT, b INT, PRIMARY KEY (b, a))"], &[("t", &["b", "a"])]);
        check(&["CREATE TABLE t (a INT CHECK (a IN (1, 2)), CONSTRAINT k PRIMARY KEY (a(10) DESC))"], &[("t", &["a"])]);
        check(
            &["CREATE TABLE t (a INT PRIMARY KEY); CREATE TABLE u (b INT PRIMARY KEY)", "INSERT INTO t VALUES (1)"],
            &[("t", &["a"]), ("u", &["b"])],
        );
    }

    #[test]
    fn what_has_no_key_is_left_out() {
        check(&["CREATE TABLE t (a INT UNIQUE, b INT DEFAULT (1))"], &[]);
        check(&["CREATE TABLE t AS SELECT 1", "CREATE INDEX i ON t (a)", "CREATE", "CREATE TABLE", "("], &[]);
        check(&["CREATE TABLE t (", "CREATE TABLE t ()"], &[]);
        check(&["CREATE TABLE t (PRIMARY KEY", "CREATE TABLE t (PRIMARY KEY (1))"], &[]);
    }
}
