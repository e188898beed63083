//! Errors: `throw`, `try`, `catch`, `finally`.
//!
//! An error that the program itself throws is followed: up to the `catch` that takes it, or out of the procedure. An
//! error of the database ends the call, and what a `catch` does about it is not followed, unless it sends statements: then
//! it is a way that may be taken instead of the `try`, as if its first statement had failed.

use txloom_core::program::{self as ir, Span, StatementKind};
use txloom_core::value::Value as Constant;

use super::super::index::World;
use super::super::tree::{Catch, Expr, ExprKind, Stmt, Try};
use super::super::values::{Piece, Value, any};
use super::super::visit;
use super::super::vocabulary::{Act, Sort};
use super::{Guard, Lowerer};

/// Types that catch everything that a program throws.
const EVERYTHING: &[&str] = &["Exception", "Throwable", "RuntimeException", "BaseException", ""];

/// Whether a catch may be for errors of the database.
fn is_of_database(catch: &Catch) -> bool {
    let is_one =
        |name: &String| EVERYTHING.contains(&name.as_str()) || name.contains("SQL") || name.contains("Database");
    catch.types.is_empty() || catch.types.iter().any(is_one)
}

/// Whether statements send something to the database.
fn sends(world: &World<'_>, body: &[Stmt]) -> bool {
    let mut found = false;
    visit::expressions(body, &mut |expr| {
        let ExprKind::Call(call) = &expr.kind else { return };
        let act = world.vocabulary.act(Sort::Statement, call);
        found |= matches!(act, Some(Act::Query | Act::Update | Act::Execute));
    });
    found
}

/// What an error is called that has no message.
fn error_name(class: &str) -> String {
    if class.is_empty() { "an error".to_string() } else { class.to_string() }
}

impl<'p> Lowerer<'p> {
    pub(super) fn guarded(&mut self, guarded: &'p Try, span: Span) {
        let label = self.fresh("attempt");
        let guard = Guard { body: guarded, label: label.clone(), catches: true, ends: Vec::new() };
        self.frame().tries.push(guard);
        let body = self.block(|this| {
            this.failing(guarded, span);
            this.scoped(|this| {
                this.statements(&guarded.resources);
                this.scoped(|this| this.statements(&guarded.body));
            });
        });
        let mut ends = self.frame().tries.pop().map(|guard| guard.ends).unwrap_or_default();
        if ends.is_empty() {
            self.out.extend(body);
        } else {
            ends.push(std::mem::take(&mut self.state));
            self.join_quietly(ends, span);
            let was_dead = std::mem::replace(&mut self.state.is_dead, false);
            self.emit(StatementKind::Block { label, body }, span);
            self.state.is_dead = was_dead;
        }
        if !self.state.is_dead {
            self.scoped(|this| this.statements(&guarded.finally));
        }
    }

    /// The way on which the database fails at once, if something is sent about that.
    fn failing(&mut self, guarded: &'p Try, span: Span) {
        let world = self.world;
        let mut catches = guarded.catches.iter().filter(|catch| is_of_database(catch));
        let Some(catch) = catches.find(|catch| sends(world, &catch.body)) else { return };
        let before = self.state.clone();
        let Some(at) = self.frame().tries.len().checked_sub(1) else { return };
        let label = self.frame().tries[at].label.clone();
        self.frame().tries[at].catches = false;
        self.caught.push((catch.name.clone(), catch.types.first().cloned().unwrap_or_default(), None));
        let body = self.block(|this| {
            this.catch(catch, span);
            if !this.state.is_dead {
                let state = this.state.clone();
                this.frame().tries[at].ends.push(state);
                this.emit(StatementKind::Leave(Some(label)), span);
            }
        });
        self.caught.pop();
        self.frame().tries[at].catches = true;
        self.state = before;
        self.state.values.resize(self.slots.len(), Value::Unset);
        let condition = any(self.at(span));
        let branches = vec![ir::Branch { condition, body }];
        self.emit(StatementKind::If { branches, otherwise: Vec::new() }, span);
        let message = "what is sent after an error of the database is taken to be sent instead of the rest";
        self.warn(span, message, "");
    }

    /// What must be done before a method is left.
    pub(super) fn finish_tries(&mut self, _span: Span) {
        let tries = std::mem::take(&mut self.frame().tries);
        for guard in tries.iter().rev() {
            let finally = &guard.body.finally;
            self.scoped(|this| this.statements(finally));
        }
        self.frame().tries = tries;
    }

    pub(super) fn throw(&mut self, thrown: Option<&'p Expr>, span: Span) {
        let mut class = String::new();
        let mut message = None;
        match thrown.map(|thrown| &thrown.kind) {
            Some(ExprKind::New { class: name, arguments }) => {
                class = name.clone();
                let values: Vec<Value> = arguments.iter().map(|argument| self.value(argument)).collect();
                message = values.iter().find_map(|value| self.constant_parts(value));
            }
            Some(ExprKind::Name(name)) => {
                if let Some((_, known, said)) = self.caught.iter().rev().find(|(caught, _, _)| caught == name) {
                    (class, message) = (known.clone(), said.clone());
                }
            }
            None => {
                if let Some((_, known, said)) = self.caught.last() {
                    (class, message) = (known.clone(), said.clone());
                }
            }
            Some(ExprKind::Call(call)) => {
                class = call.name.clone();
                let values: Vec<Value> = call.arguments.iter().map(|argument| self.value(argument)).collect();
                message = values.iter().find_map(|value| self.constant_parts(value));
            }
            _ => {}
        }
        self.raise(&class, message, span);
    }

    /// An error of the program: the nearest catch takes it, or the call fails.
    fn raise(&mut self, class: &str, message: Option<String>, span: Span) {
        if self.state.is_dead {
            return;
        }
        let taken = (0..self.frames.len()).rev().find_map(|frame| {
            let tries = &self.frames[frame].tries;
            (0..tries.len()).rev().find_map(|at| {
                let guard = &tries[at];
                let catches = guard.body.catches.iter().filter(|_| guard.catches);
                let catch = catches.into_iter().find(|catch| self.takes(catch, class))?;
                Some((frame, at, catch))
            })
        });
        let Some((frame, at, catch)) = taken else {
            let text = message.filter(|text| !text.is_empty()).unwrap_or_else(|| error_name(class));
            let at = self.at(span);
            let message = ir::Expr { kind: ir::ExprKind::Literal(Constant::text(text)), span: at };
            self.emit(StatementKind::Raise(message), span);
            self.state.is_dead = true;
            return;
        };
        let inner = self.frames.split_off(frame + 1);
        let guards = self.frame().tries.split_off(at + 1);
        self.frame().tries[at].catches = false;
        self.caught.push((catch.name.clone(), class.to_string(), message));
        self.catch(catch, span);
        self.caught.pop();
        if !self.state.is_dead {
            let label = self.frame().tries[at].label.clone();
            let state = self.state.clone();
            self.frame().tries[at].ends.push(state);
            self.emit(StatementKind::Leave(Some(label)), span);
            self.state.is_dead = true;
        }
        self.frame().tries[at].catches = true;
        self.frame().tries.extend(guards);
        self.frames.extend(inner);
    }

    fn catch(&mut self, catch: &'p Catch, span: Span) {
        self.scoped(|this| {
            let slot = this.new_slot(&catch.name, "", Sort::Object);
            this.state.values[slot] = Value::Unknown(span);
            this.bind(&catch.name, slot);
            this.statements(&catch.body);
        });
    }

    /// Whether a catch is for errors of that class.
    fn takes(&self, catch: &Catch, class: &str) -> bool {
        let mut line = vec![class.to_string()];
        while let Some(at) = line.last().and_then(|name| self.world.class_named(name)) {
            match &self.world.class(at).parent {
                Some(parent) if !line.contains(parent) => line.push(parent.clone()),
                _ => break,
            }
        }
        let is_for = |wanted: &String| EVERYTHING.contains(&wanted.as_str()) || line.contains(wanted);
        catch.types.is_empty() || catch.types.iter().any(is_for)
    }

    /// The constant parts of a text, for a message.
    fn constant_parts(&self, value: &Value) -> Option<String> {
        let Value::Text(template) = value else { return None };
        let part = |piece: &Piece| match piece {
            Piece::Text { text, .. } => text.clone(),
            Piece::Hole { .. } => "…".to_string(),
        };
        Some(template.pieces.iter().map(part).collect())
    }
}
