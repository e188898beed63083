//! Statements of the source.

use txloom_core::program::{self as ir, Branch, Span, Statement, StatementKind};

use super::super::tree::{Case, Class, Expr, ExprKind, Operator, Stmt, StmtKind};
use super::super::values::{Object, Sendable, State, Value, variable, whole};
use super::super::vocabulary::Sort;
use super::database::Wanted;
use super::{Loop, Lowerer};

/// A branch that has been followed: what its condition needs, the condition, what it does.
struct Followed {
    before: Vec<Statement>,
    condition: Option<ir::Expr>,
}

impl<'p> Lowerer<'p> {
    pub(super) fn statements(&mut self, statements: &'p [Stmt]) {
        for statement in statements {
            if self.state.is_dead {
                return;
            }
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'p Stmt) {
        self.deeper(statement.span, (), |this| this.statement_inside(statement));
    }

    fn statement_inside(&mut self, statement: &'p Stmt) {
        let span = statement.span;
        match &statement.kind {
            StmtKind::Declare { name, type_name, value } => self.declare(name, type_name, value.as_ref(), span),
            StmtKind::Expr(expr) => drop(self.value(expr)),
            StmtKind::If { branches, otherwise } => self.branch(branches, otherwise, span),
            StmtKind::While { label, condition, body } => self.while_loop(label.as_deref(), condition, body, span),
            StmtKind::DoWhile { label, condition, body } => self.do_while(label.as_deref(), condition, body, span),
            StmtKind::For { .. } => self.for_loop(&statement.kind, span),
            StmtKind::ForEach { label, targets, over, body } => {
                self.for_each(label.as_deref(), targets, over, body, span);
            }
            StmtKind::Switch { subject, cases, falls_through } => self.switch(subject, cases, *falls_through, span),
            StmtKind::Return(value) => self.return_from(value.as_ref(), span),
            StmtKind::Throw(value) => self.throw(value.as_ref(), span),
            StmtKind::Try(guarded) => self.guarded(guarded, span),
            StmtKind::Break(label) => self.leave(label.as_deref(), span),
            StmtKind::Continue(label) => self.go_on(label.as_deref(), span),
            StmtKind::Block { label: None, body } => self.scoped(|this| this.statements(body)),
            StmtKind::Block { label: Some(label), body } => {
                let name = Some(label.as_str());
                self.labelled(name, label, span, |this| this.scoped(|this| this.statements(body)));
            }
        }
    }

    fn declare(&mut self, name: &str, type_name: &'p str, value: Option<&'p Expr>, span: Span) {
        let sort = self.world.vocabulary.sort(type_name);
        let held = value.map(|value| self.value_for(value, name));
        let slot = self.new_slot(name, type_name, sort);
        self.bind(name, slot);
        let is_scalar = matches!(sort, Sort::Whole | Sort::Real | Sort::Text | Sort::Bool | Sort::Time);
        match held {
            Some(Value::Null) | None if is_scalar => self.declare_home(slot, None, span),
            None => {}
            Some(value) if is_scalar => {
                let template = if let Value::Text(template) = &value { Some(template.clone()) } else { None };
                let is_choice = matches!(value, Value::Choice(..));
                let kept = value.clone();
                let expr = self.expr_of(value, span);
                self.declare_home(slot, Some(expr), span);
                if let Some(mut template) = template {
                    template.held = self.slots[slot].home.clone();
                    self.state.values[slot] = Value::Text(template);
                } else if is_choice {
                    self.state.values[slot] = kept;
                }
            }
            Some(value) => self.assign_slot(slot, value, span),
        }
    }

    /// `DECLARE x INT DEFAULT …`, where the source declares it.
    fn declare_home(&mut self, slot: usize, default: Option<ir::Expr>, span: Span) {
        let (wish, type_name) = (self.slots[slot].name.clone(), self.slots[slot].type_name.clone());
        let home = self.fresh(&wish);
        let at = self.at(span);
        let type_name = self.world.vocabulary.sql_type(&type_name).to_string();
        let variable_at = ir::Variable { name: home.clone(), span: at };
        self.emit(StatementKind::Declare { variable: variable_at, type_name, default }, span);
        self.slots[slot].home = Some(home.clone());
        self.state.values[slot] = Value::Plain(variable(&home, at), self.slots[slot].sort);
    }

    /// `if … else if … else …`
    fn branch(&mut self, branches: &'p [(Expr, Vec<Stmt>)], otherwise: &'p [Stmt], span: Span) {
        let mut followed: Vec<Followed> = Vec::new();
        let mut ends: Vec<(State, Vec<Statement>)> = Vec::new();
        for (at, (condition, body)) in branches.iter().enumerate() {
            let mut asked = None;
            let mut before = self.block(|this| asked = Some(this.condition(condition)));
            if at == 0 {
                self.out.append(&mut before);
            }
            let Some(asked) = asked else { continue };
            if is_truth(&asked, false) {
                // What the condition has done stays; what depends on it never comes.
                if let Some(last) = followed.last_mut().filter(|_| !before.is_empty()) {
                    last.before.append(&mut before);
                }
                continue;
            }
            let is_certain = is_truth(&asked, true);
            let start = self.state.clone();
            let block = self.block(|this| this.scoped(|this| this.statements(body)));
            ends.push((std::mem::replace(&mut self.state, start), block));
            followed.push(Followed { before, condition: (!is_certain).then_some(asked) });
            if is_certain {
                return self.finish_branch(followed, ends, span);
            }
        }
        let block = self.block(|this| this.scoped(|this| this.statements(otherwise)));
        ends.push((std::mem::take(&mut self.state), block));
        followed.push(Followed { before: Vec::new(), condition: None });
        self.finish_branch(followed, ends, span);
    }

    fn finish_branch(&mut self, followed: Vec<Followed>, ends: Vec<(State, Vec<Statement>)>, span: Span) {
        let blocks = self.join(ends, span);
        let was_dead = std::mem::replace(&mut self.state.is_dead, false);
        let mut rest: Vec<Statement> = Vec::new();
        let mut open: Vec<Branch> = Vec::new();
        for (one, body) in followed.into_iter().zip(blocks).rev() {
            match one.condition {
                None => rest = body,
                Some(condition) => open.insert(0, Branch { condition, body }),
            }
            if !one.before.is_empty() {
                let inner = std::mem::take(&mut open);
                let mut nested = one.before;
                if inner.is_empty() {
                    nested.append(&mut rest);
                } else {
                    let kind = StatementKind::If { branches: inner, otherwise: std::mem::take(&mut rest) };
                    nested.push(Statement { kind, span: self.at(span) });
                }
                rest = nested;
            }
        }
        if open.is_empty() {
            self.out.extend(rest);
        } else {
            self.emit(StatementKind::If { branches: open, otherwise: rest }, span);
        }
        self.state.is_dead = was_dead;
    }

    /// A switch: an IF over its labels. One that falls through repeats the cases that it falls into.
    fn switch(&mut self, subject: &'p Expr, cases: &'p [Case], falls_through: bool, span: Span) {
        let value = self.value(subject);
        let holder = self.hold(value, "subject", span);
        self.labelled(None, "switch", span, |this| {
            let mut ends = Vec::new();
            let mut followed = Vec::new();
            let mut default = None;
            for (at, case) in cases.iter().enumerate() {
                if case.is_default {
                    default = Some(at);
                }
                if case.labels.is_empty() || (falls_through && case.body.is_empty()) {
                    continue;
                }
                let labels = labels_until(cases, at, falls_through);
                let condition = this.any_of(&holder, &labels, span);
                let start = this.state.clone();
                let block = this.block(|this| this.case(cases, at, falls_through));
                ends.push((std::mem::replace(&mut this.state, start), block));
                followed.push(Followed { before: Vec::new(), condition: Some(condition) });
            }
            let block = this.block(|this| {
                if let Some(at) = default {
                    this.case(cases, at, falls_through);
                }
            });
            ends.push((std::mem::take(&mut this.state), block));
            followed.push(Followed { before: Vec::new(), condition: None });
            this.finish_branch(followed, ends, span);
        });
    }

    fn case(&mut self, cases: &'p [Case], at: usize, falls_through: bool) {
        let count = if falls_through { cases.len() } else { at + 1 };
        for case in &cases[at..count] {
            // A `break` at the end is the end, and no leaving.
            let (body, ends) = match case.body.split_last() {
                Some((Stmt { kind: StmtKind::Break(None), .. }, body)) => (body, true),
                _ => (case.body.as_slice(), false),
            };
            self.scoped(|this| this.statements(body));
            if ends || self.state.is_dead {
                return;
            }
        }
    }

    fn any_of(&mut self, holder: &ir::Expr, labels: &[&'p Expr], span: Span) -> ir::Expr {
        let mut condition: Option<ir::Expr> = None;
        for label in labels {
            let value = match &label.kind {
                // A constant of an enumeration stands for its name.
                ExprKind::Name(name) if self.local(name).is_none() => ir::Expr {
                    kind: ir::ExprKind::Literal(txloom_core::value::Value::text(name.clone())),
                    span: self.at(label.span),
                },
                _ => {
                    let value = self.value(label);
                    self.expr_of(value, label.span)
                }
            };
            let one = self.binary(ir::BinaryOp::Equal, holder.clone(), value, span);
            condition = Some(match condition {
                None => one,
                Some(others) => self.binary(ir::BinaryOp::Or, others, one, span),
            });
        }
        condition.unwrap_or_else(|| super::super::values::truth(true, span))
    }

    /// A block that can be left by its name.
    pub(super) fn labelled(&mut self, name: Option<&str>, wish: &str, span: Span, inside: impl FnOnce(&mut Self)) {
        let label = self.fresh(wish);
        let (name, is_loop) = (name.map(str::to_string), false);
        let round = None;
        self.frame().loops.push(Loop { name, label: label.clone(), round, is_loop, ends: Vec::new() });
        let body = self.block(inside);
        let mut ends = self.frame().loops.pop().map(|block| block.ends).unwrap_or_default();
        if ends.is_empty() {
            self.out.extend(body);
            return;
        }
        ends.push(std::mem::take(&mut self.state));
        self.join_quietly(ends, span);
        let was_dead = std::mem::replace(&mut self.state.is_dead, false);
        self.emit(StatementKind::Block { label, body }, span);
        self.state.is_dead = was_dead;
    }

    /// `return`
    fn return_from(&mut self, value: Option<&'p Expr>, span: Span) {
        if self.frame().exit.is_none() {
            return self.end_with(value, span);
        }
        let value = value.map(|value| self.value(value));
        self.finish_tries(span);
        if self.state.is_dead {
            return;
        }
        let Some(exit) = self.frame().exit.as_ref() else { return };
        let (label, number, slot) = (exit.label.clone(), exit.number.clone(), exit.slot);
        let count = i64::try_from(exit.returns.len()).unwrap_or(0) + 1;
        let at = self.at(span);
        self.set(&number, whole(count, at), span);
        let mut returned = value.unwrap_or(Value::Unset);
        if returned != Value::Unset {
            self.assign_slot(slot, returned.clone(), span);
            returned = self.state.values[slot].clone();
        }
        self.emit(StatementKind::Leave(Some(label)), span);
        let state = self.state.clone();
        if let Some(exit) = self.frame().exit.as_mut() {
            exit.returns.push((count, returned, state));
        }
        self.state.is_dead = true;
    }

    /// `return` of the procedure itself: what it returns are its outputs.
    fn end_with(&mut self, value: Option<&'p Expr>, span: Span) {
        let mut object = None;
        let values: Vec<Value> = match value.map(|value| &value.kind) {
            Some(ExprKind::New { class, arguments }) if self.tuple(class).is_some() => {
                arguments.iter().map(|argument| self.value(argument)).collect()
            }
            _ => match value.map(|value| self.value(value)) {
                Some(Value::Object(id)) => {
                    object = Some(id);
                    self.parts(id, span)
                }
                value => value.into_iter().collect(),
            },
        };
        self.finish_tries(span);
        if self.state.is_dead {
            return;
        }
        if let Some(id) = object {
            self.send_given(id, span);
        }
        let is_part = |value: &Value| values.len() > 1 && *value == Value::Null;
        let is_told = values.iter().all(|value| self.is_output(value) || is_part(value));
        let told = if is_told { values } else { Vec::new() };
        let outputs = told.into_iter().map(|value| self.expr_of(value, span)).collect();
        self.emit(StatementKind::Return(outputs), span);
        self.state.is_dead = true;
    }

    /// A class whose objects are nothing but the values that they are made of, as Java's records are.
    fn tuple(&self, class: &str) -> Option<&'p Class> {
        let class = self.world.class_named(class).map(|at| self.world.class(at));
        class.filter(|class| class.methods.iter().all(|method| !method.is_constructor))
    }

    /// The values that such an object is made of.
    fn parts(&mut self, object: usize, span: Span) -> Vec<Value> {
        let Some(Object::Record(record)) = self.state.objects.get(&object).cloned() else { return Vec::new() };
        let fields = self.tuple(&record.class).map(|class| class.fields.as_slice()).unwrap_or_default();
        let slots: Option<Vec<usize>> = fields.iter().map(|field| record.fields.get(&field.name).copied()).collect();
        slots.unwrap_or_default().into_iter().map(|slot| self.read(slot, span)).collect()
    }

    /// A statement that the procedure gives back, with its values: whoever asked for it sends it.
    fn send_given(&mut self, object: usize, span: Span) {
        let is_new = |object: &Object| matches!(object, Object::Statement(Sendable { rows: None, count: None, .. }));
        let statement = Value::Object(object);
        if self.is_prepared(&statement) && self.state.objects.get(&object).is_some_and(is_new) {
            self.send_from(statement, Vec::new(), Wanted::Either, None, span);
        }
    }

    fn is_output(&self, value: &Value) -> bool {
        match value {
            Value::Plain(..) | Value::Text(_) => true,
            Value::Input(path, _) => self.inputs.contains_key(path),
            Value::Choice(_, options) => options.iter().all(|(_, option)| self.is_output(option)),
            _ => false,
        }
    }

    /// A value that stays the same, whatever happens: in a variable, if it is not a constant.
    pub(super) fn hold(&mut self, value: Value, wish: &str, span: Span) -> ir::Expr {
        let expr = self.expr_of(value, span);
        if matches!(expr.kind, ir::ExprKind::Literal(_)) {
            return expr;
        }
        let name = self.temporary(wish, "VARCHAR");
        let at = self.at(span);
        self.set(&name, expr, span);
        variable(&name, at)
    }
}

/// The labels that lead to a case: its own, and those of empty cases before that fall into it.
fn labels_until(cases: &[Case], at: usize, falls_through: bool) -> Vec<&Expr> {
    let mut first = at;
    while falls_through && first > 0 && cases[first - 1].body.is_empty() {
        first -= 1;
    }
    cases[first..=at].iter().flat_map(|case| &case.labels).collect()
}

/// Whether an expression is that truth value.
pub(super) fn is_truth(expr: &ir::Expr, value: bool) -> bool {
    expr.kind == ir::ExprKind::Literal(txloom_core::value::Value::Bool(value))
}

/// Whether an operator compares.
pub(super) fn is_comparison(operator: Operator) -> bool {
    matches!(
        operator,
        Operator::Equal
            | Operator::NotEqual
            | Operator::Less
            | Operator::LessEqual
            | Operator::Greater
            | Operator::GreaterEqual
    )
}
