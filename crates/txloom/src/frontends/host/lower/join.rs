//! What is known behind branches that know different things.
//!
//! A plain value is in its variable, whichever way was taken. A text that differs, a statement that was prepared in two
//! ways, an object that is there or not: each branch notes its number in a variable, and the value is a *choice* by it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use txloom_core::program::{Span, Statement};

use super::super::values::{List, Object, Record, Sendable, State, Value, variable, whole};
use super::super::vocabulary::Sort;
use super::Lowerer;

/// How many ways are told apart.
pub(super) const OPTIONS_MAX: usize = 24;

/// The ends of branches, while they are joined.
struct Ends {
    states: Vec<State>,
    blocks: Vec<Vec<Statement>>,
    selector: Option<String>,
}

impl Lowerer<'_> {
    /// Goes on behind branches; gives them back with what they must do for that at their ends.
    pub(super) fn join(&mut self, branches: Vec<(State, Vec<Statement>)>, span: Span) -> Vec<Vec<Statement>> {
        let (states, blocks): (Vec<State>, Vec<Vec<Statement>>) = branches.into_iter().unzip();
        let reaching: Vec<usize> = (0..states.len()).filter(|at| !states[*at].is_dead).collect();
        match reaching.as_slice() {
            [] => {
                self.state = states.into_iter().next().unwrap_or_default();
                self.state.is_dead = true;
                return blocks;
            }
            [only] => {
                self.state = states.into_iter().nth(*only).unwrap_or_default();
                self.state.values.resize(self.slots.len(), Value::Unset);
                return blocks;
            }
            _ => {}
        }
        let mut ends = Ends { states, blocks, selector: None };
        let mut joined = State::default();
        for state in &mut ends.states {
            state.values.resize(self.slots.len(), Value::Unset);
        }
        for slot in 0..self.slots.len() {
            let first = &ends.states[reaching[0]].values[slot];
            if reaching.iter().all(|at| ends.states[*at].values[slot] == *first) {
                let value = first.clone();
                joined.values.resize(self.slots.len(), Value::Unset);
                joined.values[slot] = value;
                continue;
            }
            let values: Vec<(usize, Value)> =
                reaching.iter().map(|at| (*at, ends.states[*at].values[slot].clone())).collect();
            let value = self.join_values(values, Some(slot), &mut ends, &mut joined, span);
            joined.values.resize(self.slots.len(), Value::Unset);
            joined.values[slot] = value;
        }
        let ids: BTreeSet<usize> = reaching.iter().flat_map(|at| ends.states[*at].objects.keys()).collect();
        for id in ids {
            let mut shared = reaching.iter().filter_map(|at| ends.states[*at].objects.shared(id));
            if let Some(first) = shared.next()
                && shared.all(|other| Rc::ptr_eq(first, other) || other == first)
            {
                let first = first.clone();
                joined.objects.share(id, first);
                continue;
            }
            let objects: Vec<(usize, Object)> =
                reaching.iter().filter_map(|at| Some((*at, ends.states[*at].objects.get(&id)?.clone()))).collect();
            let object = self.join_objects(objects, &mut ends, &mut joined, span);
            joined.objects.insert(id, object);
        }
        joined.values.resize(self.slots.len(), Value::Unset);
        joined.known = known_in_all(reaching.iter().map(|at| &ends.states[*at]));
        if let Some(selector) = ends.selector.take() {
            for at in &reaching {
                self.in_branch(&mut ends, *at, |this| {
                    let number = whole(number_of(*at), this.at(span));
                    this.set(&selector, number, span);
                });
            }
        }
        self.state = joined;
        ends.blocks
    }

    /// Emits something at the end of a branch.
    fn in_branch(&mut self, ends: &mut Ends, at: usize, inside: impl FnOnce(&mut Self)) {
        let state = std::mem::take(&mut ends.states[at]);
        let outer_state = std::mem::replace(&mut self.state, state);
        let block = std::mem::take(&mut ends.blocks[at]);
        let outer = std::mem::replace(&mut self.out, block);
        inside(self);
        ends.blocks[at] = std::mem::replace(&mut self.out, outer);
        ends.states[at] = std::mem::replace(&mut self.state, outer_state);
    }

    fn join_values(
        &mut self,
        mut values: Vec<(usize, Value)>,
        slot: Option<usize>,
        ends: &mut Ends,
        joined: &mut State,
        span: Span,
    ) -> Value {
        values.retain(|(_, value)| *value != Value::Unset);
        let Some((_, first)) = values.first() else { return Value::Unset };
        if values.iter().all(|(_, value)| value == first) {
            return first.clone();
        }
        let is_text = values.iter().all(|(_, value)| matches!(value, Value::Text(_)));
        let is_plain = |value: &Value| match value {
            Value::Plain(..) | Value::Text(_) | Value::Unknown(_) => true,
            Value::Input(_, sort) => !matches!(sort, Sort::Object | Sort::Statement | Sort::Rows | Sort::List),
            Value::Null => slot.is_some_and(|slot| self.slots[slot].home.is_some()),
            _ => false,
        };
        if let Some(slot) = slot.filter(|_| values.iter().all(|(_, value)| is_plain(value))) {
            return self.join_plain(values, slot, is_text, ends, span);
        }
        let records: Vec<(usize, usize)> = values
            .iter()
            .filter_map(|(at, value)| match value {
                Value::Object(id) => {
                    matches!(ends.states[*at].objects.get(id), Some(Object::Record(_))).then_some((*at, *id))
                }
                _ => None,
            })
            .collect();
        let nulls = values.iter().filter(|(_, value)| *value == Value::Null).count();
        if records.len() > 1 && records.len() + nulls == values.len() {
            let merged = self.join_records(&records, ends, joined, span);
            if nulls == 0 {
                return merged;
            }
            for (_, value) in values.iter_mut().filter(|(_, value)| *value != Value::Null) {
                *value = merged.clone();
            }
        }
        let statements: Vec<(usize, usize)> = values
            .iter()
            .filter_map(|(at, value)| match value {
                Value::Object(id) => {
                    matches!(ends.states[*at].objects.get(id), Some(Object::Statement(_))).then_some((*at, *id))
                }
                _ => None,
            })
            .collect();
        if statements.len() > 1 && statements.len() == values.len() {
            return self.join_statements(&statements, ends, joined, span);
        }
        self.choice(values, ends, span)
    }

    /// One statement that has the text of whichever was made.
    fn join_statements(
        &mut self,
        statements: &[(usize, usize)],
        ends: &mut Ends,
        joined: &mut State,
        span: Span,
    ) -> Value {
        let all: Vec<(usize, Sendable)> = statements
            .iter()
            .filter_map(|(at, id)| match ends.states[*at].objects.get(id) {
                Some(Object::Statement(statement)) => Some((*at, statement.clone())),
                _ => None,
            })
            .collect();
        let texts = all.iter().filter_map(|(at, one)| Some((*at, (**one.text.as_ref()?).clone()))).collect();
        let text = self.join_texts(texts, ends, span);
        let name = all.first().map(|(_, one)| one.name.clone()).unwrap_or_default();
        let keys: BTreeSet<String> = all.iter().flat_map(|(_, one)| one.binds.keys().cloned()).collect();
        let mut binds = BTreeMap::new();
        for key in keys {
            let merged = self.temporary(&format!("{name}_{key}"), "VARCHAR");
            for (at, one) in &all {
                let Some(bound) = one.binds.get(&key) else { continue };
                let value = variable(bound, self.at(span));
                self.in_branch(ends, *at, |this| this.set(&merged, value, span));
            }
            binds.insert(key, merged);
        }
        let text = (text != Value::Unset).then(|| Box::new(text));
        let merged = Sendable { name, text, binds, rows: None, count: None };
        joined.objects.insert(self.next_object, Object::Statement(merged));
        self.next_object += 1;
        Value::Object(self.next_object - 1)
    }

    /// Texts that stand nowhere but in the statements.
    fn join_texts(&mut self, texts: Vec<(usize, Value)>, ends: &mut Ends, span: Span) -> Value {
        let Some((_, first)) = texts.first() else { return Value::Unset };
        if texts.iter().all(|(_, text)| same_text(text, first)) {
            return first.clone();
        }
        self.choice(texts, ends, span)
    }

    fn choice(&mut self, values: Vec<(usize, Value)>, ends: &mut Ends, span: Span) -> Value {
        if values.iter().map(|(_, value)| leaves(value)).sum::<usize>() > OPTIONS_MAX {
            return Value::Unknown(span);
        }
        let selector = match &ends.selector {
            Some(selector) => selector.clone(),
            None => {
                let selector = self.temporary("way", "INT");
                ends.selector = Some(selector.clone());
                selector
            }
        };
        Value::Choice(selector, values.into_iter().map(|(at, value)| (number_of(at), value)).collect())
    }

    /// A plain value goes to its variable in each branch where it is not there yet.
    fn join_plain(
        &mut self,
        mut values: Vec<(usize, Value)>,
        slot: usize,
        is_text: bool,
        ends: &mut Ends,
        span: Span,
    ) -> Value {
        for (at, value) in &mut values {
            self.in_branch(ends, *at, |this| {
                this.settle(slot, span);
                if let Some(Value::Text(settled)) = this.state.values.get(slot) {
                    *value = Value::Text(settled.clone());
                }
            });
        }
        if is_text && values.iter().map(|(_, value)| leaves(value)).sum::<usize>() <= OPTIONS_MAX {
            return self.choice(values, ends, span);
        }
        let sort = values.iter().find_map(|(_, value)| match value {
            Value::Plain(_, sort) => Some(*sort),
            _ => None,
        });
        let home = self.home_of(slot);
        Value::Plain(variable(&home, self.at(span)), sort.unwrap_or(self.slots[slot].sort))
    }

    /// One object that has the fields of whichever was made.
    fn join_records(&mut self, records: &[(usize, usize)], ends: &mut Ends, joined: &mut State, span: Span) -> Value {
        let record_of = |ends: &Ends, (at, id): (usize, usize)| match ends.states[at].objects.get(&id) {
            Some(Object::Record(record)) => record.clone(),
            _ => Record::default(),
        };
        let all: Vec<Record> = records.iter().map(|one| record_of(ends, *one)).collect();
        let names: BTreeSet<String> = all.iter().flat_map(|record| record.fields.keys().cloned()).collect();
        let mut merged = Record { fields: Default::default(), ..all[0].clone() };
        for name in names {
            let sample = all.iter().find_map(|record| record.fields.get(&name)).copied().unwrap_or_default();
            let (type_name, sort) = (self.slots[sample].type_name.clone(), self.slots[sample].sort);
            let slot = self.new_slot(&format!("{}_{name}", merged.name), &type_name, sort);
            let mut values = Vec::new();
            for ((at, _), record) in records.iter().zip(&all) {
                let old = record.fields.get(&name).and_then(|slot| ends.states[*at].values.get(*slot)).cloned();
                let value = old.unwrap_or(Value::Unset);
                ends.states[*at].values.resize(self.slots.len(), Value::Unset);
                ends.states[*at].values[slot] = value.clone();
                values.push((*at, value));
            }
            let value = self.join_values(values, Some(slot), ends, joined, span);
            joined.values.resize(self.slots.len(), Value::Unset);
            joined.values[slot] = value;
            merged.fields.insert(name, slot);
        }
        joined.objects.insert(self.next_object, Object::Record(merged));
        self.next_object += 1;
        Value::Object(self.next_object - 1)
    }

    fn join_objects(
        &mut self,
        objects: Vec<(usize, Object)>,
        ends: &mut Ends,
        joined: &mut State,
        span: Span,
    ) -> Object {
        let Some((_, first)) = objects.first().cloned() else { return Object::Connection };
        if objects.iter().all(|(_, object)| *object == first) {
            return first;
        }
        match first {
            Object::Builder(_) => {
                let values = objects.into_iter().filter_map(|(at, object)| match object {
                    Object::Builder(value) => Some((at, value)),
                    _ => None,
                });
                Object::Builder(self.join_values(values.collect(), None, ends, joined, span))
            }
            Object::Statement(_) => {
                let all: Vec<(usize, Sendable)> = objects
                    .into_iter()
                    .filter_map(|(at, object)| match object {
                        Object::Statement(statement) => Some((at, statement)),
                        _ => None,
                    })
                    .collect();
                let mut part = |take: fn(&Sendable) -> &Option<Box<Value>>| {
                    let values = all.iter().filter_map(|(at, one)| Some((*at, (**take(one).as_ref()?).clone())));
                    let value = self.join_values(values.collect(), None, ends, joined, span);
                    (value != Value::Unset).then(|| Box::new(value))
                };
                let (text, rows, count) = (part(|one| &one.text), part(|one| &one.rows), part(|one| &one.count));
                let binds = all.iter().flat_map(|(_, one)| one.binds.clone()).collect();
                let name = all.first().map(|(_, one)| one.name.clone()).unwrap_or_default();
                Object::Statement(Sendable { name, text, binds, rows, count })
            }
            Object::Record(mut record) => {
                for (_, object) in objects {
                    if let Object::Record(other) = object {
                        record.fields.extend(other.fields);
                    }
                }
                Object::Record(record)
            }
            Object::List(_) => {
                let lists = objects.into_iter().filter_map(|(_, object)| match object {
                    Object::List(list) => Some(list),
                    _ => None,
                });
                Object::List(lists.reduce(either).unwrap_or_default())
            }
            other => other,
        }
    }

    /// Goes on where several ways lead that cannot note their numbers any more: what differs is in its variable, or is
    /// taken from the last one.
    pub(super) fn join_quietly(&mut self, states: Vec<State>, span: Span) {
        let mut reaching = states.into_iter().filter(|state| !state.is_dead);
        let Some(mut joined) = reaching.next() else {
            self.state.is_dead = true;
            return;
        };
        joined.values.resize(self.slots.len(), Value::Unset);
        for state in reaching {
            joined.known.retain(|name, number| state.known.get(name) == Some(number));
            for (slot, value) in state.values.into_iter().enumerate() {
                let known = &joined.values[slot];
                if value == Value::Unset || *known == value {
                    continue;
                }
                let is_plain = |value: &Value| matches!(value, Value::Plain(..) | Value::Unknown(_) | Value::Null);
                let home = self.slots[slot].home.clone();
                joined.values[slot] = match (home, known, &value) {
                    (_, Value::Text(_), Value::Text(_)) => value,
                    (_, Value::Object(_) | Value::Perhaps(..) | Value::Choice(..), Value::Null) => known.clone(),
                    (Some(home), known, other) if is_plain(known) || is_plain(other) => match other {
                        Value::Object(_) | Value::Choice(..) | Value::Perhaps(..) => value,
                        _ => Value::Plain(variable(&home, span), self.slots[slot].sort),
                    },
                    _ => value,
                };
            }
            let ids: Vec<usize> = state.objects.keys().collect();
            for id in ids {
                let Some(shared) = state.objects.shared(id).cloned() else { continue };
                if joined.objects.shared(id).is_none_or(|known| Rc::ptr_eq(known, &shared)) {
                    joined.objects.share(id, shared);
                    continue;
                }
                match (joined.objects.get_mut(&id), (*shared).clone()) {
                    (Some(Object::Record(known)), Object::Record(other)) => known.fields.extend(other.fields),
                    (Some(Object::Statement(known)), Object::Statement(other)) => {
                        known.binds.extend(other.binds);
                        known.text = other.text.or(known.text.take());
                        known.rows = other.rows.or(known.rows.take());
                        known.count = other.count.or(known.count.take());
                    }
                    (Some(Object::List(known)), Object::List(other)) if *known != other => {
                        *known = either(std::mem::take(known), other);
                    }
                    (_, object) => joined.objects.insert(id, object),
                }
            }
        }
        self.state = joined;
    }
}

/// How many values a choice is between.
pub(super) fn leaves(value: &Value) -> usize {
    match value {
        Value::Choice(_, options) => options.iter().map(|(_, option)| leaves(option)).sum(),
        _ => 1,
    }
}

/// What is known of a list that is one of two.
fn either(first: List, other: List) -> List {
    let last = |list: &List| list.elements.as_ref().and_then(|all| all.last().cloned()).map(Box::new);
    let sample = last(&other).or(last(&first)).or(other.sample.clone()).or(first.sample.clone());
    let mut keys = by_position(first);
    keys.extend(by_position(other));
    List { elements: None, sample, keys }
}

/// What is in a list, each with its key or position.
fn by_position(list: List) -> BTreeMap<String, Value> {
    let mut keys = list.keys;
    let elements = list.elements.into_iter().flatten().enumerate();
    let is_followed = |value: &Value| matches!(value, Value::Text(_) | Value::Object(_));
    keys.extend(elements.filter(|(_, one)| is_followed(one)).map(|(at, element)| (at.to_string(), element)));
    keys
}

/// Whether two texts say the same, wherever they are kept.
pub(super) fn same_text(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => left.pieces == right.pieces,
        _ => left == right,
    }
}

/// The numbers that are the same, whichever way was taken.
fn known_in_all<'s>(mut states: impl Iterator<Item = &'s State>) -> BTreeMap<String, i64> {
    let mut known = states.next().map(|state| state.known.clone()).unwrap_or_default();
    for state in states {
        known.retain(|name, number| state.known.get(name) == Some(number));
    }
    known
}

fn number_of(branch: usize) -> i64 {
    i64::try_from(branch).unwrap_or(i64::MAX - 1) + 1
}
