//! The links of a ring: who replicates from whom, cut and mended, and how far everybody has come.
//!
//! A link is cut by stopping the thread that applies what was received, and mended by starting it. Nothing sleeps in the
//! hope that enough time has passed: `MASTER_GTID_WAIT` returns when a position has been reached. Two things keep a
//! server from reaching it, and both are looked for: an error, which is told, and a lock that a session holds. The latter
//! is for sessions to resolve; whoever waits then goes on, and what was left is waited for after the next transaction.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use txloom_core::engine::{EngineError, EngineErrorKind};
use txloom_core::outcome::StatementResult;

use super::super::connection::text;
use super::super::explain;
use super::super::monitor::Monitor;
use super::position::Position;
use crate::engines::nodes::Network;
use crate::servers::mysql::REPLICATOR;

/// How long a server is waited for before it is asked why it does not get on.
const SLICE: Duration = Duration::from_millis(50);
/// How long a server may take to apply what is there.
const LIMIT: Duration = Duration::from_secs(20);

/// The applier waits for a lock of rows or of a table.
const WAITING: &str = "SELECT COUNT(*) FROM information_schema.PROCESSLIST p \
    LEFT JOIN information_schema.INNODB_TRX t ON t.trx_mysql_thread_id = p.ID \
    WHERE p.USER = 'system user' AND (t.trx_state = 'LOCK WAIT' OR p.STATE LIKE 'Waiting for table%lock')";

/// A member, as the links see it.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) monitor: Monitor,
    pub(super) port: u16,
}

/// The links: that of number n leads from member n to the next one.
#[derive(Debug)]
pub(super) struct Links {
    target: String,
    password: String,
    places: Vec<Place>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    network: Network,
    /// Whether each link works.
    works: Vec<bool>,
}

/// How far a member has come.
struct Progress {
    written: Position,
    applied: Position,
}

impl Links {
    /// The links of these members; none of them works before [`Links::form`].
    pub(super) fn new(target: &str, password: String, places: Vec<Place>) -> Links {
        let count = places.len();
        let state = Mutex::new(State { network: Network::new(count), works: vec![false; count] });
        Links { target: target.to_string(), password, places, state }
    }

    /// Makes a ring of servers whose contents are the same, and forgets everything that was written before.
    pub(super) fn form(&self) -> Result<(), EngineError> {
        let mut state = self.lock();
        for (node, place) in self.places.iter().enumerate() {
            let before = (node + self.places.len() - 1) % self.places.len();
            let (port, password) = (self.places[before].port, &self.password);
            let sql = format!(
                "STOP SLAVE; RESET SLAVE ALL; RESET MASTER; SET GLOBAL gtid_slave_pos = ''; CHANGE MASTER TO \
                 master_host = '127.0.0.1', master_port = {port}, master_user = '{REPLICATOR}', \
                 master_password = '{password}', master_use_gtid = slave_pos, master_connect_retry = 1"
            );
            self.tell(place, &sql, "make a ring of the servers")?;
        }
        // Only now: nobody must hear of what was before.
        for place in &self.places {
            self.tell(place, "START SLAVE", "make a ring of the servers")?;
        }
        state.network.heal();
        state.works.fill(true);
        Ok(())
    }

    /// Stops everything, as far as that is possible.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.works.fill(false);
        for place in &self.places {
            // A server that is gone replicates nothing.
            let _ = place.monitor.ask("STOP SLAVE");
        }
    }

    /// The position of a node that a case names, from 1.
    pub(super) fn position(&self, number: u32) -> Result<usize, String> {
        self.lock().network.position(number)
    }

    /// How many transactions the members remember.
    pub(super) fn length(&self) -> Result<u64, EngineError> {
        self.places.iter().map(|place| Ok(self.progress(place)?.written.length())).sum()
    }

    /// Cuts what leads from one group to another. `Ok(Err(…))` says why that is no partition of the ring.
    pub(super) fn cut(&self, groups: &[Vec<u32>]) -> Result<Result<(), String>, EngineError> {
        let mut state = self.lock();
        if let Err(problem) = state.network.cut(groups) {
            return Ok(Err(problem));
        }
        self.arrange(&mut state)?;
        Ok(Ok(()))
    }

    /// Mends everything, and waits until all members have applied everything.
    pub(super) fn heal(&self) -> Result<(), EngineError> {
        let mut state = self.lock();
        state.network.heal();
        self.arrange(&mut state)
    }

    /// Stops and starts links, so that those work that the network has; then waits for what can arrive.
    fn arrange(&self, state: &mut State) -> Result<(), EngineError> {
        for link in 0..self.places.len() {
            let (from, to) = self.ends(link);
            let should = state.network.group_of(from).contains(to);
            if should != state.works[link] {
                self.switch(link, should)?;
                state.works[link] = should;
            }
        }
        self.settle_within(state)
    }

    /// What one member knows reaches another, along the ring, and whoever lies in between.
    pub(super) fn deliver(&self, from: u32, to: u32) -> Result<Result<(), String>, EngineError> {
        let state = self.lock();
        let (mut at, to) = match (state.network.position(from), state.network.position(to)) {
            (Ok(from), Ok(to)) => (from, to),
            (Err(problem), _) | (_, Err(problem)) => return Ok(Err(problem)),
        };
        while at != to {
            // The link has the number of the member that it leads from.
            let works = state.works[at];
            if !works {
                self.switch(at, true)?;
            }
            let arrived = self.catch_up(at);
            if !works {
                self.switch(at, false)?;
            }
            arrived?;
            at = self.ends(at).1;
        }
        Ok(Ok(()))
    }

    /// Waits until everything has arrived where it can, or waits for a session.
    pub(super) fn settle(&self) -> Result<(), EngineError> {
        let state = self.lock();
        self.settle_within(&state)
    }

    fn settle_within(&self, state: &State) -> Result<(), EngineError> {
        let start = Instant::now();
        let mut stuck = vec![false; self.places.len()];
        loop {
            let progress = self.places.iter().map(|place| self.progress(place)).collect::<Result<Vec<_>, _>>()?;
            let is_behind = |link: &usize| {
                let (from, to) = self.ends(*link);
                state.works[*link] && !stuck[*link] && !progress[to].applied.reaches(&self.news(&progress[from], to))
            };
            let Some(link) = (0..self.places.len()).find(is_behind) else { return Ok(()) };
            if !self.catch_up(link)? {
                stuck[link] = true;
            }
            if start.elapsed() > 2 * LIMIT {
                return Err(self.lost("settle", "the servers send each other more and more"));
            }
        }
    }

    /// Waits until the end of a link has applied what its beginning has written so far; false if it waits for a session.
    fn catch_up(&self, link: usize) -> Result<bool, EngineError> {
        let (from, to) = self.ends(link);
        let news = self.news(&self.progress(&self.places[from])?, to);
        let wait = format!("SELECT MASTER_GTID_WAIT('{news}', {})", SLICE.as_secs_f64());
        let start = Instant::now();
        let mut has_waited = false;
        loop {
            if self.value(&self.places[to], &wait, "wait for a server to hear of others")? == "0" {
                return Ok(true);
            }
            self.complain_of_errors(to)?;
            // Seen twice, so that it is no passing moment.
            let waits = self.value(&self.places[to], WAITING, "ask what a server waits for")? != "0";
            if waits && has_waited {
                return Ok(false);
            }
            has_waited = waits;
            if start.elapsed() > LIMIT {
                return Err(self.lost(&format!("wait for node {} to hear of others", to + 1), "it does not get on"));
            }
        }
    }

    /// What the beginning of a link has that its end may not know.
    fn news(&self, from: &Progress, to: usize) -> Position {
        from.written.clone().without(to as u32 + 1)
    }

    /// Fails if a server has stopped replicating.
    fn complain_of_errors(&self, node: usize) -> Result<(), EngineError> {
        let attempt = "ask a server how it replicates";
        let results = self.places[node].monitor.ask("SHOW SLAVE STATUS");
        let results = results.map_err(|error| explain::unanswered(&self.target, attempt, &error))?;
        let status = results.first();
        let found = ["Last_SQL_Error", "Last_IO_Error"].into_iter().find_map(|name| {
            let said = status.and_then(|status| field(status, name)).unwrap_or_default();
            (!said.is_empty()).then(|| said.to_string())
        });
        let stopped = status.and_then(|status| field(status, "Slave_SQL_Running")) != Some("Yes");
        match found {
            // What the receiving thread complains of, it tries again.
            Some(said) if stopped => Err(self.lost(&format!("go on: node {} stopped replicating", node + 1), said)),
            _ => Ok(()),
        }
    }

    fn switch(&self, link: usize, on: bool) -> Result<(), EngineError> {
        let verb = if on { "START" } else { "STOP" };
        let place = &self.places[self.ends(link).1];
        self.tell(place, &format!("{verb} SLAVE SQL_THREAD"), "cut or mend the ring")
    }

    /// The members that a link leads from and to.
    fn ends(&self, link: usize) -> (usize, usize) {
        (link, (link + 1) % self.places.len())
    }

    fn progress(&self, place: &Place) -> Result<Progress, EngineError> {
        let sql = "SELECT CONCAT(@@gtid_binlog_pos, ';', @@gtid_slave_pos)";
        let said = self.value(place, sql, "ask how far a server has come")?;
        let (written, applied) = said.split_once(';').unwrap_or((&said, ""));
        match (Position::parse(written), Position::parse(applied)) {
            (Some(written), Some(applied)) => Ok(Progress { written, applied }),
            _ => {
                let what = format!("a server says that it has come to `{said}`");
                Err(EngineError::new(&self.target, EngineErrorKind::Protocol(what)))
            }
        }
    }

    fn value(&self, place: &Place, sql: &str, attempt: &str) -> Result<String, EngineError> {
        let results = place.monitor.ask(sql);
        let results = results.map_err(|error| explain::unanswered(&self.target, attempt, &error))?;
        let row = results.last().and_then(|result| result.rows.first());
        Ok(row.map(|row| text(row, 0).to_string()).unwrap_or_default())
    }

    fn tell(&self, place: &Place, sql: &str, attempt: &str) -> Result<(), EngineError> {
        let told = place.monitor.ask(sql);
        told.map(|_| ()).map_err(|error| explain::unanswered(&self.target, attempt, &error))
    }

    fn lost(&self, attempt: &str, why: impl std::fmt::Display) -> EngineError {
        explain::lost(&self.target, attempt, why)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The value of a column of the first row.
fn field<'a>(result: &'a StatementResult, name: &str) -> Option<&'a str> {
    let column = result.columns.iter().position(|column| column.name == name)?;
    result.rows.first().map(|row| text(row, column))
}
