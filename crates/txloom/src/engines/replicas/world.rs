//! The nodes, their sessions, the log of writes and the network: what a statement and an event do.
//!
//! Everything here happens within one turn, one statement at a time. The order of the turns is the arbitration.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rusqlite::Connection;
use txloom_core::case::{Event, SessionName};
use txloom_core::engine::SessionId;
use txloom_core::outcome::{DbError, StatementResult, TxStatus};
use txloom_core::sql::StatementKind;

use super::effects::{RowId, Stamp};
use super::errors::unsupported;
use super::log::{Log, Touched};
use super::node::{Node, Shown};
use super::request::Request;
use super::schema::Schema;
use super::tools::Tools;
use crate::engines::embedded::admit::replaces;
use crate::engines::embedded::errors::{db_error, no_such_savepoint, out_of_place};
use crate::engines::embedded::registers::Values;
use crate::engines::embedded::run::{Answer, ask};
use crate::engines::nodes::Network;

/// The result of a statement that returns nothing.
const DONE: StatementResult = StatementResult { columns: Vec::new(), rows: Vec::new(), affected: None, tag: None };

/// The replicated database with its sessions.
pub(super) struct World {
    tools: Tools,
    schema: Arc<Schema>,
    /// What the setup made; never changed.
    origin: Connection,
    /// The nodes, and behind them the ledger: what everybody will see when all is delivered and nothing is open.
    databases: Vec<Node>,
    network: Network,
    log: Log,
    sessions: BTreeMap<SessionId, SessionState>,
}

/// What is known of a session.
struct SessionState {
    name: SessionName,
    node: usize,
    transaction: Option<Transaction>,
    registers: Values,
}

/// A transaction that is open. It isolates nobody; but its writes may be taken back.
#[derive(Default)]
struct Transaction {
    writes: Vec<Stamp>,
    /// Savepoints, with how many writes there were.
    savepoints: Vec<(String, usize)>,
}

impl World {
    /// So many nodes that all hold this database.
    pub(super) fn new(tools: Tools, origin: Connection, schema: Schema, nodes: usize) -> rusqlite::Result<World> {
        let schema = Arc::new(schema);
        let node = |_| {
            let mut connection = tools.connect()?;
            crate::engines::embedded::copy::copy_contents(&origin, &mut connection)?;
            Node::new(connection, Arc::clone(&schema))
        };
        let databases = (0..=nodes).map(node).collect::<rusqlite::Result<_>>()?;
        let (network, log, sessions) = (Network::new(nodes), Log::new(nodes), BTreeMap::new());
        Ok(World { tools, schema, origin, databases, network, log, sessions })
    }

    /// Goes back to the moment after the setup, when all sessions have ended.
    pub(super) fn rewind(&mut self) -> rusqlite::Result<()> {
        self.network.heal();
        self.log = Log::new(self.network.count());
        self.databases.iter_mut().try_for_each(|database| database.copy_from(&self.origin))
    }

    /// Whether nobody is connected.
    pub(super) fn is_deserted(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Changes all databases at once, before the first session: `change` is given one of them, and the others follow.
    pub(super) fn change_all<T>(
        &mut self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let [nodes @ .., ledger] = self.databases.as_mut_slice() else { unreachable!("there is always a ledger") };
        let result = change(&ledger.connection)?;
        super::capture::clear(&ledger.connection)?;
        nodes.iter_mut().try_for_each(|node| node.copy_from(&ledger.connection))?;
        Ok(result)
    }

    /// The database of a node, by position.
    #[cfg(test)]
    pub(super) fn node(&self, node: usize) -> &Node {
        &self.databases[node]
    }

    /// Whether everything is known to everybody, and forgotten.
    #[cfg(test)]
    pub(super) fn remembers_nothing(&self) -> bool {
        self.log.is_empty()
    }

    /// What everybody will see when all is delivered and nothing is open.
    pub(super) fn ledger(&self) -> &Node {
        &self.databases[self.network.count()]
    }

    /// A session begins at a node, given by its number (from 1), or at the one whose turn it is; or what is wrong with it.
    pub(super) fn join(&mut self, who: SessionId, name: SessionName, node: Option<u32>) -> Result<(), String> {
        let node = match node {
            Some(number) => self.network.position(number)?,
            None => who.0 % self.network.count(),
        };
        self.sessions.insert(who, SessionState { name, node, transaction: None, registers: Values::default() });
        Ok(())
    }

    /// A session ends; what it left open is rolled back.
    pub(super) fn leave(&mut self, who: SessionId) -> rusqlite::Result<()> {
        self.roll_back(who)?;
        self.sessions.remove(&who);
        Ok(())
    }

    /// Whether the session is within a transaction.
    pub(super) fn status(&self, who: SessionId) -> TxStatus {
        let is_open = self.sessions.get(&who).is_some_and(|session| session.transaction.is_some());
        if is_open { TxStatus::Open } else { TxStatus::Idle }
    }

    /// Executes a statement, at once and at the session's node.
    pub(super) fn execute(&mut self, who: SessionId, sql: &str) -> rusqlite::Result<Answer> {
        let request = match Request::read(sql) {
            Ok(request) => request,
            Err(error) => return Ok(Err(error)),
        };
        let session = self.session(who);
        let (node, registers) = (session.node, session.registers);
        self.tools.registers.load(registers);
        let connection = &self.databases[node].connection;
        // SQLite knows best whether the statement is well formed.
        let text = if let Request::Run(text) = request { text } else { sql };
        let read_only = match connection.prepare(text) {
            Ok(statement) => statement.readonly(),
            Err(error) => return Ok(Err(db_error(&error).ok_or(error)?)),
        };
        match request {
            Request::Run(sql) if read_only => self.tools.interrupt.listening(|| ask(connection, sql)),
            Request::Run(sql) => self.write(who, node, sql),
            control => Ok(self.control(who, control)?.map(|()| DONE)),
        }
    }

    fn write(&mut self, who: SessionId, node: usize, sql: &str) -> rusqlite::Result<Answer> {
        if self.schema.has_triggers && replaces(sql) {
            return Ok(Err(unsupported("REPLACE in a schema with triggers")));
        }
        if StatementKind::of(sql) != StatementKind::Write {
            return Ok(Err(unsupported("statements that change something else than rows")));
        }
        let written = self.databases[node].write(sql, self.log.next_stamp(), &self.tools.interrupt)?;
        if written.ends_transaction {
            self.roll_back(who)?;
        }
        if written.answer.is_ok() {
            let inserts = written.touched.iter().any(Touched::is_insert);
            let rowid = inserts.then_some(written.last_insert_rowid);
            self.spread(who, node, written.touched)?;
            let session = self.session(who);
            session.registers = session.registers.after(&written.answer, rowid);
        }
        Ok(written.answer)
    }

    /// Puts a write into the log and makes it known to whom the node can talk to.
    fn spread(&mut self, who: SessionId, node: usize, touched: Vec<Touched>) -> rusqlite::Result<()> {
        for one in &touched {
            if !self.log.tracks(&one.row) {
                let base = self.ledger().row(one.row.table, &one.key)?;
                self.log.track(one.row.clone(), one.key.clone(), base);
            }
        }
        let is_open = self.status(who) == TxStatus::Open;
        let Some(stamp) = self.log.add(node, is_open, touched) else { return Ok(()) };
        for other in self.network.group_of(node).iter() {
            self.tell(other, &[stamp])?;
        }
        match &mut self.session(who).transaction {
            Some(transaction) => transaction.writes.push(stamp),
            None => self.settle(&[stamp])?,
        }
        Ok(())
    }

    /// Lets a database know some writes, and show what follows.
    fn tell(&mut self, database: usize, stamps: &[Stamp]) -> rusqlite::Result<()> {
        let rows = self.log.tell(database, stamps);
        self.show(database, &rows)
    }

    fn show(&self, database: usize, rows: &BTreeSet<RowId>) -> rusqlite::Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let shown = rows.iter().map(|id| {
            let (key, row) = self.log.look(id, database);
            Shown { table: id.table, key, row }
        });
        self.databases[database].show(shown)
    }

    /// Writes that cannot be taken back any more go into the ledger.
    fn settle(&mut self, stamps: &[Stamp]) -> rusqlite::Result<()> {
        stamps.iter().for_each(|stamp| self.log.settle(*stamp));
        self.tell(self.network.count(), stamps)?;
        self.log.prune();
        Ok(())
    }

    /// Takes writes back, wherever they are known.
    fn take_back(&mut self, stamps: &[Stamp]) -> rusqlite::Result<()> {
        let mut changed: BTreeMap<usize, BTreeSet<RowId>> = BTreeMap::new();
        for (database, row) in stamps.iter().flat_map(|stamp| self.log.take_back(*stamp)) {
            changed.entry(database).or_default().insert(row);
        }
        changed.iter().try_for_each(|(database, rows)| self.show(*database, rows))?;
        self.log.release(changed.values().flatten());
        self.log.prune();
        Ok(())
    }

    fn session(&mut self, who: SessionId) -> &mut SessionState {
        self.sessions.get_mut(&who).expect("a session executes only between join and leave")
    }

    /// BEGIN, COMMIT, ROLLBACK and savepoints.
    fn control(&mut self, who: SessionId, request: Request<'_>) -> rusqlite::Result<Result<(), DbError>> {
        let transaction = &mut self.session(who).transaction;
        Ok(match (request, transaction) {
            (Request::Begin, Some(_)) => Err(out_of_place("cannot start a transaction within a transaction")),
            (Request::Begin, none) => {
                *none = Some(Transaction::default());
                Ok(())
            }
            (Request::Commit, Some(transaction)) => {
                let writes = std::mem::take(&mut transaction.writes);
                self.session(who).transaction = None;
                self.settle(&writes)?;
                Ok(())
            }
            (Request::Rollback, Some(_)) => {
                self.roll_back(who)?;
                Ok(())
            }
            (Request::Commit, None) => Err(out_of_place("cannot commit - no transaction is active")),
            (Request::Rollback, None) => Err(out_of_place("cannot rollback - no transaction is active")),
            (_, None) => Err(unsupported("savepoints outside a transaction (send BEGIN first)")),
            (Request::Savepoint(name), Some(transaction)) => {
                let count = transaction.writes.len();
                transaction.savepoints.push((name, count));
                Ok(())
            }
            (request, Some(transaction)) => match transaction.go_back(&request) {
                Ok(writes) => {
                    self.take_back(&writes)?;
                    Ok(())
                }
                Err(error) => Err(error),
            },
        })
    }

    /// Ends the session's transaction without its writes. Harmless if none is open.
    fn roll_back(&mut self, who: SessionId) -> rusqlite::Result<()> {
        match self.sessions.get_mut(&who).and_then(|session| session.transaction.take()) {
            Some(transaction) => self.take_back(&transaction.writes),
            None => Ok(()),
        }
    }

    // ---- events ---------------------------------------------------------------------------------------------------

    /// Carries out an event, or says what about it the replicas lack.
    pub(super) fn happen(&mut self, event: &Event) -> rusqlite::Result<Result<(), String>> {
        let done = match event {
            Event::Partition(groups) => self.network.cut(groups),
            Event::Heal => {
                self.network.heal();
                Ok(())
            }
            Event::Deliver { from, to, write } => return self.deliver(*from, *to, *write),
            Event::Route { session, node } => self.route(session, *node),
            Event::Kill => Err("the event `@kill`".to_string()),
        };
        if done.is_ok() {
            self.exchange()?;
        }
        Ok(done)
    }

    /// Another node answers a session from now on. What it wrote where it was stays known there, and to nobody else.
    fn route(&mut self, name: &SessionName, node: u32) -> Result<(), String> {
        let position = self.network.position(node)?;
        let session = self.sessions.values_mut().find(|session| session.name == *name);
        let session = session.ok_or_else(|| format!("a session {name} that is not open, in `@route {name} {node}`"))?;
        session.node = position;
        Ok(())
    }

    /// Whoever can talk to each other knows the same.
    fn exchange(&mut self) -> rusqlite::Result<()> {
        for to in 0..self.network.count() {
            for from in self.network.group_of(to).iter() {
                let news = self.log.news(from, to);
                self.tell(to, &news)?;
            }
        }
        self.log.prune();
        Ok(())
    }

    /// What one node knows, or one write statement of it, reaches another.
    fn deliver(&mut self, from: u32, to: u32, write: Option<u32>) -> rusqlite::Result<Result<(), String>> {
        let (source, target) = match (self.network.position(from), self.network.position(to)) {
            (Ok(source), Ok(target)) => (source, target),
            (Err(problem), _) | (_, Err(problem)) => return Ok(Err(problem)),
        };
        let stamps = match write.map(|number| self.log.numbered(source, number)) {
            None => self.log.news(source, target),
            Some(Ok(stamp)) => stamp.into_iter().collect(),
            Some(Err(count)) => {
                let number = write.unwrap_or_default();
                return Ok(Err(format!(
                    "a write statement #{number} at node {from}, which has executed {count} so far"
                )));
            }
        };
        self.tell(target, &stamps)?;
        self.log.prune();
        Ok(Ok(()))
    }
}

impl Transaction {
    /// RELEASE and ROLLBACK TO: which writes are to be taken back?
    fn go_back(&mut self, request: &Request<'_>) -> Result<Vec<Stamp>, DbError> {
        let (Request::Release(name) | Request::RollbackTo(name)) = request else { return Ok(Vec::new()) };
        let found = self.savepoints.iter().rposition(|(other, _)| other == name);
        let at = found.ok_or_else(|| no_such_savepoint(name))?;
        let goes_back = matches!(request, Request::RollbackTo(_));
        let keep = if goes_back { self.savepoints[at].1 } else { self.writes.len() };
        self.savepoints.truncate(at + usize::from(goes_back));
        Ok(self.writes.split_off(keep))
    }
}
