//! What the analyses say of a program, without the names and places that differ between its forms.

use std::collections::BTreeSet;

use txloom::analyze::{Analysis, Project};
use txloom_core::flow::program::Cut;
use txloom_core::flow::{Element, Link, Reason, Schedule, TransactionId};
use txloom_core::search::{Conflict, Conflicts, Options};

use super::plain;
use super::words::letter;

/// Three transactions that may go wrong, each by its procedure and by what it reads and writes; how, and in what.
pub(super) fn schedules(project: &Project, cut: Cut) -> BTreeSet<String> {
    let analysis = Analysis::of(project, cut);
    assert!(analysis.is_complete, "all schedules are looked at");
    let application = &analysis.flowing.application;
    let gist = |id: TransactionId| {
        let operations = &application.node(id).operations;
        let reads: BTreeSet<&Element> = operations.iter().flat_map(|one| one.reads()).collect();
        let writes: BTreeSet<&Element> = operations.iter().flat_map(|one| &one.writes).collect();
        let name = plain(&application.procedures[id.procedure].name);
        format!("{name} reads {} writes {}", listed(&reads), listed(&writes))
    };
    let told = |one: &Schedule| {
        let [first, between, last] = [one.first, one.between, one.last].map(gist);
        let reasons: BTreeSet<String> = one
            .reasons
            .iter()
            .filter(|reason| !rests_on_name(one, reason))
            .map(|reason| format!("{} in {}", reason.phenomenon.code(), reason.element))
            .collect();
        (!reasons.is_empty()).then(|| format!("{first}\n  {between}\n  {last}\n  {reasons:?}"))
    };
    analysis.schedules.iter().filter_map(told).collect()
}

/// Whether no value goes from the first transaction to the last, but both mention a variable: both use it, or the last one
/// gives it a new value. Where one form computes `:a + 1` in SQL and the other in a variable of its own, or declares a
/// variable in a loop and the other outside, that is told of one of them only.
fn rests_on_name(schedule: &Schedule, reason: &Reason) -> bool {
    let (first, last) = (schedule.first.node, schedule.last.node);
    matches!(&reason.link, Link::Variable { chain, .. } if chain.start.node != first || chain.end().node != last)
}

fn listed(elements: &BTreeSet<&Element>) -> String {
    elements.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Pairs of statements that may meet on a row, with how, and in which columns.
pub(super) fn conflicts(project: &Project, options: Options) -> BTreeSet<String> {
    let conflicts = Conflicts::of(&project.given(), &project.schema, options);
    let site = |at: u16| {
        let site = &conflicts.sites[usize::from(at)];
        let access = &project.accesses[usize::from(site.procedure)];
        let statement = letter(&access.nodes[usize::from(site.node)].access);
        format!("{}: {}", plain(&access.name), statement.unwrap_or_else(|| "takes back".to_string()))
    };
    let told = |one: &Conflict| {
        let columns: Vec<String> = one.columns.iter().map(ToString::to_string).collect();
        let table = &conflicts.tables[usize::from(one.table)];
        format!("{}\n  {}\n  {} {table}: {}", site(one.from), site(one.to), one.kind, columns.join(", "))
    };
    conflicts.edges.iter().map(told).collect()
}

/// What is said of one only, if not the same is said of both.
pub(super) fn difference(ours: &BTreeSet<String>, theirs: &BTreeSet<String>) -> Option<String> {
    let only = |these: &BTreeSet<String>, those: &BTreeSet<String>| {
        these.difference(those).take(5).map(|one| format!("\n{one}")).collect::<String>()
    };
    let (our, their) = (only(ours, theirs), only(theirs, ours));
    let counts = (ours.len(), theirs.len());
    (ours != theirs).then(|| format!("{counts:?}\nonly of the first:{our}\nonly of the second:{their}"))
}
