//! Literals, tuples and calls: the parts of a case file that are values.
//!
//! ```text
//! literal = NULL | TRUE | FALSE | number | 'text' | U&'text with \XXXX escapes' | X'hex'
//! tuples  = "(empty)" | { "(" [ literal { "," literal } ] ")" [ "," ] }
//! call    = procedure "(" [ name "=" literal { "," name "=" literal } ] ")"
//! ```

use crate::case::{Call, Rows};
use crate::value::{Number, Value};

/// What is wrong, and at which byte of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiteralError {
    /// The byte at which reading failed.
    pub at: usize,
    /// What was expected there.
    pub message: String,
}

/// Reads one literal that must be the whole text.
pub fn parse_literal(text: &str) -> Result<Value, LiteralError> {
    whole(text, Scanner::literal)
}

/// Reads tuples that must be the whole text.
pub fn parse_rows(text: &str) -> Result<Rows, LiteralError> {
    whole(text, Scanner::rows)
}

/// Reads a call that must be the whole text (a final semicolon is allowed).
pub fn parse_call(text: &str) -> Result<Call, LiteralError> {
    whole(text, |scanner| {
        let call = scanner.call()?;
        scanner.take(';');
        Ok(call)
    })
}

fn whole<'a, T>(
    text: &'a str,
    read: impl FnOnce(&mut Scanner<'a>) -> Result<T, LiteralError>,
) -> Result<T, LiteralError> {
    let mut scanner = Scanner { text, at: 0 };
    let value = read(&mut scanner)?;
    scanner.skip_space();
    if scanner.at < text.len() {
        return Err(scanner.error(format!("unexpected `{}`", scanner.rest())));
    }
    Ok(value)
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error(&self, message: impl Into<String>) -> LiteralError {
        LiteralError { at: self.at, message: message.into() }
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Takes a punctuation character, after white space, if it is next.
    fn take(&mut self, wanted: char) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn require(&mut self, wanted: char) -> Result<(), LiteralError> {
        if self.take(wanted) { Ok(()) } else { Err(self.error(format!("expected `{wanted}`"))) }
    }

    fn word(&mut self) -> &'a str {
        self.skip_space();
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn literal(&mut self) -> Result<Value, LiteralError> {
        self.skip_space();
        let rest = self.rest();
        let prefix = |wanted: &str| rest.get(..wanted.len()).is_some_and(|p| p.eq_ignore_ascii_case(wanted));
        if prefix("'") {
            return self.quoted().map(Value::Text);
        }
        if prefix("x'") {
            return self.hex();
        }
        if prefix("u&'") {
            self.at += 2;
            return self.escaped();
        }
        if rest.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) {
            return self.number();
        }
        let start = self.at;
        match self.word().to_ascii_uppercase().as_str() {
            "NULL" => Ok(Value::Null),
            "TRUE" => Ok(Value::Bool(true)),
            "FALSE" => Ok(Value::Bool(false)),
            _ => {
                self.at = start;
                Err(self.error("expected a value: NULL, TRUE, FALSE, a number, 'text' or X'hex'"))
            }
        }
    }

    fn number(&mut self) -> Result<Value, LiteralError> {
        let rest = self.rest();
        let in_number = |(at, c): (usize, char)| {
            let after_exponent = at > 0 && matches!(rest.as_bytes()[at - 1], b'e' | b'E');
            c.is_ascii_digit()
                || matches!(c, '.' | 'e' | 'E')
                || (matches!(c, '-' | '+') && (at == 0 || after_exponent))
        };
        let end = rest.char_indices().find(|pair| !in_number(*pair)).map_or(rest.len(), |(at, _)| at);
        let number = Number::parse(&rest[..end]).ok_or_else(|| self.error(format!("`{rest}` is not a number")))?;
        self.at += end;
        Ok(Value::Number(number))
    }

    /// A quoted text; a doubled quote stands for itself.
    fn quoted(&mut self) -> Result<String, LiteralError> {
        let start = self.at;
        let mut text = String::new();
        let mut chars = self.rest().char_indices().skip(1).peekable();
        while let Some((at, c)) = chars.next() {
            if c != '\'' {
                text.push(c);
            } else if chars.next_if(|(_, next)| *next == '\'').is_some() {
                text.push('\'');
            } else {
                self.at = start + at + 1;
                return Ok(text);
            }
        }
        Err(self.error("this text has no closing quote"))
    }

    fn hex(&mut self) -> Result<Value, LiteralError> {
        let start = self.at;
        self.at += 1;
        let digits = self.quoted()?;
        let byte = |at| digits.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
        bytes
            .map(Value::Bytes)
            .ok_or(LiteralError { at: start, message: "expected pairs of hexadecimal digits".into() })
    }

    /// SQL's Unicode escapes: `\XXXX`, `\+XXXXXX`, `\\`.
    fn escaped(&mut self) -> Result<Value, LiteralError> {
        let start = self.at;
        let raw = self.quoted()?;
        let bad = || LiteralError { at: start, message: "expected `\\XXXX`, `\\+XXXXXX` or `\\\\`".into() };
        let mut text = String::new();
        let mut rest = raw.as_str();
        while let Some(at) = rest.find('\\') {
            text.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let (skip, digits) = match rest.chars().next() {
                Some('\\') => (1, 0),
                Some('+') => (1, 6),
                _ => (0, 4),
            };
            if digits == 0 {
                text.push('\\');
            } else {
                let code = rest.get(skip..skip + digits).ok_or_else(bad)?;
                let code = u32::from_str_radix(code, 16).map_err(|_| bad())?;
                text.push(char::from_u32(code).ok_or_else(bad)?);
            }
            rest = &rest[skip + digits..];
        }
        text.push_str(rest);
        Ok(Value::Text(text))
    }

    fn rows(&mut self) -> Result<Rows, LiteralError> {
        self.skip_space();
        if self.rest().starts_with("(empty)") {
            self.at += "(empty)".len();
            return Ok(Vec::new());
        }
        let mut rows = vec![self.tuple()?];
        loop {
            self.take(',');
            self.skip_space();
            if self.rest().is_empty() {
                return Ok(rows);
            }
            rows.push(self.tuple()?);
        }
    }

    fn tuple(&mut self) -> Result<Vec<Value>, LiteralError> {
        self.require('(')?;
        let mut values = Vec::new();
        if self.take(')') {
            return Ok(values);
        }
        loop {
            values.push(self.literal()?);
            if !self.take(',') {
                self.require(')')?;
                return Ok(values);
            }
        }
    }

    fn call(&mut self) -> Result<Call, LiteralError> {
        let procedure = self.word().to_string();
        if procedure.is_empty() {
            return Err(self.error("expected the name of a procedure"));
        }
        self.require('(')?;
        let mut arguments = Vec::new();
        if self.take(')') {
            return Ok(Call { procedure, arguments });
        }
        loop {
            let name = self.word().to_string();
            if name.is_empty() {
                return Err(self.error("expected the name of an argument"));
            }
            self.require('=')?;
            arguments.push((name, self.literal()?));
            if !self.take(',') {
                self.require(')')?;
                return Ok(Call { procedure, arguments });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_read() {
        let check = |text: &str, expect: Value| assert_eq!(parse_literal(text), Ok(expect), "{text}");
        check("NULL", Value::Null);
        check("true", Value::Bool(true));
        check("-1.50", Value::Number(Number::parse("-1.5").unwrap()));
        check("1e-3", Value::Number(Number::parse("0.001").unwrap()));
        check("'it''s'", Value::text("it's"));
        check("X'00FF'", Value::Bytes(vec![0, 255]));
        check("U&'a\\000Ab\\\\c'", Value::text("a\nb\\c"));
    }

    #[test]
    fn bad_literals_say_where() {
        let check = |text: &str, at: usize| assert_eq!(parse_rows(text).unwrap_err().at, at, "{text}");
        check("1", 0);
        check("(1", 2);
        check("(1, nul)", 4);
        check("(1) x", 4);
        check("('a", 1);
        check("(X'0')", 1);
        check("(1-2)", 2);
        assert!(parse_literal("U&'\\00'").is_err());
        assert!(parse_literal("U&'\\é'").is_err());
    }

    #[test]
    fn tuples_may_be_separated_by_commas() {
        assert_eq!(parse_rows("(empty)"), Ok(vec![]));
        assert_eq!(parse_rows("()"), Ok(vec![vec![]]));
        assert_eq!(parse_rows("(1), (2)"), parse_rows("(1) (2)"));
    }

    #[test]
    fn calls_are_read() {
        let call = parse_call("withdraw(account=1, amount='x')").unwrap();
        assert_eq!(call.to_string(), "withdraw(account=1, amount='x')");
        assert_eq!(parse_call("f();").unwrap().arguments, vec![]);
        assert!(parse_call("f(1)").is_err());
    }
}
