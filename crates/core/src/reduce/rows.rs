//! Leaves out rows of `INSERT … VALUES (…), (…)`, in the setup and in sessions.

use crate::case::Case;
use crate::reduce::edit::{statement, with_statement};
use crate::reduce::{Pass, Tests};
use crate::sql;

pub(super) struct Rows;

impl Pass for Rows {
    fn reduce(&self, case: &Case, tests: &mut Tests<'_>) -> Case {
        (0..case.entries.len()).fold(case.clone(), |case, position| {
            let Some(text) = statement(&case, position) else { return case };
            let Some(values) = Values::of(&text).filter(|values| values.rows.len() > 1) else { return case };
            tests.minimize(&case, &values.rows, |kept: &[&str]| with_statement(&case, position, &values.with(kept)?))
        })
    }
}

/// An INSERT, cut into what stands before its rows, the rows, and what stands behind them.
pub(super) struct Values<'a> {
    head: &'a str,
    /// Each row, with its parentheses.
    pub(super) rows: Vec<&'a str>,
    tail: &'a str,
}

impl<'a> Values<'a> {
    /// Cuts a statement; `None` if it is no INSERT with VALUES.
    pub(super) fn of(text: &'a str) -> Option<Values<'a>> {
        let tokens = sql::tokens(text);
        if !tokens.first().is_some_and(|first| first.is_word("INSERT") || first.is_word("REPLACE")) {
            return None;
        }
        let mut at = tokens.iter().position(|token| token.is_word("VALUES"))? + 1;
        let head = &text[..tokens[at - 1].span.end];
        let (mut rows, mut end) = (Vec::new(), head.len());
        while tokens.get(at).is_some_and(|token| token.is_symbol("(")) {
            let mut depth = 0i32;
            let closing = tokens[at..].iter().position(|token| {
                depth += i32::from(token.is_symbol("(")) - i32::from(token.is_symbol(")"));
                depth == 0
            })?;
            end = tokens[at + closing].span.end;
            rows.push(&text[tokens[at].span.start..end]);
            at += closing + 1;
            if !tokens.get(at).is_some_and(|token| token.is_symbol(",")) {
                break;
            }
            at += 1;
        }
        (!rows.is_empty()).then_some(Values { head, rows, tail: &text[end..] })
    }

    /// The statement with these rows; without any it would be none.
    fn with(&self, rows: &[&str]) -> Option<String> {
        (!rows.is_empty()).then(|| format!("{} {}{}", self.head, rows.join(", "), self.tail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_cut_where_they_end() {
        let check = |text: &str, rows: &[&str], last_only: &str| {
            let values = Values::of(text).unwrap();
            assert_eq!(values.rows, rows);
            assert_eq!(values.with(&values.rows[values.rows.len() - 1..]).unwrap(), last_only);
        };
        check("INSERT INTO t VALUES (1, 'a'), (2, 'b')", &["(1, 'a')", "(2, 'b')"], "INSERT INTO t VALUES (2, 'b')");
        check(
            "insert into t (a, b) values ('),(', (1 + 2)),\n  (f(1), 2) ON CONFLICT DO NOTHING",
            &["('),(', (1 + 2))", "(f(1), 2)"],
            "insert into t (a, b) values (f(1), 2) ON CONFLICT DO NOTHING",
        );
        for text in ["SELECT * FROM (VALUES (1), (2)) v", "INSERT INTO t SELECT 1", "INSERT INTO t VALUES (1"] {
            assert!(Values::of(text).is_none(), "{text}");
        }
        assert!(Values::of("INSERT INTO t VALUES (1)").unwrap().with(&[]).is_none());
    }
}
