//! The reads around a statement, as text.
//!
//! ```text
//!   statement                                      Version-Set Reads          Before-Write Read               After
//!   SELECT … FROM t JOIN u …                       all of t, all of u
//!   UPDATE t SET … WHERE a IN (SELECT b FROM u)    all of t, all of u         SELECT k, ver FROM t WHERE …    all of t
//!   INSERT INTO t VALUES …                         all of t                                                   all of t
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use sqlparser::ast::{
    Expr, LockClause, LockType, OrderByExpr, Query, SetExpr, TableFactor, TableWithJoins, VisitMut, VisitorMut, With,
};

use super::references::flatten;
use super::schema::Schema;
use super::text::with_old_locks;
use super::{Read, Reads, Role, Table, Target, View};
use crate::schedule::StepRef;

/// What a Before-Write Read is made of.
#[derive(Debug, Clone)]
pub(super) struct BeforeWrite {
    pub(super) with: Option<With>,
    pub(super) table: Arc<str>,
    /// The table and its alias.
    pub(super) from: TableWithJoins,
    pub(super) selection: Option<Expr>,
    pub(super) order_by: Vec<OrderByExpr>,
    pub(super) limit: Option<Expr>,
}

/// What a statement's own reads are made of, beside whole tables.
#[derive(Debug, Clone)]
pub(super) struct Beside {
    /// For UPDATE and DELETE.
    pub(super) before: Option<BeforeWrite>,
    /// The tables that a locking query does not lock.
    pub(super) unlocked: BTreeSet<Arc<str>>,
}

/// The texts of all reads of a case.
#[derive(Debug, Clone, Default)]
pub(super) struct Texts {
    /// The read of a whole table.
    all: BTreeMap<Arc<str>, String>,
    /// The Before-Write Reads, plain and locking.
    before: BTreeMap<StepRef, (String, String)>,
    /// The tables that locking queries do not lock.
    unlocked: BTreeMap<StepRef, BTreeSet<Arc<str>>>,
}

impl Texts {
    /// The reads of whole tables.
    pub(super) fn new(tables: &BTreeMap<Arc<str>, Table>, schema: &Schema) -> Texts {
        let read = |(name, table): (&Arc<str>, &Table)| {
            let definition = schema.tables.get(name)?;
            let columns: Vec<&str> =
                table.key.iter().chain([&table.version]).chain(&table.probed).map(String::as_str).collect();
            Some((name.clone(), format!("SELECT {} FROM {}", columns.join(", "), definition.name)))
        };
        Texts { all: tables.iter().filter_map(read).collect(), ..Texts::default() }
    }

    /// Adds what the reads of a statement need.
    pub(super) fn add(&mut self, step: StepRef, beside: Beside, tables: &BTreeMap<Arc<str>, Table>) {
        self.unlocked.insert(step.clone(), beside.unlocked);
        let Some(write) = beside.before else { return };
        let Some(table) = tables.get(&write.table) else { return };
        let columns: Vec<&str> = table.key.iter().chain([&table.version]).map(String::as_str).collect();
        let plain = write.print(&columns);
        let locking = with_old_locks(&format!("{} FOR UPDATE", write.with_locks().print(&columns)));
        self.before.insert(step, (plain, locking));
    }

    /// The reads around a statement.
    pub(super) fn around(&self, step: &StepRef, target: &Target, view: View) -> Reads {
        let is_unlocked = |table: &Arc<str>| self.unlocked.get(step).is_some_and(|unlocked| unlocked.contains(table));
        let all = |table: &Arc<str>, role: Role| {
            let text = self.all.get(table)?;
            let sql = match view {
                // A shared lock that becomes an exclusive one is how two transactions come to a deadlock.
                View::Locking if target.written.as_ref() == Some(table) => format!("{text} FOR UPDATE"),
                View::Locking if !is_unlocked(table) => format!("{text} LOCK IN SHARE MODE"),
                _ => text.clone(),
            };
            Some(Read { sql, role, table: table.clone() })
        };
        let unused = target.written.iter().filter(|written| !target.uses.contains_key(*written));
        let mut before: Vec<Read> =
            target.uses.keys().chain(unused).filter_map(|table| all(table, Role::VersionSet)).collect();
        if let (Some((plain, locking)), Some(table)) = (self.before.get(step), &target.written) {
            let sql = match view {
                View::Plain => plain.clone(),
                View::Locking => locking.clone(),
            };
            before.push(Read { sql, role: Role::BeforeWrite, table: table.clone() });
        }
        let after = target.written.iter().filter_map(|table| all(table, Role::AfterWrite)).collect();
        Reads { before, after }
    }
}

impl BeforeWrite {
    fn print(&self, columns: &[&str]) -> String {
        let mut text = String::new();
        if let Some(with) = &self.with {
            text.push_str(&format!("{with} "));
        }
        text.push_str(&format!("SELECT {} FROM {}", columns.join(", "), self.from));
        if let Some(selection) = &self.selection {
            text.push_str(&format!(" WHERE {selection}"));
        }
        if !self.order_by.is_empty() {
            let terms: Vec<String> = self.order_by.iter().map(ToString::to_string).collect();
            text.push_str(&format!(" ORDER BY {}", terms.join(", ")));
        }
        if let Some(limit) = &self.limit {
            text.push_str(&format!(" LIMIT {limit}"));
        }
        text
    }

    /// With shared locks in all subqueries: a lock on the outer query does not reach them.
    fn with_locks(&self) -> BeforeWrite {
        let mut locked = self.clone();
        let mut locks = Locks;
        let _ = locked.with.visit(&mut locks);
        let _ = locked.selection.visit(&mut locks);
        let _ = locked.order_by.visit(&mut locks);
        locked
    }
}

/// Adds a shared lock to every query that reads a table.
struct Locks;

impl VisitorMut for Locks {
    type Break = ();

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        match query.body.as_mut() {
            SetExpr::SetOperation { .. } => lock_operands(&mut query.body),
            body if reads_table(body) => query.locks.push(share()),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn share() -> LockClause {
    LockClause { lock_type: LockType::Share, of: None, nonblock: None }
}

/// A lock at the end of a set operation would belong to its last operand at most: each gets its own.
fn lock_operands(body: &mut SetExpr) {
    match body {
        SetExpr::SetOperation { left, right, .. } => {
            lock_operands(left);
            lock_operands(right);
        }
        SetExpr::Select(_) if reads_table(body) => *body = SetExpr::Query(Box::new(locked(body.clone()))),
        _ => {}
    }
}

fn locked(body: SetExpr) -> Query {
    Query {
        with: None,
        body: Box::new(body),
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks: vec![share()],
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators: Vec::new(),
    }
}

fn reads_table(body: &SetExpr) -> bool {
    let SetExpr::Select(select) = body else { return false };
    let mut factors = Vec::new();
    select.from.iter().for_each(|from| flatten(from, &mut factors));
    factors.into_iter().any(|factor| matches!(factor, TableFactor::Table { args: None, .. }))
}
