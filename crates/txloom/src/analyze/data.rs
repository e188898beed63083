//! Rows and arguments that make the calls of a schedule meet.
//!
//! If the application's files fill its tables, these rows are taken. If not, rows are made that keep all constraints
//! ([`txloom_core::program::state`]). One row of each table is the *focus*: parameters that choose rows choose it, those
//! that refer to a row refer to it, and those that become a key of a new row get a value that no row has.

use std::collections::{BTreeMap, BTreeSet};

use txloom_core::case::Call;
use txloom_core::dialect::Dialect;
use txloom_core::engine;
use txloom_core::program::access::{Place, ProcedureAccess};
use txloom_core::program::code::OperationKind;
use txloom_core::program::predicate::Element;
use txloom_core::program::schema::{ColumnType, Schema};
use txloom_core::program::state::schema::Kind;
use txloom_core::program::state::{self, Focus, Parameter, Samples, State, StateError, TableState};
use txloom_core::program::{ExprKind, Mode};
use txloom_core::value::Value;

use super::kinship::Kinship;
use super::project::Project;

/// Values that somebody wants: for columns of the focus, and for parameters of the instances.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wishes {
    /// By table and column.
    pub columns: BTreeMap<(String, String), Value>,
    /// By instance and parameter.
    pub arguments: BTreeMap<(usize, String), Value>,
}

impl Wishes {
    /// These wishes, and those of others where nothing is wished here.
    #[must_use]
    pub fn or(mut self, others: Wishes) -> Wishes {
        for (column, value) in others.columns {
            self.columns.entry(column).or_insert(value);
        }
        for (argument, value) in others.arguments {
            self.arguments.entry(argument).or_insert(value);
        }
        self
    }

    /// A good deal of everything that can be counted: where the last seat is sold, a lost update does not show.
    pub fn plenty(schema: &Schema, amount: i64) -> Wishes {
        let mut wishes = Wishes::default();
        for table in schema.tables.values().filter(|table| table.checks.is_empty()) {
            for column in &table.columns {
                let kind = Kind::from(&column.column_type);
                if matches!(kind, Kind::Integer | Kind::Decimal) && column.column_type.length.is_none_or(|it| it > 3) {
                    wishes.columns.insert((table.name.clone(), column.name.clone()), Value::int(amount));
                }
            }
        }
        wishes
    }
}

/// Rows to begin with.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// What creates and fills the tables.
    pub setup: Vec<String>,
    /// The rows.
    pub state: State,
    /// Those that calls shall meet on.
    pub focus: Focus,
}

/// Rows that are made up: they keep all constraints. Wishes are granted where a column is no part of a key.
pub fn invented(project: &Project, samples: &Samples, wishes: &Wishes, seed: u64) -> Result<Start, StateError> {
    let schema = state::Schema::from(&project.schema);
    let mut state = state::fill(&schema, samples, seed)?;
    let focus = Focus::choose(&schema, &state, seed)?;
    for ((table, column), value) in &wishes.columns {
        let (Some(row), Some(known)) = (focus.rows.get(table), schema.table(table)) else { continue };
        let is_key =
            known.keys.iter().chain(known.foreign_keys.iter().map(|key| &key.columns)).any(|key| key.contains(column));
        let filled = state.tables.iter_mut().find(|filled| filled.name == *table);
        let (Some(filled), Some(at), false) = (filled, known.position(column), is_key) else { continue };
        filled.rows[*row][at] = value.clone();
    }
    let mut setup = project.definitions.clone();
    setup.extend(state.inserts(&project.schema));
    Ok(Start { setup, state, focus })
}

/// Rows that the application's files bring, as a database holds them.
pub fn given(project: &Project, held: &engine::State, dialect: &dyn Dialect, seed: u64) -> Result<Start, StateError> {
    let table = |(name, result): (&String, &txloom_core::outcome::StatementResult)| TableState {
        name: name.rsplit('.').next().unwrap_or(name).to_lowercase(),
        columns: result.columns.iter().map(|column| column.name.to_lowercase()).collect(),
        rows: dialect.values(result),
    };
    let state = State { tables: held.tables.iter().map(table).collect(), shortfalls: Vec::new() };
    let focus = Focus::choose(&state::Schema::from(&project.schema), &state, seed)?;
    let setup = project.definitions.iter().chain(&project.rows).cloned().collect();
    Ok(Start { setup, state, focus })
}

/// What a parameter is for.
#[derive(Debug, Clone, PartialEq)]
struct Purpose {
    name: String,
    kind: Kind,
    /// The column whose rows it chooses, or refers to.
    chooses: Option<(String, String)>,
    /// The column of new rows that it identifies.
    names_new: Option<(String, String)>,
}

/// A call of a procedure that meets others on the focus.
pub fn call(
    project: &Project,
    (procedure, instance): (usize, usize),
    start: &Start,
    wishes: &Wishes,
    seed: u64,
) -> Call {
    let purposes = purposes(project, procedure);
    let parameter = |purpose: &Purpose| Parameter {
        name: purpose.name.clone(),
        kind: purpose.kind.clone(),
        chooses: purpose.chooses.clone(),
    };
    let parameters: Vec<Parameter> = purposes.iter().map(parameter).collect();
    let values = state::inputs(&start.state, &start.focus, &parameters, seed.wrapping_mul(2) + instance as u64);
    let argument = |(purpose, value): (&Purpose, Value)| {
        let wished = wishes.arguments.get(&(instance, purpose.name.clone()));
        let fresh = purpose.names_new.as_ref().filter(|_| purpose.chooses.is_none());
        let fresh = fresh.map(|(table, column)| fresh_value(&start.state, table, column, &purpose.kind, instance));
        // What chooses rows must meet the focus, whatever it is.
        let value = match &purpose.chooses {
            Some(_) => value,
            None => wished.cloned().or(fresh).unwrap_or(value),
        };
        (purpose.name.clone(), value)
    };
    let name = project.program.procedures[procedure].name.clone();
    Call { procedure: name, arguments: purposes.iter().zip(values).map(argument).collect() }
}

fn purposes(project: &Project, procedure: usize) -> Vec<Purpose> {
    let (program, access) = (&project.program.procedures[procedure], &project.accesses[procedure]);
    let kinship = Kinship::of(&project.accesses, &project.schema);
    let given = program.parameters.iter().filter(|parameter| parameter.mode != Mode::Out);
    given
        .map(|parameter| {
            let names = names_of(access, &parameter.name);
            let places = Places::of(access, &names);
            purpose(&project.schema, &kinship, &parameter.name, &parameter.type_name, &places)
        })
        .collect()
}

/// The variables that hold a parameter's value, unchanged: itself, and those that it is assigned to.
fn names_of(access: &ProcedureAccess, parameter: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::from([parameter.to_string()]);
    for node in &access.nodes {
        if let OperationKind::Assign(variable, value) = &node.operation.kind
            && matches!(&value.kind, ExprKind::Variable(name) if names.contains(name))
        {
            names.insert(variable.name.clone());
        }
    }
    names
}

/// Where the value of a parameter goes.
struct Places<'a> {
    /// The columns that it is compared with.
    tested: Vec<&'a Element>,
    /// The columns that it becomes a value of.
    filled: Vec<&'a Element>,
}

impl<'a> Places<'a> {
    fn of(access: &'a ProcedureAccess, names: &BTreeSet<String>) -> Places<'a> {
        let mut places = Places { tested: Vec::new(), filled: Vec::new() };
        let uses = access.nodes.iter().flat_map(|node| &node.uses);
        for used in uses.filter(|used| names.contains(&used.variable.name)) {
            match &used.place {
                Place::Test(elements) => places.tested.extend(elements),
                Place::Value(element) => places.filled.push(element),
                Place::Other => {}
            }
        }
        places
    }
}

fn purpose(schema: &Schema, kinship: &Kinship, name: &str, type_name: &str, places: &Places<'_>) -> Purpose {
    let Places { tested, filled } = places;
    let pair = |element: &Element| (element.table.clone(), element.column.clone());
    let decided = |element: &Element| kinship.deciding(&pair(element)).cloned();
    let is_key = |element: &Element| {
        schema.table(&element.table).is_some_and(|table| table.keys().any(|key| key.contains(&element.column)))
    };
    let refers = |element: &Element| {
        let keys = schema.table(&element.table).into_iter().flat_map(|table| &table.foreign_keys);
        keys.into_iter().any(|key| key.columns.contains(&element.column))
    };
    let names_new = filled.iter().find(|element| is_key(element) && !refers(element)).map(|element| pair(element));
    // What becomes the key of a new row is new; what others look for is what they look for.
    let met = if names_new.is_some() { None } else { filled.iter().find_map(|element| decided(element)) };
    let referred = filled.iter().filter(|element| refers(element)).find_map(|element| decided(element));
    let chooses = tested.iter().find_map(|element| decided(element)).or(referred).or(met);
    let of_column = tested.first().or(filled.first()).and_then(|element| schema.type_of(element));
    let kind = of_column.map_or_else(|| Kind::from(&ColumnType::parse(type_name)), Kind::from);
    Purpose { name: name.to_string(), kind, chooses, names_new }
}

/// A value that no row has in a column, another one for each instance.
fn fresh_value(state: &State, table: &str, column: &str, kind: &Kind, instance: usize) -> Value {
    let found = state.tables.iter().find(|held| held.name == table);
    let at = found.and_then(|held| held.columns.iter().position(|name| name == column));
    let values = found.zip(at).map(|(held, at)| held.rows.iter().map(|row| row[at].clone()).collect::<Vec<_>>());
    let values = values.unwrap_or_default();
    let most = values.iter().filter_map(|value| value.to_string().parse::<i64>().ok()).max();
    let number = most.unwrap_or(0) + 1 + instance as i64;
    match kind {
        Kind::Integer | Kind::Decimal => Value::int(number),
        _ => state::fresh(kind, &values, instance).unwrap_or_else(|| Value::Text(format!("new {number}"))),
    }
}
