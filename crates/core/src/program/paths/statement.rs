//! What SQL does to the focus rows, and what it answers.
//!
//! ```text
//!   UPDATE flights SET avail = avail - :n WHERE id = :flight AND avail >= :n
//!
//!   aimed   f.id = flight                              the key leads to the focus row, and to no other
//!   hit     f.id = flight AND f.avail >= n             the focus row is changed
//!   rows    1 if hit, 0 if aimed but not hit, otherwise a stand-in: another row
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::machine::{Chance, Machine};
use super::rows::Row;
use super::symbol::{Place, Symbol};
use super::{Pass, ReasonKind};
use crate::program::BinaryOp;
use crate::program::access::{Effect, KeyReach, Node, Reach, TableAccess};
use crate::program::code::OperationKind;
use crate::program::ir::{IntoRule, Variable};
use crate::program::predicate::Term;
use crate::program::schema::{ColumnType, Table};
use crate::solve::{Bool, Int};

/// More rows than that are not counted.
const ROWS_MAX: i128 = 1_000_000;
/// Functions that make one row of any number of rows.
const AGGREGATES: &[&str] = &["count", "sum", "min", "max", "avg"];

/// The rows of an open cursor.
#[derive(Debug)]
pub(super) struct Cursor {
    answer: Answer,
    /// How many rows have been fetched.
    fetched: Int,
    /// How often it was fetched from.
    fetches: i128,
}

/// What a statement answers.
#[derive(Debug, Clone)]
struct Answer {
    /// How many rows there are, or were changed.
    count: Int,
    /// The columns of the first row.
    values: Vec<Value>,
}

/// A column of an answer.
#[derive(Debug, Clone)]
enum Value {
    Known(Symbol),
    /// Nothing is known of it but, perhaps, its type.
    Any(Option<ColumnType>),
}

/// What a statement does to the focus row of one table.
#[derive(Debug, Clone, Copy)]
struct Touch {
    /// The key leads there; without a key, the same as `hit`.
    aimed: Bool,
    /// It is there, and all conditions are met.
    hit: Bool,
    /// It is the only row that can be meant, if it is aimed at.
    unique: bool,
}

impl Machine<'_> {
    /// Executes a statement or opens a cursor.
    pub(super) fn execute(&mut self, node: &Node, pass: Option<&Pass>, place: &Place) {
        let tables = &node.access.tables;
        tables.iter().for_each(|access| self.touch(&access.table, place));
        let since = self.chances.len();
        let touches: Vec<Touch> = tables.iter().map(|access| self.aim(access, pass, place)).collect();
        let before = self.answer(node, &touches);
        for (at, (access, touch)) in tables.iter().zip(&touches).enumerate() {
            match access.effect {
                Effect::Read => {}
                Effect::Update => self.update(access, at, touch, tables.len() > 1, place),
                Effect::Delete => self.delete(access, touch),
                Effect::Insert => self.insert(access, pass, place),
                Effect::Upsert => self.upsert(access, touch),
            }
        }
        self.meet(since, place);
        // RETURNING tells the new values.
        let writes = tables.iter().any(|access| access.effect != Effect::Read);
        let answer = if writes { Answer { count: before.count, ..self.answer(node, &touches) } } else { before };
        match &node.operation.kind {
            OperationKind::Open(cursor, _) => {
                let fetched = self.symbols.problem.constant(0);
                self.counted(place.instance, answer.count);
                self.locals[place.instance].cursors.insert(cursor.clone(), Cursor { answer, fetched, fetches: 0 });
            }
            OperationKind::Send(sql) => {
                self.counted(place.instance, answer.count);
                if let Some(into) = sql.into_clause() {
                    self.assign(&answer, &into.variables, into.rule, place);
                }
            }
            _ => {}
        }
    }

    fn counted(&mut self, instance: usize, count: Int) {
        let zero = self.symbols.problem.constant(0);
        self.locals[instance].count = count;
        self.locals[instance].found = self.symbols.problem.less(zero, count);
    }

    /// Whether an access touches the focus row; demands it, if it is to.
    fn aim(&mut self, access: &TableAccess, pass: Option<&Pass>, place: &Place) -> Touch {
        let present = self.row(&access.table).present;
        let matches = self.predicate(&access.predicate, None, place).is_true;
        let hit = self.symbols.problem.and(present, matches);
        let touch = match &access.reach {
            Reach::Key(key) => Touch { aimed: self.aimed(&access.table, key, place), hit, unique: is_single(key) },
            Reach::Nothing | Reach::Scan => Touch { aimed: hit, hit, unique: false },
        };
        if access.effect != Effect::Insert {
            self.chance(access, matches, pass, place);
        }
        touch
    }

    /// A statement may, or has to, touch a focus row.
    fn chance(&mut self, access: &TableAccess, meets: Bool, pass: Option<&Pass>, place: &Place) {
        let table = access.table.clone();
        let demanded = pass.is_some_and(|pass| pass.meets.contains(&table));
        self.chances.push(Chance { instance: place.instance, table, meets, demanded });
    }

    /// Demands of the chances since then that one of those for each table comes true, if it has to.
    fn meet(&mut self, since: usize, place: &Place) {
        let mut wanted: BTreeMap<String, Bool> = BTreeMap::new();
        for chance in self.chances[since..].iter().filter(|chance| chance.demanded) {
            let any = wanted.entry(chance.table.clone()).or_insert(self.symbols.never);
            *any = self.symbols.problem.or(*any, chance.meets);
        }
        for (table, meets) in wanted {
            self.symbols.demand(meets, place, ReasonKind::Meets(table));
        }
    }

    fn aimed(&mut self, table: &str, key: &KeyReach, place: &Place) -> Bool {
        let mut aimed = self.symbols.always;
        for (column, terms) in &key.columns {
            let own = self.column(table, column);
            let mut one = self.symbols.never;
            for term in terms {
                let term = self.term(term, None, place);
                let same = self.symbols.compare(BinaryOp::Equal, &own, &term).is_true;
                one = self.symbols.problem.or(one, same);
            }
            aimed = self.symbols.problem.and(aimed, one);
        }
        aimed
    }

    /// The answer of a statement, with the rows as they are.
    fn answer(&mut self, node: &Node, touches: &[Touch]) -> Answer {
        let tables = &node.access.tables;
        // A write is about its own rows; a query, about rows of all tables together.
        let target = tables.iter().position(|access| access.effect != Effect::Read);
        let touches = target.map_or(touches, |at| std::slice::from_ref(&touches[at]));
        let aimed = self.symbols.problem.all_of(touches.iter().map(|touch| touch.aimed));
        let hit = self.symbols.problem.all_of(touches.iter().map(|touch| touch.hit));
        let unique = !touches.is_empty() && touches.iter().all(|touch| touch.unique);
        let all = Touch { aimed, hit, unique };
        let outputs = &node.access.outputs;
        let is_aggregate = |name: &Option<String>| name.as_deref().is_some_and(|name| AGGREGATES.contains(&name));
        let aggregates = target.is_none() && outputs.iter().any(|output| is_aggregate(&output.name));
        let matching = self.matching(node, &all);
        let mut values = Vec::new();
        for output in outputs {
            values.push(match (output.origins.first(), output.name.as_deref()) {
                (Some(element), _) if output.is_copy => {
                    let column = self.question.schema.type_of(element).cloned();
                    let value = self.column(&element.table, &element.column);
                    self.read_value(value, column, &all)
                }
                (_, Some("count")) => Value::Known(self.symbols.whole(matching)),
                _ => Value::Any(None),
            });
        }
        let maybe_aggregate = target.is_none() && !outputs.is_empty() && outputs.iter().all(|output| !output.is_copy);
        let count = match () {
            () if aggregates => self.symbols.problem.constant(1),
            () if maybe_aggregate && !tables.is_empty() => {
                // With a row, both an aggregate and an expression have one.
                let one = self.symbols.problem.constant(1);
                let certain = if unique { hit } else { self.symbols.never };
                let open = self.symbols.problem.not(certain);
                let other = self.symbols.count_stand_in(if unique { 1 } else { ROWS_MAX }, open);
                self.symbols.problem.choose(certain, one, other)
            }
            () => matching,
        };
        Answer { count, values }
    }

    /// The value of a column in the first row of an answer.
    fn read_value(&mut self, value: Symbol, column: Option<ColumnType>, touch: &Touch) -> Value {
        match column {
            Some(column) if touch.unique => {
                let elsewhere = self.symbols.problem.not(touch.aimed);
                let other = self.symbols.stand_in("another row", &column, elsewhere);
                Value::Known(self.symbols.choose(touch.aimed, &value, &other))
            }
            column => Value::Any(column),
        }
    }

    /// How many rows match the conditions of a statement.
    fn matching(&mut self, node: &Node, touch: &Touch) -> Int {
        let tables = &node.access.tables;
        let (zero, one) = (self.symbols.problem.constant(0), self.symbols.problem.constant(1));
        if let Some(insert) = tables.iter().find(|access| access.effect == Effect::Insert) {
            return match tables.len() {
                1 => self.symbols.problem.constant(rows_of(insert).len() as i128),
                _ => self.symbols.count_stand_in(ROWS_MAX, self.symbols.always),
            };
        }
        if tables.is_empty() {
            return if node.access.outputs.is_empty() { zero } else { one };
        }
        let is_upsert = tables.iter().any(|access| access.effect == Effect::Upsert);
        if touch.unique && !is_upsert {
            let found = self.symbols.problem.choose(touch.hit, one, zero);
            let elsewhere = self.symbols.problem.not(touch.aimed);
            let other = self.symbols.count_stand_in(1, elsewhere);
            return self.symbols.problem.choose(touch.aimed, found, other);
        }
        // The focus row is one of them; of the others nothing is known.
        let others = self.symbols.count_stand_in(ROWS_MAX, self.symbols.always);
        let own = self.symbols.problem.choose(touch.hit, one, zero);
        self.symbols.problem.plus(own, others)
    }

    /// Assigns the first row of an answer.
    fn assign(&mut self, answer: &Answer, variables: &[Variable], rule: IntoRule, place: &Place) {
        let (zero, one) = (self.symbols.problem.constant(0), self.symbols.problem.constant(1));
        let found = self.symbols.problem.less(zero, answer.count);
        if rule == IntoRule::Strict {
            self.symbols.demand(found, place, ReasonKind::Succeeds);
        }
        if rule != IntoRule::First {
            let single = self.symbols.problem.at_most(answer.count, one);
            self.symbols.demand(single, place, ReasonKind::Succeeds);
        }
        for (at, variable) in variables.iter().enumerate() {
            let value = self.value(answer.values.get(at), variable, place.instance);
            let without = match rule {
                IntoRule::Keep => self.variable(place.instance, &variable.name),
                _ => self.symbols.null(),
            };
            let value = self.symbols.choose(found, &value, &without);
            self.locals[place.instance].variables.insert(variable.name.clone(), value);
        }
    }

    /// A column of an answer, for a variable; if nothing is known of it, it has the variable's type.
    fn value(&mut self, value: Option<&Value>, variable: &Variable, instance: usize) -> Symbol {
        let column = match value {
            Some(Value::Known(symbol)) => return *symbol,
            Some(Value::Any(column)) => column.clone(),
            None => None,
        };
        let column = column.or_else(|| self.locals[instance].types.get(&variable.name).cloned());
        match column {
            Some(column) => self.symbols.stand_in(&variable.name, &column, self.symbols.always),
            None => self.symbols.opaque(),
        }
    }

    /// The next row of a cursor: the first one may be the focus, of others nothing is known.
    pub(super) fn fetch(&mut self, cursor: &str, variables: &[Variable], instance: usize) {
        let Some(mut open) = self.locals[instance].cursors.remove(cursor) else { return };
        let problem = &mut self.symbols.problem;
        let (before, zero, one) = (problem.constant(open.fetches), problem.constant(0), problem.constant(1));
        let found = problem.less(before, open.answer.count);
        let count = problem.choose(found, one, zero);
        open.fetched = problem.plus(open.fetched, count);
        for (at, variable) in variables.iter().enumerate() {
            let column = open.answer.values.get(at).filter(|_| open.fetches == 0);
            let value = self.value(column, variable, instance);
            let without = self.variable(instance, &variable.name);
            let value = self.symbols.choose(found, &value, &without);
            self.locals[instance].variables.insert(variable.name.clone(), value);
        }
        open.fetches += 1;
        self.counted(instance, count);
        self.locals[instance].cursors.insert(cursor.to_string(), open);
    }

    /// Behind a loop over rows, `FOUND()` is whether there was one.
    pub(super) fn close(&mut self, cursor: &str, ends_loop: bool, instance: usize) {
        let closed = self.locals[instance].cursors.remove(cursor);
        if let Some(closed) = closed.filter(|_| ends_loop) {
            self.counted(instance, closed.fetched);
        }
    }

    fn update(&mut self, access: &TableAccess, at: usize, touch: &Touch, joins: bool, place: &Place) {
        let Some(definition) = self.question.schema.table(&access.table) else { return };
        let place = Place { span: access.span, guard: touch.hit, ..*place };
        let mut row = self.row(&access.table).clone();
        let missed = self.symbols.problem.not(touch.hit);
        // A join may find the row together with rows that are not the focus.
        let mentions_others = access.predicate.columns().iter().any(|column| column.access != at);
        for assigned in &access.assigned {
            let Some(column) = definition.column(&assigned.column) else { continue };
            let value = self.term(&assigned.value, None, &place);
            let value = self.stored(&access.table, column, &value, &place);
            let mut old = self.column(&access.table, &assigned.column);
            if joins && mentions_others {
                old = self.symbols.stand_in(&assigned.column, &column.column_type, missed);
            }
            let value = self.symbols.choose(touch.hit, &value, &old);
            row.columns.insert(assigned.column.clone(), value);
        }
        self.demand_checks(definition, &row, &place);
        self.rows.current.insert(access.table.clone(), row);
    }

    fn delete(&mut self, access: &TableAccess, touch: &Touch) {
        let mut row = self.row(&access.table).clone();
        let missed = self.symbols.problem.not(touch.hit);
        row.present = self.symbols.problem.and(row.present, missed);
        self.rows.current.insert(access.table.clone(), row);
        // Keys that were taken may be free again.
        self.inserted.remove(&access.table);
    }

    /// A row that is there may have changed in any way; one that is not there may be now.
    fn upsert(&mut self, access: &TableAccess, touch: &Touch) {
        let Some(definition) = self.question.schema.table(&access.table) else { return };
        let mut row = self.row(&access.table).clone();
        row.present = self.symbols.problem.or(row.present, touch.aimed);
        for column in definition.columns.iter().filter(|column| !definition.primary_key.contains(&column.name)) {
            let changed = self.symbols.stand_in(&column.name, &column.column_type, touch.aimed);
            let old = self.column(&access.table, &column.name);
            let value = self.symbols.choose(touch.aimed, &changed, &old);
            row.columns.insert(column.name.clone(), value);
        }
        self.rows.current.insert(access.table.clone(), row);
    }

    fn insert(&mut self, access: &TableAccess, pass: Option<&Pass>, place: &Place) {
        let Some(definition) = self.question.schema.table(&access.table) else { return };
        let place = Place { span: access.span, ..*place };
        for values in rows_of(access) {
            let mut columns = BTreeMap::new();
            for column in &definition.columns {
                let assigned = values.iter().find(|(name, _)| **name == column.name);
                let default = column.default.as_ref().map(|default| default.value.clone());
                let value = match (assigned, default) {
                    (Some((_, term)), _) => {
                        let value = self.term(term, None, &place);
                        self.stored(&access.table, column, &value, &place)
                    }
                    (None, Some(Some(constant))) => self.symbols.constant(&constant),
                    (None, None) if column.nullable => self.symbols.null(),
                    (None, _) => self.symbols.stand_in(&column.name, &column.column_type, self.symbols.always),
                };
                columns.insert(column.name.clone(), value);
            }
            let row = Row { present: self.symbols.always, columns };
            self.demand_checks(definition, &row, &place);
            self.refer(definition, &row, &place);
            self.resemble(&access.table, &row);
            let named: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
            self.add(access, definition, &row, &named, pass, &place);
        }
    }

    /// A new row should be found by those who look for the focus row.
    fn resemble(&mut self, table: &str, row: &Row) {
        for column in self.tested(table) {
            let Some(new) = row.columns.get(&column).copied() else { continue };
            let old = self.column(table, &column);
            let same = self.symbols.compare(BinaryOp::Equal, &new, &old).is_true;
            self.links.push(same);
        }
    }

    /// The columns that some statement chooses rows of a table by.
    fn tested(&self, table: &str) -> BTreeSet<String> {
        let nodes = self.question.instances.iter().flat_map(|instance| &instance.access.nodes);
        let accesses = nodes.flat_map(|node| &node.access.tables).filter(|access| access.table == table);
        accesses.flat_map(|access| access.tests.iter().cloned()).collect()
    }

    /// Adds a row. Its keys must be free; it may be the focus, if that is not there.
    fn add(
        &mut self,
        access: &TableAccess,
        definition: &Table,
        row: &Row,
        named: &[&str],
        pass: Option<&Pass>,
        place: &Place,
    ) {
        let focus = self.row(&access.table).clone();
        let keeps = || ReasonKind::Keeps(access.table.clone());
        let mut is_focus = self.symbols.never;
        // Keys that the server numbers are always new.
        for key in definition.keys().filter(|key| key.iter().all(|column| named.contains(&column.as_str()))) {
            let new: Vec<Symbol> = key.iter().map(|column| row.columns[column]).collect();
            let old: Vec<Symbol> = key.iter().map(|column| focus.columns[column]).collect();
            let same = self.same(&new, &old);
            let both = self.symbols.problem.and(focus.present, same);
            let free = self.symbols.problem.not(both);
            self.symbols.demand(free, place, keeps());
            if key == definition.primary_key.as_slice() {
                is_focus = same;
                for other in self.inserted.get(&access.table).cloned().unwrap_or_default() {
                    let same = self.same(&new, &other);
                    let free = self.symbols.problem.not(same);
                    self.symbols.demand(free, place, keeps());
                }
                self.inserted.entry(access.table.clone()).or_default().push(new);
            }
        }
        if self.question.may_be_absent {
            self.chance(access, is_focus, pass, place);
        }
        let columns = focus.columns.iter().map(|(name, old)| {
            let value = self.symbols.choose(is_focus, &row.columns[name], old);
            (name.clone(), value)
        });
        let columns = columns.collect();
        let present = self.symbols.problem.or(focus.present, is_focus);
        self.rows.current.insert(access.table.clone(), Row { present, columns });
    }

    fn same(&mut self, a: &[Symbol], b: &[Symbol]) -> Bool {
        a.iter().zip(b).fold(self.symbols.always, |all, (a, b)| {
            let one = self.symbols.compare(BinaryOp::Equal, a, b).is_true;
            self.symbols.problem.and(all, one)
        })
    }
}

/// Whether a key has one value for each column: then it leads to one row at most.
fn is_single(key: &KeyReach) -> bool {
    key.columns.iter().all(|(_, terms)| terms.len() == 1)
}

/// The rows of an INSERT, each as columns with values.
fn rows_of(access: &TableAccess) -> Vec<Vec<(&String, &Term)>> {
    let mut rows: Vec<Vec<_>> = Vec::new();
    for assigned in &access.assigned {
        match rows.last_mut() {
            Some(row) if row.iter().all(|(name, _)| *name != &assigned.column) => {
                row.push((&assigned.column, &assigned.value));
            }
            _ => rows.push(vec![(&assigned.column, &assigned.value)]),
        }
    }
    rows
}
