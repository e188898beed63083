//! Rows for tables, one after the other, each by a small search.
//!
//! A row is a list of *slots*: each foreign key is one (a row of the table that it refers to is taken, whole), and
//! so is each column that belongs to none. Slots are filled in order, the best candidate first; a check or a key
//! that is broken sends the search back. It gives up after [`STEPS_MAX`] steps and says which constraint stood in
//! the way.

use std::collections::{BTreeMap, BTreeSet};

use super::domain::Domain;
use super::order::{Plan, plan};
use super::samples::Samples;
use super::schema::{ForeignKey, Operand, Schema, Table, folded};
use super::{Shortfall, State, StateError, TableState};
use crate::generate::random::Random;
use crate::value::Value;

/// How many values the search for one row tries.
const STEPS_MAX: usize = 20_000;

/// Fills all tables so that every constraint holds. The same seed fills them the same way.
pub fn fill(schema: &Schema, samples: &Samples, seed: u64) -> Result<State, StateError> {
    let mut state = State::default();
    for (number, Plan { table, without }) in plan(schema)?.into_iter().enumerate() {
        let random = Random::new(seed, &[number as u64]);
        let mut filler = Filler::new(table, &without, samples, &state, random);
        let wanted = samples.rows_of(&table.name);
        while filler.rows.len() < wanted && filler.add_row() {}
        let (rows, reason) = (filler.rows, filler.obstacle);
        if rows.len() < wanted {
            let (made, reason) = (rows.len(), reason.unwrap_or_else(|| "no values are left".to_string()));
            let shortfall = Shortfall { table: table.name.clone(), wanted, made, reason };
            if made == 0 {
                return Err(StateError::NoRow(shortfall));
            }
            state.shortfalls.push(shortfall);
        }
        let columns = table.columns.iter().map(|column| column.name.clone()).collect();
        state.tables.push(TableState { name: table.name.clone(), columns, rows });
    }
    Ok(state)
}

/// What is decided at once.
#[derive(Debug, Clone)]
enum Slot {
    Column(usize),
    /// A foreign key, with the rows that it may refer to.
    Reference(Reference),
}

#[derive(Debug, Clone)]
struct Reference {
    columns: Vec<usize>,
    /// The values of the columns that are referred to, row by row; empty if it is left NULL.
    targets: Vec<Vec<Value>>,
    /// The columns that are referred to, if they are of the same table.
    own: Option<Vec<usize>>,
    nullable: bool,
}

type Row = Vec<Option<Value>>;

struct Filler<'t> {
    table: &'t Table,
    slots: Vec<Slot>,
    domains: Vec<Domain>,
    keys: Vec<(Vec<usize>, BTreeSet<Vec<Value>>)>,
    random: Random,
    rows: Vec<Vec<Value>>,
    steps: usize,
    /// How often each constraint sent the search for this row back.
    refusals: BTreeMap<String, usize>,
    obstacle: Option<String>,
}

impl<'t> Filler<'t> {
    fn new(table: &'t Table, without: &[usize], samples: &Samples, state: &State, random: Random) -> Filler<'t> {
        let rows = samples.rows_of(&table.name);
        let position = |name: &String| table.position(name);
        Filler {
            table,
            slots: slots(table, without, state),
            domains: table.columns.iter().map(|column| Domain::of(table, column, samples, rows)).collect(),
            keys: table.keys.iter().map(|key| (key.iter().filter_map(position).collect(), BTreeSet::new())).collect(),
            random,
            rows: Vec::new(),
            steps: 0,
            refusals: BTreeMap::new(),
            obstacle: None,
        }
    }

    /// Searches for one more row; says whether there is one.
    fn add_row(&mut self) -> bool {
        let mut row: Row = vec![None; self.table.columns.len()];
        (self.steps, self.refusals) = (0, BTreeMap::new());
        let found = self.search(&mut row, 0);
        if !found {
            let most = self.refusals.iter().max_by_key(|(_, count)| **count);
            self.obstacle = most.map(|(constraint, _)| constraint.clone());
            return false;
        }
        let row: Vec<Value> = row.into_iter().map(|value| value.unwrap_or(Value::Null)).collect();
        for (columns, taken) in &mut self.keys {
            taken.extend(key_of(columns, &row));
        }
        for (domain, value) in self.domains.iter_mut().zip(&row) {
            domain.appeared(value);
        }
        self.rows.push(row);
        true
    }

    fn search(&mut self, row: &mut Row, at: usize) -> bool {
        let Some(slot) = self.slots.get(at).cloned() else { return true };
        for (columns, values) in self.candidates(&slot, row) {
            self.steps += 1;
            if self.steps > STEPS_MAX {
                return false;
            }
            // Foreign keys may share columns: what an earlier one has decided stays.
            let fresh: Vec<usize> = columns.iter().copied().filter(|column| row[*column].is_none()).collect();
            let agrees = |(column, value): (&usize, &Value)| row[*column].as_ref().is_none_or(|it| it == value);
            if !columns.iter().zip(&values).all(agrees) {
                continue;
            }
            columns.iter().zip(values).for_each(|(column, value)| row[*column] = Some(value));
            if self.allows(row, &fresh) && self.search(row, at + 1) {
                return true;
            }
            fresh.into_iter().for_each(|column| row[column] = None);
        }
        false
    }

    /// What may be put into a slot, the best first.
    fn candidates(&mut self, slot: &Slot, row: &Row) -> Vec<(Vec<usize>, Vec<Value>)> {
        match slot {
            Slot::Column(column) => {
                let values = self.domains[*column].candidates(&mut self.random);
                values.into_iter().map(|value| (vec![*column], vec![value])).collect()
            }
            Slot::Reference(reference) => {
                let mut targets = reference.targets.clone();
                if let Some(own) = &reference.own {
                    let of = |row: &Vec<Value>| own.iter().map(|at| row[*at].clone()).collect();
                    targets.extend(self.rows.iter().map(of));
                }
                self.random.shuffle(&mut targets);
                let itself = reference.own.iter().filter_map(|own| own.iter().map(|at| row[*at].clone()).collect());
                targets.extend(itself);
                if reference.nullable {
                    targets.push(vec![Value::Null; reference.columns.len()]);
                }
                targets.into_iter().map(|values| (reference.columns.clone(), values)).collect()
            }
        }
    }

    /// Whether all constraints that concern these columns allow what is known of the row.
    fn allows(&mut self, row: &Row, fresh: &[usize]) -> bool {
        match self.refusal(row, fresh) {
            Some(constraint) => {
                *self.refusals.entry(constraint).or_default() += 1;
                false
            }
            None => true,
        }
    }

    fn refusal(&self, row: &Row, fresh: &[usize]) -> Option<String> {
        let value = |name: &str| self.table.position(name).and_then(|at| row[at].as_ref());
        for column in fresh {
            let column = &self.table.columns[*column];
            if !column.nullable && value(&column.name) == Some(&Value::Null) {
                return Some(format!("{} is NOT NULL", column.name));
            }
        }
        for check in &self.table.checks {
            let right = match &check.with {
                Operand::Constant(constant) => Some(constant),
                Operand::Column(name) => value(name),
            };
            if let (Some(left), Some(right)) = (value(&check.column), right)
                && !check.comparison.holds(left, right)
            {
                return Some(format!("CHECK ({check})"));
            }
        }
        for (columns, taken) in self.keys.iter().filter(|(columns, _)| fresh.iter().any(|it| columns.contains(it))) {
            let known: Option<Vec<Value>> = columns.iter().map(|at| row[*at].clone()).collect();
            if known.is_some_and(|known| taken.contains(&known.iter().map(folded).collect::<Vec<_>>())) {
                let names: Vec<&str> = columns.iter().map(|at| self.table.columns[*at].name.as_str()).collect();
                return Some(format!("the key ({})", names.join(", ")));
            }
        }
        None
    }
}

/// The slots of a table: what other tables decide, then columns, then what refers to the table itself.
fn slots(table: &Table, without: &[usize], state: &State) -> Vec<Slot> {
    let mut covered = BTreeSet::new();
    let (mut before, mut behind) = (Vec::new(), Vec::new());
    for (at, foreign) in table.foreign_keys.iter().enumerate() {
        let reference = reference(table, foreign, without.contains(&at), state);
        covered.extend(reference.columns.iter().copied());
        if reference.own.is_some() { &mut behind } else { &mut before }.push(Slot::Reference(reference));
    }
    let free = (0..table.columns.len()).filter(|column| !covered.contains(column)).map(Slot::Column);
    before.into_iter().chain(free).chain(behind).collect()
}

fn reference(table: &Table, foreign: &ForeignKey, is_left_null: bool, state: &State) -> Reference {
    let columns: Vec<usize> = foreign.columns.iter().filter_map(|name| table.position(name)).collect();
    let own = (foreign.table == table.name && !is_left_null)
        .then(|| foreign.referred.iter().filter_map(|name| table.position(name)).collect());
    let other = state.tables.iter().find(|it| it.name == foreign.table).filter(|_| !is_left_null);
    let targets = other.map(|other| other.values_of(&foreign.referred)).unwrap_or_default();
    let nullable = columns.iter().all(|column| table.columns[*column].nullable);
    Reference { columns, targets, own, nullable }
}

/// The values of a key as engines compare them; `None` if one is NULL, which equals nothing.
fn key_of(columns: &[usize], row: &[Value]) -> Option<Vec<Value>> {
    let values: Vec<Value> = columns.iter().map(|at| folded(&row[*at])).collect();
    (!values.contains(&Value::Null)).then_some(values)
}
