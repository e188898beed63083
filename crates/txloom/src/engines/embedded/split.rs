//! The statements of a message.

use txloom_core::sql::{Token, tokens};

/// Splits a message into its statements, without their semicolons. Pieces that hold only white space and comments are
/// left out. A semicolon inside the body of a trigger ends a statement of that body, not the message's.
pub(crate) fn statements(message: &str) -> Vec<&str> {
    let tokens = tokens(message);
    let mut statements = Vec::new();
    let mut rest = tokens.as_slice();
    while !rest.is_empty() {
        let length = statement_length(rest);
        if let (Some(first), Some(last)) = (rest[..length].first(), rest[..length].last()) {
            statements.push(&message[first.span.start..last.span.end]);
        }
        rest = rest.get(length + 1..).unwrap_or_default();
    }
    statements
}

/// How many tokens come before the semicolon that ends the first statement.
fn statement_length(tokens: &[Token<'_>]) -> usize {
    let trigger = creates_trigger(tokens);
    let ends_here = |at: usize| tokens[at].is_symbol(";") && (!trigger || ends_trigger(&tokens[..at]));
    (0..tokens.len()).find(|at| ends_here(*at)).unwrap_or(tokens.len())
}

fn creates_trigger(tokens: &[Token<'_>]) -> bool {
    let mut words = tokens.iter().filter(|token| !token.is_word("TEMP") && !token.is_word("TEMPORARY"));
    words.next().is_some_and(|token| token.is_word("CREATE")) && words.next().is_some_and(|t| t.is_word("TRIGGER"))
}

/// `… ; END`: the END of a CASE is preceded by something else than a semicolon.
fn ends_trigger(tokens: &[Token<'_>]) -> bool {
    matches!(tokens, [.., semicolon, end] if semicolon.is_symbol(";") && end.is_word("END"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_split() {
        let check = |message: &str, expect: &[&str]| assert_eq!(statements(message), expect, "{message}");
        check("", &[]);
        check(" -- nothing\n ; /* at all */ ;", &[]);
        check("SELECT 1", &["SELECT 1"]);
        check("SELECT ';'; -- one\nSELECT 2 ;", &["SELECT ';'", "SELECT 2"]);
        check(
            "CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; DELETE FROM t; END; SELECT 3",
            &[
                "CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; DELETE FROM t; END",
                "SELECT 3",
            ],
        );
        check(
            "create temp trigger x after insert on t begin select 1",
            &["create temp trigger x after insert on t begin select 1"],
        );
    }
}
