//! Calls: of the library, of methods of the program (which are inlined), of anything else.

use txloom_core::program::{self as ir, Span, StatementKind};

use super::super::index::MethodId;
use super::super::tree::{Call, Expr, ExprKind, Method, Nature, Parameter};
use super::super::values::{List, Object, Record, Template, Value};
use super::super::vocabulary::{Act, Sort};
use super::expressions::is_class_name;
use super::{Around, Exit, Frame, Lowerer};

impl<'p> Lowerer<'p> {
    pub(super) fn call(&mut self, call: &'p Call, span: Span) -> Value {
        let wish = self.wish.take();
        let Some(receiver) = &call.receiver else { return self.plain_call(call, wish, span) };
        if is_self(receiver) {
            return self.plain_call(call, wish, span);
        }
        if let Some(class) = self.class_of_name(receiver) {
            if let Some(id) = self.world.find(class, &call.name, count(call)) {
                let arguments = self.passed(id, call);
                return self.inline(id, arguments, None, span);
            }
            return match call.name.as_str() {
                "values" | "valueOf" if !self.world.class(class).constants.is_empty() => {
                    let all = self.constants_of(class);
                    let list = self.object(Object::List(List::of(all)));
                    if call.name == "values" { list } else { self.element(&list, None, span) }
                }
                _ => self.foreign(call, span),
            };
        }
        if is_class_name(receiver) && self.is_nothing_of_ours(receiver) {
            if let Some(act) = self.world.vocabulary.act_anywhere(call) {
                return self.perform(act, Value::Unknown(span), call, wish, span);
            }
            return self.foreign(call, span);
        }
        let on = self.value(receiver);
        let on = self.known_object(on, receiver, span);
        self.call_on(on, call, wish, span)
    }

    /// The constants of an enumeration.
    fn constants_of(&mut self, class: usize) -> Vec<Value> {
        let world = self.world;
        let slots = world.class(class).constants.iter().filter_map(|name| self.field_slot(class, name));
        let slots: Vec<usize> = slots.collect();
        slots.into_iter().filter_map(|slot| self.state.values.get(slot).cloned()).collect()
    }

    /// What the caller gives, if it can only be one of a few objects: a constant of an enumeration.
    pub(super) fn known_object(&mut self, value: Value, expr: &Expr, span: Span) -> Value {
        let (Value::Input(..) | Value::Unknown(_), ExprKind::Name(name)) = (&value, &expr.kind) else { return value };
        let type_name = self.local(name).map(|slot| self.slots[slot].type_name.clone());
        let class = type_name.and_then(|name| self.world.class_named(&name));
        let Some(class) = class.filter(|class| !self.world.class(*class).constants.is_empty()) else { return value };
        let all = self.constants_of(class);
        let are_objects = all.iter().all(|one| matches!(one, Value::Object(_)));
        let one = if are_objects { self.one_of(all, span) } else { None };
        // The same one is meant wherever it is asked for.
        if let (Some(one), Some(slot)) = (&one, self.local(name)) {
            self.state.values[slot] = one.clone();
        }
        one.unwrap_or(value)
    }

    /// Whether a name that looks like a class is not a variable.
    fn is_nothing_of_ours(&mut self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => self.find_slot(name).is_none(),
            _ => true,
        }
    }

    /// A call of a method of an object.
    fn call_on(&mut self, on: Value, call: &'p Call, wish: Option<String>, span: Span) -> Value {
        let is_several = matches!(&on, Value::Choice(_, options) if options.iter().any(|(_, one)| is_object(one)));
        if is_several || matches!(on, Value::Perhaps(..)) {
            return self.each_option(on, span, &mut |this, option| this.call_on(option, call, wish.clone(), span));
        }
        let sort = self.sort_of_object(&on);
        if let Some(act) = sort.and_then(|sort| self.world.vocabulary.act(sort, call)) {
            return self.perform(act, on, call, wish, span);
        }
        if let Value::Object(id) = on
            && let Some(Object::Record(record)) = self.state.objects.get(&id)
        {
            let class = self.world.class_named(&record.class);
            let method = class.and_then(|class| self.method_of(class, call));
            return match method {
                Some(method) => {
                    let arguments = self.passed(method, call);
                    self.inline(method, arguments, Some(id), span)
                }
                None => {
                    let arguments = self.arguments(call);
                    self.accessor(id, call, arguments, span)
                }
            };
        }
        if matches!(on, Value::Input(_, Sort::Object) | Value::Unknown(_)) {
            if let Some(id) = self.only_method(call) {
                let arguments = self.passed(id, call);
                return self.inline(id, arguments, None, span);
            }
            if let Some(act) = self.world.vocabulary.act_anywhere(call) {
                return self.perform(act, on, call, wish, span);
            }
        }
        let arguments = self.arguments(call);
        self.library(on, call, arguments, span)
    }

    /// The method of an object; of a function, whatever it is called.
    fn method_of(&self, class: usize, call: &Call) -> Option<MethodId> {
        match self.world.class(class).nature {
            Nature::Function => Some(MethodId { class, method: 0 }),
            _ => self.world.find(class, &call.name, count(call)),
        }
    }

    fn sort_of_object(&self, value: &Value) -> Option<Sort> {
        match value {
            Value::Object(id) => match self.state.objects.get(id)? {
                Object::Connection => Some(Sort::Connection),
                Object::Statement(_) => Some(Sort::Statement),
                Object::Rows(_) => Some(Sort::Rows),
                Object::Builder(_) => Some(Sort::Builder),
                Object::List(_) | Object::Table(_) => Some(Sort::List),
                Object::Record(_) => Some(Sort::Object),
            },
            Value::Input(_, sort @ (Sort::Connection | Sort::Statement | Sort::Rows | Sort::SqlText)) => Some(*sort),
            Value::Text(_) => Some(Sort::SqlText),
            Value::Choice(_, options) if options.iter().all(|(_, one)| matches!(one, Value::Text(_))) => {
                Some(Sort::SqlText)
            }
            _ => None,
        }
    }

    /// A call without a receiver, or of the object itself.
    fn plain_call(&mut self, call: &'p Call, wish: Option<String>, span: Span) -> Value {
        if call.name.starts_with('<') {
            return self.constructor_call(call, span);
        }
        if let Some(act) = self.world.vocabulary.act_anywhere(call) {
            return self.perform(act, Value::Unknown(span), call, wish, span);
        }
        let (class, this) = self.frames.last().map_or((0, None), |frame| (frame.class, frame.this));
        let found = match &call.receiver {
            Some(receiver) if is_named(receiver, "super") => {
                let declared = self.frames.last().and_then(|frame| frame.method).map_or(class, |id| id.class);
                self.world.above(declared, &call.name, count(call))
            }
            _ => self.world.find(class, &call.name, count(call)).or_else(|| self.only_method(call)),
        };
        match found {
            Some(id) => {
                let this = this.and_then(|this| self.object_with(this, class, id.class));
                let arguments = self.passed(id, call);
                let result = self.inline(id, arguments, this, span);
                self.write_back(call, span);
                result
            }
            // A list that fills itself: `new HashMap<>() {{ put(…); }}`.
            None if this.is_some_and(|this| matches!(self.state.objects.get(&this), Some(Object::List(_)))) => {
                let on = this.map_or(Value::Unknown(span), Value::Object);
                self.call_on(on, call, wish, span)
            }
            None => {
                let arguments = self.arguments(call);
                self.library(Value::Unknown(span), call, arguments, span)
            }
        }
    }

    /// `super(…)` and `this(…)` of a constructor.
    fn constructor_call(&mut self, call: &'p Call, span: Span) -> Value {
        let arguments = self.arguments(call);
        let Some((class, this)) = self.frames.last().map(|frame| (frame.class, frame.this)) else {
            return Value::Unset;
        };
        let declared = self.frames.last().and_then(|frame| frame.method).map_or(class, |id| id.class);
        let parent = self.world.class(declared).parent.as_deref().and_then(|parent| self.world.class_named(parent));
        let meant = if call.name == "<super>" { parent } else { Some(declared) };
        if let Some(id) = meant.and_then(|class| self.world.constructor(class, arguments.len())) {
            self.inline(id, arguments, this, span);
        }
        Value::Unset
    }

    /// The method of that name, if the whole program has only one.
    fn only_method(&self, call: &Call) -> Option<MethodId> {
        self.world.only(&call.name, count(call))
    }

    pub(super) fn arguments(&mut self, call: &'p Call) -> Vec<Value> {
        let values: Vec<Value> = call.arguments.iter().map(|argument| self.value(argument)).collect();
        call.named.iter().for_each(|(_, value)| drop(self.value(value)));
        values
    }

    /// The arguments of a method of the program in the order of its parameters, with names and defaults.
    fn passed(&mut self, id: MethodId, call: &'p Call) -> Vec<Value> {
        let mut values: Vec<Value> = call.arguments.iter().map(|argument| self.value(argument)).collect();
        let named: Vec<(&str, Value)> =
            call.named.iter().map(|(name, value)| (name.as_str(), self.value(value))).collect();
        let world = self.world;
        for parameter in world.method(id).parameters.iter().skip(values.len()).filter(|one| !one.takes_rest) {
            let given = named.iter().find(|(name, _)| *name == parameter.name).map(|(_, value)| value.clone());
            let value = match (given, &parameter.default) {
                (Some(value), _) => value,
                (None, Some(default)) => self.aside(id.class, default),
                (None, None) => Value::Unknown(parameter.span),
            };
            values.push(value);
        }
        values
    }

    /// A call of something that is not ours.
    fn foreign(&mut self, call: &'p Call, span: Span) -> Value {
        let arguments = self.arguments(call);
        self.library(Value::Unknown(span), call, arguments, span)
    }

    /// Follows a method of the program where it is called.
    pub(super) fn inline(&mut self, id: MethodId, arguments: Vec<Value>, this: Option<usize>, span: Span) -> Value {
        if self.is_inside(id) {
            let name = &self.world.method(id).name;
            self.warn(span, format!("{name} calls itself; that call is not followed"), "");
            return Value::Unknown(span);
        }
        self.deeper(span, Value::Unknown(span), |lowerer| lowerer.inline_inside(id, arguments, this, span))
    }

    fn inline_inside(&mut self, id: MethodId, arguments: Vec<Value>, this: Option<usize>, span: Span) -> Value {
        let world = self.world;
        let method: &'p Method = world.method(id);
        let file = world.file(id);
        let outer = self.frames.last().and_then(|frame| frame.stands_at);
        let stands_at = outer.or_else(|| (file != self.home).then_some(span));
        let sort = world.vocabulary.sort(&method.result);
        let slot = self.new_slot(&format!("{}_result", method.name), &method.result, sort);
        let (label, number) = (self.fresh(&method.name), self.temporary("returned", "INT"));
        let exit = Exit { label: label.clone(), number: number.clone(), returns: Vec::new(), slot };
        let frame = self.frame_of(id, this);
        self.frames.push(Frame { file, stands_at, exit: Some(exit), ..frame });
        self.pass(method, arguments, span);
        let body = self.block(|this| this.statements(&method.body));
        let parameter = |one: &Parameter| self.local(&one.name).unwrap_or_default();
        let passed = method.parameters.iter().map(parameter).collect();
        let frame = self.frames.pop();
        self.passed = passed;
        let returns = frame.and_then(|frame| frame.exit).map(|exit| exit.returns).unwrap_or_default();
        if let Some(home) = self.slots[slot].home.clone() {
            self.made_up.insert(home);
        }
        if returns.is_empty() {
            self.out.extend(body);
            return Value::Unset;
        }
        let result = self.returned(&returns, slot, &number, span);
        let mut states: Vec<super::State> = returns.into_iter().map(|(_, _, state)| state).collect();
        states.push(std::mem::take(&mut self.state));
        self.join_quietly(states, span);
        if let Some(current) = self.state.values.get_mut(slot) {
            *current = result.clone();
        }
        self.emit(StatementKind::Block { label, body }, span);
        result
    }

    /// Where a method of the program is followed: with the names that it knows, as one of the object's class.
    fn frame_of(&self, id: MethodId, this: Option<usize>) -> Frame<'p> {
        let world = self.world;
        let current = self.frames.last().map(|frame| frame.class);
        let own = this.and_then(|this| self.class_of(this)).or(current);
        let class = own.filter(|class| world.ancestors(*class).contains(&id.class)).unwrap_or(id.class);
        let mut frame = Frame { this, ..Frame::first(Some(id), class, world.file(id)) };
        if let Some(around) = this.and_then(|this| self.around.get(&this)) {
            frame.scopes = around.scopes.iter().cloned().chain([Default::default()]).collect();
            if world.class(id.class).nature == Nature::Function {
                (frame.class, frame.this) = (around.class, around.this);
            }
        }
        frame
    }

    /// The class of an object.
    fn class_of(&self, object: usize) -> Option<usize> {
        match self.state.objects.get(&object)? {
            Object::Record(record) => self.world.class_named(&record.class),
            _ => None,
        }
    }

    /// `f(&x)`: what the method has made of its parameter goes back to x.
    fn write_back(&mut self, call: &'p Call, span: Span) {
        let passed = std::mem::take(&mut self.passed);
        for (argument, slot) in call.arguments.iter().zip(passed) {
            if let ExprKind::Cast(sign, target) = &argument.kind
                && sign == "&"
            {
                let value = self.read(slot, span);
                self.store(target, value, span);
            }
        }
    }

    /// What a method gives back, by which of its returns was taken.
    fn returned(&mut self, returns: &[(i64, Value, super::State)], slot: usize, number: &str, span: Span) -> Value {
        let Some((_, first, _)) = returns.first() else { return Value::Unset };
        if returns.iter().all(|(_, value, _)| value == first) {
            return first.clone();
        }
        let is_plain = |value: &Value| matches!(value, Value::Plain(..) | Value::Unknown(_) | Value::Unset);
        let home = self.slots[slot].home.clone();
        match home {
            Some(home) if returns.iter().any(|(_, value, _)| is_plain(value)) => {
                Value::Plain(super::super::values::variable(&home, self.at(span)), self.slots[slot].sort)
            }
            _ => {
                let options = returns.iter().map(|(at, value, _)| (*at, value.clone())).collect();
                Value::Choice(number.to_string(), options)
            }
        }
    }

    /// The parameters of an inlined method.
    fn pass(&mut self, method: &'p Method, arguments: Vec<Value>, span: Span) {
        let mut arguments = arguments.into_iter();
        for parameter in &method.parameters {
            let sort = self.world.vocabulary.sort(&parameter.type_name);
            let slot = self.new_slot(&parameter.name, &parameter.type_name, sort);
            self.bind(&parameter.name, slot);
            let value = if parameter.takes_rest {
                let rest: Vec<Value> = arguments.by_ref().collect();
                match rest.as_slice() {
                    [only @ Value::Object(_)] => only.clone(),
                    _ => self.object(Object::List(List::of(rest))),
                }
            } else {
                arguments.next().unwrap_or(Value::Unknown(span))
            };
            let value = match value {
                Value::Input(path, Sort::Object) => Value::Input(path, sort),
                value => value,
            };
            self.assign_slot(slot, value, span);
            if let Some(home) = self.slots[slot].home.clone() {
                self.made_up.insert(home);
            }
        }
    }

    /// `new C(…)`
    pub(super) fn new_object(&mut self, class: &str, arguments: &'p [Expr], span: Span) -> Value {
        let wish = self.wish.take();
        let values: Vec<Value> = arguments.iter().map(|argument| self.value(argument)).collect();
        match self.world.vocabulary.sort(class) {
            Sort::SqlText => values.into_iter().next().unwrap_or(Value::Unknown(span)),
            Sort::Builder => {
                let text = values.into_iter().next().filter(|value| matches!(value, Value::Text(_)));
                self.object(Object::Builder(text.unwrap_or(Value::Text(Template::default()))))
            }
            Sort::List => {
                let copied = values.first().and_then(|value| self.list(value)).cloned();
                let is_array = class.ends_with("[]");
                let elements = if values.is_empty() && !is_array { Some(Vec::new()) } else { None };
                self.object(Object::List(copied.unwrap_or(List { elements, ..List::default() })))
            }
            Sort::Whole | Sort::Real | Sort::Text | Sort::Bool => {
                let sort = self.world.vocabulary.sort(class);
                match values.into_iter().next() {
                    Some(Value::Plain(expr, _)) => Value::Plain(expr, sort),
                    Some(Value::Text(template)) if sort != Sort::Text => self.number_in(&template, sort, span),
                    Some(value) => value,
                    None => Value::Unknown(span),
                }
            }
            Sort::Connection => self.object(Object::Connection),
            Sort::Time => Value::Plain(super::super::values::any(self.at(span)), Sort::Time),
            _ => self.new_record(class, values, wish, span),
        }
    }

    /// `new BigDecimal("1.5")`
    fn number_in(&mut self, template: &Template, sort: Sort, span: Span) -> Value {
        let number = template.as_constant().and_then(|text| txloom_core::value::Number::parse(text.trim()));
        let kind = match number {
            Some(number) => ir::ExprKind::Literal(txloom_core::value::Value::Number(number)),
            None => template.value(span).kind,
        };
        Value::Plain(ir::Expr { kind, span: self.at(span) }, sort)
    }

    fn new_record(&mut self, class: &str, values: Vec<Value>, wish: Option<String>, span: Span) -> Value {
        let name = wish.unwrap_or_else(|| class.to_lowercase());
        let record = Record { class: class.to_string(), name, ..Record::default() };
        let object = self.object(Object::Record(record));
        let Value::Object(id) = object else { return object };
        let found = self.world.class_named(class);
        if let Some(found) = found {
            self.prepare_object(found, id);
        }
        let constructor = found.and_then(|class| self.world.constructor(class, values.len()));
        match constructor {
            Some(constructor) => drop(self.inline(constructor, values, Some(id), span)),
            // A record of Java: its fields are its parameters.
            None => {
                let fields = found.map(|class| &self.world.class(class).fields);
                let fields = fields.filter(|fields| fields.len() == values.len());
                for (field, value) in fields.into_iter().flatten().zip(values) {
                    if let Some(slot) = self.record_field(id, &field.name) {
                        self.assign_slot(slot, value, span);
                    }
                }
            }
        }
        object
    }

    /// What a new object knows, and what its initializers do. One that is a list is one.
    fn prepare_object(&mut self, class: usize, id: usize) {
        let world = self.world;
        let definition = world.class(class);
        if matches!(definition.nature, Nature::Local | Nature::Function)
            && let Some(frame) = self.frames.last()
        {
            let around = Around { scopes: frame.scopes.clone(), class: frame.class, this: frame.this };
            self.around.insert(id, around);
        }
        let parent = definition.parent.as_deref().filter(|_| definition.nature == Nature::Local);
        if parent.is_some_and(|parent| world.vocabulary.sort(parent) == Sort::List) {
            self.state.objects.insert(id, Object::List(List::of(Vec::new())));
        }
        for statements in definition.initializers.iter().filter(|_| definition.nature == Nature::Local) {
            let first = Frame::first(None, class, world.file_of(class));
            let stands_at = self.frames.last().and_then(|frame| frame.stands_at);
            let scopes = self.around.get(&id).map(|around| around.scopes.clone()).unwrap_or_default();
            let scopes = scopes.into_iter().chain([Default::default()]).collect();
            self.frames.push(Frame { stands_at, scopes, this: Some(id), ..first });
            self.statements(statements);
            self.frames.pop();
        }
    }

    /// An object of which nothing is known but that it is there.
    pub(super) fn unknown_record(&mut self, name: &str) -> Value {
        self.object(Object::Record(Record { name: name.to_string(), ..Record::default() }))
    }

    /// `getName()`, `setName(x)`, `name()` of an object whose class is not there.
    fn accessor(&mut self, id: usize, call: &Call, arguments: Vec<Value>, span: Span) -> Value {
        let field = |prefix: &str| {
            let rest = call.name.strip_prefix(prefix)?;
            let first = rest.chars().next().filter(|first| first.is_ascii_uppercase() || *first == '_')?;
            Some(format!("{}{}", first.to_ascii_lowercase(), &rest[first.len_utf8()..]))
        };
        match arguments.as_slice() {
            [value] => {
                if let Some(slot) = field("set").and_then(|name| self.record_field(id, &name)) {
                    self.assign_slot(slot, value.clone(), span);
                    return Value::Unset;
                }
                Value::Unknown(span)
            }
            [] => {
                let name = field("get").or_else(|| field("is")).unwrap_or_else(|| call.name.clone());
                match self.record_field(id, &name) {
                    Some(slot) => self.read(slot, span),
                    None => Value::Unknown(span),
                }
            }
            _ => Value::Unknown(span),
        }
    }

    /// Does what the vocabulary says.
    fn perform(&mut self, act: Act, on: Value, call: &'p Call, wish: Option<String>, span: Span) -> Value {
        let arguments = self.arguments(call);
        self.act(act, on, call, arguments, wish, span)
    }
}

/// How many arguments a call has, with and without names.
fn count(call: &Call) -> usize {
    call.arguments.len() + call.named.len()
}

fn is_self(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Name(name) if ["this", "self", "super"].contains(&name.as_str()))
}

fn is_named(expr: &Expr, wanted: &str) -> bool {
    matches!(&expr.kind, ExprKind::Name(name) if name == wanted)
}

fn is_object(value: &Value) -> bool {
    match value {
        Value::Object(_) | Value::Null => true,
        Value::Choice(_, options) => options.iter().any(|(_, one)| is_object(one)),
        _ => false,
    }
}
