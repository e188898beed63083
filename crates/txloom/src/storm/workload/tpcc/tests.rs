//! TPC-C on a real engine, and without one.

use super::super::super::testing;
use super::*;

fn tpcc(keys: usize) -> Tpcc {
    Tpcc::new(Scale { sessions: 4, keys, ..Scale::default() })
}

/// Every query is answered by a row of numbers: no transaction that needs a text goes further.
const ROW: [&str; 6] = ["7", "20", "3", "1", "0", "2"];

#[test]
fn a_session_asks_for_the_same_things_each_time() {
    let statements = |seed| testing::statements(&mut *tpcc(2_000).session(seed, 1), 100, &ROW);
    assert_eq!(statements(3), statements(3));
    assert_ne!(statements(3), statements(4));
}

#[test]
fn the_mix_is_that_of_the_specification() {
    let all = testing::statements(&mut *tpcc(2_000).session(1, 1), 10_000, &ROW);
    let count = |start: &str| all.iter().filter(|sql| sql.starts_with(start)).count();
    let is_about = |start: &str, expected: usize| {
        let found = count(start);
        assert!((expected * 85 / 100..=expected * 115 / 100).contains(&found), "{found} {start}");
    };
    is_about("INSERT INTO orders", 4_500);
    is_about("SELECT w_ytd", 4_300);
    is_about("SELECT l.ol_o_id", 400);
    // Payments and queries by name, in all 47 % of the transactions.
    let by_name = all.iter().filter(|sql| sql.contains("c_last = '")).count();
    assert!((2_500..3_100).contains(&by_name), "{by_name}");
}

/// The storm that comes before it ends in another state each time, so the damage must be one to every state.
#[test]
#[cfg(feature = "sqlite")]
fn every_condition_is_silent_until_it_is_broken() {
    testing::check_invariants(
        &tpcc(100),
        150,
        &[
            ("TPC-C 3.3.2.1", "UPDATE warehouse SET w_ytd = w_ytd + 1"),
            ("TPC-C 3.3.2.1", "UPDATE district SET d_ytd = d_ytd - 1 WHERE d_id = 3"),
            ("TPC-C 3.3.2.2", "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 3"),
            (
                "TPC-C 3.3.2.2",
                "DELETE FROM new_order; \
                 INSERT INTO new_order SELECT d_next_o_id - 2, d_id, d_w_id, 0 FROM district",
            ),
            (
                "TPC-C 3.3.2.3",
                "DELETE FROM new_order; INSERT INTO new_order VALUES (1, 3, 1, 0); INSERT INTO new_order VALUES (3, 3, 1, 0)",
            ),
            ("TPC-C 3.3.2.4", "DELETE FROM order_line WHERE ol_d_id = 3 AND ol_o_id = 1 AND ol_number = 1"),
            ("TPC-C 3.3.2.5", "UPDATE orders SET o_carrier_id = NULL WHERE o_d_id = 3 AND o_id = 1"),
            ("TPC-C 3.3.2.5", "INSERT INTO new_order VALUES (1, 3, 1, 0)"),
            ("TPC-C 3.3.2.6", "UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_d_id = 3 AND o_id = 1"),
            (
                "TPC-C 3.3.2.7",
                "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_d_id = 3 AND ol_o_id = 1 AND ol_number = 1",
            ),
            ("TPC-C 3.3.2.7", "UPDATE orders SET o_carrier_id = NULL WHERE o_d_id = 3 AND o_id = 1"),
            ("TPC-C 3.3.2.8", "DELETE FROM history WHERE h_id = -1"),
            ("TPC-C 3.3.2.9", "DELETE FROM history WHERE h_id = -1"),
            ("TPC-C 3.3.2.10", "UPDATE customer SET c_balance = c_balance + 1 WHERE c_d_id = 3 AND c_id = 4"),
            ("TPC-C 3.3.2.10", "DELETE FROM history WHERE h_id = -1"),
            ("TPC-C 3.3.2.11", "UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1 WHERE c_d_id = 3 AND c_id = 4"),
            ("TPC-C 3.3.2.11", "INSERT INTO new_order VALUES (1, 3, 1, 0)"),
            ("TPC-C 3.3.2.12", "UPDATE customer SET c_ytd_payment = c_ytd_payment + 1 WHERE c_d_id = 3 AND c_id = 4"),
            ("stock", "UPDATE stock SET s_ytd = s_ytd + 1 WHERE s_i_id = 5"),
            ("stock", "UPDATE stock SET s_order_cnt = s_order_cnt + 1 WHERE s_i_id = 5"),
        ],
    );
}
