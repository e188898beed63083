//! Calls that are refused: they fail, or find nothing to change, and leave nothing behind. They were not made.
//!
//! The [calls oracle](crate::oracle::calls) says the same of runs. Serial orders are those of the calls that were made, and
//! what they leave is compared; which calls these are depends on the values, like the branches that calls take.

use super::run::{Ended, Run};
use crate::program::access::{Effect as Deed, Node, TableAccess};
use crate::solve::Bool;

impl Run<'_, '_> {
    /// For each call, whether it was refused, now that the run is over.
    pub(super) fn refused_calls(&mut self) -> Vec<Bool> {
        (0..self.locals.len()).map(|instance| self.is_refused(instance)).collect()
    }

    fn is_refused(&mut self, instance: usize) -> Bool {
        let own = self.executed.iter().filter(|executed| executed.instance == instance);
        let lasting = own.filter(|executed| executed.undone.is_none());
        let guards: Vec<Bool> = lasting.flat_map(|one| &one.effects).map(|effect| effect.guard).collect();
        let left = self.any(guards);
        let nothing = self.symbols.problem.not(left);
        match &self.locals[instance].ended {
            None => self.symbols.never,
            Some(Ended::Failed) => nothing,
            Some(Ended::Returned(_)) => {
                let unmet = self.has_unmet_write(instance);
                self.symbols.problem.and(unmet, nothing)
            }
        }
    }

    /// Whether a write of one row has met none.
    fn has_unmet_write(&mut self, instance: usize) -> Bool {
        let access = self.ground.calls[instance].access;
        let mut any = self.symbols.never;
        for at in 0..self.executed.len() {
            let executed = &self.executed[at];
            let is_write = executed.instance == instance && access.nodes.get(executed.node).is_some_and(writes_one_row);
            if is_write {
                let guards = executed.effects.iter().map(|effect| effect.guard).collect();
                let met = self.any(guards);
                let unmet = self.symbols.problem.not(met);
                any = self.symbols.problem.or(any, unmet);
            }
        }
        any
    }

    fn any(&mut self, guards: Vec<Bool>) -> Bool {
        guards.into_iter().fold(self.symbols.never, |any, guard| self.symbols.problem.or(any, guard))
    }
}

/// Whether a statement changes or removes one row, found by a whole key.
fn writes_one_row(node: &Node) -> bool {
    let is_write = |access: &TableAccess| matches!(access.effect, Deed::Update | Deed::Delete);
    node.access.tables.iter().any(|access| is_write(access) && access.finds_one())
}
