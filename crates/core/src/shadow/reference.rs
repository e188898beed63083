//! Foreign keys: a child's reference is a key of its parent table.
//!
//! A reference must never point at nothing, although parents come and go. Two ways are safe:
//!
//! - **static parents** are always there. All initial rows refer to them, and so do static children always.
//! - **dynamic parents** are there as long as somebody has a share of them. A transaction that inserts a child takes
//!   one; when it commits, the share stays behind as a *pin*, and it is given back when the child is deleted:
//!
//! ```text
//!   child    insert ──────── commit ─────────────────────── delete ── commit
//!   parent   share ────────→ pin ─────────────────────────────────────→ free, may be deleted
//! ```
//!
//! Only dynamic children pin, so that pins take no more memory than there are dynamic keys. A reference that is updated
//! gets a static parent; its old pin stays until the child goes, which is more than is needed and never wrong.
//!
//! Which parent an initial row has is computed from its key, like every attribute ([`attribute`](super::attribute)),
//! and Φ is that of the parent's key. Where the child's key begins with its parent's (orders of a customer), there is
//! nothing to draw: the parent's key consists of the first digits.

use std::sync::atomic::{AtomicU32, Ordering};

use super::attribute::{first_position, place};
use super::bijection::Bijection;
use super::distribution::{Distribution, DistributionError};
use super::keys::{Key, Keys, Parts, Slot};

/// No pin.
const NONE: u32 = u32::MAX;

/// A reference of a table.
#[derive(Debug)]
pub struct Reference {
    table: usize,
    link: Link,
}

#[derive(Debug)]
enum Link {
    /// The child's key, divided by this, is the parent's.
    Prefix(u64),
    Drawn(Box<Drawn>),
}

#[derive(Debug)]
struct Drawn {
    parents: Parts,
    positions: Bijection,
    /// For each dynamic child, the dynamic parent that it pins; empty if only static parents are referred to.
    pins: Vec<AtomicU32>,
}

impl Reference {
    /// A reference to the table at this position by the first digits of the key; `after` is how many keys a parent has
    /// room for.
    pub fn by_prefix(table: usize, after: u64) -> Reference {
        Reference { table, link: Link::Prefix(after.max(1)) }
    }

    /// A reference to parents that are drawn. `dynamic_parents` says whether inserted children may refer to dynamic
    /// ones.
    pub fn drawn(
        table: usize,
        distribution: &Distribution,
        dynamic_parents: bool,
        children: &Keys,
        parents: &Keys,
        seed: u64,
    ) -> Result<Reference, DistributionError> {
        let dynamics = if dynamic_parents { parents.dynamic_count() } else { 0 };
        let pins = if dynamics > 0 { children.dynamic_count() } else { 0 };
        let drawn = Drawn {
            parents: Parts::new(distribution, parents.static_count(), u64::from(dynamics))?,
            positions: Bijection::new(children.count(), seed),
            pins: (0..pins).map(|_| AtomicU32::new(NONE)).collect(),
        };
        Ok(Reference { table, link: Link::Drawn(Box::new(drawn)) })
    }

    /// The position of the table that is referred to.
    pub fn table(&self) -> usize {
        self.table
    }

    /// The key that a child's initial row refers to: always a static one.
    pub fn initial(&self, child: u64, parents: &Keys) -> u64 {
        match &self.link {
            Link::Prefix(after) => child / after,
            Link::Drawn(drawn) => {
                let rank = drawn.parents.statics().map_or(0, |ranks| place(&drawn.positions, ranks, child));
                parents.key(Slot::Static(rank)).number
            }
        }
    }

    /// How many of the children refer to this parent, if all of them have their initial rows.
    pub fn child_count(&self, parent: Key) -> u64 {
        match (&self.link, parent.slot) {
            (Link::Prefix(after), _) => *after,
            (Link::Drawn(drawn), Slot::Static(rank)) => drawn.parents.statics().map_or(0, |ranks| {
                let position = |rank| first_position(ranks, drawn.positions.count(), rank);
                position(rank + 1) - position(rank)
            }),
            (Link::Drawn(_), Slot::Dynamic(_)) => 0,
        }
    }

    /// A static parent, for a row that is inserted or updated; for a prefix, the parent that there must be.
    pub fn static_parent(&self, child: u64, parents: &Keys, draw: u64) -> u64 {
        match &self.link {
            Link::Prefix(after) => child / after,
            Link::Drawn(drawn) => {
                let rank = drawn.parents.statics().map_or(0, |ranks| ranks.rank(draw));
                parents.key(Slot::Static(rank)).number
            }
        }
    }

    /// Where the parent lies that a draw means, for a row that is inserted; `None` if the key says it.
    pub fn parent_slot(&self, draw: u64) -> Option<Slot> {
        match &self.link {
            Link::Prefix(_) => None,
            Link::Drawn(drawn) => Some(drawn.parents.slot(draw)),
        }
    }

    /// Whether a dynamic child may refer to dynamic parents.
    pub fn pins(&self) -> bool {
        matches!(&self.link, Link::Drawn(drawn) if !drawn.pins.is_empty())
    }

    /// Notes which dynamic parent a dynamic child pins from now on, and tells which one it did before. Who calls this
    /// holds the claim on the child.
    pub(super) fn repin(&self, child: u32, parent: Option<u32>) -> Option<u32> {
        let Link::Drawn(drawn) = &self.link else { return None };
        let before = drawn.pins.get(child as usize)?.swap(parent.unwrap_or(NONE), Ordering::AcqRel);
        (before != NONE).then_some(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shadow::keys::KeyPlan;

    fn keys(count: u64, dynamic: f64) -> Keys {
        let plan = KeyPlan { count, dynamic, present: 0.5, access: Distribution::Uniform };
        Keys::new(&plan, 7).unwrap()
    }

    #[test]
    fn initial_rows_refer_to_static_parents_as_the_distribution_says() {
        let (children, parents) = (keys(2_000, 0.2), keys(20, 0.5));
        let reference = Reference::drawn(0, &Distribution::Zipf(1.0), true, &children, &parents, 3).unwrap();
        let mut counts = [0u64; 20];
        for child in 0..2_000 {
            let parent = reference.initial(child, &parents);
            assert!(matches!(parents.slot(parent), Slot::Static(_)));
            counts[parent as usize] += 1;
        }
        for parent in 0..20 {
            let key = Key { number: parent, slot: parents.slot(parent) };
            assert_eq!(reference.child_count(key), counts[parent as usize]);
        }
        let hottest = parents.key(Slot::Static(0));
        assert_eq!(counts.iter().max(), Some(&reference.child_count(hottest)));
    }

    #[test]
    fn prefixes_need_no_draw() {
        let reference = Reference::by_prefix(2, 10);
        let parents = keys(5, 0.0);
        assert_eq!((reference.table(), reference.initial(37, &parents)), (2, 3));
        assert_eq!((reference.static_parent(37, &parents, 99), reference.parent_slot(99)), (3, None));
        assert!(!reference.pins());
    }

    #[test]
    fn only_dynamic_children_of_dynamic_parents_pin() {
        let link = |wanted, children: &Keys, parents: &Keys| {
            Reference::drawn(0, &Distribution::Uniform, wanted, children, parents, 3).unwrap()
        };
        let (fixed, moving) = (keys(10, 0.0), keys(10, 0.5));
        for (wanted, children, parents, pins) in [
            (true, &moving, &moving, true),
            (true, &fixed, &moving, false),
            (true, &moving, &fixed, false),
            (false, &moving, &moving, false),
        ] {
            assert_eq!(link(wanted, children, parents).pins(), pins);
        }
        let reference = link(true, &moving, &moving);
        assert_eq!(
            (reference.repin(2, Some(4)), reference.repin(2, None), reference.repin(2, None)),
            (None, Some(4), None)
        );
        assert_eq!(reference.repin(99, Some(4)), None);
    }
}
