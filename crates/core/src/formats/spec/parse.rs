//! From text to a [`Spec`].
//!
//! ```text
//! spec        = { setup } [ teardown ] session { session } { permutation }
//! setup       = "setup" block            teardown = "teardown" block
//! session     = "session" name [ setup ] step { step } [ teardown ]
//! step        = "step" name block
//! permutation = "permutation" entry { entry }
//! entry       = name [ "(" marker { "," marker } ")" ]
//! marker      = "*" | name | name "notices" number
//! ```

use super::lex::{Token, Word, tokens};
use super::{Marker, Permutation, PermutationStep, Spec, SpecSession, SpecStep, StepAt};

/// What is wrong with a `.spec` file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct SpecError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong, and what would be right.
    pub message: String,
    /// The line itself.
    pub text: String,
}

impl SpecError {
    /// An error at a position of the text, in bytes.
    pub(super) fn at(text: &str, at: usize, message: String) -> SpecError {
        let before = &text[..at];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line_text = text[start..].lines().next().unwrap_or("").to_string();
        let line = before.matches('\n').count() + 1;
        SpecError { line, column: text[start..at].chars().count() + 1, message, text: line_text }
    }
}

/// Reads a `.spec` file, as PostgreSQL 15's own runner does: names are resolved, and what that runner refuses is an error.
pub fn parse(text: &str) -> Result<Spec, SpecError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut parser = Parser { text, tokens: tokens(text)?, at: 0 };
    parser.spec()
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
}

/// A name and where it was written.
struct Named {
    name: String,
    at: usize,
}

/// An entry of a permutation before its names are resolved.
struct Entry {
    step: Named,
    markers: Vec<RawMarker>,
}

enum RawMarker {
    Once,
    Step(Named),
    Notices(Named, u32),
}

impl Parser<'_> {
    fn spec(&mut self) -> Result<Spec, SpecError> {
        let prose = self.tokens[0].comments.clone();
        let mut setup = Vec::new();
        while self.takes_keyword("setup") {
            setup.push(self.block("setup")?);
        }
        let teardown = self.optional_block("teardown")?;
        let mut spec = Spec { prose, setup, teardown, ..Spec::default() };
        while self.takes_keyword("session") {
            let session = self.session(&spec)?;
            spec.sessions.push(session);
        }
        if spec.sessions.is_empty() {
            return Err(self.expected("`setup`, `teardown` or `session`"));
        }
        while self.peek().word == Word::Keyword("permutation") {
            let permutation = self.permutation(&spec)?;
            spec.permutations.push(permutation);
        }
        if self.peek().word != Word::End {
            return Err(self.expected("`step`, `session`, `permutation` or the end of the file"));
        }
        Ok(spec)
    }

    fn session(&mut self, before: &Spec) -> Result<SpecSession, SpecError> {
        let name = self.name("a session's name")?.name;
        let mut session = SpecSession { name, setup: self.optional_block("setup")?, ..SpecSession::default() };
        while self.takes_keyword("step") {
            let Named { name, at } = self.name("a step's name")?;
            let is_taken = before.find(&name).is_some() || session.steps.iter().any(|step| step.name == name);
            if is_taken {
                return Err(self.error(at, format!("there is already a step named `{name}`")));
            }
            session.steps.push(SpecStep { name, sql: self.block("step")? });
        }
        if session.steps.is_empty() {
            return Err(self.expected("`step`: a session has at least one"));
        }
        session.teardown = self.optional_block("teardown")?;
        Ok(session)
    }

    fn permutation(&mut self, spec: &Spec) -> Result<Permutation, SpecError> {
        let prose = self.next().comments;
        let mut entries = Vec::new();
        while matches!(self.peek().word, Word::Name(_)) {
            entries.push(self.entry()?);
        }
        if entries.is_empty() {
            return Err(self.expected("the name of a step"));
        }
        let steps: Vec<StepAt> =
            entries.iter().map(|entry| self.resolve(spec, &entry.step)).collect::<Result<_, _>>()?;
        let marked = |(entry, at): (&Entry, &StepAt)| {
            let resolve = |marker: &RawMarker| self.marker(spec, &steps, *at, marker);
            let markers = entry.markers.iter().map(resolve).collect::<Result<_, _>>()?;
            Ok(PermutationStep { at: *at, markers })
        };
        let steps = entries.iter().zip(&steps).map(marked).collect::<Result<_, _>>()?;
        Ok(Permutation { prose, steps })
    }

    fn entry(&mut self) -> Result<Entry, SpecError> {
        let step = self.name("the name of a step")?;
        let mut markers = Vec::new();
        if self.takes(&Word::Symbol('(')) {
            loop {
                markers.push(self.raw_marker()?);
                if !self.takes(&Word::Symbol(',')) {
                    break;
                }
            }
            if !self.takes(&Word::Symbol(')')) {
                return Err(self.expected("`)`"));
            }
        }
        Ok(Entry { step, markers })
    }

    fn raw_marker(&mut self) -> Result<RawMarker, SpecError> {
        if self.takes(&Word::Symbol('*')) {
            return Ok(RawMarker::Once);
        }
        let step = self.name("`*` or the name of a step")?;
        if !self.takes_keyword("notices") {
            return Ok(RawMarker::Step(step));
        }
        match self.peek().word {
            Word::Number(count) => {
                self.next();
                Ok(RawMarker::Notices(step, count))
            }
            _ => Err(self.expected("a number of notices")),
        }
    }

    fn marker(&self, spec: &Spec, steps: &[StepAt], own: StepAt, raw: &RawMarker) -> Result<Marker, SpecError> {
        let other = |named: &Named| {
            let other = self.resolve(spec, named)?;
            if !steps.contains(&other) {
                return Err(self.error(named.at, format!("`{}` is not part of this permutation", named.name)));
            }
            if other.session == own.session {
                return Err(self.error(named.at, "a step cannot wait for a step of its own session".to_string()));
            }
            Ok(other)
        };
        match raw {
            RawMarker::Once => Ok(Marker::Once),
            RawMarker::Step(named) => other(named).map(Marker::Step),
            RawMarker::Notices(named, count) => other(named).map(|other| Marker::Notices(other, *count)),
        }
    }

    fn resolve(&self, spec: &Spec, named: &Named) -> Result<StepAt, SpecError> {
        let names = || spec.steps().map(|at| spec.step(at).name.as_str());
        spec.find(&named.name).ok_or_else(|| {
            let hint = crate::suggest::hint(&named.name, names());
            self.error(named.at, format!("there is no step named `{}`{hint}", named.name))
        })
    }

    fn peek(&self) -> &Token {
        // The end of the file is never taken.
        &self.tokens[self.at]
    }

    fn next(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        if token.word != Word::End {
            self.at += 1;
        }
        token
    }

    fn takes(&mut self, word: &Word) -> bool {
        let is_next = self.peek().word == *word;
        if is_next {
            self.next();
        }
        is_next
    }

    fn takes_keyword(&mut self, keyword: &'static str) -> bool {
        self.takes(&Word::Keyword(keyword))
    }

    fn name(&mut self, what: &str) -> Result<Named, SpecError> {
        match self.peek().word.clone() {
            Word::Name(name) => Ok(Named { name, at: self.next().at }),
            Word::Keyword(word) => {
                let message = format!("`{word}` is a keyword: expected {what}; to use it as a name, write \"{word}\"");
                Err(self.error(self.peek().at, message))
            }
            _ => Err(self.expected(what)),
        }
    }

    fn block(&mut self, of: &str) -> Result<String, SpecError> {
        match self.next() {
            Token { word: Word::Block(sql), .. } => Ok(sql),
            token => {
                let message = format!("expected an SQL block `{{ … }}` for this {of}, found {}", token.word.describe());
                Err(self.error(token.at, message))
            }
        }
    }

    fn optional_block(&mut self, keyword: &'static str) -> Result<Option<String>, SpecError> {
        if self.takes_keyword(keyword) { self.block(keyword).map(Some) } else { Ok(None) }
    }

    fn expected(&self, what: &str) -> SpecError {
        self.error(self.peek().at, format!("expected {what}, found {}", self.peek().word.describe()))
    }

    fn error(&self, at: usize, message: String) -> SpecError {
        SpecError::at(self.text, at, message)
    }
}
