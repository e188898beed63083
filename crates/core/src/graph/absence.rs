//! A row that was not found: not yet born, or already dead?
//!
//! ```text
//!   b1  INSERT t(7)        birth
//!   c1  SELECT …           does not find t(7): it runs before b1, or its snapshot does
//!   b2  DELETE t(7)        death
//!   a1  SELECT …           does not find t(7): from before b1, or from after b2?
//! ```
//!
//! For a row with a birth *and* a death in the run, the read alone does not tell. It must be one of the two: before the
//! birth (an anti-dependency) or after the death (a read dependency). Some readers can only be before the birth, some can
//! only be after the death. For the others, both answers are right in the sense that matters: the row is missing before
//! its birth just as it is missing after its death, and as keys are not used again it is nowhere else. So **one edge of
//! the two suffices** for the order to show the reader the same rows again, whichever of them was the cause. Both
//! together would always be a cycle, as birth and death are connected by the versions between them, and would cost a
//! statement for nothing. The inference takes the edge that closes no cycle with what is known otherwise; the death if
//! neither does, as the reader did come later.

use super::Statement;
use super::lives::Life;

/// Where a reader that did not find a row stands in its life. Statements are known by their positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Absence {
    /// Before this birth.
    Unborn(usize),
    /// After this death.
    Dead(usize),
    /// Before the birth or after the death, who knows.
    Either {
        /// The birth.
        birth: usize,
        /// The death.
        death: usize,
    },
    /// Nothing to be said: the row was not touched, or only by the reader itself.
    Alone,
}

/// Judges one reader, which uses the table and has not seen the row.
pub(super) fn absence(statements: &[Statement], life: &Life, reader: usize) -> Absence {
    match (life.births.first().copied(), life.deaths.first().copied()) {
        // Whoever inserts or deletes it knows best, and nobody depends on themselves.
        (Some(birth), _) if birth == reader => Absence::Alone,
        (_, Some(death)) if death == reader => Absence::Alone,
        (None, None) => Absence::Alone,
        (Some(birth), None) => Absence::Unborn(birth),
        (None, Some(death)) => Absence::Dead(death),
        (Some(birth), Some(death)) => between(statements, (birth, death), reader),
    }
}

/// A reader of a row that was born and died. Statements stand in the order in which they completed, transactions are
/// numbered in the order in which they committed.
fn between(statements: &[Statement], (birth, death): (usize, usize), reader: usize) -> Absence {
    let transaction = |at: usize| statements[at].transaction;
    let is_own = |at: usize| transaction(at) == transaction(reader);
    if reader < death {
        // What has not happened has not been seen.
        Absence::Unborn(birth)
    } else if is_own(birth) || is_own(death) {
        // Everybody sees what their own transaction did.
        Absence::Dead(death)
    } else if transaction(death) > transaction(reader) {
        // The reader's transaction was over before the other one committed.
        Absence::Unborn(birth)
    } else {
        Absence::Either { birth, death }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::lives::lives;
    use crate::graph::notation::{row, statements};

    /// What is said of every statement that did not find t1.
    fn check(text: &str, expect: &[(&str, Absence)]) {
        let statements = statements(text);
        let lives = lives(&statements);
        let found: Vec<(String, Absence)> = (0..statements.len())
            .filter(|at| !statements[*at].seen.contains_key(&row("t1")))
            .map(|at| (statements[at].step.to_string(), absence(&statements, &lives[&row("t1")], at)))
            .collect();
        let expect: Vec<(String, Absence)> = expect.iter().map(|(step, what)| (step.to_string(), *what)).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn one_end_of_a_life_leaves_no_doubt() {
        check("a1 T0 uses t:r\nb1 T1 writes t1:->5", &[("a1", Absence::Unborn(1)), ("b1", Absence::Alone)]);
        check("b1 T1 uses t:w sees t1=0 writes t1:0>-\na1 T0 uses t:r", &[("a1", Absence::Dead(0))]);
    }

    #[test]
    fn both_ends() {
        // The transactions that committed first, among them both ends, have the smaller numbers.
        let text = "a1 T3 uses t:r
                    b1 T1 writes t1:->5
                    b2 T1 uses t:r sees t1=5
                    c1 T2 uses t:r
                    b3 T1 uses t:w sees t1=5 writes t1:5>-
                    b4 T1 uses t:r
                    a2 T3 uses t:r
                    d1 T0 uses t:r";
        let expect = [
            ("a1", Absence::Unborn(1)),
            ("b1", Absence::Alone),
            ("c1", Absence::Unborn(1)),
            ("b4", Absence::Dead(4)),
            ("a2", Absence::Either { birth: 1, death: 4 }),
            ("d1", Absence::Unborn(1)),
        ];
        check(text, &expect);
    }
}
