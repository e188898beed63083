//! Levels of replicated stores, as axioms over visibility and arbitration.
//!
//! # The idea
//!
//! What a store guarantees can be said of two relations between the statements of an execution (Burckhardt et al. 2014;
//! CLOTHO §4.1, Table 1): *ar*, the order in which they are executed, which decides whose write is the last one; and
//! *vis* ⊆ *ar*, who sees whom. A level is a set of Horn clauses: whatever makes their bodies true makes the head true.
//! So there is always a smallest visibility that contains what is wanted, and computing it
//! ([`closure`](super::closure)) is no search.
//!
//! ```text
//!   read committed:    st(a, b) ∧ vis(a, c) ∧ ¬st(a, c) ⇒ vis(b, c)   who sees a part of a transaction sees all of it
//!   repeatable read:   st(a, b) ∧ vis(c, a) ∧ ¬st(a, c) ⇒ vis(c, b)   what one statement sees, all of them see
//! ```
//!
//! Each statement may be answered by any node, as in the paper's τ: at `eventual`, a call need not even see what it wrote
//! itself. Only where each call stays on its node ([`Axioms::staying`]) it sees its own earlier statements, and what has
//! arrived once stays (formula 3, with the partition that its connection leads to). A transaction's end belongs to the
//! transaction.
//!
//! # Where this differs from the paper
//!
//! * **`¬st`.** By the letter of Table 1, a transaction that sees its own first statement must have seen its last one,
//!   too, before. The clauses are about what others see.
//! * **Causal consistency** is "vis(a, b) or vis(b, a)" for two statements of a transaction. Since *vis* follows *ar*,
//!   it is the earlier one that is seen: a Horn clause.
//! * **Snapshot isolation** and its relatives are those of Cerone, Bernardi and Gotsman (CONCUR 2015), who order whole
//!   transactions; for us that is the order of their ends. Their transactions see themselves (INT), which Table 1 demands
//!   of `causal` only.

use std::fmt;
use std::sync::LazyLock;

/// A relation between two statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// They belong to one call.
    SameCall,
    /// They belong to one transaction.
    SameTransaction,
    /// They belong to two transactions.
    OtherTransaction,
    /// The second sees the first.
    Sees,
    /// The first is arbitrated before the second.
    Before,
    /// The transaction of the first ends before that of the second.
    EndsBefore,
}

/// A relation between two of a clause's variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Atom {
    /// The relation.
    pub relation: Relation,
    /// Its first variable: 0, 1 or 2.
    pub from: u8,
    /// Its second variable.
    pub to: u8,
}

/// `body ⇒ vis(from, to)`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clause {
    /// What must hold. A variable of the head is in the body.
    pub body: &'static [Atom],
    /// Then the second of these variables sees the first.
    pub head: (u8, u8),
}

/// A level of a store.
#[derive(Debug, Clone, Copy)]
pub struct Axioms {
    /// Its name.
    pub name: &'static str,
    /// Other names, in lower case with spaces.
    pub aliases: &'static [&'static str],
    /// What holds for the statements of transactions at this level.
    pub clauses: &'static [Clause],
    /// Whether two transactions that write the same row are never concurrent: one sees the other.
    pub no_conflict: bool,
    /// Whether each call stays on its node, so that [`STICKY`] holds, too.
    pub sticky: bool,
    /// In one sentence.
    pub what: &'static str,
    /// Where it is defined.
    pub citation: &'static str,
}

const fn atom(relation: Relation, from: u8, to: u8) -> Atom {
    Atom { relation, from, to }
}

const fn call(from: u8, to: u8) -> Atom {
    atom(Relation::SameCall, from, to)
}

const fn st(from: u8, to: u8) -> Atom {
    atom(Relation::SameTransaction, from, to)
}

const fn other(from: u8, to: u8) -> Atom {
    atom(Relation::OtherTransaction, from, to)
}

const fn vis(from: u8, to: u8) -> Atom {
    atom(Relation::Sees, from, to)
}

const fn ar(from: u8, to: u8) -> Atom {
    atom(Relation::Before, from, to)
}

const fn ends(from: u8, to: u8) -> Atom {
    atom(Relation::EndsBefore, from, to)
}

const OWN: Clause = Clause { body: &[call(0, 1), ar(0, 1)], head: (0, 1) };
const STAYS: Clause = Clause { body: &[vis(0, 1), call(1, 2), ar(1, 2)], head: (0, 2) };
const CAUSAL_VISIBILITY: Clause = Clause { body: &[vis(0, 1), vis(1, 2)], head: (0, 2) };
const CAUSAL: Clause = Clause { body: &[st(0, 1), ar(0, 1)], head: (0, 1) };
const READ_COMMITTED: Clause = Clause { body: &[st(0, 1), vis(0, 2), other(0, 2)], head: (1, 2) };
const REPEATABLE_READ: Clause = Clause { body: &[st(0, 1), vis(2, 0), other(0, 2)], head: (2, 1) };
const LINEARIZABLE: Clause = Clause { body: &[ar(0, 1)], head: (0, 1) };
const PREFIX: Clause = Clause { body: &[ends(0, 1), vis(1, 2), other(1, 2)], head: (0, 2) };
const TOTAL: Clause = Clause { body: &[ends(0, 1)], head: (0, 1) };

/// What holds where each call stays on its node: it sees its own earlier statements, and what it has seen once.
pub const STICKY: &[Clause] = &[OWN, STAYS];

const CLOTHO: &str = "K. Rahmani et al.: CLOTHO: Directed Test Generation for Weakly Consistent Database Systems, \
                      OOPSLA 2019, Table 1";
const CERONE: &str = "A. Cerone, G. Bernardi, A. Gotsman: A Framework for Transactional Consistency Models with Atomic \
                      Visibility, CONCUR 2015";

/// Every level, weaker ones before stronger ones.
pub const LEVELS: &[Axioms] = &[
    Axioms {
        name: "eventual",
        aliases: &["ec", "eventual consistency", "none"],
        clauses: &[],
        no_conflict: false,
        sticky: false,
        what: "a write is seen some day",
        citation: CLOTHO,
    },
    Axioms {
        name: "causal visibility",
        aliases: &["cv"],
        clauses: &[CAUSAL_VISIBILITY],
        no_conflict: false,
        sticky: false,
        what: "who sees a statement sees what that one saw",
        citation: CLOTHO,
    },
    Axioms {
        name: "causal",
        aliases: &["cc", "causal consistency"],
        clauses: &[CAUSAL_VISIBILITY, CAUSAL],
        no_conflict: false,
        sticky: false,
        what: "causal visibility, and a transaction sees itself",
        citation: CLOTHO,
    },
    Axioms {
        name: "read committed",
        aliases: &["rc"],
        clauses: &[READ_COMMITTED],
        no_conflict: false,
        sticky: false,
        what: "who sees one statement of a transaction sees all of them",
        citation: CLOTHO,
    },
    Axioms {
        name: "repeatable read",
        aliases: &["rr"],
        clauses: &[REPEATABLE_READ],
        no_conflict: false,
        sticky: false,
        what: "what one statement of a transaction sees, all of them see",
        citation: CLOTHO,
    },
    Axioms {
        name: "linearizable",
        aliases: &["lin", "linearisable"],
        clauses: &[LINEARIZABLE],
        no_conflict: false,
        sticky: false,
        what: "a statement sees all earlier ones",
        citation: CLOTHO,
    },
    Axioms {
        name: "parallel snapshot isolation",
        aliases: &["psi", "parallel si"],
        clauses: &[CAUSAL, READ_COMMITTED, REPEATABLE_READ, CAUSAL_VISIBILITY],
        no_conflict: true,
        sticky: false,
        what: "a transaction sees whole transactions and what these saw; no two that write the same row are concurrent",
        citation: CERONE,
    },
    Axioms {
        name: "snapshot isolation",
        aliases: &["si", "snapshot"],
        clauses: &[CAUSAL, READ_COMMITTED, REPEATABLE_READ, PREFIX],
        no_conflict: true,
        sticky: false,
        what: "a transaction sees all that had ended at one moment; no two that write the same row are concurrent",
        citation: CERONE,
    },
    Axioms {
        name: "serializable",
        aliases: &["ser", "serialisable"],
        clauses: &[CAUSAL, READ_COMMITTED, REPEATABLE_READ, TOTAL],
        no_conflict: true,
        sticky: false,
        what: "a transaction sees all that end before it, as a whole",
        citation: CERONE,
    },
    Axioms {
        name: "strictly serial",
        aliases: &["strict serializable", "strict serialisable", "strictly serializable"],
        clauses: &[READ_COMMITTED, REPEATABLE_READ, LINEARIZABLE],
        no_conflict: true,
        sticky: false,
        what: "one transaction after the other",
        citation: CLOTHO,
    },
];

impl Axioms {
    /// The level of that name, in lower case with spaces.
    pub(super) fn named(name: &str) -> Option<&'static Axioms> {
        LEVELS.iter().find(|level| level.name == name || level.aliases.contains(&name))
    }

    /// The same level where each call stays on its node.
    pub fn staying(&self) -> &'static Axioms {
        static STAYING: LazyLock<Vec<Axioms>> =
            LazyLock::new(|| LEVELS.iter().map(|level| Axioms { sticky: true, ..*level }).collect());
        STAYING.iter().find(|level| level.name == self.name).expect("every level is in the table")
    }

    /// Whether it promises nothing, but for what a node [that a call stays on](STICKY) gives by itself.
    pub fn is_free(&self) -> bool {
        self.clauses.is_empty() && !self.no_conflict
    }

    /// The definition: its clauses, one after the other.
    pub fn definition(&self) -> String {
        let mut parts: Vec<String> = self.clauses.iter().map(Clause::to_string).collect();
        if self.no_conflict {
            parts.push("two transactions that write the same row see one another".to_string());
        }
        if parts.is_empty() { "(nothing)".to_string() } else { parts.join("; ") }
    }

    /// All levels as a table in Markdown.
    pub fn table() -> String {
        let mut table = "| level | means | definition | source |\n|---|---|---|---|\n".to_string();
        for level in LEVELS {
            let (name, what, citation) = (level.name, level.what, level.citation);
            table += &format!("| `{name}` | {what} | {} | {citation} |\n", level.definition());
        }
        table
    }
}

/// `st(a, b) ∧ vis(a, c) ⇒ vis(b, c)`
impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |variable: u8| char::from(b'a' + variable);
        for (at, atom) in self.body.iter().enumerate() {
            let word = match atom.relation {
                Relation::SameCall => "call",
                Relation::SameTransaction => "st",
                Relation::OtherTransaction => "¬st",
                Relation::Sees => "vis",
                Relation::Before => "ar",
                Relation::EndsBefore => "ends",
            };
            let and = if at == 0 { "" } else { " ∧ " };
            write!(f, "{and}{word}({}, {})", name(atom.from), name(atom.to))?;
        }
        write!(f, " ⇒ vis({}, {})", name(self.head.0), name(self.head.1))
    }
}
