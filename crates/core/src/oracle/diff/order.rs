//! Does a query leave the engine a choice: of the order of its rows, or of the rows themselves?
//!
//! An order counts only where it is certain that there is just one. Whether it is shows in the result itself: the keys of
//! ORDER BY must be visible as columns, and rows with the same keys must be the same rows.
//!
//! ```text
//!   SELECT id, v FROM t ORDER BY v      (1, 10) (2, 20)   one order
//!                                       (1, 10) (2, 10)   two are right
//! ```
//!
//! Keys must be numbers. How texts are sorted, and where NULL goes, is a matter of collations and dialects.

use std::collections::BTreeMap;

use crate::case::expect::Rows;
use crate::outcome::StatementResult;
use crate::sql::{Token, TokenKind, tokens};
use crate::value::Value;

/// Whether which rows a query returns may be the engine's choice: it has a LIMIT, or what other dialects call so.
pub(super) fn may_choose_rows(sql: &str) -> bool {
    ["LIMIT", "FETCH", "OFFSET", "TOP"].iter().any(|word| tokens(sql).iter().any(|token| token.is_word(word)))
}

/// Whether these rows can come in one order only.
pub(super) fn is_total(sql: &str, result: &StatementResult, rows: &Rows) -> bool {
    let Some(keys) = key_columns(sql, result) else { return false };
    let mut by_keys: BTreeMap<Vec<&Value>, &Vec<Value>> = BTreeMap::new();
    rows.iter().all(|row| {
        let key: Vec<&Value> = keys.iter().filter_map(|column| row.get(*column)).collect();
        let is_number = |value: &&Value| matches!(value, Value::Number(_));
        key.len() == keys.len() && key.iter().all(is_number) && *by_keys.entry(key).or_insert(row) == row
    })
}

/// The columns of the result that ORDER BY sorts by; `None` unless all of its terms are columns of the result.
fn key_columns(sql: &str, result: &StatementResult) -> Option<Vec<usize>> {
    let tokens = tokens(sql);
    let terms = order_terms(&tokens)?;
    terms.iter().map(|term| key_column(&tokens, term, result)).collect()
}

/// The terms of the last ORDER BY outside all parentheses, each without ASC or DESC.
fn order_terms<'a>(tokens: &'a [Token<'a>]) -> Option<Vec<Vec<&'a Token<'a>>>> {
    let mut depth = 0i32;
    let mut start = None;
    for (at, token) in tokens.iter().enumerate() {
        depth += i32::from(token.is_symbol("(")) - i32::from(token.is_symbol(")"));
        let by = tokens.get(at + 1).is_some_and(|next| next.is_word("BY"));
        if depth == 0 && token.is_word("ORDER") && by {
            start = Some(at + 2);
        }
    }
    let is_end = |token: &&Token<'_>| token.is_word("FOR") || token.is_word("LOCK") || token.is_symbol(";");
    let clause: Vec<&Token<'_>> = tokens[start?..].iter().take_while(|token| !is_end(token)).collect();
    let term = |term: &[&'a Token<'a>]| match term {
        [term @ .., last] if last.is_word("ASC") || last.is_word("DESC") => term.to_vec(),
        term => term.to_vec(),
    };
    Some(clause.split(|token| token.is_symbol(",")).map(term).collect())
}

/// The column that a term names: by position, by name, or by a qualified name that the select list repeats. (`t.id` is
/// never the alias `id` of something else; `id` alone is, in every dialect.)
fn key_column(tokens: &[Token<'_>], term: &[&Token<'_>], result: &StatementResult) -> Option<usize> {
    let named = |name: &Token<'_>| {
        let plain = |text: &str| text.trim_matches(['"', '`']).to_lowercase();
        let same = |column: &&crate::outcome::Column| plain(&column.name) == plain(name.text);
        let only = result.columns.iter().filter(same).count() == 1;
        result.columns.iter().position(|column| same(&column)).filter(|_| only)
    };
    let is_name = |token: &Token<'_>| matches!(token.kind, TokenKind::Word | TokenKind::Quoted);
    match term {
        [number] if number.kind == TokenKind::Number => {
            let position = number.text.parse::<usize>().ok()?.checked_sub(1)?;
            (position < result.columns.len()).then_some(position)
        }
        [name] if is_name(name) => named(name),
        [table, dot, name] if is_name(table) && dot.is_symbol(".") && is_name(name) => {
            named(name).filter(|_| is_selected(tokens, term))
        }
        _ => None,
    }
}

/// Whether a qualified name stands in the select list as it is, or `*` is all that stands there.
fn is_selected(tokens: &[Token<'_>], term: &[&Token<'_>]) -> bool {
    let list: Vec<&Token<'_>> = tokens
        .iter()
        .skip(1)
        .take_while(|token| !token.is_word("FROM"))
        .filter(|token| !token.is_word("DISTINCT"))
        .collect();
    let same = |item: &[&Token<'_>]| {
        item.len() == term.len() && item.iter().zip(term).all(|(a, b)| a.text.eq_ignore_ascii_case(b.text))
    };
    matches!(list.as_slice(), [star] if star.is_symbol("*")) || list.split(|token| token.is_symbol(",")).any(same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{Dialect, Postgres};
    use crate::outcome::Column;

    /// Whether the order of `a, b` rows is certain.
    fn check(sql: &str, rows: &[[&str; 2]], expect: bool) {
        let column = |name: &str| {
            let type_name = if name == "name" { "text" } else { "int4" };
            Column { name: name.to_string(), type_name: type_name.to_string() }
        };
        let second = if sql.contains("name") { "name" } else { "b" };
        let cell = |cell: &&str| (*cell != "NULL").then(|| cell.as_bytes().to_vec());
        let result = StatementResult {
            columns: vec![column("a"), column(second)],
            rows: rows.iter().map(|row| row.iter().map(cell).collect()).collect(),
            ..StatementResult::default()
        };
        assert_eq!(is_total(sql, &result, &Postgres.values(&result)), expect, "{sql} {rows:?}");
    }

    #[test]
    fn an_order_is_certain_only_without_ties() {
        check("SELECT a, b FROM t ORDER BY a", &[["1", "1"], ["2", "1"]], true);
        check("SELECT a, b FROM t ORDER BY a", &[["1", "1"], ["1", "2"]], false);
        check("SELECT a, b FROM t ORDER BY a, b DESC FOR UPDATE", &[["1", "1"], ["1", "2"]], true);
        check("SELECT a, b FROM t ORDER BY a", &[["1", "1"], ["1", "1"]], true);
        check("SELECT a, b FROM t ORDER BY 2 ASC", &[["1", "1"], ["1", "2"]], true);
        check("SELECT * FROM t ORDER BY t.a", &[["1", "1"], ["2", "2"]], true);
        check("SELECT t.a, b FROM t ORDER BY t.a", &[["1", "1"], ["2", "2"]], true);
    }

    #[test]
    fn what_cannot_be_seen_is_not_certain() {
        check("SELECT a, b FROM t", &[["1", "1"], ["2", "1"]], false);
        check("SELECT a, b FROM t ORDER BY c", &[["1", "1"], ["2", "1"]], false);
        check("SELECT a, b FROM t ORDER BY -a", &[["1", "1"], ["2", "1"]], false);
        check("SELECT a, b FROM t ORDER BY 3", &[["1", "1"], ["2", "1"]], false);
        check("SELECT b + 1 AS a, b FROM t ORDER BY t.a", &[["1", "1"], ["2", "1"]], false);
        check("SELECT a, b FROM (SELECT * FROM t ORDER BY a) x", &[["1", "1"], ["2", "1"]], false);
    }

    #[test]
    fn texts_and_nulls_are_sorted_as_dialects_like() {
        check("SELECT a, name FROM t ORDER BY name", &[["1", "a"], ["2", "B"]], false);
        check("SELECT a, b FROM t ORDER BY b", &[["1", "NULL"], ["2", "1"]], false);
    }

    #[test]
    fn a_limit_may_choose() {
        assert!(may_choose_rows("SELECT a FROM t LIMIT 1"));
        assert!(may_choose_rows("SELECT a FROM t WHERE a IN (SELECT b FROM u FETCH FIRST 1 ROW ONLY)"));
        assert!(!may_choose_rows("SELECT 'LIMIT' FROM t"));
    }
}
