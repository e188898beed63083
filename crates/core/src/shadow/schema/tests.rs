use super::*;
use crate::shadow::column::Form;

fn named(name: &str, domain: u64) -> NamedColumn {
    let column = VirtualColumn::new(Form::Integer { first: 0, step: 1 }, domain).unwrap();
    NamedColumn { name: name.into(), column }
}

fn table(name: &str, keys: u64, dynamic: f64, parents: &[&str]) -> Table {
    let reference = |parent: &&str| ReferencePlan {
        columns: vec![format!("{parent}_id")],
        table: parent.to_string(),
        link: LinkPlan::Drawn { distribution: Distribution::Uniform, dynamic_parents: false },
    };
    Table {
        name: name.into(),
        key: vec![named("id", 1_000)],
        keys: KeyPlan { count: keys, dynamic, present: 0.5, access: Distribution::Uniform },
        attributes: Vec::new(),
        references: parents.iter().map(reference).collect(),
    }
}

fn check(tables: Vec<Table>, expect: &str) {
    assert_eq!(Schema { tables }.load_order().unwrap_err().to_string(), expect);
}

#[test]
fn parents_are_filled_before_children() {
    let tables = vec![table("line", 9, 0.5, &["order", "item"]), table("order", 9, 0.5, &["customer"])];
    let schema = Schema { tables: [tables, vec![table("customer", 9, 0.0, &[]), table("item", 9, 0.0, &[])]].concat() };
    assert_eq!(schema.load_order(), Ok(vec![2, 1, 3, 0]));
}

#[test]
fn circles_are_named() {
    let end = "so that no table can be filled first; leave one of them out";
    check(vec![table("a", 9, 0.0, &["a"])], &format!("table a: its references lead back to it (a → a), {end}"));
    let circle = vec![
        table("x", 9, 0.0, &["a"]),
        table("a", 9, 0.0, &["b"]),
        table("b", 9, 0.0, &["c"]),
        table("c", 9, 0.0, &["a"]),
    ];
    check(circle, &format!("table a: its references lead back to it (a → b → c → a), {end}"));
}

#[test]
fn shares_and_sizes_must_make_sense() {
    let all = "all of its keys are dynamic, so that nothing is certain to be there; use a dynamic share below 1";
    check(vec![table("t", 9, 1.0, &[])], &format!("table t: {all}"));
    let share = "the share of dynamic keys is -0.1; it must be between 0 and 1";
    check(vec![table("t", 9, -0.1, &[])], &format!("table t: {share}"));
    check(vec![table("t", 0, 0.0, &[])], "table t: it has no keys; there must be at least one");
    let small = "its key has 1000 different values, too few for 1001 keys; widen the key or use fewer keys";
    check(vec![table("t", 1_001, 0.0, &[])], &format!("table t: {small}"));
    let twice = "there are two tables of this name; give them different ones";
    check(vec![table("t", 9, 0.0, &[]), table("t", 9, 0.0, &[])], &format!("table t: {twice}"));
}

#[test]
fn a_static_table_is_fine_until_rows_should_come_and_go() {
    let schema = Schema { tables: vec![table("t", 9, 0.0, &[]), table("u", 9, 0.1, &[])] };
    assert_eq!(schema.load_order(), Ok(vec![0, 1]));
    assert_eq!(schema.check_changes(1), Ok(()));
    let expect = "none of its keys is dynamic, so that nothing can be inserted or deleted; use a dynamic share above 0";
    assert_eq!(schema.check_changes(0).unwrap_err().to_string(), format!("table t: {expect}"));
}

#[test]
fn references_must_fit() {
    check(
        vec![table("t", 9, 0.0, &["nowhere"])],
        "table t: it refers to a table nowhere, which there is not; name one of the schema's",
    );
    let mut child = table("child", 9, 0.0, &["t"]);
    child.references[0].columns.push("more".into());
    let expect = "its reference to t has 2 columns, and the key there has 1; they must be as many";
    check(vec![table("t", 9, 0.0, &[]), child], &format!("table child: {expect}"));
}

#[test]
fn a_key_may_begin_with_its_parents_key() {
    let schema = |parent_keys, dynamic, first: NamedColumn| {
        let mut parent = table("warehouse", parent_keys, dynamic, &[]);
        parent.key = vec![named("w", 10)];
        let mut child = table("district", 100, 0.3, &["warehouse"]);
        child.key = vec![first, named("d", 10)];
        child.references[0] =
            ReferencePlan { columns: vec!["w".into()], table: "warehouse".into(), link: LinkPlan::Prefix };
        vec![parent, child]
    };
    assert_eq!(Schema { tables: schema(10, 0.0, named("w", 10)) }.load_order(), Ok(vec![0, 1]));
    let text =
        |why| format!("table district: its key does not begin with the key of warehouse: {why}; use a drawn reference");
    check(schema(10, 0.0, named("v", 10)), &text("their columns differ"));
    check(schema(10, 0.0, named("w", 11)), &text("their columns differ"));
    check(schema(10, 0.5, named("w", 10)), &text("keys there come and go"));
    check(schema(9, 0.0, named("w", 10)), &text("not all keys are in use there"));
}
