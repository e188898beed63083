//! Names of the source, and the variables of the program that hold their values.

use txloom_core::program::{self as ir, Mode, Parameter, Span, Statement, StatementKind};

use super::super::index::MethodId;
use super::super::tree::Method;
use super::super::values::{List, Object, Record, Sendable, Template, Value, variable};
use super::super::vocabulary::Sort;
use super::database::sql_type;
use super::operators::sort_of;
use super::{Lowerer, Slot};

/// Words that our notation would take for something else.
const RESERVED: &[&str] = &[
    "and",
    "any",
    "autocommit",
    "begin",
    "close",
    "commit",
    "create",
    "declare",
    "default",
    "delete",
    "div",
    "do",
    "else",
    "elseif",
    "end",
    "false",
    "fetch",
    "for",
    "found",
    "from",
    "if",
    "in",
    "inout",
    "insert",
    "into",
    "is",
    "iterate",
    "leave",
    "loop",
    "not",
    "null",
    "open",
    "or",
    "out",
    "procedure",
    "return",
    "rollback",
    "row_count",
    "select",
    "set",
    "signal",
    "start",
    "then",
    "true",
    "update",
    "where",
    "while",
    "with",
];

/// A name of the source as our notation can say it.
pub(crate) fn plain_name(wish: &str, prefix: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let name: String = wish.to_lowercase().chars().map(plain).collect();
    let is_taken = RESERVED.contains(&name.as_str()) || name.starts_with(|c: char| c.is_ascii_digit());
    if name.is_empty() || is_taken { format!("{prefix}{name}") } else { name }
}

impl<'p> Lowerer<'p> {
    /// A name for a variable that no other has.
    pub(super) fn fresh(&mut self, wish: &str) -> String {
        let base = plain_name(wish, "v_");
        let mut name = base.clone();
        while self.names.contains_key(&name) {
            let number = self.names.entry(base.clone()).or_insert(1);
            *number += 1;
            name = format!("{base}_{number}");
        }
        self.names.insert(name.clone(), 1);
        name
    }

    /// A variable of ours, declared at the beginning.
    pub(super) fn temporary(&mut self, wish: &str, type_name: &str) -> String {
        let name = self.fresh(wish);
        self.made_up.insert(name.clone());
        self.declare_first(&name, type_name);
        name
    }

    /// Declares a variable at the beginning of the procedure.
    pub(super) fn declare_first(&mut self, name: &str, type_name: &str) {
        let span = Span::default();
        let variable = ir::Variable { name: name.to_string(), span };
        let kind = StatementKind::Declare { variable, type_name: type_name.to_string(), default: None };
        self.prologue.push(Statement { kind, span });
    }

    /// The parameters of the method that becomes the procedure.
    pub(super) fn take_parameters(&mut self, method: &'p Method) {
        for parameter in &method.parameters {
            let sort = self.world.vocabulary.sort(&parameter.type_name);
            let slot = self.new_slot(&parameter.name, &parameter.type_name, sort);
            self.bind(&parameter.name, slot);
            let value = match sort {
                Sort::Connection => self.object(Object::Connection),
                Sort::Statement => {
                    let name = parameter.name.to_lowercase();
                    self.object(Object::Statement(Sendable { name, ..Sendable::default() }))
                }
                Sort::List => self.object(Object::List(List::default())),
                Sort::Whole | Sort::Real | Sort::Text | Sort::Bool | Sort::Time => {
                    let name = self.parameter(&parameter.name, &parameter.type_name, parameter.span);
                    self.slots[slot].home = Some(name.clone());
                    Value::Plain(variable(&name, parameter.span), sort)
                }
                _ => Value::Input(parameter.name.to_lowercase(), sort),
            };
            self.state.values[slot] = value;
        }
    }

    /// A parameter of the procedure.
    pub(super) fn parameter(&mut self, wish: &str, type_name: &str, span: Span) -> String {
        let name = self.fresh(wish);
        let type_name = self.world.vocabulary.sql_type(type_name).to_string();
        self.parameters.push(Parameter { name: name.clone(), mode: Mode::In, type_name, span });
        name
    }

    /// What the caller gives, as a parameter.
    pub(super) fn input(&mut self, path: &str, sort: Sort, span: Span) -> String {
        if let Some(known) = self.inputs.get(path) {
            return known.clone();
        }
        let type_name = sql_type(sort);
        let name = self.fresh(path);
        let span = self.at(span);
        let parameter = Parameter { name: name.clone(), mode: Mode::In, type_name: type_name.to_string(), span };
        self.parameters.push(parameter);
        self.inputs.insert(path.to_string(), name.clone());
        name
    }

    /// Parameters stand where the source has them, whenever they were asked for first.
    pub(super) fn sort_parameters(&mut self, method: &Method) {
        let named: Vec<String> = method.parameters.iter().map(|parameter| parameter.name.to_lowercase()).collect();
        let position = |name: &str| {
            let path = self.inputs.iter().find(|(_, known)| *known == name).map_or(name, |(path, _)| path.as_str());
            let is_of =
                |one: &String| path == one || path.strip_prefix(one.as_str()).is_some_and(|r| r.starts_with('_'));
            let exact = named.iter().position(|one| one == path || plain_name(one, "v_") == path);
            exact.or_else(|| named.iter().position(is_of)).unwrap_or(usize::MAX)
        };
        let mut sorted: Vec<(usize, Parameter)> =
            self.parameters.iter().map(|parameter| (position(&parameter.name), parameter.clone())).collect();
        sorted.sort_by_key(|(position, _)| *position);
        self.parameters = sorted.into_iter().map(|(_, parameter)| parameter).collect();
    }

    pub(super) fn new_slot(&mut self, name: &str, type_name: &str, sort: Sort) -> usize {
        let (name, type_name) = (name.to_lowercase(), type_name.to_string());
        self.slots.push(Slot { name, home: None, sort, type_name });
        self.state.values.resize(self.slots.len(), Value::Unset);
        self.slots.len() - 1
    }

    /// Makes a name known in the innermost scope.
    pub(super) fn bind(&mut self, name: &str, slot: usize) {
        let scopes = &mut self.frame().scopes;
        if let Some(scope) = scopes.last_mut() {
            scope.insert(name.to_string(), slot);
        }
    }

    /// Does something in a scope of its own.
    pub(super) fn scoped(&mut self, inside: impl FnOnce(&mut Self)) {
        self.frame().scopes.push(Default::default());
        inside(self);
        self.frame().scopes.pop();
    }

    pub(super) fn object(&mut self, object: Object) -> Value {
        self.state.objects.insert(self.next_object, object);
        self.next_object += 1;
        Value::Object(self.next_object - 1)
    }

    /// The local variable of that name.
    pub(super) fn local(&self, name: &str) -> Option<usize> {
        let scopes = self.frames.last().map(|frame| frame.scopes.as_slice()).unwrap_or_default();
        scopes.iter().rev().find_map(|scope| scope.get(name).copied())
    }

    /// The variable of that name: a local one, a field of the object, or one of the class.
    pub(super) fn find_slot(&mut self, name: &str) -> Option<usize> {
        if let Some(slot) = self.local(name) {
            return Some(slot);
        }
        let (class, this) = self.frames.last().map(|frame| (frame.class, frame.this))?;
        let (owner, _) = self.world.field(class, name)?;
        match this.and_then(|this| self.object_with(this, class, owner)) {
            Some(record) => self.record_field(record, name),
            None => self.field_slot(class, name),
        }
    }

    /// The object that has the fields of a class: this one, or the one around it.
    pub(super) fn object_with(&self, this: usize, class: usize, owner: usize) -> Option<usize> {
        if self.world.ancestors(class).contains(&owner) {
            return Some(this);
        }
        let around = self.around.get(&this)?;
        self.object_with(around.this?, around.class, owner)
    }

    /// The variable of a field of a class.
    pub(super) fn field_slot(&mut self, class: usize, name: &str) -> Option<usize> {
        let (owner, field) = self.world.field(class, name)?;
        let key = (owner, name.to_string());
        let slot = match self.fields.get(&key) {
            Some(slot) => *slot,
            None => {
                let sort = self.world.vocabulary.sort(&field.type_name);
                let slot = self.new_slot(name, &field.type_name, sort);
                self.fields.insert(key.clone(), slot);
                slot
            }
        };
        let is_unset = self.state.values.get(slot).is_none_or(|value| *value == Value::Unset);
        if is_unset && !self.opening.contains(&key) {
            self.opening.push(key);
            let value = self.first_value(owner, field, slot);
            self.opening.pop();
            self.state.values.resize(self.slots.len(), Value::Unset);
            self.state.values[slot] = value;
        }
        Some(slot)
    }

    /// The variable of a field of an object.
    pub(super) fn record_field(&mut self, object: usize, name: &str) -> Option<usize> {
        let Some(Object::Record(record)) = self.state.objects.get(&object) else { return None };
        if let Some(slot) = record.fields.get(name) {
            return Some(*slot);
        }
        let Record { class, name: called, .. } = record.clone();
        let class = self.world.class_named(&class);
        let declared = class.and_then(|class| self.world.field(class, name));
        let type_name = declared.map_or("", |(_, field)| field.type_name.as_str());
        let sort = self.world.vocabulary.sort(type_name);
        let slot = self.new_slot(&format!("{called}_{name}"), type_name, sort);
        if let Some(Object::Record(record)) = self.state.objects.get_mut(&object) {
            record.fields.insert(name.to_string(), slot);
        }
        if let Some((class, initial)) = declared.and_then(|(class, field)| Some((class, field.value.as_ref()?))) {
            let value = self.aside(class, initial);
            self.state.values[slot] = value;
        }
        Some(slot)
    }

    /// The variable of the IR that holds the value of one of the source.
    pub(super) fn home_of(&mut self, slot: usize) -> String {
        self.home_for(slot, self.slots[slot].sort)
    }

    /// The same, if the value is of that sort and the source does not say the type.
    fn home_for(&mut self, slot: usize, sort: Sort) -> String {
        if let Some(home) = &self.slots[slot].home {
            return home.clone();
        }
        let (wish, type_name) = (self.slots[slot].name.clone(), self.slots[slot].type_name.clone());
        let home = self.fresh(&wish);
        let is_said = self.world.vocabulary.sort(&type_name) != Sort::Object;
        let type_name = if is_said { self.world.vocabulary.sql_type(&type_name) } else { sql_type(sort) };
        self.declare_first(&home, type_name);
        self.slots[slot].home = Some(home.clone());
        home
    }

    /// Makes sure that a variable's value is where a loop or a branch can change it.
    pub(super) fn settle(&mut self, slot: usize, span: Span) {
        let value = self.state.values.get(slot).cloned().unwrap_or(Value::Unset);
        if value == Value::Null
            && let Some(home) = self.slots[slot].home.clone()
        {
            let null = self.expr_of(Value::Null, span);
            self.set(&home, null, span);
            self.state.values[slot] = Value::Plain(variable(&home, self.at(span)), self.slots[slot].sort);
            return;
        }
        let is_at_home = match (&value, &self.slots[slot].home) {
            (Value::Plain(ir::Expr { kind: ir::ExprKind::Variable(name), .. }, _), Some(home)) => name == home,
            (Value::Text(template), Some(home)) => template.held.as_ref() == Some(home),
            (Value::Plain(..) | Value::Text(_) | Value::Input(..), _) => false,
            _ => true,
        };
        let is_object = matches!(value, Value::Input(_, Sort::Object | Sort::Statement | Sort::Rows | Sort::List));
        if !is_at_home && !is_object {
            self.assign_slot(slot, value, span);
        }
    }

    /// Gives a variable a value.
    pub(super) fn assign_slot(&mut self, slot: usize, value: Value, span: Span) {
        let sort = self.slots[slot].sort;
        // Wherever a connection comes from (a pool, a helper in another file), it is one.
        let value = match (sort, value) {
            (Sort::Connection, Value::Unknown(_) | Value::Input(..) | Value::Plain(..)) => {
                self.object(Object::Connection)
            }
            (_, value) => value,
        };
        let held = match value {
            Value::Unset => Value::Unset,
            Value::Choice(selector, options) if self.is_plain_choice(&options) => {
                let choice = Value::Choice(selector, options.clone());
                let is_text = is_text_choice(&choice);
                let kind = options.iter().map(|(_, option)| sort_of(option)).find(|kind| *kind != Sort::Object);
                let expr = self.expr_of(choice.clone(), span);
                let home = self.home_for(slot, kind.unwrap_or(sort));
                self.set(&home, expr, span);
                if is_text {
                    held_in(choice, &home)
                } else {
                    Value::Plain(variable(&home, self.at(span)), kind.unwrap_or(sort))
                }
            }
            Value::Object(_) | Value::Choice(..) | Value::Perhaps(..) => value,
            Value::Input(ref path, Sort::Object | Sort::Statement | Sort::Rows | Sort::List) => {
                let scalar = matches!(sort, Sort::Whole | Sort::Real | Sort::Text | Sort::Bool | Sort::Time);
                if scalar {
                    let input = self.input(path, sort, span);
                    return self.assign_slot(slot, Value::Plain(variable(&input, span), sort), span);
                }
                value
            }
            Value::Null if !matches!(sort, Sort::Whole | Sort::Real | Sort::Text | Sort::Bool | Sort::Time) => {
                Value::Null
            }
            Value::Unknown(at) if matches!(sort, Sort::Statement | Sort::Rows | Sort::List | Sort::Object) => {
                Value::Unknown(at)
            }
            Value::Text(mut template) => {
                let home = self.home_for(slot, Sort::Text);
                let expr = template.value(self.at(span));
                self.set(&home, expr, span);
                template.held = Some(home);
                Value::Text(template)
            }
            other => {
                let kind = if let Value::Plain(_, kind) = &other { *kind } else { sort };
                let sort = if sort == Sort::Object { kind } else { sort };
                let expr = self.expr_of(other, span);
                let home = self.home_for(slot, sort);
                self.set(&home, expr, span);
                Value::Plain(variable(&home, self.at(span)), sort)
            }
        };
        self.state.values.resize(self.slots.len(), Value::Unset);
        self.state.values[slot] = held;
    }

    /// Whether all options are values that a variable of the program can hold.
    fn is_plain_choice(&self, options: &[(i64, Value)]) -> bool {
        options.iter().all(|(_, option)| match option {
            Value::Plain(..) | Value::Text(_) | Value::Unknown(_) => true,
            Value::Input(_, sort) => !matches!(sort, Sort::Object | Sort::Statement | Sort::Rows | Sort::List),
            Value::Choice(_, options) => self.is_plain_choice(options),
            _ => false,
        })
    }

    /// Whether a method is being followed already.
    pub(super) fn is_inside(&self, id: MethodId) -> bool {
        self.frames.iter().any(|frame| frame.method == Some(id))
    }
}

/// Whether a value is a choice between texts.
fn is_text_choice(value: &Value) -> bool {
    match value {
        Value::Choice(_, options) => options.iter().all(|(_, option)| is_text_choice(option)),
        value => matches!(value, Value::Text(_)),
    }
}

/// Texts that a variable holds, whichever it is.
fn held_in(value: Value, home: &str) -> Value {
    match value {
        Value::Text(template) => Value::Text(Template { held: Some(home.to_string()), ..template }),
        Value::Choice(selector, options) => {
            Value::Choice(selector, options.into_iter().map(|(at, option)| (at, held_in(option, home))).collect())
        }
        value => value,
    }
}
