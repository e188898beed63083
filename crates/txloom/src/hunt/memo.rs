//! A runner that remembers the scheduled runs of one case.
//!
//! Several oracles look at one case, and each of them begins with the run as it was scheduled. On one engine version that
//! run comes out the same every time, so it is executed once for all of them, and for the statistics. A memo lives as
//! long as one round of judging: a violation is looked at again with a new one.

use txloom_core::case::Case;
use txloom_core::engine::EngineInfo;
use txloom_core::oracle::{Mode, RunError, RunRequest, Runner};
use txloom_core::schedule::Policy;
use txloom_core::trace::Trace;

/// Remembers the scheduled runs of one case.
pub(super) struct Memo<'a> {
    runner: &'a mut dyn Runner,
    case: &'a Case,
    kept: Vec<Kept>,
    /// The first scheduled run of another case: of a variant that an oracle made.
    variant: Option<Trace>,
}

struct Kept {
    target: usize,
    policy: Policy,
    mode: Mode,
    trace: Trace,
}

impl<'a> Memo<'a> {
    /// Remembers nothing yet.
    pub(super) fn new(runner: &'a mut dyn Runner, case: &'a Case) -> Memo<'a> {
        Memo { runner, case, kept: Vec::new(), variant: None }
    }

    /// The scheduled runs of the case, in order of execution; if no oracle ran the case as it is, the first run of what
    /// one made of it.
    pub(super) fn traces(&self) -> impl Iterator<Item = &Trace> {
        let variant = self.variant.iter().filter(|_| self.kept.is_empty());
        self.kept.iter().map(|kept| &kept.trace).chain(variant)
    }

    fn remembered(&self, request: &RunRequest<'_>) -> Option<&Trace> {
        let same =
            |kept: &&Kept| kept.target == request.target && kept.policy == request.policy && kept.mode == request.mode;
        let kept = self.kept.iter().find(same)?;
        (request.case == self.case).then_some(&kept.trace)
    }

    fn keep(&mut self, request: &RunRequest<'_>, trace: &Trace) {
        let is_scheduled = matches!(request.mode, Mode::Scheduled(_));
        if is_scheduled && request.case != self.case {
            self.variant.get_or_insert_with(|| trace.clone());
        } else if is_scheduled && self.remembered(request).is_none() {
            let RunRequest { target, policy, mode, .. } = request.clone();
            self.kept.push(Kept { target, policy, mode, trace: trace.clone() });
        }
    }
}

impl Runner for Memo<'_> {
    fn targets(&self) -> Vec<EngineInfo> {
        self.runner.targets()
    }

    fn run(&mut self, request: &RunRequest<'_>) -> Result<Trace, RunError> {
        if let Some(trace) = self.remembered(request) {
            return Ok(trace.clone());
        }
        let trace = self.runner.run(request)?;
        self.keep(request, &trace);
        Ok(trace)
    }

    fn run_all(&mut self, requests: &[RunRequest<'_>]) -> Vec<Result<Trace, RunError>> {
        let remembered: Vec<Option<Trace>> = requests.iter().map(|request| self.remembered(request).cloned()).collect();
        let missing = requests.iter().zip(&remembered).filter(|(_, trace)| trace.is_none());
        let missing: Vec<RunRequest<'_>> = missing.map(|(request, _)| request.clone()).collect();
        let mut fresh = self.runner.run_all(&missing).into_iter();
        let mut results = Vec::new();
        for (request, known) in requests.iter().zip(remembered) {
            let result = known.map_or_else(|| fresh.next().expect("a runner answers every request"), Ok);
            if let Ok(trace) = &result {
                self.keep(request, trace);
            }
            results.push(result);
        }
        results
    }
}

#[cfg(test)]
mod tests {
    use txloom_core::case::parse;

    use super::*;
    use crate::report::fixtures::{Play, ok};

    /// Counts what it is asked to run.
    struct Counting(usize);

    impl Runner for Counting {
        fn targets(&self) -> Vec<EngineInfo> {
            Vec::new()
        }

        fn run(&mut self, _: &RunRequest<'_>) -> Result<Trace, RunError> {
            self.0 += 1;
            Ok(Play::new("a").done("a", "SELECT 1", ok()).end())
        }
    }

    #[test]
    fn what_was_scheduled_is_run_once_on_each_target_and_everything_else_each_time() {
        let (case, other) = (parse("/*a*/ SELECT 1;\n").unwrap(), parse("/*a*/ SELECT 2;\n").unwrap());
        let request = |case, target, mode| RunRequest { case, target, policy: Policy::default(), mode };
        let scheduled = || Mode::Scheduled(None);
        let mut runner = Counting(0);
        let mut memo = Memo::new(&mut runner, &case);
        let both = [request(&case, 0, scheduled()), request(&case, 1, scheduled()), request(&case, 0, scheduled())];
        assert_eq!(memo.run_all(&both).len(), 3);
        memo.run(&both[0]).unwrap();
        memo.run_all(&both);
        assert_eq!(memo.traces().count(), 2);
        for _ in 0..2 {
            memo.run(&request(&case, 0, Mode::Serial(Vec::new()))).unwrap();
            memo.run(&request(&other, 0, scheduled())).unwrap();
        }
        assert_eq!(memo.traces().count(), 2);
        // The first time, nothing was remembered yet when all three were asked for.
        assert_eq!(runner.0, 3 + 4);
    }
}
