//! Expressions of the source → what is known of their values; what they do on the way is emitted.

use txloom_core::program::{self as ir, Span, StatementKind};
use txloom_core::value::{Number, Value as Constant};

use super::super::tree::{Expr, ExprKind, Operator};
use super::super::values::{List, Object, Piece, Record, Template, Value, any, truth, variable};
use super::super::vocabulary::Sort;
use super::Lowerer;
use super::database::ColumnName;
use super::statements::{is_comparison, is_truth};

/// What an object calls itself.
const SELF: &[&str] = &["this", "self", "super"];

impl<'p> Lowerer<'p> {
    /// The value of an expression that a variable of that name will hold.
    pub(super) fn value_for(&mut self, expr: &'p Expr, name: &str) -> Value {
        let outer = self.wish.replace(name.to_string());
        let value = self.value(expr);
        self.wish = outer;
        value
    }

    pub(super) fn value(&mut self, expr: &'p Expr) -> Value {
        self.deeper(expr.span, Value::Unknown(expr.span), |this| this.value_inside(expr))
    }

    fn value_inside(&mut self, expr: &'p Expr) -> Value {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Text(text) => Value::Text(Template::constant(text, self.file(), span)),
            ExprKind::Number(text) => self.number(text, span),
            ExprKind::Bool(value) => Value::Plain(truth(*value, self.at(span)), Sort::Bool),
            ExprKind::Null => Value::Null,
            ExprKind::Name(name) => self.name(name, span),
            ExprKind::Field(of, name) => self.field(of, name, span),
            ExprKind::Call(call) => self.call(call, span),
            ExprKind::New { class, arguments } => self.new_object(class, arguments, span),
            ExprKind::Not(of) => {
                let value = self.condition(of);
                Value::Plain(self.not(value, span), Sort::Bool)
            }
            ExprKind::Negate(of) => {
                let value = self.value(of);
                self.negate(value, span)
            }
            ExprKind::Chain(operator, operands) => self.chain(*operator, operands, span),
            ExprKind::Assign { target, operator, value } => self.assign(target, *operator, value, span),
            ExprKind::Step { target, by, is_after } => self.step(target, *by, *is_after, span),
            ExprKind::Index(of, at) => {
                let (of, at) = (self.value(of), self.value(at));
                self.element(&of, Some(at), span)
            }
            ExprKind::Choice(condition, yes, no) => self.ternary(condition, yes, no, span),
            ExprKind::Cast(type_name, of) => {
                let value = self.value(of);
                self.cast(type_name, value, span)
            }
            ExprKind::List(elements) => {
                let elements = elements.iter().map(|element| self.value(element)).collect();
                self.object(Object::List(List::of(elements)))
            }
            ExprKind::Map(pairs) => self.map(pairs),
            ExprKind::Pieces(pieces) => {
                let mut text = Value::Text(Template::default());
                for piece in pieces {
                    let value = self.value(piece);
                    text = self.concatenation(text, piece, value, piece);
                }
                text
            }
            ExprKind::Lambda(_) => Value::Unknown(span),
            ExprKind::Other(parts) => {
                parts.iter().for_each(|part| drop(self.value(part)));
                Value::Unknown(span)
            }
        }
    }

    fn number(&mut self, text: &str, span: Span) -> Value {
        let sort = if text.contains(['.', 'e', 'E']) { Sort::Real } else { Sort::Whole };
        let literal = Number::parse(text).map(|number| ir::ExprKind::Literal(Constant::Number(number)));
        let kind = literal.unwrap_or(ir::ExprKind::Any);
        Value::Plain(ir::Expr { kind, span: self.at(span) }, sort)
    }

    fn map(&mut self, pairs: &'p [(Expr, Expr)]) -> Value {
        let mut record = Record { name: "map".to_string(), ..Record::default() };
        for (key, value) in pairs {
            let held = self.value(value);
            let ExprKind::Text(key) = &key.kind else { continue };
            let slot = self.new_slot(key, "", Sort::Object);
            self.assign_slot(slot, held, value.span);
            if let Some(home) = self.slots[slot].home.clone() {
                self.made_up.insert(home);
            }
            record.fields.insert(key.clone(), slot);
        }
        self.object(Object::Record(record))
    }

    fn name(&mut self, name: &str, span: Span) -> Value {
        if SELF.contains(&name) {
            return self.frame().this.map_or(Value::Unknown(span), Value::Object);
        }
        let slot = match self.find_slot(name) {
            Some(slot) => Some(slot),
            None => self.world.imported(name).and_then(|class| self.field_slot(class, name)),
        };
        match slot {
            Some(slot) => self.read(slot, span),
            None if name.starts_with(|c: char| c.is_ascii_uppercase()) => Value::Unknown(span),
            None => Value::Input(name.to_lowercase(), Sort::Object),
        }
    }

    /// What a variable holds.
    pub(super) fn read(&mut self, slot: usize, span: Span) -> Value {
        match self.state.values.get(slot).cloned().unwrap_or(Value::Unset) {
            Value::Unset => match &self.slots[slot].home {
                Some(home) => Value::Plain(variable(home, self.at(span)), self.slots[slot].sort),
                None => Value::Unknown(span),
            },
            Value::Plain(ir::Expr { kind, .. }, sort) => Value::Plain(ir::Expr { kind, span: self.at(span) }, sort),
            value => value,
        }
    }

    fn field(&mut self, of: &'p Expr, name: &str, span: Span) -> Value {
        if let Some(slot) = self.field_variable(of, name) {
            return self.read(slot, span);
        }
        if self.class_of_name(of).is_some() || is_class_name(of) {
            return Value::Unknown(span);
        }
        let value = self.value(of);
        let value = self.known_object(value, of, span);
        self.field_of(value, name, span)
    }

    /// The field of a value.
    pub(super) fn field_of(&mut self, value: Value, name: &str, span: Span) -> Value {
        let name = name.to_string();
        self.each_option(value, span, &mut |this, value| match value {
            Value::Object(id) if matches!(this.state.objects.get(&id), Some(Object::Rows(_))) => {
                this.column(&Value::Object(id), &ColumnName::Name(name.clone()), span)
            }
            Value::Object(id) => match this.record_field(id, &name) {
                Some(slot) => this.read(slot, span),
                None => Value::Unknown(span),
            },
            Value::Input(path, _) if path != "system" => {
                Value::Input(format!("{path}_{}", name.to_lowercase()), Sort::Object)
            }
            _ => Value::Unknown(span),
        })
    }

    /// The variable of a field that can be found without a value: of the object itself, or of a class.
    fn field_variable(&mut self, of: &'p Expr, name: &str) -> Option<usize> {
        if let ExprKind::Name(this) = &of.kind
            && SELF.contains(&this.as_str())
        {
            let (class, record) = self.frames.last().map(|frame| (frame.class, frame.this))?;
            return match record {
                Some(record) => self.record_field(record, name),
                None => self.field_slot(class, name),
            };
        }
        let class = self.class_of_name(of)?;
        self.field_slot(class, name)
    }

    /// The class that an expression names.
    pub(super) fn class_of_name(&mut self, expr: &Expr) -> Option<usize> {
        match &expr.kind {
            ExprKind::Name(name) if self.local(name).is_none() => self.world.class_named(name),
            ExprKind::Field(_, name) if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
                self.world.class_named(name)
            }
            _ => None,
        }
    }

    fn assign(&mut self, target: &'p Expr, operator: Option<Operator>, value: &'p Expr, span: Span) -> Value {
        let wish = if let ExprKind::Name(name) = &target.kind { name.as_str() } else { "" };
        let mut held = match operator {
            None => self.value_for(value, wish),
            Some(operator) => {
                let (left, right) = (self.value(target), self.value(value));
                self.combine(operator, left, target, right, value, span)
            }
        };
        if let ExprKind::List(targets) = &target.kind {
            for (at, target) in targets.iter().enumerate() {
                let position = Value::Plain(super::super::values::whole(at as i64, span), Sort::Whole);
                let element = self.element(&held, Some(position), span);
                self.store(target, element, span);
            }
            return held;
        }
        if let Some(kept) = self.store(target, held.clone(), span) {
            held = kept;
        }
        held
    }

    /// Puts a value where an expression says; gives what can be read there afterwards.
    pub(super) fn store(&mut self, target: &'p Expr, value: Value, span: Span) -> Option<Value> {
        match &target.kind {
            ExprKind::Name(name) => {
                let slot = match self.find_slot(name) {
                    Some(slot) => slot,
                    None => self.implicit(name),
                };
                self.assign_slot(slot, value, span);
                Some(self.read(slot, span))
            }
            ExprKind::Field(of, name) => {
                if let Some(slot) = self.field_variable(of, name) {
                    self.assign_slot(slot, value, span);
                    return Some(self.read(slot, span));
                }
                let object = self.value(of);
                let name = name.clone();
                self.each_option(object, span, &mut |this, object| {
                    if let Value::Object(id) = object
                        && let Some(slot) = this.record_field(id, &name)
                    {
                        this.assign_slot(slot, value.clone(), span);
                    }
                    Value::Unset
                });
                None
            }
            ExprKind::Index(of, at) => {
                let (of, at) = (self.value(of), self.value(at));
                self.put(&of, Some(&at), value);
                None
            }
            _ => None,
        }
    }

    /// A variable that nobody declares: it belongs to the method.
    fn implicit(&mut self, name: &str) -> usize {
        let slot = self.new_slot(name, "", Sort::Object);
        if let Some(scope) = self.frame().scopes.first_mut() {
            scope.insert(name.to_string(), slot);
        }
        slot
    }

    fn step(&mut self, target: &'p Expr, by: i64, is_after: bool, span: Span) -> Value {
        let old = self.value(target);
        let old = self.expr_of(old, span);
        let at = self.at(span);
        let before = if is_after && !matches!(old.kind, ir::ExprKind::Any) {
            let name = self.temporary("before", "INT");
            self.set(&name, old.clone(), span);
            Some(Value::Plain(variable(&name, at), Sort::Whole))
        } else {
            None
        };
        let (op, amount) = if by < 0 { (ir::BinaryOp::Subtract, -by) } else { (ir::BinaryOp::Add, by) };
        let new = self.binary(op, old, super::super::values::whole(amount, at), span);
        let stored = self.store(target, Value::Plain(new, Sort::Whole), span);
        before.or(stored).unwrap_or(Value::Unknown(span))
    }

    fn ternary(&mut self, condition: &'p Expr, yes: &'p Expr, no: &'p Expr, span: Span) -> Value {
        let asked = self.condition(condition);
        if is_truth(&asked, true) || is_truth(&asked, false) {
            return self.value(if is_truth(&asked, true) { yes } else { no });
        }
        let slot = self.new_slot("choice", "", Sort::Object);
        let mut ends = Vec::new();
        let before = self.state.clone();
        for option in [yes, no] {
            self.state = before.clone();
            let block = self.block(|this| {
                let value = this.value(option);
                this.assign_slot(slot, value, span);
            });
            ends.push((std::mem::take(&mut self.state), block));
        }
        let mut blocks = self.join(ends, span).into_iter();
        let (body, otherwise) = (blocks.next().unwrap_or_default(), blocks.next().unwrap_or_default());
        let branches = vec![ir::Branch { condition: asked, body }];
        self.emit(StatementKind::If { branches, otherwise }, span);
        if let Some(home) = self.slots[slot].home.clone() {
            self.made_up.insert(home);
        }
        self.read(slot, span)
    }

    fn cast(&mut self, type_name: &str, value: Value, span: Span) -> Value {
        let sort = self.world.vocabulary.sort(type_name);
        match (value, sort) {
            (Value::Plain(expr, Sort::Real), Sort::Whole) => self.truncated(expr, span),
            (Value::Plain(expr, Sort::Object), sort) => Value::Plain(expr, sort),
            (Value::Plain(expr, Sort::Whole), Sort::Real) => Value::Plain(expr, Sort::Real),
            (Value::Input(path, Sort::Object), sort) => Value::Input(path, sort),
            (value, _) => value,
        }
    }

    /// A real number as a whole one: `x DIV 1`.
    fn truncated(&mut self, expr: ir::Expr, span: Span) -> Value {
        let one = super::super::values::whole(1, self.at(span));
        Value::Plain(self.binary(ir::BinaryOp::Quotient, expr, one, span), Sort::Whole)
    }

    /// Whether something holds.
    pub(super) fn condition(&mut self, expr: &'p Expr) -> ir::Expr {
        let value = self.value(expr);
        let asked = self.truth_of(value, expr.span);
        match self.decided(&asked).filter(|_| self.is_unrolling) {
            Some(known) => truth(known, asked.span),
            None => asked,
        }
    }

    /// Whether a value counts as true: a number that is not 0, a row that is there.
    fn truth_of(&mut self, value: Value, span: Span) -> ir::Expr {
        let at = self.at(span);
        match value {
            Value::Perhaps(flag, _) => variable(&flag, at),
            Value::Null => truth(false, at),
            Value::Object(id) => match self.state.objects.get(&id) {
                Some(Object::List(_) | Object::Table(_)) => any(at),
                _ => truth(true, at),
            },
            Value::Choice(_, ref options) if options.iter().any(|(_, option)| *option == Value::Null) => {
                let is_null = self.is_null(value, span);
                self.not(is_null, span)
            }
            Value::Plain(ir::Expr { kind: ir::ExprKind::Literal(Constant::Number(number)), .. }, _) => {
                truth(number.to_string() != "0", at)
            }
            Value::Plain(expr, Sort::Whole | Sort::Real) if is_number(&expr) => {
                self.binary(ir::BinaryOp::NotEqual, expr, super::super::values::whole(0, at), span)
            }
            value => self.expr_of(value, span),
        }
    }

    /// A value as the program can hold it.
    pub(super) fn expr_of(&mut self, value: Value, span: Span) -> ir::Expr {
        let at = self.at(span);
        match value {
            Value::Plain(expr, _) => expr,
            Value::Null => ir::Expr { kind: ir::ExprKind::Literal(Constant::Null), span: at },
            Value::Text(template) => template.value(at),
            Value::Input(path, sort) => {
                let name = self.input(&path, sort, span);
                variable(&name, at)
            }
            Value::Choice(selector, options) => self.expr_of_choice(selector, options, span),
            Value::Perhaps(_, inner) => self.expr_of(*inner, span),
            Value::Unknown(known) => any(self.at(known)),
            Value::Object(_) | Value::Unset => any(at),
        }
    }

    fn expr_of_choice(&mut self, selector: String, options: Vec<(i64, Value)>, span: Span) -> ir::Expr {
        let held = |value: &Value| match value {
            Value::Text(template) => template.held.clone(),
            Value::Plain(ir::Expr { kind: ir::ExprKind::Variable(name), .. }, _) => Some(name.clone()),
            _ => None,
        };
        if let Some(first) = options.first().and_then(|(_, value)| held(value))
            && options.iter().all(|(_, value)| held(value).as_ref() == Some(&first))
        {
            return variable(&first, self.at(span));
        }
        let name = self.temporary("chosen", "VARCHAR");
        let mut blocks = Vec::new();
        for (number, option) in options {
            let block = self.block(|this| {
                let expr = this.expr_of(option, span);
                this.set(&name, expr, span);
            });
            blocks.push((number, block));
        }
        self.emit_options(&selector, blocks, span);
        variable(&name, self.at(span))
    }

    /// The pieces of a text that an expression becomes a part of.
    pub(super) fn template_of(&mut self, value: Value, expr: &Expr) -> Template {
        let span = expr.span;
        match value {
            Value::Text(template) => Template { held: None, ..template },
            Value::Object(id) if matches!(self.state.objects.get(&id), Some(Object::Builder(_))) => {
                match self.state.objects.get(&id).cloned() {
                    Some(Object::Builder(text)) => self.template_of(text, expr),
                    _ => Template::default(),
                }
            }
            value => {
                let sort = if let Value::Plain(_, sort) = &value { *sort } else { Sort::Object };
                let mut held = self.expr_of(value, span);
                if let Some(number) = self.fold(&held).filter(|_| self.is_unrolling) {
                    held = super::super::values::whole(number, span);
                }
                if let ir::ExprKind::Literal(constant) = &held.kind {
                    let text = match constant {
                        Constant::Text(text) => text.clone(),
                        other => other.to_string(),
                    };
                    return Template::constant(&text, self.file(), span);
                }
                let value = match &held.kind {
                    ir::ExprKind::Any => held,
                    _ => {
                        let name = self.temporary("part", "VARCHAR");
                        self.set(&name, held, span);
                        variable(&name, self.at(span))
                    }
                };
                let hole = Piece::Hole { value, sort, name: source_name(expr), span };
                Template { pieces: vec![hole], held: None }
            }
        }
    }

    /// `a + b + …`, `a && b`, `a < b`
    fn chain(&mut self, operator: Operator, operands: &'p [Expr], span: Span) -> Value {
        match operator {
            Operator::And | Operator::Or => self.logic(operator, operands, span),
            _ if is_comparison(operator) => self.comparison(operator, operands, span),
            _ => {
                let Some((first, rest)) = operands.split_first() else { return Value::Unknown(span) };
                let mut left = self.value(first);
                for operand in rest {
                    let right = self.value(operand);
                    left = self.combine(operator, left, first, right, operand, span);
                }
                left
            }
        }
    }
}

/// Whether an expression may be a number, and is not a truth value, whatever the source calls it.
fn is_number(expr: &ir::Expr) -> bool {
    match &expr.kind {
        ir::ExprKind::Any | ir::ExprKind::Not(_) | ir::ExprKind::IsNull { .. } | ir::ExprKind::Found => false,
        ir::ExprKind::Binary { op, .. } => matches!(
            op,
            ir::BinaryOp::Add
                | ir::BinaryOp::Subtract
                | ir::BinaryOp::Multiply
                | ir::BinaryOp::Divide
                | ir::BinaryOp::Quotient
                | ir::BinaryOp::Remainder
        ),
        _ => true,
    }
}

/// What the source calls a value, for messages and guesses.
pub(super) fn source_name(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Name(name) => name.clone(),
        ExprKind::Field(of, name) => format!("{}.{name}", source_name(of)),
        ExprKind::Call(call) => format!("{}()", call.name),
        _ => String::new(),
    }
}

/// Whether an expression looks like the name of a class that is not ours.
pub(super) fn is_class_name(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(name) => {
            name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().any(|c| c.is_ascii_lowercase())
        }
        _ => false,
    }
}
