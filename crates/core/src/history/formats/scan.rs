//! EDN and JSON, byte by byte, as far as histories need them.
//!
//! The two look alike: brackets, strings, atoms, blanks. A scanner walks over values without building them; whoever needs
//! one looks at its bytes. That is what makes reading fast: a hundred million elements are compared with what is known
//! already, and never stored.

#![warn(clippy::indexing_slicing)]

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Edn,
    Json,
}

/// Why a scanner stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stop {
    /// The text is over in the middle of something.
    End,
    /// There is something at that byte which must not be there.
    Wrong(usize, String),
}

/// A place in a text.
#[derive(Debug, Clone)]
pub(super) struct Scan<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
    /// Whether nothing follows the text.
    pub(super) is_last: bool,
    syntax: Syntax,
}

/// One value, as far as it must be told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A vector, list or array begins here.
    Open,
    /// It ends here.
    Close,
    /// `nil`, `null`.
    Nil,
    /// A whole number.
    Number(i64),
    /// A string, without its quotes; escapes are left as they are.
    String(&'a [u8]),
    /// A keyword of EDN, without its colon.
    Keyword(&'a [u8]),
    /// Another atom: a symbol, a decimal, a boolean.
    Atom(&'a [u8]),
}

/// Nesting deeper than this is no history.
const DEPTH_MAX: usize = 64;

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a [u8], at: usize, syntax: Syntax) -> Scan<'a> {
        Scan { text, at, is_last: true, syntax }
    }

    /// The bytes between two places, as far as there are any.
    pub(super) fn between(&self, from: usize, to: usize) -> &'a [u8] {
        self.text.get(from..to).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub(super) fn wrong<T>(&self, message: impl Into<String>) -> Result<T, Stop> {
        Err(Stop::Wrong(self.at, message.into()))
    }

    /// What stands here, for an error message.
    pub(super) fn found(&self) -> String {
        show(self.between(self.at, self.text.len()))
    }

    /// Skips blanks: in EDN also commas, comments and discarded forms; in JSON also the separators, which say nothing that
    /// the brackets do not.
    pub(super) fn blanks(&mut self) -> Result<(), Stop> {
        self.blanks_in(0)
    }

    /// Discarded forms count as nested: `#_ #_ #_ …` discards one after the other, each before the next.
    fn blanks_in(&mut self, depth: usize) -> Result<(), Stop> {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b',' => self.at += 1,
                b':' if self.syntax == Syntax::Json => self.at += 1,
                b';' if self.syntax == Syntax::Edn => {
                    match self.between(self.at, self.text.len()).iter().position(|byte| *byte == b'\n') {
                        Some(end) => self.at += end + 1,
                        None if self.is_last => self.at = self.text.len(),
                        None => return Err(Stop::End),
                    }
                }
                b'#' if self.syntax == Syntax::Edn && self.text.get(self.at + 1) == Some(&b'_') => {
                    self.at += 2;
                    self.skip(depth + 1)?;
                }
                _ => break,
            }
        }
        Ok(())
    }

    /// Skips a value, and gives its bytes.
    pub(super) fn value(&mut self) -> Result<&'a [u8], Stop> {
        self.blanks()?;
        let from = self.at;
        self.skip(0)?;
        Ok(self.between(from, self.at))
    }

    fn skip(&mut self, depth: usize) -> Result<(), Stop> {
        if depth > DEPTH_MAX {
            return self.wrong("this is nested too deeply for a history");
        }
        self.blanks_in(depth)?;
        let Some(byte) = self.peek() else { return Err(Stop::End) };
        match byte {
            b'"' => self.skip_string(),
            b'[' | b'{' | b'(' => {
                self.at += 1;
                loop {
                    self.blanks_in(depth)?;
                    match self.peek() {
                        None => return Err(Stop::End),
                        Some(b']' | b'}' | b')') => break,
                        Some(b'0'..=b'9') => self.skip_atom(),
                        Some(_) => self.skip(depth + 1)?,
                    }
                }
                self.at += 1;
                Ok(())
            }
            b']' | b'}' | b')' => self.wrong(format!("expected a value, found `{}`", byte as char)),
            b'#' if self.syntax == Syntax::Edn => self.skip_tagged(depth),
            b'\\' if self.syntax == Syntax::Edn => {
                self.at += 2;
                while self.peek().is_some_and(|byte| !self.ends_atom(byte)) {
                    self.at += 1;
                }
                if self.at > self.text.len() { Err(Stop::End) } else { Ok(()) }
            }
            _ => {
                self.skip_atom();
                Ok(())
            }
        }
    }

    /// `#{…}`, or a tag and the value that it belongs to.
    fn skip_tagged(&mut self, depth: usize) -> Result<(), Stop> {
        self.at += 1;
        match self.peek() {
            None => Err(Stop::End),
            Some(b'{') => self.skip(depth + 1),
            Some(_) => {
                self.skip_atom();
                self.skip(depth + 1)
            }
        }
    }

    fn skip_string(&mut self) -> Result<(), Stop> {
        self.at += 1;
        loop {
            match self.peek() {
                None => return Err(Stop::End),
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Skips to the end of an atom, at least one byte.
    pub(super) fn skip_atom(&mut self) {
        self.at += 1;
        while self.peek().is_some_and(|byte| !self.ends_atom(byte)) {
            self.at += 1;
        }
    }

    fn ends_atom(&self, byte: u8) -> bool {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' | b',' | b'[' | b']' | b'{' | b'}' | b'(' | b')' | b'"' | b';' => true,
            b':' => self.syntax == Syntax::Json,
            _ => false,
        }
    }

    /// The next token. Maps and sets are no part of what is read this way.
    pub(super) fn token(&mut self) -> Result<Token<'a>, Stop> {
        self.blanks()?;
        let Some(byte) = self.peek() else { return Err(Stop::End) };
        let from = self.at;
        match byte {
            b'0'..=b'9' | b'-' => {
                if let Some(number) = self.number() {
                    return Ok(Token::Number(number));
                }
                self.at = from;
                self.skip_atom();
                Ok(Token::Atom(self.between(from, self.at)))
            }
            b'[' | b'(' => {
                self.at += 1;
                Ok(Token::Open)
            }
            b']' | b')' => {
                self.at += 1;
                Ok(Token::Close)
            }
            b'"' => {
                self.skip_string()?;
                Ok(Token::String(self.between(from + 1, self.at - 1)))
            }
            b'{' | b'}' | b'#' | b'\\' => self.wrong(format!("expected a value, found `{}`", self.found())),
            _ => {
                self.skip_atom();
                Ok(self.word(from))
            }
        }
    }

    fn word(&self, from: usize) -> Token<'a> {
        match self.between(from, self.at) {
            b"nil" | b"null" => Token::Nil,
            [b':', name @ ..] => Token::Keyword(name),
            atom => Token::Atom(atom),
        }
    }

    /// A whole number that fits; `None`, somewhere behind its beginning, if it is something else.
    pub(super) fn number(&mut self) -> Option<i64> {
        let is_negative = self.peek() == Some(b'-');
        self.at += usize::from(is_negative);
        let from = self.at;
        let mut number: i64 = 0;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            number = number.checked_mul(10)?.checked_add(i64::from(digit - b'0'))?;
            self.at += 1;
        }
        let is_over = self.peek().is_none_or(|byte| self.ends_atom(byte));
        (self.at > from && is_over).then_some(if is_negative { -number } else { number })
    }
}

/// The beginning of some bytes, for an error message.
pub(super) fn show(bytes: &[u8]) -> String {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or(bytes);
    let text = String::from_utf8_lossy(line.get(..160).unwrap_or(line));
    let short: String = text.trim_end().chars().map(|c| if c.is_control() { ' ' } else { c }).take(40).collect();
    match short.as_str() {
        "" => "the end of the line".to_string(),
        _ if short.len() < text.trim_end().len() || line.len() > 160 => format!("{short}…"),
        _ => short,
    }
}

#[allow(clippy::indexing_slicing)]
#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str, syntax: Syntax) -> Result<Vec<String>, Stop> {
        let mut scan = Scan::new(text.as_bytes(), 0, syntax);
        let mut found = Vec::new();
        loop {
            scan.blanks()?;
            if scan.peek().is_none() {
                return Ok(found);
            }
            found.push(String::from_utf8_lossy(scan.value()?).into_owned());
        }
    }

    #[test]
    fn values_are_told_apart() {
        let check = |text: &str, expect: &[&str]| assert_eq!(values(text, Syntax::Edn).unwrap(), expect, "{text}");
        check("1, 2 ; three\n :four \"f]iv\\\"e\"", &["1", "2", ":four", "\"f]iv\\\"e\""]);
        check("[1 [2 3]] {:a (1)} #{1 2} #tag [4]", &["[1 [2 3]]", "{:a (1)}", "#{1 2}", "#tag [4]"]);
        check("1 #_ [2 #_3 ] 4 ; no end", &["1", "4"]);
        check("\\a \\newline \\[", &["\\a", "\\newline", "\\["]);
        assert_eq!(values("{\"a\":null} 1", Syntax::Json).unwrap(), ["{\"a\":null}", "1"]);
    }

    #[test]
    fn what_is_cut_off_is_not_wrong() {
        for text in ["[1 2", "\"abc", "{:a ", "#tag", "[ ; no end", "#_ ", "\\"] {
            assert_eq!(values(text, Syntax::Edn), Err(Stop::End), "{text}");
        }
        assert!(matches!(values("]", Syntax::Edn), Err(Stop::Wrong(0, _))));
        assert!(matches!(values(&"[".repeat(1_000), Syntax::Json), Err(Stop::Wrong(..))));
        assert!(matches!(values(&"#_ ".repeat(100_000), Syntax::Edn), Err(Stop::Wrong(..))));
        assert!(matches!(values(&"#tag ".repeat(100_000), Syntax::Edn), Err(Stop::Wrong(..))));
        assert!(matches!(values(&"[#_".repeat(100_000), Syntax::Edn), Err(Stop::Wrong(..))));
    }

    #[test]
    fn tokens_are_numbers_words_and_brackets() {
        let mut scan = Scan::new(b"[:r \"x\" -12 1.5 99999999999999999999 nil]", 0, Syntax::Edn);
        let tokens: Vec<Token<'_>> = std::iter::from_fn(|| scan.token().ok()).collect();
        assert_eq!(
            tokens,
            [
                Token::Open,
                Token::Keyword(b"r"),
                Token::String(b"x"),
                Token::Number(-12),
                Token::Atom(b"1.5"),
                Token::Atom(b"99999999999999999999"),
                Token::Nil,
                Token::Close
            ]
        );
    }
}
