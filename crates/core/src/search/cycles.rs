//! Candidate cycles: dependencies between statements that lead back to where they began.
//!
//! # The problem
//!
//! An execution is serializable if and only if its dependencies have no cycle (Adya et al. 2000). Which cycles an
//! application can have at all, the [conflicts](crate::search::conflicts) of its statements tell:
//!
//! ```text
//!   deposit A                          deposit B
//!   SELECT balance ────────rw────────→ UPDATE accounts        A reads what B overwrites,
//!        │ st                               │ st               and B reads what A overwrites:
//!   UPDATE accounts ←──────rw───────── SELECT balance          a lost update
//! ```
//!
//! # The idea
//!
//! CLOTHO (§4.3, §5.1) asks a solver for a cycle, excludes it, asks for the next one, and so on: most of its hour goes
//! there. But candidates are few and simple, so they are enumerated here, without a solver; whether one is possible,
//! with which arguments and rows, is a question for later, and a small one.
//!
//! A cycle visits instances (calls). It enters an instance at one statement and leaves it at the same one, or at
//! another one that is executed in the same call, before or after ([`Through`]): CLOTHO's ST. Each instance is visited
//! once: a cycle that comes back to an instance contains a shorter one that does not. From one instance to the next a
//! dependency leads. A cycle is valid (§4.3, Fig. 12) if it has at least two dependencies, and one ST.
//!
//! There is one more kind. A statement that reads and writes does not see what others have not committed yet, or have
//! written on another replica. So two times `INSERT … WHERE NOT EXISTS (…)`, each in a transaction of its own, are
//! enough, without any ST, and across replicas two times `SET x = x + 1`. Such a cycle needs two reads in a row that
//! miss a write, or one, if who missed it overwrites it.
//!
//! Rotations of a cycle are one cycle, and which instance is called A does not matter: of all rotations the least one
//! is kept. Of a *structure* ([`Structure`]) are all cycles with the same procedures, kinds of dependencies and tables,
//! whichever statements they go through; CLOTHO counts these, too (§6.1).
//!
//! # Limits
//!
//! [`Bounds`] on the number of statements and of instances. In a loop, two rounds of a statement are two statements;
//! more are not told apart.

use std::fmt;

use crate::budget::WorkBudget;
use crate::program::paths::Pass;
use crate::search::conflicts::{Conflicts, Kind};

/// How an instance is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Through {
    /// By one statement: where the cycle enters, it leaves.
    One,
    /// By two: the one where it enters is executed first.
    Forward,
    /// By two: the one where it leaves is executed first.
    Backward,
}

/// An instance on a cycle, and the hop to the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Visit {
    /// Where the cycle enters: a position in [`Conflicts::sites`].
    pub enter: u16,
    /// Where it leaves. In a loop, that may be the same statement in another round.
    pub leave: u16,
    /// How.
    pub through: Through,
    /// How it goes on to the next instance: a position in [`Conflicts::edges`].
    pub hop: u32,
}

impl Visit {
    /// How many statements it has.
    pub fn length(&self) -> usize {
        if self.through == Through::One { 1 } else { 2 }
    }

    /// Its sites in the order in which they are executed.
    pub fn sites(&self) -> Vec<u16> {
        match self.through {
            Through::One => vec![self.enter],
            Through::Forward => vec![self.enter, self.leave],
            Through::Backward => vec![self.leave, self.enter],
        }
    }

    /// Where in [`Visit::sites`] the cycle enters.
    pub fn entered(&self) -> usize {
        usize::from(self.through == Through::Backward)
    }

    /// Where in [`Visit::sites`] the cycle leaves.
    pub fn left(&self) -> usize {
        usize::from(self.through == Through::Forward)
    }
}

/// A candidate cycle: every instance is visited once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cycle {
    /// The instances, in the order of the cycle; the last one leads to the first.
    pub visits: Box<[Visit]>,
}

impl Cycle {
    /// How many statements it has.
    pub fn length(&self) -> usize {
        self.visits.iter().map(Visit::length).sum()
    }

    /// The instance behind that one.
    pub fn next(&self, instance: usize) -> usize {
        (instance + 1) % self.visits.len()
    }

    /// The position of an instance's procedure.
    pub fn procedure(&self, conflicts: &Conflicts, instance: usize) -> usize {
        conflicts.site(self.visits[instance].enter).procedure.into()
    }

    /// The nodes that an instance has to pass, in the order in which it does: one or two. Each has to meet the tables
    /// of the hops that it is an end of.
    pub fn passes(&self, conflicts: &Conflicts, instance: usize) -> Vec<Pass> {
        let visit = &self.visits[instance];
        let before = (instance + self.visits.len() - 1) % self.visits.len();
        let table = |hop: u32| conflicts.tables[usize::from(conflicts.edge(hop).table)].clone();
        let mut passes: Vec<Pass> = visit.sites().iter().map(|site| pass(conflicts.site(*site).node)).collect();
        passes[visit.entered()].meets.insert(table(self.visits[before].hop));
        passes[visit.left()].meets.insert(table(visit.hop));
        passes
    }

    /// Its structure.
    pub fn structure(&self, conflicts: &Conflicts) -> Structure {
        let part = |visit: &Visit| {
            let hop = conflicts.edge(visit.hop);
            (conflicts.site(visit.enter).procedure, hop.kind, hop.table)
        };
        let parts: Vec<(u16, Kind, u16)> = self.visits.iter().map(part).collect();
        let rotated = |by: usize| parts[by..].iter().chain(&parts[..by]).copied().collect::<Box<[_]>>();
        Structure((0..parts.len()).map(rotated).min().unwrap_or_default())
    }

    /// The cycle as one line; `names` are the names of the procedures.
    pub fn show(&self, conflicts: &Conflicts, names: &[&str]) -> String {
        let mut text = String::new();
        for visit in &self.visits {
            let (enter, leave) = (conflicts.site(visit.enter), conflicts.site(visit.leave));
            let name = names.get(usize::from(enter.procedure)).copied().unwrap_or("?");
            let passed = match visit.through {
                Through::One => enter.node.to_string(),
                Through::Forward => format!("{}..{}", enter.node, leave.node),
                Through::Backward => format!("{}^{}", enter.node, leave.node),
            };
            let hop = conflicts.edge(visit.hop);
            text += &format!("{name}:{passed} -{} {}-> ", hop.kind, conflicts.tables[usize::from(hop.table)]);
        }
        text.trim_end().to_string()
    }
}

fn pass(node: u16) -> Pass {
    Pass { node: node.into(), ..Pass::default() }
}

/// What cycles are grouped by: the procedures in the order of the cycle, each with the kind and the table of the hop
/// that leads on. The least of all rotations.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Structure(pub Box<[(u16, Kind, u16)]>);

impl Structure {
    /// The structure in words; `names` are the names of the procedures.
    pub fn show(&self, conflicts: &Conflicts, names: &[&str]) -> String {
        let show = |(procedure, kind, table): &(u16, Kind, u16)| {
            let name = names.get(usize::from(*procedure)).copied().unwrap_or("?");
            format!("{name} -{kind} {}->", conflicts.tables[usize::from(*table)])
        };
        self.0.iter().map(show).collect::<Vec<_>>().join(" ")
    }
}

/// How far is looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// How many statements a cycle may have.
    pub length: usize,
    /// How many instances.
    pub instances: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { length: 4, instances: 3 }
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "length {}, {} instances", self.length, self.instances)
    }
}

/// All candidate cycles: shorter ones first, then those of fewer instances, and those of one structure together.
pub fn cycles(conflicts: &Conflicts, bounds: Bounds) -> Vec<Cycle> {
    let mut search = Search::new(conflicts, bounds, WorkBudget::unlimited());
    (0..=u16::MAX).take(conflicts.sites.len()).for_each(|site| search.begin_at(site));
    sorted(search.found, conflicts)
}

/// Shorter cycles first, then those of fewer instances, and those of one structure together.
pub(super) fn sorted(mut cycles: Vec<Cycle>, conflicts: &Conflicts) -> Vec<Cycle> {
    cycles.sort_by_cached_key(|cycle| (cycle.length(), cycle.visits.len(), cycle.structure(conflicts), cycle.clone()));
    cycles
}

/// The candidate cycles over some procedures, each of which is called exactly as often as it is listed, site by site:
/// those of one call at a time are made.
#[derive(Debug)]
pub(super) struct CyclesOver<'a> {
    conflicts: &'a Conflicts,
    bounds: Bounds,
    /// The procedures, ascending.
    procedures: Vec<u16>,
    /// The sites where cycles begin, which are those of the first procedure: a cycle begins with its least visit.
    sites: std::vec::IntoIter<u16>,
    budget: WorkBudget,
    /// True if cycles were left out, because there are more of one site than anybody can look at.
    pub(super) is_cut: bool,
}

impl<'a> CyclesOver<'a> {
    pub(super) fn new(conflicts: &'a Conflicts, bounds: Bounds, procedures: &[u16], budget: WorkBudget) -> Self {
        let sites: Vec<u16> = procedures.first().into_iter().flat_map(|one| conflicts.sites_of(*one)).collect();
        let bounds = Bounds { instances: bounds.instances.min(procedures.len()), ..bounds };
        let (procedures, sites) = (procedures.to_vec(), sites.into_iter());
        CyclesOver { conflicts, bounds, procedures, sites, budget, is_cut: false }
    }

    /// At least so many more cycles, if there are so many: all that begin at the next sites.
    pub(super) fn at_least(&mut self, count: usize) -> Vec<Cycle> {
        let mut search = Search::new(self.conflicts, self.bounds, self.budget.clone());
        search.allowed = Some(self.procedures.clone());
        while search.found.len() < count && !search.is_over() {
            let Some(site) = self.sites.next() else { break };
            search.begin_at(site);
        }
        self.is_cut |= search.is_over();
        sorted(search.found, self.conflicts)
    }
}

/// How many cycles that begin at one site are made.
const CYCLES_MAX: usize = 500_000;

/// How an instance is passed: where the cycle enters, where it leaves, and how.
type Passing = (u16, u16, Through);

struct Search<'a> {
    conflicts: &'a Conflicts,
    bounds: Bounds,
    path: Vec<Visit>,
    length: usize,
    found: Vec<Cycle>,
    /// The procedures that are still to be visited, if only some are wanted.
    allowed: Option<Vec<u16>>,
    budget: WorkBudget,
}

impl<'a> Search<'a> {
    fn new(conflicts: &'a Conflicts, bounds: Bounds, budget: WorkBudget) -> Search<'a> {
        Search { conflicts, bounds, path: Vec::new(), length: 0, found: Vec::new(), allowed: None, budget }
    }

    /// Finds the cycles that begin at a site.
    fn begin_at(&mut self, site: u16) {
        for start in self.passings(site) {
            self.visit(start);
        }
    }

    /// True if no more cycles are to be made.
    fn is_over(&self) -> bool {
        self.found.len() >= CYCLES_MAX || self.budget.is_spent()
    }

    /// How an instance can be passed that is entered at a site.
    fn passings(&self, enter: u16) -> Vec<Passing> {
        let conflicts = self.conflicts;
        if conflicts.site(enter).undoes {
            return conflicts.undone(enter).iter().map(|leave| (enter, *leave, Through::Backward)).collect();
        }
        let mut passings = vec![(enter, enter, Through::One)];
        passings.extend(conflicts.later(enter).iter().map(|leave| (enter, *leave, Through::Forward)));
        let procedure = conflicts.site(enter).procedure;
        let earlier = conflicts.sites_of(procedure).filter(|site| conflicts.later(*site).contains(&enter));
        passings.extend(earlier.map(|leave| (enter, leave, Through::Backward)));
        // Nothing leads on from where a transaction is undone.
        passings.retain(|(_, leave, _)| !conflicts.site(*leave).undoes);
        passings
    }

    /// Goes on through an instance, if that is allowed.
    fn visit(&mut self, (enter, leave, through): Passing) {
        let length = if through == Through::One { 1 } else { 2 };
        let first = self.path.first().map(|first| (first.enter, first.leave, first.through));
        // Another rotation begins with the lesser one.
        let is_less = first.is_some_and(|first| (enter, leave, through) < first);
        if is_less || self.length + length > self.bounds.length || self.path.len() >= self.bounds.instances {
            return;
        }
        let procedure = self.conflicts.site(enter).procedure;
        let Some(at) = self.allowance(procedure) else { return };
        let taken = self.allowed.as_mut().map(|allowed| allowed.swap_remove(at));
        self.length += length;
        self.path.push(Visit { enter, leave, through, hop: 0 });
        self.hops(enter, leave);
        self.path.pop();
        self.length -= length;
        if let (Some(allowed), Some(taken)) = (&mut self.allowed, taken) {
            allowed.push(taken);
        }
    }

    /// Where a procedure stands among those that are still to be visited; `None` if it is not to be visited.
    fn allowance(&self, procedure: u16) -> Option<usize> {
        self.allowed.as_ref().map_or(Some(0), |allowed| allowed.iter().position(|one| *one == procedure))
    }

    /// The edges from a site to sites that may be visited next, or that close the cycle.
    fn edges_from(&self, site: u16) -> Vec<u32> {
        let Some(allowed) = &self.allowed else { return self.conflicts.edges_from(site).collect() };
        let first = self.path.first().map(|first| self.conflicts.site(first.enter).procedure);
        let mut next: Vec<u16> = match allowed.is_empty() {
            true => first.into_iter().collect(),
            false => allowed.clone(),
        };
        next.sort_unstable();
        next.dedup();
        next.into_iter().flat_map(|procedure| self.conflicts.edges_to(site, procedure)).collect()
    }

    /// Goes on from the last instance.
    fn hops(&mut self, enter: u16, leave: u16) {
        let (conflicts, last) = (self.conflicts, self.path.len() - 1);
        let first = self.path[0].enter;
        let is_full = self.length >= self.bounds.length || self.path.len() >= self.bounds.instances;
        let undoes = conflicts.site(enter).undoes;
        for hop in self.edges_from(leave) {
            if self.is_over() {
                return;
            }
            let edge = conflicts.edge(hop);
            // A place where a write is undone is there for those who saw it.
            if undoes && edge.kind != Kind::Wr {
                continue;
            }
            self.path[last].hop = hop;
            if edge.to == first && last > 0 && self.allowed.as_ref().is_none_or(Vec::is_empty) {
                self.close();
            }
            if !is_full {
                for passing in self.passings(edge.to) {
                    self.visit(passing);
                }
            }
        }
    }

    /// Keeps the cycle, if it is valid, and the least of its rotations.
    fn close(&mut self) {
        let path = &self.path;
        let has_st = path.iter().any(|visit| visit.through != Through::One);
        let is_valid = has_st || self.misses_writes();
        let rotation = |by: usize| path[by..].iter().chain(&path[..by]);
        if is_valid && (1..path.len()).all(|by| rotation(0).le(rotation(by))) {
            self.found.push(Cycle { visits: path.as_slice().into() });
        }
    }

    /// Whether two statements in a row read before the next one wrote, or one of two did and writes last.
    fn misses_writes(&self) -> bool {
        let kinds: Vec<Kind> = self.path.iter().map(|visit| self.conflicts.edge(visit.hop).kind).collect();
        let mut in_a_row = kinds.iter().zip(kinds.iter().cycle().skip(1));
        in_a_row.any(|pair| pair == (&Kind::Rw, &Kind::Rw))
            || kinds == [Kind::Rw, Kind::Ww]
            || kinds == [Kind::Ww, Kind::Rw]
    }
}

#[cfg(test)]
mod tests;
