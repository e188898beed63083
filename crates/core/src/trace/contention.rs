//! Did two transactions write the same row?
//!
//! Transactions that never meet show nothing. Whether they met is not in a trace: `2 rows affected` does not say which.
//! So the case is run once more with a look at the table directly before and directly after every write, by the session
//! that writes:
//!
//! ```text
//!   a  SELECT * FROM t     (1, 10) (2, 20)
//!   a  UPDATE t SET v = 11 WHERE id = 1
//!   a  SELECT * FROM t     (1, 11) (2, 20)         a wrote the row with key 1
//! ```
//!
//! Rows that are there before and not after, or after and not before, were written. If the setup declares a primary
//! key, a row is known by it, under its old and its new key. Otherwise only its contents tell: two writes touched one
//! row if one of them found what the other left, or both found the same.
//!
//! # Limits
//!
//! * A case *is contended* if two sessions wrote a row, whether or not their transactions committed.
//! * A write that changes nothing (`SET v = v`) is not seen; nor one that begins with WITH, or that is one of several
//!   statements of a message, or part of a call; nor what triggers and cascades do to other tables.
//! * Where each statement sees what is committed by then, the look after a write that had to wait also shows what the
//!   holder of the lock committed. The holder is in the way because of a row or key that both want, so this says
//!   "contended" where it is true in all but rare cases (a gap, a whole table).
//! * The looks themselves may wait or take locks (MySQL at serializable): use the instrumented run for this question
//!   only.

use std::collections::{BTreeMap, BTreeSet};

use crate::case::{Case, Entry, Item, Line, SessionName, Sql};
use crate::dialect::Dialect;
use crate::engine::SessionId;
use crate::outcome::StatementResult;
use crate::schedule::{Schedule, ScheduleEntry};
use crate::sql::keys::primary_keys;
use crate::sql::plain_name;
use crate::sql::write::Write;
use crate::trace::{StepRun, Trace};
use crate::value::Value;

/// The case with a look at the written table directly before and after every write. Explicit schedules give turns to
/// the looks, too (in cases without calls); expectations are dropped, since the outcomes may be others now.
pub fn instrument(case: &Case) -> Case {
    let mut instrumented = case.clone();
    instrumented.entries = case.entries.iter().flat_map(with_looks).collect();
    let mut schedules = instrumented.entries.iter_mut().filter_map(|entry| match &mut entry.line {
        Line::Schedule(schedule) => Some(schedule),
        _ => None,
    });
    schedules.by_ref().for_each(|schedule| *schedule = with_turns_for_looks(schedule, case));
    instrumented
}

fn with_looks(entry: &Entry) -> Vec<Entry> {
    let Entry { prose, line: Line::Step(session, item, _) } = entry else { return vec![entry.clone()] };
    let step = |item: Item| Line::Step(session.clone(), item, Vec::new());
    let write = Entry { prose: prose.clone(), line: step(item.clone()) };
    match look(item).map(|look| Entry::from(step(Item::Sql(look)))) {
        Some(look) => vec![look.clone(), write, look],
        None => vec![write],
    }
}

/// The look at the table that an item writes; `None` if it writes none that we can tell.
fn look(item: &Item) -> Option<Sql> {
    let Item::Sql(sql) = item else { return None };
    Sql::new(&look_at(&Write::read(sql.as_str())?)).ok()
}

fn look_at(write: &Write<'_>) -> String {
    format!("SELECT * FROM {}", write.name)
}

fn with_turns_for_looks(schedule: &Schedule, case: &Case) -> Schedule {
    let mut turns: BTreeMap<SessionName, std::vec::IntoIter<usize>> = BTreeMap::new();
    for session in case.sessions() {
        let counts: Vec<usize> = session.items.iter().map(|item| if look(item).is_some() { 3 } else { 1 }).collect();
        turns.insert(session.name, counts.into_iter());
    }
    let repeat = |entry: &ScheduleEntry| {
        let own = entry.session().and_then(|name| turns.get_mut(name)).and_then(Iterator::next);
        std::iter::repeat_n(entry.clone(), own.unwrap_or(1))
    };
    schedule.0.iter().flat_map(repeat).collect()
}

/// Whether a row was written by two sessions, committed or not. The trace is one of the instrumented case; the case may
/// be the original one.
pub fn is_contended(case: &Case, trace: &Trace) -> bool {
    let keys = primary_keys(&case.setup());
    let mut seen: Vec<Touched> = Vec::new();
    for session in (0..trace.sessions.len()).map(SessionId) {
        let steps: Vec<&StepRun> = trace.steps.iter().filter(|step| step.session == session).collect();
        let touched: Vec<Touched> = steps.windows(3).filter_map(|three| touched(three, &keys, trace)).collect();
        if touched.iter().any(|one| seen.iter().any(|other| one.meets(other))) {
            return true;
        }
        seen.extend(touched);
    }
    false
}

/// The rows that one write touched.
struct Touched {
    table: String,
    /// Rows are known by their key; otherwise by everything that is in them.
    by_key: bool,
    before: BTreeSet<Vec<Value>>,
    after: BTreeSet<Vec<Value>>,
}

impl Touched {
    fn meets(&self, other: &Touched) -> bool {
        let meet = |one: &BTreeSet<Vec<Value>>, two: &BTreeSet<Vec<Value>>| !one.is_disjoint(two);
        // Without a key, two rows that were inserted with the same contents are still two rows.
        self.table == other.table
            && (meet(&self.before, &other.before)
                || meet(&self.before, &other.after)
                || meet(&self.after, &other.before)
                || (self.by_key && meet(&self.after, &other.after)))
    }
}

/// What the write in the middle of three steps touched, if the other two are looks at its table and all went well.
fn touched(steps: &[&StepRun], keys: &BTreeMap<String, Vec<String>>, trace: &Trace) -> Option<Touched> {
    let [first, middle, last] = steps else { return None };
    let write = Write::read(&middle.sql)?;
    let look = look_at(&write);
    let succeeded = middle.outcome.as_ref().is_some_and(|outcome| outcome.error.is_none());
    if !succeeded || first.sql != look || last.sql != look {
        return None;
    }
    let (first, last) = (first.outcome.as_ref()?.rows()?, last.outcome.as_ref()?.rows()?);
    let key = keys.get(&write.table).and_then(|key| positions(key, first));
    let before = contents(trace.engine.dialect, first);
    let after = contents(trace.engine.dialect, last);
    Some(Touched {
        by_key: key.is_some(),
        before: missing(&before, &after, key.as_deref()),
        after: missing(&after, &before, key.as_deref()),
        table: write.table,
    })
}

/// Where the columns of the key stand in a result.
fn positions(key: &[String], result: &StatementResult) -> Option<Vec<usize>> {
    let position = |name: &String| {
        let name = plain_name(name);
        result.columns.iter().position(|column| column.name.to_lowercase() == name)
    };
    key.iter().map(position).collect()
}

/// The rows, each with the number of times that it is there.
type Contents = BTreeMap<Vec<Value>, usize>;

fn contents(dialect: &dyn Dialect, result: &StatementResult) -> Contents {
    let mut contents = Contents::new();
    for row in dialect.values(result) {
        *contents.entry(row).or_default() += 1;
    }
    contents
}

/// The rows that are in one and not (or less often) in the other: their keys, or all of them.
fn missing(one: &Contents, other: &Contents, key: Option<&[usize]>) -> BTreeSet<Vec<Value>> {
    let rows = one.iter().filter(|(row, count)| other.get(*row).is_none_or(|there| there < count));
    let identity = |row: &Vec<Value>| match key {
        Some(positions) => positions.iter().filter_map(|at| row.get(*at).cloned()).collect(),
        None => row.clone(),
    };
    rows.map(|(row, _)| identity(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case;
    use crate::oracle::toy::{Rule, Toy};
    use crate::oracle::{Mode, RunRequest, Runner};
    use crate::schedule::Policy;

    fn read(steps: &str) -> Case {
        let steps = steps.replace("; ", ";\n").replace(": ", "*/ ").replace('\n', "\n/*");
        case::parse(&format!("-- @case 1\n/*{steps};\n")).unwrap()
    }

    #[test]
    fn looks_stand_beside_every_write() {
        let case = read("init: CREATE TABLE t (id, v); a: BEGIN; a: UPDATE t SET v = 1; b: SELECT * FROM t; b: COMMIT");
        let mut with_schedule = case.clone();
        with_schedule.set_schedule(case.turns(None).iter().fold(Schedule::default(), |mut schedule, turn| {
            if let crate::schedule::Turn::Item(name) = turn {
                schedule.0.push(ScheduleEntry::Step(name.clone()));
            }
            schedule
        }));
        let steps: Vec<String> = instrument(&case)
            .entries
            .iter()
            .filter_map(|entry| match &entry.line {
                Line::Step(session, item, _) => Some(format!("{session}: {item}")),
                _ => None,
            })
            .collect();
        let look = "a: SELECT * FROM t";
        assert_eq!(steps, ["a: BEGIN", look, "a: UPDATE t SET v = 1", look, "b: SELECT * FROM t", "b: COMMIT"]);
        assert_eq!(instrument(&with_schedule).schedules()[0].to_string(), "a a a a b b");
    }

    #[track_caller]
    fn check(table: &str, steps: &str, expect: bool) {
        let case =
            read(&format!("init: CREATE TABLE t ({table}); init: INSERT INTO t VALUES (1, 10), (2, 20); {steps}"));
        let instrumented = instrument(&case);
        let mode = Mode::Scheduled(None);
        let request = RunRequest { case: &instrumented, target: 0, policy: Policy::Skip, mode };
        let trace = Toy::new(Rule::Blind).run(&request).unwrap();
        assert_eq!(is_contended(&case, &trace), expect, "{steps}");
    }

    #[test]
    fn one_row_and_two_sessions_are_contention() {
        for table in ["id, v", "id PRIMARY KEY, v"] {
            check(table, "a: UPDATE t SET v = 11 WHERE id = 1; b: UPDATE t SET v = 12 WHERE id = 1", true);
            check(table, "a: UPDATE t SET v = 11 WHERE id = 1; b: UPDATE t SET v = 12 WHERE id = 2", false);
            check(table, "a: UPDATE t SET v = 11 WHERE id = 1; a: UPDATE t SET v = 12 WHERE id = 1", false);
            check(table, "a: BEGIN; a: DELETE FROM t WHERE id = 1; b: DELETE FROM t WHERE id = 1; a: ROLLBACK", true);
            check(table, "a: INSERT INTO t VALUES (3, 30); b: UPDATE t SET v = 31 WHERE id = 3", true);
            check(table, "a: UPDATE t SET v = 10 WHERE id = 1; b: UPDATE t SET v = 12 WHERE id = 1", false);
        }
    }

    #[test]
    fn a_key_tells_more_than_contents() {
        let steps = "a: BEGIN; b: BEGIN; a: INSERT INTO t VALUES (3, 1); b: INSERT INTO t VALUES (3, 1); a: ROLLBACK";
        check("id PRIMARY KEY, v", steps, true);
        check("id, v", steps, false);
    }
}
