//! Do the transactions keep their isolation level? Asked of what is known exactly: rows that were returned or written.
//!
//! The question is one about [histories](crate::history), and the answer is theirs. A row is a list to which every write
//! appends its version; the order is known, because every write says what it replaced. A query reads the list up to the
//! version that it returned:
//!
//! ```text
//!   t(1) began with v0, a2 made it v5, b3 made it v8, a4 deleted it         the list  [5 8 "dead"]
//!   c1 returned v0                                                          read t(1) []
//!   c2 returned v8                                                          read t(1) [5 8]
//! ```
//!
//! An imaginary transaction at the end reads every list to its end: this is how a history knows the order of versions. It
//! is after all others and before none, so it is on no cycle.
//!
//! # Limits
//!
//! Rows that were looked at but not returned, or not found, are left out: which of them mattered is not known. So are
//! queries that do not return keys and versions. What is found is there; what is not found may be.

use std::collections::BTreeMap;

use super::lives::{Life, lives};
use super::{Graph, Row, Statement, Version, Write};
use crate::finding::Explanation;
use crate::history::anomaly::Named;
use crate::history::build::{Builder, Head};
use crate::history::check::{Checker, Reason, Verdict};
use crate::history::{History, KeyId, Op, Scalar, Status, explain};
use crate::level::formal::Level;

/// What a level does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IsolationViolation {
    /// The level.
    pub level: Level,
    /// What it is called.
    pub anomaly: Named,
    /// Why it is one. Transactions are called as [`draw()`](super::draw()) calls them.
    pub explanation: Explanation,
    /// The transactions in question.
    pub transactions: Vec<usize>,
}

impl Graph {
    /// The rows that were returned and written, as a history of lists. A transaction stands at its position in the order of
    /// commits; behind them stands the imaginary one that reads everything.
    pub fn history(&self) -> History {
        let lists = Lists::of(&self.statements);
        let mut writer = Writer { builder: Builder::default(), lists: &lists };
        let transactions = self.transactions();
        let end = transactions.keys().next_back().map_or(0, |last| last + 1);
        for at in 0..end {
            writer.begin(at);
            for statement in transactions.get(&at).into_iter().flatten() {
                writer.statement(&self.statements[*statement]);
            }
        }
        writer.begin(end);
        for (row, list) in &lists.rows {
            writer.read(row, list.len());
        }
        writer.builder.finish()
    }

    /// What a level does not allow, if there is anything.
    pub fn isolation(&self, level: Level) -> Option<IsolationViolation> {
        let history = self.history();
        let checker = Checker::new(&history).ok()?;
        match checker.check(level.into(), &|| false) {
            Verdict::Violated(reason) => Some(self.violation(level, &history, &checker, &reason)),
            Verdict::Holds(_) | Verdict::Undecided(_) => None,
        }
    }

    fn violation(&self, level: Level, history: &History, checker: &Checker, reason: &Reason) -> IsolationViolation {
        let story = explain::tell(history, &checker.facts, reason, "transaction");
        let concerned = explain::concerned(&checker.facts, reason);
        let transactions = concerned.into_iter().map(|id| id.0 as usize).collect();
        let by_name: BTreeMap<String, String> =
            self.transactions().iter().map(|(at, members)| (name(*at), self.steps(members))).collect();
        let mut lets = vec!["a row is the list of versions that statements gave it; empty: as it was at first".into()];
        lets.extend(story.nodes.iter().map(|node| match by_name.get(&node.name) {
            Some(steps) => format!("{} ({steps}): {}", node.name, node.what),
            None => format!("{}: {}", node.name, node.what),
        }));
        let explanation = Explanation { lets, ..story.explanation };
        IsolationViolation { level, anomaly: Named::of(reason), explanation, transactions }
    }

    fn steps(&self, members: &[usize]) -> String {
        members.iter().map(|at| self.statements[*at].step.to_string()).collect::<Vec<_>>().join(", ")
    }
}

/// What a transaction is called.
pub(super) fn name(transaction: usize) -> String {
    format!("T{}", transaction + 1)
}

/// The versions of every row that was written, in their order, without the first one if it was there from the start.
struct Lists {
    rows: BTreeMap<Row, Vec<Version>>,
}

impl Lists {
    fn of(statements: &[Statement]) -> Lists {
        let list = |(row, life): (Row, Life)| {
            let versions = versions(statements, &row, &life);
            (row, versions)
        };
        Lists { rows: lives(statements).into_iter().map(list).collect() }
    }

    /// How many elements a list has up to and including a version: none if the row began with it.
    fn length(&self, row: &Row, version: Version) -> usize {
        let place = self.rows.get(row).and_then(|list| list.iter().position(|other| *other == version));
        place.map_or(0, |place| place + 1)
    }
}

/// Follows a row from its birth, or from the version that nobody wrote, to its end.
fn versions(statements: &[Statement], row: &Row, life: &Life) -> Vec<Version> {
    let write_by = |at: usize| statements[at].writes.iter().find(|write| write.row == *row);
    let initial = life.replacers.keys().find(|version| !life.writers.contains_key(version));
    let first = life.births.first().copied().or_else(|| life.replacer(*initial?));
    let mut versions = Vec::new();
    let mut next = first.and_then(write_by);
    while let Some(Write { after, .. }) = next {
        // Not to go in circles: observations that contradict each other make no graph, but a graph can be made by hand.
        if versions.contains(after) {
            break;
        }
        versions.push(*after);
        next = after.and_then(|version| life.replacer(version)).and_then(write_by);
    }
    versions
}

struct Writer<'a> {
    builder: Builder,
    lists: &'a Lists,
}

impl Writer<'_> {
    fn begin(&mut self, transaction: usize) {
        let (session, line) = (transaction as u32, transaction as u32 + 1);
        self.builder.begin(Head { session, status: Status::Committed, began: None, ended: None, line });
    }

    /// What a statement returned, then what it wrote.
    fn statement(&mut self, statement: &Statement) {
        for (row, version) in statement.output.iter().flatten() {
            // What nobody wrote tells nothing.
            if self.lists.rows.contains_key(row) {
                self.read(row, self.lists.length(row, Some(*version)));
            }
        }
        for write in &statement.writes {
            let key = self.key(&write.row);
            let element = self.element(write.after);
            self.builder.push(Op::Append(key, element));
        }
    }

    fn read(&mut self, row: &Row, length: usize) {
        let lists = self.lists;
        let elements: Vec<Scalar> = lists.rows[row][..length].iter().map(|version| self.element(*version)).collect();
        let key = self.key(row);
        self.builder.push_list(key, &elements);
    }

    fn key(&mut self, row: &Row) -> KeyId {
        self.builder.key(&row.to_string())
    }

    fn element(&mut self, version: Version) -> Scalar {
        version.map_or_else(|| self.builder.text("dead"), Scalar)
    }
}

#[cfg(test)]
mod tests;
