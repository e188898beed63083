//! A call along its way: its statements, and where its transactions begin and end.

use super::Question;
use crate::flow::program::Given;
use crate::program::access::Lock;
use crate::program::code::OperationKind;
use crate::program::paths::Way;
use crate::search::conflicts::Conflicts;
use crate::search::level::Target;

/// A step of a call: a message to the server that matters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// The position in the way.
    pub(super) at: usize,
    /// The site of a statement that touches tables.
    pub(super) site: Option<u16>,
    /// Its transaction, counted within the call.
    pub(super) transaction: usize,
    /// Whether it is a statement; else it ends the transaction.
    pub(super) is_statement: bool,
    /// Whether it releases an advisory lock.
    pub(super) releases: bool,
}

/// A transaction of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transaction {
    pub(super) level: Target,
    /// The step that ends it: a statement that is a transaction of its own ends itself.
    pub(super) end: usize,
    pub(super) commits: bool,
}

/// A call along its way.
#[derive(Debug, Clone, Default)]
pub(super) struct Call {
    pub(super) steps: Vec<Step>,
    /// The steps that the cycle goes through, in the order in which they are executed: one or two.
    pub(super) nodes: Vec<usize>,
    pub(super) transactions: Vec<Transaction>,
}

/// The connection between two steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// A statement is a transaction of its own.
    Closed,
    /// The next statement begins a transaction.
    Armed,
    /// A transaction is open.
    Open,
}

impl Call {
    /// The call of an instance; `None` if the way does not do at the cycle's nodes what it has to.
    pub(super) fn of(question: &Question<'_>, instance: usize) -> Option<Call> {
        let procedure = question.cycle.procedure(question.conflicts, instance);
        let (given, way) = (*question.procedures.get(procedure)?, *question.ways.get(instance)?);
        let level = *question.levels.get(instance)?;
        let mut call = Walk::new(given, procedure, question.conflicts, level).along(way);
        let step = |at: &usize| call.steps.iter().position(|step| step.at == *at);
        call.nodes = way.passed.iter().map(step).collect::<Option<_>>()?;
        (call.nodes.len() == question.cycle.visits[instance].length()).then_some(call)
    }

    /// The transaction of a step.
    pub(super) fn transaction(&self, step: usize) -> &Transaction {
        &self.transactions[self.steps[step].transaction]
    }
}

/// The state outside of START TRANSACTION … COMMIT.
fn idle(given: Given<'_>) -> State {
    if given.autocommit { State::Closed } else { State::Armed }
}

/// A walk along a way.
pub(super) struct Walk<'a> {
    call: Call,
    given: Given<'a>,
    procedure: usize,
    conflicts: &'a Conflicts,
    state: State,
    /// The level of the next transaction, or of the open one.
    level: Target,
    /// The level of a transaction that asks for none.
    usual: Target,
}

impl<'a> Walk<'a> {
    pub(super) fn new(given: Given<'a>, procedure: usize, conflicts: &'a Conflicts, level: Target) -> Walk<'a> {
        Walk { call: Call::default(), given, procedure, conflicts, state: idle(given), level, usual: level }
    }

    pub(super) fn along(mut self, way: &Way) -> Call {
        for (at, position) in way.nodes.iter().enumerate() {
            let Some(node) = self.given.access.nodes.get(*position) else {
                self.end(at, true);
                continue;
            };
            match &node.operation.kind {
                OperationKind::Send(_) | OperationKind::Open(..) => self.statement(at, *position),
                OperationKind::Begin => {
                    self.end(at, true);
                    self.state = State::Armed;
                }
                OperationKind::Isolation(level) => self.set_level(level),
                OperationKind::Commit | OperationKind::Return(_) => self.end(at, true),
                OperationKind::Rollback | OperationKind::Raise(_) => self.end(at, false),
                _ => {}
            }
        }
        self.call
    }

    fn statement(&mut self, at: usize, node: usize) {
        let step = self.call.steps.len();
        if self.state != State::Open {
            // Until something else ends it, it ends here.
            self.call.transactions.push(Transaction { level: self.level, end: step, commits: true });
        }
        if self.state == State::Armed {
            self.state = State::Open;
        }
        self.push(at, self.conflicts.number(self.procedure, node), true);
    }

    fn push(&mut self, at: usize, site: Option<u16>, is_statement: bool) {
        let transaction = self.call.transactions.len().saturating_sub(1);
        let touches = site.map_or(&[][..], |site| self.conflicts.touches(site));
        let releases = touches.iter().any(|touch| touch.lock == Some(Lock::Release));
        self.call.steps.push(Step { at, site, transaction, is_statement, releases });
    }

    /// Ends the transaction that is open, if there is one.
    fn end(&mut self, at: usize, commits: bool) {
        if self.state == State::Open {
            let step = self.call.steps.len();
            let level = self.level;
            self.push(at, None, false);
            if let Some(last) = self.call.transactions.last_mut() {
                *last = Transaction { level, end: step, commits };
            }
            self.level = self.usual;
        }
        self.state = idle(self.given);
    }

    /// `SET TRANSACTION ISOLATION LEVEL`: of the next transaction. A store has no such statement.
    fn set_level(&mut self, level: &crate::level::LevelName) {
        if let Target::Engine(rules) = self.usual
            && self.state != State::Open
        {
            self.level = rules.at(level).map_or(self.usual, Target::Engine);
        }
    }
}
