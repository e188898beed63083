//! Loops of the source.
//!
//! A loop is followed once. What its body assigns to is in variables before it begins, so that what is known at its
//! beginning is true in every round.

use std::collections::BTreeSet;

use txloom_core::program::{self as ir, Branch, Span, Statement, StatementKind};

use super::super::index::World;
use super::super::tree::{Expr, ExprKind, Stmt, StmtKind};
use super::super::values::{Object, State, Value, any};
use super::super::visit;
use super::super::vocabulary::Sort;
use super::statements::is_truth;
use super::{Loop, Lowerer};

impl<'p> Lowerer<'p> {
    pub(super) fn while_loop(&mut self, label: Option<&str>, condition: &'p Expr, body: &'p [Stmt], span: Span) {
        self.settle_assigned(body, &[condition], span);
        let before = self.state.clone();
        let ir_label = self.open_loop(label, None);
        let mut asked = any(span);
        let mut asking = self.block(|this| asked = this.condition(condition));
        let refused = self.state.clone();
        let inside = self.block(|this| this.scoped(|this| this.statements(body)));
        let kind = if is_truth(&asked, true) && asking.is_empty() {
            StatementKind::Loop { label: Some(ir_label), body: inside }
        } else if asking.is_empty() {
            StatementKind::While { label: Some(ir_label), condition: asked.clone(), body: inside }
        } else {
            asking.push(self.leave_unless(asked.clone(), &ir_label, span));
            asking.extend(inside);
            StatementKind::Loop { label: Some(ir_label), body: asking }
        };
        let is_endless = is_truth(&asked, true);
        let normal = if is_endless { Vec::new() } else { vec![before, refused] };
        self.close_loop(kind, normal, span);
    }

    pub(super) fn do_while(&mut self, label: Option<&str>, condition: &'p Expr, body: &'p [Stmt], span: Span) {
        self.settle_assigned(body, &[condition], span);
        let ir_label = self.open_loop(label, Some("round"));
        let mut inside = self.round(|this| this.scoped(|this| this.statements(body)), span);
        let mut asked = any(span);
        inside.extend(self.block(|this| asked = this.condition(condition)));
        let refused = self.state.clone();
        if !is_truth(&asked, true) {
            inside.push(self.leave_unless(asked, &ir_label, span));
        }
        self.close_loop(StatementKind::Loop { label: Some(ir_label), body: inside }, vec![refused], span);
    }

    pub(super) fn for_loop(&mut self, statement: &'p StmtKind, span: Span) {
        let StmtKind::For { label, start, condition, step, body } = statement else { return };
        self.scoped(|this| {
            this.statements(start);
            if is_of_texts(this.world, body) && this.unrolled(condition.as_ref(), step, body) {
                return;
            }
            let beside: Vec<&'p Expr> = condition.iter().chain(step).collect();
            this.settle_assigned(body, &beside, span);
            let before = this.state.clone();
            let ir_label = this.open_loop(label.as_deref(), Some("round"));
            let mut asked = super::super::values::truth(true, span);
            let mut asking = this.block(|this| {
                if let Some(condition) = condition {
                    asked = this.condition(condition);
                }
            });
            let refused = this.state.clone();
            let mut inside = this.round(|this| this.scoped(|this| this.statements(body)), span);
            inside.extend(this.block(|this| step.iter().for_each(|step| drop(this.value(step)))));
            let is_endless = is_truth(&asked, true);
            let kind = if is_endless {
                StatementKind::Loop { label: Some(ir_label), body: inside }
            } else if asking.is_empty() {
                StatementKind::While { label: Some(ir_label), condition: asked, body: inside }
            } else {
                asking.push(this.leave_unless(asked, &ir_label, span));
                asking.extend(inside);
                StatementKind::Loop { label: Some(ir_label), body: asking }
            };
            let normal = if is_endless { Vec::new() } else { vec![before, refused] };
            this.close_loop(kind, normal, span);
        });
    }

    /// Follows each round of a loop that only puts texts together, if it is known how many there are.
    fn unrolled(&mut self, condition: Option<&'p Expr>, step: &'p [Expr], body: &'p [Stmt]) -> bool {
        let Some(condition) = condition else { return false };
        let (before, emitted) = (self.state.clone(), self.out.len());
        let was_unrolling = std::mem::replace(&mut self.is_unrolling, true);
        let mut is_done = false;
        for _ in 0..=ROUNDS_MAX {
            let asked = self.condition(condition);
            if !is_truth(&asked, true) {
                is_done = is_truth(&asked, false);
                break;
            }
            self.scoped(|this| this.statements(body));
            step.iter().for_each(|step| drop(self.value(step)));
        }
        self.is_unrolling = was_unrolling;
        if !is_done {
            self.state = before;
            self.state.values.resize(self.slots.len(), Value::Unset);
            self.out.truncate(emitted);
        }
        is_done
    }

    /// Over rows: one FETCH a round. Over anything else: nobody knows how often, and with what.
    pub(super) fn for_each(
        &mut self,
        label: Option<&str>,
        targets: &'p [(String, String)],
        over: &'p Expr,
        body: &'p [Stmt],
        span: Span,
    ) {
        let value = self.value(over);
        if let ([target], true) = (targets, is_of_texts(self.world, body))
            && let Some(elements) = self.list(&value).and_then(|list| list.elements.clone())
            && elements.len() <= ROUNDS_MAX
        {
            return self.for_known(target, elements, body, span);
        }
        let rows = match self.rows_of(value.clone(), span) {
            Value::Object(id) if matches!(self.state.objects.get(&id), Some(Object::Rows(_))) => {
                Some(Value::Object(id))
            }
            _ => None,
        };
        self.settle_assigned(body, &[], span);
        let before = self.state.clone();
        self.scoped(|this| {
            let slots: Vec<usize> = targets
                .iter()
                .map(|(name, type_name)| {
                    let sort = this.world.vocabulary.sort(type_name);
                    let slot = this.new_slot(name, type_name, sort);
                    this.bind(name, slot);
                    slot
                })
                .collect();
            let ir_label = this.open_loop(label, None);
            let inside = this.block(|this| {
                match &rows {
                    Some(rows) => this.next_row_of_loop(rows.clone(), &slots, &ir_label, span),
                    None => this.next_element(&value, &slots, over.span),
                }
                this.statements(body);
            });
            let kind = match &rows {
                Some(_) => StatementKind::Loop { label: Some(ir_label), body: inside },
                None => StatementKind::While { label: Some(ir_label), condition: any(this.at(span)), body: inside },
            };
            this.close_loop(kind, vec![before], span);
        });
    }

    /// Each round of a loop that only puts texts together, over elements that are all known.
    fn for_known(&mut self, target: &'p (String, String), elements: Vec<Value>, body: &'p [Stmt], span: Span) {
        let was_unrolling = std::mem::replace(&mut self.is_unrolling, true);
        for element in elements {
            self.scoped(|this| {
                let sort = this.world.vocabulary.sort(&target.1);
                let slot = this.new_slot(&target.0, &target.1, sort);
                this.bind(&target.0, slot);
                this.assign_slot(slot, element, span);
                this.statements(body);
            });
        }
        self.is_unrolling = was_unrolling;
    }

    fn next_row_of_loop(&mut self, rows: Value, slots: &[usize], label: &str, span: Span) {
        let found = self.next_row(rows.clone(), span);
        let found = self.expr_of(found, span);
        let leave = self.leave_unless(found, label, span);
        self.out.push(leave);
        match slots {
            [one] => self.assign_slot(*one, rows, span),
            several => {
                for (at, slot) in several.iter().enumerate() {
                    let value = self.column(&rows, &ColumnName::Position(at + 1), span);
                    self.assign_slot(*slot, value, span);
                }
            }
        }
    }

    fn next_element(&mut self, over: &Value, slots: &[usize], span: Span) {
        let element = self.element(over, None, span);
        for slot in slots {
            let sort = self.slots[*slot].sort;
            let value = match (&element, slots.len()) {
                (Value::Unknown(_), 1) if sort == Sort::Object => {
                    let name = self.slots[*slot].name.clone();
                    self.unknown_record(&name)
                }
                (value, 1) => value.clone(),
                _ => Value::Unknown(span),
            };
            self.assign_slot(*slot, value, span);
        }
    }

    fn open_loop(&mut self, name: Option<&str>, round: Option<&str>) -> String {
        let label = self.fresh(name.unwrap_or("rounds"));
        let round = round.map(|round| self.fresh(round));
        let name = name.map(str::to_string);
        self.frame().loops.push(Loop { name, label: label.clone(), round, is_loop: true, ends: Vec::new() });
        label
    }

    /// The body of a loop whose `continue` must not skip what comes behind.
    fn round(&mut self, inside: impl FnOnce(&mut Self), span: Span) -> Vec<Statement> {
        let body = self.block(inside);
        let Some(label) = self.frame().loops.last().and_then(|one| one.round.clone()) else { return body };
        let span = self.at(span);
        // Wherever it was left, what comes behind is done.
        self.state.is_dead = false;
        vec![Statement { kind: StatementKind::Block { label, body }, span }]
    }

    fn close_loop(&mut self, kind: StatementKind, mut ends: Vec<State>, span: Span) {
        let leaves = self.frame().loops.pop().map(|one| one.ends).unwrap_or_default();
        let last = std::mem::take(&mut self.state);
        if !ends.is_empty() {
            ends.push(last);
        }
        ends.extend(leaves);
        if ends.is_empty() {
            self.state.is_dead = true;
        } else {
            self.join_quietly(ends, span);
        }
        let was_dead = std::mem::replace(&mut self.state.is_dead, false);
        self.emit(kind, span);
        self.state.is_dead = was_dead;
    }

    fn leave_unless(&mut self, condition: ir::Expr, label: &str, span: Span) -> Statement {
        let span = self.at(span);
        let condition = self.not(condition, span);
        let body = vec![Statement { kind: StatementKind::Leave(Some(label.to_string())), span }];
        let branches = vec![Branch { condition, body }];
        Statement { kind: StatementKind::If { branches, otherwise: Vec::new() }, span }
    }

    /// `break`
    pub(super) fn leave(&mut self, name: Option<&str>, span: Span) {
        let at = self.target(name, false);
        let Some(at) = at else { return };
        let state = self.state.clone();
        let one = &mut self.frame().loops[at];
        one.ends.push(state);
        let label = one.label.clone();
        self.emit(StatementKind::Leave(Some(label)), span);
        self.state.is_dead = true;
    }

    /// `continue`
    pub(super) fn go_on(&mut self, name: Option<&str>, span: Span) {
        let Some(at) = self.target(name, true) else { return };
        let one = &self.frame().loops[at];
        let kind = match &one.round {
            Some(round) => StatementKind::Leave(Some(round.clone())),
            None => StatementKind::Iterate(Some(one.label.clone())),
        };
        self.emit(kind, span);
        self.state.is_dead = true;
    }

    /// The loop (or, for a `break`, also the switch) that is meant.
    fn target(&mut self, name: Option<&str>, needs_loop: bool) -> Option<usize> {
        let loops = &self.frame().loops;
        loops.iter().rposition(|one| match name {
            Some(name) => one.name.as_deref() == Some(name),
            None => one.is_loop || (!needs_loop && one.name.is_none()),
        })
    }

    /// Variables that a loop assigns to must be variables of the program before it begins.
    fn settle_assigned(&mut self, body: &'p [Stmt], beside: &[&'p Expr], span: Span) {
        let mut names: BTreeSet<&str> = BTreeSet::new();
        let mut calls = false;
        let mut note = |expr: &'p Expr| {
            let target = match &expr.kind {
                ExprKind::Assign { target, .. } | ExprKind::Step { target, .. } => target,
                ExprKind::Call(_) => {
                    calls = true;
                    return;
                }
                _ => return,
            };
            if let ExprKind::Name(name) | ExprKind::Field(_, name) = &target.kind {
                names.insert(name);
            }
        };
        visit::expressions(body, &mut note);
        beside.iter().for_each(|expr| visit::inside(expr, &mut note));
        let mut slots: BTreeSet<usize> = names.iter().filter_map(|name| self.local(name)).collect();
        for ((owner, name), slot) in &self.fields {
            if names.contains(name.as_str()) || (calls && !self.world.assigned(*owner, name).is_empty()) {
                slots.insert(*slot);
            }
        }
        for object in self.state.objects.values() {
            let Object::Record(record) = object else { continue };
            let changed = record.fields.iter().filter(|(name, _)| calls || names.contains(name.as_str()));
            slots.extend(changed.map(|(_, slot)| *slot));
        }
        for slot in slots {
            self.settle(slot, span);
            if let Some(home) = &self.slots[slot].home {
                self.state.known.remove(home);
            }
        }
    }
}

/// So many rounds of a loop that puts a text together are followed.
const ROUNDS_MAX: usize = 64;

/// Whether a loop does nothing but put texts together: it is never left, and calls nothing of the program or the library.
fn is_of_texts(world: &World<'_>, body: &[Stmt]) -> bool {
    let (mut has_text, mut is_simple) = (false, true);
    visit::expressions(body, &mut |expr| match &expr.kind {
        ExprKind::Text(_) => has_text = true,
        ExprKind::Call(call) => {
            is_simple &= !world.has_method(&call.name) && world.vocabulary.act_anywhere(call).is_none()
        }
        _ => {}
    });
    visit::statements(body, &mut |statement| {
        is_simple &= matches!(
            statement.kind,
            StmtKind::Declare { .. } | StmtKind::Expr(_) | StmtKind::If { .. } | StmtKind::Block { label: None, .. }
        );
    });
    has_text && is_simple
}

pub(super) use super::database::ColumnName;
