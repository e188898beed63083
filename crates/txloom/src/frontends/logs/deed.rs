//! What a template does to single rows: enough to follow the values of a log from one statement to the next.
//!
//! ```text
//!   SELECT stock FROM items WHERE id = ∎0            reads   items[∎0]: stock
//!   UPDATE items SET stock = ∎0 WHERE id = ∎1        writes  items[∎1]: stock = ∎0
//!   UPDATE items SET stock = 0                       may write anything in items
//! ```

use txloom_core::program::BinaryOp;
use txloom_core::program::access::{Access, Effect, Place, Reach, TableAccess};
use txloom_core::program::predicate::{Element, Term};
use txloom_core::program::schema::{Schema, TypeKind};

/// What a template does.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum Deed {
    /// It touches no row that can be named.
    #[default]
    Nothing,
    /// It returns columns of the row with that key.
    Read {
        /// The row.
        row: Row,
        /// The columns that it returns, by position in their table; `None` for what is computed.
        outputs: Vec<Option<usize>>,
    },
    /// It returns sums, counts and the like, one row of them.
    Aggregate {
        /// The table and the column that each is computed over, by position; `None` if it is not a column.
        over: Vec<Option<(usize, usize)>>,
    },
    /// It changes columns of the row with that key.
    Update {
        /// The row.
        row: Row,
        /// What becomes of them.
        assigned: Vec<(usize, Given)>,
    },
    /// It adds the row with that key.
    Insert {
        /// The row.
        row: Row,
        /// Its columns.
        assigned: Vec<(usize, Given)>,
    },
    /// It removes the row with that key.
    Delete(Row),
    /// It writes rows of these tables, nobody knows which.
    Anything(Vec<usize>),
}

/// A row, by its table and the slots of its primary key.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Row {
    pub(super) table: usize,
    pub(super) key: Vec<usize>,
}

/// The new value of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// The value of a slot.
    Slot(usize),
    /// What it was, and the value of a slot.
    Plus(usize),
    /// What it was, less the value of a slot.
    Minus(usize),
    /// The values of two slots, added.
    Sum(usize, usize),
    /// The value of a slot, less that of another.
    Difference(usize, usize),
    /// Something else.
    Unknown,
}

/// The position of a table.
pub(super) fn table_of(schema: &Schema, name: &str) -> Option<usize> {
    schema.tables.keys().position(|table| table == name)
}

/// Reads off a statement's accesses what it does to single rows. Slots are the host variables `s0`, `s1`, ….
pub(super) fn deed(access: &Access, schema: &Schema) -> Deed {
    let written: Vec<&TableAccess> = access.tables.iter().filter(|table| table.effect != Effect::Read).collect();
    let single = match access.tables.as_slice() {
        [only] => single(only, access, schema),
        _ => None,
    };
    match single {
        Some(deed) => deed,
        None if written.is_empty() => aggregate(access, schema).unwrap_or_default(),
        None => Deed::Anything(written.iter().filter_map(|table| table_of(schema, &table.table)).collect()),
    }
}

fn aggregate(access: &Access, schema: &Schema) -> Option<Deed> {
    let selection = access.selection.as_ref().filter(|one| one.is_one_row() && !one.columns.is_empty())?;
    let position = |element: &Element| {
        let columns = &schema.table(&element.table)?.columns;
        let column = columns.iter().position(|column| column.name == element.column)?;
        Some((table_of(schema, &element.table)?, column))
    };
    let over = selection.columns.iter().map(|column| match column {
        Term::Aggregate(one) => {
            Some(one.over.as_ref().and_then(Term::as_column).and_then(|one| position(&one.element)))
        }
        _ => None,
    });
    Some(Deed::Aggregate { over: over.collect::<Option<Vec<_>>>()? })
}

fn single(only: &TableAccess, access: &Access, schema: &Schema) -> Option<Deed> {
    let table = schema.table(&only.table)?;
    let position = table_of(schema, &only.table)?;
    let column = |name: &str| table.columns.iter().position(|column| column.name == name);
    let assigned = || {
        let given = only.assigned.iter().map(|one| Some((column(&one.column)?, given(&one.value, &one.column))));
        given.collect::<Option<Vec<_>>>()
    };
    if only.effect == Effect::Insert {
        let assigned = assigned()?;
        let of_key = |name: &String| {
            assigned.iter().find_map(|(at, given)| match given {
                Given::Slot(slot) if table.columns[*at].name == *name => Some(*slot),
                _ => None,
            })
        };
        let key: Option<Vec<usize>> = table.primary_key.iter().map(of_key).collect();
        let row = Row { table: position, key: key.filter(|key| !key.is_empty())? };
        return Some(Deed::Insert { row, assigned });
    }
    let Reach::Key(key) = &only.reach else { return None };
    let slot = |name: &String| match key.columns.iter().find(|(column, _)| column == name) {
        Some((_, terms)) => match terms.as_slice() {
            [Term::Variable(variable)] => slot_of(&variable.name),
            _ => None,
        },
        None => None,
    };
    let row = Row { table: position, key: table.primary_key.iter().map(slot).collect::<Option<Vec<_>>>()? };
    if !key.primary || row.key.is_empty() {
        return None;
    }
    match only.effect {
        Effect::Read => {
            let outputs = access.outputs.iter().map(|output| {
                let origin = output.origins.first().filter(|_| output.is_copy && output.origins.len() == 1)?;
                column(&origin.column)
            });
            Some(Deed::Read { row, outputs: outputs.collect() })
        }
        // A row that gets another key is another row.
        Effect::Update if !only.assigned.iter().any(|one| table.primary_key.contains(&one.column)) => {
            Some(Deed::Update { row, assigned: assigned()? })
        }
        Effect::Delete => Some(Deed::Delete(row)),
        _ => None,
    }
}

fn given(value: &Term, column: &str) -> Given {
    let slot = |term: &Term| match term {
        Term::Variable(variable) => slot_of(&variable.name),
        _ => None,
    };
    let is_itself = |term: &Term| matches!(term, Term::Column(it) if it.element.column == column);
    match value {
        Term::Variable(_) => slot(value).map_or(Given::Unknown, Given::Slot),
        Term::Arithmetic { op, left, right } => match (op, slot(left), slot(right)) {
            (BinaryOp::Add, _, Some(slot)) if is_itself(left) => Given::Plus(slot),
            (BinaryOp::Add, Some(slot), _) if is_itself(right) => Given::Plus(slot),
            (BinaryOp::Subtract, _, Some(slot)) if is_itself(left) => Given::Minus(slot),
            (BinaryOp::Add, Some(left), Some(right)) => Given::Sum(left, right),
            (BinaryOp::Subtract, Some(left), Some(right)) => Given::Difference(left, right),
            _ => Given::Unknown,
        },
        _ => Given::Unknown,
    }
}

/// The position of a slot, from the name of its host variable.
pub(super) fn slot_of(name: &str) -> Option<usize> {
    name.strip_prefix('s')?.parse().ok()
}

/// What people call the value of a slot: the column that it is compared with or assigned to, and that column's type.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Role {
    /// The table.
    pub(super) table: String,
    /// The column.
    pub(super) column: String,
    /// Its type, as written.
    pub(super) type_name: Option<String>,
    /// Whether it counts or measures something.
    pub(super) is_number: bool,
}

/// The roles of the slots.
pub(super) fn roles(access: &Access, slots: usize, schema: &Schema) -> Vec<Role> {
    let mut roles = vec![Role::default(); slots];
    for one in &access.uses {
        let element = match &one.place {
            Place::Test(elements) => elements.first(),
            Place::Value(element) => Some(element),
            Place::Other => None,
        };
        let (Some(element), Some(slot)) = (element, slot_of(&one.variable.name)) else { continue };
        let Some(role) = roles.get_mut(slot).filter(|role| role.column.is_empty()) else { continue };
        let kind = schema.type_of(element);
        let numbers = [TypeKind::Integer, TypeKind::Decimal, TypeKind::Float];
        *role = Role {
            table: element.table.clone(),
            column: element.column.clone(),
            type_name: kind.map(|kind| kind.name.clone()),
            is_number: kind.is_some_and(|kind| numbers.contains(&kind.kind)),
        };
    }
    roles
}
