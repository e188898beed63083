//! Where the values of a shape come from.
//!
//! | what every occurrence shows | what the procedure says |
//! |---|---|
//! | always the same value | a constant |
//! | the same as another slot | the same parameter |
//! | what an earlier SELECT of the transaction returned | `SELECT … INTO :x`, and `:x` |
//! | … plus or minus a constant, or another slot | `SET new = :x - :quantity` |
//! | nothing of that, but the column was read before from the same row | `SET new = :x + :change`: some change of it |
//! | nothing of that | a parameter |
//!
//! The last but one is a guess, on the safe side. `SELECT stock … WHERE id = 1` and then `UPDATE … SET stock = 9 WHERE
//! id = 1`: the answer is not in the log, and 9 may be typed in by somebody who never looked. It is taken for a new value
//! of what was read, which any value is: some number is the difference. So the read counts, and a lost update is found.
//! A value that is no number depends on what was read by a condition: `IF :x IS NOT NULL`. The same goes for sums and
//! counts, whose answers nobody knows: a number that an UPDATE assigns or adds, and an INSERT's value for the very column
//! that a MAX was asked of (`MAX(id) + 1`), are taken to come from the last of them, if they come from nowhere else.
//!
//! Constants, equalities and differences need at least [`SUPPORT`] transactions, and all but constants at least two
//! different values; what is seen less often stays a parameter of its own, which is the more general thing.

use super::deed::{Deed, Given, Row};
use super::literal;
use super::shape::{Flow, SUPPORT, Shape};
use super::template::Template;
use super::value::show;

/// A column of the answer of the statement at a position.
pub(super) type Answer = (usize, usize);

/// Where the value of a slot comes from.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Origin {
    /// The caller.
    Parameter,
    /// Always the same.
    Constant(String),
    /// An answer.
    Answer(Answer),
    /// An answer, and something that is added or taken off.
    Changed {
        /// The answer.
        answer: Answer,
        /// What makes the difference.
        by: By,
    },
    /// The caller, after a look at an answer.
    Guarded(Answer),
}

/// By how much a value differs from what was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// A constant, in ten-thousandths.
    Constant(i64),
    /// The value of another slot is added.
    Plus(usize),
    /// The value of another slot is taken off.
    Minus(usize),
    /// Whatever the caller says.
    Anything,
}

impl Origin {
    /// The answer that it needs.
    pub(super) fn answer(&self) -> Option<Answer> {
        match self {
            Origin::Answer(answer) | Origin::Changed { answer, .. } | Origin::Guarded(answer) => Some(*answer),
            Origin::Parameter | Origin::Constant(_) => None,
        }
    }
}

/// The origin of every slot of a shape.
pub(super) fn origins(shape: &Shape, templates: &[Template]) -> Vec<Origin> {
    let finder = Finder { shape, templates };
    (0..shape.slots.len()).map(|slot| finder.origin(slot)).collect()
}

/// Slots with the same number have the same value.
pub(super) fn class(shape: &Shape, slot: usize) -> usize {
    let stat = &shape.slots[slot];
    let is_believed = shape.count >= SUPPORT && stat.varies && !stat.is_list;
    if is_believed { shape.slots.len() + stat.class as usize } else { slot }
}

struct Finder<'a> {
    shape: &'a Shape,
    templates: &'a [Template],
}

impl Finder<'_> {
    fn template(&self, position: usize) -> &Template {
        &self.templates[self.shape.sequence[position] as usize]
    }

    fn origin(&self, slot: usize) -> Origin {
        let stat = &self.shape.slots[slot];
        let position = self.shape.base.partition_point(|base| *base <= slot) - 1;
        let local = slot - self.shape.base[position];
        let is_constant = !stat.varies && self.shape.count >= SUPPORT && !stat.is_list && !stat.text.is_empty();
        if let Some(text) = is_constant.then(|| self.constant(position, local, slot)).flatten() {
            return Origin::Constant(text);
        }
        let flows = || self.shape.flows.iter().filter(|flow| flow.to == (position, local)).rev();
        // A value that was there before the answer does not come from it.
        let is_new = |flow: &&Flow| {
            let first = (0..slot).find(|other| class(self.shape, *other) == class(self.shape, slot));
            first.is_none_or(|first| first >= self.shape.base[flow.from.0 + 1])
        };
        if let Some(flow) = flows().find(|flow| flow.is_supported() && flow.is_equal && is_new(flow)) {
            return Origin::Answer(flow.from);
        }
        let Some(answer) = self.read_before(position, local).or_else(|| self.computed_before(position, local)) else {
            return Origin::Parameter;
        };
        let flow = flows().find(|flow| flow.from == answer);
        if !flow.as_ref().is_none_or(is_new) {
            return Origin::Parameter;
        }
        match self.template(position).roles.get(local).is_some_and(|role| role.is_number) {
            true => Origin::Changed { answer, by: flow.map_or(By::Anything, |flow| self.by(flow, slot)) },
            false => Origin::Guarded(answer),
        }
    }

    fn constant(&self, position: usize, local: usize, slot: usize) -> Option<String> {
        let stat = &self.shape.slots[slot];
        let template = self.template(position);
        let role = &template.roles[local];
        match stat.first.number {
            Some(number) if role.is_number || role.type_name.is_none() => Some(show(number)),
            _ => literal::portable(&stat.text.replace("\n\t", "\n"), template.quoting),
        }
    }

    /// The last answer before that holds the column to which the slot is assigned, of the same row.
    fn read_before(&self, position: usize, local: usize) -> Option<Answer> {
        let Deed::Update { row, assigned } = &self.template(position).deed else { return None };
        let is_told = |given: &Given| match given {
            Given::Slot(slot) | Given::Sum(slot, _) | Given::Difference(slot, _) => *slot == local,
            _ => false,
        };
        let (column, _) = assigned.iter().find(|(_, given)| is_told(given))?;
        (0..position).rev().find_map(|earlier| match &self.template(earlier).deed {
            Deed::Read { row: read, outputs } if self.is_same(position, row, earlier, read) => {
                Some((earlier, outputs.iter().position(|output| output == &Some(*column))?))
            }
            _ => None,
        })
    }

    /// The last sum or count before that a number may come from.
    fn computed_before(&self, position: usize, local: usize) -> Option<Answer> {
        let slot = self.shape.base[position] + local;
        let is_known = (0..slot).any(|other| class(self.shape, other) == class(self.shape, slot));
        let template = self.template(position);
        if is_known || !template.roles.get(local)?.is_number {
            return None;
        }
        let uses = |given: &Given| match given {
            Given::Slot(slot) | Given::Plus(slot) | Given::Minus(slot) => *slot == local,
            Given::Sum(slot, _) | Given::Difference(slot, _) => *slot == local,
            Given::Unknown => false,
        };
        let column = match &template.deed {
            Deed::Update { assigned, .. } => assigned.iter().find(|(_, given)| uses(given)).map(|_| None)?,
            Deed::Insert { row, assigned } => {
                assigned.iter().find(|(_, given)| uses(given)).map(|(column, _)| Some((row.table, *column)))?
            }
            _ => return None,
        };
        (0..position).rev().find_map(|earlier| match &self.template(earlier).deed {
            Deed::Aggregate { over } if over.len() == 1 && (column.is_none() || over[0] == column) => {
                Some((earlier, 0))
            }
            _ => None,
        })
    }

    /// Whether two statements had the same row every time.
    fn is_same(&self, a: usize, row: &Row, b: usize, other: &Row) -> bool {
        let class = |position: usize, slot: &usize| self.shape.slots[self.shape.base[position] + slot].class;
        let keys = row.key.iter().zip(&other.key);
        row.table == other.table && keys.into_iter().all(|(x, y)| class(a, x) == class(b, y))
    }

    fn by(&self, flow: &Flow, slot: usize) -> By {
        if !flow.is_supported() {
            return By::Anything;
        }
        if let Some(difference) = flow.differences.first() {
            return By::Constant(*difference);
        }
        let is_other = |other: &&usize| class(self.shape, **other) != class(self.shape, slot);
        if let Some(other) = flow.minus.iter().find(is_other) {
            return By::Minus(*other);
        }
        flow.plus.iter().find(is_other).map_or(By::Anything, |other| By::Plus(*other))
    }
}
