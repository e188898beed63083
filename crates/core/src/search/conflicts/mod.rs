//! The static conflict graph: which statements can meet on a row, and in which columns.
//!
//! # The problem
//!
//! Whether two calls can disturb each other is decided by what their statements do to the same rows. Which rows, only
//! arguments tell; but whether it is possible at all, the statements themselves tell:
//!
//! ```text
//!   look: SELECT n FROM counters WHERE id = 1 ──rw──→ raise: UPDATE counters SET n = n + 1 WHERE id = 1     in n
//!                                             ←──wr──
//!         SELECT n FROM counters WHERE id = 2          never the same row
//! ```
//!
//! # The idea
//!
//! A *site* is a statement of a procedure that touches tables. Between two sites, thought of as statements of two
//! different calls (of two procedures, or of one), there may be dependencies of three kinds, for each table, with the
//! columns in which they meet: *wr*, *rw* and *ww* ([`Kind`]). That a row is there is one more column, CLOTHO's *alive*
//! (§3):
//!
//! * INSERT and DELETE write it, and all other columns; so does an UPDATE of the primary key.
//! * Who looks for rows reads it: of all rows in a scan, of that one row if the full key is given, found or not.
//! * What a condition tests is read; so is the `x` of `SET x = x + 1`, so that this statement reads and writes.
//! * Two INSERTs collide if they may have the same key. (A store keeps the later one; an engine refuses it.)
//! * With [external](Options::external), an INSERT reads whether the row with its key is there: it fails if it is.
//! * With [`references`](Options::references), who adds or changes a row reads whether there is the row that it refers
//!   to, and who removes one reads whether others refer to it (or removes them, too: ON DELETE CASCADE).
//!
//! What can never be the same row is left out: different constants for a key, or for a column that nobody updates
//! (`constants`). Which statements of one call are about the same row, `keys` tells. Reads that nobody
//! [uses](mod@crate::search::used) are left out, unless [external](Options::external) anomalies are asked for.
//! ROLLBACK counts as a statement that writes what it takes back (`undo`), but only for those who saw it before.
//!
//! # Limits
//!
//! Triggers are not followed. That a unique key, which is not the primary key, is looked up by INSERT and UPDATE is
//! seen only between two INSERTs. Only the first 65,535 statements of an application are looked at.

mod constants;
mod keys;
mod touch;
mod undo;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub use keys::Row;
pub use touch::{Grip, Touch, Within};

use crate::budget::WorkBudget;
use crate::flow::program::Given;
use crate::program::access::Effect;
use crate::program::schema::Schema;
use crate::search::used::used;
use touch::{Toucher, may_meet};

/// A statement of a procedure that touches tables, or a place where what was written is undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The position of its procedure.
    pub procedure: u16,
    /// Its node: a position in [`ProcedureAccess::nodes`](crate::program::access::ProcedureAccess::nodes).
    pub node: u16,
    /// Whether it is no statement, but a ROLLBACK or a failure of the call: it takes back what the transaction wrote.
    pub undoes: bool,
}

/// What ties two statements of different calls together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The first writes what the second reads.
    Wr,
    /// The first reads what the second writes, later.
    Rw,
    /// Both write, the second later.
    Ww,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Wr => "wr",
            Kind::Rw => "rw",
            Kind::Ww => "ww",
        })
    }
}

/// In what two statements meet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Column {
    /// Whether the row is there.
    Existence,
    /// The value of this column.
    Named(String),
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Column::Existence => "existence",
            Column::Named(name) => name,
        })
    }
}

/// A dependency that is possible between two sites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Where it comes from: a position in [`Conflicts::sites`].
    pub from: u16,
    /// Where it leads to.
    pub to: u16,
    /// What kind it is.
    pub kind: Kind,
    /// The table: a position in [`Conflicts::tables`].
    pub table: u16,
    /// In what they meet, ascending; never empty.
    pub columns: Vec<Column>,
}

/// What counts as a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether reads count whose values reach no write and no branch.
    pub external: bool,
    /// Whether foreign and unique keys are checked, and so read: true for engines, false for stores.
    pub references: bool,
    /// Whether what is rolled back counts: then a dirty read of it is a cycle.
    pub rollbacks: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { external: false, references: false, rollbacks: true }
    }
}

/// How many sites there are at most.
const SITES_MAX: usize = u16::MAX as usize;
/// How many dependencies there are about at most.
const EDGES_MAX: usize = 1_000_000;

/// The columns that no statement updates, by table.
type FixedColumns = BTreeMap<String, BTreeSet<String>>;

/// The static conflict graph.
#[derive(Debug, Clone, Default)]
pub struct Conflicts {
    /// The sites, by procedure and node.
    pub sites: Vec<Site>,
    /// The tables that they touch, by name.
    pub tables: Vec<String>,
    /// All possible dependencies between sites of two different instances, by where they come from.
    pub edges: Vec<Conflict>,
    /// How many procedures, the first ones, were looked at: all of them, unless there are too many dependencies or the
    /// budget was spent.
    pub connected: usize,
    /// What each site touches.
    touches: Vec<Vec<Touch>>,
    /// For each site, the sites of its procedure that may be executed later in the same call, ascending.
    later: Vec<Vec<u16>>,
    /// For each site that undoes, the sites that may be undone there.
    undone: Vec<Vec<u16>>,
    /// For each site, where its edges begin; and the end of all.
    starts: Vec<usize>,
    /// For each pair of sites, the tables in which they may touch the same row.
    meetings: BTreeMap<(u16, u16), Vec<u16>>,
}

impl Conflicts {
    /// The conflicts between the statements of some procedures.
    pub fn of(procedures: &[Given<'_>], schema: &Schema, options: Options) -> Conflicts {
        Conflicts::within(procedures, schema, options, &WorkBudget::unlimited())
    }

    /// The same, of the first procedures only, if the budget does not last for [all](Conflicts::connected).
    pub fn within(procedures: &[Given<'_>], schema: &Schema, options: Options, budget: &WorkBudget) -> Conflicts {
        let mut conflicts = Conflicts::default();
        let mut toucher = Toucher { schema, options, rows: keys::Rows::default() };
        for (at, given) in procedures.iter().enumerate() {
            if budget.is_spent() {
                break;
            }
            conflicts.add(at, *given, &mut toucher);
        }
        let tables: BTreeSet<&str> = conflicts.touches.iter().flatten().map(|touch| touch.table.as_str()).collect();
        conflicts.tables = tables.into_iter().take(SITES_MAX).map(str::to_string).collect();
        conflicts.connect(procedures.len(), (schema, &never_updated(procedures, schema)), budget);
        conflicts
    }

    /// Adds the sites of a procedure.
    fn add(&mut self, procedure: usize, given: Given<'_>, toucher: &mut Toucher<'_>) {
        let needs = used(given.access);
        let stable = keys::stable(given.access);
        let nodes = given.access.nodes.iter().zip(&needs);
        let touches: Vec<Vec<Touch>> =
            nodes.map(|(node, needs)| toucher.touches(procedure, node, needs, &stable)).collect();
        let undos = if toucher.options.rollbacks { undo::undos(given, &touches) } else { Vec::new() };
        let first = self.sites.len();
        for (node, touches) in touches.into_iter().enumerate() {
            let undo = undos.iter().find(|undo| undo.node == node);
            let numbers = (u16::try_from(procedure), u16::try_from(node));
            let (Ok(procedure), Ok(node)) = numbers else { continue };
            if self.sites.len() < SITES_MAX && (!touches.is_empty() || undo.is_some()) {
                self.sites.push(Site { procedure, node, undoes: undo.is_some() });
                self.touches.push(touches);
            }
        }
        for at in first..self.sites.len() {
            let node = self.sites[at].node.into();
            let undo = undos.iter().find(|undo| undo.node == node);
            let is_undone = |site: &Site| undo.is_some_and(|undo| undo.undone.contains(&site.node.into()));
            self.undone.push(self.numbers(first, is_undone));
            let reachable = keys::reachable(given.access, node);
            let is_later = |site: &Site| reachable[usize::from(site.node)];
            self.later.push(self.numbers(first, is_later));
        }
    }

    /// The numbers of the sites from one on, ascending, of which something holds.
    fn numbers(&self, first: usize, holds: impl Fn(&Site) -> bool) -> Vec<u16> {
        let found = self.sites.iter().enumerate().skip(first).filter(|(_, site)| holds(site));
        found.filter_map(|(at, _)| u16::try_from(at).ok()).collect()
    }

    /// Adds all dependencies, procedure by procedure: each with itself and with those before it.
    fn connect(&mut self, count: usize, (schema, fixed): (&Schema, &FixedColumns), budget: &WorkBudget) {
        let mut by_table: BTreeMap<String, Vec<u16>> = BTreeMap::new();
        let mut own = 0..0;
        for procedure in 0..count {
            if budget.is_spent() {
                self.finish_edges(procedure);
                return;
            }
            let sites = self.sites[own.end..].iter().take_while(|site| usize::from(site.procedure) == procedure);
            own = own.end..own.end + sites.count();
            for site in own.clone() {
                if self.edges.len() > EDGES_MAX || budget.is_spent() {
                    self.finish_edges(procedure);
                    return;
                }
                let tables: BTreeSet<String> = self.tables_at(site as u16).map(str::to_string).collect();
                for table in &tables {
                    by_table.entry(table.clone()).or_default().push(site as u16);
                }
                let met: BTreeSet<u16> = tables.iter().flat_map(|table| &by_table[table]).copied().collect();
                for other in met {
                    self.connect_pair(site as u16, other, schema, fixed);
                    if usize::from(other) != site {
                        self.connect_pair(other, site as u16, schema, fixed);
                    }
                }
            }
        }
        self.finish_edges(count);
    }

    /// Sorts the edges by their ends; those of the first procedures are complete.
    fn finish_edges(&mut self, connected: usize) {
        self.connected = connected;
        let procedure = |site: u16| usize::from(self.sites[usize::from(site)].procedure);
        let mut edges = std::mem::take(&mut self.edges);
        edges.retain(|edge| procedure(edge.from) < connected && procedure(edge.to) < connected);
        edges.sort_by_key(|edge| (edge.from, edge.to));
        let start = |site: usize| edges.partition_point(|edge| usize::from(edge.from) < site);
        self.starts = (0..=self.sites.len()).map(start).collect();
        self.edges = edges;
    }

    /// The tables that a site touches, or takes back what was written to.
    fn tables_at(&self, site: u16) -> impl Iterator<Item = &str> {
        let undone = self.undone(site).iter().copied();
        undone.chain([site]).flat_map(|site| self.touches(site)).map(|touch| touch.table.as_str())
    }

    /// Adds the dependencies from one site to another, in order of kind and table.
    fn connect_pair(&mut self, from: u16, to: u16, schema: &Schema, fixed: &FixedColumns) {
        let mut found: BTreeMap<(Kind, u16), BTreeSet<Column>> = BTreeMap::new();
        let mut met = BTreeSet::new();
        let none = BTreeSet::new();
        for (first, second) in self.pairs(from, to) {
            let Some(table) = self.table(&first.table) else { continue };
            let fixed = fixed.get(&first.table).unwrap_or(&none);
            if first.table != second.table || !may_meet(first, second, schema.table(&first.table), fixed) {
                continue;
            }
            met.insert(table);
            let kinds = [
                (Kind::Wr, second.read_of(first)),
                (Kind::Rw, first.read_of(second)),
                (Kind::Ww, first.overwritten_by(second)),
            ];
            for (kind, columns) in kinds.into_iter().filter(|(_, columns)| !columns.is_empty()) {
                found.entry((kind, table)).or_default().extend(columns);
            }
        }
        let undoes = self.site(to).undoes;
        for ((kind, table), columns) in found.into_iter().filter(|((kind, _), _)| !undoes || *kind == Kind::Rw) {
            self.edges.push(Conflict { from, to, kind, table, columns: columns.into_iter().collect() });
        }
        if !met.is_empty() && !undoes {
            self.meetings.insert((from, to), met.into_iter().collect());
        }
    }

    /// Each touch of the one with each of the other. What undoes touches what it takes back; it leads nowhere.
    fn pairs(&self, from: u16, to: u16) -> Vec<(&Touch, &Touch)> {
        let of = |site: u16| &self.touches[usize::from(site)];
        let second: Vec<&Touch> = match self.site(to).undoes {
            true => self.undone(to).iter().flat_map(|site| of(*site)).filter(|touch| touch.is_write()).collect(),
            false => of(to).iter().collect(),
        };
        of(from).iter().flat_map(|first| second.iter().map(move |second| (first, *second))).collect()
    }

    /// The site of that number.
    ///
    /// # Panics
    ///
    /// If the number is that of another graph.
    pub fn site(&self, site: u16) -> Site {
        self.sites[usize::from(site)]
    }

    /// The number of the site at a node.
    pub fn number(&self, procedure: usize, node: usize) -> Option<u16> {
        let at = self.sites.binary_search_by_key(&(procedure, node), |site| (site.procedure.into(), site.node.into()));
        at.ok().and_then(|at| u16::try_from(at).ok())
    }

    /// The number of a table.
    pub fn table(&self, name: &str) -> Option<u16> {
        self.tables.binary_search_by(|table| table.as_str().cmp(name)).ok().and_then(|at| u16::try_from(at).ok())
    }

    /// The dependency of that number.
    ///
    /// # Panics
    ///
    /// If the number is that of another graph.
    pub fn edge(&self, edge: u32) -> &Conflict {
        &self.edges[edge as usize]
    }

    /// The numbers of the dependencies from a site to sites of a procedure.
    pub fn edges_to(&self, site: u16, procedure: u16) -> std::ops::Range<u32> {
        let all = self.edges_from(site);
        let own = &self.edges[all.start as usize..all.end as usize];
        let to = |edge: &Conflict| self.site(edge.to).procedure;
        let first = own.partition_point(|edge| to(edge) < procedure) as u32;
        let end = own.partition_point(|edge| to(edge) <= procedure) as u32;
        all.start + first..all.start + end
    }

    /// The numbers of the sites of a procedure.
    pub fn sites_of(&self, procedure: u16) -> impl Iterator<Item = u16> + use<> {
        let first = self.sites.partition_point(|site| site.procedure < procedure);
        let end = self.sites.partition_point(|site| site.procedure <= procedure);
        (first..end).filter_map(|at| u16::try_from(at).ok())
    }

    /// The numbers of the dependencies that come from a site.
    pub fn edges_from(&self, site: u16) -> std::ops::Range<u32> {
        let site = usize::from(site);
        self.starts[site] as u32..self.starts[site + 1] as u32
    }

    /// What a site touches.
    pub fn touches(&self, site: u16) -> &[Touch] {
        &self.touches[usize::from(site)]
    }

    /// The sites that may be executed later than this one in the same call, ascending. Itself, if it is in a loop.
    pub fn later(&self, site: u16) -> &[u16] {
        &self.later[usize::from(site)]
    }

    /// The sites that may be undone at this one.
    pub fn undone(&self, site: u16) -> &[u16] {
        &self.undone[usize::from(site)]
    }

    /// The tables in which two sites of different calls may touch the same row, in whatever columns.
    pub fn meetings(&self, a: u16, b: u16) -> &[u16] {
        self.meetings.get(&(a, b)).map(Vec::as_slice).unwrap_or_default()
    }
}

/// For each table, the columns that no statement updates.
fn never_updated(procedures: &[Given<'_>], schema: &Schema) -> FixedColumns {
    let columns = |table: &crate::program::schema::Table| {
        let names = table.columns.iter().map(|column| column.name.clone()).collect::<BTreeSet<_>>();
        // What a foreign key changes by itself is not in any statement.
        let is_tied = |column: &String| table.foreign_keys.iter().any(|key| key.columns.contains(column));
        names.into_iter().filter(|column| !is_tied(column)).collect()
    };
    let mut fixed: FixedColumns = schema.tables.iter().map(|(name, table)| (name.clone(), columns(table))).collect();
    let nodes = procedures.iter().flat_map(|given| &given.access.nodes);
    for access in nodes.flat_map(|node| &node.access.tables) {
        if matches!(access.effect, Effect::Update | Effect::Upsert)
            && let Some(fixed) = fixed.get_mut(&access.table)
        {
            fixed.retain(|column| !access.writes.contains(column));
        }
    }
    fixed
}
