//! The graph oracle: the same statements, sorted by their dependencies and run without transactions, answer the same.
//!
//! One engine, no reference, any SQL (TxCheck: Jiang et al., OSDI 2023). The oracle asks the engine itself which versions
//! of which rows every statement saw and replaced, by reads around it; from these follows a
//! [graph](crate::graph) of what had to run before what; and every order that respects the graph must show the same to
//! each statement, although nothing is left of the transactions:
//!
//! ```text
//!   with transactions                              without
//!   a  BEGIN                                       b  SELECT … FROM t    the same rows?
//!   a    [reads] UPDATE t SET … WHERE … [reads]    a  UPDATE t SET …     as many rows?
//!   b  BEGIN                                       b  UPDATE u SET …     as many rows?
//!   b    [reads] SELECT … FROM t  (saw t before a) …                     the same tables in the end?
//!   a  COMMIT
//!   b    [reads] UPDATE u SET … [reads]
//!   b  COMMIT                                      b SELECT → a UPDATE: it must come first
//! ```
//!
//! **Rounds.** The reads say what a statement saw only if nothing came between. A statement that waited, or whose reads
//! were separated from it, is moved to where it really ran: the next round submits everything in the order in which it
//! *completed* in the last one. What is disturbed again is left out; so is what failed, and so are statements on cycles
//! of the graph, for which there is no order. Each time the case is run again, since what is left may behave otherwise.
//! Every round leaves something out, or moves something that may be moved once, so this ends.
//!
//! **What is wrong**, then, is one of
//!
//! * an answer or the final state differs between the two executions
//! * the versions themselves are impossible: a rolled-back version was seen, one version was replaced twice, a query
//!   returned rows that are not in its tables ([`Odd`])
//! * an UPDATE or DELETE wrote other rows than its own condition selected directly before
//! * the item dependencies between the transactions form a cycle that the level forbids
//! * the server died, in either execution
//!
//! **Soundness** rests on three things: the reads see what the statement sees ([`instrument::views`] says at which levels
//! of which engines they do), a table that a statement does not mention cannot matter to it (so no triggers, views, calls,
//! cascades), and statements are functions of the rows that they see (so no clocks, sequences, LIMIT without an order).
//! [`instrument::prepare`] refuses what does not qualify: in a hunt the case is judged without such statements.
//! Statements of transactions that did not commit are run, but neither followed nor compared: they must have no effect.
//!
//! # Limits
//!
//! * What waited is only judged where it did not have to wait: bugs *in* waiting are the business of other oracles.
//! * Reads around statements lock and register more than the case alone: at serializable levels more transactions abort.
//! * ORDER BY with ties counts as an order.

pub mod instrument;
mod instrumented;
mod round;
mod refine;
mod judge;
mod explain;

use std::collections::BTreeMap;

use crate::case::{Case, SessionName, print::print};
use crate::engine::EngineInfo;
use crate::finding::hash;
use crate::generate::random::Random;
use crate::graph::Graph;
#[cfg(doc)]
use crate::graph::Odd;
use crate::oracle::{Oracle, RunError, Runner, Verdict, schedules, together};
use crate::schedule::{Policy, Schedule};
use instrument::Prepared;
use instrument::views::{Views, views};

/// The oracle's name.
pub const NAME: &str = "graph";

/// Judges by statement dependencies.
#[derive(Debug, Clone)]
pub struct GraphOracle {
    /// What to do when a session waits.
    pub policy: Policy,
    /// How many sorted orders are run without transactions.
    pub orders: usize,
    /// How many rounds there are at most.
    pub rounds_max: usize,
    /// What cannot be judged is an error: somebody asked for it. In a hunt it is counted as not known.
    pub insists: bool,
}

impl Default for GraphOracle {
    fn default() -> GraphOracle {
        GraphOracle { policy: Policy::default(), orders: 1, rounds_max: 40, insists: true }
    }
}

/// How far a case was followed.
#[derive(Debug, Clone, Default)]
pub struct Followed {
    /// How often it was run with transactions.
    pub rounds: usize,
    /// How many statements it had, other than transaction control.
    pub statements: usize,
    /// The graph of the last round: what is compared.
    pub graph: Graph,
    /// How many sorted orders were run without transactions.
    pub orders: usize,
}

impl Followed {
    /// How many transactions reached the comparison.
    pub fn transactions(&self) -> usize {
        let mut transactions: Vec<usize> = self.graph.statements.iter().map(|one| one.transaction).collect();
        transactions.sort_unstable();
        transactions.dedup();
        transactions.len()
    }

    /// Whether the case says something: several transactions of several statements that depend on each other were
    /// compared.
    pub fn is_telling(&self) -> bool {
        let transaction = |at: usize| self.graph.statements[at].transaction;
        let meets = self.graph.edges.iter().any(|edge| transaction(edge.from) != transaction(edge.to));
        self.orders > 0 && self.transactions() >= 2 && self.graph.statements.len() >= 6 && meets
    }
}

impl Oracle for GraphOracle {
    fn name(&self) -> &'static str {
        NAME
    }

    /// Judges every schedule of the case on every target.
    fn judge(&self, case: &Case, runner: &mut dyn Runner) -> Result<Verdict, RunError> {
        let mut verdicts = Vec::new();
        for target in 0..runner.targets().len() {
            for schedule in schedules(case) {
                verdicts.push(self.follow(case, schedule, target, runner)?.0);
            }
        }
        Ok(together(verdicts))
    }
}

impl GraphOracle {
    /// Judges one schedule of a case on one target, and says how far that went.
    ///
    /// What is wrong with a case after some rounds is wrong with what they left of it at once: that is told, since it is
    /// what somebody wants to read.
    pub fn follow(
        &self,
        case: &Case,
        schedule: Option<&Schedule>,
        target: usize,
        runner: &mut dyn Runner,
    ) -> Result<(Verdict, Followed), RunError> {
        let first = self.follow_once(case, schedule, target, runner)?;
        let (Verdict::Violated(findings), Followed { rounds: 2.., .. }) = &first else { return Ok(first) };
        let Some(finding) = findings.first() else { return Ok(first) };
        let again = self.follow_once(&finding.case, None, target, runner)?;
        Ok(if matches!(again.0, Verdict::Violated(_)) { again } else { first })
    }

    fn follow_once(
        &self,
        case: &Case,
        schedule: Option<&Schedule>,
        target: usize,
        runner: &mut dyn Runner,
    ) -> Result<(Verdict, Followed), RunError> {
        let (views, prepared) = match self.ready(case, target, runner) {
            Ok(ready) => ready,
            Err(reason) if self.insists => {
                return Err(RunError::Case(format!("the graph oracle cannot follow this case: {reason}")));
            }
            Err(reason) => return Ok((Verdict::Unknown(reason), Followed::default())),
        };
        let random = Random::new(hash(&print(case)), &[]);
        let trial = Trial { oracle: self, original: case, prepared: &prepared, views, target, runner, random };
        trial.judge(schedule)
    }

    /// What is needed to follow a case, or why it cannot be followed.
    fn ready(&self, case: &Case, target: usize, runner: &dyn Runner) -> Result<(SessionViews, Prepared), String> {
        let engine = runner.targets().swap_remove(target);
        let prepared = instrument::prepare(case).map_err(|skip| skip.to_string())?;
        if let Some(skip) = prepared.refused.values().next().filter(|_| self.insists) {
            return Err(skip.to_string());
        }
        let refers = prepared.tables.values().any(|table| table.constraints.iter().any(|one| one.referenced));
        if refers && engine.capabilities.late_references {
            // Between two statements of a transaction, its references may then point to nothing; without transactions,
            // they may not.
            return Err("foreign keys that are checked at COMMIT".to_string());
        }
        Ok((session_views(&prepared.case, &engine)?, prepared))
    }

    /// Runs up to so many sorted orders of a case, whether or not they differ; `None` if it does not come to that.
    pub fn triggering(
        &self,
        case: &Case,
        target: usize,
        runner: &mut dyn Runner,
        orders_max: usize,
    ) -> Result<Option<Triggering>, RunError> {
        let Ok((views, prepared)) = self.ready(case, target, runner) else { return Ok(None) };
        let random = Random::new(hash(&print(case)), &[]);
        let mut trial = Trial { oracle: self, original: case, prepared: &prepared, views, target, runner, random };
        trial.triggering(orders_max)
    }
}

/// How likely it is that a sorted order shows what is wrong with a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Triggering {
    /// How many sorted orders there are; 10,000 if there are more.
    pub orders: u64,
    /// How many of them were run.
    pub run: usize,
    /// How many of these differ from the execution with transactions.
    pub differ: usize,
    /// Whether the transactions depend on each other in a cycle, so that no order of them would do.
    pub is_cyclic: bool,
}

/// One schedule of a case on one target.
struct Trial<'a> {
    oracle: &'a GraphOracle,
    original: &'a Case,
    prepared: &'a Prepared,
    views: SessionViews,
    target: usize,
    runner: &'a mut dyn Runner,
    random: Random,
}

/// How the reads of each session are written.
type SessionViews = BTreeMap<SessionName, Views>;

fn session_views(case: &Case, engine: &EngineInfo) -> Result<SessionViews, String> {
    let view = |session: SessionName| {
        let level = case.level_of(&session).unwrap_or(&engine.default_level);
        Ok((session, views(engine, level)?))
    };
    case.sessions().into_iter().map(|session| view(session.name)).collect()
}
