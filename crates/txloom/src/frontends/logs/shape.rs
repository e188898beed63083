//! Shapes: transactions of the same sequence of templates, and what their values have in common.
//!
//! # Equal values
//!
//! All slots of a shape begin in one class; each transaction splits the classes whose slots hold different values. What
//! is left together in the end held the same value every time:
//!
//! ```text
//!   SELECT stock FROM items WHERE id = ∎0;  UPDATE items SET stock = ∎1 WHERE id = ∎2
//!   7, 10, 7       {∎0 ∎2} {∎1}
//!   4, 4, 4        as before
//! ```
//!
//! # Values that come from answers
//!
//! For each column that a statement reads by its key, and each slot of a later statement, a [`Flow`] watches whether the
//! value is what was read (as far as [`Rows`](super::rows) knows it), differs from it by a constant, or by another slot.
//!
//! In a loop a slot has a value for each round. Its *signature* is the value, if all rounds have the same, or else a hash
//! of all of them: so slots are equal only if they are equal in every round.

use std::ops::Range;

use super::control::Level;
use super::deed::Deed;
use super::fold::{Folded, crosses};
use super::lines::Place;
use super::link::Follows;
use super::rows::Known;
use super::template::Template;
use super::value::{Said, mix};

/// So many times something must have been seen to be believed.
pub(super) const SUPPORT: u64 = 3;
/// So many flows of a shape are watched.
const FLOWS_MAX: usize = 400;

/// A statement of a transaction.
#[derive(Debug, Clone)]
pub(super) struct Instance {
    pub(super) template: u32,
    /// Its values, in the session's.
    pub(super) values: Range<u32>,
    /// The hash of the row that it touches; 0 if that is not known.
    pub(super) key: u64,
    /// What it reads, in the session's answers; empty if that is not known.
    pub(super) answers: Range<u32>,
    /// The number of the event that brought it.
    pub(super) event: u64,
}

/// A value and where its text is.
#[derive(Debug, Clone, Default)]
pub(super) struct Value {
    pub(super) said: Said,
    pub(super) raw: Range<u32>,
}

/// A transaction.
#[derive(Debug, Default)]
pub(super) struct Transaction {
    pub(super) statements: Vec<Instance>,
    pub(super) values: Vec<Value>,
    pub(super) raw: Vec<u8>,
    pub(super) answers: Vec<Known>,
    pub(super) level: Option<Level>,
    /// The number of the event that ended it; 0 if that was its last statement.
    pub(super) ended: u64,
}

impl Transaction {
    pub(super) fn clear(&mut self) {
        self.statements.clear();
        self.values.clear();
        self.raw.clear();
        self.answers.clear();
        self.level = None;
        self.ended = 0;
    }

    /// Adds another transaction, with a mark between them.
    pub(super) fn append(&mut self, next: &Transaction, mark: u32) {
        let shift = |range: &Range<u32>, by: usize| range.start + by as u32..range.end + by as u32;
        let (values, raw, answers) = (self.values.len(), self.raw.len(), self.answers.len());
        let nothing = values as u32..values as u32;
        self.statements.push(Instance { template: mark, values: nothing, key: 0, answers: 0..0, event: next.ended });
        self.statements.extend(next.statements.iter().map(|one| Instance {
            values: shift(&one.values, values),
            answers: if one.answers.is_empty() { 0..0 } else { shift(&one.answers, answers) },
            ..one.clone()
        }));
        self.values.extend(next.values.iter().map(|value| Value { said: value.said, raw: shift(&value.raw, raw) }));
        self.raw.extend_from_slice(&next.raw);
        self.answers.extend_from_slice(&next.answers);
        self.ended = next.ended;
    }

    /// One of its statements, as a transaction.
    pub(super) fn alone(&self, one: &Instance) -> Transaction {
        let mut alone = Transaction { level: self.level, ended: self.ended, ..Transaction::default() };
        for value in self.values_of(one) {
            let start = alone.raw.len() as u32;
            alone.raw.extend_from_slice(self.text(value));
            alone.values.push(Value { said: value.said, raw: start..alone.raw.len() as u32 });
        }
        alone.answers.extend_from_slice(&self.answers[one.answers.start as usize..one.answers.end as usize]);
        let (values, answers) = (0..alone.values.len() as u32, 0..alone.answers.len() as u32);
        alone.statements.push(Instance { values, answers, ..one.clone() });
        alone
    }

    pub(super) fn values_of(&self, one: &Instance) -> &[Value] {
        &self.values[one.values.start as usize..one.values.end as usize]
    }

    pub(super) fn text(&self, value: &Value) -> &[u8] {
        &self.raw[value.raw.start as usize..value.raw.end as usize]
    }
}

/// What is known of a slot.
#[derive(Debug, Clone, Default)]
pub(super) struct SlotStat {
    /// Slots of the same class were equal every time.
    pub(super) class: u32,
    /// The first value, and its text.
    pub(super) first: Said,
    pub(super) text: String,
    /// Whether there was another.
    pub(super) varies: bool,
    /// Whether it differed from one round of a loop to the next.
    pub(super) varies_in_loop: bool,
    /// Whether it is a list.
    pub(super) is_list: bool,
    /// Whether it was a number every time.
    pub(super) is_number: bool,
}

/// A way that a value may have taken from an answer to a later statement.
#[derive(Debug, Clone)]
pub(super) struct Flow {
    /// The position of the statement that reads, and the column of its answer.
    pub(super) from: (usize, usize),
    /// The position of the later statement, and its slot there.
    pub(super) to: (usize, usize),
    /// How often the answer was known.
    pub(super) seen: u64,
    /// Whether there were two different values.
    pub(super) varies: bool,
    first: Said,
    /// Whether it was the same every time.
    pub(super) is_equal: bool,
    /// By how much it differed, every time.
    pub(super) differences: Vec<i64>,
    /// The slots by whose value it was greater, every time; and smaller.
    pub(super) plus: Vec<usize>,
    pub(super) minus: Vec<usize>,
}

/// Transactions of the same sequence.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) sequence: Vec<u32>,
    pub(super) loops: Vec<Range<usize>>,
    /// The first slot of each position.
    pub(super) base: Vec<usize>,
    pub(super) slots: Vec<SlotStat>,
    pub(super) flows: Vec<Flow>,
    pub(super) count: u64,
    pub(super) place: Place,
    /// The level that all of them asked for, if they did.
    pub(super) level: Option<Level>,
    /// The hash of its sequence.
    pub(super) hash: u64,
    /// What came before, in the same session.
    pub(super) follows: Follows,
    classes: u32,
}

/// The hash of a sequence of templates.
pub(super) fn sequence_hash(sequence: &[u32]) -> u64 {
    sequence.iter().fold(0, |hash, id| mix(hash, u64::from(*id)))
}

impl Shape {
    pub(super) fn new(folded: &Folded, templates: &[Template], place: Place, level: Option<Level>) -> Shape {
        let mut shape = Shape {
            sequence: folded.sequence.clone(),
            loops: Vec::new(),
            base: Vec::new(),
            slots: Vec::new(),
            flows: Vec::new(),
            count: 0,
            place,
            level,
            hash: sequence_hash(&folded.sequence),
            follows: Follows::default(),
            classes: 1,
        };
        for id in &folded.sequence {
            shape.base.push(shape.slots.len());
            let slots = templates[*id as usize].slots.iter();
            shape.slots.extend(slots.map(|(_, is_list)| SlotStat {
                is_list: *is_list,
                is_number: true,
                ..SlotStat::default()
            }));
        }
        shape.flows = shape.possible_flows(templates);
        shape
    }

    fn possible_flows(&self, templates: &[Template]) -> Vec<Flow> {
        let mut flows = Vec::new();
        for (to, id) in self.sequence.iter().enumerate() {
            for slot in 0..templates[*id as usize].slots.len() {
                for (from, reader) in self.sequence[..to].iter().enumerate() {
                    let Deed::Read { outputs, .. } = &templates[*reader as usize].deed else { continue };
                    let known = outputs.iter().enumerate().filter(|(_, column)| column.is_some());
                    flows.extend(known.map(|(output, _)| Flow {
                        from: (from, output),
                        to: (to, slot),
                        seen: 0,
                        varies: false,
                        first: Said::default(),
                        is_equal: true,
                        differences: Vec::new(),
                        plus: Vec::new(),
                        minus: Vec::new(),
                    }));
                }
            }
        }
        flows.truncate(FLOWS_MAX);
        flows
    }

    /// How many of its statements were not understood; a loop counts once.
    pub(super) fn misunderstood(&self, understood: &impl Fn(&u32) -> bool) -> Option<u64> {
        let count = self.sequence.iter().filter(|id| !understood(id)).count() as u64;
        (count > 0).then_some(count * self.count)
    }

    /// Takes note of a transaction of this shape.
    pub(super) fn add(&mut self, transaction: &Transaction, folded: &Folded) {
        for range in &folded.loops {
            let fits = !self.loops.contains(range) && !self.loops.iter().any(|other| crosses(other, range));
            if fits {
                self.loops.push(range.clone());
                self.loops.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
            }
        }
        self.level = self.level.filter(|level| transaction.level == Some(*level));
        let signatures = self.signatures(transaction, folded);
        self.refine(&signatures);
        self.watch(transaction, folded);
        self.count += 1;
    }

    /// One hash for each slot: of its value, or of all of its values.
    fn signatures(&mut self, transaction: &Transaction, folded: &Folded) -> Vec<u64> {
        let mut signatures = vec![0_u64; self.slots.len()];
        let mut rounds = vec![0_u32; self.sequence.len()];
        for (one, position) in transaction.statements.iter().zip(&folded.positions) {
            let position = *position as usize;
            let (base, is_first) = (self.base[position], rounds[position] == 0);
            rounds[position] += 1;
            for (at, value) in transaction.values_of(one).iter().enumerate() {
                let Some(stat) = self.slots.get_mut(base + at) else { continue };
                let hash = value.said.hash;
                let before = signatures[base + at];
                let differs = !is_first && (before != hash || stat.varies_in_loop);
                signatures[base + at] = match (is_first, differs) {
                    (true, _) => hash,
                    (false, false) => before,
                    (false, true) => mix(before, hash),
                };
                stat.varies_in_loop |= differs;
                stat.is_number &= value.said.number.is_some();
                if self.count == 0 && is_first {
                    stat.first = value.said;
                    stat.text = String::from_utf8_lossy(transaction.text(value)).into_owned();
                }
                stat.varies |= stat.first != value.said;
            }
        }
        signatures
    }

    /// Splits the classes whose slots differ.
    fn refine(&mut self, signatures: &[u64]) {
        let mut seen: Vec<(u32, u64, u32)> = Vec::new();
        for (stat, signature) in self.slots.iter_mut().zip(signatures) {
            let old = stat.class;
            if let Some((.., class)) = seen.iter().find(|(class, other, _)| *class == old && other == signature) {
                stat.class = *class;
                continue;
            }
            let is_known = seen.iter().any(|(class, ..)| *class == old);
            if is_known {
                stat.class = self.classes;
                self.classes += 1;
            }
            seen.push((old, *signature, stat.class));
        }
    }

    /// Looks where values come from.
    fn watch(&mut self, transaction: &Transaction, folded: &Folded) {
        if self.flows.is_empty() {
            return;
        }
        let near = Near { base: &self.base, transaction, folded };
        let mut latest: Vec<Option<&Instance>> = vec![None; self.sequence.len()];
        for (at, (one, position)) in transaction.statements.iter().zip(&folded.positions).enumerate() {
            let position = *position as usize;
            latest[position] = Some(one);
            let first = self.flows.partition_point(|flow| flow.to.0 < position);
            for flow in self.flows[first..].iter_mut().take_while(|flow| flow.to.0 == position) {
                let Some(reader) = latest[flow.from.0] else { continue };
                let answer = transaction.answers.get(reader.answers.start as usize + flow.from.1);
                let Some(answer) = answer.filter(|_| !reader.answers.is_empty()) else { continue };
                let Some(value) = transaction.values_of(one).get(flow.to.1) else { continue };
                flow.watch(value.said, *answer, || near.slots(at, &latest));
            }
        }
    }
}

/// The values that stand around a statement.
struct Near<'a> {
    base: &'a [usize],
    transaction: &'a Transaction,
    folded: &'a Folded,
}

impl Near<'_> {
    /// Every slot with its last value before a statement, or its next one behind it.
    fn slots(&self, at: usize, latest: &[Option<&Instance>]) -> Vec<(usize, Said)> {
        let mut slots = Vec::new();
        let here = self.folded.positions[at] as usize;
        for (position, base) in self.base.iter().enumerate() {
            let behind = || {
                let rest = self.folded.positions[at..].iter().position(|it| *it as usize == position);
                rest.map(|distance| &self.transaction.statements[at + distance])
            };
            let one = if position > here { behind() } else { latest[position] };
            let values = one.map(|one| self.transaction.values_of(one)).unwrap_or_default();
            slots.extend(values.iter().enumerate().map(|(slot, value)| (base + slot, value.said)));
        }
        slots
    }
}

impl Flow {
    fn watch(&mut self, value: Said, answer: Known, slots: impl Fn() -> Vec<(usize, Said)>) {
        let Some(last) = answer.last else { return };
        self.is_equal &= answer.values().any(|read| read == value);
        let differences: Vec<i64> = match value.number {
            Some(number) => answer.values().filter_map(|read| number.checked_sub(read.number?)).collect(),
            None => Vec::new(),
        };
        let fits = |said: &Said, sign: i64| said.number.is_some_and(|change| differences.contains(&(sign * change)));
        if self.seen == 0 {
            self.first = last;
            self.differences.clone_from(&differences);
            let slots = slots();
            let with = |sign: i64| slots.iter().filter(|(_, said)| fits(said, sign)).map(|(slot, _)| *slot).collect();
            (self.plus, self.minus) = (with(1), with(-1));
        } else {
            self.differences.retain(|difference| differences.contains(difference));
            if !self.plus.is_empty() || !self.minus.is_empty() {
                let slots = slots();
                let holds = |slot: usize, sign: i64| slots.iter().any(|(at, said)| *at == slot && fits(said, sign));
                self.plus.retain(|slot| holds(*slot, 1));
                self.minus.retain(|slot| holds(*slot, -1));
            }
        }
        self.varies |= last != self.first;
        self.seen += 1;
    }

    /// Whether it was seen often enough to be believed.
    pub(super) fn is_supported(&self) -> bool {
        self.seen >= SUPPORT && self.varies
    }
}
