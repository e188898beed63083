use super::*;
use crate::graph::notation::{bare, graph};

fn check(text: &str, expect: &str) {
    let graph = graph(text);
    let drawn = draw(&graph, &|step| format!("SELECT *\n  FROM t -- {step}\n WHERE id = {}", step.index + 1));
    let expect: Vec<&str> = expect.trim().lines().map(str::trim_end).collect();
    assert_eq!(drawn, expect);
}

#[test]
fn dependencies_with_their_evidence() {
    check(
        "a1 T0 uses t: writes t3:->5
         a12 T0 sees t1=0 t2=0 t3=5 writes t1:0>6 t2:0>6
         b2 T1 sees t1=6 t2=6 t3=5 outputs t1=6 t2=6
         b3 T1 uses t: sees t1=6 t2=6 t3=5 writes t3:5>- probes k=1
         c1 T2 uses t:rv sees t1=6 t2=6 probes k=1",
        "
T1
  a1    SELECT * FROM t WHERE id = 1
  a12   SELECT * FROM t WHERE id = 12
T2
  b2    SELECT * FROM t WHERE id = 2
  b3    SELECT * FROM t WHERE id = 3
T3
  c1    SELECT * FROM t WHERE id = 1

a1 → a12  predicate-write t(3) v5
a1 → b2   predicate-read t(3) v5
a1 → b3   item-write t(3) v5→dead
a12 → b2  item-read t(1) v6 and t(2) v6, predicate-read
a12 → b3  predicate-write t(3) v5→dead
a12 → c1  predicate-read t(1) v6 and t(2) v6, value-write
b2 → b3   predicate-anti t(3) v5→dead
b3 → c1   predicate-read t(3) dead, value-write, key k(1)
",
    );
}

#[test]
fn cycles_are_marked() {
    check(
        "c1 T2 sees t1=0 t2=0 t3=0 t4=-
         a1 T0 uses t:w sees t1=0 t2=0 t3=0 writes t1:0>5 t2:0>5 t3:0>5
         b1 T1 sees t1=0 t2=0 t3=0 outputs t1=0
         b2 T1 uses t: writes t4:->6
         a2 T0 uses t:r sees t1=5 t2=5 t3=5 t4=6
         b3 T1 uses t:w sees t1=5 t2=0 t3=0 t4=6",
        "
T1
  a1 * SELECT * FROM t WHERE id = 1
  a2   SELECT * FROM t WHERE id = 2
T2
  b1   SELECT * FROM t WHERE id = 1
  b2 * SELECT * FROM t WHERE id = 2
  b3 * SELECT * FROM t WHERE id = 3
T3
  c1   SELECT * FROM t WHERE id = 1

c1 → a1  predicate-anti t(1) v0→v5 and 2 more
c1 → b2  predicate-anti t(4) unborn→v6
a1 → b2  predicate-write t(4) unborn→v6
a1 → a2  predicate-read t(1) v5 and 2 more
a1 → b3  predicate-write t(1) v5
b1 → a1  item-anti t(1) v0→v5, predicate-anti t(1) v0→v5 and 2 more
b1 → b2  predicate-anti t(4) unborn→v6
b2 → a2  predicate-read t(4) v6
b2 → b3  predicate-write t(4) v6
b3 → a1  predicate-write t(2) v0→v5 and t(3) v0→v5

* on a cycle; a shortest one: a1 → b3 → a1
",
    );
}

#[test]
fn lines_stay_short() {
    let graph = bare(2, &[(0, 1)]);
    let drawn = draw(&graph, &|_| "SELECT ".repeat(40));
    assert!(drawn.iter().all(|line| line.chars().count() <= COLUMNS_MAX), "{drawn:?}");
    assert!(drawn[1].ends_with(" SELECT S…") && drawn[4] == "a1 → a2  predicate-read", "{drawn:?}");
}

#[test]
fn nothing_to_draw() {
    assert_eq!(draw(&bare(0, &[]), &|_| String::new()), ["no statements"]);
    assert_eq!(draw(&bare(1, &[]), &|_| String::new()), ["T1", "  a1", "", "no dependencies"]);
}
