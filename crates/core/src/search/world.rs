//! A small database whose rows are unknowns.
//!
//! Each table has a few *slots*: rows that may be there at the start or not, with a key that never changes and columns
//! that statements change. There are no other rows, so what a query answers, also `COUNT(*)` or `MIN`, is a term over the
//! slots and nothing has to be guessed.
//!
//! ```text
//!   new_order   slot 1: there?  w=?  d=?  o=?        MIN(o) WHERE d = :d
//!               slot 2: there?  w=?  d=?  o=?        = the lesser of those that are there and whose d is :d
//! ```
//!
//! A new row takes the slot whose key it has. The rows of a table without a key are told apart by who inserted them: each
//! INSERT of a call has a slot of its own there.

use std::collections::{BTreeMap, BTreeSet};

use super::feasible::Values;
use super::ground::Ground;
use crate::program::access::{Effect, TableAccess};
use crate::program::ir::{BinaryOp, Span};
use crate::program::paths::expression::Scope;
use crate::program::paths::symbol::{Place, Shape, Symbol, Symbols};
use crate::program::paths::{ReasonKind, Way};
use crate::program::schema::{Check, Schema, Table, advisory};
use crate::solve::Bool;
use crate::value::Value;

use super::scene::Scene;

/// Rows that a table with rows has beside those that are inserted.
const ROWS_EACH: usize = 2;

/// Advisory locks of one kind, at most.
const LOCKS_MAX: usize = 6;

/// The tables that some calls touch.
#[derive(Debug)]
pub(super) struct World<'a> {
    pub(super) tables: Vec<Slots<'a>>,
    positions: BTreeMap<&'a str, usize>,
}

/// The rows that a table may have.
#[derive(Debug)]
pub(super) struct Slots<'a> {
    pub(super) definition: &'a Table,
    /// The columns that matter, by name.
    pub(super) columns: Vec<&'a str>,
    /// The positions of the key among them; empty if rows have none that is known before they are inserted.
    pub(super) key: Vec<usize>,
    /// As they are at the start.
    pub(super) rows: Vec<Row>,
    /// For a table without a key: whose INSERT, and which of its INSERTs, the slots from `owned` on belong to.
    pub(super) owners: Vec<(usize, usize)>,
    /// The first slot with an owner.
    pub(super) owned: usize,
}

/// A row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    /// Whether it is there.
    pub(super) present: Bool,
    /// By the position of the column.
    pub(super) columns: Vec<Symbol>,
}

impl<'a> World<'a> {
    /// A world for calls that follow these ways.
    pub(super) fn new(ground: &Ground<'a>, ways: &[&Way], symbols: &mut Symbols) -> World<'a> {
        let mut world = World { tables: Vec::new(), positions: BTreeMap::new() };
        let tables = tables_of(ground);
        for name in &tables {
            let Some(definition) = ground.schema.table(name) else { continue };
            let columns = columns_of(ground, definition);
            let mut slots = Slots::new(definition, columns);
            let is_referred = tables.iter().any(|other| refers(ground.schema, other, &definition.name));
            slots.fill(ground, ways, is_referred, symbols);
            world.positions.insert(definition.name.as_str(), world.tables.len());
            world.tables.push(slots);
        }
        world.demand_constraints(ground.schema, symbols);
        world
    }

    /// A world without unknowns: the rows that were found, and the slots that new rows will take.
    pub(super) fn settled(ground: &Ground<'a>, values: &Values, symbols: &mut Symbols) -> World<'a> {
        let mut world = World { tables: Vec::new(), positions: BTreeMap::new() };
        for name in tables_of(ground) {
            let Some(definition) = ground.schema.table(&name) else { continue };
            let mut slots = Slots::new(definition, columns_of(ground, definition));
            for (is_present, row) in values.slots.get(&definition.name).into_iter().flatten() {
                let row = slots.given_row(row, symbols);
                slots.rows.push(Row { present: symbols.problem.truth(*is_present), ..row });
            }
            if let Some((owned, owners)) = values.owners.get(&definition.name) {
                (slots.owned, slots.owners) = (*owned, owners.clone());
            }
            world.positions.insert(definition.name.as_str(), world.tables.len());
            world.tables.push(slots);
        }
        world
    }

    /// The position of a table.
    pub(super) fn table(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    /// What holds of all rows at the start: keys differ, checks hold, references lead somewhere.
    fn demand_constraints(&self, schema: &Schema, symbols: &mut Symbols) {
        for slots in &self.tables {
            let place = start(symbols, slots.definition.span);
            slots.demand_order(symbols, &place);
            slots.demand_unique(symbols, &place);
            for row in &slots.rows {
                let broken = slots.breaks_checks(row, symbols, &place, |_| true);
                let fine = symbols.problem.not(broken);
                let holds = implies(symbols, row.present, fine);
                symbols.demand(holds, &place, keeps(slots));
                for key in &slots.definition.foreign_keys {
                    let Some(parent) = schema.table(&key.table).and_then(|table| self.table(&table.name)) else {
                        continue;
                    };
                    let refers = self.refers(slots, row, key, &self.tables[parent].rows, symbols);
                    let holds = implies(symbols, row.present, refers);
                    symbols.demand(holds, &place, keeps(slots));
                }
            }
        }
    }

    /// Whether a row's reference leads to one of these rows, or is NULL.
    pub(super) fn refers(
        &self,
        slots: &Slots<'_>,
        row: &Row,
        key: &crate::program::schema::ForeignKey,
        parents: &[Row],
        symbols: &mut Symbols,
    ) -> Bool {
        let Some(parent) = self.table(&key.table).map(|at| &self.tables[at]) else { return symbols.always };
        let own: Option<Vec<Symbol>> = key.columns.iter().map(|column| slots.value(row, column)).collect();
        let Some(own) = own else { return symbols.always };
        let mut leads = own.iter().fold(symbols.never, |any, value| symbols.problem.or(any, value.null));
        for other in parents {
            let there: Option<Vec<Symbol>> = key.referred.iter().map(|column| parent.value(other, column)).collect();
            let Some(there) = there else { return symbols.always };
            let same = same(symbols, &own, &there);
            let is_there = symbols.problem.and(other.present, same);
            leads = symbols.problem.or(leads, is_there);
        }
        leads
    }
}

impl<'a> Slots<'a> {
    fn new(definition: &'a Table, columns: Vec<&'a str>) -> Slots<'a> {
        let is_numbered = |name: &String| definition.column(name).is_some_and(|column| column.numbered);
        let key = match definition.primary_key.iter().any(is_numbered) {
            true => Vec::new(),
            false => definition.primary_key.iter().filter_map(|name| position(&columns, name)).collect(),
        };
        Slots { definition, columns, key, rows: Vec::new(), owners: Vec::new(), owned: 0 }
    }

    fn fill(&mut self, ground: &Ground<'a>, ways: &[&Way], is_referred: bool, symbols: &mut Symbols) {
        let inserts = inserts_of(ground, ways, &self.definition.name);
        if advisory::find(&self.definition.name).is_some() {
            let count = ground.calls.iter().flat_map(|called| &called.access.nodes);
            let count =
                count.flat_map(|node| &node.access.tables).filter(|one| one.table == self.definition.name).count();
            (0..count.min(LOCKS_MAX)).for_each(|_| self.push_unknown(None, symbols));
            self.owned = self.rows.len();
            return;
        }
        match ground.initial.and_then(|rows| rows.get(&self.definition.name)) {
            Some(rows) => rows.iter().for_each(|row| {
                let row = self.given_row(row, symbols);
                self.rows.push(row);
            }),
            None if ground.initial.is_some() => {}
            None if self.is_only_inserted(ground) && !(is_referred && ground.references) => {}
            None => (0..ROWS_EACH).for_each(|_| self.push_unknown(None, symbols)),
        }
        self.owned = self.rows.len();
        for (instance, count) in inserts.into_iter().enumerate() {
            for at in 0..count {
                self.push_unknown(Some(symbols.never), symbols);
                if self.key.is_empty() {
                    self.owners.push((instance, at));
                }
            }
        }
    }

    /// A row whose columns are not known; whether it is there neither, unless that is said.
    fn push_unknown(&mut self, present: Option<Bool>, symbols: &mut Symbols) {
        let name = |column: &str| format!("{}.{}.{column}", self.definition.name, self.rows.len() + 1);
        let present = present.unwrap_or_else(|| symbols.problem.boolean(name("there")));
        let mut columns = Vec::new();
        for column in &self.columns {
            let is_key = self.definition.primary_key.iter().any(|key| key == column);
            columns.push(match self.definition.column(column) {
                Some(known) if !known.generated => {
                    symbols.unknown(&name(column), &known.column_type, known.nullable && !is_key)
                }
                _ => symbols.opaque(),
            });
        }
        self.rows.push(Row { present, columns });
    }

    fn given_row(&self, row: &BTreeMap<String, Value>, symbols: &mut Symbols) -> Row {
        let value = |column: &&str| symbols.constant(row.get(*column).unwrap_or(&Value::Null));
        let columns = self.columns.iter().map(value).collect();
        Row { present: symbols.always, columns }
    }

    /// Whether nobody ever looks at its rows: those that were there before do not matter.
    fn is_only_inserted(&self, ground: &Ground<'_>) -> bool {
        let nodes = ground.calls.iter().flat_map(|instance| &instance.access.nodes);
        let mut accesses = nodes.flat_map(|node| &node.access.tables).filter(|one| one.table == self.definition.name);
        accesses.all(|access| access.effect == Effect::Insert)
    }

    /// The value of a column of a row, if the column matters.
    pub(super) fn value(&self, row: &Row, column: &str) -> Option<Symbol> {
        position(&self.columns, column).map(|at| row.columns[at])
    }

    pub(super) fn key_of(&self, row: &Row) -> Vec<Symbol> {
        self.key.iter().map(|at| row.columns[*at]).collect()
    }

    /// Keys ascend, so that no two are the same and no two worlds differ only in the order of their rows. New rows have
    /// keys of their own, in any order.
    fn demand_order(&self, symbols: &mut Symbols, place: &Place) {
        if self.key.is_empty() {
            return;
        }
        let keys: Vec<Vec<Symbol>> = self.rows.iter().map(|row| self.key_of(row)).collect();
        for (at, key) in keys.iter().enumerate() {
            for (before, other) in keys[..at].iter().enumerate() {
                let both_first = at < self.owned && at == before + 1;
                let both_new = before >= self.owned;
                let holds = match () {
                    () if both_first || both_new => less_key(symbols, other, key),
                    () if at < self.owned => continue,
                    () => {
                        let same = same(symbols, other, key);
                        symbols.problem.not(same)
                    }
                };
                symbols.demand(holds, place, keeps(self));
            }
        }
    }

    /// No two rows that are there have the same unique key.
    fn demand_unique(&self, symbols: &mut Symbols, place: &Place) {
        for key in &self.definition.unique_keys {
            for (at, row) in self.rows[..self.owned].iter().enumerate() {
                let taken = self.is_taken(key.columns.as_slice(), row, &self.rows[..at], symbols);
                let free = symbols.problem.not(taken);
                let holds = implies(symbols, row.present, free);
                symbols.demand(holds, place, keeps(self));
            }
        }
    }

    /// Whether one of these rows is there and has the same key as a row.
    pub(super) fn is_taken(&self, key: &[String], row: &Row, others: &[Row], symbols: &mut Symbols) -> Bool {
        let of = |row: &Row| -> Option<Vec<Symbol>> { key.iter().map(|column| self.value(row, column)).collect() };
        let Some(own) = of(row) else { return symbols.never };
        let mut taken = symbols.never;
        for other in others {
            let Some(their) = of(other) else { continue };
            let same = same(symbols, &own, &their);
            let both = symbols.problem.and(other.present, same);
            taken = symbols.problem.or(taken, both);
        }
        taken
    }

    /// Whether a check of a row is false, one about such columns.
    pub(super) fn breaks_checks(
        &self,
        row: &Row,
        symbols: &mut Symbols,
        place: &Place,
        is_asked: impl Fn(&str) -> bool,
    ) -> Bool {
        let mut broken = symbols.never;
        let is_about = |check: &&Check| {
            let columns = check.predicate.columns();
            columns.is_empty() || columns.iter().any(|one| is_asked(&one.element.column))
        };
        for check in self.definition.checks.iter().filter(is_about) {
            let mut scene = Scene::of_row(symbols, self, row);
            let is_false = scene.predicate(&check.predicate, place).is_false;
            broken = symbols.problem.or(broken, is_false);
        }
        broken
    }
}

pub(super) fn position(columns: &[&str], name: &str) -> Option<usize> {
    columns.iter().position(|column| *column == name)
}

fn keeps(slots: &Slots<'_>) -> ReasonKind {
    ReasonKind::Keeps(slots.definition.name.clone())
}

/// A place before everything.
fn start(symbols: &Symbols, span: Span) -> Place {
    Place { instance: 0, span, guard: symbols.always }
}

pub(super) fn implies(symbols: &mut Symbols, condition: Bool, then: Bool) -> Bool {
    let not = symbols.problem.not(condition);
    symbols.problem.or(not, then)
}

/// Whether all values are the same, and none is NULL.
pub(super) fn same(symbols: &mut Symbols, a: &[Symbol], b: &[Symbol]) -> Bool {
    a.iter().zip(b).fold(symbols.always, |all, (a, b)| {
        let one = symbols.compare(BinaryOp::Equal, a, b).is_true;
        symbols.problem.and(all, one)
    })
}

/// Whether a key comes before another one.
fn less_key(symbols: &mut Symbols, a: &[Symbol], b: &[Symbol]) -> Bool {
    let mut before = symbols.never;
    for (a, b) in a.iter().zip(b).rev() {
        let less = less(symbols, a, b);
        let equal = symbols.compare(BinaryOp::Equal, a, b).is_true;
        let later = symbols.problem.and(equal, before);
        before = symbols.problem.or(less, later);
    }
    before
}

/// Whether a value comes before another one; NULL comes first, texts come in the order of their codes.
pub(super) fn less(symbols: &mut Symbols, a: &Symbol, b: &Symbol) -> Bool {
    let b_is_there = symbols.problem.not(b.null);
    let null_first = symbols.problem.and(a.null, b_is_there);
    let both_there = {
        let a_is_there = symbols.problem.not(a.null);
        symbols.problem.and(a_is_there, b_is_there)
    };
    let less = match (a.shape, b.shape) {
        (Shape::Code(a), Shape::Code(b)) => symbols.problem.less(a, b),
        (Shape::Opaque, _) | (_, Shape::Opaque) => symbols.never,
        _ => symbols.compare(BinaryOp::Less, a, b).is_true,
    };
    let less = symbols.problem.and(both_there, less);
    symbols.problem.or(null_first, less)
}

/// The tables that the calls touch; where foreign keys are enforced, with those that the rows that they write refer to.
fn tables_of(ground: &Ground<'_>) -> BTreeSet<String> {
    let nodes = ground.calls.iter().flat_map(|instance| &instance.access.nodes);
    let accesses: Vec<_> = nodes.flat_map(|node| &node.access.tables).collect();
    let mut tables: BTreeSet<String> = accesses.iter().map(|access| access.table.clone()).collect();
    let is_write = |access: &&&TableAccess| matches!(access.effect, Effect::Insert | Effect::Update | Effect::Upsert);
    let written = accesses.iter().filter(is_write).map(|access| access.table.clone());
    let mut open: Vec<String> = if ground.references { written.collect() } else { Vec::new() };
    while let Some(table) = open.pop().and_then(|name| ground.schema.table(&name)) {
        let parents = table.foreign_keys.iter().filter_map(|key| ground.schema.table(&key.table));
        for parent in parents.map(|parent| parent.name.clone()) {
            if tables.insert(parent.clone()) {
                open.push(parent);
            }
        }
    }
    tables
}

/// Whether rows of a table refer to those of another one.
fn refers(schema: &Schema, table: &str, to: &str) -> bool {
    schema.table(table).is_some_and(|table| table.foreign_keys.iter().any(|key| key.table == to))
}

/// The columns of a table that the calls touch, and those of its keys.
fn columns_of<'a>(ground: &Ground<'_>, table: &'a Table) -> Vec<&'a str> {
    let nodes = ground.calls.iter().flat_map(|instance| &instance.access.nodes);
    let accesses: Vec<_> = nodes.flat_map(|node| &node.access.tables).filter(|one| one.table == table.name).collect();
    let mut wanted: BTreeSet<&str> = BTreeSet::new();
    for access in accesses {
        wanted.extend(access.reads.iter().chain(&access.tests).map(String::as_str));
        wanted.extend(access.assigned.iter().map(|assigned| assigned.column.as_str()));
    }
    wanted.extend(table.keys().flatten().map(String::as_str));
    wanted.extend(table.foreign_keys.iter().flat_map(|key| &key.columns).map(String::as_str));
    // Of a check that is not understood, nobody knows what to put into its columns: best nothing.
    for check in table.checks.iter().filter(|check| check.predicate.is_understood()) {
        let columns = check.predicate.columns();
        wanted.extend(
            columns.into_iter().filter_map(|column| table.column(&column.element.column)).map(|c| c.name.as_str()),
        );
    }
    table.columns.iter().map(|column| column.name.as_str()).filter(|name| wanted.contains(name)).collect()
}

/// How many rows each instance inserts into a table on its way.
fn inserts_of(ground: &Ground<'_>, ways: &[&Way], table: &str) -> Vec<usize> {
    let of = |(instance, way): (&super::ground::Called<'_>, &&Way)| {
        let nodes = way.nodes.iter().filter_map(|node| instance.access.nodes.get(*node));
        let accesses = nodes.flat_map(|node| &node.access.tables).filter(|access| access.table == table);
        accesses.filter(|access| matches!(access.effect, Effect::Insert | Effect::Upsert)).count()
    };
    ground.calls.iter().zip(ways).map(of).collect()
}
