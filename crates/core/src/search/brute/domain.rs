//! All small databases and all arguments for two calls: ids 1 and 2, numbers 0 to 2, each row there or not.
//!
//! Columns that neither procedure looks at, or tables that neither touches, are left as they are.

use super::machine::{Call, Cell, Row, Setup};
use super::program::{COLUMNS_MAX, NUMBER, Operand, PARAMETERS, Program, Statement};

const IDS: [i64; 2] = [1, 2];
const NUMBERS: [i64; 3] = [0, 1, 2];

/// Every setup of two calls, until one of them satisfies.
pub(super) fn any<'p, T>(
    program: &'p Program,
    pair: [usize; 2],
    mut satisfies: impl FnMut(&Setup<'p>) -> Option<T>,
) -> Option<T> {
    let starts = starts(program, pair);
    let arguments = pair.map(|procedure| arguments(program, procedure));
    for first in &arguments[0] {
        for second in arguments[1].iter().filter(|second| is_first_of_its_kind(program, pair, [first, second])) {
            let call = |at: usize, arguments| Call { procedure: pair[at], arguments };
            let calls = vec![call(0, *first), call(1, *second)];
            let mut setup = Setup { program, calls, ids: IDS.to_vec(), start: Vec::new() };
            for start in &starts {
                setup.start.clone_from(start);
                let is_consistent = (0..start.len()).all(|place| setup.is_consistent(start, place, true));
                if !is_consistent || lacks_constant_row(program, pair, start) {
                    continue;
                }
                if let Some(found) = satisfies(&setup) {
                    return Some(found);
                }
            }
        }
    }
    None
}

/// Of arguments that differ only in what ids are called, or in which of two calls of one procedure is the first, one will
/// do.
fn is_first_of_its_kind(program: &Program, pair: [usize; 2], arguments: [&[Cell; PARAMETERS.len()]; 2]) -> bool {
    let mut steps = pair.iter().flat_map(|procedure| &program.procedures[*procedure].body);
    let names_ids = steps.any(|step| matches!(step.statement.key(), Some(Operand::Constant(_))));
    let mut given = arguments.iter().flat_map(|one| &one[..NUMBER]).flatten();
    let begins_with_first = names_ids || given.next().is_none_or(|id| *id == IDS[0]);
    begins_with_first && (pair[0] != pair[1] || !names_ids || arguments[0] <= arguments[1])
}

/// Whether the row of a constant key is not there that a call writes, of a table that no call adds rows to or removes any
/// from: such a row is there.
fn lacks_constant_row(program: &Program, pair: [usize; 2], start: &[Row]) -> bool {
    let statements = || {
        let steps = pair.iter().flat_map(|procedure| &program.procedures[*procedure].body);
        steps.map(|step| &step.statement)
    };
    let is_steady = |table: usize| {
        let comes_or_goes = |one: &Statement| matches!(one, Statement::Insert { .. } | Statement::Delete { .. });
        !statements().any(|one| one.table() == table && comes_or_goes(one))
    };
    statements().any(|one| match one {
        Statement::Update { table, key: Operand::Constant(id), only_if: None, .. } if is_steady(*table) => {
            let place = IDS.iter().position(|known| known == id).map(|at| table * IDS.len() + at);
            place.is_none_or(|place| !start[place].is_there)
        }
        _ => false,
    })
}

fn arguments(program: &Program, procedure: usize) -> Vec<[Cell; PARAMETERS.len()]> {
    let mut all = vec![[None; PARAMETERS.len()]];
    for parameter in program.procedures[procedure].parameters() {
        let values: &[i64] = if parameter == NUMBER { &NUMBERS } else { &IDS };
        let with = |one: &[Cell; PARAMETERS.len()], value: i64| {
            let mut one = *one;
            one[parameter] = Some(value);
            one
        };
        all = all.iter().flat_map(|one| values.iter().map(move |value| with(one, *value))).collect();
    }
    all
}

fn starts(program: &Program, pair: [usize; 2]) -> Vec<Vec<Row>> {
    let mut all = vec![Vec::new()];
    for table in 0..program.tables.len() {
        let rows = rows(program, pair, table);
        for _ in IDS {
            let longer = all.iter().flat_map(|start: &Vec<Row>| {
                rows.iter().map(|row| start.iter().copied().chain([*row]).collect::<Vec<Row>>())
            });
            all = longer.collect();
        }
    }
    all
}

/// What may be in a place of a table.
fn rows(program: &Program, pair: [usize; 2], table: usize) -> Vec<Row> {
    let bodies = || pair.iter().map(|procedure| &program.procedures[*procedure]);
    let is_touched = bodies().any(|one| one.body.iter().any(|step| step.statement.table() == table));
    if !is_touched {
        return vec![Row::default()];
    }
    let mut there = vec![Row { is_there: true, columns: [None; COLUMNS_MAX] }];
    for column in 0..program.tables[table] {
        let matters = bodies().any(|one| one.operands().any(|operand| operand == Operand::Column(table, column)));
        let values: &[i64] = if matters { &NUMBERS } else { &NUMBERS[..1] };
        let with = |row: &Row, value: i64| {
            let mut row = *row;
            row.columns[column] = Some(value);
            row
        };
        there = there.iter().flat_map(|row| values.iter().map(move |value| with(row, *value))).collect();
    }
    there.into_iter().chain([Row::default()]).collect()
}
