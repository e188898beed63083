//! The test of a reduction, with its bookkeeping.

use std::collections::BTreeSet;

use crate::case::Case;
use crate::finding;
use crate::oracle::Verdict;
use crate::reduce::ddmin;

/// What a test says of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reproduction {
    /// It shows what it should.
    Reproduced,
    /// It does not.
    Gone,
    /// It cannot be told. Never counts as reproduced.
    Unresolved,
    /// It cannot be told, and no other case can be tested any more: the reduction ends with what it has.
    Stopped,
}

impl Reproduction {
    /// What an oracle's verdict means: violated or not; unknown is unresolved, and so is a run that failed.
    pub fn of<E>(verdict: &Result<Verdict, E>) -> Reproduction {
        match verdict {
            Ok(Verdict::Violated(_)) => Reproduction::Reproduced,
            Ok(Verdict::Holds(_) | Verdict::Vacuous(_)) => Reproduction::Gone,
            Ok(Verdict::Unknown(_) | Verdict::Unstable(_)) | Err(_) => Reproduction::Unresolved,
        }
    }
}

/// The test, and how often it may still be asked.
pub(super) struct Tests<'a> {
    test: &'a mut dyn FnMut(&Case) -> Reproduction,
    left: usize,
    /// How many tests were run.
    pub(super) run: usize,
    /// How many of them could not tell.
    pub(super) unresolved: usize,
    /// Whether a case could not be tested because there were no tests left.
    pub(super) ran_out: bool,
    /// Hashes of cases that do not reproduce. If two cases ever had the same hash, one of them would not be tried, and
    /// the result would be larger: never wrong.
    rejected: BTreeSet<u64>,
}

impl<'a> Tests<'a> {
    pub(super) fn new(tests_max: usize, test: &'a mut dyn FnMut(&Case) -> Reproduction) -> Tests<'a> {
        Tests { test, left: tests_max, run: 0, unresolved: 0, ran_out: false, rejected: BTreeSet::new() }
    }

    /// Whether a case reproduces. When no tests are left, nothing does.
    pub(super) fn reproduces(&mut self, case: &Case) -> bool {
        let hash = finding::hash(&format!("{:?}", case.entries));
        if self.rejected.contains(&hash) {
            return false;
        }
        if self.left == 0 {
            self.ran_out = true;
            return false;
        }
        self.left -= 1;
        self.run += 1;
        let answer = (self.test)(case);
        match answer {
            Reproduction::Reproduced => return true,
            Reproduction::Gone => {}
            Reproduction::Unresolved => self.unresolved += 1,
            Reproduction::Stopped => (self.left, self.ran_out) = (0, true),
        }
        self.rejected.insert(hash);
        false
    }

    /// Keeps as few of the parts as possible; `build` makes the case that has only these.
    pub(super) fn minimize<T: Clone>(
        &mut self,
        case: &Case,
        parts: &[T],
        build: impl Fn(&[T]) -> Option<Case>,
    ) -> Case {
        let kept = ddmin::ddmin(parts, &mut |parts: &[T]| build(parts).is_some_and(|case| self.reproduces(&case)));
        if kept.len() == parts.len() { case.clone() } else { build(&kept).unwrap_or_else(|| case.clone()) }
    }

    /// Takes a simpler case that reproduces, and goes on from there until there is none; `simpler` lists what can be
    /// tried. After a success the next in the list comes, since what stands before it has just failed for a case that
    /// is almost the same; at the end the list begins anew.
    pub(super) fn descend(&mut self, case: &Case, simpler: impl Fn(&Case) -> Vec<Case>) -> Case {
        let mut current = case.clone();
        let (mut at, mut changed) = (0, false);
        loop {
            let mut rest = simpler(&current).into_iter().enumerate().skip(at);
            match rest.find(|(_, candidate)| !self.ran_out && self.reproduces(candidate)) {
                Some((found, smaller)) => (at, current, changed) = (found, smaller, true),
                None if changed && !self.ran_out => (at, changed) = (0, false),
                None => return current,
            }
        }
    }
}
