//! The budget of long work: time, memory and the user's patience, as one flag that every long loop looks at.
//!
//! ```text
//!   supervisor (has a clock, sees memory and signals) ──spend──→ WorkBudget ←──is_spent── loops
//! ```
//!
//! Code that has no clock cannot keep a deadline itself, and looking at a clock in an inner loop costs too much. So a
//! budget is a flag: whoever has a clock raises it once, with the reason; a loop that looks at it pays for one load.
//! What a loop leaves undone when it stops is for its caller to report.
//!
//! A budget of [steps](WorkBudget::of_steps) is spent by being looked at. Tests use it: they count steps, and need no
//! clock.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// The reason why a budget is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpentCause {
    /// The user asked to stop.
    Interrupt,
    /// The time is up.
    Time,
    /// Too much memory is in use.
    Memory,
    /// The steps are used up.
    Steps,
}

impl SpentCause {
    const ALL: [SpentCause; 4] = [SpentCause::Interrupt, SpentCause::Time, SpentCause::Memory, SpentCause::Steps];

    /// The flag that allows more.
    pub fn advice(self) -> &'static str {
        match self {
            SpentCause::Interrupt => "let it run to its end",
            SpentCause::Time => "allow more time with --for",
            SpentCause::Memory => "allow more with --memory, or analyse fewer files at a time",
            SpentCause::Steps => "allow more steps",
        }
    }
}

/// `the time was up`
impl fmt::Display for SpentCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SpentCause::Interrupt => "it was interrupted",
            SpentCause::Time => "the time was up",
            SpentCause::Memory => "the memory budget was spent",
            SpentCause::Steps => "the steps were used up",
        })
    }
}

/// A budget of work. Clones share it.
#[derive(Debug, Clone)]
pub struct WorkBudget {
    state: Arc<BudgetState>,
}

#[derive(Debug)]
struct BudgetState {
    /// 0, or one more than the position of the cause in [`SpentCause::ALL`].
    spent: AtomicU8,
    /// The steps that are left.
    steps: AtomicU64,
}

impl Default for WorkBudget {
    fn default() -> WorkBudget {
        WorkBudget::unlimited()
    }
}

impl WorkBudget {
    /// A budget that lasts until somebody [spends](WorkBudget::spend) it.
    pub fn unlimited() -> WorkBudget {
        WorkBudget::of_steps(u64::MAX)
    }

    /// A budget that can be looked at so often.
    pub fn of_steps(count: u64) -> WorkBudget {
        WorkBudget { state: Arc::new(BudgetState { spent: AtomicU8::new(0), steps: AtomicU64::new(count) }) }
    }

    /// Declares the budget spent. The first cause stays.
    pub fn spend(&self, cause: SpentCause) {
        let code = SpentCause::ALL.iter().position(|one| *one == cause).map_or(1, |at| at + 1) as u8;
        let _ = self.state.spent.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// True if the work is to stop now. Takes a step, if steps are counted.
    pub fn is_spent(&self) -> bool {
        if self.state.spent.load(Ordering::Relaxed) != 0 {
            return true;
        }
        let left = self.state.steps.load(Ordering::Relaxed);
        match left {
            u64::MAX => false,
            0 => {
                self.spend(SpentCause::Steps);
                true
            }
            _ => {
                let take = |left: u64| left.checked_sub(1);
                let _ = self.state.steps.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
                false
            }
        }
    }

    /// The reason why the budget is spent, if it is.
    pub fn cause(&self) -> Option<SpentCause> {
        let code = self.state.spent.load(Ordering::Relaxed);
        usize::from(code).checked_sub(1).and_then(|at| SpentCause::ALL.get(at)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_shared_and_keeps_its_first_cause() {
        let budget = WorkBudget::unlimited();
        let other = budget.clone();
        assert!(!budget.is_spent() && budget.cause().is_none());
        for cause in SpentCause::ALL {
            other.spend(cause);
            assert!(budget.is_spent());
            assert_eq!(budget.cause(), Some(SpentCause::Interrupt));
        }
    }

    #[test]
    fn steps_are_spent_by_looking() {
        let budget = WorkBudget::of_steps(2);
        assert_eq!([(); 4].map(|()| budget.is_spent()), [false, false, true, true]);
        assert_eq!(budget.cause(), Some(SpentCause::Steps));
    }
}
