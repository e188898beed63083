//! A test as a case that anybody can run again.

use std::sync::Arc;

use txloom_core::case::{Call, Case, Item, Line, Sql};
use txloom_core::dialect::Dialect;
use txloom_core::level::LevelName;
use txloom_core::program::Mode;
use txloom_core::search::find::Test;
use txloom_core::search::ground::Called;
use txloom_core::search::placement::{Cluster, Unplaceable};
use txloom_core::search::{script, start};

use super::super::Project;
use super::super::trial::PROGRAM_FILE;

/// The case of a test, if it can be placed on the cluster.
pub fn case(
    project: &Project,
    test: &Test,
    level: Option<&LevelName>,
    dialect: &dyn Dialect,
    cluster: Option<Cluster>,
    given: bool,
) -> Result<Case, Unplaceable> {
    let called: Vec<Called<'_>> = test
        .procedures
        .iter()
        .map(|at| usize::from(*at))
        .map(|at| Called { procedure: &project.program.procedures[at], access: &project.accesses[at] })
        .collect();
    let names = script::names(called.len());
    let mut lines: Vec<Line> = level.map(|level| Line::Isolation(None, level.clone())).into_iter().collect();
    let script = script::script(test, &called, dialect, cluster)?;
    lines.extend(names.iter().zip(&script.homes).map(|(name, node)| Line::Node(name.clone(), *node)));
    lines.extend(names.iter().skip(test.concurrent()).map(|name| Line::First(name.clone())));
    lines.push(Line::Program(PROGRAM_FILE.to_string()));
    let rows = if given {
        project.rows.clone()
    } else {
        start::complete(&project.schema, &test.values.rows).inserts(&project.schema)
    };
    let setup = project.definitions.iter().cloned().chain(rows);
    lines.extend(setup.filter_map(|sql| Sql::new(&sql).ok()).map(|sql| Line::Init(sql, Vec::new())));
    if given {
        lines.extend(project.asserts.iter().map(|(_, assert)| Line::Assert(assert.clone())));
    }
    for (at, name) in names.iter().enumerate() {
        lines.push(Line::Step(name.clone(), Item::Call(call_of(project, test, at)), Vec::new()));
    }
    lines.push(Line::Schedule(script.schedule));
    let entries = lines.into_iter().map(Into::into).collect();
    Ok(Case { program: Some(Arc::clone(&project.program)), entries, ..Case::default() })
}

/// A call of a test, with its arguments in the order of the parameters.
pub(super) fn call_of(project: &Project, test: &Test, at: usize) -> Call {
    let procedure = &project.program.procedures[usize::from(test.procedures[at])];
    let given = procedure.parameters.iter().filter(|parameter| parameter.mode != Mode::Out);
    let argument = |name: &String| (name.clone(), test.values.arguments[at].get(name).cloned());
    let arguments = given.map(|parameter| argument(&parameter.name));
    let arguments = arguments.filter_map(|(name, value)| Some((name, value?))).collect();
    Call { procedure: procedure.name.clone(), arguments }
}
