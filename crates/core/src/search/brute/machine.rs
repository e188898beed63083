//! What statements do to rows of numbers: no unknowns, no symbols.
//!
//! A table has a place for every id that can occur, with a row in it or none. A statement is given what it sees and
//! tells what it changes; who sees what is decided elsewhere. A change names the columns that it writes, so the last
//! writer wins column by column.

use super::program::{COLUMNS_MAX, Condition, Operand, PARAMETERS, Program, Relation, Statement, VARIABLES};

/// A number or NULL.
pub(super) type Cell = Option<i64>;

/// A place for a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Row {
    pub(super) is_there: bool,
    pub(super) columns: [Cell; COLUMNS_MAX],
}

/// What becomes of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) place: usize,
    /// Whether a row is there from now on; `None` if that stays as it is.
    pub(super) is_there: Option<bool>,
    /// The columns that are written.
    pub(super) columns: [Option<Cell>; COLUMNS_MAX],
}

impl Change {
    pub(super) fn apply(&self, rows: &mut [Row]) {
        let row = &mut rows[self.place];
        row.is_there = self.is_there.unwrap_or(row.is_there);
        for (cell, written) in row.columns.iter_mut().zip(self.columns) {
            *cell = written.unwrap_or(*cell);
        }
    }
}

/// A call that is to be made.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) procedure: usize,
    pub(super) arguments: [Cell; PARAMETERS.len()],
}

/// Calls, and the rows that they begin with.
#[derive(Debug, Clone)]
pub(super) struct Setup<'p> {
    pub(super) program: &'p Program,
    pub(super) calls: Vec<Call>,
    /// The ids that can occur: each table has a place for each of them.
    pub(super) ids: Vec<i64>,
    pub(super) start: Vec<Row>,
}

/// A call while it runs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Local {
    /// How much of its body lies behind it.
    at: usize,
    variables: [Cell; VARIABLES.len()],
    /// Whether it has changed a row.
    has_written: bool,
    /// Whether a write of one row has met none.
    has_missed: bool,
}

impl Local {
    /// Whether a call that is over was refused: it met no row, and has changed nothing.
    fn is_refused(&self) -> bool {
        self.has_missed && !self.has_written
    }
}

/// What calls leave behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The calls that were made, and not refused.
    made: [bool; 2],
    /// What each of these answers; `None` if it has failed.
    answers: Vec<Option<Cell>>,
    rows: Vec<Row>,
}

/// A call cannot go on, and is undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fails;

impl<'p> Setup<'p> {
    /// The next statement of a call: those whose conditions are false are passed over.
    pub(super) fn next(&self, call: usize, local: &mut Local) -> Option<&'p Statement> {
        let program = self.program;
        loop {
            let step = program.procedures[self.calls[call].procedure].body.get(local.at)?;
            let holds = |condition: &Condition| self.holds(call, local, None, condition);
            if step.only_if.as_ref().is_none_or(holds) {
                return Some(&step.statement);
            }
            local.at += 1;
        }
    }

    /// Executes the next statement of a call on what it sees, and tells what it changes.
    pub(super) fn execute(&self, call: usize, local: &mut Local, view: &[Row]) -> Result<Option<Change>, Fails> {
        let statement = self.next(call, local);
        let change = self.carry_out(call, local, view)?;
        local.has_written |= change.is_some();
        let writes_one_row = matches!(statement, Some(Statement::Update { .. } | Statement::Delete { .. }));
        local.has_missed |= change.is_none() && writes_one_row;
        Ok(change)
    }

    fn carry_out(&self, call: usize, local: &mut Local, view: &[Row]) -> Result<Option<Change>, Fails> {
        let Some(statement) = self.next(call, local) else { return Ok(None) };
        local.at += 1;
        let is_there = |place: &usize| view[*place].is_there;
        match statement {
            Statement::Select { table, column, key, into } => {
                let found = self.find(call, local, *table, *key).filter(is_there);
                local.variables[*into] = found.and_then(|place| view[place].columns[*column]);
                Ok(None)
            }
            Statement::Count { table, condition, into } => {
                let places = (table * self.ids.len()..(table + 1) * self.ids.len()).filter(is_there);
                let count = places.filter(|place| self.holds(call, local, Some(&view[*place]), condition)).count();
                local.variables[*into] = Some(count as i64);
                Ok(None)
            }
            Statement::Update { table, column, key, only_if, value } => {
                let meets = |place: &usize| {
                    only_if.as_ref().is_none_or(|one| self.holds(call, local, Some(&view[*place]), one))
                };
                let place = self.find(call, local, *table, *key).filter(is_there).filter(meets);
                Ok(place.map(|place| {
                    let row = Some(&view[place]);
                    let sum = value.iter().map(|one| self.value(call, local, row, *one)).sum::<Option<i64>>();
                    let mut columns = [None; COLUMNS_MAX];
                    columns[*column] = Some(sum);
                    Change { place, is_there: None, columns }
                }))
            }
            Statement::Insert { table, key, values } => {
                let place = self.find(call, local, *table, *key).filter(|place| !is_there(place)).ok_or(Fails)?;
                let mut columns = [None; COLUMNS_MAX];
                for (column, value) in columns.iter_mut().zip(values) {
                    *column = Some(self.value(call, local, None, *value));
                }
                Ok(Some(Change { place, is_there: Some(true), columns }))
            }
            Statement::Delete { table, key } => {
                let place = self.find(call, local, *table, *key).filter(is_there);
                Ok(place.map(|place| Change { place, is_there: Some(false), columns: [None; COLUMNS_MAX] }))
            }
        }
    }

    /// Whether a statement of a call looks at a place.
    pub(super) fn looks_at(&self, call: usize, local: &Local, statement: &Statement, place: usize) -> bool {
        match statement.key() {
            Some(key) => self.find(call, local, statement.table(), key) == Some(place),
            None => place / self.ids.len() == statement.table(),
        }
    }

    /// The place of a key; NULL has none.
    fn find(&self, call: usize, local: &Local, table: usize, key: Operand) -> Option<usize> {
        let key = self.value(call, local, None, key)?;
        self.ids.iter().position(|id| *id == key).map(|at| table * self.ids.len() + at)
    }

    fn value(&self, call: usize, local: &Local, row: Option<&Row>, operand: Operand) -> Cell {
        match operand {
            Operand::Constant(value) => Some(value),
            Operand::Parameter(parameter) => self.calls[call].arguments[parameter],
            Operand::Variable(variable) => local.variables[variable],
            Operand::Column(_, column) => row.and_then(|row| row.columns[column]),
        }
    }

    /// What is not known to be true does not hold.
    fn holds(&self, call: usize, local: &Local, row: Option<&Row>, condition: &Condition) -> bool {
        let side = |operand| self.value(call, local, row, operand);
        let (Some(left), Some(right)) = (side(condition.left), side(condition.right)) else { return false };
        match condition.relation {
            Relation::Equal => left == right,
            Relation::NotEqual => left != right,
            Relation::Greater => left > right,
        }
    }

    /// Whether a row may be as a change leaves it: unique values are so, and references lead to rows where they count.
    pub(super) fn is_allowed(&self, rows: &[Row], change: &Change, references: bool) -> bool {
        let mut after = rows.to_vec();
        change.apply(&mut after);
        self.is_consistent(&after, change.place, references)
    }

    /// Whether constraints hold, as far as they are about a place.
    pub(super) fn is_consistent(&self, rows: &[Row], place: usize, references: bool) -> bool {
        let (count, table) = (self.ids.len(), place / self.ids.len());
        let unique = self.program.unique.get(table) == Some(&true);
        let mut others = (table * count..(table + 1) * count).filter(|other| *other != place && rows[*other].is_there);
        let is_same =
            |other: usize| rows[place].columns[0].is_some() && rows[other].columns[0] == rows[place].columns[0];
        if unique && rows[place].is_there && others.any(is_same) {
            return false;
        }
        let leads = |cell: Cell| {
            let at = cell.map(|value| self.ids.iter().position(|id| *id == value));
            at.is_none_or(|at| at.is_some_and(|at| rows[at].is_there))
        };
        let counts = self.program.refers && references;
        !counts || (count..2 * count).all(|child| !rows[child].is_there || leads(rows[child].columns[0]))
    }

    /// What the calls leave behind, given those that have not failed.
    pub(super) fn outcome(&self, locals: &[Option<Local>], rows: &[Row]) -> Outcome {
        let is_made = |at: usize| locals.get(at).copied().flatten().is_none_or(|local| !local.is_refused());
        self.outcome_of([is_made(0), is_made(1)], locals, rows)
    }

    fn outcome_of(&self, made: [bool; 2], locals: &[Option<Local>], rows: &[Row]) -> Outcome {
        let answer = |((call, local), made): ((&Call, &Option<Local>), bool)| {
            let returns = self.program.procedures[call.procedure].returns;
            local.filter(|_| made).map(|local| returns.and_then(|variable| local.variables[variable]))
        };
        let seen = |row: &Row| if row.is_there { *row } else { Row::default() };
        let answers = self.calls.iter().zip(locals).zip(made).map(answer).collect();
        Outcome { made, answers, rows: rows.iter().map(seen).collect() }
    }

    /// What one call after the other leaves behind, in both orders, and each of them alone, and none.
    pub(super) fn serial(&self, references: bool) -> Vec<Outcome> {
        let orders: [&[usize]; 5] = [&[0, 1], &[1, 0], &[0], &[1], &[]];
        let outcome = |order: &[usize]| {
            let mut rows = self.start.clone();
            let mut locals = [None; 2];
            for &call in order {
                let mut own = rows.clone();
                if let Ok(local) = self.run_alone(call, &mut own, references) {
                    (rows, locals[call]) = (own, Some(local));
                }
            }
            self.outcome_of([order.contains(&0), order.contains(&1)], &locals, &rows)
        };
        orders.into_iter().map(outcome).collect()
    }

    fn run_alone(&self, call: usize, rows: &mut [Row], references: bool) -> Result<Local, Fails> {
        let mut local = Local::default();
        while self.next(call, &mut local).is_some() {
            if let Some(change) = self.execute(call, &mut local, rows)? {
                if !self.is_allowed(rows, &change, references) {
                    return Err(Fails);
                }
                change.apply(rows);
            }
        }
        Ok(local)
    }
}
