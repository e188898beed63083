//! Analysing applications: which orders of their transactions can go wrong, and do they?
//!
//! ```text
//!   files ──project──→ program, tables, assertions
//!                          │
//!                      core::flow ──→ schedules ⟨Ti_A, Tj_B, Tk_A⟩, commit points
//!                          │
//!            aim: the conditions on the way, put to the solver ──→ values, or: impossible
//!                          │
//!            data: rows and arguments that make the calls meet
//!                          │
//!            force: the calls, transaction by transaction, in that order ──→ is it possible at all?
//!                          │
//!            trial: the same as a case, judged by serial orders of the calls and by assertions
//! ```
//!
//! A schedule that the analysis finds is a possibility. It counts as *manifest* only if a run of it, on a real database,
//! left what no order of the calls leaves, or broke an assertion that every order keeps; the run is a case file that
//! anybody can run again.

pub mod project;
mod unknowns;
pub mod aim;
pub mod kinship;
pub mod data;
pub mod database;
pub mod unread;
pub mod tables;
mod watchdog;
pub mod force;
pub mod trial;
pub mod atomicity;
pub mod search;
pub mod report;
mod conclusion;

use txloom_core::budget::WorkBudget;
use txloom_core::flow::program::{self, Cut, Flowing, Given};
use txloom_core::flow::{CommitPoint, Funnel, Group, Schedule, commit_points_up_to, groups, schedules_up_to};

pub use conclusion::conclusion;
pub use project::{Project, SourceFile};

/// So many schedules are looked at: nobody reads more.
pub const SCHEDULES_MAX: usize = 10_000;

/// So many commit points, and so many transactions behind each of them.
pub const POINTS_MAX: usize = 500;

/// What can be said of a program without running it.
#[derive(Debug, Clone)]
pub struct Analysis {
    /// Its transactions.
    pub flowing: Flowing,
    /// The schedules that may go wrong.
    pub schedules: Vec<Schedule>,
    /// Which of them are alike.
    pub groups: Vec<Group>,
    /// Where the end of the process would leave half of the work.
    pub points: Vec<CommitPoint>,
    /// Whether these are all schedules.
    pub is_complete: bool,
}

impl Analysis {
    /// Analyses a program.
    pub fn of(project: &Project, cut: Cut) -> Analysis {
        Analysis::within(project, cut, &WorkBudget::unlimited())
    }

    /// The same, as far as the budget goes.
    pub fn within(project: &Project, cut: Cut, budget: &WorkBudget) -> Analysis {
        let flowing = program::application(&project.given(), &project.schema, cut);
        let (schedules, has_schedules) = schedules_up_to(&flowing.application, SCHEDULES_MAX, budget);
        let groups = groups(&schedules);
        let (points, has_points) = commit_points_up_to(&flowing.application, POINTS_MAX, budget);
        let is_complete = has_schedules && has_points && !budget.is_spent();
        Analysis { flowing, schedules, groups, points, is_complete }
    }

    /// How many schedules each step of the analysis leaves, and whether all were counted.
    pub fn funnel(&self, budget: &WorkBudget) -> (Funnel, bool) {
        Funnel::within(&self.flowing.application, budget)
    }
}

impl Project {
    /// The procedures, as the analysis takes them.
    pub fn given(&self) -> Vec<Given<'_>> {
        let autocommits = self.program.procedures.iter().map(|procedure| procedure.autocommit);
        self.accesses.iter().zip(autocommits).map(|(access, autocommit)| Given { access, autocommit }).collect()
    }
}
