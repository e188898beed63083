//! Procedures of several transactions: what always follows something else.
//!
//! An application that commits too early leaves two transactions in the log, not one:
//!
//! ```text
//!   SELECT avail FROM flights WHERE fltnum = 7;  COMMIT;      UPDATE flights SET avail = 9 WHERE fltnum = 7;  COMMIT
//! ```
//!
//! That they belong together nobody says. But if the second is *never* seen but right behind the first in the same
//! session, and one of its values is always one of the first's, it is taken for the rest of the same procedure. At least
//! [`SUPPORT`] occurrences, with two different values, must agree; transactions of different requests that share a
//! connection do not.
//!
//! The log is read a second time then: where values come from can only be seen once it is known what belongs together.

use std::collections::BTreeMap;

use super::shape::{SUPPORT, Shape, Transaction};
use super::value::Said;

/// So many values of a transaction are compared.
const VALUES_MAX: usize = 48;

/// The shape of each second transaction with that of its first, by their hashes.
pub(super) type Links = BTreeMap<u64, u64>;

/// The transaction before, in the same session.
#[derive(Debug, Clone, Default)]
pub(super) struct Before {
    /// The hash of its shape.
    pub(super) shape: u64,
    values: Vec<Said>,
}

impl Before {
    pub(super) fn new(shape: u64, transaction: &Transaction) -> Before {
        let values = transaction.values.iter().take(VALUES_MAX).map(|value| value.said);
        Before { shape, values: values.collect() }
    }
}

/// What came before the transactions of a shape.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum Follows {
    /// None was seen yet.
    #[default]
    Unseen,
    /// Always the same.
    Always {
        /// The hash of its shape.
        shape: u64,
        /// The values that were the same every time: of the first, and of the second.
        equal: Vec<(usize, usize)>,
        /// The first of these values, for each.
        first: Vec<Said>,
        /// Whether there was another one.
        varies: bool,
        /// How often.
        seen: u64,
    },
    /// Different things, or nothing.
    Anything,
}

impl Follows {
    /// Takes note of what came before a transaction. `None`: nothing.
    pub(super) fn watch(&mut self, before: Option<&Before>, transaction: &Transaction) {
        let Some(before) = before else {
            *self = Follows::Anything;
            return;
        };
        let values = || transaction.values.iter().take(VALUES_MAX).map(|value| value.said).enumerate();
        match self {
            Follows::Anything => {}
            Follows::Unseen => {
                let pairs = before.values.iter().enumerate().flat_map(|(a, first)| {
                    values().filter(move |(_, second)| second == first).map(move |(b, said)| ((a, b), said))
                });
                let (equal, first) = pairs.unzip();
                *self = Follows::Always { shape: before.shape, equal, first, varies: false, seen: 1 };
            }
            Follows::Always { shape, equal, first, varies, seen } => {
                let now: Vec<Said> = values().map(|(_, said)| said).collect();
                let is_equal = |(a, b): &(usize, usize)| {
                    let pair = (before.values.get(*a), now.get(*b));
                    matches!(pair, (Some(x), Some(y)) if x == y)
                };
                let kept: Vec<usize> = (0..equal.len()).filter(|at| is_equal(&equal[*at])).collect();
                *varies |= kept.iter().any(|at| now[equal[*at].1] != first[*at]);
                (*equal, *first) =
                    (kept.iter().map(|at| equal[*at]).collect(), kept.iter().map(|at| first[*at]).collect());
                *seen += 1;
                if *shape != before.shape || equal.is_empty() {
                    *self = Follows::Anything;
                }
            }
        }
    }
}

/// The shapes that are the rest of others.
pub(super) fn links(shapes: &[Shape]) -> Links {
    let link = |shape: &Shape| match &shape.follows {
        Follows::Always { shape: before, varies: true, seen, .. } if *seen >= SUPPORT && *before != shape.hash => {
            Some((shape.hash, *before))
        }
        _ => None,
    };
    shapes.iter().filter_map(link).collect()
}
