//! Procedures of languages in which anybody may call anything: the functions that say what a transaction is.
//!
//! **Problem.** In Python or C, `main` calls everything, a handler calls it through a table of functions, and a helper
//! takes a cursor. Neither "nobody calls it" nor "it sends SQL" tells which functions are transactions.
//!
//! **Idea.** A function that ends transactions *owns* them: it is a procedure, unless another owner calls it. What sends
//! SQL on behalf of no owner is a procedure, too: whoever calls it from outside ends its transaction.
//!
//! ```text
//!   def transfer(conn, …):  … balance_of(cur, …) … conn.commit()      an owner
//!   def balance_of(cur, …): cur.execute(…)                            a helper
//!   def main():             conn = connect(…); transfer(conn, …)      neither
//!   def report(cur):        cur.execute(…)                            nobody calls it: a procedure
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::index::{MethodId, World, takes};
use super::lower::plain_name;
use super::tree::{Call, ExprKind, Method};
use super::visit;
use super::vocabulary::Act;

/// What one method does itself.
#[derive(Debug, Default)]
struct Deeds {
    ends_transactions: bool,
    sends: bool,
    /// Whom it calls.
    calls: BTreeSet<MethodId>,
}

/// The procedures of a program, with their names.
pub(crate) fn roots(world: &World<'_>) -> Vec<(MethodId, String)> {
    let deeds = all_deeds(world);
    let owns = |id: &MethodId| deeds.get(id).is_some_and(|deeds| deeds.ends_transactions);
    let mut called = BTreeSet::new();
    let mut called_by_owner = BTreeSet::new();
    for (id, one) in &deeds {
        let callees = one.calls.iter().filter(|callee| *callee != id);
        if one.ends_transactions {
            called_by_owner.extend(callees.clone().copied());
        }
        called.extend(callees.copied());
    }
    let is_root = |id: &MethodId| match owns(id) {
        true => !called_by_owner.contains(id),
        false => !called.contains(id) && sends_for_nobody(*id, &deeds),
    };
    let name = |id: MethodId| plain_name(&world.method(id).name, "p_");
    deeds
        .keys()
        .filter(|id| is_root(id))
        .filter(|id| !world.method(**id).is_constructor)
        .map(|id| (*id, name(*id)))
        .collect()
}

/// Whether a method sends SQL, itself or by those that own no transactions.
fn sends_for_nobody(id: MethodId, deeds: &BTreeMap<MethodId, Deeds>) -> bool {
    let mut open = vec![id];
    let mut seen = BTreeSet::from([id]);
    while let Some(id) = open.pop() {
        let Some(one) = deeds.get(&id) else { continue };
        if one.sends {
            return true;
        }
        let helpers = one.calls.iter().filter(|callee| deeds.get(callee).is_some_and(|deeds| !deeds.ends_transactions));
        open.extend(helpers.filter(|callee| seen.insert(**callee)).copied());
    }
    false
}

fn all_deeds(world: &World<'_>) -> BTreeMap<MethodId, Deeds> {
    let mut by_name: BTreeMap<&str, Vec<(MethodId, &Method)>> = BTreeMap::new();
    for (class, _, definition) in world.classes() {
        for (method, one) in definition.methods.iter().enumerate() {
            by_name.entry(&one.name).or_default().push((MethodId { class, method }, one));
        }
    }
    let methods = by_name.values().flatten();
    methods.map(|(id, method)| (*id, deeds_of(method, world, &by_name))).collect()
}

fn deeds_of(method: &Method, world: &World<'_>, by_name: &BTreeMap<&str, Vec<(MethodId, &Method)>>) -> Deeds {
    let mut deeds = Deeds::default();
    visit::followed(&method.body, &mut |expr| {
        let ExprKind::Call(call) = &expr.kind else { return };
        let count = call.arguments.len() + call.named.len();
        let candidates = by_name.get(call.name.as_str()).map(Vec::as_slice).unwrap_or_default();
        let mut callees = candidates.iter().filter(|(_, method)| takes(method, count)).peekable();
        if callees.peek().is_some() {
            deeds.calls.extend(callees.map(|(id, _)| *id));
            return;
        }
        note(call, world, &mut deeds);
    });
    deeds
}

fn note(call: &Call, world: &World<'_>, deeds: &mut Deeds) {
    match world.vocabulary.act_anywhere(call) {
        Some(Act::Commit | Act::Rollback | Act::Begin | Act::Transaction | Act::End | Act::AutoCommit) => {
            deeds.ends_transactions = true;
        }
        Some(Act::Execute | Act::ExecuteMany | Act::Query | Act::Update | Act::QueryScalar) => deeds.sends = true,
        _ => {}
    }
}
