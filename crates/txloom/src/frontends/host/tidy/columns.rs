//! Columns that go to a variable of the source at once.
//!
//! `SELECT b INTO :rs_b …; … SET x = :rs_b` is `SELECT b INTO :x …`, if nothing in between mentions `x` and nothing else
//! asks for `rs_b`. `IF FOUND() THEN SET x = :rs_b; ELSE SET x = NULL; END IF` is what INTO does anyway; without the
//! ELSE it is `INTO KEEP`, if there is one row at most.

use std::collections::{BTreeMap, BTreeSet};

use txloom_core::program::{Expr, ExprKind, IntoRule, SqlPart, SqlStatement, Statement, StatementKind};
use txloom_core::value::Value;

use super::{labels, walk};

/// Renames columns to the variables that they go to.
pub(super) fn tidy(body: &mut Vec<Statement>, made_up: &BTreeSet<String>) {
    let uses = walk::uses(body);
    let definitions = walk::definitions(body);
    let once = |name: &str| uses.get(name) == Some(&1) && definitions.get(name) == Some(&1);
    walk::each_list(body, &mut |list| {
        let mut at = 0;
        while at < list.len() {
            let sources: Vec<String> = walk::defined(&list[at])
                .into_iter()
                .map(|variable| variable.name.clone())
                .filter(|name| made_up.contains(name) && once(name))
                .collect();
            asked(list, at, &sources);
            let declared = match &list[at].kind {
                StatementKind::Sql(_) | StatementKind::Fetch { .. } => behind(list, at, &sources),
                StatementKind::ForEach { .. } => inside(&mut list[at], &sources),
                _ => Vec::new(),
            };
            let count = declared.len();
            for statement in declared {
                list.insert(at, statement);
            }
            at += count + 1;
        }
    });
}

/// Removes an IF behind a statement that does what an INTO can do itself.
fn asked(list: &mut Vec<Statement>, at: usize, sources: &[String]) {
    let Some(rule) = walk::sql(&list[at]).and_then(SqlStatement::into_clause).map(|into| into.rule) else {
        return;
    };
    let Some(StatementKind::If { branches, otherwise }) = list.get(at + 1).map(|next| &next.kind) else { return };
    let [branch] = branches.as_slice() else { return };
    let (found, missing) = match &branch.condition.kind {
        ExprKind::Found => (&branch.body, otherwise),
        ExprKind::Not(operand) if operand.kind == ExprKind::Found => (otherwise, &branch.body),
        _ => return,
    };
    let Some(renames) = found.iter().map(|one| assigned_source(one, sources)).collect::<Option<BTreeMap<_, _>>>()
    else {
        return;
    };
    let targets: BTreeSet<&String> = renames.values().collect();
    let nulls: Option<BTreeSet<&String>> = missing.iter().map(assigned_null).collect();
    let is_distinct = targets.len() == found.len() && !found.is_empty();
    let keeps = missing.is_empty() && rule == IntoRule::Single;
    let clears = nulls.is_some_and(|nulls| nulls == targets) && matches!(rule, IntoRule::Single | IntoRule::First);
    if !is_distinct || !(keeps || clears) {
        return;
    }
    rename(&mut list[at], &renames);
    if keeps && let StatementKind::Sql(sql) = &mut list[at].kind {
        for part in &mut sql.parts {
            if let SqlPart::Into(into) = part {
                into.rule = IntoRule::Keep;
            }
        }
    }
    list.remove(at + 1);
}

/// `SET x = :source`
fn assigned_source(statement: &Statement, sources: &[String]) -> Option<(String, String)> {
    match &statement.kind {
        StatementKind::Assign { variable, value } => Some((copied(value, sources)?, variable.name.clone())),
        _ => None,
    }
}

/// `SET x = NULL`
fn assigned_null(statement: &Statement) -> Option<&String> {
    match &statement.kind {
        StatementKind::Assign { variable, value: Expr { kind: ExprKind::Literal(Value::Null), .. } } => {
            Some(&variable.name)
        }
        _ => None,
    }
}

/// Looks for assignments behind a statement; gives the declarations that must stand before it.
fn behind(list: &mut Vec<Statement>, at: usize, sources: &[String]) -> Vec<Statement> {
    let (renames, declared) = moved(list, at + 1, sources);
    rename(&mut list[at], &renames);
    declared
}

/// The same for the body of a loop over rows.
fn inside(statement: &mut Statement, sources: &[String]) -> Vec<Statement> {
    let StatementKind::ForEach { body, .. } = &mut statement.kind else { return Vec::new() };
    let (renames, declared) = moved(body, 0, sources);
    rename(statement, &renames);
    declared
}

/// Takes assignments of sources out of a list, from a position on: what each source is called now, and declarations.
fn moved(list: &mut Vec<Statement>, from: usize, sources: &[String]) -> (BTreeMap<String, String>, Vec<Statement>) {
    let mut renames = BTreeMap::new();
    let mut declared = Vec::new();
    let mut mentioned: BTreeSet<String> = BTreeSet::new();
    let mut at = from;
    while at < list.len() && renames.len() < sources.len() {
        let taken = match &list[at].kind {
            StatementKind::Assign { variable, value } => copied(value, sources).map(|from| (from, variable, None)),
            StatementKind::Declare { variable, type_name, default: Some(value) } => {
                copied(value, sources).map(|from| (from, variable, Some(type_name.clone())))
            }
            _ => None,
        };
        match taken {
            Some((from, variable, type_name))
                if !mentioned.contains(&variable.name) && !renames.values().any(|name| *name == variable.name) =>
            {
                renames.insert(from, variable.name.clone());
                if let Some(type_name) = type_name {
                    let kind = StatementKind::Declare { variable: variable.clone(), type_name, default: None };
                    declared.push(Statement { kind, span: list[at].span });
                }
                list.remove(at);
                continue;
            }
            _ => {}
        }
        let goes_on = match &list[at].kind {
            StatementKind::Assign { .. } | StatementKind::Declare { .. } => true,
            // What fails or leaves does not come to the assignments.
            StatementKind::If { branches, otherwise } => {
                otherwise.is_empty() && branches.iter().all(|branch| labels::always_ends(&branch.body))
            }
            _ => false,
        };
        if !goes_on {
            break;
        }
        mentioned.extend(walk::mentioned(std::slice::from_ref(&list[at])));
        at += 1;
    }
    (renames, declared)
}

/// The source that an expression is nothing but a mention of.
fn copied(value: &Expr, sources: &[String]) -> Option<String> {
    match &value.kind {
        ExprKind::Variable(name) => sources.contains(name).then(|| name.clone()),
        _ => None,
    }
}

fn rename(statement: &mut Statement, renames: &BTreeMap<String, String>) {
    for variable in walk::defined_mut(statement) {
        if let Some(name) = renames.get(&variable.name) {
            variable.name = name.clone();
        }
    }
}
