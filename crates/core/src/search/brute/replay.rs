//! A run that the search has found, made again with numbers.
//!
//! The plan says who moves when and, for a store, who sees what. For an engine, what it says about that is not even
//! looked at: the rules decide here. That a call goes another way than it should, fails, waits, forgets what it has seen,
//! or that the outcome is that of a serial order, all that is a disagreement.

use std::collections::{BTreeMap, BTreeSet};

use super::explore::{Action, Refused, Rules, Scene};
use super::machine::{Call, Cell, Row, Setup};
use super::program::{COLUMNS_MAX, PARAMETERS, Program, column_name, table_name};
use crate::program::access::ProcedureAccess;
use crate::program::code::OperationKind;
use crate::search::feasible::Values;
use crate::search::find::Test;
use crate::value::Value;

/// Runs a test of the search; what is wrong with it, if something is.
pub(super) fn replay(program: &Program, accesses: &[ProcedureAccess], test: &Test, rules: Rules) -> Result<(), String> {
    let setup = setup(program, test)?;
    let mut scene = Scene::new(&setup, rules);
    // The actions of the scene, as moves of the plan.
    let mut moves: Vec<usize> = Vec::new();
    let mut seen: [BTreeSet<usize>; 2] = [BTreeSet::new(), BTreeSet::new()];
    for (number, one) in test.plan.moves.iter().enumerate() {
        let access = &accesses[usize::from(test.procedures[one.instance])];
        let node = access.nodes.get(test.ways[one.instance].nodes[one.at]);
        let is_statement = node.is_some_and(|node| matches!(node.operation.kind, OperationKind::Send(_)));
        let action = match (is_statement, rules) {
            (false, Rules::Eventual) => continue,
            (false, Rules::ReadCommitted) => Action::Commit,
            (true, Rules::ReadCommitted) => Action::Statement(0),
            (true, Rules::Eventual) => {
                let sees: BTreeSet<usize> = test.plan.sees[number].iter().copied().collect();
                if !seen[one.instance].is_subset(&sees) {
                    return Err(format!("move {number} no longer sees what the call has seen"));
                }
                let new = sees.difference(&seen[one.instance]);
                let new = new.filter_map(|seen| moves.iter().position(|known| known == seen));
                let new = new.fold(0, |all, at| all | 1 << at);
                seen[one.instance] = sees;
                Action::Statement(new)
            }
        };
        let told = |refused: Refused| format!("move {number} of call {}: {refused:?}: {}", one.instance, scene.show());
        let mut next = scene.clone();
        next.act(one.instance, action).map_err(told)?;
        scene = next;
        moves.push(number);
    }
    if !scene.is_over() {
        return Err(format!("the calls are not over: {}", scene.show()));
    }
    match setup.serial(rules == Rules::ReadCommitted).contains(&scene.outcome()) {
        true => {
            Err(format!("the outcome is that of a serial order: {}, {setup:?}, {:?}", scene.show(), scene.outcome()))
        }
        false => Ok(()),
    }
}

/// The rows and arguments of a test.
fn setup<'p>(program: &'p Program, test: &Test) -> Result<Setup<'p>, String> {
    if test.procedures.len() != 2 {
        return Err(format!("{} calls", test.procedures.len()));
    }
    let mut calls = Vec::new();
    for (procedure, given) in test.procedures.iter().zip(&test.values.arguments) {
        let mut arguments = [None; PARAMETERS.len()];
        for (argument, name) in arguments.iter_mut().zip(PARAMETERS) {
            *argument = cell(given.get(name))?;
        }
        calls.push(Call { procedure: usize::from(*procedure), arguments });
    }
    let ids = ids(&test.values, &calls)?;
    let mut start = vec![Row::default(); ids.len() * program.tables.len()];
    for (table, columns) in program.tables.iter().enumerate() {
        for given in test.values.rows.get(table_name(table)).into_iter().flatten() {
            let at = ids.iter().position(|id| Some(*id) == cell(given.get("id")).ok().flatten());
            let at = at.ok_or("a row without a key")?;
            let mut row = Row { is_there: true, columns: [None; COLUMNS_MAX] };
            for column in 0..*columns {
                row.columns[column] = cell(given.get(column_name(table, column)))?;
            }
            if std::mem::replace(&mut start[table * ids.len() + at], row).is_there {
                return Err("two rows with one key".to_string());
            }
        }
    }
    Ok(Setup { program, calls, ids, start })
}

/// All keys that can occur: those of rows, those that calls are given, and the constant.
fn ids(values: &Values, calls: &[Call]) -> Result<Vec<i64>, String> {
    let mut ids = BTreeSet::from([1]);
    ids.extend(calls.iter().flat_map(|call| call.arguments).flatten());
    let key = |row: &BTreeMap<String, Value>| cell(row.get("id"));
    let rows = values.rows.values().flatten().map(key).collect::<Result<Vec<Cell>, String>>()?;
    ids.extend(rows.into_iter().flatten());
    Ok(ids.into_iter().collect())
}

/// A number; what is not there does not matter.
fn cell(value: Option<&Value>) -> Result<Cell, String> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Number(number)) => number.to_i64().map(Some).ok_or(format!("{number} is no whole number")),
        Some(other) => Err(format!("{other:?} is no number")),
    }
}
