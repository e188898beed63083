//! Is a cycle more than a drawing? Arguments and rows for which it happens, and shows.
//!
//! The calls are executed symbolically along their ways, as the plan says; the hops of the cycle are demanded. A model of
//! that is a run with the cycle in it. Whether anybody would notice is another question: the run is an *anomaly* only if
//! what it leaves behind is what no serial order of the calls leaves. Which branches the calls take in a serial order
//! depends on the values, so it is asked the other way round:
//!
//! ```text
//!   solve ──→ model ──→ run each serial order with it ──→ none leaves the same: found
//!     ↑                         │
//!     └── demand: where these branches are taken, something differs
//! ```
//!
//! Each round excludes all values that lead along the same branches to the same outcome, so few rounds are needed, and
//! what is found needs no luck to show.

use std::collections::BTreeMap;
use std::fmt;

use super::conflicts::Conflicts;
use super::cycles::Cycle;
use super::ground::{Ground, Rows};
use super::hops;
use super::outcome::Outcome;
use super::plan::Plan;
use super::run::{Guide, Run, Stuck, unknown_arguments};
use super::stage::{Stage, Stages};
use super::world::World;
use crate::budget::WorkBudget;
use crate::program::code::OperationKind;
use crate::program::ir::{Expr, ExprKind};
use crate::program::paths::Way;
use crate::program::paths::symbol::{Shape, Symbols};
use crate::program::predicate::Term;
use crate::program::schema::ColumnType;
use crate::solve::{self, Bool, Model, Problem, Session, Valuation};
use crate::value::Value;

/// How often the solver is asked for other values before we give up.
const ROUNDS_MAX: usize = 24;

/// How often values are looked for that people like to read.
const WISHES_MAX: usize = 6;

/// How often values are looked for that lead calls elsewhere.
const DIVERSIONS_MAX: usize = 4;

/// A cycle, and how it is to happen.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'s, 'a> {
    /// The calls and the tables.
    pub ground: &'s Ground<'a>,
    /// The conflicts that the cycle is made of.
    pub conflicts: &'s Conflicts,
    /// The cycle.
    pub cycle: &'s Cycle,
    /// The way of each call.
    pub ways: &'s [&'s Way],
    /// Who runs when, and who sees what.
    pub plan: &'s Plan,
    /// How often the solver may ask itself whether to go on.
    pub budget: u64,
    /// Who hears every question, too.
    pub second: Option<&'s dyn SecondOpinion>,
    /// When to stop.
    pub work: &'s WorkBudget,
}

/// Somebody who hears every question, with our answer to it, and may know better.
pub trait SecondOpinion: Sync + fmt::Debug {
    /// A question: the demands of the problem, and what is assumed beside them.
    fn hear(&self, problem: &Problem, assumed: &[Bool], answer: &solve::Answer);

    /// True if it failed or disagreed, so that asking on makes no sense.
    fn is_troubled(&self) -> bool {
        false
    }
}

impl Asked<'_, '_> {
    fn told(&self, problem: &Problem, assumed: &[Bool], answer: &solve::Answer) {
        if let Some(second) = self.second {
            second.hear(problem, assumed, answer);
        }
    }
}

/// What is known of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Feasible {
    /// It happens with these values if it is done like this, and shows.
    Yes(Box<Values>, Plan),
    /// It does not, or it does not show, with any values that were looked at.
    No,
    /// It could not be found out.
    Unknown,
}

/// Whether a slot has a row at the start, and its values by column.
type SlotValues = (bool, BTreeMap<String, Value>);

/// Arguments and rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// For each call, by parameter.
    pub arguments: Vec<BTreeMap<String, Value>>,
    /// The rows at the start: the columns that matter.
    pub rows: Rows,
    /// The same for all slots, whether they are there or not.
    pub(super) slots: BTreeMap<String, Vec<SlotValues>>,
    /// Which slots of tables without keys belong to whom: the first, and their owners.
    pub(super) owners: BTreeMap<String, (usize, Vec<(usize, usize)>)>,
    /// Whether all that matters could be computed. If not, these values are right as far as we can tell.
    pub is_exact: bool,
    /// How many rounds it took.
    pub rounds: usize,
}

/// Looks for values; what was found out about the same run before is used.
pub fn feasible<'a>(asked: &Asked<'_, 'a>, stages: &mut Stages<'a>) -> Feasible {
    let Some(hops) = hops::of_cycle(asked.conflicts, asked.cycle, asked.ways, asked.plan) else {
        return Feasible::No;
    };
    let stage = stages.of(asked);
    let Some(conditions) = stage.conditions(asked, &hops) else { return Feasible::No };
    let answer = stage.ask(&conditions, asked.budget);
    asked.told(&stage.symbols.problem, &conditions, &answer);
    match answer {
        solve::Answer::Possible(_) => Search::new(asked, stage, &conditions).search(),
        solve::Answer::Impossible => Feasible::No,
        solve::Answer::Unknown => Feasible::Unknown,
    }
}

/// Whether a call can take a way at all, as far as constants tell: a loop over two districts goes round twice.
pub(super) fn is_walkable(ground: &Ground<'_>, way: &Way) -> bool {
    let mut symbols = Symbols::new();
    symbols.window = Some(window(ground));
    let ways = [way];
    let world = World::new(ground, &ways, &mut symbols);
    let arguments = unknown_arguments(ground, &mut symbols);
    let mut run = Run::new(ground, &world, &mut symbols, &arguments, Guide::Ways);
    run.follow(&Plan::default(), &ways);
    !run.is_hopeless()
}

/// A question about one cycle, while values are looked for.
struct Search<'s, 'a> {
    asked: &'s Asked<'s, 'a>,
    stage: &'s Stage<'a>,
    symbols: Symbols,
    session: Session,
    /// What the planned run leaves behind.
    outcome: Outcome,
    /// What is tried beside the demands.
    tried: Vec<Bool>,
    /// Whether values were excluded for which nobody can tell what a serial order leaves, or whether that is the same.
    is_partial: bool,
}

impl<'s, 'a> Search<'s, 'a> {
    fn new(asked: &'s Asked<'s, 'a>, stage: &'s mut Stage<'a>, conditions: &[Bool]) -> Search<'s, 'a> {
        let mut symbols = stage.symbols.clone();
        for condition in conditions {
            symbols.problem.demand(*condition);
        }
        let outcome = stage.outcome(asked.ground, &mut symbols);
        let session = Session::within(&symbols.problem, asked.work);
        Search { asked, stage, symbols, session, outcome, tried: Vec::new(), is_partial: false }
    }

    fn ask(&mut self) -> solve::Answer {
        let answer = self.session.ask(&self.symbols.problem, &self.tried, self.asked.budget);
        self.asked.told(&self.symbols.problem, &self.tried, &answer);
        answer
    }

    fn search(mut self) -> Feasible {
        for round in 1..=ROUNDS_MAX {
            if self.asked.work.is_spent() {
                break;
            }
            match self.ask() {
                solve::Answer::Possible(model) => {
                    if self.shows(&model) {
                        self.divert();
                        let nice = self.nicer();
                        let model = nice.unwrap_or(model);
                        return Feasible::Yes(Box::new(self.values(&model, round)), self.plan(&model));
                    }
                }
                solve::Answer::Impossible if !self.is_partial => return Feasible::No,
                solve::Answer::Impossible | solve::Answer::Unknown => return Feasible::Unknown,
            }
        }
        Feasible::Unknown
    }

    /// Whether no serial order leaves the same. For those that do, or that cannot be computed, values like these are
    /// excluded. (An order that inserts a row that the plan has no place for leaves something else.)
    fn shows(&mut self, model: &Model) -> bool {
        let mut shows = true;
        let (made, decided) = self.made(model);
        for order in &self.orders(&made) {
            let values = self.symbols.problem.evaluate(model);
            let guide = Guide::Model(model, values);
            let mut run =
                Run::new(self.asked.ground, &self.stage.world, &mut self.symbols, &self.stage.arguments, guide);
            let outcome = run.one_by_one(order).map(|()| run.outcome());
            let guard = run.guard;
            let guard = self.symbols.problem.and(guard, decided);
            let elsewhere = self.symbols.problem.not(guard);
            let outcome = match outcome {
                Ok(outcome) => outcome,
                Err(Stuck::Outside) => continue,
                Err(Stuck::Unclear) => {
                    shows = false;
                    self.is_partial = true;
                    self.symbols.problem.demand(elsewhere);
                    continue;
                }
            };
            let differs = self.outcome.differs(&outcome, &made, &mut self.symbols);
            let values = self.symbols.problem.evaluate(model);
            if values.truth(differs) != Some(true) {
                shows = false;
                self.is_partial |= self.outcome.is_vague(&outcome, &made, &self.symbols);
                let lemma = self.symbols.problem.or(elsewhere, differs);
                self.symbols.problem.demand(lemma);
            }
        }
        shows
    }

    /// Which calls were made and not refused, with a model's values, and the condition under which these are they.
    fn made(&mut self, model: &Model) -> (Vec<bool>, Bool) {
        let values = self.symbols.problem.evaluate(model);
        let (mut made, mut decided) = (Vec::new(), self.symbols.always);
        for refused in self.outcome.refused.clone() {
            let is_refused = values.truth(refused) == Some(true);
            let so = if is_refused { refused } else { self.symbols.problem.not(refused) };
            decided = self.symbols.problem.and(decided, so);
            made.push(!is_refused);
        }
        (made, decided)
    }

    /// The serial orders of the calls that were made.
    fn orders(&self, made: &[bool]) -> Vec<Vec<usize>> {
        orders(self.asked.cycle.visits.len(), made)
    }

    /// Looks for values with which, in no serial order, all calls go the ways that they go in the plan: that somebody was
    /// told there is a seat left says more than a number that is off by one. If there are such values, others are
    /// excluded.
    fn divert(&mut self) {
        for _ in (0..DIVERSIONS_MAX).take_while(|_| !self.asked.work.is_spent()) {
            let solve::Answer::Possible(model) = self.ask() else { break };
            let mut is_diverted = true;
            let (made, decided) = self.made(&model);
            for order in &self.orders(&made) {
                let guide = Guide::Model(&model, self.symbols.problem.evaluate(&model));
                let mut run =
                    Run::new(self.asked.ground, &self.stage.world, &mut self.symbols, &self.stage.arguments, guide);
                let is_same = run.one_by_one(order).is_ok()
                    && order.iter().all(|at| run.locals[*at].path == self.asked.ways[*at].nodes);
                let guard = run.guard;
                if is_same {
                    is_diverted = false;
                    let guard = self.symbols.problem.and(guard, decided);
                    let elsewhere = self.symbols.problem.not(guard);
                    self.tried.push(elsewhere);
                }
            }
            if is_diverted && self.shows(&model) {
                return;
            }
        }
        self.tried.clear();
    }

    /// Values that people like to read, if they show as well. Where those that come first do not, they are excluded, and
    /// others are asked for.
    fn nicer(&mut self) -> Option<Model> {
        self.wish();
        let before = self.tried.clone();
        let positive = self.positive_arguments();
        self.tried.extend(positive);
        let found = self.nice();
        self.tried = before;
        found.or_else(|| self.nice())
    }

    fn nice(&mut self) -> Option<Model> {
        for _ in 0..WISHES_MAX {
            match self.ask() {
                solve::Answer::Possible(model) if self.shows(&model) => return Some(model),
                solve::Answer::Possible(_) => {}
                _ => return None,
            }
        }
        None
    }

    /// That no argument is NULL, and that numbers are at least 1.
    fn positive_arguments(&mut self) -> Vec<Bool> {
        let mut all = Vec::new();
        for symbol in self.stage.arguments.iter().flat_map(|one| one.values()) {
            let problem = &mut self.symbols.problem;
            all.push(problem.not(symbol.null));
            if let Shape::Number { digits, scale } = symbol.shape {
                let one = problem.constant(10_i128.pow(scale));
                all.push(problem.at_most(one, digits));
            }
        }
        all.retain(|one| self.symbols.problem.as_truth(*one).is_none());
        all
    }

    /// Small numbers, no NULLs, few rows, few deliveries.
    fn wish(&mut self) {
        let arguments: Vec<_> = self.stage.arguments.iter().flat_map(|one| one.values().copied()).collect();
        let problem = &mut self.symbols.problem;
        for symbol in &arguments {
            let there = problem.not(symbol.null);
            problem.prefer([there]);
        }
        self.wish_distinct();
        let problem = &mut self.symbols.problem;
        let rows: Vec<_> = self.stage.world.tables.iter().flat_map(|slots| &slots.rows).collect();
        for row in &rows {
            let absent = problem.not(row.present);
            problem.prefer([absent]);
        }
        let columns = rows.iter().flat_map(|row| row.columns.iter().copied());
        for symbol in arguments.into_iter().chain(columns) {
            match symbol.shape {
                Shape::Number { digits, scale } if problem.as_constant(digits).is_none() => {
                    let one = problem.constant(10_i128.pow(scale));
                    let positive = problem.at_most(one, digits);
                    problem.prefer([positive]);
                    problem.prefer_small(digits);
                }
                _ => {}
            }
        }
        // What nobody has to see need not be delivered, and what a call has done is there: few networks can be told more.
        let moves = &self.asked.plan.moves;
        for ((reader, writer), sees) in self.stage.sights() {
            let is_own = moves[*reader].instance == moves[*writer].instance;
            let easy = if is_own { *sees } else { problem.not(*sees) };
            problem.prefer([easy]);
        }
    }

    /// Calls of one procedure should say different things where they may, and so should the arguments of a call: nobody
    /// transfers money from an account to itself.
    fn wish_distinct(&mut self) {
        for arguments in &self.stage.arguments {
            let all: Vec<_> = arguments.values().collect();
            for (at, value) in all.iter().enumerate() {
                for other in all[..at].iter().filter(|other| other.is_like(value)) {
                    let differ = hops::differ(&mut self.symbols, value, other);
                    self.symbols.problem.prefer([differ]);
                }
            }
        }
        for (at, one) in self.stage.arguments.iter().enumerate() {
            for other in &self.stage.arguments[..at] {
                for (name, value) in one {
                    let Some(their) = other.get(name) else { continue };
                    let differ = hops::differ(&mut self.symbols, value, their);
                    self.symbols.problem.prefer([differ]);
                }
            }
        }
    }

    /// The plan, with what is seen.
    fn plan(&self, model: &Model) -> Plan {
        let values = self.symbols.problem.evaluate(model);
        let seen = self.stage.sights().iter().filter(|(_, sees)| values.truth(**sees) == Some(true));
        self.asked.plan.settled(seen.map(|(pair, _)| *pair))
    }

    fn values(&self, model: &Model, rounds: usize) -> Values {
        let values = self.symbols.problem.evaluate(model);
        let mut arguments = Vec::new();
        for (called, own) in self.asked.ground.calls.iter().zip(&self.stage.arguments) {
            let mut named = BTreeMap::new();
            for parameter in &called.procedure.parameters {
                let kind = ColumnType::parse(&parameter.type_name);
                let value = own.get(&parameter.name).and_then(|symbol| self.symbols.value(symbol, &kind, &values));
                named.insert(parameter.name.clone(), value.unwrap_or(Value::Null));
            }
            arguments.push(named);
        }
        let slots = self.slots(&values);
        let there =
            |all: &Vec<SlotValues>| all.iter().filter(|(is_there, _)| *is_there).map(|(_, row)| row.clone()).collect();
        let rows = slots.iter().map(|(table, all)| (table.clone(), there(all))).collect();
        let owners = self.stage.world.tables.iter();
        let owners = owners.map(|one| (one.definition.name.clone(), (one.owned, one.owners.clone()))).collect();
        Values { arguments, rows, slots, owners, is_exact: self.stage.is_exact(), rounds }
    }

    fn slots(&self, values: &Valuation) -> BTreeMap<String, Vec<SlotValues>> {
        let mut rows = BTreeMap::new();
        for slots in &self.stage.world.tables {
            let mut own = Vec::new();
            for row in &slots.rows {
                let mut columns = BTreeMap::new();
                for (name, symbol) in slots.columns.iter().zip(&row.columns) {
                    let Some(column) = slots.definition.column(name) else { continue };
                    if let Some(value) = self.symbols.value(symbol, &column.column_type, values) {
                        columns.insert(column.name.clone(), value);
                    }
                }
                own.push((values.truth(row.present) == Some(true), columns));
            }
            rows.insert(slots.definition.name.clone(), own);
        }
        rows
    }
}

/// All orders of the calls that were made, of which the first `count` are in any order; those behind them come first.
fn orders(count: usize, made: &[bool]) -> Vec<Vec<usize>> {
    let is_made = |at: &usize| made[*at];
    let mut orders: Vec<Vec<usize>> = vec![(count..made.len()).filter(is_made).collect()];
    let own: Vec<usize> = (0..count).filter(is_made).collect();
    for _ in &own {
        let longer = orders.iter().flat_map(|order| {
            let left = own.iter().filter(|next| !order.contains(next));
            left.map(|next| order.iter().copied().chain([*next]).collect())
        });
        orders = longer.collect();
    }
    orders
}

/// How large numbers may get: well beyond the constants of the procedures.
pub(super) fn window(ground: &Ground<'_>) -> i128 {
    let mut greatest = 20;
    let mut note = |value: &Value| {
        if let Value::Number(number) = value
            && let Some(number) = number.to_i64().map(i128::from)
        {
            greatest = greatest.max(number.abs());
        }
    };
    for node in ground.calls.iter().flat_map(|called| &called.access.nodes) {
        match &node.operation.kind {
            OperationKind::Assign(_, expr) | OperationKind::Unless(expr, _) => literals(expr, &mut note),
            _ => {}
        }
        for access in &node.access.tables {
            let mut terms: Vec<&Term> = access.assigned.iter().map(|assigned| &assigned.value).collect();
            access.predicate.atoms(&mut |atoms| terms.extend(atoms));
            for term in terms {
                term.walk(&mut |term| {
                    if let Term::Constant(value) = term {
                        note(value);
                    }
                });
            }
        }
    }
    for value in ground.initial.into_iter().flat_map(BTreeMap::values).flatten().flat_map(BTreeMap::values) {
        note(value);
    }
    greatest.min(1_000_000_000_000) * 3
}

fn literals(expr: &Expr, note: &mut impl FnMut(&Value)) {
    match &expr.kind {
        ExprKind::Literal(value) => note(value),
        ExprKind::Negate(inner) | ExprKind::Not(inner) => literals(inner, note),
        ExprKind::IsNull { operand, .. } => literals(operand, note),
        ExprKind::Binary { left, right, .. } => {
            literals(left, note);
            literals(right, note);
        }
        _ => {}
    }
}
