//! Anomalies: the patterns that isolation levels proscribe, as a table with a citation per row.
//!
//! The names are Adya's where he has one, then Bailis's, then those of Berenson et al. `corpus/anomalies/` holds at least
//! one case per row: a run shows the anomaly iff all expectations of the case that are marked `[anomaly]` are met.

/// One anomaly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anomaly {
    /// The canonical name, as `@anomaly` and reports use it.
    pub id: &'static str,
    /// What people call it.
    pub name: &'static str,
    /// What happens, in one sentence.
    pub what: &'static str,
    /// Where it is defined.
    pub citation: &'static str,
}

const ADYA: &str =
    "A. Adya: Weak Consistency: A Generalized Theory and Optimistic Implementations, PhD thesis, MIT, 1999";
const BAILIS: &str = "P. Bailis et al.: Highly Available Transactions: Virtues and Limitations, VLDB 2013";
const BERENSON: &str = "H. Berenson et al.: A Critique of ANSI SQL Isolation Levels, SIGMOD 1995";
const FEKETE: &str =
    "A. Fekete et al.: A Read-Only Transaction Anomaly Under Snapshot Isolation, SIGMOD Record 33(3), 2004";

/// Every anomaly that a case of the corpus provokes, from those that weak levels prevent to those that only
/// serializability prevents.
pub const ALL: &[Anomaly] = &[
    Anomaly {
        id: "G0",
        name: "dirty write",
        what: "writes of two transactions to several rows interleave",
        citation: ADYA,
    },
    Anomaly {
        id: "G1a",
        name: "aborted read",
        what: "a transaction sees what another wrote and then rolled back",
        citation: ADYA,
    },
    Anomaly {
        id: "G1b",
        name: "intermediate read",
        what: "a transaction sees a value that its writer overwrote before it committed",
        citation: ADYA,
    },
    Anomaly {
        id: "G1c",
        name: "circular information flow",
        what: "two transactions see each other's writes",
        citation: ADYA,
    },
    Anomaly {
        id: "A1",
        name: "dirty read",
        what: "a transaction sees a row that is not committed",
        citation: BERENSON,
    },
    Anomaly {
        id: "OTV",
        name: "observed transaction vanishes",
        what: "a transaction sees one write of another, and then a row from before another write of it",
        citation: BAILIS,
    },
    Anomaly {
        id: "A2",
        name: "fuzzy read",
        what: "a row read twice has another value the second time",
        citation: BERENSON,
    },
    Anomaly {
        id: "A3",
        name: "phantom",
        what: "a query asked twice returns a new row the second time",
        citation: BERENSON,
    },
    Anomaly {
        id: "PMP",
        name: "predicate-many-preceders",
        what: "two queries with predicates see a concurrent insert differently",
        citation: BAILIS,
    },
    Anomaly {
        id: "PMP-write",
        name: "predicate-many-preceders for a write",
        what: "a write acts on other rows than a query with the same predicate has just returned",
        citation: BAILIS,
    },
    Anomaly {
        id: "P4",
        name: "lost update",
        what: "a transaction overwrites a change that it has not seen, after reading the row",
        citation: BERENSON,
    },
    Anomaly {
        id: "G-single",
        name: "read skew",
        what: "a transaction sees one row from before another transaction and one from after it",
        citation: ADYA,
    },
    Anomaly {
        id: "G-single-write",
        name: "read skew of a write",
        what: "a transaction reads from before another transaction, and then its write looks at rows from after it",
        citation: ADYA,
    },
    Anomaly {
        id: "G2-item",
        name: "write skew",
        what: "two transactions each read what the other writes, and neither sees the other",
        citation: ADYA,
    },
    Anomaly {
        id: "G2-read-only",
        name: "read-only-transaction anomaly",
        what: "a transaction that only reads sees a state that no serial order passes through",
        citation: FEKETE,
    },
    Anomaly {
        id: "G2",
        name: "anti-dependency cycle",
        what: "two transactions each look for rows by a predicate and insert one that the other should have seen",
        citation: ADYA,
    },
];

/// The anomaly of that name.
pub fn by_id(id: &str) -> Option<&'static Anomaly> {
    ALL.iter().find(|anomaly| anomaly.id == id)
}
