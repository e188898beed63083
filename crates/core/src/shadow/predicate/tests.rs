use super::*;
use crate::shadow::column::{Form, VirtualColumn};
use crate::shadow::distribution::Distribution;
use crate::shadow::keys::KeyPlan;
use crate::shadow::locks::Locking;
use crate::shadow::schema::{AttributePlan, NamedColumn, Schema, Table};
use crate::shadow::table::Shadow;

const A: Subject = Subject::Attribute(0);
const B: Subject = Subject::Attribute(1);
const C: Subject = Subject::Attribute(2);
const ALL: [Comparison; 6] = [
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Less,
    Comparison::AtLeast,
    Comparison::Within,
    Comparison::Outside,
];

fn named(name: &str, domain: u64) -> NamedColumn {
    let column = VirtualColumn::new(Form::Integer { first: 0, step: 1 }, domain).unwrap();
    NamedColumn { name: name.into(), column }
}

/// 2,000 keys; attributes of 4, 100 and 1,000 values.
fn shadow(fixed: bool) -> Shadow {
    let attribute =
        |name: &str, domain, distribution| AttributePlan { columns: vec![named(name, domain)], distribution, fixed };
    let table = Table {
        name: "y".into(),
        key: vec![named("id", 2_000)],
        keys: KeyPlan { count: 2_000, dynamic: 0.2, present: 0.5, access: Distribution::Uniform },
        attributes: vec![
            attribute("a", 4, Distribution::Uniform),
            attribute("b", 100, Distribution::Zipf(0.5)),
            attribute("c", 1_000, Distribution::Uniform),
        ],
        references: Vec::new(),
    };
    Shadow::new(Schema { tables: vec![table] }, Locking::Early, 3).unwrap()
}

fn random_template(random: &mut Random, depth: usize) -> Template {
    let parts = |random: &mut Random| (0..2 + random.below(2)).map(|_| random_template(random, depth - 1)).collect();
    match random.below(if depth == 0 { 1 } else { 4 }) {
        1 => Template::And(parts(random)),
        2 => Template::Or(parts(random)),
        3 => Template::Not(Box::new(random_template(random, depth - 1))),
        _ => Template::Leaf([Subject::Key, A, B, C][random.below(4)], ALL[random.below(6)]),
    }
}

#[test]
fn not_is_pushed_to_the_leaves() {
    let leaf = |subject, comparison| Template::Leaf(subject, comparison);
    let inner = Template::Or(vec![leaf(A, Comparison::AtLeast), Template::Not(Box::new(leaf(B, Comparison::Equal)))]);
    let template = Template::And(vec![Template::Not(Box::new(inner)), leaf(C, Comparison::Within)]);
    let pushed = Template::And(vec![leaf(A, Comparison::Less), leaf(B, Comparison::Equal)]);
    assert_eq!(template.normalized(false), Template::And(vec![pushed, leaf(C, Comparison::Within)]));
    assert!(ALL.iter().all(|comparison| comparison.negated().negated() == *comparison));
}

/// The rows that a condition finds among all rows with their initial values.
fn found(table: &TableShadow, predicate: &Predicate) -> usize {
    let value = |key: u64| {
        move |subject: Subject| match subject {
            Subject::Key => key,
            Subject::Attribute(at) => table.attributes()[at].initial(key),
        }
    };
    let there = (0..2_000).filter(|key| table.keys().exists_at_start(*key));
    there.filter(|key| predicate.holds(&value(*key))).count()
}

#[test]
fn conditions_on_what_is_known_always_find_something() {
    let shadow = shadow(true);
    let table = &shadow.tables()[0];
    let mut random = Random::new(1, &[]);
    for _ in 0..300 {
        let template = random_template(&mut random, 3);
        let made = instantiate(table, &template, Wanted::default(), &mut random);
        assert_eq!(made.miss, 0.0);
        assert!(made.hits >= 1.0 && found(table, &made.predicate) > 0, "{:?}", made.predicate);
    }
}

/// Updated attributes are as good as new ones: what was promised is kept, on average over conditions.
#[test]
fn conditions_on_what_changes_miss_as_rarely_as_promised() {
    let shadow = shadow(false);
    let table = &shadow.tables()[0];
    let mut random = Random::new(2, &[]);
    let (mut missed, mut promised, mut narrow, mut attempts) = (0, 0, 0, 0);
    for _ in 0..400 {
        let template = Template::And(vec![random_template(&mut random, 1), random_template(&mut random, 1)]);
        let made = instantiate(table, &template, Wanted::default(), &mut random);
        let rows = found(table, &made.predicate);
        attempts += made.attempts;
        if made.miss <= 0.005 {
            promised += 1;
            missed += usize::from(rows == 0);
        }
        narrow += usize::from(rows <= 170);
    }
    assert!(promised > 300 && missed * 50 < promised, "{missed} of {promised}");
    assert!(narrow > 200, "{narrow}");
    assert!(attempts < 400 * 10, "{attempts}");
}

#[test]
fn shares_are_about_right_for_single_comparisons() {
    let shadow = shadow(true);
    let table = &shadow.tables()[0];
    let mut random = Random::new(3, &[]);
    for comparison in ALL {
        for subject in [Subject::Key, A, B, C] {
            let made = instantiate(table, &Template::Leaf(subject, comparison), Wanted::default(), &mut random);
            let share = found(table, &made.predicate) as f64 / 1_800.0;
            assert!((share - made.share).abs() < 0.03, "{made:?}: {share}");
        }
    }
}

#[test]
fn what_cannot_be_had_is_counted() {
    let shadow = shadow(false);
    let wanted = Wanted { share_max: 0.0, attempts: 5, ..Wanted::default() };
    let template = Template::Leaf(A, Comparison::Equal);
    let made = instantiate(&shadow.tables()[0], &template, wanted, &mut Random::new(1, &[]));
    assert_eq!((made.attempts, made.miss < 1e-9), (5, true));
    // An OR of nothing is no condition; it does not fail either.
    let nothing = instantiate(&shadow.tables()[0], &Template::Or(Vec::new()), wanted, &mut Random::new(1, &[]));
    assert_eq!(nothing.predicate, Predicate::Or(Vec::new()));
}
