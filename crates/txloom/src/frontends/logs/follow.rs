//! What statements about transactions, and failures, do to a session.

use super::collect::Collector;
use super::control::{Control, Level};
use super::event::SessionKey;
use super::session::{Session, State};
use super::shape::Transaction;

impl Collector<'_> {
    pub(super) fn control(&mut self, session: &mut Session, control: Control, key: SessionKey) {
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

    pub(super) fn begin(&mut self, session: &mut Session, level: Option<Level>) {
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

    pub(super) fn roll_back_to(&mut self, session: &mut Session, name: u64) {
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

    pub(super) fn failed(&mut self, session: &mut Session, statement: Option<&[u8]>) {
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

    pub(super) fn writes(&self, transaction: &Transaction) -> bool {
        transaction.statements.iter().any(|one| self.templates.all[one.template as usize].writes)
    }

    /// The transaction is left out.
    pub(super) fn drop_all(&mut self, session: &mut Session) {
        self.survey.dropped += session.transaction.statements.len() as u64;
        session.transaction.clear();
        session.savepoints.clear();
        session.is_long = false;
        session.state = State::Idle;
    }

    pub(super) fn roll_back(&mut self, session: &mut Session) {
        self.survey.rolled_back += 1;
        self.drop_all(session);
    }

    pub(super) fn cut(&mut self, session: &mut Session) {
        self.survey.cut += 1;
        self.drop_all(session);
    }
}
