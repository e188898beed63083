//! How many schedules there are to consider, step by step: the paper's Table 7.
//!
//! | | the paper says | TPC-C, each query a transaction |
//! |---|---|---|
//! | W1 | any three transactions | 34³ = 39,304 |
//! | W2 | Ti and Tk, in one instance, access the same element or host variable | 916 |
//! | W3 | Ti and Tk are from XactPair | 127 |
//! | W4 | … and the pattern is one of Tables 4 and 5 | 11 |
//!
//! It does not say what Tj must do in W2 and W3. Were it free, both numbers would be multiples of 34, and neither
//! is. So Tj must access the element, too, in whatever way, as §4.1 calls it *interesting*. What separates W2 from
//! W3 is then the flow: W2 is counted as if every node could follow every other and nothing replaced anything.

use std::collections::BTreeSet;

use super::input::{Application, Procedure};
use super::schedules::{CANDIDATES_MAX, Index, candidates, schedules_up_to, transactions};
use crate::budget::WorkBudget;

/// The numbers of schedules at each step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Funnel {
    /// The transactions. (In the paper's experiment, each is one query.)
    pub queries: u64,
    /// W1: all triples of transactions.
    pub all: u64,
    /// W2: the three access the same element, directly or by host variables.
    pub w2: u64,
    /// W3: and the first and the last are a pair by data flow.
    pub w3: u64,
    /// W4: and the accesses are a conflict pattern.
    pub w4: u64,
}

impl Funnel {
    /// Counts the schedules of an application.
    pub fn of(application: &Application) -> Funnel {
        Funnel::within(application, &WorkBudget::unlimited()).0
    }

    /// The same, and whether these are all of them: counting stops once the budget is spent, or [`TRIPLES_MAX`] were
    /// counted at one step.
    pub fn within(application: &Application, budget: &WorkBudget) -> (Funnel, bool) {
        let queries = transactions(application).len() as u64;
        let anywhere = Application { procedures: application.procedures.iter().map(without_flow).collect() };
        let index = Index::of(application);
        let (w2, w2_is_all) = triples(&anywhere, &index, budget);
        let (w3, w3_is_all) = triples(application, &index, budget);
        let (w4, w4_is_all) = schedules_up_to(application, TRIPLES_MAX, budget);
        let funnel = Funnel { queries, all: queries.saturating_pow(3), w2, w3, w4: w4.len() as u64 };
        (funnel, w2_is_all && w3_is_all && w4_is_all)
    }
}

/// About how many schedules are counted at each step.
pub const TRIPLES_MAX: usize = 1_000_000;

/// The triples whose first and last are connected and whose middle accesses the element in any way; and whether these
/// are all.
fn triples(application: &Application, index: &Index, budget: &WorkBudget) -> (u64, bool) {
    let mut found = BTreeSet::new();
    let mut is_complete = true;
    for (at, procedure) in application.procedures.iter().enumerate() {
        let candidates = candidates(procedure, budget);
        is_complete &= candidates.len() < CANDIDATES_MAX;
        for candidate in candidates {
            if found.len() >= TRIPLES_MAX || budget.is_spent() {
                return (found.len() as u64, false);
            }
            let between = index.of_element(&candidate.element);
            found.extend(between.map(|(between, ..)| (at, candidate.first, *between, candidate.last)));
        }
    }
    (found.len() as u64, is_complete && !budget.is_spent())
}

/// The same procedure, where anything may follow anything (that is reached at all) and nothing is certain.
fn without_flow(procedure: &Procedure) -> Procedure {
    let reached = super::ways::reached(procedure);
    let all: Vec<usize> = (0..procedure.nodes.len()).filter(|node| reached[*node]).collect();
    let mut free = procedure.clone();
    for at in all.iter().copied() {
        let node = &mut free.nodes[at];
        node.successors = all.clone();
        node.may_end = true;
        node.operations.iter_mut().for_each(|operation| operation.certain = false);
    }
    free
}
