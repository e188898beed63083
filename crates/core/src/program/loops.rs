//! Parsing of loops, labels and cursors in the native notation.

use crate::level::LevelName;
use crate::program::cursor::Parsed;
use crate::program::ir::{Mode, StatementKind, Variable};
use crate::program::parse::Parser;
use crate::program::pieces::SqlEnd;
use crate::sql::{Token, TokenKind};

impl Parser<'_> {
    /// `name:` before a loop or a block.
    pub(super) fn is_label(&self) -> bool {
        self.cursor.peek().is_some_and(|token| token.kind == TokenKind::Word)
            && self.cursor.peek_at(1).is_some_and(|token| token.is_symbol(":"))
    }

    pub(super) fn labelled(&mut self) -> Parsed<StatementKind> {
        let (label, _) = self.new_name("a label")?;
        self.cursor.advance();
        match self.keyword().as_str() {
            "while" => self.repetition(Some(label)),
            "loop" => self.endless(Some(label)),
            "for" => self.for_each(Some(label)),
            "begin" => {
                self.cursor.advance();
                self.labels.push(label.clone());
                let body = self.block(&["END"], "")?;
                self.labels.pop();
                self.cursor.expect_word("END", "after the block")?;
                Ok(StatementKind::Block { label, body })
            }
            _ => Err(self.cursor.unexpected("WHILE, LOOP, FOR or BEGIN after the label")),
        }
    }

    /// `LOOP … END LOOP`
    pub(super) fn endless(&mut self, label: Option<String>) -> Parsed<StatementKind> {
        self.cursor.advance();
        let body = self.loop_body(label.as_deref(), "LOOP")?;
        Ok(StatementKind::Loop { label, body })
    }

    /// `FOR a, b IN (SELECT …) DO … END FOR`
    pub(super) fn for_each(&mut self, label: Option<String>) -> Parsed<StatementKind> {
        self.cursor.advance();
        let variables = self.mentions()?;
        self.cursor.expect_word("IN", "after the variables")?;
        self.cursor.expect_symbol("(", "before the query")?;
        let query = self.sql(SqlEnd::Parenthesis)?;
        self.cursor.expect_symbol(")", "after the query")?;
        self.cursor.expect_word("DO", "after the query")?;
        let body = self.loop_body(label.as_deref(), "FOR")?;
        Ok(StatementKind::ForEach { label, variables, query, body })
    }

    /// `LEAVE [label]` and `ITERATE [label]`.
    pub(super) fn departure(&mut self, kind: fn(Option<String>) -> StatementKind) -> Parsed<StatementKind> {
        self.cursor.advance();
        if self.cursor.is_symbol(";") {
            if self.labels.is_empty() {
                return Err(self.cursor.unexpected("a loop around this"));
            }
            return Ok(kind(None));
        }
        let at = self.cursor.start();
        let (label, _) = self.new_name("a label")?;
        if self.labels.contains(&label) {
            return Ok(kind(Some(label)));
        }
        Err(self.cursor.error_at(at, format!("nothing around this is called {label}")))
    }

    /// `OPEN c FOR SELECT …`
    pub(super) fn open(&mut self) -> Parsed<StatementKind> {
        self.cursor.advance();
        let (cursor, _) = self.new_name("the name of a cursor")?;
        self.cursor.expect_word("FOR", "before the query")?;
        Ok(StatementKind::Open { cursor, query: self.sql(SqlEnd::Semicolon)? })
    }

    /// `FETCH c INTO a, b`
    pub(super) fn fetch(&mut self) -> Parsed<StatementKind> {
        self.cursor.advance();
        let (cursor, _) = self.new_name("the name of a cursor")?;
        self.cursor.expect_word("INTO", "after the cursor")?;
        Ok(StatementKind::Fetch { cursor, variables: self.mentions()? })
    }

    /// `CLOSE c`
    pub(super) fn close(&mut self) -> Parsed<StatementKind> {
        self.cursor.advance();
        Ok(StatementKind::Close(self.new_name("the name of a cursor")?.0))
    }

    /// `SIGNAL expression`
    pub(super) fn signal(&mut self) -> Parsed<StatementKind> {
        self.cursor.advance();
        Ok(StatementKind::Raise(self.expression()?))
    }

    /// The level of `SET TRANSACTION ISOLATION LEVEL …;`, if that is what comes next; how many words that is.
    pub(super) fn isolation(&self) -> Option<(LevelName, usize)> {
        let head = ["SET", "TRANSACTION", "ISOLATION", "LEVEL"];
        let is = |at: usize, word: &str| self.cursor.peek_at(at).is_some_and(|token| token.is_word(word));
        if !head.iter().enumerate().all(|(at, word)| is(at, word)) {
            return None;
        }
        let word = |at: usize| self.cursor.peek_at(at).filter(|token: &&Token<'_>| token.kind == TokenKind::Word);
        let words: Vec<&str> = (head.len()..).map_while(|at| word(at).map(|token| token.text)).collect();
        let length = head.len() + words.len();
        let ends = self.cursor.peek_at(length).is_none_or(|token| token.is_symbol(";"));
        LevelName::parse(&words.join(" ")).filter(|_| ends).map(|level| (level, length))
    }

    /// One mention or more, separated by commas.
    pub(super) fn mentions(&mut self) -> Parsed<Vec<Variable>> {
        let mut variables = vec![self.mention()?];
        while self.cursor.accept_symbol(",") {
            variables.push(self.mention()?);
        }
        Ok(variables)
    }

    /// `IN`, `OUT`, `INOUT` before a parameter's name. A parameter may be *called* `out`.
    pub(super) fn mode(&mut self) -> Mode {
        let is_name = self.cursor.peek_at(1).is_some_and(|token| token.kind == TokenKind::Word)
            && self.cursor.peek_at(2).is_some_and(|token| token.kind == TokenKind::Word);
        for (word, mode) in [("IN", Mode::In), ("OUT", Mode::Out), ("INOUT", Mode::InOut)] {
            if is_name && self.cursor.accept_word(word) {
                return mode;
            }
        }
        Mode::In
    }
}
