//! Transactions written from top to bottom.
//!
//! A storm asks for one statement at a time and tells its answer. A transaction that reads a balance, looks whether it
//! is large enough, and writes another one would have to be cut into as many pieces as it has statements. It is not. It
//! is written as one function, which is called again from its beginning after every answer, and gets those answers
//! that are known at once; at the first one that is not known it stops:
//!
//! ```text
//!   run()   row(…)  ✋ SELECT bal, v FROM checking WHERE custid = 7
//!   run()   row(…) = (20, 3)   update(…)  ✋ UPDATE checking SET bal = 25, v = 9 WHERE custid = 7
//!   run()   row(…) = (20, 3)   update(…)   ✓ commit
//! ```
//!
//! So a script must be a function of its choices and of the answers alone: all random choices are made before, in
//! [`Script::choose`]; versions are remembered like answers. What an answer tells of versions is logged when it is heard
//! for the first time.
//!
//! # Limits
//!
//! A transaction of n statements walks over n² / 2 answers. For a hundred statements that is a few microseconds.

use std::sync::Arc;

use txloom_core::value::Value;

use super::super::log::{Item, Log, Seen};
use super::{Answer, Next, Transactions, Versions, whole};

/// The transactions of a session, each written from top to bottom.
pub(super) trait Script: Send {
    /// Chooses the next transaction and everything in it that is left to chance.
    fn choose(&mut self);

    /// The transaction: `Ok` is COMMIT.
    fn run(&self, dialogue: &mut Dialogue<'_>) -> Result<(), Stop>;
}

/// Why a script does not go on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It needs the answer to this.
    Ask(String),
    /// It gives up, because of what it read.
    RollBack,
}

/// A script as a stream of transactions.
pub(super) struct Scripted<S> {
    script: S,
    versions: Versions,
    memory: Memory,
    /// How many versions there were before the next statement was asked for.
    versions_before: usize,
    /// How many answers and versions there were at the savepoint.
    savepoint: (usize, usize),
    next: Next,
}

/// What is known of the present transaction.
#[derive(Default)]
struct Memory {
    answers: Vec<Arc<[Row]>>,
    versions: Vec<i64>,
}

impl<S: Script> Scripted<S> {
    /// The versions are those of the session.
    pub(super) fn new(script: S, versions: Versions) -> Scripted<S> {
        let memory = Memory::default();
        Scripted { script, versions, memory, versions_before: 0, savepoint: (0, 0), next: Next::RollBack }
    }

    fn go_on(&mut self, news: Option<News<'_, '_>>) {
        self.versions_before = self.memory.versions.len();
        let Scripted { script, versions, memory, .. } = self;
        let mut dialogue = Dialogue { memory, versions, heard: 0, versions_used: 0, news };
        self.next = match script.run(&mut dialogue) {
            Ok(()) => Next::Commit,
            Err(Stop::Ask(sql)) => Next::Execute(sql),
            Err(Stop::RollBack) => Next::RollBack,
        };
    }
}

impl<S: Script> Transactions for Scripted<S> {
    fn begin(&mut self) {
        self.script.choose();
        self.memory = Memory::default();
        self.go_on(None);
    }

    fn next(&mut self) -> Next {
        self.next.clone()
    }

    fn answered(&mut self, answer: &Answer<'_>, log: &mut Log) {
        self.memory.answers.push(answer.rows().into_iter().map(|row| Row(row.into())).collect());
        self.go_on(Some(News { answer, log }));
    }

    /// The next statement comes after the savepoint, and so do its versions, although they are known already.
    fn savepoint(&mut self) {
        self.savepoint = (self.memory.answers.len(), self.versions_before);
    }

    /// What was undone is done again, with other versions.
    fn rolled_back_to_savepoint(&mut self) {
        let (answers, versions) = self.savepoint;
        self.memory.answers.truncate(answers);
        self.memory.versions.truncate(versions);
        self.go_on(None);
    }
}

/// An answer that has not been heard yet.
struct News<'a, 'b> {
    answer: &'a Answer<'b>,
    log: &'a mut Log,
}

/// What a script talks to.
pub(super) struct Dialogue<'a> {
    memory: &'a mut Memory,
    versions: &'a mut Versions,
    /// How many answers the script has heard since its beginning.
    heard: usize,
    versions_used: usize,
    news: Option<News<'a, 'a>>,
}

impl Dialogue<'_> {
    /// Reads a row that is always there. Its version stands in the last column.
    pub(super) fn row(&mut self, item: Item, sql: impl FnOnce() -> String) -> Result<Row, Stop> {
        let rows = self.hear(sql, |rows, news| {
            if !news.answer.is_error() {
                news.log.read(item, rows.first().map_or(Seen::NoRow, Row::seen));
            }
        })?;
        rows.first().cloned().ok_or(Stop::RollBack)
    }

    /// Reads rows, as many as there are. `item` says which row it is, whose version stands in the last column.
    pub(super) fn rows(
        &mut self,
        item: impl Fn(&Row) -> Result<Item, Stop>,
        sql: impl FnOnce() -> String,
    ) -> Result<Arc<[Row]>, Stop> {
        self.joined(|row, log| item(row).map(|item| log.read(item, row.seen())), sql)
    }

    /// Reads rows that are put together of several. `tell` logs the versions of each.
    pub(super) fn joined(
        &mut self,
        tell: impl Fn(&Row, &mut Log) -> Result<(), Stop>,
        sql: impl FnOnce() -> String,
    ) -> Result<Arc<[Row]>, Stop> {
        self.hear(sql, |rows, news| {
            // Of a row without a key nobody knows which it is.
            rows.iter().for_each(|row| drop(tell(row, news.log)));
        })
    }

    /// Reads the first of the rows; who finds none gives up.
    pub(super) fn first(
        &mut self,
        item: impl Fn(&Row) -> Result<Item, Stop>,
        sql: impl FnOnce() -> String,
    ) -> Result<Row, Stop> {
        self.rows(item, sql)?.first().cloned().ok_or(Stop::RollBack)
    }

    /// Reads a whole table of rows that are always there.
    pub(super) fn whole_table(
        &mut self,
        item: impl Fn(&Row) -> Result<Item, Stop>,
        mut all: Vec<Item>,
        sql: impl FnOnce() -> String,
    ) -> Result<(), Stop> {
        let tell = |rows: &[Row], news: News<'_, '_>| {
            if news.answer.is_error() {
                return;
            }
            let mut found: Vec<(Item, Seen)> =
                rows.iter().filter_map(|row| Some((item(row).ok()?, row.seen()))).collect();
            found.sort_by_key(|(item, _)| *item);
            all.retain(|item| found.binary_search_by_key(item, |(item, _)| *item).is_err());
            found.into_iter().for_each(|(item, seen)| news.log.read(item, seen));
            all.iter().for_each(|item| news.log.read(*item, Seen::NoRow));
        };
        self.hear(sql, tell).map(drop)
    }

    /// Changes a row that is always there, and gives it a version.
    pub(super) fn update(&mut self, item: Item, sql: impl FnOnce(i64) -> String) -> Result<(), Stop> {
        let version = self.version();
        let tell = |_: &[Row], News { answer, log }: News<'_, '_>| match answer.changed_nothing() {
            true => log.read(item, Seen::NoRow),
            false => log.write(item, version),
        };
        self.hear(|| sql(version), tell).map(drop)
    }

    /// Takes a row away that comes and goes. Nobody can see its version; it takes its place among the others.
    pub(super) fn remove(&mut self, item: Item, sql: impl FnOnce() -> String) -> Result<(), Stop> {
        let version = self.version();
        let tell = |_: &[Row], News { answer, log }: News<'_, '_>| {
            if !answer.changed_nothing() {
                log.delete(item, version);
            }
        };
        self.hear(sql, tell).map(drop)
    }

    /// Puts rows there that come and go, or changes them. Who changes nothing has written nothing.
    pub(super) fn put(&mut self, items: &[Item], sql: impl FnOnce(i64) -> String) -> Result<(), Stop> {
        let version = self.version();
        let tell = |_: &[Row], News { answer, log }: News<'_, '_>| {
            if !answer.changed_nothing() {
                items.iter().for_each(|item| log.write(*item, version));
            }
        };
        self.hear(|| sql(version), tell).map(drop)
    }

    /// A version that nobody else has. The same one each time that the script is run.
    pub(super) fn version(&mut self) -> i64 {
        if self.versions_used == self.memory.versions.len() {
            self.memory.versions.push(self.versions.take());
        }
        self.versions_used += 1;
        self.memory.versions[self.versions_used - 1]
    }

    /// The next answer; if it is news, what it tells is logged.
    fn hear(
        &mut self,
        sql: impl FnOnce() -> String,
        tell: impl FnOnce(&[Row], News<'_, '_>),
    ) -> Result<Arc<[Row]>, Stop> {
        let Some(rows) = self.memory.answers.get(self.heard).cloned() else { return Err(Stop::Ask(sql())) };
        self.heard += 1;
        if self.heard == self.memory.answers.len()
            && let Some(news) = self.news.take()
        {
            let is_error = news.answer.is_error();
            tell(&rows, news);
            if is_error {
                return Err(Stop::RollBack);
            }
        }
        Ok(rows)
    }
}

/// A row of an answer.
#[derive(Debug, Clone)]
pub(super) struct Row(Arc<[Value]>);

impl Row {
    /// A whole number. Who finds something else gives up: what he has read is in the log.
    pub(super) fn int(&self, column: usize) -> Result<i64, Stop> {
        self.0.get(column).and_then(whole).ok_or(Stop::RollBack)
    }

    /// A text.
    pub(super) fn text(&self, column: usize) -> Result<&str, Stop> {
        match self.0.get(column) {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(Stop::RollBack),
        }
    }

    /// The version in the last column.
    fn seen(&self) -> Seen {
        self.seen_in(self.0.len().saturating_sub(1))
    }

    /// The version in a column.
    pub(super) fn seen_in(&self, column: usize) -> Seen {
        self.0.get(column).map_or(Seen::NoRow, |value| Seen::of(whole(value), value))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::log::Access;
    use super::*;
    use txloom_core::dialect::Sqlite;
    use txloom_core::outcome::{Column, DbError, ErrorClass, Outcome, StatementResult, TxStatus};

    const X: Item = Item { table: 0, key: 7 };
    const Y: Item = Item { table: 1, key: 8 };

    /// Takes one from X if there is one, and removes Y.
    struct Take;

    impl Script for Take {
        fn choose(&mut self) {}

        fn run(&self, dialogue: &mut Dialogue<'_>) -> Result<(), Stop> {
            let held = dialogue.row(X, || "read x".to_string())?.int(0)?;
            if held == 0 {
                return Err(Stop::RollBack);
            }
            dialogue.update(X, |v| format!("x = {} v{v}", held - 1))?;
            dialogue.remove(Y, || "remove y".to_string())
        }
    }

    fn row(cells: &[&str]) -> Outcome {
        let columns = cells.iter().map(|_| Column { name: "c".to_string(), type_name: String::new() }).collect();
        let rows = vec![cells.iter().map(|cell| Some(format!("i{cell}").into_bytes())).collect()];
        let result = StatementResult { columns, rows, ..StatementResult::default() };
        Outcome { results: vec![result], ..Outcome::empty(TxStatus::Open) }
    }

    fn changed(affected: u64) -> Outcome {
        let result = StatementResult { affected: Some(affected), ..StatementResult::default() };
        Outcome { results: vec![result], ..Outcome::empty(TxStatus::Open) }
    }

    fn failed() -> Outcome {
        let error = DbError {
            class: ErrorClass::Deadlock,
            code: String::new(),
            native: None,
            message: String::new(),
            detail: None,
        };
        Outcome::failed(error, TxStatus::Idle)
    }

    /// What is asked for, and what is logged, if these are the answers.
    fn check(answers: &[Outcome], asked: &[&str], end: &Next, logged: &[Access]) {
        let mut session = Scripted::new(Take, Versions::of(2, 10));
        let mut log = Log::default();
        let mut statements = Vec::new();
        session.begin();
        for outcome in answers {
            let Next::Execute(sql) = session.next() else { panic!("it has ended") };
            statements.push(sql);
            session.answered(&Answer { dialect: &Sqlite, outcome }, &mut log);
        }
        assert_eq!(statements, asked);
        assert_eq!(session.next(), *end);
        assert_eq!(log.take().0, logged);
    }

    #[test]
    fn a_script_is_run_again_after_every_answer() {
        let read = Access::Read(X, Seen::Version(5));
        check(
            &[row(&["4", "5"]), changed(1), changed(1)],
            &["read x", "x = 3 v3", "remove y"],
            &Next::Commit,
            &[read.clone(), Access::Write(X, 3), Access::Delete(Y, 13)],
        );
        check(&[row(&["0", "5"])], &["read x"], &Next::RollBack, &[read]);
    }

    #[test]
    fn what_is_not_there_is_told_of_rows_that_are_always_there() {
        let empty = Outcome { results: vec![StatementResult::default()], ..Outcome::empty(TxStatus::Open) };
        check(&[empty], &["read x"], &Next::RollBack, &[Access::Read(X, Seen::NoRow)]);
        let read = Access::Read(X, Seen::Version(5));
        check(
            &[row(&["4", "5"]), changed(0), changed(0)],
            &["read x", "x = 3 v3", "remove y"],
            &Next::Commit,
            &[read, Access::Read(X, Seen::NoRow)],
        );
    }

    #[test]
    fn a_write_that_failed_is_logged_and_a_read_is_not() {
        let read = Access::Read(X, Seen::Version(5));
        check(&[failed()], &["read x"], &Next::RollBack, &[]);
        let logged = [read, Access::Write(X, 3)];
        check(&[row(&["4", "5"]), failed()], &["read x", "x = 3 v3"], &Next::RollBack, &logged);
    }
}
