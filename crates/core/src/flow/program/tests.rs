//! Programs in our notation, as graphs of transactions.

use super::*;
use crate::flow::Operation;
use crate::flow::{Funnel, commit_points, schedules};
use crate::program::front;

fn flowing(text: &str, cut: Cut) -> Flowing {
    let reading = front::read(text, &Schema::default());
    assert_eq!(reading.diagnostics, [], "{text}");
    let autocommits = reading.program.procedures.iter().map(|procedure| procedure.autocommit);
    let given: Vec<Given<'_>> =
        reading.accesses.iter().zip(autocommits).map(|(access, autocommit)| Given { access, autocommit }).collect();
    application(&given, &reading.schema, cut)
}

/// The graph, a node per line: its name, the lines of its operations, its successors.
fn graph(text: &str) -> String {
    let flowing = flowing(text, Cut::AsWritten);
    let mut shown = String::new();
    for procedure in &flowing.application.procedures {
        for node in procedure.nodes.iter().skip(1) {
            let mark =
                |operation: &Operation| format!("{}{}", operation.line, if operation.certain { "" } else { "?" });
            let mut lines: Vec<String> = node.operations.iter().map(mark).collect();
            lines.dedup();
            let mut next: Vec<&str> = node.successors.iter().map(|at| procedure.nodes[*at].name.as_str()).collect();
            if node.may_end {
                next.push("end");
            }
            shown += &format!("{}: {} -> {}\n", node.name, lines.join(" "), next.join(" | "));
        }
    }
    shown
}

fn labels(text: &str, cut: Cut) -> Vec<String> {
    let flowing = flowing(text, cut);
    schedules(&flowing.application).iter().map(|schedule| schedule.label(&flowing.application)).collect()
}

const BOOKING: &str = "\
CREATE TABLE flights (fltnum INT PRIMARY KEY, avail INT);
CREATE PROCEDURE choose_seat(flight INT)
BEGIN
  DECLARE seats INT;
  SELECT avail INTO :seats FROM flights WHERE fltnum = :flight;
  COMMIT;
  IF seats > 0 THEN
    UPDATE flights SET avail = :seats - 1 WHERE fltnum = :flight;
    COMMIT;
  END IF;
END;
";

const WAREHOUSE: &str = "\
CREATE TABLE order_line (o_id INT PRIMARY KEY, c_id INT, ol_amount INT);
CREATE TABLE customer (c_id INT PRIMARY KEY, c_balance INT);
CREATE PROCEDURE delivery(c_id INT)
BEGIN
  DECLARE ol_total INT;
  SELECT SUM(ol_amount) INTO :ol_total FROM order_line WHERE c_id = :c_id;
  COMMIT;
  UPDATE customer SET c_balance = c_balance + :ol_total WHERE c_id = :c_id;
  COMMIT;
END;
CREATE PROCEDURE new_order(o_id INT, c_id INT, amount INT)
BEGIN
  INSERT INTO order_line VALUES (:o_id, :c_id, :amount);
END;
";

const TRANSFER: &str = "\
CREATE TABLE saving (acctnum INT PRIMARY KEY, balance INT);
CREATE TABLE checking (acctnum INT PRIMARY KEY, balance INT);
CREATE PROCEDURE transfer(in_acct1 INT, in_acct2 INT, amount INT)
BEGIN
  DECLARE out_balance INT;
  SELECT balance INTO :out_balance FROM saving WHERE acctnum = :in_acct1;
  IF out_balance > amount THEN
    UPDATE saving SET balance = balance - :amount WHERE acctnum = :in_acct1;
    COMMIT;
    UPDATE checking SET balance = balance + :amount WHERE acctnum = :in_acct2;
    COMMIT;
  END IF;
END;
";

#[test]
fn host_code_stands_between_transactions() {
    assert_eq!(graph(BOOKING), "H4: 4 -> T1\nT1: 5 -> H7\nH7: 7 -> T2 | end\nT2: 8 -> end\n");
}

#[test]
fn a_transaction_may_end_in_several_places() {
    assert_eq!(graph(TRANSFER), "H5: 5 -> T1\nT1: 6 7 8 -> T2 | end\nT2: 10 -> end\n");
}

#[test]
fn the_papers_examples() {
    assert_eq!(labels(BOOKING, Cut::AsWritten), ["⟨T1_A, T2_B, T2_A⟩"]);
    assert_eq!(labels(WAREHOUSE, Cut::AsWritten), ["⟨T1_A, T3_B, T2_A⟩"]);
    assert_eq!(labels(TRANSFER, Cut::AsWritten), [] as [&str; 0]);
    let points = commit_points(&flowing(TRANSFER, Cut::AsWritten).application);
    assert_eq!(points.len(), 1);
    assert_eq!(points[0].written.iter().map(Element::to_string).collect::<Vec<_>>(), ["saving.balance"]);
}

/// All three in one file: the transactions have the paper's names.
#[test]
fn the_papers_names() {
    let all = format!("{BOOKING}{WAREHOUSE}{TRANSFER}");
    assert_eq!(labels(&all, Cut::AsWritten), ["⟨T1_A, T2_B, T2_A⟩", "⟨T3_A, T5_B, T4_A⟩"]);
}

#[test]
fn one_transaction_has_no_schedule_but_its_statements_would() {
    let fixed = BOOKING.replacen("  COMMIT;\n", "", 1);
    assert_eq!(graph(&fixed), "H4: 4 -> T1\nT1: 5 6 7? -> end\n");
    assert_eq!(labels(&fixed, Cut::AsWritten), [] as [&str; 0]);
    assert_eq!(labels(&fixed, Cut::EachQuery), ["⟨T1_A, T2_B, T2_A⟩"]);
    assert_eq!(Funnel::of(&flowing(&fixed, Cut::EachQuery).application).all, 8);
}

#[test]
fn branches_that_share_a_commit_are_one_transaction() {
    let text = "\
CREATE TABLE t (k INT PRIMARY KEY, v INT);
CREATE PROCEDURE p(x INT)
BEGIN
  IF x > 0 THEN
    UPDATE t SET v = 1 WHERE k = :x;
  ELSE
    DELETE FROM t WHERE k = :x;
  END IF;
  COMMIT;
  WHILE x > 0 DO
    UPDATE t SET v = v + 1 WHERE k = :x;
    SET x = x - 1;
    COMMIT;
  END WHILE;
END;
";
    assert_eq!(graph(text), "H4: 4 -> T1\nT1: 5? 7? -> H10\nH10: 10 -> T2 | end\nT2: 11 12 -> H10\n");
}

#[test]
fn a_rollback_writes_nothing() {
    let text = "\
CREATE TABLE t (k INT PRIMARY KEY, v INT);
CREATE PROCEDURE p(x INT)
BEGIN
  UPDATE t SET v = 1 WHERE k = :x;
  ROLLBACK;
  UPDATE t SET v = 2 WHERE k = :x;
END;
";
    let flowing = flowing(text, Cut::AsWritten);
    let writes: Vec<bool> = flowing.application.procedures[0].nodes.iter().map(Node::writes).collect();
    assert_eq!(writes, [false, false, true]);
}

#[test]
fn statements_of_their_own_are_transactions_of_their_own() {
    let text = "\
CREATE TABLE t (k INT PRIMARY KEY, v INT);
CREATE PROCEDURE p(x INT) AUTOCOMMIT
BEGIN
  UPDATE t SET v = 1 WHERE k = :x;
  START TRANSACTION;
  UPDATE t SET v = 2 WHERE k = :x;
  UPDATE t SET v = 3 WHERE k = :x;
  COMMIT;
  UPDATE t SET v = 4 WHERE k = :x;
END;
";
    assert_eq!(graph(text), "T1: 4 -> T2\nT2: 6 7 -> T3\nT3: 9 -> end\n");
}

#[test]
fn rows_of_a_cursor_are_read_when_it_is_opened() {
    let text = "\
CREATE TABLE t (k INT PRIMARY KEY, v INT);
CREATE PROCEDURE p()
BEGIN
  DECLARE key INT;
  DECLARE old INT;
  FOR key, old IN (SELECT k, v FROM t) DO
    COMMIT;
    UPDATE t SET v = :old + 1 WHERE k = :key;
    COMMIT;
  END FOR;
END;
";
    let labels = labels(text, Cut::AsWritten);
    assert!(labels.contains(&"⟨T1_A, T2_B, T2_A⟩".to_string()), "{labels:?}");
}

/// Tables 2 and 3 of the paper.
#[test]
fn the_papers_tables() {
    let flowing = flowing(BOOKING, Cut::AsWritten);
    let rows: Vec<String> =
        flowing.read_write().iter().map(|(name, op, element)| format!("{name} {op} {element}")).collect();
    assert_eq!(rows, ["T1 R flights.avail", "T1 R flights.fltnum", "T2 R flights.fltnum", "T2 W flights.avail"]);
    let reading = front::read(WAREHOUSE, &Schema::default());
    let given: Vec<Given<'_>> = reading.accesses.iter().map(|access| Given { access, autocommit: false }).collect();
    let flowing = application(&given, &reading.schema, Cut::AsWritten);
    let show = |row: &Parameter| {
        let op = if row.is_defined { 'D' } else { 'U' };
        format!("{} {} {op} {}", row.transaction, row.variable, row.element)
    };
    let rows: Vec<String> = flowing.parameters(&given).iter().map(show).collect();
    assert_eq!(
        rows,
        [
            "T1 ol_total D order_line.ol_amount",
            "T1 c_id U order_line.c_id",
            "T2 ol_total U customer.c_balance",
            "T2 c_id U customer.c_id",
            "T3 o_id U order_line.o_id",
            "T3 c_id U order_line.c_id",
            "T3 amount U order_line.ol_amount",
        ]
    );
}
