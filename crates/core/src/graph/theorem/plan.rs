//! Random transactions whose statements do different things when they see different rows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::store::{Content, State};
use crate::case::SessionName;
use crate::generate::random::Random;
use crate::graph::notation::row;
use crate::graph::{Probe, Row, Uses, Version, Write};
use crate::schedule::StepRef;
use crate::value::Value;

/// What a transaction sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    /// Every statement sees what is committed by then.
    ReadCommitted,
    /// All statements see what was committed at the first one; whoever writes what has changed since is rolled back.
    Snapshot,
    /// Plain queries see a snapshot, all else what is committed by then: InnoDB's repeatable read.
    Mixed,
}

#[derive(Debug, Clone)]
pub(super) enum Action {
    Query { keys: bool, locks: bool },
    Update { computes: Option<&'static str> },
    Delete,
    Insert { row: Row, computes: Option<&'static str>, unique: i64 },
}

/// A statement: on the rows of a table that it chooses, perhaps depending on what another table holds.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) step: StepRef,
    pub(super) version: i64,
    table: &'static str,
    asks: Option<&'static str>,
    action: Action,
}

#[derive(Debug, Clone)]
pub(super) struct Transaction {
    pub(super) view: View,
    pub(super) programs: Vec<Program>,
    pub(super) aborts: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) initial: State,
    pub(super) transactions: Vec<Transaction>,
    /// Which transaction goes on; the step after its last statement ends it.
    pub(super) schedule: Vec<usize>,
}

/// What a statement did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Effect {
    pub(super) seen: BTreeMap<Row, i64>,
    /// Rows with their versions and values.
    pub(super) output: Vec<(Row, i64, u64)>,
    pub(super) writes: Vec<Write>,
    /// What the written rows are now.
    pub(super) contents: Vec<(Row, Option<Content>)>,
    pub(super) probes: BTreeSet<Probe>,
}

const TABLES: [&str; 2] = ["t", "u"];

impl Plan {
    /// Transactions of the views given.
    pub(super) fn random(random: &mut Random, views: &[View]) -> Plan {
        let mut initial = State::new();
        for at in 1..=6 {
            let table = TABLES[at % 2];
            initial.insert(row(&format!("{table}{at}")), Content { version: 0, value: at as u64, unique: at as i64 });
        }
        let mut next_version = 0;
        let mut transactions = Vec::new();
        let mut turns = Vec::new();
        for (at, session) in ["a", "b", "c", "d", "e", "f"].into_iter().enumerate().take(2 + random.below(5)) {
            let mut programs = Vec::new();
            for index in 0..1 + random.below(4) {
                next_version += 1;
                let step = StepRef { session: SessionName::new(session).unwrap(), index };
                programs.push(Program::random(random, step, next_version));
            }
            // They begin one after the other and overlap, so that some have ended when others begin.
            turns.extend((0..=programs.len()).map(|turn| (2 * at + turn + random.below(4), random.below(100), at)));
            let view = *random.pick(views).unwrap();
            transactions.push(Transaction { view, programs, aborts: random.chance(1, 8) });
        }
        turns.sort_unstable();
        let schedule = turns.into_iter().map(|(.., at)| at).collect();
        Plan { initial, transactions, schedule }
    }

    /// Without these statements.
    pub(super) fn remove(&mut self, steps: &[StepRef]) {
        for (at, transaction) in self.transactions.iter_mut().enumerate() {
            while let Some(place) = transaction.programs.iter().position(|program| steps.contains(&program.step)) {
                transaction.programs.remove(place);
                // One of its turns goes with it, not its end.
                let turn = self.schedule.iter().position(|turn| *turn == at).unwrap();
                self.schedule.remove(turn);
            }
        }
    }

    pub(super) fn program(&self, step: &StepRef) -> &Program {
        let mut programs = self.transactions.iter().flat_map(|transaction| &transaction.programs);
        programs.find(|program| program.step == *step).unwrap()
    }
}

impl Program {
    fn random(random: &mut Random, step: StepRef, version: i64) -> Program {
        let table = *random.pick(&TABLES).unwrap();
        let other = |random: &mut Random| random.chance(1, 3).then(|| *random.pick(&TABLES).unwrap());
        let asks = other(random);
        let action = match random.below(10) {
            0..3 => Action::Query { keys: random.chance(2, 3), locks: random.chance(1, 4) },
            3..6 => Action::Update { computes: other(random) },
            6..8 => Action::Delete,
            _ => Action::Insert {
                row: row(&format!("{table}{}", 100 + version)),
                computes: other(random),
                unique: random.between(1, 8),
            },
        };
        Program { step, version, table, asks, action }
    }

    /// Whether it reads what is there now in every view but a snapshot.
    pub(super) fn is_plain_query(&self) -> bool {
        matches!(self.action, Action::Query { locks: false, .. })
    }

    pub(super) fn locks(&self) -> bool {
        matches!(self.action, Action::Query { locks: true, .. })
    }

    pub(super) fn returns_keys(&self) -> bool {
        matches!(self.action, Action::Query { keys: true, .. })
    }

    fn uses_write(&self) -> bool {
        matches!(self.action, Action::Update { .. } | Action::Delete)
    }

    pub(super) fn uses(&self) -> BTreeMap<Arc<str>, Uses> {
        let mut uses: BTreeMap<Arc<str>, Uses> = BTreeMap::new();
        let of_table = uses.entry(self.table.into()).or_default();
        match &self.action {
            Action::Query { .. } => of_table.read = true,
            Action::Update { .. } | Action::Delete => of_table.write = true,
            Action::Insert { .. } => {}
        }
        if let (Some(asks), false) = (self.asks, matches!(self.action, Action::Insert { .. })) {
            uses.entry(asks.into()).or_default().read = true;
        }
        if let Action::Update { computes: Some(from) } | Action::Insert { computes: Some(from), .. } = &self.action {
            uses.entry((*from).into()).or_default().value = true;
        }
        uses
    }

    /// What it does to what it sees; keys are looked up in what is there now.
    pub(super) fn execute(&self, seen: &State, now: &State) -> Effect {
        let uses = self.uses();
        let seen_rows = seen.iter().filter(|(row, _)| uses.contains_key(&row.table));
        let mut effect = Effect {
            seen: seen_rows.map(|(row, content)| (row.clone(), content.version)).collect(),
            output: Vec::new(),
            writes: Vec::new(),
            contents: Vec::new(),
            probes: BTreeSet::new(),
        };
        let asked = self.asks.map_or(0, |table| digest(seen, table));
        let of_table = seen.iter().filter(|(row, _)| *row.table == *self.table);
        // Queries choose more rows than writes, which would only wait for each other.
        let share = if self.uses_write() { 1 } else { 2 };
        let is_chosen =
            |(_, content): &(&Row, &Content)| mix(mix(content.value, asked), self.version as u64) % 3 < share;
        let value = |from: Option<&str>| mix(self.version as u64, from.map_or(0, |table| digest(seen, table)));
        match &self.action {
            Action::Query { .. } => {
                let rows = of_table.filter(is_chosen).map(|(row, c)| (row.clone(), c.version, c.value));
                effect.output = rows.collect();
            }
            Action::Update { computes } => {
                for (row, content) in of_table.filter(is_chosen) {
                    let after = Content { version: self.version, value: value(*computes), ..*content };
                    effect.write(row, Some(content.version), Some(after));
                }
            }
            Action::Delete => {
                for (row, content) in of_table.rev().filter(is_chosen).take(2) {
                    effect.probes.insert(probe(self.table, content.unique));
                    effect.write(row, Some(content.version), None);
                }
            }
            Action::Insert { row, computes, unique } => {
                effect.probes.insert(probe(self.table, *unique));
                if !now.iter().any(|(other, content)| other.table == row.table && content.unique == *unique) {
                    let born = Content { version: self.version, value: value(*computes), unique: *unique };
                    effect.write(row, None, Some(born));
                }
            }
        }
        effect
    }
}

impl Effect {
    fn write(&mut self, row: &Row, before: Version, content: Option<Content>) {
        let after = content.as_ref().map(|content| content.version);
        self.writes.push(Write { row: row.clone(), before, after });
        self.contents.push((row.clone(), content));
    }
}

fn probe(table: &str, unique: i64) -> Probe {
    Probe { constraint: table.into(), value: vec![Value::int(unique)] }
}

/// A number that is another one if anything in the table is.
fn digest(state: &State, table: &str) -> u64 {
    state.iter().filter(|(row, _)| *row.table == *table).fold(1, |sum, (_, content)| mix(sum, content.value))
}

fn mix(first: u64, second: u64) -> u64 {
    let mixed = (first.rotate_left(25) ^ second).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}
