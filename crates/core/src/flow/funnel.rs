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
use super::schedules::{Index, candidates, schedules, transactions};

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
        let queries = transactions(application).len() as u64;
        let anywhere = Application { procedures: application.procedures.iter().map(without_flow).collect() };
        Funnel {
            queries,
            all: queries.pow(3),
            w2: triples(&anywhere, &Index::of(application)),
            w3: triples(application, &Index::of(application)),
            w4: schedules(application).len() as u64,
        }
    }
}

/// The triples whose first and last are connected and whose middle accesses the element in any way.
fn triples(application: &Application, index: &Index) -> u64 {
    let mut found = BTreeSet::new();
    for (at, procedure) in application.procedures.iter().enumerate() {
        for candidate in candidates(procedure) {
            let between = index.of_element(&candidate.element);
            found.extend(between.map(|(between, ..)| (at, candidate.first, *between, candidate.last)));
        }
    }
    found.len() as u64
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
