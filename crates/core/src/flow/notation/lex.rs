//! The words of an operation.

use std::fmt;

/// A word or a sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A name, also `table.column` and `table.*`, in lower case.
    Name(String),
    Comma,
    Open,
    Close,
    /// `<-`
    From,
    /// `->`
    Into,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Token::Name(name) => name,
            Token::Comma => ",",
            Token::Open => "(",
            Token::Close => ")",
            Token::From => "<-",
            Token::Into => "->",
        })
    }
}

/// Splits an operation into words.
pub(super) fn lex(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let signs =
            [("<-", Token::From), ("->", Token::Into), (",", Token::Comma), ("(", Token::Open), (")", Token::Close)];
        let length = match signs.into_iter().find(|(sign, _)| rest.starts_with(sign)) {
            Some((sign, token)) => {
                tokens.push(token);
                sign.len()
            }
            None => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || "_.*".contains(c))).unwrap_or(rest.len());
                if end == 0 {
                    return Err(format!("did not expect \"{first}\" here"));
                }
                tokens.push(Token::Name(rest[..end].to_lowercase()));
                end
            }
        };
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}
