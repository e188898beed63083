use super::*;

#[test]
fn in_a_loop_a_transaction_follows_itself() {
    // Each round reads, remembers, and writes what the round before has read.
    let round = "T1: def account.balance <- x key account.id; use account.balance key account.id -> x";
    check(round, &[]);
    check(&format!("{round}\nT1 -> T1 | end"), &["⟨T1_A, T1_B, T1_A⟩"]);
    let reasons = reasons(&format!("{round}\nT1 -> T1 | end"));
    for expect in ["W W W account.balance P0", "D W U account.balance P0", "R W R account.balance P2"] {
        assert!(reasons.contains(&format!("⟨T1_A, T1_B, T1_A⟩ {expect}")), "{reasons:#?}");
    }
}

#[test]
fn a_definition_of_this_round_hides_the_one_of_the_round_before() {
    let text = "T1: use t.a key t.id -> x; def u.b <- x key u.id\nT1 -> T1 | end\nprogram other\nT9: def t.a";
    let expect = ["T1_B, T1_A⟩ W W W u.b P0", "T9_B, T1_A⟩ R W R t.a P2", "T9_B, T1_A⟩ D W D t.a P2"];
    assert_eq!(reasons(text), expect.map(|it| format!("⟨T1_A, {it}")));
}

#[test]
fn branches_that_exclude_one_another_are_no_pair() {
    let text = "H: if x\nT1: use t.a -> y\nT2: def t.a <- y\n";
    check(&format!("{text}H -> T1 | T2 -> end"), &[]);
    check(&format!("{text}H -> T1 -> T2"), &["⟨T1_A, T2_B, T2_A⟩"]);
    check(&format!("{text}H -> T1 | T2\nT1 -> T2"), &["⟨T1_A, T2_B, T2_A⟩"]);
}

#[test]
fn what_is_never_reached_is_no_part_of_a_schedule() {
    check("T1: use t.a -> x\nT2: def u.b <- x\nT3: def t.a\nT1 -> T2 -> end\nT3 -> T2", &[]);
}

#[test]
fn values_are_followed_through_other_variables() {
    let text = "\
T1: use t.a key t.id -> x
H1: set y <- x, k
H2: set z <- y
T2: def u.b <- z key u.id
program writer
T9: def t.a <- new key t.id
";
    check(text, &["⟨T1_A, T9_B, T2_A⟩"]);
    let expect = "\
⟨T1_A, T9_B, T2_A⟩ P0 (lost update)
  A: T1 reads t.a into x
  B: T9 updates t.a
  A: H1 takes x
  A: H2 takes y
  A: T2 uses z and writes u.b
";
    assert_eq!(stories(text), expect);
    check(&text.replace("set z <- y", "set z <- k"), &[]);
    check(&text.replace("set z <- y", "set y <- k; set z <- y"), &[]);
    check(&text.replace("set z <- y", "maybe set y <- k; set z <- y"), &["⟨T1_A, T9_B, T2_A⟩"]);
}

#[test]
fn values_are_followed_through_other_transactions() {
    let text = "\
T1: use queue.id scan -> job
T2: use jobs.payload key jobs.id, job -> payload
T3: insert done(payload) <- payload
program worker
T9: delete queue(id) key queue.id
";
    let found = labels(text);
    assert_eq!(found, ["⟨T1_A, T9_B, T2_A⟩", "⟨T1_A, T9_B, T3_A⟩", "⟨T2_A, T9_B, T3_A⟩"]);
    let told = stories(text);
    assert!(
        told.contains(
            "A: T1 reads queue.id into job\n  B: T9 deletes queue.id\n  A: T2 takes job\n  A: T3 uses payload"
        )
    );
    assert!(
        told.contains("A: T2 defines payload by what T1 read from queue.id\n  B: T9 deletes queue.id\n  A: T3 uses")
    );
}

#[test]
fn a_decision_is_as_old_as_what_it_was_made_with() {
    let text = "\
T1: use stock.left key stock.id -> n
H:  if n
T2: insert orders(id, item) <- item
T3: insert log(id)
T1 -> H -> T2 | T3
T2 -> T3 -> end
program restock
T9: def stock.left <- stock.left, more key stock.id
";
    // T3 runs either way.
    check(text, &["⟨T1_A, T9_B, T2_A⟩"]);
    let expect = "\
⟨T1_A, T9_B, T2_A⟩ P0 (lost update)
  A: T1 reads stock.left into n
  B: T9 updates stock.left
  A: H takes n
  A: T2 follows the decision and writes orders.id, orders.item, orders.*
";
    assert!(stories(text).contains(expect), "{}", stories(text));
}

#[test]
fn a_decision_within_a_transaction_counts_too() {
    let text = "T1: use stock.left key stock.id -> n; if n\nT2: insert orders(id)\nT1 -> T2 | end\n\
                program restock\nT9: def stock.left";
    check(text, &["⟨T1_A, T9_B, T2_A⟩"]);
    // Who has written what he decided upon has told everybody.
    let told = text.replace("; if n", "; if n; def stock.left <- stock.left key stock.id");
    check(&told, &[]);
    check(
        &told.replace("; def stock.left <-", "; maybe def stock.left <-"),
        &["⟨T1_A, T1_B, T2_A⟩", "⟨T1_A, T9_B, T2_A⟩"],
    );
    let before = text.replace("T1: ", "T1: def stock.left <- stock.left key stock.id; ");
    check(&before, &["⟨T1_A, T1_B, T2_A⟩", "⟨T1_A, T9_B, T2_A⟩"]);
}

#[test]
fn inputs_come_from_no_element() {
    check("T1: use t.a key t.id, id\nT2: def u.b key u.id, id\nprogram other\nT9: def t.id, t.a", &[]);
}

#[test]
fn uses_of_one_value_belong_together() {
    let text = "\
T0: use t.a key t.id -> x
T1: def u.b <- x key u.id
T2: def v.c <- x key v.id
program other
T9: def t.a key t.id
";
    assert_eq!(
        reasons(text),
        ["⟨T0_A, T9_B, T1_A⟩ D W U t.a P0", "⟨T0_A, T9_B, T2_A⟩ D W U t.a P0", "⟨T1_A, T9_B, T2_A⟩ U W U t.a P0",]
    );
    let application = parse(text).unwrap();
    let schedules = schedules(&application);
    assert!(stories(text).contains("A: T1 uses x, which T0 read from t.a\n"), "{}", stories(text));
    let reason = &schedules[2].reasons[0];
    assert_eq!((reason.approach.as_slice(), reason.path.as_slice()), (&[0, 1][..], &[1, 2][..]));
}

#[test]
fn phantoms_need_rows_that_come_and_go() {
    let text =
        "T1: use t.a scan\nT2: use t.a scan\nprogram other\nT9: insert t(id, a)\nprogram third\nT8: def t.a key t.id";
    assert_eq!(
        reasons(text),
        ["⟨T1_A, T9_B, T2_A⟩ R W R t.a P3", "⟨T1_A, T9_B, T2_A⟩ R W R t.* P3", "⟨T1_A, T8_B, T2_A⟩ R W R t.a P2",]
    );
}

#[test]
fn all_patterns_of_table_4() {
    let phenomena = |first: &str, between: &str, last: &str| {
        let word = |op: &str| if op == "R" { "use" } else { "def" };
        let text = format!("T1: {} t.a\nT2: {} t.a\nprogram b\nT3: {} t.a", word(first), word(last), word(between));
        let application = parse(&text).unwrap();
        let found = schedules(&application).into_iter().filter(|it| it.between.procedure == 1);
        found.flat_map(|it| it.phenomena()).map(Phenomenon::code).collect::<Vec<_>>().join(" ")
    };
    let columns = ["RRR", "WRR", "RRW", "RWR", "RWW", "WWR", "WWW", "WRW"];
    let found = columns.map(|it| phenomena(&it[0..1], &it[1..2], &it[2..3]));
    assert_eq!(found, ["", "", "", "P2", "P0", "P0", "P0", "P1"]);
}

#[test]
fn paths_avoid_what_would_replace_the_value() {
    let text = "T1: use t.a -> x\nT2: use k.k -> x\nT3: use k.k -> y\nT4: def u.b <- x\nT1 -> T2 | T3 -> T4\n\
                program other\nT9: def t.a";
    let application = parse(text).unwrap();
    let schedules = schedules(&application);
    let found = schedules.iter().find(|it| it.label(&application) == "⟨T1_A, T9_B, T4_A⟩").unwrap();
    assert_eq!(found.reasons[0].path, [0, 2, 3]);
}

#[test]
fn alike_schedules_form_a_group() {
    let text = "T1: use t.a -> x\nT2: def u.b <- x\nprogram b\nT3: def t.a\nT4: def t.a\nprogram c\nT5: insert t(a)";
    let application = parse(text).unwrap();
    let schedules = schedules(&application);
    let groups = groups(&schedules);
    let labels = |group: &Group| group.members.iter().map(|at| schedules[*at].label(&application)).collect::<Vec<_>>();
    let found: Vec<Vec<String>> = groups.iter().map(labels).collect();
    assert_eq!(found[0], ["⟨T1_A, T3_B, T2_A⟩", "⟨T1_A, T4_B, T2_A⟩", "⟨T1_A, T5_B, T2_A⟩"]);
}

#[test]
fn names_that_are_not_unique_are_told_with_their_program() {
    check("program p\nT1: use t.a\nT2: use t.a\nprogram q\nT1: def t.a", &["⟨p.T1_A, q.T1_B, T2_A⟩"]);
}

#[test]
fn commit_points_in_a_loop_and_behind_a_branch() {
    let text = "T1: def t.a\nT2: use t.a\nT3: def u.b\nT1 -> T1 | T2\nT2 -> T3 | end";
    let application = parse(text).unwrap();
    let points = commit_points(&application);
    let names =
        |point: &CommitPoint| point.lost.iter().map(|(id, _)| application.node(*id).name.clone()).collect::<Vec<_>>();
    assert_eq!(points.iter().map(names).collect::<Vec<_>>(), [vec!["T1", "T3"]]);
}
