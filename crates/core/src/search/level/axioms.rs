//! Levels of stores as axioms over visibility and arbitration.

/// A relation between two statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
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
    /// What must hold.
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
    /// What holds beside what always holds.
    pub clauses: &'static [&'static Clause],
    /// Whether two transactions that write the same row are never concurrent.
    pub no_conflict: bool,
    /// The definition, for people.
    pub definition: &'static str,
    /// Where it is defined.
    pub citation: &'static str,
}
