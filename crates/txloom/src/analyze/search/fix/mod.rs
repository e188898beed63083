//! What removes an anomaly: changes that were applied, searched again and, with `--run`, run again.
//!
//! ```text
//!   cycle ──core::search::fix──→ changes, the cheapest first
//!                                    │ apply to the sources, read them again           edited
//!                                    │ search: is it gone, and nothing new come?       here
//!                                    │ run its tests on the changed program            trial
//!                                    ↓
//!                                  a fix, with what else it removes ──→ the set of fixes that costs least   cover
//! ```
//!
//! A change is judged by the cycles that a changed procedure takes part in; others have not changed. First by those of
//! the structure itself, which is enough to refuse most changes.
//!
//! # Limits
//!
//! A change must remove a structure alone; two changes that do it only together are not found, but for locks, which are
//! tried together, and levels. What the set leaves, if its changes get in each other's way, is counted by one more
//! search.

mod cover;
mod edited;
mod trial;

use std::collections::{BTreeMap, BTreeSet};

use txloom_core::oracle::RunError;
use txloom_core::search::conflicts::Conflicts;
use txloom_core::search::find::{Anomaly, Search, Test};
use txloom_core::search::fix::{self, Change};

pub use edited::Edited;
pub use trial::{Again, Runs};

use super::super::Project;
use super::{Searched, Wanted, called, prepare, report, search_for};
use crate::analyze::search::report::StructureKey;
use crate::report::model::analysis::{AnomaliesReport, FixReport, FixesReport, TrialVerdict};

/// So many tests of one structure are run again.
const TESTS_MAX: usize = 3;

/// A change that was found to work.
#[derive(Debug, Clone)]
pub struct Fix {
    /// The change.
    pub change: Change,
    /// What it does to the sources.
    pub diff: String,
    /// The structures that it removes.
    pub removes: BTreeSet<StructureKey>,
    /// What became of the tests, if they were run again.
    pub run: Option<String>,
}

impl Fix {
    fn report(&self) -> FixReport {
        FixReport {
            kind: self.change.kind.name.to_string(),
            says: self.change.says.clone(),
            diff: self.diff.clone(),
            removes: self.removes.len(),
            run: self.run.clone(),
            refusals: self.change.refusals().map(str::to_string),
        }
    }
}

/// Looks for fixes.
pub struct Fixer<'a> {
    project: &'a Project,
    wanted: &'a Wanted,
    search: &'a Search<'a>,
    found: &'a Searched,
    /// The structures that there are, each with the procedures that it is of.
    before: BTreeMap<StructureKey, BTreeSet<u16>>,
    /// Those of which nothing is known.
    unknown: BTreeSet<StructureKey>,
    /// The changes that were judged completely with what they remove; `None` if they bring something new.
    judged: Vec<(Change, Option<BTreeSet<StructureKey>>)>,
}

impl<'a> Fixer<'a> {
    /// Prepares to remove what was found.
    pub fn new(project: &'a Project, wanted: &'a Wanted, search: &'a Search<'a>, found: &'a Searched) -> Fixer<'a> {
        let conflicts = &search.conflicts;
        let entry = |anomaly: &Anomaly| {
            let procedures = anomaly.structure.0.iter().map(|(procedure, ..)| *procedure).collect();
            (StructureKey::new(project, conflicts, &anomaly.structure), procedures)
        };
        let before = found.anomalies.iter().map(entry).collect();
        let unknown = unknown(project, conflicts, found);
        Fixer { project, wanted, search, found, before, unknown, judged: Vec::new() }
    }

    /// Finds a fix for every structure of a report, and a set for all of them.
    pub fn fix(&mut self, told: &mut AnomaliesReport, mut runs: Option<&mut Runs<'_>>) -> Result<(), RunError> {
        let mut fixes: Vec<Fix> = Vec::new();
        let keys = report::groups(self.found).into_iter().map(|group| self.key(group[0])).collect::<Vec<_>>();
        for (structure, key) in told.structures.iter_mut().zip(&keys) {
            if self.wanted.budget.is_spent() {
                return Ok(());
            }
            let shows = structure.fate.as_ref().is_some_and(|fate| fate.verdict == TrialVerdict::Manifest);
            let again = runs.as_deref_mut().filter(|_| shows);
            let Some(found) = self.of_structure(key, &fixes, again)? else { continue };
            structure.fix = Some(found.report());
            if !fixes.iter().any(|fix| fix.change.is_same(&found.change)) {
                fixes.push(found);
            }
        }
        let chosen = cover::cover(&fixes, self.before.keys());
        let left = if chosen.len() > 1 { self.left_by(&chosen) } else { None };
        let covered: BTreeSet<&StructureKey> = chosen.iter().flat_map(|fix| &fix.removes).collect();
        let left = left.unwrap_or(self.before.len() - covered.len());
        told.fixes = Some(FixesReport { changes: chosen.iter().map(|fix| fix.report()).collect(), left });
        Ok(())
    }

    /// The cheapest change that removes a structure. Of several that cost the same, one that is needed anyway.
    fn of_structure(
        &mut self,
        structure: &StructureKey,
        fixes: &[Fix],
        mut runs: Option<&mut Runs<'_>>,
    ) -> Result<Option<Fix>, RunError> {
        let mut changes = self.changes(structure);
        let is_needed = |change: &Change| fixes.iter().any(|fix| fix.change.is_same(change));
        changes.sort_by_key(|change| (change.cost, !is_needed(change)));
        let tests = self.tests(structure);
        for change in changes {
            if self.wanted.budget.is_spent() {
                return Ok(None);
            }
            let Some(edited) = Edited::new(self.project, self.wanted, &[&change]) else { continue };
            let Some(removes) = self.judge(&change, &edited, structure) else { continue };
            let mut run = None;
            if let Some(runs) = runs.as_deref_mut() {
                match runs.again(&tests, &edited, &change)? {
                    Again::Gone(says) => run = Some(says),
                    Again::Shows | Again::Broken => continue,
                }
            }
            return Ok(Some(Fix { change, diff: edited.diff, removes, run }));
        }
        Ok(None)
    }

    fn key(&self, anomaly: &Anomaly) -> StructureKey {
        StructureKey::new(self.project, &self.search.conflicts, &anomaly.structure)
    }

    fn alike(&self, structure: &StructureKey) -> impl Iterator<Item = &'a Anomaly> {
        let (project, conflicts) = (self.project, &self.search.conflicts);
        let is_it = move |anomaly: &&Anomaly| StructureKey::new(project, conflicts, &anomaly.structure) == *structure;
        self.found.anomalies.iter().filter(is_it)
    }

    /// The changes that may remove the cycles of a structure, each once.
    fn changes(&self, structure: &StructureKey) -> Vec<Change> {
        let procedures = called(self.project);
        let ground = fix::Ground {
            schema: &self.project.schema,
            procedures: &procedures,
            conflicts: &self.search.conflicts,
            level: self.wanted.level,
        };
        let mut changes: Vec<Change> = Vec::new();
        for anomaly in self.alike(structure) {
            for change in fix::changes(&ground, &anomaly.cycle) {
                if !changes.iter().any(|known| known.is_same(&change)) {
                    changes.push(change);
                }
            }
        }
        changes
    }

    fn tests(&self, structure: &StructureKey) -> Vec<&'a Test> {
        let mut numbers: Vec<usize> = self.alike(structure).map(|anomaly| anomaly.test).collect();
        numbers.dedup();
        numbers.into_iter().take(TESTS_MAX).map(|at| &self.found.tests[at]).collect()
    }

    /// What a change removes, if that structure is part of it, and if it brings nothing new.
    fn judge(&mut self, change: &Change, edited: &Edited, structure: &StructureKey) -> Option<BTreeSet<StructureKey>> {
        let is_part = |removes: &BTreeSet<StructureKey>| removes.contains(structure);
        if let Some((_, known)) = self.judged.iter().find(|(judged, _)| judged.is_same(change)) {
            return known.clone().filter(is_part);
        }
        let touches = |group: &BTreeSet<u16>| {
            change.procedures.as_ref().is_none_or(|changed| changed.iter().any(|one| group.contains(one)))
        };
        // Is it gone? That is found out soon. Is nothing new there? That takes a search.
        let mut after = edited.structures(|_, name| name == structure)?;
        if after.contains(structure) {
            return None;
        }
        after.extend(edited.structures(|group, name| touches(group) && name != structure)?);
        let brings = after.iter().any(|one| !self.before.contains_key(one) && !self.unknown.contains(one));
        let gone = |(name, group): (&StructureKey, &BTreeSet<u16>)| {
            (touches(group) && !after.contains(name)).then(|| name.clone())
        };
        let removes: BTreeSet<StructureKey> = self.before.iter().filter_map(gone).collect();
        let verdict = (!brings).then_some(removes);
        self.judged.push((change.clone(), verdict.clone()));
        verdict.filter(is_part)
    }

    /// How many structures there are with all of these changes; `None` if they cannot be made together.
    fn left_by(&self, fixes: &[&Fix]) -> Option<usize> {
        let changes: Vec<&Change> = fixes.iter().map(|fix| &fix.change).collect();
        let edited = Edited::new(self.project, self.wanted, &changes)?;
        let after = edited.structures(|_, _| true)?;
        Some(after.iter().filter(|one| !self.unknown.contains(*one)).count())
    }
}

/// The structures of the cycles of which nothing is known.
fn unknown(project: &Project, conflicts: &Conflicts, found: &Searched) -> BTreeSet<StructureKey> {
    found.unknown.iter().map(|cycle| StructureKey::new(project, conflicts, &cycle.structure(conflicts))).collect()
}

impl Edited {
    /// The structures that happen, or may, of those over some procedures with some names; `None` if there was no time to
    /// tell.
    fn structures(
        &self,
        is_wanted: impl Fn(&BTreeSet<u16>, &StructureKey) -> bool + Sync,
    ) -> Option<BTreeSet<StructureKey>> {
        let procedures = called(&self.project);
        let prepared = prepare(&self.project, &procedures, &self.wanted);
        let conflicts = &prepared.conflicts;
        let found = search_for(&prepared, &|group, cycle| {
            let name = StructureKey::new(&self.project, conflicts, &cycle.structure(conflicts));
            is_wanted(&group.iter().copied().collect(), &name)
        });
        let mut structures = unknown(&self.project, &prepared.conflicts, &found);
        let happens = found.anomalies.iter();
        structures.extend(happens.map(|one| StructureKey::new(&self.project, &prepared.conflicts, &one.structure)));
        (found.left == 0 && !found.is_cut).then_some(structures)
    }
}
