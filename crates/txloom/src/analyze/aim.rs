//! Values with which a schedule can be run: the conditions on its ways, put to the solver.

use std::collections::BTreeSet;

use txloom_core::flow::program::Place;
use txloom_core::flow::{Schedule, TransactionId};
use txloom_core::program::paths::{
    Answer, Impossible, Instance, Limits, Pass, Question, Reason, ReasonKind, Segment, find,
};

use super::data::Wishes;
use super::{Analysis, Project};

/// How many ways of a procedure are looked at: a schedule needs one.
const WAYS: usize = 4;

/// What the solver says of a schedule.
#[derive(Debug, Clone, PartialEq)]
pub enum Aim {
    /// It can be run with these values.
    Values(Wishes),
    /// It cannot be run, and this is why.
    Impossible(String),
    /// It is not known.
    Unknown,
}

/// Looks for values with which A runs Ti and Tk, B runs Tj in between, and all three meet.
pub fn aim(project: &Project, analysis: &Analysis, schedule: &Schedule) -> Aim {
    let place = |id: TransactionId| &analysis.flowing.places[id.procedure][id.node];
    let (first, between, last) = (place(schedule.first), place(schedule.between), place(schedule.last));
    let tables: BTreeSet<String> =
        schedule.reasons.iter().take(1).map(|reason| reason.element.table().to_string()).collect();
    let mut refuted = None;
    for (first_end, between_end, last_end) in ends(first, between, last) {
        let a = Stations::new(project, schedule.first.procedure, &[(first, first_end), (last, last_end)], &tables);
        let b = Stations::new(project, schedule.between.procedure, &[(between, between_end)], &tables);
        let segments = vec![
            Segment { instance: 0, until: Some(a.ends[0]) },
            Segment { instance: 1, until: Some(b.ends[0]) },
            Segment { instance: 0, until: Some(a.ends[1]) },
        ];
        let instance = |procedure: usize, stations: Stations| Instance {
            procedure: &project.program.procedures[procedure],
            access: &project.accesses[procedure],
            passes: stations.passes,
        };
        let question = Question {
            schema: &project.schema,
            instances: vec![instance(schedule.first.procedure, a), instance(schedule.between.procedure, b)],
            segments,
            may_be_absent: false,
            limits: Limits { ways: WAYS, ..Limits::default() },
        };
        match find(&question) {
            Answer::Found(found) => return Aim::Values(wishes(*found)),
            Answer::Impossible(why) if why.complete => refuted = Some(words(&why)),
            Answer::Impossible(_) | Answer::Unknown => return Aim::Unknown,
        }
    }
    refuted.map_or(Aim::Unknown, Aim::Impossible)
}

/// The nodes that a call has to pass, in order.
struct Stations {
    passes: Vec<Pass>,
    /// For each transaction, the position of its end among them.
    ends: Vec<usize>,
}

impl Stations {
    /// The statement and the end of each transaction. With autocommit a statement is the end of its own transaction: one
    /// pass, not two.
    fn new(project: &Project, procedure: usize, places: &[(&Place, usize)], tables: &BTreeSet<String>) -> Stations {
        let mut stations = Stations { passes: Vec::new(), ends: Vec::new() };
        for (place, end) in places {
            let (node, is_found) = station(project, procedure, place, tables);
            let meets = if is_found { tables.clone() } else { BTreeSet::new() };
            stations.passes.push(Pass { node, meets, ..Pass::default() });
            if node != *end {
                stations.passes.push(Pass { node: *end, ..Pass::default() });
            }
            stations.ends.push(stations.passes.len() - 1);
        }
        stations
    }
}

/// Every choice of where the three transactions end.
fn ends(first: &Place, between: &Place, last: &Place) -> Vec<(usize, usize, usize)> {
    let mut all = Vec::new();
    for a in &first.ends {
        for b in &between.ends {
            all.extend(last.ends.iter().map(|c| (*a, *b, *c)));
        }
    }
    all
}

/// The statement of a transaction that touches the data that the schedule is about, and whether there is one.
fn station(project: &Project, procedure: usize, place: &Place, tables: &BTreeSet<String>) -> (usize, bool) {
    let nodes = &project.accesses[procedure].nodes;
    let touches = |position: &&usize| nodes[**position].access.tables.iter().any(|it| tables.contains(&it.table));
    match place.positions.iter().find(touches) {
        Some(position) => (*position, true),
        None => (place.begins.first().copied().unwrap_or_default(), false),
    }
}

fn wishes(found: txloom_core::program::paths::Found) -> Wishes {
    let columns = found.columns.into_iter().map(|(element, value)| ((element.table, element.column), value));
    let arguments = found.arguments.into_iter().enumerate();
    let arguments = arguments.flat_map(|(at, values)| values.into_iter().map(move |(name, value)| ((at, name), value)));
    Wishes { columns: columns.collect(), arguments: arguments.collect() }
}

/// `in A, line 7 must be true; in A, line 9 must not be true`
fn words(why: &Impossible) -> String {
    if why.conflict.is_empty() {
        return "no way through the procedures passes these transactions in this order".to_string();
    }
    let reason = |reason: &Reason| {
        let (who, line) = (["A", "B"][reason.instance.min(1)], reason.span.line);
        match &reason.kind {
            ReasonKind::Taken => format!("the condition in line {line} holds ({who})"),
            ReasonKind::NotTaken => format!("the condition in line {line} does not hold ({who})"),
            ReasonKind::Meets(table) => format!("line {line} touches the same row of {table} ({who})"),
            ReasonKind::Keeps(table) => format!("the rows of {table} keep their constraints"),
            ReasonKind::Succeeds => format!("line {line} does not fail ({who})"),
        }
    };
    let reasons: Vec<String> = why.conflict.iter().map(reason).collect();
    format!("these cannot all be: {}", reasons.join("; "))
}
