//! Leaves out a table together with every statement that speaks of it.

use crate::case::{Case, Item, Line};
use crate::reduce::edit::without_steps;
use crate::reduce::sql::schema::{Table, mentions, tables};
use crate::reduce::{Pass, Tests};

pub(in crate::reduce) struct Tables;

impl Pass for Tables {
    fn reduce(&self, case: &Case, tests: &mut Tests<'_>) -> Case {
        let tables = tables(case);
        tests.minimize(case, &tables, |kept: &[Table]| {
            let gone: Vec<&str> =
                tables.iter().filter(|table| !kept.contains(table)).map(|table| table.name.as_str()).collect();
            Some(without(case, &gone))
        })
    }
}

fn without(case: &Case, gone: &[&str]) -> Case {
    let speaks = |text: &str| gone.iter().any(|name| mentions(text, name));
    let is_step = |line: &Line| matches!(line, Line::Step(_, Item::Sql(sql), _) if speaks(sql.as_str()));
    let steps = case.entries.iter().enumerate().filter(|(_, entry)| is_step(&entry.line)).map(|(at, _)| at);
    let mut case = without_steps(case, &steps.collect());
    case.entries.retain(|entry| match &entry.line {
        Line::Init(sql, _) => !speaks(sql.as_str()),
        Line::Assert(assert) => !speaks(&assert.sql),
        Line::Final(expected) => !speaks(&expected.table),
        _ => true,
    });
    case
}
