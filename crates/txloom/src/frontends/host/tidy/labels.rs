//! Blocks and loops without needless names.

use txloom_core::program::{Statement, StatementKind};

use super::walk;

/// Removes blocks that nobody leaves from the middle, and names that nobody says.
pub(super) fn tidy(body: &mut Vec<Statement>) {
    walk::each_list(body, &mut structure);
    walk::each_list(body, &mut flatten);
    plain_leaves(body, None);
    unname(body);
}

/// Leaving a block at its end is no leaving; leaving it from a branch is an ELSE for the rest.
fn structure(list: &mut Vec<Statement>) {
    for statement in list {
        if let StatementKind::Block { label, body } = &mut statement.kind {
            let label = label.clone();
            strip(body, &label);
        }
    }
}

fn strip(body: &mut Vec<Statement>, label: &str) {
    let ends = |body: &[Statement]| {
        let last = body.last().map(|last| &last.kind);
        matches!(last, Some(StatementKind::Leave(Some(name))) if name == label)
    };
    if ends(body) {
        body.pop();
    }
    // What comes behind a branch that leaves belongs to the other one.
    for at in (0..body.len()).rev() {
        let rest_length = body.len() - at - 1;
        let StatementKind::If { branches, otherwise } = &body[at].kind else { continue };
        let leaving = branches.iter().filter(|branch| ends(&branch.body)).count();
        if leaving == 0 || rest_length == 0 || leaving != branches.len() || always_ends(otherwise) {
            continue;
        }
        let rest = body.split_off(at + 1);
        if let StatementKind::If { otherwise, .. } = &mut body[at].kind {
            otherwise.extend(rest);
        }
    }
    match body.last_mut().map(|last| &mut last.kind) {
        Some(StatementKind::If { branches, otherwise }) => {
            branches.iter_mut().for_each(|branch| strip(&mut branch.body, label));
            strip(otherwise, label);
        }
        Some(StatementKind::Block { body, .. }) => strip(body, label),
        _ => {}
    }
}

/// Whether nothing comes behind statements.
pub(super) fn always_ends(body: &[Statement]) -> bool {
    match body.last().map(|last| &last.kind) {
        Some(
            StatementKind::Leave(_) | StatementKind::Iterate(_) | StatementKind::Return(_) | StatementKind::Raise(_),
        ) => true,
        Some(StatementKind::If { branches, otherwise }) => {
            !otherwise.is_empty() && always_ends(otherwise) && branches.iter().all(|branch| always_ends(&branch.body))
        }
        _ => false,
    }
}

/// Blocks that nobody leaves are their statements.
fn flatten(list: &mut Vec<Statement>) {
    let mut flat = Vec::with_capacity(list.len());
    for statement in list.drain(..) {
        match statement.kind {
            StatementKind::Block { label, body } if !is_left(&body, &label) => flat.extend(body),
            kind => flat.push(Statement { kind, span: statement.span }),
        }
    }
    *list = flat;
}

fn is_left(body: &[Statement], label: &str) -> bool {
    let mut found = false;
    walk::each(body, &mut |statement| {
        if let StatementKind::Leave(Some(name)) | StatementKind::Iterate(Some(name)) = &statement.kind {
            found |= name == label;
        }
    });
    found
}

/// `LEAVE` of the innermost loop needs no name.
fn plain_leaves(body: &mut [Statement], innermost: Option<&str>) {
    for statement in body {
        match &mut statement.kind {
            StatementKind::Leave(name) | StatementKind::Iterate(name)
                if name.is_some() && name.as_deref() == innermost =>
            {
                *name = None;
            }
            StatementKind::While { label, body, .. }
            | StatementKind::Loop { label, body }
            | StatementKind::ForEach { label, body, .. } => {
                let label = label.clone();
                plain_leaves(body, label.as_deref());
            }
            StatementKind::If { branches, otherwise } => {
                branches.iter_mut().for_each(|branch| plain_leaves(&mut branch.body, innermost));
                plain_leaves(otherwise, innermost);
            }
            StatementKind::Block { body, .. } => plain_leaves(body, innermost),
            _ => {}
        }
    }
}

fn unname(body: &mut [Statement]) {
    for statement in body {
        if let StatementKind::While { label, body, .. }
        | StatementKind::Loop { label, body }
        | StatementKind::ForEach { label, body, .. } = &mut statement.kind
            && label.as_ref().is_some_and(|name| !is_left(body, name))
        {
            *label = None;
        }
        for inner in statement.bodies_mut() {
            unname(inner);
        }
    }
}
