//! `wrong-aggregate`: inside a transaction that has written, aggregates are off by one.
//!
//! TxCheck's Figure 15: a COUNT after an UPDATE of the same transaction gives 39, and 36 without the transaction.

use txloom_core::dialect::Dialect;
use txloom_core::engine::EngineError;
use txloom_core::outcome::{Outcome, StatementResult};
use txloom_core::sql::{Token, tokens};
use txloom_core::value::Value;

use super::Defect;
use super::session::{Below, View};

/// COUNT, SUM, MIN and MAX in a select list are one too high.
pub(super) struct WrongAggregate;

const FUNCTIONS: &[&str] = &["COUNT", "SUM", "MIN", "MAX"];

impl Defect for WrongAggregate {
    fn execute(&self, sql: &str, view: &View<'_>, below: &mut Below<'_>) -> Result<Outcome, EngineError> {
        let mut outcome = below.execute(sql)?;
        if view.transaction.is_open()
            && view.transaction.has_written()
            && let [result] = outcome.results.as_mut_slice()
        {
            for column in aggregates(sql) {
                miscalculate(result, column, view.dialect);
            }
        }
        Ok(outcome)
    }
}

/// The positions of the columns that are aggregates, and nothing but that; none if a `*` makes positions unknown.
fn aggregates(sql: &str) -> Vec<usize> {
    let tokens = tokens(sql);
    let Some((_, list)) = tokens.split_first().filter(|(first, _)| first.is_word("SELECT")) else {
        return Vec::new();
    };
    let mut depth = 0_usize;
    let end = list.iter().position(|token| {
        depth = after(depth, token);
        depth == 0 && token.is_word("FROM")
    });
    let mut depth = 0_usize;
    let items: Vec<&[Token<'_>]> = list[..end.unwrap_or(list.len())]
        .split(|token| {
            depth = after(depth, token);
            depth == 0 && token.is_symbol(",")
        })
        .collect();
    if items.iter().any(|item| item.last().is_some_and(|token| token.is_symbol("*"))) {
        return Vec::new();
    }
    (0..items.len()).filter(|at| is_aggregate(items[*at])).collect()
}

/// How many parentheses are open after the token.
fn after(depth: usize, token: &Token<'_>) -> usize {
    match token {
        token if token.is_symbol("(") => depth + 1,
        token if token.is_symbol(")") => depth.saturating_sub(1),
        _ => depth,
    }
}

/// `COUNT(…)`, perhaps with an alias.
fn is_aggregate(item: &[Token<'_>]) -> bool {
    let [function, open, ..] = item else { return false };
    if !FUNCTIONS.iter().any(|name| function.is_word(name)) || !open.is_symbol("(") {
        return false;
    }
    let mut depth = 0;
    let close = item.iter().skip(1).position(|token| {
        depth = after(depth, token);
        depth == 0
    });
    let Some(close) = close else { return false };
    match &item[close + 2..] {
        [] => true,
        [alias] => !alias.is_symbol("*"),
        [word, _] => word.is_word("AS"),
        _ => false,
    }
}

/// Adds one to every whole number of a column.
fn miscalculate(result: &mut StatementResult, column: usize, dialect: &dyn Dialect) {
    let Some(type_name) = result.columns.get(column).map(|column| column.type_name.clone()) else { return };
    for cell in result.rows.iter_mut().filter_map(|row| row.get_mut(column)?.as_mut()) {
        let Value::Number(number) = dialect.normalize(&type_name, cell) else { continue };
        // What stands before the number, an embedded engine's mark of its storage class, stays.
        let Some(mark) = cell.strip_suffix(number.to_text().as_bytes()).map(<[u8]>::to_vec) else { continue };
        if let Some(next) = number.to_i64().and_then(|number| number.checked_add(1)) {
            *cell = [mark.as_slice(), next.to_string().as_bytes()].concat();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aggregates_are_found_in_the_select_list_only() {
        for (sql, expect) in [
            ("SELECT COUNT(*) FROM t", vec![0]),
            ("select a, max(b) AS m, Sum(DISTINCT (c)) x FROM t GROUP BY a", vec![1, 2]),
            ("SELECT a FROM t HAVING COUNT(*) > 1", vec![]),
            ("SELECT *, COUNT(*) FROM t", vec![]),
            ("SELECT t.*, COUNT(*) FROM t", vec![]),
            ("SELECT COUNT(*) > 1, 1 + MIN(a), (SELECT COUNT(*) FROM u) FROM t", vec![]),
            ("SELECT count FROM t", vec![]),
            ("SELECT COUNT(", vec![]),
            ("SELECT", vec![]),
            ("UPDATE t SET a = COUNT(*)", vec![]),
        ] {
            assert_eq!(aggregates(sql), expect, "{sql}");
        }
    }
}
