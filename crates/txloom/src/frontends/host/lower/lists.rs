//! Lists, arrays and maps: what is in them, as far as it is known.
//!
//! An element at a position that nobody knows is any of them. If they are statements, or texts that may become some, the
//! element is a *choice* between them, so that none is forgotten.

use std::collections::BTreeMap;

use txloom_core::program::Span;

use super::super::values::{List, Object, Template, Value, any, whole};
use super::super::vocabulary::Sort;
use super::Lowerer;
use super::database::ColumnName;
use super::join::OPTIONS_MAX;

/// So many texts that are no statements are told apart.
const TEXTS_MAX: usize = 8;

impl<'p> Lowerer<'p> {
    pub(super) fn list(&self, value: &Value) -> Option<&List> {
        match value {
            Value::Object(id) => match self.state.objects.get(id)? {
                Object::List(list) => Some(list),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn list_call(&mut self, id: usize, name: &str, arguments: Vec<Value>, span: Span) -> Value {
        match (name, arguments.as_slice()) {
            ("put" | "putIfAbsent" | "set", [key, value]) => {
                self.put(&Value::Object(id), Some(key), value.clone());
                Value::Unset
            }
            ("add" | "append" | "addLast" | "push" | "offer" | "put", [.., value]) => {
                if let Some(Object::List(list)) = self.state.objects.get_mut(&id) {
                    if let Some(elements) = &mut list.elements {
                        elements.push(value.clone());
                    }
                    list.sample = Some(Box::new(value.clone()));
                }
                Value::Unset
            }
            ("get" | "remove" | "getOrDefault" | "poll" | "pop" | "next" | "getFirst" | "getLast" | "peek", _)
            | ("getValue", []) => self.element(&Value::Object(id), arguments.first().cloned(), span),
            ("size" | "length", []) => match self.list(&Value::Object(id)).and_then(|list| list.elements.as_ref()) {
                Some(elements) => {
                    let count = i64::try_from(elements.len()).unwrap_or(i64::MAX);
                    Value::Plain(whole(count, self.at(span)), Sort::Whole)
                }
                None => Value::Plain(any(self.at(span)), Sort::Whole),
            },
            // `Collectors.joining(x)` is x.
            ("collect", [separator @ Value::Text(_)]) => self.joined(separator.clone(), &[Value::Object(id)], span),
            ("iterator" | "stream" | "toArray" | "values" | "keySet" | "entrySet" | "listIterator", _) => {
                Value::Object(id)
            }
            _ => Value::Unknown(span),
        }
    }

    /// Puts something into a list or a map.
    pub(super) fn put(&mut self, of: &Value, key: Option<&Value>, value: Value) {
        let key = key.and_then(|key| self.key_of(key));
        let Value::Object(id) = of else { return };
        let Some(Object::List(list)) = self.state.objects.get_mut(id) else { return };
        let position = key.as_ref().and_then(|key| key.parse::<usize>().ok());
        if let (Some(elements), Some(at)) = (&mut list.elements, position)
            && let Some(element) = elements.get_mut(at)
        {
            *element = value;
            return;
        }
        let elements = list.elements.take().into_iter().flatten().enumerate();
        list.keys.extend(elements.map(|(at, element)| (at.to_string(), element)));
        // Beside a key that nobody knows, what was there may still be there.
        let key = key.unwrap_or_else(|| format!("?{}", list.keys.len()));
        list.keys.insert(key, value.clone());
        list.sample = Some(Box::new(value));
    }

    /// A position or a key, if it is known.
    fn key_of(&self, key: &Value) -> Option<String> {
        match key {
            Value::Text(text) => text.as_constant(),
            key => self.fold_value(key).map(|number| number.to_string()),
        }
    }

    /// `Map.of(k, v, …)`, `Map.ofEntries(Map.entry(k, v), …)`
    pub(super) fn map_of(&mut self, parts: &[Value]) -> Value {
        let entry = |this: &Self, part: &Value| this.list(part).and_then(|list| list.elements.clone());
        let flat: Vec<Value> = match parts.iter().map(|part| entry(self, part)).collect::<Option<Vec<_>>>() {
            Some(entries) => entries.into_iter().flatten().collect(),
            None => parts.to_vec(),
        };
        let mut keys = BTreeMap::new();
        for pair in flat.chunks_exact(2) {
            let key = self.key_of(&pair[0]).unwrap_or_else(|| format!("?{}", keys.len()));
            keys.insert(key, pair[1].clone());
        }
        let sample = flat.last().cloned().map(Box::new);
        self.object(Object::List(List { elements: None, sample, keys }))
    }

    /// An element of a list, or a column of a row.
    pub(super) fn element(&mut self, of: &Value, at: Option<Value>, span: Span) -> Value {
        if let Value::Perhaps(_, inner) = of {
            return self.element(&inner.clone(), at, span);
        }
        if matches!(of, Value::Choice(..)) {
            return self.each_option(of.clone(), span, &mut |this, option| this.element(&option, at.clone(), span));
        }
        if let (Value::Input(path, Sort::Object), Some(Value::Text(key))) = (of, &at)
            && let Some(key) = key.as_constant()
        {
            return Value::Input(format!("{path}_{}", key.to_lowercase()), Sort::Object);
        }
        if let Value::Object(id) = of {
            match self.state.objects.get(id) {
                Some(Object::Rows(_)) => return self.column_at(of, at.as_ref(), span),
                Some(Object::Table(rows)) => {
                    let rows = Value::Object(*rows);
                    return self.fetch_one(rows, span);
                }
                Some(Object::Record(_)) => {
                    if let Some(Value::Text(name)) = &at
                        && let Some(name) = name.as_constant()
                    {
                        return self.field_of(of.clone(), &name, span);
                    }
                }
                _ => {}
            }
        }
        self.element_of_list(of, at, span)
    }

    /// `row[0]`, `row["x"]`
    fn column_at(&mut self, of: &Value, at: Option<&Value>, span: Span) -> Value {
        let column = match at {
            Some(Value::Text(name)) => name.as_constant().map(ColumnName::Name),
            Some(value) => {
                let position = self.fold_value(value).and_then(|at| usize::try_from(at).ok());
                position.map(|at| ColumnName::Position(at + 1))
            }
            None => None,
        };
        match column {
            Some(column) => self.column(of, &column, span),
            None => Value::Unknown(span),
        }
    }

    fn element_of_list(&mut self, of: &Value, at: Option<Value>, span: Span) -> Value {
        let key = at.as_ref().and_then(|at| self.key_of(at));
        let Some(list) = self.list(of) else { return Value::Unknown(span) };
        let position = key.as_ref().and_then(|key| key.parse::<usize>().ok());
        let exact = position.and_then(|at| list.elements.as_ref()?.get(at));
        if let Some(exact) = exact.or_else(|| list.keys.get(key.as_ref()?)) {
            return exact.clone();
        }
        let sample = list.sample.as_deref().or_else(|| list.elements.as_ref()?.first()).cloned();
        let all: Vec<Value> = list.elements.iter().flatten().chain(list.keys.values()).cloned().collect();
        if let Some(one) = self.one_of(all, span) {
            return one;
        }
        match sample {
            // Which of the objects it is, nobody knows; but its fields come from where theirs do.
            Some(value @ (Value::Object(_) | Value::Text(_))) => value,
            Some(Value::Plain(_, sort)) => Value::Plain(any(self.at(span)), sort),
            _ => Value::Unknown(span),
        }
    }

    /// Any of several texts or statements.
    pub(super) fn one_of(&mut self, mut all: Vec<Value>, span: Span) -> Option<Value> {
        all.dedup();
        let is_text = all.iter().all(|one| matches!(one, Value::Text(_)));
        let is_statement = |one: &Value| match one {
            Value::Text(text) => begins_like_sql(text),
            Value::Object(id) => match self.state.objects.get(id) {
                Some(Object::Statement(_)) => true,
                Some(Object::Record(record)) => self.world.is_enumeration(&record.class),
                _ => false,
            },
            _ => false,
        };
        let are_statements = all.iter().all(is_statement);
        if all.len() < 2 || !(is_text || are_statements) {
            return all.pop().filter(|_| is_text);
        }
        if all.len() > if are_statements { OPTIONS_MAX } else { TEXTS_MAX } {
            return is_text.then(|| Value::Plain(any(self.at(span)), Sort::Text));
        }
        let selector = self.temporary("which", "INT");
        self.set(&selector, any(self.at(span)), span);
        Some(Value::Choice(selector, (1..).zip(all).collect()))
    }
}

/// Whether a text may be a statement.
fn begins_like_sql(text: &Template) -> bool {
    let word = text.pieces.first().and_then(|piece| match piece {
        super::super::values::Piece::Text { text, .. } => text.split_whitespace().next(),
        super::super::values::Piece::Hole { .. } => None,
    });
    let verbs = ["select", "insert", "update", "delete", "replace", "merge", "with", "call"];
    word.is_some_and(|word| verbs.contains(&word.trim_start_matches('(').to_lowercase().as_str()))
}
