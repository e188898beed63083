//! What fields hold before anybody in the procedure assigns to them.
//!
//! ```text
//!   static final String T = "accounts";               its value
//!   PreparedStatement get; … get = c.prepareStatement("SELECT …");      what is assigned to it, anywhere
//!   final SQLStmt get;
//!   { String in = "?"; for (…) in += ",?"; get = new SQLStmt("SELECT … IN (" + in + ")"); }    the code is followed
//!   static final Map<K, String> ALL = new HashMap<>(); static { ALL.put("a", "SELECT …"); }    its value, and the code
//! ```
//!
//! Such code is followed for what it makes of texts and objects. What it sends is sent elsewhere, before the procedure
//! begins, and does not count.

use txloom_core::program::{self as ir, Span, Statement, StatementKind};

use super::super::index::{Body, MethodId};
use super::super::tree::{Expr, ExprKind, Field, Method};
use super::super::values::{Object, Value};
use super::super::visit;
use super::super::vocabulary::Sort;
use super::{Frame, Lowerer};

impl<'p> Lowerer<'p> {
    /// What a field holds before anybody in the procedure assigns to it.
    pub(super) fn first_value(&mut self, owner: usize, field: &'p Field, slot: usize) -> Value {
        let sort = self.slots[slot].sort;
        if sort == Sort::Connection {
            return self.object(Object::Connection);
        }
        let assigned = self.world.assigned(owner, &field.name);
        let is_null = |expr: &Expr| matches!(expr.kind, ExprKind::Null);
        let said = field.value.as_ref().filter(|value| !is_null(value));
        let is_scalar = matches!(sort, Sort::Whole | Sort::Real | Sort::Bool | Sort::Time);
        let name = field.name.to_lowercase();
        let makers = self.world.makers(owner, &field.name);
        if !is_scalar
            && !makers.is_empty()
            && let Some(made) = self.made(makers, owner, said, slot)
        {
            return made;
        }
        let expr = match (said, assigned) {
            (Some(value), []) => Some(value),
            (Some(value), _) if !is_scalar => Some(value),
            (None, [only]) if !is_scalar => Some(*only),
            (None, many) if !is_scalar => many.iter().find(|value| !is_null(value)).copied(),
            _ => None,
        };
        let Some(expr) = expr else { return Value::Input(name, sort) };
        let value = self.aside(owner, expr);
        match value {
            Value::Unknown(_) | Value::Null | Value::Unset => Value::Input(name, sort),
            Value::Plain(ref plain, _) if !matches!(plain.kind, ir::ExprKind::Literal(_)) => Value::Input(name, sort),
            value => value,
        }
    }

    /// What initializers and constructors make of a field.
    fn made(&mut self, makers: &'p [Body<'p>], owner: usize, said: Option<&'p Expr>, slot: usize) -> Option<Value> {
        let value = said.map_or(Value::Unset, |said| self.aside(owner, said));
        self.state.values.resize(self.slots.len(), Value::Unset);
        self.state.values[slot] = value;
        for body in makers {
            let body = self.whole_construction(*body);
            if !self.making.contains(&body) {
                self.making.push(body);
                self.follow_aside(&body);
                self.making.pop();
            }
        }
        let value = self.state.values.get(slot).cloned().unwrap_or(Value::Unset);
        let is_made = matches!(value, Value::Text(_) | Value::Object(_) | Value::Choice(..));
        is_made.then_some(value)
    }

    /// A constructor of the class below says with what those above are called.
    fn whole_construction(&self, body: Body<'p>) -> Body<'p> {
        let world = self.world;
        let is_constructor = body.method.is_some_and(|id| world.method(id).is_constructor);
        let class = self.frames.last().map_or(body.class, |frame| frame.class);
        if !is_constructor || class == body.class || !world.ancestors(class).contains(&body.class) {
            return body;
        }
        let passes_on = |method: &&Method| {
            let mut found = false;
            visit::expressions(&method.body, &mut |expr| {
                found |= matches!(&expr.kind, ExprKind::Call(call) if call.name == "<super>");
            });
            method.is_constructor && found
        };
        let methods = &world.class(class).methods;
        match methods.iter().position(|method| passes_on(&method)) {
            Some(method) => {
                let id = MethodId { class, method };
                Body { class, method: Some(id), statements: &world.method(id).body }
            }
            None => body,
        }
    }

    /// Follows code that runs before the procedure begins.
    fn follow_aside(&mut self, body: &Body<'p>) {
        let world = self.world;
        let span = body.statements.first().map(|first| first.span).unwrap_or_default();
        self.in_frame(body.class, |this| {
            this.frame().method = body.method;
            for parameter in body.method.iter().flat_map(|id| &world.method(*id).parameters) {
                let sort = world.vocabulary.sort(&parameter.type_name);
                let slot = this.new_slot(&parameter.name, &parameter.type_name, sort);
                this.bind(&parameter.name, slot);
                let given = Value::Input(parameter.name.to_lowercase(), sort);
                if sort == Sort::Connection {
                    this.assign_slot(slot, given, span);
                } else {
                    this.state.values[slot] = given;
                }
            }
            this.statements(body.statements);
        });
    }

    /// The value of an expression of a class, whose statements do not count.
    pub(super) fn aside(&mut self, class: usize, expr: &'p Expr) -> Value {
        let mut value = Value::Unset;
        self.in_frame(class, |this| value = this.value(expr));
        self.state.values.resize(self.slots.len(), Value::Unset);
        value
    }

    /// Does something in a class, before the procedure begins: only what it computes is kept.
    fn in_frame(&mut self, class: usize, inside: impl FnOnce(&mut Self)) {
        let file = self.world.file_of(class);
        let around = self.frames.last().map(|frame| (frame.stands_at, frame.class));
        let (stands_at, current) = around.unwrap_or((None, class));
        let stands_at = if file == self.home { None } else { stands_at.or(Some(Span::default())) };
        let below = if self.world.ancestors(current).contains(&class) { current } else { class };
        self.frames.push(Frame { stands_at, ..Frame::first(None, below, file) });
        let outer = std::mem::take(&mut self.out);
        let was_dead = std::mem::replace(&mut self.state.is_dead, false);
        let (sites, said) = (self.sites.clone(), self.diagnostics.len());
        let (ends, commits) = (self.ends_transactions, self.commits_itself);
        inside(self);
        self.state.is_dead = was_dead;
        let done = std::mem::replace(&mut self.out, outer);
        self.frames.pop();
        if !was_dead && done.iter().all(only_computes) {
            self.out.extend(done);
        } else {
            (self.ends_transactions, self.commits_itself) = (ends, commits);
            self.sites = sites;
            self.diagnostics.truncate(said);
        }
    }
}

/// Whether a statement does nothing but compute.
fn only_computes(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Declare { .. } | StatementKind::Assign { .. } => true,
        StatementKind::Leave(_) | StatementKind::Iterate(_) => true,
        StatementKind::If { branches, otherwise } => {
            branches.iter().all(|branch| branch.body.iter().all(only_computes)) && otherwise.iter().all(only_computes)
        }
        StatementKind::While { body, .. } | StatementKind::Loop { body, .. } | StatementKind::Block { body, .. } => {
            body.iter().all(only_computes)
        }
        _ => false,
    }
}
