use super::*;

/// Example 1. Nothing is said of a key of `flights`, so rows are searched.
const BOOKING: &str = "\
program chooseSeat
T1: use flights.avail scan flights.fltnum, flight -> avail
H:  if avail
T2: def flights.avail <- avail scan flights.fltnum, flight
T1 -> H -> T2 | end
";

/// Example 2, with the column `c_id` of `order_line` that the paper forgot.
const WAREHOUSE: &str = "\
program Delivery
T3: use order_line.ol_amount scan order_line.c_id, c_id -> ol_total
T4: def customer.c_balance <- customer.c_balance, ol_total scan customer.c_id, c_id
program New_order
T5: insert order_line(o_id, c_id, ol_amount) <- c_id, amount
";

/// Example 3.
const TRANSFER: &str = "\
program Transfer
T6: use saving.balance scan saving.acctnum, in_acct1 -> out_balance; if out_balance, amount; \
    def saving.balance <- saving.balance, amount scan saving.acctnum, in_acct1
T7: def checking.balance <- checking.balance, amount scan checking.acctnum, in_acct2
T6 -> T7 | end
";

#[test]
fn example_1_sells_a_seat_twice() {
    check(BOOKING, &["⟨T1_A, T2_B, T2_A⟩"]);
    let expect = ["R W W flights.avail P0", "D W U flights.avail P0"].map(|it| format!("⟨T1_A, T2_B, T2_A⟩ {it}"));
    assert_eq!(reasons(BOOKING), expect);
    let expect = "\
⟨T1_A, T2_B, T2_A⟩ P0 (lost update)
  A: T1 reads flights.avail
  B: T2 updates flights.avail
  A: T2 updates flights.avail
⟨T1_A, T2_B, T2_A⟩ P0 (lost update)
  A: T1 reads flights.avail into avail
  B: T2 updates flights.avail
  A: T2 uses avail and writes flights.avail
";
    assert_eq!(stories(BOOKING), expect);
}

#[test]
fn example_1_pairs_are_those_of_the_paper_and_the_host_variables() {
    let application = parse(BOOKING).unwrap();
    let procedure = &application.procedures[0];
    let name = |node: usize| &procedure.nodes[node].name;
    let pairs: Vec<String> = reach::Reach::of(procedure)
        .pairs(procedure, &crate::budget::WorkBudget::unlimited())
        .iter()
        .map(|it| format!("{},{},{},{},{}", name(it.first), it.first_op, name(it.last), it.last_op, it.item))
        .collect();
    let expect = [
        "T1,R,T2,R,flights.fltnum",
        "T1,R,T2,R,flights.*",
        "T1,R,T2,W,flights.avail",
        "T1,U,T2,U,:flight",
        "T1,D,T2,U,:avail",
    ];
    assert_eq!(pairs, expect);
}

#[test]
fn example_2_bills_what_is_out_of_date() {
    check(WAREHOUSE, &["⟨T3_A, T5_B, T4_A⟩"]);
    let elements = ["order_line.c_id", "order_line.ol_amount", "order_line.*"];
    assert_eq!(reasons(WAREHOUSE), elements.map(|element| format!("⟨T3_A, T5_B, T4_A⟩ D W U {element} P0")));
}

#[test]
fn example_3_has_no_schedule_but_loses_the_transfer() {
    check(TRANSFER, &[]);
    let application = parse(TRANSFER).unwrap();
    let points = commit_points(&application);
    let [point] = points.as_slice() else { panic!("{points:?}") };
    assert_eq!(application.node(point.after).name, "T6");
    assert_eq!(point.written, [Element::column("saving", "balance")].into());
    let (lost, elements) = &point.lost[0];
    assert_eq!(application.node(*lost).name, "T7");
    assert_eq!(*elements, [Element::column("checking", "balance")].into());
}

#[test]
fn examples_1_and_2_lose_nothing_if_they_die() {
    for text in [BOOKING, WAREHOUSE] {
        assert_eq!(commit_points(&parse(text).unwrap()), []);
    }
}

#[test]
fn corrected_examples_are_silent() {
    let corrected = "\
program chooseSeat
T1: use flights.avail scan flights.fltnum, flight -> avail; if avail; \
    maybe def flights.avail <- avail scan flights.fltnum, flight
program Delivery
T3: use order_line.ol_amount scan order_line.c_id, c_id -> ol_total; \
    def customer.c_balance <- customer.c_balance, ol_total scan customer.c_id, c_id
program New_order
T5: insert order_line(o_id, c_id, ol_amount) <- c_id, amount
program Transfer
T6: use saving.balance scan saving.acctnum, in_acct1 -> out_balance; if out_balance, amount; \
    maybe def saving.balance <- saving.balance, amount scan saving.acctnum, in_acct1; \
    maybe def checking.balance <- checking.balance, amount scan checking.acctnum, in_acct2
";
    check(corrected, &[]);
    assert_eq!(commit_points(&parse(corrected).unwrap()), []);
}

#[test]
fn example_1_with_a_relative_update_still_checks_too_early() {
    // `SET avail = avail - 1` reads the newest value, but the check before it is as old as ever.
    let text = "T1: use flights.avail key flights.fltnum, flight -> avail\nH: if avail\n\
                T2: def flights.avail <- flights.avail key flights.fltnum, flight\nT1 -> H -> T2 | end";
    check(text, &["⟨T1_A, T2_B, T2_A⟩"]);
}

#[test]
fn the_numbers_of_the_funnel() {
    let funnel = |text| Funnel::of(&parse(text).unwrap());
    // W2 of Example 1: T1 and T2, in any order and each with itself, and both in between: 2 · 2 · 2. W3 has only T1
    // before T2.
    assert_eq!(funnel(BOOKING), Funnel { queries: 2, all: 8, w2: 8, w3: 2, w4: 1 });
    // Example 2, without flow: around T3 and T5, by order_line, every pair of T3 and T4 (whose ol_total comes from
    // there) and T5 with itself, 5 · 2; around T4, by customer, T4 with itself. With flow: T3 before T4, around T3
    // and T5.
    assert_eq!(funnel(WAREHOUSE), Funnel { queries: 3, all: 27, w2: 11, w3: 2, w4: 1 });
}
