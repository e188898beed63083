//! What host languages bring along: texts, lists, numbers in objects.

use txloom_core::program::Span;

use super::super::tree::{Call, Expr, ExprKind, Operator};
use super::super::values::{List, Object, Piece, Template, Value, any, truth};
use super::super::vocabulary::Sort;
use super::Lowerer;
use super::operators::sort_of;

/// Methods of numbers in objects that compute.
const ARITHMETIC: &[(&str, Operator)] = &[
    ("add", Operator::Add),
    ("plus", Operator::Add),
    ("subtract", Operator::Subtract),
    ("minus", Operator::Subtract),
    ("multiply", Operator::Multiply),
    ("divide", Operator::Divide),
    ("mod", Operator::Remainder),
    ("remainder", Operator::Remainder),
];

/// Methods that give their receiver, or their argument, as another type.
const SAME: &[&str] = &[
    "intValue",
    "longValue",
    "doubleValue",
    "floatValue",
    "shortValue",
    "booleanValue",
    "toString",
    "trim",
    "strip",
    "intern",
    "valueOf",
    "parseInt",
    "parseLong",
    "parseDouble",
    "parseFloat",
    "parseShort",
    "parseBoolean",
    "toBigInteger",
    "setScale",
    "requireNonNull",
    "str",
    "int",
    "float",
    "text",
    "asString",
    "stripIndent",
    "toInstant",
    "fromString",
];

impl<'p> Lowerer<'p> {
    /// A call of which the vocabulary knows nothing.
    pub(super) fn library(&mut self, on: Value, call: &'p Call, arguments: Vec<Value>, span: Span) -> Value {
        let name = call.name.as_str();
        if let Some(function) = arguments.iter().find_map(|argument| self.function(argument)) {
            return self.pass_on(function, &on, name, span);
        }
        if name.starts_with("is") && name.ends_with("Enabled") {
            return Value::Plain(truth(false, self.at(span)), Sort::Bool);
        }
        if let Value::Object(id) = on {
            match self.state.objects.get(&id) {
                Some(Object::Builder(_)) => return self.builder(id, call, arguments, span),
                Some(Object::List(_)) => return self.list_call(id, name, arguments, span),
                _ => {}
            }
        }
        let is_known = !matches!(on, Value::Unknown(_));
        match (name, arguments.as_slice()) {
            ("equals" | "equalsIgnoreCase" | "contentEquals", [other]) if is_known => {
                self.compare(Operator::Equal, on, other.clone(), span)
            }
            ("equals" | "isEqual", [left, right]) => self.compare(Operator::Equal, left.clone(), right.clone(), span),
            ("isNull" | "nonNull", [value]) => {
                let is_null = self.is_null(value.clone(), span);
                let asked = if name == "isNull" { is_null } else { self.not(is_null, span) };
                Value::Plain(asked, Sort::Bool)
            }
            ("isEmpty", []) if matches!(sort_of(&on), Sort::Text) => {
                let empty = Value::Text(Template::constant("", self.file(), span));
                self.compare(Operator::Equal, on, empty, span)
            }
            ("concat", [other]) if is_known => {
                let here = Expr { kind: ExprKind::Null, span };
                self.concatenation(on, &here, other.clone(), &here)
            }
            ("negate", []) => self.negate(on, span),
            ("format", [format, rest @ ..]) if !is_known => self.formatted(format.clone(), rest, call, 1, span),
            ("formatted" | "format", rest) if is_known => self.formatted(on, rest, call, 0, span),
            ("joining", [separator]) => separator.clone(),
            ("join", [separator, rest @ ..]) => self.joined(separator.clone(), rest, span),
            ("replace" | "replaceAll" | "replaceFirst", [Value::Text(what), with]) if matches!(on, Value::Text(_)) => {
                match (on, what.as_constant().filter(|what| !what.is_empty())) {
                    (Value::Text(text), Some(what)) => self.replaced(&text, what.trim_start_matches('\\'), with, span),
                    (on, _) => on,
                }
            }
            ("substring", [_, _]) if matches!(on, Value::Text(_)) => self.shortened(on, call),
            ("repeat" | "nCopies", _) => {
                let sample = if is_known { on } else { arguments.last().cloned().unwrap_or(on) };
                Value::Text(self.template_of(sample, &Expr { kind: ExprKind::Null, span }))
            }
            ("of" | "ofEntries", parts) if is_of_map(call) => self.map_of(parts),
            ("asList" | "of" | "singletonList" | "toList" | "entry", elements) => {
                self.object(Object::List(List::of(elements.to_vec())))
            }
            ("max" | "min" | "round" | "abs" | "floor" | "ceil", values) => {
                let real = values.iter().any(|value| sort_of(value) == Sort::Real);
                let sort = if real { Sort::Real } else { Sort::Whole };
                Value::Plain(any(self.at(span)), sort)
            }
            ("compareTo" | "length" | "size" | "indexOf" | "hashCode" | "nextInt", _) => {
                Value::Plain(any(self.at(span)), Sort::Whole)
            }
            (name, [other, ..]) if is_known && arithmetic(name).is_some() => {
                let operator = arithmetic(name).unwrap_or(Operator::Other);
                let here = Expr { kind: ExprKind::Null, span };
                self.combine(operator, on, &here, other.clone(), &here, span)
            }
            (name, []) if is_known && SAME.contains(&name) => self.same(on, name),
            (name, [value, ..]) if !is_known && SAME.contains(&name) => self.same(value.clone(), name),
            (name, []) => self.getter(on, name, span),
            _ => Value::Unknown(span),
        }
    }

    /// `a.replace("?", x)`
    fn replaced(&mut self, text: &Template, what: &str, with: &Value, span: Span) -> Value {
        let here = Expr { kind: ExprKind::Null, span };
        let mut result = Value::Text(Template::default());
        for piece in text.pieces.iter() {
            let Piece::Text { text, file, span: place } = piece else {
                let piece = Value::Text(Template { pieces: vec![piece.clone()], held: None });
                result = self.concatenation(result, &here, piece, &here);
                continue;
            };
            for (at, part) in text.split(what).enumerate() {
                if at > 0 {
                    result = self.concatenation(result, &here, with.clone(), &here);
                }
                let part = Value::Text(Template::constant(part, *file, *place));
                result = self.concatenation(result, &here, part, &here);
            }
        }
        result
    }

    /// The same value, perhaps of another sort.
    fn same(&mut self, value: Value, name: &str) -> Value {
        let sort = match name {
            _ if name.contains("int") || name.contains("Int") || name.contains("ong") => Some(Sort::Whole),
            "toString" | "trim" | "strip" | "str" | "asString" => Some(Sort::Text),
            _ if name.contains("ouble") || name.contains("loat") => Some(Sort::Real),
            _ => None,
        };
        match (value, sort) {
            (Value::Plain(expr, _), Some(sort)) => Value::Plain(expr, sort),
            (Value::Input(path, _), Some(sort)) => Value::Input(path, sort),
            (Value::Text(text), _) => Value::Text(text),
            (value, _) => value,
        }
    }

    /// `x.getName()` of something that the caller gives.
    fn getter(&mut self, on: Value, name: &str, span: Span) -> Value {
        let Value::Input(path, _) = on else { return Value::Unknown(span) };
        let field = name.strip_prefix("get").or_else(|| name.strip_prefix("is")).filter(|field| !field.is_empty());
        let is_plain = name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.starts_with("next");
        match field {
            Some(field) => Value::Input(format!("{path}_{}", field.to_lowercase()), Sort::Object),
            None if is_plain => Value::Input(format!("{path}_{}", name.to_lowercase()), Sort::Object),
            None => Value::Unknown(span),
        }
    }

    /// A text that grows.
    fn builder(&mut self, id: usize, call: &'p Call, arguments: Vec<Value>, span: Span) -> Value {
        let Some(Object::Builder(text)) = self.state.objects.get(&id).cloned() else { return Value::Unknown(span) };
        let here = Expr { kind: ExprKind::Null, span };
        let new = match (call.name.as_str(), arguments.as_slice()) {
            ("append" | "add" | "write", [value, ..]) => {
                let of = call.arguments.first().unwrap_or(&here);
                self.concatenation(text, &here, value.clone(), of)
            }
            ("toString", _) => return text,
            ("setLength", [length]) => match self.fold_value(length) {
                Some(0) => Value::Text(Template::default()),
                _ => shorter(text),
            },
            ("deleteCharAt" | "delete", _) => shorter(text),
            ("insert", _) => Value::Unknown(span),
            ("length", _) => return Value::Plain(any(self.at(span)), Sort::Whole),
            _ => return Value::Unknown(span),
        };
        self.state.objects.insert(id, Object::Builder(new));
        Value::Object(id)
    }

    /// `s.substring(0, s.length() - 1)`
    fn shortened(&mut self, text: Value, call: &Call) -> Value {
        let Some(ExprKind::Chain(Operator::Subtract, operands)) = call.arguments.get(1).map(|end| &end.kind) else {
            return match text {
                Value::Text(template) => match template.held {
                    // What is left of it nobody knows.
                    Some(_) | None => Value::Plain(any(call.arguments[0].span), Sort::Text),
                },
                text => text,
            };
        };
        let count = match operands.last().map(|last| &last.kind) {
            Some(ExprKind::Number(count)) => count.parse().unwrap_or(1),
            _ => 1,
        };
        match text {
            Value::Text(mut template) => {
                template.shorten(count);
                Value::Text(template)
            }
            text => text,
        }
    }

    /// `String.format("… %s …", x)`
    fn formatted(&mut self, format: Value, values: &[Value], call: &'p Call, skipped: usize, span: Span) -> Value {
        let Value::Text(format) = format else { return Value::Unknown(span) };
        let here = Expr { kind: ExprKind::Null, span };
        let mut result = Value::Text(Template::default());
        let mut next = 0;
        for piece in format.pieces {
            let Piece::Text { text, file, span: place } = &piece else {
                let piece = Value::Text(Template { pieces: vec![piece], held: None });
                result = self.concatenation(result, &here, piece, &here);
                continue;
            };
            for part in split_format(text) {
                let (value, of) = match part {
                    Part::Text(text) => (Value::Text(Template::constant(&text, *file, *place)), &here),
                    Part::Hole => {
                        next += 1;
                        let value = values.get(next - 1).cloned().unwrap_or(Value::Unknown(*place));
                        (value, call.arguments.get(next - 1 + skipped).unwrap_or(&here))
                    }
                };
                result = self.concatenation(result, &here, value, of);
            }
        }
        result
    }

    pub(super) fn joined(&mut self, separator: Value, rest: &[Value], span: Span) -> Value {
        let elements = match rest {
            [only] => match self.list(only).map(|list| (list.elements.clone(), list.sample.clone())) {
                Some((Some(elements), _)) => elements,
                Some((None, Some(sample))) => vec![*sample],
                _ => vec![only.clone()],
            },
            several => several.to_vec(),
        };
        let here = Expr { kind: ExprKind::Null, span };
        let separator = self.template_of(separator, &here);
        let mut text = Template::default();
        for (at, element) in elements.into_iter().enumerate() {
            if at > 0 {
                text = text.then(separator.clone());
            }
            text = text.then(self.template_of(element, &here));
        }
        Value::Text(text)
    }
}

fn is_of_map(call: &Call) -> bool {
    matches!(call.receiver.as_ref().map(|receiver| &receiver.kind), Some(ExprKind::Name(name)) if name.ends_with("Map"))
}

fn arithmetic(name: &str) -> Option<Operator> {
    ARITHMETIC.iter().find(|(known, _)| *known == name).map(|(_, operator)| *operator)
}

fn shorter(text: Value) -> Value {
    match text {
        Value::Text(mut template) => {
            let spaces = match template.pieces.last() {
                Some(Piece::Text { text, .. }) => text.len() - text.trim_end().len(),
                _ => 0,
            };
            template.shorten(spaces + 1);
            Value::Text(template)
        }
        Value::Choice(selector, options) => {
            Value::Choice(selector, options.into_iter().map(|(at, option)| (at, shorter(option))).collect())
        }
        other => other,
    }
}

/// A part of a format.
enum Part {
    Text(String),
    Hole,
}

/// `a %s b %d` → `a `, hole, ` b `, hole
fn split_format(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['%', '{']) {
        plain.push_str(&rest[..at]);
        let tail = &rest[at..];
        let length = if let Some(directive) = tail.strip_prefix('%') {
            if directive.starts_with('%') {
                plain.push('%');
                rest = &tail[2..];
                continue;
            }
            let flags =
                directive.len() - directive.trim_start_matches(|c: char| "0123456789.$,+-# lh".contains(c)).len();
            directive[flags..].starts_with(|c: char| "sdfgxcbeiuSX".contains(c)).then_some(flags + 2)
        } else {
            tail.starts_with("{}").then_some(2)
        };
        match length {
            Some(length) => {
                if !plain.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut plain)));
                }
                parts.push(Part::Hole);
                rest = &tail[length..];
            }
            None => {
                plain.push_str(&tail[..1]);
                rest = &tail[1..];
            }
        }
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        parts.push(Part::Text(plain));
    }
    parts
}
