//! A database for tests: a few tables of whole numbers, a few forms of statements, no waiting.
//!
//! Each transaction works on its own copy of the data, taken at its beginning; its rows replace the common ones when it
//! commits. So it loses updates, unless it is told to refuse them ([`Rule::FirstCommitterWins`]).

use std::collections::{BTreeMap, BTreeSet};

use crate::case::{Case, SessionName};
use crate::dialect::{Dialect, Postgres};
use crate::engine::{EngineInfo, SessionId, State};
use crate::oracle::{Mode, RunError, RunRequest, Runner};
use crate::outcome::{Column, DbError, ErrorClass, Outcome, Row, StatementResult, TxStatus};
use crate::schedule::Turn;
use crate::script::{Script, SessionScript, Step};
use crate::sql::{StatementKind, tokens};
use crate::trace::{SessionRun, StepId, StepRun, Trace, TraceEvent, sample};

/// What happens to a transaction that writes a row which has changed since it began.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Rule {
    /// It overwrites the change.
    Blind,
    /// Its COMMIT fails.
    FirstCommitterWins,
}

/// Runs cases on the toy.
pub(crate) struct Toy {
    pub(crate) rule: Rule,
    /// How many runs there have been.
    pub(crate) runs: usize,
}

impl Toy {
    pub(crate) fn new(rule: Rule) -> Toy {
        Toy { rule, runs: 0 }
    }
}

impl Runner for Toy {
    fn targets(&self) -> Vec<EngineInfo> {
        vec![sample::engine()]
    }

    fn run(&mut self, request: &RunRequest<'_>) -> Result<Trace, RunError> {
        self.runs += 1;
        let mut execution = Execution::new(request.case, self.rule)?;
        match &request.mode {
            Mode::Scheduled(schedule) => execution.scheduled(&request.case.turns(schedule.as_ref())),
            Mode::Serial(order) => order.iter().for_each(|name| execution.transaction(name)),
            Mode::Autocommit(_) => unreachable!("nobody asks the toy for this"),
        }
        (0..execution.sessions.len()).for_each(|session| while execution.step(session) {});
        let tables = execution.store.tables.iter().map(|(name, table)| (name.clone(), table.result(&table.rows, &[])));
        execution.trace.final_state = Some(State { tables: tables.collect() });
        Ok(execution.trace)
    }
}

/// Plays traces: for each target one per run, the last one again and again.
pub(crate) struct Played {
    pub(crate) plays: Vec<Vec<Trace>>,
    /// How many runs there have been.
    pub(crate) runs: Vec<usize>,
}

impl Played {
    pub(crate) fn new(traces: Vec<Trace>) -> Played {
        Played { runs: vec![0; traces.len()], plays: traces.into_iter().map(|trace| vec![trace]).collect() }
    }
}

impl Runner for Played {
    fn targets(&self) -> Vec<EngineInfo> {
        self.plays.iter().map(|plays| plays[0].engine.clone()).collect()
    }

    fn run(&mut self, request: &RunRequest<'_>) -> Result<Trace, RunError> {
        let (plays, run) = (&self.plays[request.target], self.runs[request.target]);
        self.runs[request.target] += 1;
        Ok(plays[run.min(plays.len() - 1)].clone())
    }
}

#[derive(Clone, Default)]
struct Store {
    tables: BTreeMap<String, Table>,
}

#[derive(Clone, Default)]
struct Table {
    columns: Vec<String>,
    rows: BTreeMap<u64, Vec<i64>>,
}

/// A row of a table.
type RowId = (String, u64);

struct Transaction {
    view: Store,
    touched: BTreeSet<RowId>,
    began: u64,
    failed: bool,
}

struct Session {
    name: SessionName,
    script: SessionScript,
    pending: Option<Step>,
    transaction: Option<Transaction>,
    steps: usize,
}

struct Execution {
    rule: Rule,
    store: Store,
    /// When each row was changed, in commits.
    changed: BTreeMap<RowId, u64>,
    commits: u64,
    next_row: u64,
    sessions: Vec<Session>,
    trace: Trace,
}

impl Execution {
    fn new(case: &Case, rule: Rule) -> Result<Execution, RunError> {
        let mut trace = sample::empty();
        let mut sessions = Vec::new();
        for items in case.sessions() {
            let mut script = SessionScript::new(&items.items, case.program.as_deref(), &Postgres)?;
            let pending = script.next(None);
            let level = case.level_of(&items.name).unwrap_or(&trace.engine.default_level).clone();
            trace.sessions.push(SessionRun { name: items.name.clone(), level, left_open: false });
            sessions.push(Session { name: items.name, script, pending, transaction: None, steps: 0 });
        }
        let (store, changed) = (Store::default(), BTreeMap::new());
        let mut execution = Execution { rule, store, changed, commits: 0, next_row: 0, sessions, trace };
        for (position, sql) in case.setup().into_iter().enumerate() {
            let mut whole = execution.begin();
            if let Err(class) = execution.execute(&sql, &mut whole) {
                let (target, error) = ("toy".to_string(), class.to_string());
                return Err(RunError::Setup { target, step: position + 1, sql, error });
            }
            execution.store = whole.view;
            execution.trace.setup.push(Outcome::empty(TxStatus::Idle));
        }
        Ok(execution)
    }

    fn scheduled(&mut self, turns: &[Turn]) {
        for turn in turns {
            let (Turn::Step(name) | Turn::Item(name)) = turn else { continue };
            let Some(session) = self.sessions.iter().position(|session| session.name == *name) else { continue };
            let item = |execution: &Execution| execution.sessions[session].pending.as_ref().map(|step| step.item);
            let current = item(self);
            self.step(session);
            while matches!(turn, Turn::Item(_)) && current.is_some() && item(self) == current {
                self.step(session);
            }
        }
    }

    /// The next transaction of a session.
    fn transaction(&mut self, name: &SessionName) {
        let session = self.sessions.iter().position(|session| session.name == *name).expect("a session of the case");
        while self.step(session) && self.sessions[session].transaction.is_some() {}
    }

    /// The next step of a session; false if there is none.
    fn step(&mut self, session: usize) -> bool {
        let Some(step) = self.sessions[session].pending.take() else { return false };
        let mut transaction = self.sessions[session].transaction.take();
        let outcome = self.answer(&step.sql, &mut transaction);
        let id = StepId(self.trace.steps.len());
        self.trace.events.extend([TraceEvent::Submitted(id), TraceEvent::Completed(id)]);
        let state = &mut self.sessions[session];
        state.transaction = transaction;
        state.pending = state.script.next(Some(&outcome));
        let (index, item) = (state.steps, step.item);
        state.steps += 1;
        self.trace.steps.push(StepRun {
            session: SessionId(session),
            index,
            item,
            sql: step.sql,
            outcome: Some(outcome),
            waited: false,
            cancelled: None,
        });
        true
    }

    fn answer(&mut self, sql: &str, transaction: &mut Option<Transaction>) -> Outcome {
        match (StatementKind::of(sql), transaction.take()) {
            (StatementKind::Begin, None) => {
                *transaction = Some(self.begin());
                Outcome::empty(TxStatus::Open)
            }
            (StatementKind::Commit, Some(whole)) => self.commit(whole),
            (StatementKind::Commit | StatementKind::Rollback, _) => tagged("ROLLBACK"),
            (_, Some(mut whole)) => {
                let answer =
                    if whole.failed { Err(ErrorClass::TransactionAborted) } else { self.execute(sql, &mut whole) };
                whole.failed |= answer.is_err();
                let status = if whole.failed { TxStatus::Failed } else { TxStatus::Open };
                *transaction = Some(whole);
                outcome(answer, status)
            }
            (_, None) => {
                let mut whole = self.begin();
                let answer = self.execute(sql, &mut whole);
                if answer.is_ok() {
                    self.commit(whole);
                }
                outcome(answer, TxStatus::Idle)
            }
        }
    }

    fn begin(&self) -> Transaction {
        Transaction { view: self.store.clone(), touched: BTreeSet::new(), began: self.commits, failed: false }
    }

    fn commit(&mut self, transaction: Transaction) -> Outcome {
        if transaction.failed {
            return tagged("ROLLBACK");
        }
        let stale = |row| self.changed.get(row).is_some_and(|commit| *commit > transaction.began);
        if self.rule == Rule::FirstCommitterWins && transaction.touched.iter().any(stale) {
            return outcome(Err(ErrorClass::SerializationFailure), TxStatus::Idle);
        }
        self.commits += 1;
        for (table, row) in transaction.touched {
            let common = &mut self.store.tables.get_mut(&table).expect("tables are made in the setup").rows;
            match transaction.view.tables[&table].rows.get(&row) {
                Some(values) => common.insert(row, values.clone()),
                None => common.remove(&row),
            };
            self.changed.insert((table, row), self.commits);
        }
        tagged("COMMIT")
    }

    fn execute(&mut self, sql: &str, transaction: &mut Transaction) -> Result<StatementResult, ErrorClass> {
        let texts: Vec<String> = tokens(sql).iter().map(|token| token.text.to_lowercase()).collect();
        let words: Vec<&str> = texts.iter().map(String::as_str).collect();
        let tables = &mut transaction.view.tables;
        let name_at = |at: usize| words.get(at).copied().ok_or(ErrorClass::Syntax);
        match words.as_slice() {
            ["create", "table", name, rest @ ..] => {
                let columns =
                    groups(rest).concat().split(|word| *word == ",").map(|part| part[0].to_string()).collect();
                tables.insert((*name).to_string(), Table { columns, ..Table::default() });
                Ok(StatementResult::default())
            }
            ["insert", "into", ..] => {
                let name = name_at(2)?;
                let values = words.iter().position(|word| *word == "values").ok_or(ErrorClass::Syntax)?;
                let table = tables.get_mut(name).ok_or(ErrorClass::UnknownObject)?;
                let inserted = groups(&words[values..]);
                for group in &inserted {
                    let row = group.split(|word| *word == ",").map(|part| number(part, &[], &[]));
                    table.rows.insert(self.next_row, row.collect::<Result<_, _>>()?);
                    transaction.touched.insert((name.to_string(), self.next_row));
                    self.next_row += 1;
                }
                Ok(affected(inserted.len()))
            }
            ["select", ..] => {
                let from = words.iter().position(|word| *word == "from").ok_or(ErrorClass::Syntax)?;
                let table = tables.get(name_at(from + 1)?).ok_or(ErrorClass::UnknownObject)?;
                let rows = table.matching(&words)?;
                Ok(table.result(&rows, &words[1..from]))
            }
            ["update", ..] | ["delete", ..] => {
                let name = name_at(if words[0] == "update" { 1 } else { 2 })?;
                let table = tables.get_mut(name).ok_or(ErrorClass::UnknownObject)?;
                let rows = table.matching(&words)?;
                for (id, values) in &rows {
                    transaction.touched.insert((name.to_string(), *id));
                    table.rows.remove(id);
                    if words[0] == "update" {
                        let end = words.iter().position(|word| *word == "where").unwrap_or(words.len());
                        let column = table.column(words[3])?;
                        let mut changed = values.clone();
                        changed[column] = number(&words[5..end], &table.columns, values)?;
                        table.rows.insert(*id, changed);
                    }
                }
                Ok(affected(rows.len()))
            }
            _ => Err(ErrorClass::Syntax),
        }
    }
}

impl Table {
    fn column(&self, name: &str) -> Result<usize, ErrorClass> {
        self.columns.iter().position(|column| column == name).ok_or(ErrorClass::UnknownObject)
    }

    /// The rows that `… WHERE column = n` selects.
    fn matching(&self, words: &[&str]) -> Result<BTreeMap<u64, Vec<i64>>, ErrorClass> {
        let Some(at) = words.iter().position(|word| *word == "where") else { return Ok(self.rows.clone()) };
        let [column, "=", value] = words[at + 1..] else { return Err(ErrorClass::Syntax) };
        let (column, value) = (self.column(column)?, number(&[value], &[], &[])?);
        Ok(self.rows.iter().filter(|(_, row)| row[column] == value).map(|(id, row)| (*id, row.clone())).collect())
    }

    fn result(&self, rows: &BTreeMap<u64, Vec<i64>>, wanted: &[&str]) -> StatementResult {
        let shown = |name: &&String| wanted.is_empty() || wanted == ["*"] || wanted.contains(&name.as_str());
        let positions: Vec<usize> =
            self.columns.iter().enumerate().filter(|(_, name)| shown(name)).map(|(at, _)| at).collect();
        let column = |at: &usize| Column { name: self.columns[*at].clone(), type_name: "int4".to_string() };
        let cells = |row: &Vec<i64>| -> Row { positions.iter().map(|at| Some(row[*at].to_string().into())).collect() };
        StatementResult {
            columns: positions.iter().map(column).collect(),
            rows: rows.values().map(cells).collect(),
            ..StatementResult::default()
        }
    }
}

/// What stands in each pair of outer parentheses.
fn groups<'a>(words: &'a [&'a str]) -> Vec<Vec<&'a str>> {
    let mut groups = Vec::new();
    for word in words {
        match *word {
            "(" => groups.push(Vec::new()),
            ")" => {}
            word => groups.last_mut().into_iter().for_each(|group: &mut Vec<&str>| group.push(word)),
        }
    }
    // A comma between two groups ends up in the first.
    for group in groups.iter_mut().filter(|group| group.last() == Some(&",")) {
        group.pop();
    }
    groups
}

/// Sums and differences of numbers and columns.
fn number(words: &[&str], columns: &[String], row: &[i64]) -> Result<i64, ErrorClass> {
    let mut sum = 0;
    let mut sign = 1;
    for word in words {
        match *word {
            "+" => sign = 1,
            "-" => sign = -sign,
            "(" | ")" => {}
            word => {
                let column = columns.iter().position(|column| column == word).map(|at| row[at]);
                sum += sign * column.or(word.parse().ok()).ok_or(ErrorClass::UnknownObject)?;
                sign = 1;
            }
        }
    }
    Ok(sum)
}

fn affected(count: usize) -> StatementResult {
    StatementResult { affected: Some(count as u64), ..StatementResult::default() }
}

fn tagged(tag: &str) -> Outcome {
    outcome(Ok(StatementResult { tag: Some(tag.to_string()), ..StatementResult::default() }), TxStatus::Idle)
}

fn outcome(answer: Result<StatementResult, ErrorClass>, status: TxStatus) -> Outcome {
    match answer {
        Ok(result) => Outcome { results: vec![result], ..Outcome::empty(status) },
        Err(class) => {
            let (code, message) = (String::new(), class.name().to_string());
            Outcome::failed(DbError { class, code, native: None, message, detail: None }, status)
        }
    }
}

/// Builds cases for tests, line by line: `init SQL`, `SESSION SQL`, `SESSION call NAME(ARG=N, …)`, `schedule a b …`.
pub(crate) fn case(lines: &str) -> Case {
    use crate::case::{Call, Item, Line, Sql};
    use crate::schedule::Schedule;
    use crate::value::Value;
    let session = |name: &str| SessionName::new(name).expect("a session name");
    let line = |text: &str| {
        let (label, rest) = text.split_once(' ').expect("a label and more");
        match (label, rest.strip_prefix("call ")) {
            ("init", _) => Line::Init(Sql::new(rest).expect("a statement"), Vec::new()),
            ("schedule", _) => Line::Schedule(rest.split(' ').map(session).collect::<Schedule>()),
            (name, None) => Line::Step(session(name), Item::Sql(Sql::new(rest).expect("a statement")), Vec::new()),
            (name, Some(call)) => {
                let (procedure, arguments) = call.trim_end_matches(')').split_once('(').expect("a call");
                let argument = |part: &str| {
                    let (name, value) = part.split_once('=').expect("an argument");
                    (name.trim().to_string(), Value::int(value.parse().expect("a number")))
                };
                let arguments = arguments.split(',').map(argument).collect();
                Line::Step(session(name), Item::Call(Call { procedure: procedure.to_string(), arguments }), Vec::new())
            }
        }
    };
    let lines = lines.lines().map(str::trim).filter(|text| !text.is_empty());
    let entries = lines.map(|text| line(text).into()).collect();
    Case { entries, ..Case::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Policy;

    #[test]
    fn the_toy_loses_updates_only_if_told_to() {
        let case = case(
            "init CREATE TABLE t (id INT, v INT)
             init INSERT INTO t VALUES (1, 10), (2, 20)
             a BEGIN
             b BEGIN
             a UPDATE t SET v = v + 1 WHERE id = 1
             b UPDATE t SET v = v - 2 + 1 WHERE id = 1
             a COMMIT
             b COMMIT
             b SELECT v FROM t WHERE id = 1",
        );
        for (rule, last) in [(Rule::Blind, "9"), (Rule::FirstCommitterWins, "11")] {
            let request = RunRequest { case: &case, target: 0, policy: Policy::Skip, mode: Mode::Scheduled(None) };
            let trace = Toy::new(rule).run(&request).unwrap();
            let answer = trace.steps.last().unwrap().outcome.as_ref().unwrap();
            assert_eq!(answer.rows().unwrap().rows, [[Some(last.as_bytes().to_vec())]]);
            assert_eq!(Postgres.values(&trace.final_state.unwrap().tables["t"]).len(), 2);
        }
    }
}
