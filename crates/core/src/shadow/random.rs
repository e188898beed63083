//! Random transaction templates, as a profile describes statements and conditions (the paper's §3).
//!
//! The features that a profile has for deterministic cases serve here, too: which statements there are, how deep
//! conditions go, how they are put together. Those that begin with `storm` concern templates alone.

use super::predicate::{self, Comparison, Subject};
use super::schema::{Schema, Table};
use super::template::{Action, Operation, Step, Template};
use crate::generate::features;
use crate::generate::model::Model;
use crate::generate::random::Random;

/// The templates of a workload on a schema.
pub fn templates(model: &Model, schema: &Schema, random: &mut Random) -> Vec<Template> {
    let count = model.count(&features::STORM_TEMPLATES, random).max(1);
    let template = |number: usize| {
        let statements = model.count(&features::STATEMENTS, random).max(1);
        Template { name: format!("T{}", number + 1), weight: 1, steps: steps(model, schema, statements, random) }
    };
    (0..count).map(template).collect()
}

/// Some steps; every operation stands once, in a branch, in a loop, or in neither.
fn steps(model: &Model, schema: &Schema, statements: usize, random: &mut Random) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut left = statements;
    while left > 0 {
        let step = Step::Run(operation(model, schema, random));
        left -= 1;
        steps.push(if model.flag(&features::STORM_LOOP, random) {
            let most = model.count(&features::STORM_ROUNDS, random).max(1);
            Step::Loop { least: 1, most, body: vec![step] }
        } else if left > 0 && model.flag(&features::STORM_BRANCH, random) {
            left -= 1;
            Step::If { then: vec![step], otherwise: vec![Step::Run(operation(model, schema, random))] }
        } else {
            step
        });
    }
    steps
}

fn operation(model: &Model, schema: &Schema, random: &mut Random) -> Operation {
    let table = random.below(schema.tables.len());
    let of = &schema.tables[table];
    let can_change = of.keys.dynamic_count() > 0;
    let known = |word: &str| match word {
        "select" | "select_share" | "select_update" | "update" => true,
        "insert" | "delete" => can_change,
        _ => false,
    };
    let action = match model.word(&features::STATEMENT, random, known) {
        Some("insert") => Action::Insert,
        Some("delete") => Action::Delete,
        Some("update") => update(model, of, random),
        _ => read(model, of, random),
    };
    Operation { table, action }
}

fn update(model: &Model, table: &Table, random: &mut Random) -> Action {
    let wanted = model.count(&features::UPDATE_COLUMNS, random).max(1);
    let mut all: Vec<usize> = (0..table.attributes.len()).filter(|at| !table.attributes[*at].fixed).collect();
    random.shuffle(&mut all);
    all.truncate(wanted);
    let mut references: Vec<usize> = (0..table.references.len()).collect();
    references.retain(|_| random.chance(1, 4));
    Action::Update { attributes: all, references }
}

fn read(model: &Model, table: &Table, random: &mut Random) -> Action {
    let shape = model.word(&features::PREDICATE_SHAPE, random, |word| word != "none");
    let condition = match shape {
        Some("key") | None => return Action::ItemRead,
        Some("key_range") => predicate::Template::Leaf(Subject::Key, Comparison::Within),
        Some(_) => {
            let depth = model.count(&features::PREDICATE_DEPTH, random).max(1);
            condition(model, table, depth, random)
        }
    };
    let joins = model.count(&features::SELECT_TABLES, random) > 1;
    let join = (joins && !table.references.is_empty()).then(|| random.below(table.references.len()));
    Action::PredicateRead { condition, join }
}

fn condition(model: &Model, table: &Table, depth: usize, random: &mut Random) -> predicate::Template {
    if depth <= 1 {
        return leaf(model, table, random);
    }
    let part = |random: &mut Random| condition(model, table, depth - 1, random);
    match model.word(&features::CONNECTIVE, random, |_| true) {
        Some("or") => predicate::Template::Or(vec![part(random), part(random)]),
        Some("not") => predicate::Template::Not(Box::new(part(random))),
        Some("atom") => leaf(model, table, random),
        _ => predicate::Template::And(vec![part(random), part(random)]),
    }
}

fn leaf(model: &Model, table: &Table, random: &mut Random) -> predicate::Template {
    let subject = match random.below(table.attributes.len() + 1) {
        0 => Subject::Key,
        at => Subject::Attribute(at - 1),
    };
    let known = |word: &str| matches!(word, "compare" | "between" | "in");
    let comparison = match model.word(&features::ATOM, random, known) {
        Some("between") => Comparison::Within,
        Some("in") => Comparison::Equal,
        _ => match model.word(&features::COMPARISON, random, |_| true) {
            Some("less" | "less_or_equal") => Comparison::Less,
            Some("greater" | "greater_or_equal") => Comparison::AtLeast,
            Some("not_equal") => Comparison::NotEqual,
            _ => Comparison::Equal,
        },
    };
    predicate::Template::Leaf(subject, comparison)
}
