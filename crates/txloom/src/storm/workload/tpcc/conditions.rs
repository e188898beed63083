//! The consistency conditions of clause 3.3.2 as queries that return what breaks them; and one more, of the stock.
//!
//! All of them hold if transactions come one after the other. Three kinds of reasons make them hold at weaker levels, and
//! say from which level on:
//!
//! * **together or not at all** (4, 6): an order, its count of lines and its lines are inserted by one transaction, and
//!   its number is a primary key. Read committed is enough.
//! * **who sees a part sees the rest** (5, 7): Delivery finds a new order, and then its order and its lines, by
//!   statements of their own. From monotonic atomic view on they are there: NewOrder inserted them together.
//! * **no update is lost** (1, 8, 9, stock): whoever writes a sum has read it before. From cursor stability on there was
//!   no other writer in between, so each sum is the one before it and what was added.
//! * **nobody is early or late** (2, 3, 10, 11, 12): an order is delivered once, and orders are delivered as they came. Who
//!   deletes a new order that somebody else has deleted meanwhile, or does not see an older one, must not commit: that
//!   takes a snapshot, and that no two transactions that change the same row are concurrent. Snapshot isolation.
//!
//! Condition 11 speaks of the first rows alone: orders less new orders are 2,100 for each district, which is what was
//! delivered at first. Here it is told for any time: what was delivered since (which customers count) is subtracted.

use txloom_core::level::formal::Level;

use super::super::super::invariant::Invariant;
use super::sizes::Sizes;

/// A condition; `{delivered}` and `{first}` stand for orders of a district that are delivered and that are there at first.
struct Condition {
    name: &'static str,
    from: Level,
    says: &'static str,
    query: &'static str,
}

/// All conditions.
pub(super) fn all(sizes: &Sizes) -> Vec<Invariant> {
    let (delivered, first) = (sizes.delivered().to_string(), sizes.customers.to_string());
    let fill = |text: &str| text.replace("{delivered}", &delivered).replace("{first}", &first);
    let invariant = |condition: &Condition| {
        let Condition { name, from, says, query } = *condition;
        Invariant { name, says: fill(says), query: fill(query), from }
    };
    CONDITIONS.iter().map(invariant).collect()
}

const CONDITIONS: &[Condition] = &[
    Condition {
        name: "TPC-C 3.3.2.1",
        from: Level::CursorStability,
        says: "what a warehouse took in this year is the sum of what its districts took in: W_YTD = sum(D_YTD)",
        query: "SELECT w_id, w_ytd, d.total AS d_ytd FROM warehouse LEFT JOIN (SELECT d_w_id, SUM(d_ytd) AS total \
                FROM district GROUP BY d_w_id) d ON d.d_w_id = w_id \
                WHERE w_ytd <> COALESCE(d.total, 0) ORDER BY w_id",
    },
    Condition {
        name: "TPC-C 3.3.2.2",
        from: Level::SnapshotIsolation,
        says: "the next order of a district follows its last one, which is its last new order if it has any: \
               D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID)",
        query: "SELECT d_w_id, d_id, d_next_o_id, o.last AS max_o_id, n.last AS max_no_o_id FROM district \
                LEFT JOIN (SELECT o_w_id, o_d_id, MAX(o_id) AS last FROM orders GROUP BY o_w_id, o_d_id) o \
                ON o.o_w_id = d_w_id AND o.o_d_id = d_id \
                LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) AS last FROM new_order GROUP BY no_w_id, no_d_id) n \
                ON n.no_w_id = d_w_id AND n.no_d_id = d_id \
                WHERE d_next_o_id - 1 <> COALESCE(o.last, 0) OR d_next_o_id - 1 <> n.last ORDER BY d_w_id, d_id",
    },
    Condition {
        name: "TPC-C 3.3.2.3",
        from: Level::SnapshotIsolation,
        says: "the new orders of a district follow one another without a gap: \
               max(NO_O_ID) - min(NO_O_ID) + 1 is their number",
        query: "SELECT no_w_id, no_d_id, MIN(no_o_id) AS min_no_o_id, MAX(no_o_id) AS max_no_o_id, COUNT(*) AS present \
                FROM new_order GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*) \
                ORDER BY no_w_id, no_d_id",
    },
    Condition {
        name: "TPC-C 3.3.2.4",
        from: Level::ReadCommitted,
        says: "a district has as many order lines as its orders say: sum(O_OL_CNT) is their number",
        query: "SELECT o.o_w_id, o.o_d_id, o.said, COALESCE(l.present, 0) AS present \
                FROM (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) AS said FROM orders GROUP BY o_w_id, o_d_id) o \
                LEFT JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) AS present FROM order_line GROUP BY ol_w_id, ol_d_id) l \
                ON l.ol_w_id = o.o_w_id AND l.ol_d_id = o.o_d_id \
                WHERE o.said <> COALESCE(l.present, 0) ORDER BY o.o_w_id, o.o_d_id",
    },
    Condition {
        name: "TPC-C 3.3.2.5",
        from: Level::MonotonicAtomicView,
        says: "an order has no carrier exactly if it is a new order: O_CARRIER_ID is null for those in NEW-ORDER",
        query: "SELECT o_w_id, o_d_id, o_id, o_carrier_id, no_o_id FROM orders LEFT JOIN new_order \
                ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id \
                WHERE (o_carrier_id IS NULL AND no_o_id IS NULL) \
                OR (o_carrier_id IS NOT NULL AND no_o_id IS NOT NULL) ORDER BY o_w_id, o_d_id, o_id",
    },
    Condition {
        name: "TPC-C 3.3.2.6",
        from: Level::ReadCommitted,
        says: "an order has as many lines as it says: O_OL_CNT is their number",
        query: "SELECT o_w_id, o_d_id, o_id, o_ol_cnt, COALESCE(l.present, 0) AS present FROM orders \
                LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS present FROM order_line \
                GROUP BY ol_w_id, ol_d_id, ol_o_id) l \
                ON l.ol_w_id = o_w_id AND l.ol_d_id = o_d_id AND l.ol_o_id = o_id \
                WHERE o_ol_cnt <> COALESCE(l.present, 0) ORDER BY o_w_id, o_d_id, o_id",
    },
    Condition {
        name: "TPC-C 3.3.2.7",
        from: Level::MonotonicAtomicView,
        says: "a line has no date of delivery exactly if its order has no carrier: OL_DELIVERY_D and O_CARRIER_ID are \
               null together",
        query: "SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, ol_delivery_d, o_carrier_id FROM order_line JOIN orders \
                ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id \
                WHERE (ol_delivery_d IS NULL AND o_carrier_id IS NOT NULL) \
                OR (ol_delivery_d IS NOT NULL AND o_carrier_id IS NULL) ORDER BY ol_w_id, ol_d_id, ol_o_id, ol_number",
    },
    Condition {
        name: "TPC-C 3.3.2.8",
        from: Level::CursorStability,
        says: "what a warehouse took in this year is the sum of the payments there: W_YTD = sum(H_AMOUNT)",
        query: "SELECT w_id, w_ytd, COALESCE(h.total, 0) AS h_amount FROM warehouse \
                LEFT JOIN (SELECT h_w_id, SUM(h_amount) AS total FROM history GROUP BY h_w_id) h ON h.h_w_id = w_id \
                WHERE w_ytd <> COALESCE(h.total, 0) ORDER BY w_id",
    },
    Condition {
        name: "TPC-C 3.3.2.9",
        from: Level::CursorStability,
        says: "what a district took in this year is the sum of the payments there: D_YTD = sum(H_AMOUNT)",
        query: "SELECT d_w_id, d_id, d_ytd, COALESCE(h.total, 0) AS h_amount FROM district \
                LEFT JOIN (SELECT h_w_id, h_d_id, SUM(h_amount) AS total FROM history GROUP BY h_w_id, h_d_id) h \
                ON h.h_w_id = d_w_id AND h.h_d_id = d_id \
                WHERE d_ytd <> COALESCE(h.total, 0) ORDER BY d_w_id, d_id",
    },
    Condition {
        name: "TPC-C 3.3.2.10",
        from: Level::SnapshotIsolation,
        says: "a customer owes what was delivered and not paid: C_BALANCE = sum(OL_AMOUNT) - sum(H_AMOUNT), over \
               delivered lines",
        query: "SELECT c_w_id, c_d_id, c_id, c_balance, COALESCE(l.total, 0) AS ol_amount, \
                COALESCE(h.total, 0) AS h_amount FROM customer \
                LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS total FROM orders JOIN order_line \
                ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL \
                GROUP BY o_w_id, o_d_id, o_c_id) l ON l.o_w_id = c_w_id AND l.o_d_id = c_d_id AND l.o_c_id = c_id \
                LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS total FROM history \
                GROUP BY h_c_w_id, h_c_d_id, h_c_id) h \
                ON h.h_c_w_id = c_w_id AND h.h_c_d_id = c_d_id AND h.h_c_id = c_id \
                WHERE c_balance <> COALESCE(l.total, 0) - COALESCE(h.total, 0) ORDER BY c_w_id, c_d_id, c_id",
    },
    Condition {
        name: "TPC-C 3.3.2.11",
        from: Level::SnapshotIsolation,
        says: "orders of a district are new, were delivered since, or are the {delivered} that were delivered at first: \
               count of ORDER - count of NEW-ORDER - sum(C_DELIVERY_CNT) = {delivered}",
        query: "SELECT o.o_w_id, o.o_d_id, o.present AS orders_present, COALESCE(n.present, 0) AS new_orders, \
                c.delivered AS c_delivery_cnt \
                FROM (SELECT o_w_id, o_d_id, COUNT(*) AS present FROM orders GROUP BY o_w_id, o_d_id) o \
                LEFT JOIN (SELECT no_w_id, no_d_id, COUNT(*) AS present FROM new_order GROUP BY no_w_id, no_d_id) n \
                ON n.no_w_id = o.o_w_id AND n.no_d_id = o.o_d_id \
                JOIN (SELECT c_w_id, c_d_id, SUM(c_delivery_cnt) AS delivered FROM customer GROUP BY c_w_id, c_d_id) c \
                ON c.c_w_id = o.o_w_id AND c.c_d_id = o.o_d_id \
                WHERE o.present - COALESCE(n.present, 0) - c.delivered <> {delivered} ORDER BY o.o_w_id, o.o_d_id",
    },
    Condition {
        name: "TPC-C 3.3.2.12",
        from: Level::SnapshotIsolation,
        says: "what a customer owes and has paid is what was delivered: C_BALANCE + C_YTD_PAYMENT = sum(OL_AMOUNT), over \
               delivered lines",
        query: "SELECT c_w_id, c_d_id, c_id, c_balance, c_ytd_payment, COALESCE(l.total, 0) AS ol_amount FROM customer \
                LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS total FROM orders JOIN order_line \
                ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL \
                GROUP BY o_w_id, o_d_id, o_c_id) l ON l.o_w_id = c_w_id AND l.o_d_id = c_d_id AND l.o_c_id = c_id \
                WHERE c_balance + c_ytd_payment <> COALESCE(l.total, 0) ORDER BY c_w_id, c_d_id, c_id",
    },
    // Not of the specification: Rahmani, Nagar, Delaware, Jagannathan, CLOTHO, OOPSLA 2019, Table 3 (NCR1, NCR2).
    Condition {
        name: "stock",
        from: Level::CursorStability,
        says: "a stock counts what was ordered of it: S_YTD = sum(OL_QUANTITY), S_ORDER_CNT is the number of lines, of \
               orders that were not there at first",
        query: "SELECT s_w_id, s_i_id, s_ytd, COALESCE(l.quantity, 0) AS ol_quantity, s_order_cnt, \
                COALESCE(l.present, 0) AS present FROM stock \
                LEFT JOIN (SELECT ol_supply_w_id, ol_i_id, SUM(ol_quantity) AS quantity, COUNT(*) AS present \
                FROM order_line WHERE ol_o_id > {first} GROUP BY ol_supply_w_id, ol_i_id) l \
                ON l.ol_supply_w_id = s_w_id AND l.ol_i_id = s_i_id \
                WHERE s_ytd <> COALESCE(l.quantity, 0) OR s_order_cnt <> COALESCE(l.present, 0) ORDER BY s_w_id, s_i_id",
    },
];
