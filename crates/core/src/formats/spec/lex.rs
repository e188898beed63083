//! The words of a `.spec` file.

use super::SpecError;

/// What a token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    /// One of [`KEYWORDS`].
    Keyword(&'static str),
    /// A name, plain or quoted.
    Name(String),
    /// `{ … }`, without the blanks at both ends.
    Block(String),
    /// A number.
    Number(u32),
    /// One of `, ( ) *`.
    Symbol(char),
    /// The end of the file.
    End,
}

impl Word {
    /// For messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Word::Keyword(word) => format!("`{word}`"),
            Word::Name(name) => format!("the name `{name}`"),
            Word::Block(_) => "an SQL block".to_string(),
            Word::Number(number) => format!("the number {number}"),
            Word::Symbol(symbol) => format!("`{symbol}`"),
            Word::End => "the end of the file".to_string(),
        }
    }
}

/// Words that are names only in quotes.
pub(super) const KEYWORDS: &[&str] = &["notices", "permutation", "session", "setup", "step", "teardown"];

/// A token, where it stands, and the comments between the token before and it.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) word: Word,
    pub(super) at: usize,
    pub(super) comments: Vec<String>,
}

/// Splits a file into tokens; the last one is [`Word::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, SpecError> {
    let mut lexer = Lexer { text, at: 0, comments: Vec::new() };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next()?;
        let is_end = token.word == Word::End;
        tokens.push(token);
        if is_end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    comments: Vec<String>,
}

/// What separates tokens on a line, and is trimmed from blocks.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\u{c}')
}

/// Whether a name may begin so.
pub(super) fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

/// Whether a name may go on so.
pub(super) fn is_name_part(c: char) -> bool {
    is_name_start(c) || c.is_ascii_digit() || c == '$'
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Takes characters as long as they are accepted.
    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn next(&mut self) -> Result<Token, SpecError> {
        self.skip_blanks_and_comments();
        let at = self.at;
        let word = match self.rest().chars().next() {
            None => Word::End,
            Some('{') => self.block()?,
            Some('"') => self.quoted_name()?,
            Some(c @ (',' | '(' | ')' | '*')) => {
                self.at += 1;
                Word::Symbol(c)
            }
            Some(c) if c.is_ascii_digit() => self.number()?,
            Some(c) if is_name_start(c) => {
                let name = self.take_while(is_name_part);
                match KEYWORDS.iter().find(|keyword| **keyword == name) {
                    Some(keyword) => Word::Keyword(keyword),
                    None => Word::Name(name.to_string()),
                }
            }
            Some(c) => return Err(SpecError::at(self.text, at, format!("unexpected character `{c}`"))),
        };
        Ok(Token { word, at, comments: std::mem::take(&mut self.comments) })
    }

    fn skip_blanks_and_comments(&mut self) {
        loop {
            self.take_while(|c| is_blank(c) || c == '\n');
            if !self.rest().starts_with('#') {
                return;
            }
            let comment = self.take_while(|c| c != '\n' && c != '\r');
            self.comments.push(comment[1..].trim_end().to_string());
        }
    }

    /// Everything up to the next closing brace, whatever it is: a block cannot hold one.
    fn block(&mut self) -> Result<Word, SpecError> {
        let Some(end) = self.rest().find('}') else {
            return Err(SpecError::at(self.text, self.at, "this SQL block has no closing `}`".to_string()));
        };
        let block = self.rest()[1..end].trim_start_matches(is_blank).trim_end_matches(is_blank);
        self.at += end + 1;
        Ok(Word::Block(block.to_string()))
    }

    fn quoted_name(&mut self) -> Result<Word, SpecError> {
        let start = self.at;
        self.at += 1;
        let mut name = String::new();
        loop {
            name.push_str(self.take_while(|c| c != '"' && c != '\n'));
            if self.rest().starts_with("\"\"") {
                name.push('"');
                self.at += 2;
            } else if self.rest().starts_with('"') {
                self.at += 1;
                return Ok(Word::Name(name));
            } else {
                return Err(SpecError::at(self.text, start, "this quoted name does not end on its line".to_string()));
            }
        }
    }

    fn number(&mut self) -> Result<Word, SpecError> {
        let start = self.at;
        let digits = self.take_while(|c| c.is_ascii_digit());
        let number = digits.parse().ok().filter(|number| *number <= i32::MAX as u32);
        number.map(Word::Number).ok_or_else(|| SpecError::at(self.text, start, "this number is too large".to_string()))
    }
}
