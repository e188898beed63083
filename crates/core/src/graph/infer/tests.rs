use super::*;
use crate::graph::notation::{edges, graph, row, statements, step};

#[track_caller]
fn check(text: &str, expect: &[&str]) {
    assert_eq!(edges(&graph(text)), expect, "{text}");
}

/// Strangers: versions with who assigned them.
#[track_caller]
fn check_odd(text: &str, strangers: &[(i64, &str)], expect: &str) {
    let strangers = strangers.iter().map(|(version, by)| (*version, step(by))).collect();
    let odd = infer(statements(text), &strangers).expect_err("the observations contradict each other");
    assert_eq!(odd.to_string(), expect, "{text}");
}

/// The paper's Figure 3, (a) to (g): one example of every kind.
#[test]
fn one_dependency_of_every_kind() {
    let update = "a1 T0 sees t1=0 writes t1:0>5";
    check(&format!("{update}\nb1 T1 uses t: sees t1=5 outputs t1=5"), &["a1 → b1 item-read t1=5"]);
    check(&format!("{update}\nb1 T1 uses t: sees t1=5 writes t1:5>6"), &["a1 → b1 item-write t1=5"]);
    check(&format!("{update}\nb1 T1 uses t: sees t1=0 outputs t1=0"), &["b1 → a1 item-anti t1=0"]);
    check(&format!("{update}\nb1 T1 uses t:r sees t1=5 outputs"), &["a1 → b1 predicate-read t1=5"]);
    check(&format!("{update}\nb1 T1 uses t:w sees t1=5"), &["a1 → b1 predicate-write t1=5"]);
    check(&format!("{update}\nb1 T1 uses t:r sees t1=0 outputs"), &["b1 → a1 predicate-anti t1=0"]);
    check(
        &format!("{update}\nb1 T1 uses t:v sees t1=5 writes t2:->6"),
        // The new row is one that the first did not find.
        &["a1 → b1 predicate-write t2=-", "a1 → b1 value-write t1=5"],
    );
    check("a1 T0 probes k=1\nb1 T1 probes k=1 k=2\nc1 T2 probes k=2", &["a1 → b1 key k=1", "b1 → c1 key k=2"]);
}

#[test]
fn choosing_or_computing_what_to_write_has_two_directions() {
    let update = "a1 T0 sees t1=0 writes t1:0>5";
    check(&format!("{update}\nb1 T1 uses t:w sees t1=0"), &["b1 → a1 predicate-write t1=0"]);
    check(&format!("{update}\nb1 T1 uses t:v sees t1=0 writes u1:->6"), &["b1 → a1 value-write t1=0"]);
}

#[test]
fn a_version_can_be_used_for_several_things() {
    check(
        "a1 T0 sees t1=0 writes t1:0>5\nb1 T1 uses t:rv sees t1=5 outputs t1=5",
        &["a1 → b1 item-read t1=5", "a1 → b1 predicate-read t1=5", "a1 → b1 value-write t1=5"],
    );
    // Between two statements there is one edge of a kind, with all rows.
    check("a1 T0 sees t1=0 t2=0 writes t1:0>5 t2:0>5\nb1 T1 sees t1=5 t2=5", &["a1 → b1 predicate-read t1=5 t2=5"]);
}

#[test]
fn what_is_not_touched_is_no_dependency() {
    // Queries, other tables, tables that do not matter, other key values.
    check("a1 T0 sees t1=0 outputs t1=0\nb1 T1 sees t1=0 outputs t1=0", &[]);
    check("a1 T0 sees t1=0 writes t1:0>5\nb1 T1 sees u1=0 outputs u1=0", &[]);
    check("a1 T0 sees t1=0 writes t1:0>5\nb1 T1 uses t: sees t1=5", &[]);
    check("a1 T0 uses t: writes t1:->5\nb1 T1 uses t: writes t2:->6", &[]);
    check("a1 T0 probes k=1\nb1 T1 probes k=2 l=1", &[]);
    // Two statements that look the same up.
    check("a1 T0 lookups k\nb1 T1 lookups k\nc1 T2 probes l=1", &[]);
    // The order of a transaction's statements.
    check(
        "a1 T0 sees t1=0 outputs t1=0\na2 T0 sees t1=0 writes t1:0>5\na3 T0 sees u1=0",
        &["a1 → a2 item-anti t1=0", "a1 → a2 predicate-anti t1=0"],
    );
}

/// INSERT IGNORE that found no parent: a1 deleted it, c1 brought it back.
#[test]
fn a_statement_that_skips_rows_keeps_its_place_among_all_that_touch_the_key() {
    check(
        "a1 T0 probes k=0\nb1 T1 lookups k\nc1 T2 probes k=0 l=1",
        &["a1 → b1 key k=0", "a1 → c1 key k=0", "b1 → c1 key k=0"],
    );
    check("a1 T0 probes k=1 lookups k", &[]);
}

#[test]
fn only_the_next_version_counts() {
    check(
        "a1 T0 uses t: sees t1=0 outputs t1=0\nb1 T1 uses t: sees t1=0 writes t1:0>5\nc1 T2 uses t: sees t1=5 writes t1:5>6",
        &["a1 → b1 item-anti t1=0", "b1 → c1 item-write t1=5"],
    );
}

#[test]
fn absence_is_a_version() {
    check("a1 T0 uses t:r sees t1=-\nb1 T1 writes t1:->5", &["a1 → b1 predicate-anti t1=-"]);
    check(
        "b1 T0 writes t1:->5\na1 T1 uses t:rw sees t1=-",
        &["a1 → b1 predicate-write t1=-", "a1 → b1 predicate-anti t1=-"],
    );
    check("b1 T0 sees t1=0 writes t1:0>-\na1 T1 uses t:v sees t1=-", &["b1 → a1 value-write t1=-"]);
    check("b1 T0 writes t1:->5\na1 T1 uses t: sees t1=-", &[]);
}

const LIFE: &str = "b1 T0 uses t: writes t1:->5
                    b2 T0 uses t: sees t1=5 writes t1:5>-";

#[test]
fn between_birth_and_death_one_edge_suffices() {
    // Nothing else is known: it came later.
    check(&format!("{LIFE}\na1 T1 sees t1=-"), &["b1 → b2 item-write t1=5", "b2 → a1 predicate-read t1=-"]);
    // What a1 returned of u is from before b3, which is before b2: so it is before the birth.
    check(
        &format!("c1 T0 uses u:w sees u1=0 writes u1:0>3 probes k=1\n{LIFE} probes k=1\na1 T1 uses t:r u:r sees u1=0"),
        &["c1 → b2 key k=1", "b1 → b2 item-write t1=5", "a1 → c1 predicate-anti u1=0", "a1 → b1 predicate-anti t1=-"],
    );
}

#[test]
fn statements_are_put_in_the_order_of_completion() {
    let mut backwards = statements("a1 T0 sees t1=0 writes t1:0>5\nb1 T1 sees t1=5 outputs t1=5");
    backwards.reverse();
    let graph = infer(backwards, &BTreeMap::new()).unwrap();
    assert_eq!(graph, crate::graph::notation::graph("a1 T0 sees t1=0 writes t1:0>5\nb1 T1 sees t1=5 outputs t1=5"));
}

/// The paper's Figure 1: t1 of T1's condition depends on u, which T0 updates; its figures 4, 9 and 17.
#[test]
fn the_example_of_the_paper() {
    let graph = graph(
        "a1 T0 uses u:w sees u1=0 writes u1:0>5
         a2 T0 uses t:r sees t1=0 t2=0 outputs t1=0
         b1 T1 uses u:r sees u1=0 outputs u1=0
         b2 T1 uses t:r u:r sees t1=0 t2=0 u1=0 outputs t1=0
         b3 T1 uses t:w u:r sees t1=0 t2=0 u1=0 writes t1:0>6",
    );
    let label = |at: &usize| graph.statements[*at].step.to_string();
    assert_eq!(graph.zero_in_degree().iter().map(label).collect::<Vec<_>>(), ["a2", "b1", "b2"]);
    let found = edges(&graph);
    assert!(found.contains(&"a2 → b3 item-anti t1=0".to_string()), "{found:?}");
    assert!(found.contains(&"b3 → a1 predicate-anti u1=0".to_string()), "{found:?}");
    assert!(graph.respects(&[1, 2, 3, 4, 0]) && !graph.respects(&[0, 1, 2, 3, 4]));
    assert!(graph.is_transaction_cyclic(|_| true));
}

#[test]
fn versions_of_those_who_did_not_commit() {
    let expect = "b1 met version 5 of t(1), which a1 wrote, and its transaction did not commit";
    check_odd("b1 T0 sees t1=5", &[(5, "a1")], expect);
    check_odd("b1 T0 uses t: writes t1:5>6", &[(5, "a1")], expect);
    // Somebody else's, and nobody saw it.
    assert!(infer(statements("b1 T0 sees t1=5"), &BTreeMap::from([(6, step("a1"))])).is_ok());
}

#[test]
fn one_version_replaced_twice() {
    check_odd(
        "a1 T0 sees t1=0 writes t1:0>5\nb1 T1 sees t1=0 writes t1:0>6",
        &[],
        "a1 and b1 both replaced version 0 of t(1)",
    );
    check_odd(
        "a1 T0 sees t1=0 writes t1:0>-\nb1 T1 sees t1=0 writes t1:0>-",
        &[],
        "a1 and b1 both replaced version 0 of t(1)",
    );
    check_odd("a1 T0 writes t1:->5\nb1 T1 writes t1:->6", &[], "a1 and b1 both replaced the absence of t(1)");
}

#[test]
fn versions_that_nobody_wrote() {
    // A row begins with one version,
    check_odd("a1 T0 sees t1=0\nb1 T1 sees t1=1", &[], "b1 met version 1 of t(1), which nobody wrote");
    check_odd("a1 T0 sees t1=0\nb1 T1 writes t1:1>2", &[], "b1 met version 1 of t(1), which nobody wrote");
    // with none if it is born,
    check_odd("a1 T0 writes t1:->5\nb1 T1 sees t1=1", &[], "b1 met version 1 of t(1), which nobody wrote");
    // and not with what a statement gave to others.
    check_odd("a1 T0 writes t1:0>5\nb1 T1 sees t1=5 t2=5", &[], "b1 met version 5 of t(2), which nobody wrote");
}

#[test]
fn rows_out_of_nowhere_and_rows_that_vanish() {
    check_odd(
        "a1 T0 sees t1=0 outputs t2=0",
        &[],
        "a1 returned version 0 of t(2), which the table did not have when it was read beside it",
    );
    check_odd("a1 T0 sees t1=0 t2=0\nb1 T1 sees t1=0", &[], "b1 did not find t(2), which nobody deleted");
    check_odd("a1 T0 writes t1:->5\na2 T0 uses t:w", &[], "a2 did not find t(1), which nobody deleted");
    // Of another transaction, or deleted, or of a table that does not matter: all is well.
    for text in [
        "a1 T0 writes t1:->5\nb1 T1 uses t:w",
        "a1 T0 sees t1=0 writes t1:0>-\nb1 T1 uses t:r",
        "a1 T0 sees t1=0\nb1 T1 uses t:",
    ] {
        assert!(infer(statements(text), &BTreeMap::new()).is_ok(), "{text}");
    }
}

#[test]
fn keys_that_are_used_again_are_no_bug() {
    let reused = "used the key of t(1) again after it was deleted";
    check_odd(&format!("{LIFE}\nb3 T0 writes t1:->6"), &[], &format!("b3 {reused}"));
    check_odd("a1 T0 sees t1=0 writes t1:0>-\nb1 T1 writes t1:->5", &[], &format!("b1 {reused}"));
    // Whatever else is wrong is told first.
    check_odd(
        &format!("{LIFE}\nb3 T0 writes t1:->6\na1 T1 sees u1=7"),
        &[(7, "c1")],
        "a1 met version 7 of u(1), which c1 wrote, and its transaction did not commit",
    );
    let odd = Odd::Reused { row: row("t1"), again: step("b3") };
    assert!(!odd.is_bug() && odd.steps() == [&step("b3")] && *odd.row() == row("t1"));
    let fork = Odd::Fork { row: row("t1"), before: None, first: step("a1"), second: step("b1") };
    assert!(fork.is_bug() && fork.steps() == [&step("a1"), &step("b1")]);
}
