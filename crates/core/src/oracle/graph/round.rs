//! What one instrumented run shows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::graph::{Probe, Row, Statement, Write};
use crate::oracle::graph::instrument::{Prepared, Role, Table, Target};
use crate::oracle::graph::instrumented::Instrumented;
use crate::outcome::{ErrorClass, StatementResult};
use crate::schedule::StepRef;
use crate::trace::transactions::{Fate, Transaction, transactions};
use crate::trace::{StepId, StepRun, Trace, TraceEvent};
use crate::value::Value;

/// One run of an instrumented case.
pub(super) struct Round<'a> {
    prepared: &'a Prepared,
    instrumented: &'a Instrumented,
    trace: &'a Trace,
    /// By step of the prepared case: the steps of the run that belong to it, in order.
    units: BTreeMap<StepRef, Vec<StepId>>,
    transactions: Vec<Transaction>,
}

/// What must be changed before a run can be judged.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    /// Statements that failed: they are left out.
    pub(super) failed: BTreeSet<StepRef>,
    /// Statements that waited, or were separated from the reads around them.
    pub(super) disturbed: BTreeSet<StepRef>,
}

/// An UPDATE or DELETE that wrote other rows than those that its own condition selects.
#[derive(Debug, Clone)]
pub(super) struct Mismatch {
    pub(super) step: StepRef,
    /// The rows that the condition selected directly before, and that were not written.
    pub(super) missed: Vec<Row>,
    /// The rows that were written although the condition did not select them.
    pub(super) extra: Vec<Row>,
}

/// A primary key that a read beside a statement returned twice.
pub(super) struct Twice {
    pub(super) step: StepRef,
    pub(super) row: Row,
    /// True if the statement inserted the key after another transaction had deleted it: a snapshot from before that shows
    /// the old row as well as the new one, since unique keys are looked up in what is there now. Nothing is wrong then.
    pub(super) is_reborn: bool,
}

/// A row of a read: version, then the values of all columns.
type Rows = BTreeMap<Row, (i64, Vec<Value>)>;

impl<'a> Round<'a> {
    pub(super) fn new(prepared: &'a Prepared, instrumented: &'a Instrumented, trace: &'a Trace) -> Round<'a> {
        let mut units: BTreeMap<StepRef, Vec<StepId>> = BTreeMap::new();
        for id in (0..trace.steps.len()).map(StepId) {
            if let Some(part) = instrumented.part(trace, id) {
                units.entry(part.step.clone()).or_default().push(id);
            }
        }
        Round { prepared, instrumented, trace, units, transactions: transactions(trace) }
    }

    /// Why nothing can be said of this run, whatever is left out.
    pub(super) fn unknown(&self) -> Option<String> {
        let lost = self.transactions.iter().find(|transaction| matches!(transaction.fate, Fate::Lost | Fate::Unknown));
        lost.map(|transaction| {
            let name = self.trace.name(transaction.session);
            format!("it is not known whether a transaction of {name} committed")
        })
    }

    /// The steps in the order in which they completed: the schedule of the next round.
    pub(super) fn recorded(&self) -> Vec<StepRef> {
        let completed = |event: &TraceEvent| match event {
            TraceEvent::Completed(id) => {
                self.instrumented.part(self.trace, *id).filter(|part| part.read.is_none()).map(|part| part.step.clone())
            }
            _ => None,
        };
        self.trace.events.iter().filter_map(completed).collect()
    }

    /// What failed and what was disturbed.
    pub(super) fn trouble(&self) -> Trouble {
        let committed = self.committed();
        let mut trouble = Trouble::default();
        for (step, unit) in self.units.iter().filter(|(step, _)| self.prepared.targets.contains_key(step)) {
            if unit.iter().any(|id| has_failed(self.trace.step(*id))) {
                trouble.failed.insert(step.clone());
            } else if committed.contains_key(step) && self.is_disturbed(unit) {
                trouble.disturbed.insert(step.clone());
            }
        }
        trouble
    }

    /// The statements of committed transactions, with the position of their transaction in the order of the commits.
    fn committed(&self) -> BTreeMap<StepRef, usize> {
        let mut committed = BTreeMap::new();
        for (position, transaction) in self.transactions.iter().filter(|one| one.is_committed()).enumerate() {
            let steps = transaction.steps.iter().filter_map(|id| self.step_of(*id));
            let targets = steps.filter(|step| self.prepared.targets.contains_key(step));
            committed.extend(targets.map(|step| (step.clone(), position)));
        }
        committed
    }

    /// Whether anything happened between the first and the last of these steps that is not theirs, or one of them waited.
    fn is_disturbed(&self, unit: &[StepId]) -> bool {
        let (Some(first), Some(last)) = (unit.first(), unit.last()) else { return false };
        let position = |wanted: TraceEvent| self.trace.events.iter().position(|event| *event == wanted);
        let (from, to) = (position(TraceEvent::Submitted(*first)), position(TraceEvent::Completed(*last)));
        let (Some(from), Some(to)) = (from, to) else { return true };
        let is_foreign = |event: &TraceEvent| match event {
            // That somebody waits is not an effect.
            TraceEvent::Waiting { .. } => false,
            other => other.step().is_none_or(|id| !unit.contains(&id)),
        };
        unit.iter().any(|id| self.trace.step(*id).waited) || self.trace.events[from..=to].iter().any(is_foreign)
    }

    /// What was observed of every statement that committed, in the order in which they completed; and the versions that
    /// others wrote.
    pub(super) fn observed(&self) -> Result<(Vec<Statement>, BTreeMap<i64, StepRef>), String> {
        let committed = self.committed();
        let done: BTreeMap<StepRef, usize> = self.recorded().into_iter().zip(0..).collect();
        let mut statements = Vec::new();
        for (step, transaction) in &committed {
            let target = &self.prepared.targets[step];
            let done = *done.get(step).ok_or_else(|| format!("{step} was not answered"))?;
            statements.push(self.statement(step, target, *transaction, done)?);
        }
        statements.sort_by_key(|statement| statement.done);
        let strangers = self.prepared.targets.iter().filter(|(step, _)| !committed.contains_key(step));
        let strangers = strangers.filter_map(|(step, target)| Some((target.version?, step.clone()))).collect();
        Ok((statements, strangers))
    }

    fn statement(&self, step: &StepRef, target: &Target, transaction: usize, done: usize) -> Result<Statement, String> {
        let mut before = Rows::new();
        for (table, rows) in self.reads(step, Role::VersionSet)? {
            debug_assert!(rows.keys().all(|row| row.table == table));
            before.extend(rows);
        }
        let after: Rows = self.reads(step, Role::AfterWrite)?.into_iter().flat_map(|(_, rows)| rows).collect();
        let writes = match &target.written {
            Some(table) => writes(table, target, &before, &after),
            None => Vec::new(),
        };
        let constraints = target.written.iter().filter(|_| target.chooses).map(|table| &self.prepared.tables[table]);
        let lookups = constraints.flat_map(|table| &table.constraints).map(|one| one.name.clone()).collect();
        let probes = self.probes(&writes, &before, &after);
        let is_used = |row: &Row| target.uses.contains_key(&row.table);
        let seen = before.iter().filter(|(row, _)| is_used(row)).map(|(row, (version, _))| (row.clone(), *version));
        Ok(Statement {
            step: step.clone(),
            transaction,
            done,
            uses: target.uses.clone(),
            seen: seen.collect(),
            output: self.output(step, target)?,
            writes,
            probes,
            lookups,
        })
    }

    /// What the reads of one kind around a statement returned, by table.
    fn reads(&self, step: &StepRef, role: Role) -> Result<Vec<(Arc<str>, Rows)>, String> {
        let mut found = Vec::new();
        for id in self.units.get(step).into_iter().flatten() {
            let read = self.instrumented.part(self.trace, *id).and_then(|part| part.read.as_ref());
            let Some(read) = read.filter(|read| read.role == role) else { continue };
            let table = &self.prepared.tables[&read.table];
            let result = result(self.trace.step(*id))?;
            found.push((read.table.clone(), self.rows(&read.table, table, result)?));
        }
        Ok(found)
    }

    fn rows(&self, name: &Arc<str>, table: &Table, result: &StatementResult) -> Result<Rows, String> {
        let mut rows = Rows::new();
        for values in self.trace.engine.dialect.values(result) {
            let key = values.get(..table.key.len()).ok_or("a read returned too few columns")?.to_vec();
            let version = values.get(table.key.len()).and_then(whole).ok_or("a row has no version")?;
            rows.insert(Row { table: name.clone(), key }, (version, values));
        }
        Ok(rows)
    }

    /// The rows that a query returned, where it returns their keys.
    fn output(&self, step: &StepRef, target: &Target) -> Result<Option<BTreeSet<(Row, i64)>>, String> {
        let Some(outputs) = &target.output else { return Ok(None) };
        let result = result(self.own(step).ok_or("a query was not answered")?)?;
        let appended = outputs.iter().map(|output| output.version + 1).max().unwrap_or(0);
        let shown = result.columns.len().checked_sub(appended).ok_or("a query returned too few columns")?;
        let mut rows = BTreeSet::new();
        for values in self.trace.engine.dialect.values(result) {
            for output in outputs {
                let value = |at: &usize| values.get(shown + *at).cloned().unwrap_or(Value::Null);
                // NULL where an outer join found no row.
                let Some(version) = whole(&value(&output.version)) else { continue };
                let key = output.key.iter().map(value).collect();
                rows.insert((Row { table: output.table.clone(), key }, version));
            }
        }
        Ok(Some(rows))
    }

    /// The statement itself, among its reads.
    pub(super) fn own(&self, step: &StepRef) -> Option<&StepRun> {
        self.own_id(step).map(|id| self.trace.step(id))
    }

    fn own_id(&self, step: &StepRef) -> Option<StepId> {
        let is_own = |id: &&StepId| self.instrumented.part(self.trace, **id).is_some_and(|part| part.read.is_none());
        self.units.get(step)?.iter().find(is_own).copied()
    }

    /// The step of the prepared case that a step of the run is; `None` for reads.
    pub(super) fn step_of(&self, id: StepId) -> Option<&StepRef> {
        self.instrumented.part(self.trace, id).filter(|part| part.read.is_none()).map(|part| &part.step)
    }

    /// The values of unique and foreign keys that appear, disappear or change by these writes.
    fn probes(&self, writes: &[Write], before: &Rows, after: &Rows) -> BTreeSet<Probe> {
        let mut probes = BTreeSet::new();
        for write in writes {
            for constraint in &self.prepared.tables[&write.row.table].constraints {
                let value = |rows: &Rows| {
                    let (_, values) = rows.get(&write.row)?;
                    let value: Vec<Value> =
                        constraint.columns.iter().filter_map(|at| values.get(*at).cloned()).collect();
                    (!value.contains(&Value::Null)).then_some(value)
                };
                let old = write.before.and_then(|_| value(before));
                let new = write.after.and_then(|_| value(after));
                if old == new {
                    continue;
                }
                let probe = |value| Probe { constraint: constraint.name.clone(), value };
                probes.extend(old.into_iter().chain(new).map(probe));
            }
        }
        probes
    }

    /// The first primary key that a read beside one of these statements returned twice.
    pub(super) fn twice(&self, statements: &[Statement]) -> Result<Option<Twice>, String> {
        for statement in statements {
            for id in self.units.get(&statement.step).into_iter().flatten() {
                let read = self.instrumented.part(self.trace, *id).and_then(|part| part.read.as_ref());
                let Some(read) = read.filter(|read| read.role != Role::BeforeWrite) else { continue };
                let key = self.prepared.tables[&read.table].key.len();
                let mut rows = self.trace.engine.dialect.values(result(self.trace.step(*id))?);
                rows.iter_mut().for_each(|values| values.truncate(key));
                rows.sort_unstable();
                if let Some(pair) = rows.windows(2).find(|pair| pair[0] == pair[1]) {
                    let row = Row { table: read.table.clone(), key: pair[0].clone() };
                    let is_reborn = self.prepared.targets[&statement.step].inserts
                        && read.role == Role::AfterWrite
                        && statements.iter().any(|other| deletes(other, &row, statement));
                    return Ok(Some(Twice { step: statement.step.clone(), row, is_reborn }));
                }
            }
        }
        Ok(None)
    }

    /// The first UPDATE or DELETE whose condition selected other rows, directly before it, than it wrote.
    pub(super) fn mismatch(&self, statements: &[Statement]) -> Result<Option<Mismatch>, String> {
        for statement in statements {
            let selected = self.reads(&statement.step, Role::BeforeWrite)?;
            let [(_, selected)] = selected.as_slice() else { continue };
            let written: BTreeSet<&Row> = statement.writes.iter().map(|write| &write.row).collect();
            let missed: Vec<Row> = selected.keys().filter(|row| !written.contains(row)).cloned().collect();
            let is_extra = |row: &&&Row| !selected.contains_key(**row);
            let extra: Vec<Row> = written.iter().filter(is_extra).map(|row| (*row).clone()).collect();
            if !missed.is_empty() || !extra.is_empty() {
                return Ok(Some(Mismatch { step: statement.step.clone(), missed, extra }));
            }
        }
        Ok(None)
    }
}

/// True if a statement of another transaction deleted a row before this one ran.
fn deletes(statement: &Statement, row: &Row, before: &Statement) -> bool {
    let is_death = |write: &Write| write.row == *row && write.after.is_none();
    statement.done < before.done && statement.transaction != before.transaction && statement.writes.iter().any(is_death)
}

/// What a statement did to a table, read off the table before and after it. A plain INSERT replaces nothing: where its
/// snapshot shows a row with the same key, that row is gone, and the new one is another row.
fn writes(table: &Arc<str>, target: &Target, before: &Rows, after: &Rows) -> Vec<Write> {
    let is_written =
        |(row, (found, _)): &(&Row, &(i64, Vec<Value>))| row.table == *table && Some(*found) == target.version;
    let is_new = target.inserts && !target.chooses;
    let replaced = |row: &Row| before.get(row).filter(|_| !is_new).map(|(version, _)| *version);
    let mut writes: Vec<Write> = after
        .iter()
        .filter(is_written)
        .map(|(row, (version, _))| Write { row: row.clone(), before: replaced(row), after: Some(*version) })
        .collect();
    let is_gone = |row: &&Row| row.table == *table && !after.contains_key(row);
    let dead = before.keys().filter(is_gone);
    writes.extend(dead.map(|row| Write { row: row.clone(), before: Some(before[row].0), after: None }));
    writes
}

/// Whether a step failed by itself. In a transaction that has failed, everything after it is refused.
fn has_failed(step: &StepRun) -> bool {
    let class = step.outcome.as_ref().and_then(|outcome| outcome.error_class());
    class.is_some_and(|class| class != ErrorClass::TransactionAborted)
}

fn result(step: &StepRun) -> Result<&StatementResult, String> {
    let rows = step.outcome.as_ref().and_then(|outcome| outcome.rows());
    rows.ok_or_else(|| format!("a query returned no rows: {}", step.sql))
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.to_string().parse().ok(),
        _ => None,
    }
}
