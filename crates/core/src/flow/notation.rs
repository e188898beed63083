//! A compact notation for applications: one line per transaction.
//!
//! ```text
//! program booking
//! T1: use flights.avail key flights.fltnum, flight -> avail     # SELECT avail INTO :avail … WHERE fltnum = :flight
//! H:  if avail                                                  # host code
//! T2: def flights.avail <- avail key flights.fltnum, flight     # UPDATE flights SET avail = :avail - 1 WHERE …
//! T1 -> H -> T2 | end
//! ```
//!
//! ```text
//! line      = "program" name | node ":" operation { ";" operation } | node { "->" node { "|" node } } | "#" …
//! operation = [ "maybe" ] verb
//! verb      = "use" sources { part }                      SELECT
//!           | "def" elements { part }                     UPDATE
//!           | "insert" table "(" columns ")" { part }     writes the columns and table.*
//!           | "delete" table "(" columns ")" { part }     likewise
//!           | "set" variable [ "<-" variables ]           host code
//!           | "if" variables                              host code: decides where to go on
//! part      = "<-" sources                                computed from
//!           | "->" variables                              INTO
//!           | "key" sources                               rows found by their key
//!           | "scan" [ sources ]                          rows searched: reads table.*, too
//! source    = table "." column | table ".*" | variable
//! ```
//!
//! Names are lower-cased, but for those of nodes. A node with nothing but `set` and `if` is host code, every other
//! one a transaction. `maybe` marks what does not always happen. A program begins at its first node; without any
//! line of arrows, its nodes follow one another. `end` is where it ends.

mod lex;
mod print;

use std::fmt;

use super::input::{Application, Element, Node, Operation, Procedure, Source, Verb};
use crate::suggest;
use lex::{Token, lex};

/// A text that is not in the notation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotationError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
    /// The line itself.
    pub text: String,
}

impl fmt::Display for NotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}\n  {}", self.line, self.message, self.text.trim())
    }
}

impl std::error::Error for NotationError {}

const VERBS: &[&str] = &["use", "def", "insert", "delete", "set", "if"];
const PARTS: &str = "\"<-\", \"->\", key or scan";
/// Where a procedure ends, as a name of a node.
const END: &str = "end";

/// Reads an application.
pub fn parse(text: &str) -> Result<Application, NotationError> {
    let mut reader = Reader::default();
    for (number, line) in text.lines().enumerate() {
        let code = line.split('#').next().unwrap_or("").trim();
        let read = if code.is_empty() { Ok(()) } else { reader.line(code, number + 1) };
        read.map_err(|message| NotationError { line: number + 1, message, text: line.to_string() })?;
    }
    let arrows = std::mem::take(&mut reader.arrows);
    for (number, arrow) in &arrows {
        let line = || text.lines().nth(number - 1).unwrap_or("").to_string();
        reader.connect(arrow).map_err(|message| NotationError { line: *number, message, text: line() })?;
    }
    Ok(reader.finish())
}

/// `T1 -> T2 | T3`, in which procedure.
#[derive(Debug)]
struct Arrow {
    procedure: usize,
    /// The alternatives of each place.
    places: Vec<Vec<String>>,
}

#[derive(Debug, Default)]
struct Reader {
    application: Application,
    arrows: Vec<(usize, Arrow)>,
    /// Whether a procedure has arrows.
    connected: Vec<bool>,
}

impl Reader {
    fn line(&mut self, code: &str, line: usize) -> Result<(), String> {
        if let Some(name) = code.strip_prefix("program ") {
            return self.program(name.trim());
        }
        if self.application.procedures.is_empty() {
            self.program("program")?;
        }
        match code.split_once(':') {
            Some((name, operations)) => self.node(name.trim(), operations, line),
            None => {
                let places = code.split("->").map(|place| place.split('|').map(|it| it.trim().to_string()).collect());
                let procedure = self.application.procedures.len() - 1;
                self.arrows.push((line, Arrow { procedure, places: places.collect() }));
                self.connected[procedure] = true;
                Ok(())
            }
        }
    }

    fn program(&mut self, name: &str) -> Result<(), String> {
        if self.application.procedures.iter().any(|procedure| procedure.name == name) {
            return Err(format!("there are two programs called {name}; names must be unique"));
        }
        self.application.procedures.push(Procedure { name: name.to_string(), nodes: Vec::new() });
        self.connected.push(false);
        Ok(())
    }

    fn node(&mut self, name: &str, operations: &str, line: usize) -> Result<(), String> {
        let nodes = &mut self.application.procedures.last_mut().ok_or("no program")?.nodes;
        if name == END || name.is_empty() || name.contains(char::is_whitespace) {
            return Err(format!("expected the name of a node before \":\", found \"{name}\""));
        }
        if nodes.iter().any(|node| node.name == name) {
            return Err(format!("there are two nodes called {name}; names must be unique within a program"));
        }
        let mut read = Vec::new();
        for text in operations.split(';').map(str::trim).filter(|text| !text.is_empty()) {
            read.push(Operation { line, ..operation(text)? });
        }
        let is_host = |it: &Operation| matches!(it.verb, Verb::Assign | Verb::Decide) && it.reads().next().is_none();
        let is_transaction = read.is_empty() || !read.iter().all(is_host);
        let name = name.to_string();
        nodes.push(Node { name, is_transaction, operations: read, successors: vec![], may_end: false, line });
        Ok(())
    }

    fn connect(&mut self, arrow: &Arrow) -> Result<(), String> {
        let nodes = &mut self.application.procedures[arrow.procedure].nodes;
        let find = |name: &str, nodes: &[Node]| {
            nodes.iter().position(|node| node.name == name).ok_or_else(|| {
                let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
                let hint = suggest::hint(name, names.iter().copied());
                format!("there is no node \"{name}\" in this program{hint} (nodes: {})", names.join(", "))
            })
        };
        for step in arrow.places.windows(2) {
            for from in &step[0] {
                let from = find(from, nodes)?;
                for to in &step[1] {
                    if to == END {
                        nodes[from].may_end = true;
                        continue;
                    }
                    let to = find(to, nodes)?;
                    if !nodes[from].successors.contains(&to) {
                        nodes[from].successors.push(to);
                    }
                }
            }
        }
        if arrow.places.len() < 2 {
            return Err("expected \"program NAME\", \"NODE: operations\" or \"NODE -> NODE\"".to_string());
        }
        Ok(())
    }

    fn finish(mut self) -> Application {
        for (procedure, connected) in self.application.procedures.iter_mut().zip(self.connected) {
            let count = procedure.nodes.len();
            for (at, node) in procedure.nodes.iter_mut().enumerate() {
                if !connected && at + 1 < count {
                    node.successors.push(at + 1);
                }
                node.may_end |= node.successors.is_empty();
            }
        }
        self.application
    }
}

/// Reads one operation.
fn operation(text: &str) -> Result<Operation, String> {
    let tokens = lex(text)?;
    let mut parser = Parser { tokens: &tokens };
    let certain = !parser.word("maybe");
    let verb = parser.verb()?;
    let mut operation = Operation { certain, ..Operation::new(verb) };
    match verb {
        Verb::Select | Verb::Decide => operation.values = parser.sources()?,
        Verb::Update => operation.writes = elements(parser.sources()?)?,
        Verb::Insert | Verb::Delete => operation.writes = parser.table()?,
        Verb::Assign => operation.defines = variables(parser.sources()?)?,
    }
    parser.parts(&mut operation)?;
    Ok(operation)
}

struct Parser<'t> {
    tokens: &'t [Token],
}

impl Parser<'_> {
    fn take(&mut self) -> Option<&Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    fn word(&mut self, word: &str) -> bool {
        let found = matches!(self.tokens.first(), Some(Token::Name(name)) if name == word);
        if found {
            self.take();
        }
        found
    }

    fn verb(&mut self) -> Result<Verb, String> {
        let found = match self.take() {
            Some(Token::Name(name)) => name.clone(),
            _ => String::new(),
        };
        match found.as_str() {
            "use" => Ok(Verb::Select),
            "def" => Ok(Verb::Update),
            "insert" => Ok(Verb::Insert),
            "delete" => Ok(Verb::Delete),
            "set" => Ok(Verb::Assign),
            "if" => Ok(Verb::Decide),
            other => {
                let hint = suggest::hint(other, VERBS.iter().copied());
                Err(format!("unknown operation \"{other}\"{hint} (operations: {})", VERBS.join(", ")))
            }
        }
    }

    /// One or more sources, separated by commas.
    fn sources(&mut self) -> Result<Vec<Source>, String> {
        let mut sources = Vec::new();
        loop {
            match self.take() {
                Some(Token::Name(name)) => sources.push(source(name)),
                Some(other) => return Err(format!("expected a column or a variable, found \"{other}\"")),
                None => return Err("expected a column or a variable, found the end of the operation".to_string()),
            }
            if self.tokens.first() != Some(&Token::Comma) {
                return Ok(sources);
            }
            self.take();
        }
    }

    /// `table(a, b)`: its columns and the existence of its rows.
    fn table(&mut self) -> Result<Vec<Element>, String> {
        let table = match self.take() {
            Some(Token::Name(name)) if !name.contains('.') => name.clone(),
            _ => return Err("expected the name of a table, then its columns in parentheses".to_string()),
        };
        if self.take() != Some(&Token::Open) {
            return Err(format!("expected the columns of {table} in parentheses"));
        }
        let mut elements = vec![Element::rows(&table)];
        for column in variables(self.sources()?)? {
            elements.push(Element::column(&table, column));
        }
        match self.take() {
            Some(Token::Close) => Ok(elements),
            _ => Err(format!("the columns of {table} need a closing parenthesis")),
        }
    }

    fn parts(&mut self, operation: &mut Operation) -> Result<(), String> {
        while let Some(token) = self.take() {
            match token.clone() {
                Token::From => operation.values.append(&mut self.sources()?),
                Token::Into => operation.defines.append(&mut variables(self.sources()?)?),
                Token::Name(name) if name == "key" => operation.choice.append(&mut self.sources()?),
                Token::Name(name) if name == "scan" => {
                    if matches!(self.tokens.first(), Some(Token::Name(_))) {
                        operation.choice.append(&mut self.sources()?);
                    }
                    add_scans(operation);
                }
                other => return Err(format!("expected {PARTS}, found \"{other}\"")),
            }
        }
        Ok(())
    }
}

/// Every table that the operation reads or writes is searched.
fn add_scans(operation: &mut Operation) {
    let tables: Vec<String> =
        operation.reads().chain(&operation.writes).map(|element| element.table().to_string()).collect();
    for table in tables {
        let rows = Source::Element(Element::rows(table));
        if !operation.sources().any(|source| *source == rows) {
            operation.choice.push(rows);
        }
    }
}

fn source(name: &str) -> Source {
    match name.split_once('.') {
        Some((table, "*")) => Source::Element(Element::rows(table)),
        Some((table, column)) => Source::Element(Element::column(table, column)),
        None => Source::Variable(name.to_string()),
    }
}

fn elements(sources: Vec<Source>) -> Result<Vec<Element>, String> {
    let element = |source| match source {
        Source::Element(element) => Ok(element),
        Source::Variable(name) => Err(format!("expected table.column, found the variable {name}")),
    };
    sources.into_iter().map(element).collect()
}

fn variables(sources: Vec<Source>) -> Result<Vec<String>, String> {
    let variable = |source| match source {
        Source::Variable(name) => Ok(name),
        Source::Element(element) => Err(format!("expected a plain name, found {element}")),
    };
    sources.into_iter().map(variable).collect()
}

#[cfg(test)]
mod tests;
