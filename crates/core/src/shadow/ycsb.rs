//! `ycsb-sql`: the workload of the paper's experiments (§7), YCSB with relations.
//!
//! ```text
//!   z  1 ── n  y         T_s   60 %   2 item-reads on y, 2 predicate-reads on y and z
//!   pk         pk        T_u   20 %   4 updates on y
//!   attr0      fk0 → z   T_id  20 %   2 inserts and 2 deletes on y
//!              attr0
//! ```
//!
//! `attr0` of `y` is one of Britain, China, Japan and Russia, all equally frequent; one key in five of `y` is dynamic;
//! `y` has a hundred times as many keys as `z` (2,000 and 20).
//!
//! Where the text is silent, this was chosen:
//!
//! - Half of the dynamic keys have a row at the start.
//! - Predicate-reads are the query of the paper's Figure 1: `y` joined with `z`, with a range or an equality on `attr0`.
//!   Since `attr0` has four values, that alone would return a quarter of the table; so both are combined with a range of
//!   keys (AND). One in three has only a range of keys: its static rows must all be found.
//! - Inserts and deletes take whatever key is drawn: a row that is there is deleted, another one inserted. So there are
//!   as many of both, and the number of rows stays where it is.
//! - `z` is only read. Its `attr0` is a text of eight letters.

use super::column::{ColumnError, Form, VirtualColumn};
use super::distribution::Distribution;
use super::keys::KeyPlan;
use super::predicate::{self, Comparison, Subject};
use super::schema::{AttributePlan, LinkPlan, NamedColumn, ReferencePlan, Schema, Table};
use super::template::{Action, Operation, Template};

/// The values of `attr0`.
const COUNTRIES: [&str; 4] = ["Britain", "China", "Japan", "Russia"];
/// How many keys of `y` there are for each of `z`.
const KEYS_PER_PARENT: u64 = 100;
/// The position of `y`; `z` comes first.
const Y: usize = 1;

/// How `y` is divided and accessed.
pub fn keys(count: u64, dynamic: f64, access: Distribution) -> KeyPlan {
    KeyPlan { count, dynamic, present: 0.5, access }
}

/// The tables; `y` has these keys.
pub fn schema(keys: KeyPlan) -> Result<Schema, ColumnError> {
    let whole = |domain| VirtualColumn::new(Form::Integer { first: 1, step: 1 }, domain);
    let named = |name: &str, column| NamedColumn { name: name.to_string(), column };
    let attribute = |column: VirtualColumn| AttributePlan {
        columns: vec![named("attr0", column)],
        distribution: Distribution::Uniform,
        fixed: false,
    };
    let parents = (keys.count / KEYS_PER_PARENT).max(1);
    let z = Table {
        name: "z".to_string(),
        key: vec![named("pk", whole(parents)?)],
        keys: KeyPlan::fixed(parents),
        attributes: vec![attribute(VirtualColumn::new(Form::Text { prefix: String::new(), length: 8 }, 1_000)?)],
        references: Vec::new(),
    };
    let countries = Form::Words(COUNTRIES.map(str::to_string).to_vec());
    let y = Table {
        name: "y".to_string(),
        key: vec![named("pk", whole(keys.count)?)],
        keys,
        attributes: vec![attribute(VirtualColumn::new(countries, COUNTRIES.len() as u64)?)],
        references: vec![ReferencePlan {
            columns: vec!["fk0".to_string()],
            table: "z".to_string(),
            link: LinkPlan::Drawn { distribution: Distribution::Uniform, dynamic_parents: false },
        }],
    };
    Ok(Schema { tables: vec![z, y] })
}

/// The transactions. Each of the three kinds of predicate-read meets each of the others.
pub fn templates() -> Vec<Template> {
    let on_y = |action: Action| Operation { table: Y, action };
    let condition = |kind: usize| {
        let range = predicate::Template::Leaf(Subject::Key, Comparison::Within);
        let country = |comparison| predicate::Template::Leaf(Subject::Attribute(0), comparison);
        match kind % 3 {
            0 => predicate::Template::And(vec![country(Comparison::Within), range]),
            1 => predicate::Template::And(vec![country(Comparison::Equal), range]),
            _ => range,
        }
    };
    // `y` has one reference.
    let predicate_read = |kind| on_y(Action::PredicateRead { condition: condition(kind), join: Some(0) });
    let update = || on_y(Action::Update { attributes: vec![0], references: Vec::new() });
    let read = || on_y(Action::ItemRead);
    let mut templates: Vec<Template> = (0..3)
        .map(|kind| Template::straight("T_s", 20, [read(), predicate_read(kind), read(), predicate_read(kind + 1)]))
        .collect();
    templates.push(Template::straight("T_u", 20, [update(), update(), update(), update()]));
    let (insert, delete) = (|| on_y(Action::Insert), || on_y(Action::Delete));
    templates.push(Template::straight("T_id", 20, [insert(), delete(), insert(), delete()]));
    templates
}

/// Transactions of four updates, and nothing else: for comparisons with other tools.
pub fn updates() -> Vec<Template> {
    templates().into_iter().filter(|template| template.name == "T_u").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shadow::measure::OperationKind;

    #[test]
    fn it_is_what_the_paper_describes() {
        let schema = schema(keys(2_000, 0.2, Distribution::Uniform)).expect("columns");
        assert_eq!(schema.load_order(), Ok(vec![0, Y]));
        assert_eq!(schema.tables.iter().map(|table| table.keys.count).collect::<Vec<_>>(), [20, 2_000]);
        assert_eq!(schema.tables[Y].keys.dynamic_count(), 400);
        let weight = |name: &str| -> u64 {
            templates().iter().filter(|template| template.name == name).map(|template| template.weight).sum()
        };
        assert_eq!(["T_s", "T_u", "T_id"].map(weight), [60, 20, 20]);
        for template in templates() {
            let count = |kind| template.operations().iter().filter(|operation| operation.kind() == kind).count();
            let counts = OperationKind::ALL.map(count);
            let expect = match template.name.as_str() {
                "T_s" => [2, 2, 0, 0, 0],
                "T_u" => [0, 0, 0, 4, 0],
                _ => [0, 0, 2, 0, 2],
            };
            assert_eq!(counts, expect, "{}", template.name);
        }
    }
}
