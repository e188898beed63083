//! Everything that two calls can do together: all orders of their statements, all that they may see.
//!
//! *A store* (eventual): each call sees its own changes and some of the other's earlier ones; what has arrived stays.
//! When something arrives is decided when somebody looks at its row: earlier would make no difference.
//!
//! *An engine* (read committed): a statement sees what is committed when it begins, and its own changes. Who changes a
//! row that the other one has changed and not committed would wait; such orders are left out, for it is as if the one
//! who waits had come later. An INSERT waits for any change of the row with its key. Unique and foreign keys are looked
//! up in what is there now, whatever is seen; who breaks one waits or fails.
//!
//! Calls that fail are left out, too: the search plans none of these.

use super::machine::{Change, Local, Outcome, Row, Setup};

/// Whose rules decide who sees what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    /// A store that guarantees nothing but that what has arrived stays.
    Eventual,
    /// An engine at read committed.
    ReadCommitted,
}

/// Positions of actions, each a bit: there are never many.
pub(super) type Positions = u32;

/// Something that a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Its next statement. On a store: which earlier actions of the other have arrived and not been seen before.
    Statement(Positions),
    /// It commits; on a store, that means nothing.
    Commit,
}

/// Something that was done.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done {
    pub(super) call: usize,
    pub(super) action: Action,
    change: Option<Change>,
}

/// Two calls on their way.
#[derive(Debug, Clone)]
pub(super) struct Scene<'s, 'p> {
    setup: &'s Setup<'p>,
    rules: Rules,
    locals: [Local; 2],
    has_committed: [bool; 2],
    /// What was done, in its order.
    done: Vec<Done>,
    /// Which of these the other call has seen.
    arrived: Positions,
}

/// Why something cannot be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// The call fails.
    Fails,
    /// It would wait for the other one.
    Waits,
    /// There is nothing left to do, or not yet everything done.
    IsOver,
}

impl<'s, 'p> Scene<'s, 'p> {
    pub(super) fn new(setup: &'s Setup<'p>, rules: Rules) -> Scene<'s, 'p> {
        let locals = [Local::default(); 2];
        Scene { setup, rules, locals, has_committed: [false; 2], done: Vec::new(), arrived: 0 }
    }

    /// Does something.
    pub(super) fn act(&mut self, call: usize, action: Action) -> Result<(), Refused> {
        let has_more = self.setup.next(call, &mut self.locals[call]).is_some();
        let change = match action {
            Action::Commit if has_more || self.has_committed[call] => return Err(Refused::IsOver),
            Action::Commit => {
                self.has_committed[call] = true;
                None
            }
            Action::Statement(_) if !has_more => return Err(Refused::IsOver),
            Action::Statement(arrive) => {
                self.arrived |= arrive;
                self.statement(call)?
            }
        };
        self.done.push(Done { call, action, change });
        Ok(())
    }

    fn statement(&mut self, call: usize) -> Result<Option<Change>, Refused> {
        let view = self.view(call);
        let change = self.setup.execute(call, &mut self.locals[call], &view);
        if self.rules == Rules::ReadCommitted {
            // A row that is being removed or changed is still there for others, so an INSERT that fails may wait first.
            let place = change.ok().flatten().map(|change| change.place);
            if place.is_some_and(|place| self.is_locked(call, place)) {
                return Err(Refused::Waits);
            }
        }
        let change = change.map_err(|_| Refused::Fails)?;
        let is_engine = self.rules == Rules::ReadCommitted;
        let breaks = |rows: &[Row]| change.is_some_and(|change| !self.setup.is_allowed(rows, &change, is_engine));
        // An index holds every version that is not committed, replaced ones as well.
        let breaks_since = |seen: usize| breaks(&self.rows(|at, done| at < seen || self.is_seen(call, done)));
        if breaks(&view) || (is_engine && (0..=self.done.len()).any(breaks_since)) {
            return Err(Refused::Fails);
        }
        Ok(change)
    }

    /// Whether the other call has changed a place, and has not committed.
    fn is_locked(&self, call: usize, place: usize) -> bool {
        let holds = |done: &Done| done.call != call && done.change.is_some_and(|change| change.place == place);
        !self.has_committed[1 - call] && self.done.iter().any(holds)
    }

    /// The rows as a call sees them now.
    fn view(&self, call: usize) -> Vec<Row> {
        self.rows(|at, done| match self.rules {
            Rules::Eventual => done.call == call || self.arrived >> at & 1 == 1,
            Rules::ReadCommitted => self.is_seen(call, done),
        })
    }

    /// Whether an engine shows a call what was done.
    fn is_seen(&self, call: usize, done: &Done) -> bool {
        done.call == call || self.has_committed[done.call]
    }

    /// The rows after some of what was done, the last writer winning.
    fn rows(&self, counts: impl Fn(usize, &Done) -> bool) -> Vec<Row> {
        let mut rows = self.setup.start.clone();
        for (at, done) in self.done.iter().enumerate() {
            if let Some(change) = done.change.filter(|_| counts(at, done)) {
                change.apply(&mut rows);
            }
        }
        rows
    }

    pub(super) fn is_over(&mut self) -> bool {
        let has_more = |call: usize, scene: &mut Self| scene.setup.next(call, &mut scene.locals[call]).is_some();
        let all_said = !has_more(0, self) && !has_more(1, self);
        all_said && (self.rules == Rules::Eventual || self.has_committed == [true, true])
    }

    pub(super) fn outcome(&self) -> Outcome {
        self.setup.outcome(&self.locals.map(Some), &self.rows(|_, _| true))
    }

    /// What a call may do now.
    fn actions(&mut self, call: usize) -> Vec<Action> {
        let Some(statement) = self.setup.next(call, &mut self.locals[call]) else {
            let may_commit = self.rules == Rules::ReadCommitted && !self.has_committed[call];
            return if may_commit { vec![Action::Commit] } else { Vec::new() };
        };
        let local = &self.locals[call];
        let may_arrive = |at: &usize| {
            let done = &self.done[*at];
            let matters = |change: Change| self.setup.looks_at(call, local, statement, change.place);
            done.call != call && self.arrived >> at & 1 == 0 && done.change.is_some_and(matters)
        };
        let mut choices: Vec<Positions> = vec![0];
        if self.rules == Rules::Eventual {
            for at in (0..self.done.len()).filter(may_arrive) {
                let with: Vec<Positions> = choices.iter().map(|choice| choice | 1 << at).collect();
                choices.extend(with);
            }
        }
        choices.into_iter().map(Action::Statement).collect()
    }

    /// In words: who does what.
    pub(super) fn show(&self) -> String {
        let one = |(at, done): (usize, &Done)| {
            let name = ["A", "B"][done.call];
            match done.action {
                Action::Commit => format!("{at} {name}.commit"),
                Action::Statement(0) => format!("{at} {name}"),
                Action::Statement(arrive) => {
                    let seen: Vec<usize> = (0..at).filter(|at| arrive >> at & 1 == 1).collect();
                    format!("{at} {name} after {seen:?} arrived")
                }
            }
        };
        self.done.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
    }
}

/// An execution whose outcome is that of no serial order, if there is one.
pub(super) fn find_anomaly<'s, 'p>(setup: &'s Setup<'p>, rules: Rules) -> Option<Scene<'s, 'p>> {
    let serial = setup.serial(rules == Rules::ReadCommitted);
    go_on(&Scene::new(setup, rules), &serial)
}

fn go_on<'s, 'p>(scene: &Scene<'s, 'p>, serial: &[Outcome]) -> Option<Scene<'s, 'p>> {
    let mut here = scene.clone();
    if here.is_over() {
        return (!serial.contains(&here.outcome())).then_some(here);
    }
    for call in 0..2 {
        for action in here.actions(call) {
            let mut next = here.clone();
            if next.act(call, action).is_ok()
                && let Some(found) = go_on(&next, serial)
            {
                return Some(found);
            }
        }
    }
    None
}
