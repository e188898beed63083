//! The pass that makes one statement after the other simpler, by a table of edits.
//!
//! An edit is a function that changes a node of the syntax tree a little: it carries out its n-th possibility, or says
//! that there are not so many. So "leave out a join" is one function for any number of joins, and this file tries all
//! of them at every node.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, Query, Select, Statement, VisitMut, VisitorMut};

use crate::case::{Case, Line};
use crate::reduce::edit::{statement, with_statement};
use crate::reduce::{Pass, Tests};
use crate::sql::StatementKind;
use crate::sql::parse::parse;

/// A statement that is longer (an INSERT of many rows) is left to other passes: trying every edit at every node takes
/// time that grows with the square of its length.
const LENGTH_MAX: usize = 5_000;

/// Carries out the n-th possibility of an edit, from 0; false if there are not so many.
pub(super) type Edit<T> = fn(&mut T, usize) -> bool;

/// A table of edits, by the nodes that they are for. What takes away most comes first.
pub(in crate::reduce) struct Rewrite {
    pub(super) statements: &'static [Edit<Statement>],
    pub(super) queries: &'static [Edit<Query>],
    pub(super) selects: &'static [Edit<Select>],
    pub(super) expressions: &'static [Edit<Expr>],
}

impl Pass for Rewrite {
    fn reduce(&self, case: &Case, tests: &mut Tests<'_>) -> Case {
        // Steps first: what they no longer use of the setup can go afterwards.
        let is_step = |position: &usize| matches!(case.entries[*position].line, Line::Step(..));
        let (steps, others): (Vec<usize>, Vec<usize>) = (0..case.entries.len()).partition(is_step);
        steps.into_iter().chain(others).fold(case.clone(), |case, position| {
            tests.descend(&case, |case| {
                let texts = statement(case, position).map(|text| self.simpler(&text)).unwrap_or_default();
                texts.iter().filter_map(|text| with_statement(case, position, text)).collect()
            })
        })
    }
}

impl Rewrite {
    /// Every statement that one edit makes of this one, in the order of the table.
    pub(super) fn simpler(&self, text: &str) -> Vec<String> {
        let plain = match StatementKind::of(text) {
            StatementKind::Begin => Some("BEGIN"),
            StatementKind::Commit => Some("COMMIT"),
            StatementKind::Rollback => Some("ROLLBACK"),
            _ => None,
        };
        if let Some(plain) = plain {
            let is_longer = text.len() > plain.len();
            return if is_longer { vec![plain.to_string()] } else { Vec::new() };
        }
        let parsed = if text.len() > LENGTH_MAX { None } else { parse(text) };
        let Some(tree) = parsed else { return Vec::new() };
        let mut found = Vec::new();
        self.statements.iter().for_each(|edit| every_possibility(&tree, Place::Statement(*edit), 0, &mut found));
        everywhere(&tree, self.queries, Place::Query, &mut found);
        everywhere(&tree, self.selects, Place::Select, &mut found);
        everywhere(&tree, self.expressions, Place::Expr, &mut found);
        let length = tree.to_string().len();
        found.retain(|simpler| simpler.len() < length);
        found
    }
}

/// An edit, with the kind of node that it is for.
#[derive(Clone, Copy)]
enum Place {
    Statement(Edit<Statement>),
    Query(Edit<Query>),
    Select(Edit<Select>),
    Expr(Edit<Expr>),
}

/// What became of an edit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Applied {
    Changed,
    /// There are not so many possibilities.
    Exhausted,
    /// There are not so many nodes.
    NoNode,
}

fn everywhere<T>(tree: &Statement, edits: &[Edit<T>], place: fn(Edit<T>) -> Place, found: &mut Vec<String>) {
    if edits.is_empty() {
        return;
    }
    let exists = |position: usize| apply(&mut tree.clone(), place(edits[0]), position, 0) != Applied::NoNode;
    for position in (0..).take_while(|position| exists(*position)) {
        edits.iter().for_each(|edit| every_possibility(tree, place(*edit), position, found));
    }
}

/// All possibilities of an edit at one node.
fn every_possibility(tree: &Statement, place: Place, position: usize, found: &mut Vec<String>) {
    for nth in 0.. {
        let mut changed = tree.clone();
        if apply(&mut changed, place, position, nth) != Applied::Changed {
            return;
        }
        found.push(changed.to_string());
    }
}

fn apply(tree: &mut Statement, place: Place, position: usize, nth: usize) -> Applied {
    if let Place::Statement(edit) = place {
        return if edit(tree, nth) { Applied::Changed } else { Applied::Exhausted };
    }
    let mut at = At { place, position, nth, applied: Applied::NoNode };
    let _ = tree.visit(&mut at);
    at.applied
}

/// Walks to a node and edits it there. Outer nodes come before inner ones.
struct At {
    place: Place,
    position: usize,
    nth: usize,
    applied: Applied,
}

impl At {
    fn node<T>(&mut self, node: &mut T, edit: Edit<T>) -> ControlFlow<()> {
        if self.position > 0 {
            self.position -= 1;
            return ControlFlow::Continue(());
        }
        self.applied = if edit(node, self.nth) { Applied::Changed } else { Applied::Exhausted };
        ControlFlow::Break(())
    }
}

impl VisitorMut for At {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let Place::Query(edit) = self.place else { return ControlFlow::Continue(()) };
        self.node(query, edit)
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        let Place::Select(edit) = self.place else { return ControlFlow::Continue(()) };
        self.node(select, edit)
    }

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        let Place::Expr(edit) = self.place else { return ControlFlow::Continue(()) };
        self.node(expression, edit)
    }
}

/// Counts possibilities down until the one that is asked for is reached.
pub(super) struct Choice(usize);

impl Choice {
    pub(super) fn new(nth: usize) -> Choice {
        Choice(nth)
    }

    /// Whether this is the possibility that is asked for, if it is one at all.
    pub(super) fn is(&mut self, possible: bool) -> bool {
        let chosen = possible && self.0 == 0;
        self.0 -= usize::from(possible && !chosen);
        chosen
    }

    /// Takes out an optional part.
    pub(super) fn take<T>(&mut self, part: &mut Option<T>) -> bool {
        let chosen = self.is(part.is_some());
        if chosen {
            *part = None;
        }
        chosen
    }

    /// Takes out all elements of a list.
    pub(super) fn empty<T>(&mut self, part: &mut Vec<T>) -> bool {
        let chosen = self.is(!part.is_empty());
        if chosen {
            part.clear();
        }
        chosen
    }

    /// Takes out one element of a list, if at least so many are left.
    pub(super) fn remove<T>(&mut self, part: &mut Vec<T>, keep: usize) -> bool {
        let possible = part.len() > keep;
        if !possible || self.0 >= part.len() {
            self.0 -= if possible { part.len() } else { 0 };
            return false;
        }
        part.remove(self.0);
        true
    }
}
