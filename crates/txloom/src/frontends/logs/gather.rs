//! Committed transactions → shapes.

use super::collect::Collector;
use super::fold::{Folded, fold};
use super::link::Before;
use super::record::Recorded;
use super::session::{Session, State};
use super::shape::{Shape, Transaction, sequence_hash};
use super::template::{COMMIT, Template};

/// So many shapes are told apart.
const SHAPES_MAX: usize = 20_000;

impl Collector<'_> {
    /// Every statement was a transaction of its own.
    pub(super) fn commit_each(&mut self, session: &mut Session) {
        let all = std::mem::take(&mut session.transaction);
        for one in &all.statements {
            // Whoever is held for what follows keeps its values.
            session.transaction = all.alone(one);
            self.add(session);
        }
        session.transaction.clear();
        session.state = State::Idle;
    }

    pub(super) fn commit(&mut self, session: &mut Session) {
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
    pub(super) fn add(&mut self, session: &mut Session) {
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
        // What came before the first transaction in the file, nobody knows.
        let is_known = session.before.is_some() || session.is_whole;
        if let Some(shape) = shape.filter(|_| is_known).and_then(|at| self.shapes.get_mut(at as usize)) {
            shape.follows.watch(session.before.as_ref(), &session.transaction);
        }
        session.before = Some(Before::new(hash, &session.transaction));
    }

    /// What was held does not go on.
    pub(super) fn release(&mut self, session: &mut Session) {
        if let Some((held, _)) = session.held.take() {
            let sequence: Vec<u32> = held.statements.iter().map(|one| one.template).collect();
            self.count(&held, &fold(&sequence));
        }
    }

    /// Takes note of a transaction, or of several that belong together; gives its shape.
    pub(super) fn count(&mut self, transaction: &Transaction, folded: &Folded) -> Option<u32> {
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
}
