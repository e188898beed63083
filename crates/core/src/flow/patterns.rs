//! The access patterns that may go wrong: Tables 4 and 5, as data.
//!
//! A pattern is what A does first, what B does in between and what A does last. In Table 4 all three access one
//! element of the database; in Table 5, A defines or uses a host variable, and B accesses the element that its
//! value was read from. Of the sixteen combinations only those below are conflicts.
//!
//! `printed` is what the paper says. [`Pattern::phenomenon`] is narrower and names one: Table 5 lists all four
//! phenomena for most of its patterns, which tells nobody anything. In Table 4 as we have it, P3 stands below `R W
//! W`; by its definition (a set of rows is read *again*) it belongs to `R W R` as well, so a set of rows makes P3
//! of both.

use std::fmt;

use super::reach::Op::{self, Define, Read, Use, Write};

/// A phenomenon of SQL's isolation levels, between transactions instead of within one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phenomenon {
    /// P0: a write that ignores, or is ignored by, a write in between.
    LostUpdate,
    /// P1: somebody sees what is not final.
    DirtyRead,
    /// P2: the same row has another value the second time.
    NonRepeatableRead,
    /// P3: there are other rows the second time.
    Phantom,
}

impl Phenomenon {
    /// Its number in the literature: `P0` … `P3`.
    pub fn code(self) -> &'static str {
        match self {
            Phenomenon::LostUpdate => "P0",
            Phenomenon::DirtyRead => "P1",
            Phenomenon::NonRepeatableRead => "P2",
            Phenomenon::Phantom => "P3",
        }
    }

    /// Its name in words.
    pub fn name(self) -> &'static str {
        match self {
            Phenomenon::LostUpdate => "lost update",
            Phenomenon::DirtyRead => "dirty read",
            Phenomenon::NonRepeatableRead => "non-repeatable read",
            Phenomenon::Phantom => "phantom",
        }
    }
}

impl fmt::Display for Phenomenon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.code(), self.name())
    }
}

/// A conflict pattern. Prints as `R W W`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pattern {
    /// What A does first.
    pub first: Op,
    /// What B does in between.
    pub between: Op,
    /// What A does last.
    pub last: Op,
    /// The phenomena that the paper names for it.
    pub printed: &'static [Phenomenon],
}

use Phenomenon::{DirtyRead, LostUpdate, NonRepeatableRead, Phantom};

const ANY: &[Phenomenon] = &[LostUpdate, DirtyRead, NonRepeatableRead, Phantom];

/// The conflicts of Table 4: one element, accessed by all three. `R R R`, `W R R` and `R R W` are none.
pub const TABLE_4: &[Pattern] = &[
    Pattern { first: Read, between: Write, last: Read, printed: &[NonRepeatableRead] },
    Pattern { first: Read, between: Write, last: Write, printed: &[LostUpdate, Phantom] },
    Pattern { first: Write, between: Write, last: Read, printed: &[LostUpdate] },
    Pattern { first: Write, between: Write, last: Write, printed: &[LostUpdate] },
    Pattern { first: Write, between: Read, last: Write, printed: &[DirtyRead] },
];

/// The conflicts of Table 5: a host variable, and the element that it was defined from. No pattern where B reads is
/// one.
pub const TABLE_5: &[Pattern] = &[
    Pattern { first: Use, between: Write, last: Use, printed: ANY },
    Pattern { first: Use, between: Write, last: Define, printed: ANY },
    Pattern { first: Define, between: Write, last: Use, printed: ANY },
    Pattern { first: Define, between: Write, last: Define, printed: &[NonRepeatableRead, Phantom] },
];

impl Pattern {
    /// The conflict pattern of these three accesses, if they are one.
    pub fn find(first: Op, between: Op, last: Op) -> Option<&'static Pattern> {
        let table = if matches!(first, Read | Write) { TABLE_4 } else { TABLE_5 };
        table.iter().find(|it| (it.first, it.between, it.last) == (first, between, last))
    }

    /// The one phenomenon that fits best. `changes_rows`: B adds or removes rows. `acts`: A's last transaction
    /// writes to the database.
    pub fn phenomenon(&self, changes_rows: bool, acts: bool) -> Phenomenon {
        let reread = if changes_rows { Phantom } else { NonRepeatableRead };
        match (self.first, self.between, self.last) {
            (Write, Read, _) => DirtyRead,
            (Read, _, Write) if !changes_rows => LostUpdate,
            (Read, ..) => reread,
            (Write, ..) => LostUpdate,
            (_, _, Use) if acts => LostUpdate,
            _ => reread,
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.first, self.between, self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All columns of Tables 4 and 5, with their lines "Conflict" and "Phenomena".
    #[test]
    fn the_tables_are_those_of_the_paper() {
        let row = |ops: [[Op; 2]; 3]| {
            let mut marks = String::new();
            // The paper's order of columns: by B's access, but for the last two.
            for [first, between, last] in
                [[0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 1, 0], [1, 1, 1], [1, 0, 1]]
            {
                let found = Pattern::find(ops[0][first], ops[1][between], ops[2][last]);
                marks.push(if found.is_some() { 'Y' } else { 'N' });
            }
            marks
        };
        assert_eq!(row([[Read, Write]; 3]), "NNNYYYYY");
        assert_eq!(row([[Use, Define], [Read, Write], [Use, Define]]), "NNNYYYYN");
    }

    #[test]
    fn the_phenomenon_is_one_that_the_paper_names_or_the_phantom_of_a_repeated_read() {
        for pattern in TABLE_4.iter().chain(TABLE_5) {
            for (changes_rows, acts) in [(false, false), (false, true), (true, false), (true, true)] {
                let found = pattern.phenomenon(changes_rows, acts);
                let repeated = (pattern.first, pattern.last) == (Read, Read) && found == Phantom;
                assert!(pattern.printed.contains(&found) || repeated, "{pattern} {found}");
            }
        }
    }
}
