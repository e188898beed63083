//! Functions that take and release advisory locks.

use sqlparser::ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments};

use super::{Analyzer, Effect, Lock, Place};
use crate::program::ir::BinaryOp;
use crate::program::located::last_plain;
use crate::program::predicate::{ColumnRef, Element, Predicate, Term};
use crate::program::schema::advisory;
use crate::value::Value;

/// The functions, with the lock that they take or release. Those that only try are not here: what they answer depends on
/// others.
const FUNCTIONS: &[(&str, Lock)] = &[
    ("pg_advisory_xact_lock", Lock::Update),
    ("pg_advisory_xact_lock_shared", Lock::Share),
    ("pg_advisory_lock", Lock::Session),
    ("pg_advisory_unlock", Lock::Release),
    ("pg_advisory_unlock_all", Lock::Release),
    ("get_lock", Lock::Session),
    ("release_lock", Lock::Release),
    ("release_all_locks", Lock::Release),
];

/// Functions that make a number of a text. Two texts that have the same number are not thought of.
const HASHES: &[&str] = &["hashtext", "hashtextextended", "crc32", "md5", "sha1", "sha2"];

impl Analyzer<'_> {
    /// The answer of a function that takes or releases an advisory lock; `None` for other functions.
    pub(super) fn advisory_lock(&mut self, function: &Function) -> Option<Term> {
        let name = last_plain(&function.name);
        let (_, lock) = FUNCTIONS.iter().find(|(known, _)| *known == name)?;
        let is_mysql = !name.starts_with("pg_");
        let arguments = arguments(function);
        // How long GET_LOCK waits is no part of the key.
        let keys = &arguments[..arguments.len().min(if is_mysql { 1 } else { 2 })];
        let hashed: Vec<Option<&Expr>> = keys.iter().map(|key| hashed(key)).collect();
        let is_named = is_mysql || hashed.iter().any(Option::is_some);
        let keys = keys.iter().zip(hashed).map(|(key, hashed)| self.term(hashed.unwrap_or(key))).collect::<Vec<_>>();
        let table = match keys.len() {
            _ if is_named => advisory::NAMED,
            2 => advisory::PAIRED,
            _ => advisory::NUMBERED,
        };
        let span = self.located.span(&function.name);
        let at = self.mention(table, span, Effect::Read);
        let mut conditions = Vec::new();
        for (column, key) in advisory::COLUMNS.iter().zip(keys) {
            let element = Element { table: table.to_string(), column: column.to_string() };
            self.access.tables[at].tests.insert(column.to_string());
            self.record_uses(&key, &Place::Test([element.clone()].into()));
            let left = Term::Column(ColumnRef { access: at, element, span });
            conditions.push(Predicate::Compare { op: BinaryOp::Equal, left, right: key });
        }
        self.access.tables[at].lock = Some(*lock);
        self.access.tables[at].predicate = Predicate::all(conditions);
        // GET_LOCK says 1; a lock that is not granted in time is an error to the others, and not thought of.
        Some(Term::Constant(if is_mysql { Value::int(1) } else { Value::Null }))
    }
}

fn arguments(function: &Function) -> Vec<&Expr> {
    let FunctionArguments::List(list) = &function.args else { return Vec::new() };
    let expr = |argument| match argument {
        &FunctionArg::Unnamed(FunctionArgExpr::Expr(ref expr)) => Some(expr),
        _ => None,
    };
    list.args.iter().filter_map(expr).collect()
}

/// What a number was made of by a hash function.
fn hashed(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => hashed(inner),
        Expr::Function(function) if HASHES.contains(&last_plain(&function.name).as_str()) => {
            let first = *arguments(function).first()?;
            Some(hashed(first).unwrap_or(first))
        }
        _ => None,
    }
}
