//! Our own traces as histories.
//!
//! A trace holds statements and rows; a history holds versions. One becomes the other where rows *are* registers: in a
//! table of a key and a value, when no row is given a value twice, a value tells which write made it.
//!
//! ```text
//!   /*init*/ INSERT INTO t VALUES (1, 10)      t/1 is initial
//!   a: BEGIN                                   ┐
//!   a: SELECT v FROM t WHERE id = 1    → 10    │ read t/1 (initial)
//!   b: UPDATE t SET v = 11 WHERE id = 1        │                      write t/1 11   (a transaction of its own)
//!   a: SELECT * FROM t                 → 1 11  │ read t/1 11
//!   a: COMMIT                                  ┘
//! ```
//!
//! Where transactions begin and end and how is what [`transactions`] found out; they began when their first step was
//! submitted, and ended when the last one was answered.
//!
//! A row that is missing is a version, too: the initial one if the setup did not insert it; otherwise the one that its
//! only DELETE made. An UPDATE or DELETE that found no row has read that version. A statement that failed did nothing.
//!
//! # Limits
//!
//! Whatever is not plainly a read or a write of named rows (or a read of all of them) is refused, and the refusal names the
//! step: a history that leaves something out would answer another question. The final state is nobody's read, and is left
//! out: a dirty write that only shows there (G0) does not show in the history.

mod statement;

use std::collections::BTreeMap;

use self::statement::{Access, ReadColumns, Table};
use super::build::{Builder, Head};
use super::{History, KeyId, Op, Scalar, Status};
use crate::case::Case;
use crate::outcome::TxStatus;
use crate::schedule::StepRef;
use crate::sql::{self, StatementKind};
use crate::trace::transactions::{Fate, Start, Transaction, transactions};
use crate::trace::{StepId, StepRun, Trace, TraceEvent};
use crate::value::Value;

/// Why a trace is no history.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no history: {sql}: {reason}")]
pub struct NotTraceable {
    /// The step; `None` if it is a statement of the setup.
    pub step: Option<StepRef>,
    /// Its text.
    pub sql: String,
    /// What is wrong with it.
    pub reason: String,
}

/// The history of a run of a case.
pub fn history_of(case: &Case, trace: &Trace) -> Result<History, NotTraceable> {
    let mut registers = Registers::default();
    for sql in case.setup() {
        registers.set_up(&sql).map_err(|reason| NotTraceable { step: None, sql, reason })?;
    }
    let mut accesses = Vec::new();
    for (at, step) in trace.steps.iter().enumerate() {
        let refuse = |reason| refuse(trace, StepId(at), reason);
        let access = access(step, &registers.tables, trace).map_err(refuse)?;
        access.as_ref().map_or(Ok(()), |access| registers.note(access)).map_err(refuse)?;
        accesses.push(access);
    }
    let mut writer = Writer { trace, accesses, registers, builder: Builder::default() };
    for transaction in transactions(trace) {
        writer.add(&transaction)?;
    }
    Ok(writer.builder.finish())
}

fn refuse(trace: &Trace, id: StepId, reason: String) -> NotTraceable {
    NotTraceable { step: Some(trace.step_name(id)), sql: trace.step(id).sql.clone(), reason }
}

/// What a step does to registers; `None` if nothing.
fn access(step: &StepRun, tables: &[Table], trace: &Trace) -> Result<Option<Access>, String> {
    match trace.engine.dialect.kind(&step.sql) {
        StatementKind::Query | StatementKind::Write => statement::access(&step.sql, tables).map(Some),
        StatementKind::Begin | StatementKind::Commit | StatementKind::Rollback => Ok(None),
        _ => match sql::tokens(&step.sql).first() {
            Some(word) if ["SAVEPOINT", "RELEASE", "SET"].iter().any(|plain| word.is_word(plain)) => Ok(None),
            _ => Err("only reads, writes and the ends of transactions are understood".to_string()),
        },
    }
}

/// The rows that are ever there.
#[derive(Debug, Default)]
struct Registers {
    tables: Vec<Table>,
    /// By table and key.
    rows: BTreeMap<(String, i64), Register>,
}

/// What is known of one row.
#[derive(Debug, Default)]
struct Register {
    /// What the setup gave it; without, it is missing at first.
    initial: Option<i64>,
    written: Vec<i64>,
    is_deleted: bool,
}

impl Registers {
    fn set_up(&mut self, sql: &str) -> Result<(), String> {
        match statement::access(sql, &self.tables) {
            Ok(Access::Insert { table, rows }) => {
                for (key, value) in rows {
                    self.rows.entry((table.clone(), key)).or_default().initial = Some(value);
                }
                Ok(())
            }
            _ => statement::table(sql).map(|table| self.tables.push(table)),
        }
    }

    /// A step that will be made a part of the history: nothing may be written twice.
    fn note(&mut self, access: &Access) -> Result<(), String> {
        let mut write = |table: &String, key: i64, value: i64| {
            let row = self.rows.entry((table.clone(), key)).or_default();
            if row.initial == Some(value) || row.written.contains(&value) {
                return Err(format!("the row {key} of {table} is given the value {value} twice"));
            }
            row.written.push(value);
            Ok(())
        };
        match access {
            Access::Read { .. } => Ok(()),
            Access::Update { table, keys, value } => keys.iter().try_for_each(|key| write(table, *key, *value)),
            Access::Insert { table, rows } => rows.iter().try_for_each(|(key, value)| write(table, *key, *value)),
            Access::Delete { table, key } => {
                let row = self.rows.entry((table.clone(), *key)).or_default();
                if row.initial.is_none() || row.is_deleted {
                    return Err(format!("the row {key} of {table} is missing for more than one reason"));
                }
                row.is_deleted = true;
                Ok(())
            }
        }
    }

    fn keys(&self, table: &str) -> Vec<i64> {
        self.rows.keys().filter(|(of, _)| of == table).map(|(_, key)| *key).collect()
    }
}

/// What a row that is missing reads as, where it was there at first.
const MISSING: &str = "missing";

struct Writer<'a> {
    trace: &'a Trace,
    accesses: Vec<Option<Access>>,
    registers: Registers,
    builder: Builder,
}

impl Writer<'_> {
    fn add(&mut self, transaction: &Transaction) -> Result<(), NotTraceable> {
        let mut ops = Vec::new();
        for id in &transaction.steps {
            let step = self.trace.step(*id);
            let Some(access) = self.accesses[id.0].clone() else {
                continue;
            };
            self.ops(step, &access, &mut ops).map_err(|reason| refuse(self.trace, *id, reason))?;
        }
        if ops.is_empty() {
            return Ok(());
        }
        let (first, last) = (transaction.steps[0], transaction.steps[transaction.steps.len() - 1]);
        let at = |wanted: TraceEvent| {
            self.trace.events.iter().position(|event| *event == wanted).map(|position| position as u64)
        };
        let status = status(transaction, self.trace);
        let ended = at(TraceEvent::Completed(last)).filter(|_| status != Status::Unknown);
        let session = transaction.session.0 as u32;
        let line = first.0 as u32 + 1;
        self.builder.begin(Head { session, status, began: at(TraceEvent::Submitted(first)), ended, line });
        ops.into_iter().for_each(|op| self.builder.push(op));
        Ok(())
    }

    fn ops(&mut self, step: &StepRun, access: &Access, ops: &mut Vec<Op>) -> Result<(), String> {
        let answer = step.outcome.as_ref().filter(|outcome| outcome.status != TxStatus::Lost);
        if answer.is_some_and(|outcome| outcome.error.is_some()) {
            return Ok(());
        }
        let affected = answer.map(|outcome| outcome.affected().unwrap_or(0) as usize);
        match access {
            Access::Read { table, keys, columns } if answer.is_some() => {
                let keys = keys.clone();
                self.reads(step, table, keys, *columns, ops)?;
            }
            Access::Read { .. } => {}
            Access::Update { table, keys, value } => {
                let writes: Vec<(i64, Option<i64>)> = keys.iter().map(|key| (*key, Some(*value))).collect();
                self.writes(table, &writes, affected, ops)?;
            }
            Access::Insert { table, rows } => {
                let writes: Vec<(i64, Option<i64>)> = rows.iter().map(|(key, value)| (*key, Some(*value))).collect();
                self.writes(table, &writes, affected, ops)?;
            }
            Access::Delete { table, key } => self.writes(table, &[(*key, None)], affected, ops)?,
        }
        Ok(())
    }

    /// Writes of values, or of nothing (a DELETE). Without an answer, they may have happened.
    fn writes(
        &mut self,
        table: &str,
        writes: &[(i64, Option<i64>)],
        affected: Option<usize>,
        ops: &mut Vec<Op>,
    ) -> Result<(), String> {
        let found_nothing = affected == Some(0);
        if affected.is_some_and(|count| count != writes.len() && count != 0) {
            return Err("the statement found some of its rows and did not tell which".to_string());
        }
        for (key, value) in writes {
            let id = self.key(table, *key);
            let written = value.map_or_else(|| self.builder.text(MISSING), Scalar);
            ops.push(if found_nothing { self.read(table, *key, None) } else { Op::Write(id, written) });
        }
        Ok(())
    }

    fn reads(
        &mut self,
        step: &StepRun,
        table: &str,
        keys: Option<Vec<i64>>,
        columns: ReadColumns,
        ops: &mut Vec<Op>,
    ) -> Result<(), String> {
        let result = step.outcome.as_ref().and_then(|outcome| outcome.rows()).ok_or("the answer has no rows")?;
        let mut found: BTreeMap<i64, i64> = BTreeMap::new();
        for row in self.trace.engine.dialect.values(result) {
            let whole = |at: usize| match row.get(at) {
                Some(Value::Number(number)) => number.to_i64(),
                _ => None,
            };
            let only = keys.as_ref().and_then(|keys| keys.first().copied());
            let key = columns.key.map_or(only, whole).ok_or("a key came back that is not a whole number")?;
            let value = whole(columns.value).ok_or("a value came back that is not a whole number")?;
            if found.insert(key, value).is_some() {
                return Err(format!("the row {key} came back twice"));
            }
        }
        let wanted = keys.unwrap_or_else(|| self.registers.keys(table));
        let absent = wanted.iter().filter(|key| !found.contains_key(key)).map(|key| (*key, None));
        let mut all: Vec<(i64, Option<i64>)> = found.iter().map(|(key, value)| (*key, Some(*value))).collect();
        all.extend(absent);
        all.sort_unstable();
        for (key, value) in all {
            let op = self.read(table, key, value);
            ops.push(op);
        }
        Ok(())
    }

    /// A read of a row that has this value, or is missing.
    fn read(&mut self, table: &str, key: i64, value: Option<i64>) -> Op {
        let initial = self.registers.rows.get(&(table.to_string(), key)).and_then(|row| row.initial);
        let id = self.key(table, key);
        match value {
            _ if value == initial => Op::Read(id, None),
            Some(value) => Op::Read(id, Some(Scalar(value))),
            None => Op::Read(id, Some(self.builder.text(MISSING))),
        }
    }

    fn key(&mut self, table: &str, key: i64) -> KeyId {
        self.builder.key(&format!("{table}/{key}"))
    }
}

fn status(transaction: &Transaction, trace: &Trace) -> Status {
    let is_commit = |id: &StepId| trace.engine.dialect.kind(&trace.step(*id).sql) == StatementKind::Commit;
    match transaction.fate {
        Fate::Committed => Status::Committed,
        Fate::RolledBack(_) | Fate::Open => Status::Aborted,
        // What was lost before its end was asked for has been rolled back.
        Fate::Lost if transaction.start != Start::Autocommit && !transaction.steps.last().is_some_and(is_commit) => {
            Status::Aborted
        }
        Fate::Lost | Fate::Unknown => Status::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case;
    use crate::history::micro;
    use crate::oracle::toy::{Rule, Toy};
    use crate::oracle::{Mode, RunRequest, Runner};
    use crate::schedule::Policy;

    fn run(steps: &str) -> Result<History, NotTraceable> {
        let setup = "init: CREATE TABLE t (id INT PRIMARY KEY, v INT); init: INSERT INTO t VALUES (1, 10), (2, 20); ";
        let steps = format!("{setup}{steps}").replace("; ", ";\n").replace(": ", "*/ ").replace('\n', "\n/*");
        let case = case::parse(&format!("-- @case 1\n/*{steps};\n")).unwrap();
        let request = RunRequest { case: &case, target: 0, policy: Policy::Skip, mode: Mode::Scheduled(None) };
        let trace = Toy::new(Rule::Blind).run(&request).unwrap();
        history_of(&case, &trace)
    }

    #[track_caller]
    fn check(steps: &str, expect: &str) {
        let printed = micro::print(&run(steps).unwrap());
        let untimed = |line: &str| line.split(' ').filter(|word| !word.starts_with('@')).collect::<Vec<_>>().join(" ");
        assert_eq!(printed.lines().map(untimed).collect::<Vec<_>>().join(" / "), expect, "{steps}");
    }

    #[test]
    fn rows_are_registers() {
        check("a: SELECT * FROM t; a: UPDATE t SET v = 11 WHERE id = 1", "rt/1_ rt/2_ | wt/111");
        check(
            "a: BEGIN; a: UPDATE t SET v = 11 WHERE id = 1; b: SELECT * FROM t; a: ROLLBACK",
            "wt/111 ! / rt/1_ rt/2_",
        );
        check("a: BEGIN; a: UPDATE t SET v = 11 WHERE id = 1; a: SELECT * FROM t; a: COMMIT", "wt/111 rt/111 rt/2_");
        check("a: SELECT * FROM t; a: INSERT INTO t VALUES (3, 30)", "rt/1_ rt/2_ rt/3_ | wt/330");
        check("a: UPDATE t SET v = 31 WHERE id = 3", "rt/3_");
        check("a: DELETE FROM t WHERE id = 1; a: SELECT * FROM t", "wt/1\"missing\" | rt/1\"missing\" rt/2_");
    }

    #[test]
    fn transactions_have_times() {
        let history = run("a: BEGIN; a: SELECT * FROM t; b: UPDATE t SET v = 11 WHERE id = 1; a: COMMIT").unwrap();
        let times: Vec<(Option<u64>, Option<u64>)> = history.transactions().map(|(_, t)| (t.began, t.ended)).collect();
        assert_eq!(times, [(Some(4), Some(5)), (Some(0), Some(7))]);
    }

    #[test]
    fn what_does_not_tell_versions_is_refused() {
        let check = |steps: &str, step: &str, words: &str| {
            let refusal = run(steps).unwrap_err();
            assert_eq!(refusal.step.as_ref().map(ToString::to_string).as_deref(), Some(step), "{steps}");
            assert!(refusal.to_string().contains(words), "{refusal}");
        };
        check("a: SELECT * FROM t; a: UPDATE t SET v = v + 1 WHERE id = 1", "a2", "not a plain");
        check("a: UPDATE t SET v = 10 WHERE id = 1", "a1", "the value 10 twice");
        check("a: DELETE FROM t WHERE id = 3", "a1", "more than one reason");
    }
}
