//! Calls executed in the small database, with terms for values.
//!
//! A run follows a [guide](Guide). Along given ways, each branch becomes a demand: the values must be such that the calls
//! go there. With a model, each branch is decided by it, and what was decided becomes the *guard*: whatever the run says
//! holds for all values under which the same branches are taken.

use std::collections::BTreeMap;

use super::answer::Line;
use super::ground::Ground;
use super::plan::Plan;
use super::scene::{Scene, Variables};
use super::world::{Row, World};
use crate::program::access::Node;
use crate::program::code::OperationKind;
use crate::program::ir::{Expr, Mode, Span};
use crate::program::paths::expression::Scope;
use crate::program::paths::symbol::{Place, Symbol, Symbols};
use crate::program::paths::{ReasonKind, Way};
use crate::program::schema::ColumnType;
use crate::solve::{Bool, Int, Model, Valuation};

/// How often loops may go round in a call that nobody has planned.
const ROUNDS_MAX: usize = 12;

/// Why a run cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stuck {
    /// A row comes that no slot has the key of. In a run that can go on there is none like it.
    Outside,
    /// Nobody knows what would happen.
    Unclear,
}

/// What decides branches.
pub(super) enum Guide<'r> {
    /// Ways that are to be followed.
    Ways,
    /// Values, and what terms are worth with them.
    Model(&'r Model, Valuation),
}

/// A change of a slot.
#[derive(Debug, Clone)]
pub(super) struct Effect {
    pub(super) table: usize,
    pub(super) slot: usize,
    /// Whether it happens.
    pub(super) guard: Bool,
    /// Whether the row is there from now on; `None` if that does not change.
    pub(super) alive: Option<bool>,
    /// New values, by the position of the column.
    pub(super) columns: Vec<(usize, Symbol)>,
}

/// The rows of some tables, as somebody sees them.
pub(super) type View = BTreeMap<usize, Vec<Row>>;

/// A statement that was executed, or the end of a transaction.
#[derive(Debug)]
pub(super) struct Executed {
    pub(super) instance: usize,
    /// The position of its node.
    pub(super) node: usize,
    /// The move of the plan that it belongs to.
    pub(super) number: usize,
    /// What it saw of the tables that it touches.
    pub(super) view: View,
    /// Variables as they were.
    pub(super) variables: Variables,
    pub(super) effects: Vec<Effect>,
    /// For the end of a transaction: what it took back.
    pub(super) taken_back: Vec<Effect>,
    /// The move that took it back, if one did.
    pub(super) undone: Option<usize>,
}

/// How a call ended.
#[derive(Debug, Clone)]
pub(super) enum Ended {
    /// With these outputs, and these rows shown.
    Returned(Vec<Symbol>),
    Failed,
}

/// The rows of an open cursor.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    pub(super) lines: Vec<Line>,
    pub(super) next: usize,
    pub(super) fetched: Vec<Bool>,
}

/// A call while it runs.
#[derive(Debug)]
pub(super) struct Local {
    pub(super) variables: Variables,
    pub(super) found: Bool,
    pub(super) count: Int,
    pub(super) cursors: BTreeMap<String, Cursor>,
    /// How many rows it has inserted into tables without a key.
    pub(super) inserted: BTreeMap<usize, usize>,
    /// Rows that went to the caller, one list for each query.
    pub(super) shown: Vec<Vec<Line>>,
    pub(super) ended: Option<Ended>,
    /// The nodes that it has passed.
    pub(super) path: Vec<usize>,
    /// Along a way: how many of its nodes have been passed.
    at: usize,
    /// Whether a transaction is open, and which statements belong to it: those of this call from here on.
    since: Option<usize>,
}

/// Which moves of others a move sees.
#[derive(Debug, Clone)]
enum Sight {
    /// All of them.
    All,
    /// These.
    Some(Vec<usize>),
    /// That is left to the solver, but for so many first ones: these are seen.
    Open(usize),
}

/// What is left of a run when it is over, to go on with it later.
#[derive(Debug, Default)]
pub(super) struct Record {
    locals: Vec<Local>,
    executed: Vec<Executed>,
    pub(super) is_exact: bool,
    pub(super) sights: Sights,
}

/// Where it is left to the solver what is seen: whether the first move sees the second one.
pub(super) type Sights = BTreeMap<(usize, usize), Bool>;

/// A run.
pub(super) struct Run<'r, 'a> {
    pub(super) ground: &'r Ground<'a>,
    pub(super) world: &'r World<'a>,
    pub(super) symbols: &'r mut Symbols,
    pub(super) locals: Vec<Local>,
    pub(super) executed: Vec<Executed>,
    pub(super) sights: Sights,
    /// What was decided by values.
    pub(super) guard: Bool,
    /// Whether all that happened could be computed.
    pub(super) is_exact: bool,
    guide: Guide<'r>,
    /// The move that is being made.
    number: usize,
    sight: Sight,
    /// Whether calls need not see their own earlier statements.
    roams: bool,
    /// Why it cannot go on.
    stuck: Option<Stuck>,
    /// How many demands are known not to be false.
    looked_at: usize,
}

impl<'r, 'a> Run<'r, 'a> {
    /// Calls that are about to begin, with these arguments.
    pub(super) fn new(
        ground: &'r Ground<'a>,
        world: &'r World<'a>,
        symbols: &'r mut Symbols,
        arguments: &[Variables],
        guide: Guide<'r>,
    ) -> Run<'r, 'a> {
        let (found, zero, guard) = (symbols.never, symbols.problem.constant(0), symbols.always);
        let local = |variables: &Variables| Local {
            variables: variables.clone(),
            found,
            count: zero,
            cursors: BTreeMap::new(),
            inserted: BTreeMap::new(),
            shown: Vec::new(),
            ended: None,
            path: Vec::new(),
            at: 0,
            since: None,
        };
        let locals = arguments.iter().map(local).collect();
        Run {
            ground,
            world,
            symbols,
            locals,
            executed: Vec::new(),
            guard,
            is_exact: true,
            guide,
            number: 0,
            sight: Sight::All,
            roams: false,
            stuck: None,
            looked_at: 0,
            sights: Sights::new(),
        }
    }

    /// What is left of it.
    pub(super) fn record(self) -> Record {
        Record { locals: self.locals, executed: self.executed, is_exact: self.is_exact, sights: self.sights }
    }

    /// The run along ways that this is left of.
    pub(super) fn resumed(
        ground: &'r Ground<'a>,
        world: &'r World<'a>,
        symbols: &'r mut Symbols,
        record: Record,
    ) -> Run<'r, 'a> {
        let Record { locals, executed, is_exact, sights } = record;
        Run { locals, executed, is_exact, sights, ..Run::new(ground, world, symbols, &[], Guide::Ways) }
    }

    /// Makes the moves of a plan.
    pub(super) fn follow(&mut self, plan: &Plan, ways: &[&Way]) {
        for (number, next) in plan.moves.iter().enumerate() {
            self.number = number;
            self.sight = plan.sight(number);
            self.roams = plan.roams;
            let way = ways[next.instance];
            while self.locals[next.instance].at <= next.at {
                let at = self.locals[next.instance].at;
                self.locals[next.instance].at += 1;
                self.step(next.instance, way.nodes[at], way.nodes.get(at + 1).copied());
            }
            if self.is_hopeless() {
                return;
            }
        }
        for (instance, way) in ways.iter().enumerate() {
            while self.locals[instance].at < way.nodes.len() {
                let at = self.locals[instance].at;
                self.locals[instance].at += 1;
                self.step(instance, way.nodes[at], way.nodes.get(at + 1).copied());
            }
        }
    }

    /// Whether something is demanded that no values fulfil.
    pub(super) fn is_hopeless(&mut self) -> bool {
        let demands = &self.symbols.problem.demands()[self.looked_at..];
        let is_false = |demand: &Bool| self.symbols.problem.as_truth(*demand) == Some(false);
        let hopeless = demands.iter().any(is_false);
        if !hopeless {
            self.looked_at = self.symbols.problem.demands().len();
        }
        hopeless
    }

    /// Runs the calls one after the other, to their ends.
    pub(super) fn one_by_one(&mut self, order: &[usize]) -> Result<(), Stuck> {
        self.sight = Sight::All;
        self.roams = false;
        for instance in order {
            let mut node = 0;
            let mut rounds = 0;
            while self.locals[*instance].ended.is_none() {
                let next = self.step(*instance, node, None);
                rounds += usize::from(next <= node);
                if let Some(stuck) = self.stuck.or((rounds > ROUNDS_MAX).then_some(Stuck::Unclear)) {
                    return Err(stuck);
                }
                node = next;
            }
        }
        Ok(())
    }

    /// One node of a call; gives the next one. Along a way, that is known before.
    fn step(&mut self, instance: usize, node: usize, next: Option<usize>) -> usize {
        let access = self.ground.calls[instance].access;
        self.locals[instance].path.push(node);
        let Some(found) = access.nodes.get(node) else {
            self.commit(instance, node);
            self.end(instance, Ended::Returned(Vec::new()));
            return node;
        };
        let mut to = node + 1;
        match &found.operation.kind {
            OperationKind::Assign(variable, value) => {
                let value = self.expression(instance, value, found.operation.span);
                self.locals[instance].variables.insert(variable.name.clone(), value);
            }
            OperationKind::Unless(condition, otherwise) => {
                let goes_on = self.branch(instance, condition, *otherwise, node, next);
                to = if goes_on { node + 1 } else { *otherwise };
            }
            OperationKind::Jump(target) => to = *target,
            OperationKind::Send(_) | OperationKind::Open(..) => self.statement(instance, node, found),
            OperationKind::Fetch(cursor, variables) => self.fetch(instance, cursor, variables),
            OperationKind::Close(cursor, ends_loop) => self.close(instance, cursor, *ends_loop),
            OperationKind::Begin => {
                self.commit_open(instance);
                self.locals[instance].since = Some(self.executed.len());
            }
            OperationKind::Commit => self.commit(instance, node),
            OperationKind::Rollback => self.roll_back(instance, node),
            OperationKind::Return(outputs) => {
                let outputs = outputs.iter().map(|one| self.expression(instance, one, found.operation.span)).collect();
                self.commit(instance, node);
                self.end(instance, Ended::Returned(outputs));
            }
            OperationKind::Raise(_) => self.fail(instance, node),
            OperationKind::Isolation(_) => {}
        }
        to
    }

    fn end(&mut self, instance: usize, ended: Ended) {
        self.locals[instance].ended.get_or_insert(ended);
    }

    fn expression(&mut self, instance: usize, value: &Expr, span: Span) -> Symbol {
        let place = self.place(instance, span);
        let local = &self.locals[instance];
        Scene::of_call(self.symbols, &local.variables, local.found, local.count).expression(value, &place)
    }

    pub(super) fn place(&self, instance: usize, span: Span) -> Place {
        Place { instance, span, guard: self.guard }
    }

    /// Whether a call goes on behind an `Unless`.
    fn branch(
        &mut self,
        instance: usize,
        condition: &Expr,
        otherwise: usize,
        node: usize,
        next: Option<usize>,
    ) -> bool {
        let place = self.place(instance, condition.span);
        let local = &self.locals[instance];
        let truth = Scene::of_call(self.symbols, &local.variables, local.found, local.count)
            .condition(condition, &place)
            .is_true;
        if let Guide::Model(..) = self.guide {
            return self.decide(truth);
        }
        let goes_on = next == Some(node + 1);
        if otherwise != node + 1 {
            let (wanted, kind) = match goes_on {
                true => (truth, ReasonKind::Taken),
                false => (self.symbols.problem.not(truth), ReasonKind::NotTaken),
            };
            self.symbols.demand(wanted, &place, kind);
        }
        goes_on
    }

    /// Whether something is true with the model's values; from now on that is part of the guard.
    fn decide(&mut self, condition: Bool) -> bool {
        if let Some(known) = self.symbols.problem.as_truth(condition) {
            return known;
        }
        let Guide::Model(model, values) = &mut self.guide else { return false };
        values.catch_up(&self.symbols.problem, model);
        let Some(truth) = values.truth(condition) else {
            self.stuck = Some(Stuck::Unclear);
            return false;
        };
        let decided = if truth { condition } else { self.symbols.problem.not(condition) };
        self.guard = self.symbols.problem.and(self.guard, decided);
        truth
    }

    /// Something that must not happen on a planned way; in other runs, the call fails if it does. Whether it fails.
    pub(super) fn fails_if(&mut self, condition: Bool, instance: usize, node: usize, span: Span) -> bool {
        match self.guide {
            Guide::Ways => {
                let fine = self.symbols.problem.not(condition);
                let place = self.place(instance, span);
                self.symbols.demand(fine, &place, ReasonKind::Succeeds);
                false
            }
            Guide::Model(..) => {
                let fails = self.decide(condition);
                if fails {
                    self.fail(instance, node);
                }
                fails
            }
        }
    }

    /// Something without which the small database is too small, and what it means if it is not so. Whether it is.
    pub(super) fn needs(&mut self, condition: Bool, instance: usize, span: Span, otherwise: Stuck) -> bool {
        match self.guide {
            Guide::Ways => {
                let place = self.place(instance, span);
                self.symbols.demand(condition, &place, ReasonKind::Succeeds);
                true
            }
            Guide::Model(..) => {
                let holds = self.decide(condition);
                if !holds {
                    self.stuck.get_or_insert(otherwise);
                }
                holds
            }
        }
    }

    fn fail(&mut self, instance: usize, node: usize) {
        self.roll_back(instance, node);
        self.end(instance, Ended::Failed);
    }

    // Transactions.

    /// A statement needs a transaction, unless each is one.
    pub(super) fn begin(&mut self, instance: usize) {
        if !self.ground.calls[instance].procedure.autocommit {
            let now = self.executed.len();
            self.locals[instance].since.get_or_insert(now);
        }
    }

    fn commit_open(&mut self, instance: usize) {
        self.locals[instance].since = None;
    }

    fn commit(&mut self, instance: usize, node: usize) {
        if self.is_open(instance) && self.keeps_deferred(instance, node) {
            self.locals[instance].since = None;
            self.note(instance, node, View::new(), Vec::new());
        }
    }

    /// Whether a transaction is open.
    pub(super) fn is_open(&self, instance: usize) -> bool {
        self.locals[instance].since.is_some()
    }

    /// What the open transaction of a call has written.
    pub(super) fn written(&self, instance: usize) -> Vec<Effect> {
        let since = self.locals[instance].since.unwrap_or(self.executed.len());
        let own = self.executed[since..].iter().filter(|executed| executed.instance == instance);
        own.flat_map(|executed| executed.effects.iter().cloned()).collect()
    }

    fn roll_back(&mut self, instance: usize, node: usize) {
        let Some(since) = self.locals[instance].since.take() else { return };
        let mut taken_back = Vec::new();
        for executed in self.executed[since..].iter_mut().filter(|executed| executed.instance == instance) {
            executed.undone = Some(self.number);
            taken_back.extend(executed.effects.iter().cloned());
        }
        self.note(instance, node, View::new(), Vec::new());
        if let Some(last) = self.executed.last_mut() {
            last.taken_back = taken_back;
        }
    }

    /// Takes note of what was executed.
    pub(super) fn note(&mut self, instance: usize, node: usize, view: View, effects: Vec<Effect>) {
        let variables = self.locals[instance].variables.clone();
        let executed = Executed {
            instance,
            node,
            number: self.number,
            view,
            variables,
            effects,
            taken_back: Vec::new(),
            undone: None,
        };
        self.executed.push(executed);
    }

    // Rows.

    /// The rows of a table, as an instance sees them now.
    pub(super) fn rows_seen(&mut self, instance: usize, table: usize) -> Vec<Row> {
        let number = self.number;
        let seen = self.seen_by(instance, number, table, None);
        fold(self.symbols, &self.world.tables[table].rows, table, &self.executed, &seen, number)
    }

    /// For what was executed and changes a table: whether a move sees it, unless it certainly does not.
    fn seen_by(&mut self, instance: usize, number: usize, table: usize, but: Option<usize>) -> Vec<(usize, Bool)> {
        let changes = |executed: &Executed| executed.effects.iter().any(|effect| effect.table == table);
        let mut seen = Vec::new();
        for at in 0..self.executed.len() {
            let executed = &self.executed[at];
            let (writer, is_own) = (executed.number, executed.instance == instance);
            if !changes(executed) || but == Some(writer) || writer > number {
                continue;
            }
            let sees = match &self.sight {
                _ if is_own && (!self.roams || writer == number) => self.symbols.always,
                Sight::All => self.symbols.always,
                Sight::Some(sees) if sees.contains(&writer) => self.symbols.always,
                Sight::Some(_) => continue,
                Sight::Open(before) if writer < *before => self.symbols.always,
                Sight::Open(_) => self.sight_of(instance, number, writer),
            };
            seen.push((at, sees));
        }
        seen
    }

    /// Whether a move sees another one, if that is left to the solver. What has arrived once stays, where calls do.
    fn sight_of(&mut self, instance: usize, reader: usize, writer: usize) -> Bool {
        if let Some(known) = self.sights.get(&(reader, writer)) {
            return *known;
        }
        let sees = self.symbols.problem.boolean(format!("{reader} sees {writer}"));
        let numbers = self.executed.iter().rev().filter(|one| one.instance == instance).map(|one| one.number);
        let before = numbers.filter(|number| *number < reader).find_map(|one| self.sights.get(&(one, writer)).copied());
        if let Some(before) = before.filter(|_| !self.roams) {
            let not_before = self.symbols.problem.not(before);
            let stays = self.symbols.problem.or(not_before, sees);
            self.symbols.problem.demand(stays);
        }
        self.sights.insert((reader, writer), sees);
        sees
    }

    /// The rows of a table as they are now, committed or not.
    pub(super) fn rows_now(&mut self, table: usize) -> Vec<Row> {
        self.rows_but(table, &[])
    }

    /// What other calls than this one have done to a table and not committed.
    pub(super) fn unsettled(&self, instance: usize, table: usize) -> Vec<usize> {
        let is_open = |at: &usize| {
            let executed = &self.executed[*at];
            let writes = executed.effects.iter().any(|effect| effect.table == table);
            let since = self.locals[executed.instance].since;
            writes && executed.instance != instance && since.is_some_and(|since| since <= *at)
        };
        (0..self.executed.len()).filter(is_open).collect()
    }

    /// The rows of a table as they are now, but for what was done there and there.
    pub(super) fn rows_but(&mut self, table: usize, left_out: &[usize]) -> Vec<Row> {
        let counts = (0..self.executed.len()).filter(|at| !left_out.contains(at));
        let counts: Vec<(usize, Bool)> = counts.map(|at| (at, self.symbols.always)).collect();
        fold(self.symbols, &self.world.tables[table].rows, table, &self.executed, &counts, self.number)
    }

    /// The rows of a table when everything is known everywhere.
    pub(super) fn rows_finally(&mut self, table: usize) -> Vec<Row> {
        let all: Vec<(usize, Bool)> = (0..self.executed.len()).map(|at| (at, self.symbols.always)).collect();
        fold(self.symbols, &self.world.tables[table].rows, table, &self.executed, &all, usize::MAX)
    }

    /// The rows of a table as one move saw them, but for what another move did.
    pub(super) fn rows_without(&mut self, table: usize, plan: &Plan, reader: usize, writer: usize) -> Vec<Row> {
        let instance = plan.moves[reader].instance;
        self.sight = plan.sight(reader);
        self.roams = plan.roams;
        let mut seen = self.seen_by(instance, reader, table, Some(writer));
        seen.retain(|(at, _)| self.executed[*at].number < reader);
        fold(self.symbols, &self.world.tables[table].rows, table, &self.executed, &seen, reader)
    }
}

impl Plan {
    fn sight(&self, number: usize) -> Sight {
        if self.is_open { Sight::Open(self.before) } else { Sight::Some(self.sees[number].clone()) }
    }
}

/// Rows after what was executed and is seen, the last writer winning; but for what was taken back before that move.
fn fold(
    symbols: &mut Symbols,
    start: &[Row],
    table: usize,
    executed: &[Executed],
    seen: &[(usize, Bool)],
    number: usize,
) -> Vec<Row> {
    let mut rows = start.to_vec();
    let is_there = |at: usize| executed[at].undone.is_none_or(|undone| undone > number);
    for (at, sees) in seen.iter().filter(|(at, _)| is_there(*at)) {
        for effect in executed[*at].effects.iter().filter(|effect| effect.table == table) {
            let guard = symbols.problem.and(effect.guard, *sees);
            apply_if(symbols, &mut rows[effect.slot], effect, guard);
        }
    }
    rows
}

/// What an effect makes of a row.
pub(super) fn apply(symbols: &mut Symbols, row: &mut Row, effect: &Effect) {
    apply_if(symbols, row, effect, effect.guard);
}

fn apply_if(symbols: &mut Symbols, row: &mut Row, effect: &Effect, guard: Bool) {
    if let Some(alive) = effect.alive {
        let alive = symbols.problem.truth(alive);
        row.present = symbols.problem.choose_truth(guard, alive, row.present);
    }
    for (column, value) in &effect.columns {
        row.columns[*column] = symbols.choose(guard, value, &row.columns[*column]);
    }
}

/// Unknown arguments of all calls, by name.
pub(super) fn unknown_arguments(ground: &Ground<'_>, symbols: &mut Symbols) -> Vec<Variables> {
    let mut all = Vec::new();
    for (at, called) in ground.calls.iter().enumerate() {
        let mut variables = Variables::new();
        for parameter in &called.procedure.parameters {
            let value = match parameter.mode {
                Mode::Out => symbols.null(),
                Mode::In | Mode::InOut => {
                    let name = format!("{}.{}", at + 1, parameter.name);
                    symbols.unknown(&name, &ColumnType::parse(&parameter.type_name), true)
                }
            };
            variables.insert(parameter.name.clone(), value);
        }
        all.push(variables);
    }
    all
}

/// The node of a statement.
pub(super) fn node_of<'a>(ground: &Ground<'a>, executed: &Executed) -> Option<&'a Node> {
    ground.calls[executed.instance].access.nodes.get(executed.node)
}
