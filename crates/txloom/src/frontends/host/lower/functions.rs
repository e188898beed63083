//! Functions as values: `ids.forEach(id -> …)`, `inTransaction(c -> …)`.
//!
//! A function without a name is an object with one method, which knows the variables around it. Where a method of the
//! program calls it, it is followed like any other. What a method does with it that is not there nobody knows: one that
//! goes through a list calls it for any element, any number of times; any other calls it once.

use txloom_core::program::{Span, StatementKind};

use super::super::index::MethodId;
use super::super::tree::{ExprKind, Nature};
use super::super::values::{List, Object, Value, any};
use super::super::visit;
use super::super::vocabulary::{Act, Sort};
use super::Lowerer;

/// Methods that call a function for each element.
const EACH: &[&str] =
    &["forEach", "map", "mapToInt", "mapToLong", "mapToObj", "flatMap", "filter", "peek", "removeIf", "replaceAll"];

/// A function, as an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Function {
    object: usize,
    method: MethodId,
}

impl Lowerer<'_> {
    /// The function that a value is: one without a name, or the only method of an object of a class without one.
    pub(super) fn function(&self, value: &Value) -> Option<Function> {
        let Value::Object(object) = value else { return None };
        let Some(Object::Record(record)) = self.state.objects.get(object) else { return None };
        let class = self.world.class_named(&record.class)?;
        let definition = self.world.class(class);
        let is_function = match definition.nature {
            Nature::Function => true,
            Nature::Local => definition.methods.len() == 1,
            _ => false,
        };
        is_function.then_some(Function { object: *object, method: MethodId { class, method: 0 } })
    }

    /// A function is given to a method that is not there.
    pub(super) fn pass_on(&mut self, function: Function, on: &Value, name: &str, span: Span) -> Value {
        let goes_through = EACH.contains(&name);
        let element = if goes_through { self.element(on, None, span) } else { Value::Unknown(span) };
        if !goes_through && self.reaches_database(function.method) {
            return self.call_function(function, Value::Unknown(span), span);
        }
        if !goes_through {
            return Value::Unknown(span);
        }
        let before = self.state.clone();
        let label = self.fresh("rounds");
        let mut given = Value::Unknown(span);
        let body = self.block(|this| given = this.call_function(function, element, span));
        let after = std::mem::take(&mut self.state);
        self.join_quietly(vec![before, after], span);
        let condition = any(self.at(span));
        self.emit(StatementKind::While { label: Some(label), condition, body }, span);
        match name {
            "forEach" | "removeIf" | "replaceAll" => Value::Unset,
            "filter" | "peek" => on.clone(),
            _ => self.object(Object::List(List { sample: Some(Box::new(given)), ..List::default() })),
        }
    }

    fn call_function(&mut self, function: Function, first: Value, span: Span) -> Value {
        let count = self.world.method(function.method).parameters.len();
        let mut arguments = vec![Value::Unknown(span); count];
        if let Some(argument) = arguments.first_mut() {
            *argument = first;
        }
        self.inline(function.method, arguments, Some(function.object), span)
    }

    /// Whether a function may send something: what only computes is not worth following.
    fn reaches_database(&self, id: MethodId) -> bool {
        let vocabulary = self.world.vocabulary;
        let mut found = false;
        visit::expressions(&self.world.method(id).body, &mut |expr| {
            let ExprKind::Call(call) = &expr.kind else { return };
            found |= vocabulary.act_anywhere(call).is_some() || self.world.has_method(&call.name);
            found |= vocabulary.act(Sort::Statement, call).is_some_and(|act| act != Act::Nothing);
        });
        found
    }
}
