//! A store with transactions, as small as can be: committed rows, private writes on top, locks until the end.

use std::collections::BTreeMap;

use super::plan::{Effect, Plan, Program, View};
use crate::graph::{Odd, Probe, Row, Statement};
use crate::schedule::StepRef;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) version: i64,
    pub(super) value: u64,
    pub(super) unique: i64,
}

pub(super) type State = BTreeMap<Row, Content>;

/// What the store does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bug {
    None,
    /// Everybody sees what others have not committed.
    DirtyReads,
    /// Who writes what has changed since its snapshot is not rolled back.
    LostUpdates,
    /// Nobody sees what they inserted themselves.
    ForgottenInserts,
}

/// What was observed of a run.
pub(super) struct Run {
    pub(super) statements: Vec<Statement>,
    pub(super) strangers: BTreeMap<i64, StepRef>,
    /// By statement: what it did.
    pub(super) effects: BTreeMap<StepRef, Effect>,
    pub(super) end: State,
}

impl Run {
    pub(super) fn graph(&self) -> Result<crate::graph::Graph, Odd> {
        crate::graph::infer(self.statements.clone(), &self.strangers)
    }
}

#[derive(Default)]
struct Active {
    next: usize,
    snapshot: Option<State>,
    own: BTreeMap<Row, Option<Content>>,
    observed: Vec<Statement>,
    effects: Vec<(StepRef, Effect)>,
    is_over: bool,
}

struct Store<'a> {
    plan: &'a Plan,
    bug: Bug,
    committed: State,
    active: Vec<Active>,
    row_locks: BTreeMap<Row, usize>,
    key_locks: BTreeMap<Probe, usize>,
    commits: usize,
    done: usize,
    run: Run,
}

/// Runs a plan. Statements that would have to wait are left out, as if they were not there.
pub(super) fn run(plan: &Plan, bug: Bug) -> Run {
    let active = plan.transactions.iter().map(|_| Active::default()).collect();
    let run = Run { statements: Vec::new(), strangers: BTreeMap::new(), effects: BTreeMap::new(), end: State::new() };
    let mut store = Store {
        plan,
        bug,
        committed: plan.initial.clone(),
        active,
        row_locks: BTreeMap::new(),
        key_locks: BTreeMap::new(),
        commits: 0,
        done: 0,
        run,
    };
    for at in &plan.schedule {
        store.turn(*at);
    }
    store.run.end = store.committed;
    store.run
}

/// Puts writes on top of rows.
fn apply<'a>(state: &mut State, writes: impl IntoIterator<Item = (&'a Row, &'a Option<Content>)>) {
    for (row, content) in writes {
        match content {
            Some(content) => state.insert(row.clone(), *content),
            None => state.remove(row),
        };
    }
}

impl Store<'_> {
    fn turn(&mut self, at: usize) {
        if self.active[at].is_over {
            return;
        }
        let transaction = &self.plan.transactions[at];
        let next = self.active[at].next;
        self.active[at].next += 1;
        match transaction.programs.get(next) {
            Some(program) => self.statement(at, program),
            None => self.end(at, !transaction.aborts),
        }
    }

    fn statement(&mut self, at: usize, program: &Program) {
        let view = self.plan.transactions[at].view;
        let snapshot = self.active[at].snapshot.get_or_insert_with(|| self.committed.clone()).clone();
        let reads_snapshot = view == View::Snapshot || (view == View::Mixed && program.is_plain_query());
        let seen = self.with_own(at, if reads_snapshot { snapshot } else { self.committed.clone() });
        let now = self.with_own(at, self.committed.clone());
        let effect = program.execute(&seen, &now);
        let locked = effect.output.iter().filter(|_| program.locks()).map(|(row, ..)| row);
        let rows: Vec<Row> = locked.chain(effect.writes.iter().map(|write| &write.row)).cloned().collect();
        let is_free = rows.iter().all(|row| *self.row_locks.get(row).unwrap_or(&at) == at)
            && effect.probes.iter().all(|probe| *self.key_locks.get(probe).unwrap_or(&at) == at);
        if !is_free {
            return;
        }
        if rows.iter().any(|row| seen.get(row) != now.get(row)) && self.bug == Bug::None {
            return self.end(at, false);
        }
        self.row_locks.extend(rows.into_iter().map(|row| (row, at)));
        if !effect.writes.is_empty() {
            self.key_locks.extend(effect.probes.iter().map(|probe| (probe.clone(), at)));
        }
        self.active[at].own.extend(effect.contents.iter().cloned());
        self.observe(at, program, effect);
    }

    fn with_own(&self, at: usize, mut state: State) -> State {
        if self.bug == Bug::DirtyReads {
            self.active.iter().for_each(|other| apply(&mut state, &other.own));
        }
        let forgets = self.bug == Bug::ForgottenInserts;
        let own = self.active[at].own.iter().filter(|(row, _)| !forgets || state.contains_key(row));
        let own: Vec<(Row, Option<Content>)> = own.map(|(row, content)| (row.clone(), *content)).collect();
        apply(&mut state, own.iter().map(|(row, content)| (row, content)));
        state
    }

    fn observe(&mut self, at: usize, program: &Program, effect: Effect) {
        let output = effect.output.iter().map(|(row, version, _)| (row.clone(), *version)).collect();
        let statement = Statement {
            step: program.step.clone(),
            transaction: 0,
            done: self.done,
            uses: program.uses(),
            seen: effect.seen.clone(),
            output: program.returns_keys().then_some(output),
            writes: effect.writes.clone(),
            probes: effect.probes.clone(),
            lookups: Default::default(),
        };
        self.done += 1;
        self.active[at].observed.push(statement);
        self.active[at].effects.push((program.step.clone(), effect));
    }

    fn end(&mut self, at: usize, commits: bool) {
        let active = std::mem::take(&mut self.active[at]);
        self.active[at].is_over = true;
        self.row_locks.retain(|_, holder| *holder != at);
        self.key_locks.retain(|_, holder| *holder != at);
        if !commits {
            let versions = self.plan.transactions[at].programs.iter();
            self.run.strangers.extend(versions.map(|program| (program.version, program.step.clone())));
            return;
        }
        apply(&mut self.committed, &active.own);
        let transaction = self.commits;
        self.commits += 1;
        let observed = active.observed.into_iter().map(|statement| Statement { transaction, ..statement });
        self.run.statements.extend(observed);
        self.run.effects.extend(active.effects);
    }
}

/// Runs statements one after the other, without transactions: what each of them did, and what is there at the end.
pub(super) fn replay(plan: &Plan, steps: &[&StepRef]) -> (BTreeMap<StepRef, Effect>, State) {
    let mut state = plan.initial.clone();
    let mut effects = BTreeMap::new();
    for step in steps {
        let effect = plan.program(step).execute(&state, &state);
        apply(&mut state, effect.contents.iter().map(|(row, content)| (row, content)));
        effects.insert((*step).clone(), effect);
    }
    (effects, state)
}
