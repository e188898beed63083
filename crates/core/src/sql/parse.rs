//! Text → syntax tree → text.

use sqlparser::ast::Statement;
use sqlparser::dialect::{Dialect, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::{Parser, ParserOptions};

use super::depth::depth;

/// The maximum depth of a syntax tree: everything that walks a tree recurses.
const DEPTH_MAX: usize = 200;

/// The maximum length of a statement: its tree takes a hundred times as much.
pub(crate) const LENGTH_MAX: usize = 4 << 20;

/// The dialects that are tried, the most tolerant first.
const DIALECTS: &[&dyn Dialect] = &[&GenericDialect {}, &MySqlDialect {}, &PostgreSqlDialect {}, &SQLiteDialect {}];

/// Reads one statement in the first dialect that understands it and prints it back so that it means the same to itself.
pub(crate) fn parse(text: &str) -> Option<Statement> {
    if !is_modest(text) {
        return None;
    }
    DIALECTS.iter().find_map(|dialect| {
        let statement = parse_in(*dialect, text)?;
        (parse_in(*dialect, &statement.to_string())? == statement).then_some(statement)
    })
}

/// True if a text is short and shallow enough to be made a tree of.
pub(crate) fn is_modest(text: &str) -> bool {
    text.len() <= LENGTH_MAX && depth(text) <= DEPTH_MAX
}

fn parse_in(dialect: &dyn Dialect, text: &str) -> Option<Statement> {
    // Literals stay as they are written: what a backslash means is the server's business.
    let options = ParserOptions::new().with_unescape(false);
    let parser = Parser::new(dialect).with_options(options).try_with_sql(text);
    let mut statements = parser.ok()?.parse_statements().ok()?;
    if statements.len() == 1 { statements.pop() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_of_all_dialects_are_read() {
        for text in [
            "SELECT a, b FROM t WHERE a = 1 ORDER BY b FOR UPDATE",
            "SELECT * FROM t WHERE a = 1 LOCK IN SHARE MODE",
            "INSERT INTO t VALUES (1, 'it''s') ON CONFLICT DO NOTHING",
            "INSERT IGNORE INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = 2",
            "REPLACE INTO t VALUES (1)",
            "CREATE TABLE t (a INT PRIMARY KEY AUTO_INCREMENT, b DECIMAL(10,2) CHECK (b > 0))",
            "UPDATE t SET a = a::text || 'x' WHERE b IS NOT NULL RETURNING *",
            "DELETE FROM t WHERE a IN (SELECT b FROM u)",
        ] {
            let parsed = parse(text);
            // Two dialects of the list do not know LOCK IN SHARE MODE at all; the others must be read.
            assert!(parsed.is_some() || text.contains("LOCK IN"), "{text}");
        }
        for text in ["", "no such thing", "SELECT 1; SELECT 2", "SELECT '"] {
            assert!(parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn long_chains_are_left_alone() {
        let chain = |length: usize| format!("SELECT {}", vec!["1"; length].join(" + "));
        assert!(parse(&chain(DEPTH_MAX - 1)).is_some());
        assert!(parse(&chain(100_000)).is_none());
        assert!(parse(&format!("SELECT {}1{}", "(".repeat(50_000), ")".repeat(50_000))).is_none());
        for repeated in ["a || ", "a :: int = ", "- ", "NOT ", "1 UNION SELECT ", "a IS NULL IS "] {
            assert!(parse(&format!("SELECT {}1", repeated.repeat(100_000))).is_none(), "{repeated}");
        }
    }
}
