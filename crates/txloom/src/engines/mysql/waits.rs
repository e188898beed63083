//! Who waits for whom, and since when it is certain.
//!
//! Three kinds of locks make statements wait, and each is read where it is told best:
//!
//! | locks | MariaDB, MySQL 5 | MySQL 8 and later |
//! |---|---|---|
//! | of InnoDB | `SHOW ENGINE INNODB STATUS` ([`innodb`]) | `performance_schema.data_lock_waits` |
//! | metadata, `GET_LOCK` | `performance_schema.metadata_locks` ([`metadata`]) | the same |
//! | of tables without InnoDB | the state in `SHOW PROCESSLIST` | the same |
//!
//! **When is a wait certain?** A statement that closes a circle waits for a moment before InnoDB chooses a victim. MariaDB
//! checks right after the request was queued. MySQL 8 checks in a thread of its own, and takes for the victim who has
//! gone to sleep last: a waiter that is still on its way to bed when the next statement waits may become the victim
//! in its place. On both, who sleeps is counted in `Innodb_row_lock_current_waits`. So waits are believed once the counter
//! has reached their number:
//!
//! ```text
//!   b   queue the request ── check for a deadlock ── count it ── sleep
//!   text     b: LOCK WAIT ─────────────────────────────────────────────→
//!   counter                                       1 ──────────────────→
//! ```
//!
//! The counter alone would not do: it goes down only when the waiter has woken up, while the text says at once who has
//! been granted a lock.
//!
//! A *state* in the list of processes is stale for as long as a thread takes to wake up, so it is believed only after it
//! has lasted; so is everything on servers that tell nothing. Then the source says so.
//!
//! **Limits.** Two statements that are released by one commit run on at the same time: which of them gets what both want
//! is a race that no outsider decides. A circle of which one part is a metadata lock and the other one of InnoDB is seen by
//! neither's detector (`ALTER TABLE` of a table with foreign keys can close one): it lasts until the executor's limit.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use txloom_core::outcome::{Row, StatementResult};

use super::connection::text;
use super::monitor::{AskError, Monitor};
use super::{circles, innodb, metadata};

/// How long a state of a process, or a circle that the server does not resolve, must have lasted to be believed.
const STATE_LASTS: Duration = Duration::from_millis(50);

/// The same, if the table of metadata locks should have told but does not: a lock that was upgraded is listed as what it
/// was before.
const UNEXPLAINED_LASTS: Duration = Duration::from_millis(250);

/// After which time a statement is believed to wait, on servers that do not tell.
const PATIENCE: Duration = Duration::from_secs(1);

const STATUS: &str = "SHOW ENGINE INNODB STATUS";
const STATUS_AND_COUNTER: &str = "SHOW ENGINE INNODB STATUS; SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'";
const DATA_LOCK_WAITS: &str = "SELECT REQUESTING_ENGINE_TRANSACTION_ID, BLOCKING_ENGINE_TRANSACTION_ID \
                               FROM performance_schema.data_lock_waits";
/// The answer is one row if the server has that table and fills it.
const HAS_DATA_LOCK_WAITS: &str = "SELECT 1 FROM (SELECT COUNT(*) FROM performance_schema.data_lock_waits) AS waits \
                                   WHERE @@performance_schema";
/// Whose transactions there are. A record's lock may carry the thread that asked for it on behalf of its holder; the lock
/// of the table, which comes first, is always the holder's own.
const TRANSACTION_OWNERS: &str = "SELECT DISTINCT l.ENGINE_TRANSACTION_ID, t.PROCESSLIST_ID \
                                  FROM performance_schema.data_locks AS l \
                                  LEFT JOIN performance_schema.threads AS t ON t.THREAD_ID = l.THREAD_ID \
                                  WHERE l.LOCK_TYPE = 'TABLE'";
/// How many wait for the lock of a whole table, which is not counted; and how many are counted.
const COUNTED: &str = "SELECT COUNT(DISTINCT ENGINE_TRANSACTION_ID) FROM performance_schema.data_locks \
                       WHERE LOCK_TYPE = 'TABLE' AND LOCK_STATUS = 'WAITING'; \
                       SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'";
const PROCESSES: &str = "SHOW PROCESSLIST";

/// Waiting connections, each with those that it waits for; `None` stands for somebody without a connection.
pub(super) type Edges = BTreeMap<u32, Vec<Option<u32>>>;

/// A connection that executes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InFlight {
    /// The connection.
    pub(super) thread: u32,
    /// The number of what it executes.
    pub(super) statement: u64,
}

/// Where the locks of InnoDB are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowLocks {
    DataLockWaits,
    Status { counted: bool },
    Unknown,
}

/// Watches the waits of one server.
#[derive(Debug)]
pub(super) struct Watch {
    rows: RowLocks,
    metadata: bool,
    queues: innodb::Queues,
    /// Since when a connection has been in a state, or executing a statement.
    since: BTreeMap<u32, (String, Instant)>,
    /// The statements that were last seen in a circle, and since when.
    circle: Option<(Vec<u64>, Instant)>,
}

/// What an answer rests on.
#[derive(Default)]
struct Evidence {
    rows: bool,
    metadata: bool,
    lasting: bool,
}

impl Watch {
    /// Finds out what the server tells.
    pub(super) fn new(monitor: &Monitor, checks_late: bool) -> Result<Watch, AskError> {
        let answers = |sql: &str| match monitor.ask(sql) {
            Ok(results) => Ok(results.last().is_some_and(|result| !result.rows.is_empty())),
            // Not there, or not for us.
            Err(AskError::Failed(_)) => Ok(false),
            Err(error) => Err(error),
        };
        let has_data_locks = answers(HAS_DATA_LOCK_WAITS)?;
        let rows = if has_data_locks {
            RowLocks::DataLockWaits
        } else if answers(STATUS)? {
            RowLocks::Status { counted: checks_late }
        } else {
            RowLocks::Unknown
        };
        let metadata = answers(metadata::IS_KEPT)?;
        Ok(Watch { rows, metadata, queues: innodb::Queues::default(), since: BTreeMap::new(), circle: None })
    }

    /// Nothing has been seen yet.
    pub(super) fn forget(&mut self) {
        self.queues = innodb::Queues::default();
        self.since.clear();
        self.circle = None;
    }

    /// Whether the same statements have been seen in a circle for so long that it can be none.
    fn has_lasting_circle(&mut self, edges: &Edges, in_flight: &[InFlight]) -> bool {
        let threads = circles::on_circles(edges);
        if threads.is_empty() {
            self.circle = None;
            return false;
        }
        let on_circle = in_flight.iter().filter(|one| threads.contains(&one.thread));
        let statements: Vec<u64> = on_circle.map(|one| one.statement).collect();
        let since = self.circle.take().filter(|(before, _)| *before == statements).map(|(_, since)| since);
        let since = since.unwrap_or_else(Instant::now);
        self.circle = Some((statements, since));
        since.elapsed() >= STATE_LASTS
    }

    /// Who of these waits for whom, and where that is known from.
    pub(super) fn ask(&mut self, monitor: &Monitor, in_flight: &[InFlight]) -> Result<(Edges, &'static str), AskError> {
        let mut evidence = Evidence::default();
        let mut edges = self.row_waits(monitor, in_flight)?;
        edges.retain(|thread, _| in_flight.iter().any(|one| one.thread == *thread));
        if self.has_lasting_circle(&edges, in_flight) {
            edges = circles::without_circles(&edges);
        }
        evidence.rows = !edges.is_empty();
        let mut uncertain = BTreeMap::new();
        if self.metadata && edges.len() < in_flight.len() {
            for wait in metadata::waits(&last_rows(monitor.ask(metadata::QUESTION)?)) {
                let holders = wait.holders.into_iter().map(Some).collect();
                if !wait.certain {
                    uncertain.insert(wait.thread, holders);
                } else if in_flight.iter().any(|one| one.thread == wait.thread) {
                    evidence.metadata = true;
                    edges.insert(wait.thread, holders);
                }
            }
        }
        if edges.len() < in_flight.len() {
            for thread in self.lasting(monitor, in_flight, &edges)? {
                evidence.lasting = true;
                edges.insert(thread, uncertain.remove(&thread).unwrap_or_default());
            }
        }
        Ok((edges, self.source(&evidence)))
    }

    fn row_waits(&mut self, monitor: &Monitor, in_flight: &[InFlight]) -> Result<Edges, AskError> {
        match self.rows {
            RowLocks::Unknown => Ok(Edges::new()),
            RowLocks::DataLockWaits => {
                let waits = last_rows(monitor.ask(DATA_LOCK_WAITS)?);
                if waits.is_empty() {
                    return Ok(Edges::new());
                }
                let edges = edges_of(&waits, &last_rows(monitor.ask(TRANSACTION_OWNERS)?));
                let counted = monitor.ask(COUNTED)?;
                let number = |at: usize, column: usize| -> usize {
                    let row = counted.get(at).and_then(|result| result.rows.first());
                    row.and_then(|row| text(row, column).parse().ok()).unwrap_or(0)
                };
                let asleep = number(0, 0) + number(1, 1);
                Ok(if edges.len() <= asleep { edges } else { Edges::new() })
            }
            RowLocks::Status { counted } => {
                let results = monitor.ask(if counted { STATUS_AND_COUNTER } else { STATUS })?;
                let status = results.first().and_then(|result| result.rows.first()).map_or("", |row| text(row, 2));
                let mut waits = innodb::waits(status);
                let number = |thread| in_flight.iter().find(|one| one.thread == thread).map_or(0, |one| one.statement);
                self.queues.keep_first(&mut waits, number);
                let certain = results.get(1).and_then(|result| result.rows.first()).map(|row| text(row, 1).parse());
                let checked = waits.iter().filter(|wait| wait.for_record).count();
                let believed = !counted || matches!(certain, Some(Ok(count)) if checked <= count);
                let waits = waits.into_iter().filter(|wait| believed || !wait.for_record);
                Ok(waits.map(|wait| (wait.thread, wait.holders)).collect())
            }
        }
    }

    /// The connections whose state says that they wait, and has said so for a while.
    fn lasting(&mut self, monitor: &Monitor, in_flight: &[InFlight], known: &Edges) -> Result<Vec<u32>, AskError> {
        let states = last_rows(monitor.ask(PROCESSES)?);
        let mut seen = BTreeMap::new();
        for one in in_flight.iter().filter(|one| !known.contains_key(&one.thread)) {
            let row = states.iter().find(|row| text(row, 0) == one.thread.to_string());
            let state = row.map(|row| text(row, 6)).filter(|state| is_waiting(state));
            let limit = match state {
                Some(state) if self.metadata && !is_of_tables(state) => UNEXPLAINED_LASTS,
                Some(_) => STATE_LASTS,
                None if self.rows == RowLocks::Unknown => PATIENCE,
                None => continue,
            };
            let what = format!("{} {}", one.statement, state.unwrap_or_default());
            let since = self.since.get(&one.thread).filter(|(before, _)| *before == what).map(|(_, since)| *since);
            seen.insert(one.thread, (what, since.unwrap_or_else(Instant::now), limit));
        }
        let lasting = seen.iter().filter(|(_, (_, since, limit))| since.elapsed() >= *limit).map(|(thread, _)| *thread);
        let lasting = lasting.collect();
        self.since = seen.into_iter().map(|(thread, (what, since, _))| (thread, (what, since))).collect();
        Ok(lasting)
    }

    fn source(&self, evidence: &Evidence) -> &'static str {
        let rows = match self.rows {
            RowLocks::DataLockWaits => "performance_schema.data_lock_waits",
            RowLocks::Status { .. } => "SHOW ENGINE INNODB STATUS",
            RowLocks::Unknown => "nothing but time: the server does not tell who waits",
        };
        match evidence {
            Evidence { lasting: true, .. } if self.rows == RowLocks::Unknown => rows,
            Evidence { lasting: true, .. } => "SHOW PROCESSLIST, after a time-out",
            Evidence { metadata: true, rows: true, .. } => "InnoDB's locks and metadata locks",
            Evidence { metadata: true, .. } => "performance_schema.metadata_locks",
            _ => rows,
        }
    }
}

/// Whether a state of a process means that it waits for a lock.
fn is_waiting(state: &str) -> bool {
    is_of_tables(state) || state == "User lock" || (state.starts_with("Waiting for ") && state.ends_with(" lock"))
}

/// Whether it is a lock of a table as a whole: these are told nowhere else.
fn is_of_tables(state: &str) -> bool {
    ["Waiting for table level lock", "Waiting for table flush"].contains(&state)
}

fn last_rows(results: Vec<StatementResult>) -> Vec<Row> {
    results.into_iter().next_back().map(|result| result.rows).unwrap_or_default()
}

/// Waits between transactions as waits between connections. A wait for somebody who cannot be found is left out: what
/// was true when the first question was answered was not when the second one was.
fn edges_of(waits: &[Row], owners: &[Row]) -> Edges {
    let owner = |transaction: &str| -> Option<Option<u32>> {
        let found = owners.iter().find(|row| text(row, 0) == transaction)?;
        Some(text(found, 1).parse().ok())
    };
    let mut edges = Edges::new();
    let mut vague = Vec::new();
    for wait in waits {
        match (owner(text(wait, 0)), owner(text(wait, 1))) {
            (Some(Some(waiter)), Some(holder)) => edges.entry(waiter).or_default().push(holder),
            (Some(Some(waiter)), None) => vague.push(waiter),
            _ => {}
        }
    }
    edges.retain(|waiter, _| !vague.contains(waiter));
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<Row> {
        let cell = |cell: &str| (cell != "-").then(|| cell.as_bytes().to_vec());
        text.split(", ").map(|row| row.split(' ').map(cell).collect()).collect()
    }

    #[test]
    fn waits_between_transactions_are_waits_between_their_connections() {
        let owners = rows("71 1, 72 2, 73 3, 99 -");
        let check = |waits: &str, expect: &[(u32, &[Option<u32>])]| {
            let expect: Edges = expect.iter().map(|(waiter, holders)| (*waiter, holders.to_vec())).collect();
            assert_eq!(edges_of(&rows(waits), &owners), expect, "{waits}");
        };
        check("72 71", &[(2, &[Some(1)])]);
        check("73 71, 73 72, 72 71", &[(2, &[Some(1)]), (3, &[Some(1), Some(2)])]);
        check("72 99", &[(2, &[None])]);
        check("72 71, 72 55", &[]);
        check("55 71", &[]);
    }

    #[test]
    fn states_that_mean_waiting_are_known() {
        for state in ["Waiting for table level lock", "Waiting for table metadata lock", "User lock"] {
            assert!(is_waiting(state), "{state}");
        }
        for state in ["Waiting on empty queue", "Updating", "", "Waiting for tables"] {
            assert!(!is_waiting(state), "{state}");
        }
    }
}
