//! A stronger level: for one transaction, for those of the cycle, for everything.

use std::collections::BTreeSet;

use super::{CYCLE_LEVEL, Change, Cycle, Edit, Ground, Home, PROGRAM_LEVEL, TRANSACTION_LEVEL};
use crate::program::code::OperationKind;
use crate::program::ir::{Procedure, StatementKind};
use crate::search::level::axioms::LEVELS;
use crate::search::level::engines::{EngineRules, RULES};
use crate::search::level::{Axioms, Target};

/// Engines whose transactions cannot have levels of their own.
const NO_LEVELS: &[&str] = &["sqlite", "model"];
/// Engines where a level is set inside of the transaction.
const INSIDE: &[&str] = &["postgres"];

/// Whether an engine wants to hear the level of a transaction inside of it.
pub fn is_said_inside(engine: &str) -> bool {
    INSIDE.contains(&engine)
}

/// All stronger levels for all that can have one.
pub(super) fn levels(ground: &Ground<'_>, cycle: &Cycle) -> Vec<Change> {
    match ground.level {
        Target::Store(axioms) => {
            above(axioms).enumerate().map(|(at, level)| everything(at, Target::Store(level))).collect()
        }
        Target::Engine(rules) => {
            stronger(rules).enumerate().flat_map(|(at, level)| of_engine(ground, cycle, at, level)).collect()
        }
    }
}

/// The levels of stores behind that one.
fn above(axioms: &'static Axioms) -> impl Iterator<Item = &'static Axioms> {
    let at = LEVELS.iter().position(|level| level.name == axioms.name);
    let stronger = LEVELS.iter().skip(at.map_or(LEVELS.len(), |at| at + 1));
    stronger.map(|level| if axioms.sticky { level.staying() } else { level })
}

/// The levels of an engine behind that one.
fn stronger(rules: &'static EngineRules) -> impl Iterator<Item = &'static EngineRules> {
    let like = RULES.iter().filter(|other| other.engine == rules.engine && other.settings == rules.settings);
    like.skip_while(|other| other.level != rules.level).skip(1)
}

fn of_engine(ground: &Ground<'_>, cycle: &Cycle, rank: usize, rules: &'static EngineRules) -> Vec<Change> {
    let mut changes = vec![everything(rank, Target::Engine(rules))];
    if NO_LEVELS.contains(&rules.engine) {
        return changes;
    }
    let procedures = ground.procedures(cycle);
    let edits: Vec<(u16, Edit)> = procedures
        .iter()
        .filter_map(|one| Some((*one, at_start(ground.procedures.get(usize::from(*one))?.procedure, *one, rules)?)))
        .collect();
    let change = |kind: &'static super::Kind, chosen: &[(u16, Edit)]| {
        let names: Vec<&str> = chosen.iter().map(|(one, _)| ground.name(*one)).collect();
        let says = format!("run {} at {}", names.join(" and "), rules.level);
        let edits = chosen.iter().map(|(_, edit)| edit.clone()).collect();
        let all: BTreeSet<u16> = chosen.iter().map(|(one, _)| *one).collect();
        let change = Change::new(kind, says, edits, Some(all.clone()));
        Change { cost: kind.cost + rank, begins_with_more: all, sets_level: Some(rules.level), ..change }
    };
    changes.extend(edits.iter().map(|one| change(&TRANSACTION_LEVEL, std::slice::from_ref(one))));
    if procedures.len() > 1 && edits.len() == procedures.len() {
        changes.push(change(&CYCLE_LEVEL, &edits));
    }
    changes
}

fn everything(rank: usize, level: Target) -> Change {
    let change = Change::new(&PROGRAM_LEVEL, format!("run everything at {level}"), Vec::new(), None);
    Change { cost: PROGRAM_LEVEL.cost + rank, level: Some(level), ..change }
}

/// SET TRANSACTION before the first thing that a procedure does. A statement that is a transaction of its own has no
/// place for that.
fn at_start(procedure: &Procedure, at: u16, rules: &EngineRules) -> Option<Edit> {
    let mut body = procedure.body.iter().skip_while(|one| matches!(one.kind, StatementKind::Declare { .. })).peekable();
    let first = body.peek()?;
    let begins = first.kind == StatementKind::Begin;
    if (procedure.autocommit && !begins) || sets_level(procedure) {
        return None;
    }
    let first = if begins && is_said_inside(rules.engine) { body.nth(1)? } else { first };
    let text = format!("SET TRANSACTION ISOLATION LEVEL {};", rules.level.to_uppercase());
    Some(Edit::line_before(Home::Procedure(at), first.span.start, &text))
}

fn sets_level(procedure: &Procedure) -> bool {
    let all = crate::program::code::operations(procedure);
    all.iter().any(|operation| matches!(operation.kind, OperationKind::Isolation(_)))
}
