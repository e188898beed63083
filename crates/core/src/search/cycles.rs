//! Candidate cycles.

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

/// A candidate cycle: every instance is visited once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cycle {
    /// The instances, in the order of the cycle; the last one leads to the first.
    pub visits: Box<[Visit]>,
}

impl Cycle {
    /// How many statements it has.
    pub fn length(&self) -> usize {
        self.visits.iter().map(|visit| if visit.through == Through::One { 1 } else { 2 }).sum()
    }

    /// The nodes that an instance has to pass, in the order in which it does: one or two.
    pub fn passes(&self, conflicts: &Conflicts, instance: usize) -> Vec<Pass> {
        let visit = &self.visits[instance];
        let sites: &[u16] = match visit.through {
            Through::One => &[visit.enter],
            Through::Forward => &[visit.enter, visit.leave],
            Through::Backward => &[visit.leave, visit.enter],
        };
        let pass = |site: &u16| Pass { node: conflicts.sites[usize::from(*site)].node.into(), ..Pass::default() };
        sites.iter().map(pass).collect()
    }

    /// Its structure.
    pub fn structure(&self, _conflicts: &Conflicts) -> Structure {
        Structure(Box::new([]))
    }
}

/// What cycles are grouped by: the procedures in the order of the cycle, each with the kind and the table of the hop that
/// leads on. The least of all rotations.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Structure(pub Box<[(u16, Kind, u16)]>);

/// How far is looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// How many statements a cycle may have.
    pub length: usize,
    /// How many instances.
    pub instances: usize,
    /// Whether two statements that both read and write make a cycle by themselves, without a third one: where the read and
    /// the write of a statement are not one, as across replicas.
    pub split_statements: bool,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { length: 4, instances: 3, split_statements: false }
    }
}

/// All candidate cycles: shorter ones first, then those of fewer instances, and those of one structure together.
pub fn cycles(_conflicts: &Conflicts, _bounds: Bounds) -> Vec<Cycle> {
    Vec::new()
}
