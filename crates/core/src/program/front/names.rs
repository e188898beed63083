//! The names of a routine: what its blocks declare, and what that is called in the program.
//!
//! A program has one flat set of variables. A name that an inner block declares again gets another one there, a field
//! of a record becomes a variable of its own, and so does each value that the server computes for us.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::ir::SqlStatement;
use crate::program::parse::RESERVED;

/// What a name stands for.
#[derive(Debug, Clone)]
pub(super) enum Binding {
    /// A variable, by its name in the program.
    Variable(String),
    /// A record: its fields, each with its variable.
    Record(Vec<(String, String)>),
    /// A cursor: its query, if it is bound to one, and its name in the program.
    Cursor(String, Option<SqlStatement>),
}

/// The names that can be used, the innermost block last.
#[derive(Debug, Default)]
pub(super) struct Names {
    blocks: Vec<BTreeMap<String, Binding>>,
    taken: BTreeSet<String>,
    /// Variables that nobody declared, but that the program needs.
    pub(super) implicit: Vec<(String, String)>,
}

impl Names {
    pub(super) fn enter(&mut self) {
        self.blocks.push(BTreeMap::new());
    }

    pub(super) fn leave(&mut self) {
        self.blocks.pop();
    }

    /// A name for the program that is still free, as near as possible to this one.
    pub(super) fn free(&mut self, wanted: &str) -> String {
        let mut name: String = wanted.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        if name.is_empty() || name.starts_with(|c: char| c.is_numeric()) {
            name.insert(0, '_');
        }
        let is_free = |name: &str| !RESERVED.contains(&name) && !self.taken.contains(name);
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let name = std::iter::once(name.clone()).chain(numbered).find(|name| is_free(name));
        let name = name.expect("one of all numbers is free");
        self.taken.insert(name.clone());
        name
    }

    /// Declares a variable in the innermost block.
    pub(super) fn declare(&mut self, source: &str) -> String {
        let name = self.free(source);
        self.bind(source, Binding::Variable(name.clone()));
        name
    }

    /// Whether the innermost block declares that name.
    pub(super) fn is_declared_here(&self, source: &str) -> bool {
        self.blocks.last().is_some_and(|block| block.contains_key(source))
    }

    pub(super) fn bind(&mut self, source: &str, binding: Binding) {
        if let Some(block) = self.blocks.last_mut() {
            block.insert(source.to_string(), binding);
        }
    }

    /// Binds a name again in the block that declares it, or else in the outermost one.
    pub(super) fn rebind(&mut self, source: &str, binding: Binding) {
        let at = self.blocks.iter().rposition(|block| block.contains_key(source)).unwrap_or(0);
        if let Some(block) = self.blocks.get_mut(at) {
            block.insert(source.to_string(), binding);
        }
    }

    pub(super) fn find(&self, source: &str) -> Option<&Binding> {
        self.blocks.iter().rev().find_map(|block| block.get(source))
    }

    /// The variable that a name stands for.
    pub(super) fn variable(&self, source: &str) -> Option<&str> {
        match self.find(source)? {
            Binding::Variable(name) => Some(name),
            _ => None,
        }
    }

    /// The variable of a record's field.
    pub(super) fn field(&self, record: &str, field: &str) -> Option<&str> {
        match self.find(record)? {
            Binding::Record(fields) => fields.iter().find(|(name, _)| name == field).map(|(_, name)| name.as_str()),
            _ => None,
        }
    }

    /// A variable that nobody declared; it is declared at the start of the body.
    pub(super) fn add_implicit(&mut self, wanted: &str, type_name: &str) -> String {
        let name = self.free(wanted);
        self.implicit.push((name.clone(), type_name.to_string()));
        name
    }

    /// Every variable: what the source calls it, and its name in the program.
    pub(super) fn visible(&self) -> BTreeMap<String, String> {
        let mut visible = BTreeMap::new();
        for (source, binding) in self.blocks.iter().flatten() {
            match binding {
                Binding::Variable(name) => drop(visible.insert(source.clone(), name.clone())),
                Binding::Record(fields) => {
                    visible.extend(fields.iter().map(|(field, name)| (format!("{source}.{field}"), name.clone())));
                }
                Binding::Cursor(..) => {}
            }
        }
        visible
    }
}
