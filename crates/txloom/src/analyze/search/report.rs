//! Anomalies as a report.

use std::collections::BTreeMap;
use std::fmt;

use txloom_core::search::conflicts::{Column, Conflicts, Kind};
use txloom_core::search::cycles::Structure;
use txloom_core::search::find::{Anomaly, Search, Test};
use txloom_core::search::level::Target;
use txloom_core::search::level::engines::{Acts, View};
use txloom_core::search::{script, start};

use super::super::Project;
use super::{Searched, Shown, Wanted};
use crate::report::model::analysis::{
    AnomaliesReport, FateReport, MarkReport, RemarkReport, RemarkSeverity, StructureReport, TrialVerdict,
};
use crate::report::model::check::EdgeReport;

/// What was found, alike ones together.
pub fn report(project: &Project, wanted: &Wanted, search: &Search<'_>, found: &Searched) -> AnomaliesReport {
    let writer = Writer { project, conflicts: &search.conflicts, found };
    let structures = groups(found).iter().enumerate().map(|(at, group)| writer.structure(at + 1, group)).collect();
    AnomaliesReport {
        assumed: None,
        patterns: false,
        level: wanted.level.to_string(),
        means: means(&wanted.level),
        length: wanted.bounds.length,
        instances: wanted.bounds.instances,
        external: wanted.external,
        candidates: found.candidates,
        found: found.anomalies.len(),
        impossible: found.impossible,
        unknown: found.unknown.len(),
        left: found.left,
        is_cut: found.is_cut,
        unconnected: search.unconnected(),
        shown: None,
        structures,
        fixes: None,
    }
}

/// The anomalies by structure, in the order of the report.
pub(super) fn groups(found: &Searched) -> Vec<Vec<&Anomaly>> {
    let mut alike: BTreeMap<&Structure, Vec<&Anomaly>> = BTreeMap::new();
    for anomaly in &found.anomalies {
        alike.entry(&anomaly.structure).or_default().push(anomaly);
    }
    let mut groups: Vec<Vec<&Anomaly>> = alike.into_values().collect();
    groups.sort_by_key(|group| (group[0].calls.len(), group[0].cycle.length(), group[0].test));
    groups
}

/// What holds at a level, in a sentence.
fn means(level: &Target) -> String {
    match level {
        Target::Store(axioms) if axioms.sticky => {
            format!("{}; each call stays on its node, where it sees what it wrote and what it saw before", axioms.what)
        }
        Target::Store(axioms) => format!("{}; each statement may be answered by any node", axioms.what),
        Target::Engine(rules) if rules.serializable => "every run is as if calls came one after the other".to_string(),
        Target::Engine(rules) => {
            let sees = match rules.view {
                View::Latest => "what is there, committed or not",
                View::Statement => "what was committed when it began",
                View::FirstStatement => "what was committed when its transaction began",
                View::FirstQuery => "what was committed at the first query of its transaction",
            };
            let acts = match rules.acts {
                Acts::Committed => "a write acts on what was committed last",
                Acts::Snapshot => "a write of a row that has changed since is refused",
            };
            format!("a query sees {sees}, {acts}")
        }
    }
}

/// What became of the test that shows a structure.
pub fn fate(shown: &Shown) -> FateReport {
    match shown {
        Shown::Manifest(finding) => FateReport::new(TrialVerdict::Manifest, finding.sentence.clone()),
        Shown::Not { instead, .. } => FateReport::new(TrialVerdict::Harmless, instead.clone()),
        Shown::Undecided(why) => FateReport::new(TrialVerdict::Undecided, why.clone()),
    }
}

/// The identity of a structure across versions of a program: procedures and tables by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StructureKey(Vec<(String, Kind, String)>);

impl StructureKey {
    /// The key of a structure of a project.
    pub fn new(project: &Project, conflicts: &Conflicts, structure: &Structure) -> StructureKey {
        let named = |(procedure, kind, table): &(u16, Kind, u16)| {
            let name = project.program.procedures[usize::from(*procedure)].name.clone();
            (name, *kind, conflicts.tables[usize::from(*table)].clone())
        };
        StructureKey(structure.0.iter().map(named).collect())
    }

    /// The key of a structure of one procedure that depends on itself.
    #[cfg(test)]
    pub(super) fn named(procedure: &str) -> StructureKey {
        StructureKey(vec![(procedure.to_string(), Kind::Rw, String::new())])
    }
}

/// `payment ─rw customer→ payment ─rw customer→`
impl fmt::Display for StructureKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, kind, table)) in self.0.iter().enumerate() {
            let gap = if at == 0 { "" } else { " " };
            write!(f, "{gap}{name} ─{kind} {table}→")?;
        }
        Ok(())
    }
}

struct Writer<'a> {
    project: &'a Project,
    conflicts: &'a Conflicts,
    found: &'a Searched,
}

/// One end of a dependency: the call, the node, and what happens there.
struct End {
    call: usize,
    node: usize,
    deed: String,
}

impl Writer<'_> {
    fn structure(&self, number: usize, alike: &[&Anomaly]) -> StructureReport {
        let anomaly = alike[0];
        let test = &self.found.tests[anomaly.test];
        let hops = self.hops(anomaly);
        StructureReport {
            number,
            class: anomaly.class.name.to_string(),
            structure: StructureKey::new(self.project, self.conflicts, &anomaly.structure).to_string(),
            procedures: self.names(test),
            tables: anomaly
                .structure
                .0
                .iter()
                .map(|(_, _, table)| self.conflicts.tables[usize::from(*table)].clone())
                .collect(),
            anomalies: alike.len(),
            tests: alike.iter().map(|anomaly| anomaly.test).collect(),
            contains_smaller: alike.iter().all(|anomaly| anomaly.contains_smaller),
            shown: None,
            remark: self.remark(anomaly, test, &hops),
            dependencies: hops.iter().map(|(from, to)| self.dependency(test, from, to)).collect(),
            cycle: self.edges(anomaly, test),
            calls: self.calls(test),
            before: test.before,
            rows: start::complete(&self.project.schema, &test.values.rows).inserts(&self.project.schema),
            schedule: String::new(),
            breaks: Vec::new(),
            fate: None,
            fix: None,
        }
    }

    /// The procedures of the cycle.
    fn names(&self, test: &Test) -> Vec<String> {
        test.procedures[..test.concurrent()].iter().map(|procedure| self.name(*procedure)).collect()
    }

    fn name(&self, procedure: u16) -> String {
        self.project.program.procedures[usize::from(procedure)].name.clone()
    }

    fn calls(&self, test: &Test) -> Vec<String> {
        (0..test.procedures.len()).map(|at| super::case::call_of(self.project, test, at).to_string()).collect()
    }

    /// The dependencies of an anomaly, each with both ends.
    fn hops(&self, anomaly: &Anomaly) -> Vec<(End, End)> {
        let visits = &anomaly.cycle.visits;
        let end = |visit: usize, site: u16, deed: String| End {
            call: anomaly.calls[visit],
            node: usize::from(self.conflicts.sites[usize::from(site)].node),
            deed,
        };
        let hop = |at: usize| {
            let next = (at + 1) % visits.len();
            let conflict = &self.conflicts.edges[visits[at].hop as usize];
            let table = &self.conflicts.tables[usize::from(conflict.table)];
            let what = what(table, &conflict.columns);
            let (from, to) = match conflict.kind {
                Kind::Wr => (format!("writes {what}"), format!("reads {what}")),
                Kind::Rw if self.conflicts.sites[usize::from(conflict.to)].undoes => {
                    (format!("reads {what}"), format!("takes {what} back"))
                }
                Kind::Rw => (format!("reads {what}"), format!("overwrites {what}")),
                Kind::Ww => (format!("writes {what}"), format!("overwrites {what}")),
            };
            (end(at, visits[at].leave, from), end(next, visits[next].enter, to))
        };
        (0..visits.len()).map(hop).collect()
    }

    /// The cycle, to be drawn.
    fn edges(&self, anomaly: &Anomaly, test: &Test) -> Vec<EdgeReport> {
        let names = script::names(test.procedures.len());
        let (visits, count) = (&anomaly.cycle.visits, anomaly.cycle.visits.len());
        let edge = |at: usize| {
            let conflict = &self.conflicts.edges[visits[at].hop as usize];
            EdgeReport {
                from: names[anomaly.calls[at]].to_string(),
                to: names[anomaly.calls[(at + 1) % count]].to_string(),
                kind: conflict.kind.to_string(),
                key: Some(self.conflicts.tables[usize::from(conflict.table)].clone()),
            }
        };
        (0..count).map(edge).collect()
    }

    fn dependency(&self, test: &Test, from: &End, to: &End) -> String {
        let place = |end: &End| {
            let mark = self.place(test, end, String::new());
            format!("{}:{}", mark.file, mark.line)
        };
        let names = script::names(test.procedures.len());
        format!("{} {} ({}), {} {} ({})", names[from.call], from.deed, place(from), names[to.call], to.deed, place(to))
    }

    fn place(&self, test: &Test, end: &End, says: String) -> MarkReport {
        let procedure = usize::from(test.procedures[end.call]);
        let nodes = &self.project.accesses[procedure].nodes;
        let span =
            nodes.get(end.node).map_or(self.project.program.procedures[procedure].span, |node| node.operation.span);
        self.project.mark(self.project.homes[procedure], span, says)
    }

    /// The statements of the cycle, numbered as they are executed.
    fn remark(&self, anomaly: &Anomaly, test: &Test, hops: &[(End, End)]) -> RemarkReport {
        let mut ends: Vec<&End> = hops.iter().flat_map(|(from, to)| [from, to]).collect();
        let moment = |end: &&End| {
            let is_it = |one: &txloom_core::search::plan::Move| {
                one.instance == end.call && test.ways[end.call].nodes[one.at] == end.node
            };
            test.plan.moves.iter().position(is_it)
        };
        ends.sort_by_key(moment);
        let names = script::names(test.procedures.len());
        let mut told: Vec<(usize, usize, Vec<&str>)> = Vec::new();
        for end in &ends {
            match told.iter_mut().find(|(call, node, _)| (*call, *node) == (end.call, end.node)) {
                Some((_, _, deeds)) if deeds.contains(&end.deed.as_str()) => {}
                Some((_, _, deeds)) => deeds.push(&end.deed),
                None => told.push((end.call, end.node, vec![&end.deed])),
            }
        }
        let marks = told.iter().enumerate().map(|(at, (call, node, deeds))| {
            let says = format!("{}. {} {}", at + 1, names[*call], deeds.join(", "));
            self.place(test, &End { call: *call, node: *node, deed: String::new() }, says)
        });
        let mut procedures = self.names(test);
        procedures.dedup();
        let who = match procedures.as_slice() {
            [one] if test.concurrent() == 2 => format!("two calls of {one}"),
            [one] => format!("{} calls of {one}", test.concurrent()),
            several => several.join(", "),
        };
        RemarkReport {
            severity: RemarkSeverity::Warning,
            code: Some(anomaly.class.name.to_string()),
            title: format!("{who}: {}", anomaly.class.what),
            marks: marks.collect(),
            notes: Vec::new(),
            help: None,
        }
    }
}

/// `customer.c_balance, c_payment_cnt`, `whether rows of new_order exist`
fn what(table: &str, columns: &[Column]) -> String {
    let named: Vec<&str> = columns
        .iter()
        .filter_map(|column| match column {
            Column::Named(name) => Some(name.as_str()),
            Column::Existence => None,
        })
        .collect();
    let exists = columns.contains(&Column::Existence);
    match (exists, named.as_slice()) {
        (true, _) => format!("a row of {table}"),
        (false, [one]) => format!("{table}.{one}"),
        (false, [first, .., _]) if named.len() > 3 => format!("{table}.{first} and {} more columns", named.len() - 1),
        (false, several) => format!("{table}.{}", several.join(", ")),
    }
}
