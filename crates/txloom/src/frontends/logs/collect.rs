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

use super::control;
use super::deed::Deed;
use super::event::{Event, Sent, SessionKey, Sink};
use super::lines::Place;
use super::link::Links;
use super::message::split_parameters;
use super::record::Recorded;
use super::rows::{Rows, key};
use super::scan::{Quoting, Scanned, Scanner};
use super::session::{Session, State};
use super::shape::{Instance, Shape, Value};
use super::survey::Survey;
use super::template::{Class, Template, Templates};
use super::value::{ByHash, Said, mix};

/// So many events a failure may come late.
const PATIENCE: u64 = 64;
/// So many statements of a session may come before its first BEGIN or COMMIT; then they are transactions of their own.
const UNKNOWN_MAX: usize = 100;
/// A transaction with more statements is left out: it is a load, not a procedure.
const STATEMENTS_MAX: usize = 20_000;

/// Collects what a log tells.
pub(super) struct Collector<'s> {
    pub(super) is_mysql: bool,
    pub(super) scanner: Scanner,
    pub(super) templates: Templates<'s>,
    pub(super) sessions: ByHash<Box<Session>>,
    pub(super) rows: Rows,
    pub(super) shapes_by_hash: ByHash<u32>,
    pub(super) shapes: Vec<Shape>,
    pub(super) survey: Survey,
    pub(super) events: u64,
    pub(super) ending: VecDeque<(u64, SessionKey)>,
    pub(super) unknown_values: u64,
    /// What is the rest of something else.
    pub(super) links: Links,
    /// The shapes that something is the rest of.
    pub(super) firsts: BTreeSet<u64>,
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

    /// Statements that filled tables before the log began.
    pub(super) fn preload(&mut self, inserts: &[String]) {
        // Dumps have many rows of few tables.
        let mut known: ByHash<Template> = ByHash::default();
        for sql in inserts {
            let sent = Sent {
                session: 0,
                text: sql.as_bytes(),
                head: &[],
                place: Place::default(),
                parameters: &[],
                may_fail: false,
            };
            for scanned in self.scanner.scan(sent.text) {
                let analyse = || self.templates.analyse(scanned, &sent);
                let template = known.entry(scanned.hash).or_insert_with(analyse);
                let Deed::Insert { row, assigned } = &template.deed else { continue };
                let said = |slot: usize| scanned.slots.get(slot).map(|slot| Said::of(&sent.text[slot.range.clone()]));
                let value = |slot: usize| said(slot).unwrap_or_default();
                self.rows.write(row.table, key(row, value), assigned, value);
            }
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
    pub(super) fn settle(&mut self, session: &mut Session) {
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

    pub(super) fn end(&mut self, session: &mut Session, key: SessionKey) {
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
            Class::Damaged => {
                self.survey.dropped += 1;
                self.survey.unread(sent.place, &sent.text[scanned.range.clone()]);
            }
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
