//! A small lexer for SQL of any dialect.
//!
//! Much of what txloom does to statements needs no grammar, only the certainty that a keyword is not inside a string or
//! a comment: telling a COMMIT from a query, replacing `:name` by a value, splitting the rows of an INSERT. Anything
//! deeper belongs to a real parser.
//!
//! * [`write`](mod@write): what an INSERT, UPDATE or DELETE does, to which table, to which rows
//! * [`keys`]: the primary keys that a setup declares
//! * `parse`: the real parser, whatever the dialect; `depth`: how deep its tree will be

pub mod keys;
pub(crate) mod chance;
pub(crate) mod depth;
pub(crate) mod parse;
pub mod write;

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A keyword or an identifier.
    Word,
    /// A quoted identifier: `"x"`, `` `x` ``.
    Quoted,
    /// A string: `'x'`, `$$x$$`.
    String,
    /// A number.
    Number,
    /// A host variable: `:name`; its text includes the colon.
    Variable,
    /// A single character of punctuation (`::`, `<=` and the like come as two).
    Symbol,
}

/// A token and where it stands. White space and comments are no tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token<'a> {
    /// What it is.
    pub kind: TokenKind,
    /// Its text.
    pub text: &'a str,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

impl Token<'_> {
    /// Whether this is the given keyword, in any case.
    pub fn is_word(&self, word: &str) -> bool {
        self.kind == TokenKind::Word && self.text.eq_ignore_ascii_case(word)
    }

    /// Whether this is the given punctuation character.
    pub fn is_symbol(&self, symbol: &str) -> bool {
        self.kind == TokenKind::Symbol && self.text == symbol
    }
}

/// Splits a statement into tokens. Never fails: an unfinished string or comment extends to the end.
pub fn tokens(sql: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = sql[at..].chars().next() {
        let neighbour = tokens.last().filter(|token: &&Token<'_>| token.span.end == at);
        let (kind, length) = scan(&sql[at..], c, neighbour);
        if let Some(kind) = kind {
            tokens.push(Token { kind, text: &sql[at..at + length], span: at..at + length });
        }
        at += length;
    }
    tokens
}

/// A name without its quotes, in lower case: two spellings of one name are equal on every engine of ours. (Where case
/// matters, two names may become one.)
pub fn plain_name(name: &str) -> String {
    unquoted_name(name).to_lowercase()
}

/// A name without its quotes.
pub fn unquoted_name(name: &str) -> String {
    let quote = name.chars().next().filter(|c| ['"', '`'].contains(c)).filter(|_| name.len() > 1);
    match quote {
        Some(quote) => {
            let inner = &name[1..];
            inner.strip_suffix(quote).unwrap_or(inner).replace(&quote.to_string().repeat(2), &quote.to_string())
        }
        None => name.to_string(),
    }
}

/// The tokens outside all parentheses, and the outermost parentheses themselves.
pub fn top_level<'a, 'b>(tokens: &'b [Token<'a>]) -> Vec<&'b Token<'a>> {
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

/// Whether every string, quoted name and comment is closed, so that what is written below does not become part of it.
pub fn is_finished(sql: &str) -> bool {
    let with_end = format!("{sql}\n;");
    tokens(&with_end).last().is_some_and(|token| token.is_symbol(";") && token.span.end == with_end.len())
}

/// The kind (`None` for white space and comments) and the length of what begins here, directly behind a token. Never of
/// length 0.
fn scan(rest: &str, first: char, before: Option<&Token<'_>>) -> (Option<TokenKind>, usize) {
    let run = |accept: fn(char) -> bool| rest.find(|c| !accept(c)).unwrap_or(rest.len());
    match first {
        c if c.is_whitespace() => (None, run(char::is_whitespace)),
        '-' if rest.starts_with("--") => (None, rest.find('\n').unwrap_or(rest.len())),
        '/' if rest.starts_with("/*") => (None, rest[2..].find("*/").map_or(rest.len(), |end| end + 4)),
        '\'' => (Some(TokenKind::String), quoted_length(rest, '\'')),
        '"' => (Some(TokenKind::Quoted), quoted_length(rest, '"')),
        '`' => (Some(TokenKind::Quoted), quoted_length(rest, '`')),
        '$' => match dollar_quoted_length(rest) {
            Some(length) => (Some(TokenKind::String), length),
            None => (Some(TokenKind::Symbol), 1),
        },
        ':' if is_variable(rest, before) => (Some(TokenKind::Variable), 1 + word_length(&rest[1..])),
        c if is_word_start(c) => (Some(TokenKind::Word), word_length(rest)),
        c if c.is_ascii_digit() => (Some(TokenKind::Number), run(|c| c.is_ascii_alphanumeric() || c == '.')),
        c => (Some(TokenKind::Symbol), c.len_utf8()),
    }
}

fn is_word_start(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '@'
}

fn word_length(rest: &str) -> usize {
    rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$' || c == '@')).unwrap_or(rest.len())
}

/// `:name`, but neither the cast `::type` nor the slice `[1:n]`.
fn is_variable(rest: &str, before: Option<&Token<'_>>) -> bool {
    let named = rest[1..].chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    named && !before.is_some_and(|token| token.is_symbol(":"))
}

/// The length of a quoted token; a doubled quote stands for itself.
fn quoted_length(rest: &str, quote: char) -> usize {
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == quote {
            if chars.peek().is_some_and(|(_, next)| *next == quote) {
                chars.next();
            } else {
                return at + 1;
            }
        }
    }
    rest.len()
}

/// PostgreSQL's `$tag$ … $tag$`.
fn dollar_quoted_length(rest: &str) -> Option<usize> {
    let tag_end = rest[1..].find('$')? + 2;
    let tag = &rest[..tag_end];
    let inner = &tag[1..tag_end - 1];
    if inner.starts_with(|c: char| c.is_ascii_digit()) || !inner.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    Some(rest[tag_end..].find(tag).map_or(rest.len(), |end| tag_end + end + tag_end))
}

/// What a statement does to the transaction that it runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StatementKind {
    /// Opens a transaction.
    Begin,
    /// Ends the transaction, keeping its effects.
    Commit,
    /// Ends the transaction, undoing its effects.
    Rollback,
    /// `SAVEPOINT`, `RELEASE`, `ROLLBACK TO`.
    Savepoint,
    /// Returns rows and changes none.
    Query,
    /// `INSERT`, `UPDATE`, `DELETE`, `REPLACE`, `MERGE`.
    Write,
    /// Changes the schema.
    Ddl,
    /// Anything else.
    Other,
}

impl StatementKind {
    /// Tells by the leading keywords.
    pub fn of(sql: &str) -> StatementKind {
        let tokens = tokens(sql);
        let words: Vec<String> = tokens
            .iter()
            .skip_while(|token| token.is_symbol("("))
            .take_while(|token| token.kind == TokenKind::Word)
            .map(|token| token.text.to_ascii_uppercase())
            .collect();
        let has = |word: &str| words.iter().any(|w| w == word);
        match words.first().map(String::as_str) {
            Some("BEGIN") => StatementKind::Begin,
            Some("START") if has("TRANSACTION") => StatementKind::Begin,
            Some("COMMIT" | "END") => StatementKind::Commit,
            Some("ROLLBACK") if has("TO") => StatementKind::Savepoint,
            Some("ROLLBACK" | "ABORT") => StatementKind::Rollback,
            Some("SAVEPOINT" | "RELEASE") => StatementKind::Savepoint,
            Some("SELECT" | "VALUES" | "TABLE" | "SHOW") => StatementKind::Query,
            Some("WITH") if tokens.iter().any(is_write_word) => StatementKind::Write,
            Some("WITH") => StatementKind::Query,
            Some("INSERT" | "UPDATE" | "DELETE" | "REPLACE" | "MERGE") => StatementKind::Write,
            Some("CREATE" | "DROP" | "ALTER" | "TRUNCATE" | "RENAME" | "REINDEX") => StatementKind::Ddl,
            _ => StatementKind::Other,
        }
    }

    /// Whether the statement is about transactions themselves, so that running without them leaves it out.
    pub fn is_transaction_control(self) -> bool {
        matches!(
            self,
            StatementKind::Begin | StatementKind::Commit | StatementKind::Rollback | StatementKind::Savepoint
        )
    }
}

fn is_write_word(token: &Token<'_>) -> bool {
    ["INSERT", "UPDATE", "DELETE", "MERGE"].iter().any(|word| token.is_word(word))
}

/// The statement on one line, without comments: for tables and messages.
pub fn one_line(sql: &str) -> String {
    let mut line = String::new();
    let mut end = 0;
    for token in tokens(sql) {
        if !line.is_empty() && token.span.start > end {
            line.push(' ');
        }
        end = token.span.end;
        // A string may hold line breaks of its own.
        line.extend(token.text.chars().map(|c| if c.is_control() { ' ' } else { c }));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_hide_their_contents() {
        let texts: Vec<&str> =
            tokens("SELECT 'it''s -- x', \"a\"\"b\" /* ; */ FROM t -- end").iter().map(|t| t.text).collect();
        assert_eq!(texts, ["SELECT", "'it''s -- x'", ",", "\"a\"\"b\"", "FROM", "t"]);
        assert_eq!(tokens("$f$ BEGIN 'x' $f$ 1").len(), 2);
        assert_eq!(tokens("/*/ not yet */ 1").len(), 1);
        assert_eq!(tokens("SELECT $1").len(), 3);
    }

    #[test]
    fn names_are_compared_without_quotes_and_case() {
        for (name, expect) in
            [("T", "t"), ("\"a\"\"B\"", "a\"b"), ("\"a\"\"\"", "a\""), ("`x`", "x"), ("\"", "\""), ("", "")]
        {
            assert_eq!(plain_name(name), expect);
        }
    }

    #[test]
    fn casts_are_no_variables() {
        let kinds: Vec<TokenKind> = tokens("x::int = :x").iter().map(|t| t.kind).collect();
        use TokenKind::{Symbol, Variable, Word};
        assert_eq!(kinds, [Word, Symbol, Symbol, Word, Symbol, Variable]);
        let bound: Vec<TokenKind> = tokens("[: :x]").iter().map(|t| t.kind).collect();
        assert_eq!(bound, [Symbol, Symbol, Variable, Symbol], "the end of a slice");
    }

    #[test]
    fn statements_are_told_apart() {
        use StatementKind::*;
        for (sql, kind) in [
            ("begin", Begin),
            ("/* x */ START TRANSACTION READ ONLY", Begin),
            ("COMMIT", Commit),
            ("rollback to savepoint s", Savepoint),
            ("ROLLBACK", Rollback),
            ("(SELECT 1) UNION SELECT 2", Query),
            ("WITH x AS (SELECT 1) SELECT * FROM x", Query),
            ("WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", Write),
            ("update t set a = 1", Write),
            ("CREATE TABLE t (a int)", Ddl),
            ("SET x = 1", Other),
            ("", Other),
        ] {
            assert_eq!(StatementKind::of(sql), kind, "{sql}");
        }
    }

    #[test]
    fn unfinished_input_is_noticed() {
        for sql in ["'", "\"abc", "'it''", "$a$ x", "$a$ $", "é'", "$$", "/* x"] {
            assert!(!is_finished(sql), "{sql}");
        }
        for sql in ["", "''", "'it''s'", "$$$$", "$a$ x $a$", "/* x */", "$", ":", "x -- '"] {
            assert!(is_finished(sql), "{sql}");
        }
    }

    #[test]
    fn one_line_keeps_what_matters() {
        assert_eq!(one_line("SELECT a,\n  b -- why\nFROM t"), "SELECT a, b FROM t");
    }
}
