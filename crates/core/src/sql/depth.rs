//! The depth of the syntax tree that a statement may become, measured before anything is made of it.
//!
//! A parser recurses where brackets are nested, and whatever walks a tree recurses along chains of operators, since
//! `a + b + c` is a tree as deep as the chain is long. Both are counted here, token by token, without a tree:
//!
//! ```text
//!   SELECT a + b * c, f(d - e) UNION SELECT …
//!          ╰── 2 ──╯  ╰ 1 + 1 ╯ ╰ set operations count to the end of the bracket
//! ```

#![warn(clippy::indexing_slicing)]

use super::{Token, TokenKind, tokens};

/// Words that are operators, or begin one.
const OPERATORS: &[&str] = &[
    "AND", "OR", "XOR", "NOT", "IS", "ISNULL", "NOTNULL", "BETWEEN", "LIKE", "ILIKE", "RLIKE", "REGEXP", "SIMILAR",
    "IN", "COLLATE", "AT", "DIV", "MOD", "OVERLAPS", "ESCAPE",
];

/// Words that put one query or table behind another.
const COMBINERS: &[&str] = &["UNION", "EXCEPT", "INTERSECT", "MINUS", "JOIN"];

/// What a bracket holds so far.
#[derive(Debug, Clone, Copy, Default)]
struct Level {
    /// Operators since the last comma.
    chain: usize,
    /// Queries and tables that were put together.
    combined: usize,
}

impl Level {
    fn depth(self) -> usize {
        self.chain + self.combined + 1
    }
}

/// The maximum depth of the tree: never less than what a parser makes of the text.
pub(crate) fn depth(sql: &str) -> usize {
    let mut outer: Vec<Level> = Vec::new();
    let (mut around, mut deepest) = (0, 0);
    let mut level = Level::default();
    for token in tokens(sql) {
        match Sign::of(&token) {
            Sign::Open => {
                around += level.depth();
                outer.push(std::mem::take(&mut level));
            }
            Sign::Close => {
                if let Some(before) = outer.pop() {
                    around -= before.depth();
                    level = before;
                }
            }
            Sign::Separator => level.chain = 0,
            Sign::Operator => level.chain += 1,
            Sign::Combiner => level.combined += 1,
            Sign::Other => continue,
        }
        deepest = deepest.max(around + level.depth());
    }
    deepest
}

/// What a token does to the depth.
enum Sign {
    Open,
    Close,
    Separator,
    Operator,
    Combiner,
    Other,
}

impl Sign {
    fn of(token: &Token<'_>) -> Sign {
        match (token.kind, token.text) {
            (TokenKind::Symbol, "(" | "[" | "{") => Sign::Open,
            (TokenKind::Symbol, ")" | "]" | "}") => Sign::Close,
            (TokenKind::Symbol, "," | ";") => Sign::Separator,
            (TokenKind::Symbol, ".") => Sign::Other,
            (TokenKind::Symbol, _) => Sign::Operator,
            (TokenKind::Word, _) if OPERATORS.iter().any(|word| token.is_word(word)) => Sign::Operator,
            (TokenKind::Word, _) if COMBINERS.iter().any(|word| token.is_word(word)) => Sign::Combiner,
            _ => Sign::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::depth;

    #[test]
    fn brackets_and_chains_add_up() {
        let check = |sql: &str, expect: usize| assert_eq!(depth(sql), expect, "{sql}");
        check("SELECT 1", 0);
        check("SELECT a + b * c", 3);
        check("SELECT a + b, c + d, e + f", 2);
        check("SELECT (((1)))", 4);
        check("SELECT a + (b - (c * d))", 6);
        check("SELECT 1, 2 UNION SELECT 1, 2 UNION SELECT 1, 2", 3);
        check("SELECT '((((' -- ((((", 0);
        check(")))) a + b", 2);
    }

    #[test]
    fn many_rows_are_not_deep() {
        let rows = vec!["(-1, 'a', b.c, 2 + 3)"; 10_000].join(", ");
        assert!(depth(&format!("INSERT INTO t VALUES {rows}")) < 10);
        assert!(depth(&format!("SELECT {}1", "NOT ".repeat(10_000))) > 10_000);
        assert!(depth(&format!("SELECT a{}", "::int".repeat(10_000))) > 10_000);
    }
}
