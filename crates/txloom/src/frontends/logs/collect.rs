//! Events → sessions → transactions → shapes.
//!
//! A session is in one of five states:
//!
//! ```text
//!              BEGIN                COMMIT
//!     Idle ───────────→ Inside ──────────────→ Ending ──(no failure is told)──→ a transaction; Idle
//!      │                  │ failure               ↑
//!      │ one statement    ↓                       │
//!      └────────────────┐ Failed ──ROLLBACK──→ Idle
//!                       └─────────────────────────┘
//!     Unknown: the log began in the middle. BEGIN: what came before were transactions of one statement; COMMIT: it
//!              was the end of a transaction whose beginning nobody knows, and is left out.
//! ```
//!
//! *Ending* is there because a log is written before the work is done: a COMMIT may fail, too. The transaction counts as
//! soon as the session goes on, or after [`PATIENCE`] further events.
//!
//! A transaction that was rolled back is counted and left out, unless it only read: pools of connections end reads with
//! ROLLBACK. What `ROLLBACK TO` undoes is left out.

use std::collections::{BTreeSet, VecDeque};

use txloom_core::program::Language;
use txloom_core::program::schema::Schema;

use super::control::{self, Control, Level};
use super::deed::Deed;
use super::event::{Event, Sent, SessionKey, Sink};
use super::fold::{Folded, fold};
use super::lines::Place;
use super::link::{Before, Links};
use super::message::split_parameters;
use super::record::Recorded;
use super::rows::{Known, Rows, key};
use super::scan::{Quoting, Scanned, Scanner};
use super::shape::{Instance, Shape, Transaction, Value, sequence_hash};
use super::survey::Survey;
use super::template::{COMMIT, Class, Template, Templates};
use super::value::{ByHash, Said, mix};

/// So many events a failure may come late.
const PATIENCE: u64 = 64;
/// So many statements of a session may come before its first BEGIN or COMMIT; then they are transactions of their own.
const UNKNOWN_MAX: usize = 100;
/// So many shapes are told apart.
const SHAPES_MAX: usize = 20_000;
/// A transaction with more statements is left out: it is a load, not a procedure.
const STATEMENTS_MAX: usize = 20_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Unknown,
    Idle,
    Inside,
    Failed,
    /// Since this event.
    Ending(u64),
}

#[derive(Debug)]
struct Session {
    state: State,
    autocommit: bool,
    level: Option<Level>,
    next_level: Option<Level>,
    transaction: Transaction,
    savepoints: Vec<(u64, usize)>,
    /// How many of the transaction's statements the last message brought, and the hash of its text.
    last: (usize, u64),
    /// Whether the transaction is too long.
    is_long: bool,
    /// Whether it sent something.
    spoke: bool,
    /// Whether the log shows how it began.
    is_whole: bool,
    /// The transaction before.
    before: Option<Before>,
    /// Transactions that may go on, and the shape of the last of them.
    held: Option<(Transaction, u64)>,
}

impl Session {
    fn new(state: State) -> Session {
        Session {
            state,
            autocommit: true,
            level: None,
            next_level: None,
            transaction: Transaction::default(),
            savepoints: Vec::new(),
            last: (0, 0),
            is_long: false,
            spoke: false,
            is_whole: state == State::Idle,
            before: None,
            held: None,
        }
    }
}

/// Collects what a log tells.
pub(super) struct Collector<'s> {
    is_mysql: bool,
    scanner: Scanner,
    pub(super) templates: Templates<'s>,
    sessions: ByHash<Box<Session>>,
    rows: Rows,
    shapes_by_hash: ByHash<u32>,
    pub(super) shapes: Vec<Shape>,
    pub(super) survey: Survey,
    events: u64,
    ending: VecDeque<(u64, SessionKey)>,
    unknown_values: u64,
    /// What is the rest of something else.
    pub(super) links: Links,
    /// The shapes that something is the rest of.
    firsts: BTreeSet<u64>,
    /// Every transaction, if that is asked for.
    pub(super) recorded: Option<Vec<Recorded>>,
}

impl<'s> Collector<'s> {
    pub(super) fn new(schema: &'s Schema, is_mysql: bool) -> Collector<'s> {
        let language = if is_mysql { Language::MySql } else { Language::Postgres };
        Collector {
            is_mysql,
            scanner: Scanner::new(if is_mysql { Quoting::MySql } else { Quoting::Postgres }),
            templates: Templates::new(schema, language),
            sessions: ByHash::default(),
            rows: Rows::new(schema.tables.values().map(|table| table.columns.len()).collect()),
            shapes_by_hash: ByHash::default(),
            shapes: Vec::new(),
            survey: Survey::default(),
            events: 0,
            ending: VecDeque::new(),
            unknown_values: 0,
            links: Links::new(),
            firsts: BTreeSet::new(),
            recorded: None,
        }
    }

    /// The same from the start, with what was learned.
    pub(super) fn again(self, links: Links) -> Collector<'s> {
        let schema = self.templates.schema;
        let recorded = self.recorded.map(|_| Vec::new());
        let mut templates = self.templates;
        templates.all.iter_mut().for_each(|template| template.count = 0);
        let firsts = links.values().copied().collect();
        Collector { templates, links, firsts, recorded, ..Collector::new(schema, self.is_mysql) }
    }

    /// A statement that filled a table before the log began.
    pub(super) fn preload(&mut self, sql: &str) {
        let sent = Sent {
            session: 0,
            text: sql.as_bytes(),
            head: &[],
            place: Place::default(),
            parameters: &[],
            may_fail: false,
        };
        let templates = &self.templates;
        for scanned in self.scanner.scan(sent.text) {
            let template = templates.analyse(scanned, &sent);
            let Deed::Insert { row, assigned } = &template.deed else { continue };
            let said = |slot: usize| scanned.slots.get(slot).map(|slot| Said::of(&sent.text[slot.range.clone()]));
            let value = |slot: usize| said(slot).unwrap_or_default();
            self.rows.write(row.table, key(row, value), assigned, value);
        }
    }

    /// There is no more.
    pub(super) fn finish(&mut self) {
        let keys: Vec<SessionKey> = self.ending.iter().map(|(_, key)| *key).collect();
        keys.into_iter().for_each(|key| self.with(key, |this, session| this.settle(session)));
        let mut rest: Vec<Box<Session>> = std::mem::take(&mut self.sessions).into_values().collect();
        rest.iter_mut().for_each(|session| self.close(session));
    }

    fn with(&mut self, key: SessionKey, act: impl FnOnce(&mut Collector<'s>, &mut Session)) {
        let Some(mut session) = self.sessions.remove(&key) else { return };
        act(self, &mut session);
        self.sessions.insert(key, session);
    }

    /// Transactions that nobody said failed are done.
    fn settle_old(&mut self) {
        while self.ending.front().is_some_and(|(since, _)| since + PATIENCE < self.events) {
            let Some((since, key)) = self.ending.pop_front() else { return };
            self.with(key, |this, session| {
                if session.state == State::Ending(since) {
                    this.settle(session);
                }
            });
        }
    }

    /// What is ending has ended.
    fn settle(&mut self, session: &mut Session) {
        if let State::Ending(_) = session.state {
            self.commit(session);
        }
    }

    fn close(&mut self, session: &mut Session) {
        self.settle(session);
        match session.state {
            State::Unknown => self.commit_each(session),
            State::Inside | State::Failed => {
                self.survey.unfinished += 1;
                self.drop_all(session);
            }
            State::Idle | State::Ending(_) => {}
        }
        self.release(session);
    }

    fn end(&mut self, session: &mut Session, key: SessionKey) {
        // Others may see what it wrote from now on.
        self.write(&session.transaction, 0);
        session.transaction.ended = self.events;
        session.state = State::Ending(self.events);
        self.ending.push_back((self.events, key));
    }

    fn sent(&mut self, session: &mut Session, sent: &Sent<'_>) {
        self.settle(session);
        self.survey.sessions += u64::from(!session.spoke);
        session.spoke = true;
        if std::str::from_utf8(sent.text).is_err() {
            self.survey.not_text += 1;
        }
        let mut parameters = Vec::new();
        split_parameters(sent.parameters, &mut parameters);
        let was_idle = session.state == State::Idle;
        let before = session.transaction.statements.len();
        let mut scanner = std::mem::replace(&mut self.scanner, Scanner::new(Quoting::Postgres));
        for scanned in scanner.scan(sent.text) {
            self.survey.statements += 1;
            match control::of(&sent.text[scanned.range.clone()]) {
                Some(control) => self.control(session, control, sent.session),
                None => self.statement(session, scanned, sent, &parameters),
            }
        }
        self.scanner = scanner;
        let now = session.transaction.statements.len();
        session.last = (now.saturating_sub(before), super::value::hash_of(sent.text));
        if was_idle && session.state == State::Idle && now > 0 {
            if session.autocommit { self.end(session, sent.session) } else { session.state = State::Inside }
        }
        if session.state == State::Unknown {
            // Committed at once or soon.
            self.write(&session.transaction, before);
        }
        if session.state == State::Unknown && now > UNKNOWN_MAX {
            self.commit_each(session);
        }
        if !sent.may_fail {
            // It was logged when it was done: what fails is something else.
            session.last = (0, 0);
            self.settle(session);
        }
    }

    fn statement(&mut self, session: &mut Session, scanned: &Scanned, sent: &Sent<'_>, parameters: &[&[u8]]) {
        // MySQL logs what is executed as well.
        if self.is_mysql
            && sent.text[scanned.range.clone()].get(..8).is_some_and(|it| it.eq_ignore_ascii_case(b"EXECUTE "))
        {
            self.survey.noise += 1;
            return;
        }
        let Some(id) = self.templates.intern(scanned, sent) else {
            self.survey.dropped += 1;
            return;
        };
        match self.templates.all[id as usize].class {
            Class::Noise => self.survey.noise += 1,
            Class::Definition => {
                self.survey.definitions += 1;
                if self.is_mysql && session.state == State::Inside {
                    // It commits on its own.
                    self.commit(session);
                }
            }
            Class::Work if session.state == State::Failed => self.survey.failed += 1,
            Class::Work if session.transaction.statements.len() >= STATEMENTS_MAX => {
                session.is_long = true;
                self.survey.dropped += 1;
            }
            Class::Work => self.push(session, id, scanned, sent, parameters),
        }
    }

    /// Adds a statement to the open transaction, and looks up what it reads.
    fn push(&mut self, session: &mut Session, id: u32, scanned: &Scanned, sent: &Sent<'_>, parameters: &[&[u8]]) {
        let transaction = &mut session.transaction;
        let first = transaction.values.len() as u32;
        for slot in &scanned.slots {
            let raw = match slot.parameter {
                0 => Some(&sent.text[slot.range.clone()]),
                number => parameters.get(usize::from(number) - 1).copied(),
            };
            let start = transaction.raw.len() as u32;
            transaction.raw.extend_from_slice(raw.unwrap_or_default());
            let said = raw.map(Said::of).unwrap_or_else(|| {
                // A value that the log does not show is equal to no other.
                self.unknown_values += 1;
                Said { hash: mix(0x3f3f, self.unknown_values), number: None }
            });
            transaction.values.push(Value { said, raw: start..transaction.raw.len() as u32 });
        }
        let mut one = Instance {
            template: id,
            values: first..transaction.values.len() as u32,
            key: 0,
            answers: 0..0,
            event: self.events,
        };
        self.look_up(transaction, &mut one);
        session.transaction.statements.push(one);
    }

    fn look_up(&self, transaction: &mut Transaction, one: &mut Instance) {
        let template = &self.templates.all[one.template as usize];
        let row = match &template.deed {
            Deed::Read { row, .. } | Deed::Update { row, .. } | Deed::Insert { row, .. } | Deed::Delete(row) => row,
            Deed::Nothing | Deed::Aggregate { .. } | Deed::Anything(_) => return,
        };
        let values = &transaction.values[one.values.start as usize..];
        one.key = key(row, |slot| values.get(slot).map(|value| value.said).unwrap_or_default());
        let Deed::Read { outputs, .. } = &template.deed else { return };
        let start = transaction.answers.len() as u32;
        for column in outputs {
            let known = match column {
                Some(column) => self.read(transaction, row.table, one.key, *column),
                None => Known::default(),
            };
            transaction.answers.push(known);
        }
        one.answers = start..transaction.answers.len() as u32;
    }

    /// What a column holds for a transaction: what is stored, and its own writes.
    fn read(&self, transaction: &Transaction, table: usize, key: u64, column: usize) -> Known {
        let mut known = self.rows.read(table, key, column);
        for one in &transaction.statements {
            let value = |slot: usize| transaction.values_of(one).get(slot).map(|value| value.said).unwrap_or_default();
            match &self.templates.all[one.template as usize].deed {
                Deed::Update { assigned, .. } | Deed::Insert { assigned, .. } if one.key == key => {
                    for (_, given) in assigned.iter().filter(|(at, _)| *at == column) {
                        known = Known { last: given.of(known.last, value), before: None };
                    }
                }
                Deed::Delete(_) if one.key == key => known = Known::default(),
                Deed::Anything(tables) if tables.contains(&table) => known = Known::default(),
                _ => {}
            }
        }
        known
    }

    fn control(&mut self, session: &mut Session, control: Control, key: SessionKey) {
        match control {
            Control::Noise => self.survey.noise += 1,
            _ => self.survey.control += 1,
        }
        match control {
            Control::Noise => {}
            Control::Begin(level) => self.begin(session, level),
            Control::Commit { chain } => {
                match session.state {
                    State::Inside => self.end(session, key),
                    State::Failed => self.roll_back(session),
                    State::Unknown => self.cut(session),
                    State::Idle | State::Ending(_) => {}
                }
                if chain {
                    self.settle(session);
                    session.state = State::Inside;
                }
            }
            Control::Rollback { chain } => {
                let writes = || self.writes(&session.transaction);
                match session.state {
                    State::Inside if !writes() => self.end(session, key),
                    State::Inside | State::Failed => self.roll_back(session),
                    State::Unknown => {
                        self.unwrite(&session.transaction);
                        self.cut(session);
                    }
                    State::Idle | State::Ending(_) => {}
                }
                if chain {
                    self.settle(session);
                    session.state = State::Inside;
                }
            }
            Control::Savepoint(name) => session.savepoints.push((name, session.transaction.statements.len())),
            Control::Release(name) => {
                let at = session.savepoints.iter().rposition(|(other, _)| *other == name);
                session.savepoints.truncate(at.unwrap_or(session.savepoints.len()));
            }
            Control::RollbackTo(name) => self.roll_back_to(session, name),
            Control::Autocommit(on) => {
                if on && session.state == State::Inside {
                    self.commit(session);
                }
                session.autocommit = on;
                if session.state == State::Unknown {
                    self.commit_each(session);
                }
            }
            Control::NextLevel(level) if session.state == State::Inside && !self.is_mysql => {
                session.transaction.level = Some(level);
            }
            Control::NextLevel(level) => session.next_level = Some(level),
            Control::SessionLevel(level) => session.level = Some(level),
        }
    }

    fn begin(&mut self, session: &mut Session, level: Option<Level>) {
        match session.state {
            State::Unknown => self.commit_each(session),
            // MySQL commits what is open; PostgreSQL only warns.
            State::Inside if self.is_mysql => self.commit(session),
            State::Failed | State::Inside => return,
            State::Idle | State::Ending(_) => self.commit(session),
        }
        session.state = State::Inside;
        session.transaction.level = level.or(session.next_level.take()).or(session.level);
    }

    fn roll_back_to(&mut self, session: &mut Session, name: u64) {
        if let Some(at) = session.savepoints.iter().rposition(|(other, _)| *other == name) {
            let (_, length) = session.savepoints[at];
            let undone = session.transaction.statements.len().saturating_sub(length);
            self.survey.dropped += undone as u64;
            session.transaction.statements.truncate(length);
            session.savepoints.truncate(at + 1);
        }
        if session.state == State::Failed {
            session.state = State::Inside;
        }
    }

    fn failed(&mut self, session: &mut Session, statement: Option<&[u8]>) {
        let (count, hash) = session.last;
        let is_last = statement.is_none_or(|statement| super::value::hash_of(statement) == hash);
        let length = session.transaction.statements.len();
        match session.state {
            State::Ending(_) => {
                self.unwrite(&session.transaction);
                self.roll_back(session);
            }
            State::Inside | State::Unknown => {
                if is_last && count <= length {
                    if session.state == State::Unknown {
                        self.unwrite(&session.transaction);
                    }
                    session.transaction.statements.truncate(length - count);
                    self.survey.failed += count as u64;
                }
                if session.state == State::Inside {
                    session.state = State::Failed;
                }
            }
            State::Idle | State::Failed => {}
        }
        session.last = (0, 0);
    }

    fn writes(&self, transaction: &Transaction) -> bool {
        transaction.statements.iter().any(|one| self.templates.all[one.template as usize].writes)
    }

    /// The transaction is left out.
    fn drop_all(&mut self, session: &mut Session) {
        self.survey.dropped += session.transaction.statements.len() as u64;
        session.transaction.clear();
        session.savepoints.clear();
        session.is_long = false;
        session.state = State::Idle;
    }

    fn roll_back(&mut self, session: &mut Session) {
        self.survey.rolled_back += 1;
        self.drop_all(session);
    }

    fn cut(&mut self, session: &mut Session) {
        self.survey.cut += 1;
        self.drop_all(session);
    }

    /// Every statement was a transaction of its own.
    fn commit_each(&mut self, session: &mut Session) {
        let statements = std::mem::take(&mut session.transaction.statements);
        for one in statements {
            session.transaction.statements = vec![one];
            self.add(session);
        }
        session.transaction.clear();
        session.state = State::Idle;
    }

    fn commit(&mut self, session: &mut Session) {
        if session.is_long {
            self.drop_all(session);
            return;
        }
        if !matches!(session.state, State::Ending(_)) {
            self.write(&session.transaction, 0);
        }
        self.add(session);
        session.transaction.clear();
        session.savepoints.clear();
        session.state = State::Idle;
    }

    /// A transaction has committed: it is the rest of another, or may be the beginning of one, or neither.
    fn add(&mut self, session: &mut Session) {
        let transaction = &session.transaction;
        if transaction.statements.is_empty() {
            return;
        }
        self.survey.transactions += 1;
        self.survey.committed += transaction.statements.len() as u64;
        let sequence: Vec<u32> = transaction.statements.iter().map(|one| one.template).collect();
        let folded = fold(&sequence);
        let hash = sequence_hash(&folded.sequence);
        if let Some((held, last)) = session.held.as_mut().filter(|(_, last)| self.links.get(&hash) == Some(last)) {
            held.append(transaction, COMMIT);
            *last = hash;
            return;
        }
        self.release(session);
        if self.firsts.contains(&hash) {
            session.held = Some((std::mem::take(&mut session.transaction), hash));
            return;
        }
        let shape = self.count(&session.transaction, &folded);
        if session.before.is_some() || session.is_whole {
            if let Some(shape) = shape.and_then(|at| self.shapes.get_mut(at as usize)) {
                shape.follows.watch(session.before.as_ref(), &session.transaction);
            }
        }
        session.before = Some(Before::new(hash, &session.transaction));
    }

    /// What was held does not go on.
    fn release(&mut self, session: &mut Session) {
        if let Some((held, _)) = session.held.take() {
            let sequence: Vec<u32> = held.statements.iter().map(|one| one.template).collect();
            self.count(&held, &fold(&sequence));
        }
    }

    /// Takes note of a transaction, or of several that belong together; gives its shape.
    fn count(&mut self, transaction: &Transaction, folded: &Folded) -> Option<u32> {
        let hash = sequence_hash(&folded.sequence);
        let at = match self.shapes_by_hash.get(&hash) {
            Some(at) => *at,
            None if self.shapes.len() >= SHAPES_MAX => return None,
            None => {
                let templates: &[Template] = &self.templates.all;
                let place = templates[folded.sequence[0] as usize].place;
                let at = self.shapes.len() as u32;
                self.shapes.push(Shape::new(folded, templates, place, transaction.level));
                self.shapes_by_hash.insert(hash, at);
                at
            }
        };
        self.shapes[at as usize].add(transaction, folded);
        if let Some(recorded) = &mut self.recorded {
            recorded.push(Recorded::new(at, transaction, folded));
        }
        Some(at)
    }

    /// What it wrote was not written after all: nothing is known of these rows any more.
    fn unwrite(&mut self, transaction: &Transaction) {
        for one in transaction.statements.iter().filter(|one| one.key != 0) {
            if self.templates.all[one.template as usize].writes {
                self.rows.remove(one.key);
            }
        }
    }

    /// Does its writes again, from a statement on.
    fn write(&mut self, transaction: &Transaction, from: usize) {
        for one in transaction.statements.iter().skip(from) {
            let value = |slot: usize| transaction.values_of(one).get(slot).map(|value| value.said).unwrap_or_default();
            match &self.templates.all[one.template as usize].deed {
                Deed::Update { row, assigned } | Deed::Insert { row, assigned } => {
                    self.rows.write(row.table, one.key, assigned, value);
                }
                Deed::Delete(_) => self.rows.remove(one.key),
                Deed::Anything(tables) => tables.iter().for_each(|table| self.rows.forget(*table)),
                Deed::Read { .. } | Deed::Aggregate { .. } | Deed::Nothing => {}
            }
        }
    }
}

impl Sink for Collector<'_> {
    fn event(&mut self, event: Event<'_>) {
        self.events += 1;
        self.settle_old();
        match event {
            Event::Opened(key) => {
                if let Some(mut old) = self.sessions.remove(&key) {
                    self.close(&mut old);
                }
                self.sessions.insert(key, Box::new(Session::new(State::Idle)));
            }
            Event::Closed(key) => {
                if let Some(mut old) = self.sessions.remove(&key) {
                    self.close(&mut old);
                }
            }
            Event::Sent(sent) => {
                self.sessions.entry(sent.session).or_insert_with(|| Box::new(Session::new(State::Unknown)));
                self.with(sent.session, |this, session| this.sent(session, &sent));
            }
            Event::Failed { session, statement } => self.with(session, |this, session| this.failed(session, statement)),
        }
    }

    fn unread(&mut self, place: Place, line: &[u8]) {
        self.survey.unread(place, line);
    }
}
