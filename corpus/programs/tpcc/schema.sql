-- TPC-C: a wholesale supplier with warehouses, districts and customers.
--
-- TPC Benchmark C, Standard Specification, Revision 5.11: the nine tables of clause 1.3 and the five transactions of
-- clause 2, with a population like that of clause 4.3, but tiny: two warehouses with two districts of three customers
-- each, eight items, and three orders of a district, of which two are delivered. Amounts are cents, so that sums are
-- exact on every system; tax and discount are percents. Moments come from the caller. Some columns of addresses are
-- left out. HISTORY, which has no key in the specification, has one here, customer and moment: a replicated store needs
-- one.
--
-- CR1 to CR12 are the consistency conditions of clause 3.3.2, those that say "if and only if" in two parts; CR11 counts
-- deliveries, so that it holds not only at first. NCR1 to NCR7 are further requirements of Rahmani, Nagar, Delaware,
-- Jagannathan, "CLOTHO: Directed Test Generation for Weakly Consistent Database Systems", OOPSLA 2019, Table 3: where
-- they count calls, the rows that calls leave are counted. NCR3 and NCR6 ask for parameters of calls, so they stand
-- beside the procedures: NCR3 speaks of executions without deliveries in the paper, but Table 4 has deliveries break
-- it; here it says what is true with them, too. NCR6 speaks of ratios there; here every carrier has as many orders as
-- each of its deliveries delivered, which is stronger.

CREATE TABLE warehouse (
  w_id INT NOT NULL,
  w_name VARCHAR(10) NOT NULL,
  w_street_1 VARCHAR(20),
  w_city VARCHAR(20),
  w_state VARCHAR(2),
  w_zip VARCHAR(9),
  w_tax INT NOT NULL,
  w_ytd BIGINT NOT NULL,
  PRIMARY KEY (w_id)
);

CREATE TABLE district (
  d_id INT NOT NULL,
  d_w_id INT NOT NULL,
  d_name VARCHAR(10) NOT NULL,
  d_street_1 VARCHAR(20),
  d_city VARCHAR(20),
  d_state VARCHAR(2),
  d_zip VARCHAR(9),
  d_tax INT NOT NULL,
  d_ytd BIGINT NOT NULL,
  d_next_o_id INT NOT NULL,
  PRIMARY KEY (d_w_id, d_id),
  FOREIGN KEY (d_w_id) REFERENCES warehouse (w_id)
);

CREATE TABLE customer (
  c_id INT NOT NULL,
  c_d_id INT NOT NULL,
  c_w_id INT NOT NULL,
  c_first VARCHAR(16) NOT NULL,
  c_middle VARCHAR(2),
  c_last VARCHAR(16) NOT NULL,
  c_street_1 VARCHAR(20),
  c_city VARCHAR(20),
  c_state VARCHAR(2),
  c_zip VARCHAR(9),
  c_phone VARCHAR(16),
  c_since BIGINT,
  c_credit VARCHAR(2) NOT NULL,
  c_credit_lim BIGINT,
  c_discount INT NOT NULL,
  c_balance BIGINT NOT NULL,
  c_ytd_payment BIGINT NOT NULL,
  c_payment_cnt INT NOT NULL,
  c_delivery_cnt INT NOT NULL,
  c_data VARCHAR(500),
  PRIMARY KEY (c_w_id, c_d_id, c_id),
  FOREIGN KEY (c_w_id, c_d_id) REFERENCES district (d_w_id, d_id)
);

CREATE TABLE history (
  h_c_id INT NOT NULL,
  h_c_d_id INT NOT NULL,
  h_c_w_id INT NOT NULL,
  h_d_id INT NOT NULL,
  h_w_id INT NOT NULL,
  h_date BIGINT NOT NULL,
  h_amount BIGINT NOT NULL,
  h_data VARCHAR(24),
  PRIMARY KEY (h_c_w_id, h_c_d_id, h_c_id, h_date),
  FOREIGN KEY (h_c_w_id, h_c_d_id, h_c_id) REFERENCES customer (c_w_id, c_d_id, c_id),
  FOREIGN KEY (h_w_id, h_d_id) REFERENCES district (d_w_id, d_id)
);

CREATE TABLE orders (
  o_id INT NOT NULL,
  o_d_id INT NOT NULL,
  o_w_id INT NOT NULL,
  o_c_id INT NOT NULL,
  o_entry_d BIGINT,
  o_carrier_id INT,
  o_ol_cnt INT NOT NULL,
  o_all_local INT NOT NULL,
  PRIMARY KEY (o_w_id, o_d_id, o_id),
  FOREIGN KEY (o_w_id, o_d_id, o_c_id) REFERENCES customer (c_w_id, c_d_id, c_id)
);

CREATE TABLE new_order (
  no_o_id INT NOT NULL,
  no_d_id INT NOT NULL,
  no_w_id INT NOT NULL,
  PRIMARY KEY (no_w_id, no_d_id, no_o_id),
  FOREIGN KEY (no_w_id, no_d_id, no_o_id) REFERENCES orders (o_w_id, o_d_id, o_id)
);

CREATE TABLE item (
  i_id INT NOT NULL,
  i_im_id INT,
  i_name VARCHAR(24) NOT NULL,
  i_price BIGINT NOT NULL,
  i_data VARCHAR(50),
  PRIMARY KEY (i_id)
);

CREATE TABLE stock (
  s_i_id INT NOT NULL,
  s_w_id INT NOT NULL,
  s_quantity INT NOT NULL,
  s_dist_01 VARCHAR(24),
  s_dist_02 VARCHAR(24),
  s_dist_03 VARCHAR(24),
  s_dist_04 VARCHAR(24),
  s_dist_05 VARCHAR(24),
  s_dist_06 VARCHAR(24),
  s_dist_07 VARCHAR(24),
  s_dist_08 VARCHAR(24),
  s_dist_09 VARCHAR(24),
  s_dist_10 VARCHAR(24),
  s_ytd BIGINT NOT NULL,
  s_order_cnt INT NOT NULL,
  s_remote_cnt INT NOT NULL,
  s_data VARCHAR(50),
  PRIMARY KEY (s_w_id, s_i_id),
  FOREIGN KEY (s_w_id) REFERENCES warehouse (w_id),
  FOREIGN KEY (s_i_id) REFERENCES item (i_id)
);

CREATE TABLE order_line (
  ol_o_id INT NOT NULL,
  ol_d_id INT NOT NULL,
  ol_w_id INT NOT NULL,
  ol_number INT NOT NULL,
  ol_i_id INT NOT NULL,
  ol_supply_w_id INT NOT NULL,
  ol_delivery_d BIGINT,
  ol_quantity INT NOT NULL,
  ol_amount BIGINT NOT NULL,
  ol_dist_info VARCHAR(24),
  PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number),
  FOREIGN KEY (ol_w_id, ol_d_id, ol_o_id) REFERENCES orders (o_w_id, o_d_id, o_id),
  FOREIGN KEY (ol_supply_w_id, ol_i_id) REFERENCES stock (s_w_id, s_i_id)
);

CREATE INDEX customer_by_name ON customer (c_w_id, c_d_id, c_last);
CREATE INDEX orders_by_customer ON orders (o_w_id, o_d_id, o_c_id, o_id);

INSERT INTO warehouse (w_id, w_name, w_tax, w_ytd) VALUES
  (1, 'house1', 5, 6000), (2, 'house2', 6, 6000);
INSERT INTO district (d_id, d_w_id, d_name, d_tax, d_ytd, d_next_o_id) VALUES
  (1, 1, 'dist11', 3, 3000, 4), (2, 1, 'dist12', 5, 3000, 4), (1, 2, 'dist21', 4, 3000, 4),
  (2, 2, 'dist22', 6, 3000, 4);
INSERT INTO customer (c_id, c_d_id, c_w_id, c_first, c_middle, c_last, c_credit, c_discount, c_balance, c_ytd_payment,
  c_payment_cnt, c_delivery_cnt, c_data) VALUES
  (1, 1, 1, 'Rosa', 'OE', 'BARBARBAR', 'GC', 5, -1000, 1000, 1, 0, 'since then'),
  (2, 1, 1, 'Udo', 'OE', 'BARBAROUGHT', 'BC', 10, -1000, 1000, 1, 0, 'since then'),
  (3, 1, 1, 'Anna', 'OE', 'BARBARBAR', 'GC', 15, -1000, 1000, 1, 0, 'since then'),
  (1, 2, 1, 'Rosa', 'OE', 'BARBARBAR', 'GC', 5, -1000, 1000, 1, 0, 'since then'),
  (2, 2, 1, 'Udo', 'OE', 'BARBAROUGHT', 'BC', 10, -1000, 1000, 1, 0, 'since then'),
  (3, 2, 1, 'Anna', 'OE', 'BARBARBAR', 'GC', 15, -1000, 1000, 1, 0, 'since then'),
  (1, 1, 2, 'Rosa', 'OE', 'BARBARBAR', 'GC', 5, -1000, 1000, 1, 0, 'since then'),
  (2, 1, 2, 'Udo', 'OE', 'BARBAROUGHT', 'BC', 10, -1000, 1000, 1, 0, 'since then'),
  (3, 1, 2, 'Anna', 'OE', 'BARBARBAR', 'GC', 15, -1000, 1000, 1, 0, 'since then'),
  (1, 2, 2, 'Rosa', 'OE', 'BARBARBAR', 'GC', 5, -1000, 1000, 1, 0, 'since then'),
  (2, 2, 2, 'Udo', 'OE', 'BARBAROUGHT', 'BC', 10, -1000, 1000, 1, 0, 'since then'),
  (3, 2, 2, 'Anna', 'OE', 'BARBARBAR', 'GC', 15, -1000, 1000, 1, 0, 'since then');
INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) VALUES
  (1, 1, 1, 1, 1, 1, 1000, 'at first'), (2, 1, 1, 1, 1, 1, 1000, 'at first'), (3, 1, 1, 1, 1, 1, 1000, 'at first'),
  (1, 2, 1, 2, 1, 1, 1000, 'at first'), (2, 2, 1, 2, 1, 1, 1000, 'at first'), (3, 2, 1, 2, 1, 1, 1000, 'at first'),
  (1, 1, 2, 1, 2, 1, 1000, 'at first'), (2, 1, 2, 1, 2, 1, 1000, 'at first'), (3, 1, 2, 1, 2, 1, 1000, 'at first'),
  (1, 2, 2, 2, 2, 1, 1000, 'at first'), (2, 2, 2, 2, 2, 1, 1000, 'at first'), (3, 2, 2, 2, 2, 1, 1000, 'at first');
INSERT INTO item (i_id, i_im_id, i_name, i_price, i_data) VALUES
  (1, 7, 'item1', 137, 'plain'), (2, 14, 'item2', 248, 'plain'), (3, 21, 'item3', 433, 'ORIGINAL'),
  (4, 28, 'item4', 692, 'plain'), (5, 35, 'item5', 1025, 'plain'), (6, 42, 'item6', 1432, 'plain'),
  (7, 49, 'item7', 1913, 'plain'), (8, 56, 'item8', 2468, 'plain');
INSERT INTO stock (s_i_id, s_w_id, s_quantity, s_dist_01, s_dist_02, s_ytd, s_order_cnt, s_remote_cnt, s_data) VALUES
  (1, 1, 23, 'd1i1w1', 'd2i1w1', 0, 0, 0, 'plain'), (2, 1, 36, 'd1i2w1', 'd2i2w1', 0, 0, 0, 'plain'),
  (3, 1, 49, 'd1i3w1', 'd2i3w1', 0, 0, 0, 'plain'), (4, 1, 62, 'd1i4w1', 'd2i4w1', 0, 0, 0, 'plain'),
  (5, 1, 15, 'd1i5w1', 'd2i5w1', 0, 0, 0, 'plain'), (6, 1, 28, 'd1i6w1', 'd2i6w1', 0, 0, 0, 'plain'),
  (7, 1, 41, 'd1i7w1', 'd2i7w1', 0, 0, 0, 'plain'), (8, 1, 54, 'd1i8w1', 'd2i8w1', 0, 0, 0, 'plain'),
  (1, 2, 36, 'd1i1w2', 'd2i1w2', 0, 0, 0, 'plain'), (2, 2, 62, 'd1i2w2', 'd2i2w2', 0, 0, 0, 'plain'),
  (3, 2, 28, 'd1i3w2', 'd2i3w2', 0, 0, 0, 'plain'), (4, 2, 54, 'd1i4w2', 'd2i4w2', 0, 0, 0, 'plain'),
  (5, 2, 20, 'd1i5w2', 'd2i5w2', 0, 0, 0, 'plain'), (6, 2, 46, 'd1i6w2', 'd2i6w2', 0, 0, 0, 'plain'),
  (7, 2, 12, 'd1i7w2', 'd2i7w2', 0, 0, 0, 'plain'), (8, 2, 38, 'd1i8w2', 'd2i8w2', 0, 0, 0, 'plain');
INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) VALUES
  (1, 1, 1, 3, 1, 2, 2, 1), (2, 1, 1, 1, 2, 3, 2, 1), (3, 1, 1, 2, 3, NULL, 2, 1), (1, 2, 1, 3, 1, 3, 2, 1),
  (2, 2, 1, 1, 2, 4, 2, 1), (3, 2, 1, 2, 3, NULL, 2, 1), (1, 1, 2, 3, 1, 2, 2, 1), (2, 1, 2, 1, 2, 3, 2, 1),
  (3, 1, 2, 2, 3, NULL, 2, 1), (1, 2, 2, 3, 1, 3, 2, 1), (2, 2, 2, 1, 2, 4, 2, 1), (3, 2, 2, 2, 3, NULL, 2, 1);
INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES
  (3, 1, 1), (3, 2, 1), (3, 1, 2), (3, 2, 2);
INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity,
  ol_amount, ol_dist_info) VALUES
  (1, 1, 1, 1, 8, 1, 1, 5, 0, 'd1'), (1, 1, 1, 2, 1, 1, 1, 5, 0, 'd1'), (2, 1, 1, 1, 3, 1, 2, 5, 0, 'd1'),
  (2, 1, 1, 2, 4, 1, 2, 5, 0, 'd1'), (3, 1, 1, 1, 6, 1, NULL, 5, 301, 'd1'), (3, 1, 1, 2, 7, 1, NULL, 5, 302, 'd1'),
  (1, 2, 1, 1, 2, 1, 1, 5, 0, 'd2'), (1, 2, 1, 2, 3, 1, 1, 5, 0, 'd2'), (2, 2, 1, 1, 5, 1, 2, 5, 0, 'd2'),
  (2, 2, 1, 2, 6, 1, 2, 5, 0, 'd2'), (3, 2, 1, 1, 8, 1, NULL, 5, 302, 'd2'), (3, 2, 1, 2, 1, 1, NULL, 5, 304, 'd2'),
  (1, 1, 2, 1, 1, 2, 1, 5, 0, 'd1'), (1, 1, 2, 2, 2, 2, 1, 5, 0, 'd1'), (2, 1, 2, 1, 4, 2, 2, 5, 0, 'd1'),
  (2, 1, 2, 2, 5, 2, 2, 5, 0, 'd1'), (3, 1, 2, 1, 7, 2, NULL, 5, 301, 'd1'), (3, 1, 2, 2, 8, 2, NULL, 5, 302, 'd1'),
  (1, 2, 2, 1, 3, 2, 1, 5, 0, 'd2'), (1, 2, 2, 2, 4, 2, 1, 5, 0, 'd2'), (2, 2, 2, 1, 6, 2, 2, 5, 0, 'd2'),
  (2, 2, 2, 2, 7, 2, 2, 5, 0, 'd2'), (3, 2, 2, 1, 1, 2, NULL, 5, 302, 'd2'), (3, 2, 2, 2, 2, 2, NULL, 5, 304, 'd2');

-- @assert each CR1, W_YTD = sum(D_YTD): SELECT w_id, w_ytd, d.total AS d_ytd FROM warehouse LEFT JOIN (SELECT d_w_id, SUM(d_ytd) AS total FROM district GROUP BY d_w_id) d ON d.d_w_id = w_id WHERE w_ytd <> COALESCE(d.total, 0)
-- @assert each CR2, D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID): SELECT d_w_id, d_id, d_next_o_id, o.last AS max_o_id, n.last AS max_no_o_id FROM district LEFT JOIN (SELECT o_w_id, o_d_id, MAX(o_id) AS last FROM orders GROUP BY o_w_id, o_d_id) o ON o.o_w_id = d_w_id AND o.o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) AS last FROM new_order GROUP BY no_w_id, no_d_id) n ON n.no_w_id = d_w_id AND n.no_d_id = d_id WHERE d_next_o_id - 1 <> COALESCE(o.last, 0) OR d_next_o_id - 1 <> n.last
-- @assert each CR3, max(NO_O_ID) - min(NO_O_ID) + 1 = number of rows in NEW-ORDER: SELECT no_w_id, no_d_id, MIN(no_o_id) AS min_no_o_id, MAX(no_o_id) AS max_no_o_id, COUNT(*) AS present FROM new_order GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)
-- @assert each CR4, sum(O_OL_CNT) = number of rows in ORDER-LINE: SELECT o.o_w_id, o.o_d_id, o.said, COALESCE(l.present, 0) AS present FROM (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) AS said FROM orders GROUP BY o_w_id, o_d_id) o LEFT JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) AS present FROM order_line GROUP BY ol_w_id, ol_d_id) l ON l.ol_w_id = o.o_w_id AND l.ol_d_id = o.o_d_id WHERE o.said <> COALESCE(l.present, 0)
-- @assert each CR5A, for any row in NEW-ORDER there is a row in ORDER with O_CARRIER_ID null: SELECT no_w_id, no_d_id, no_o_id, o_carrier_id FROM new_order LEFT JOIN orders ON o_w_id = no_w_id AND o_d_id = no_d_id AND o_id = no_o_id WHERE o_id IS NULL OR o_carrier_id IS NOT NULL
-- @assert each CR5B, for any row in ORDER with O_CARRIER_ID null there is a row in NEW-ORDER: SELECT o_w_id, o_d_id, o_id FROM orders LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id WHERE o_carrier_id IS NULL AND no_o_id IS NULL
-- @assert each CR6, O_OL_CNT = number of rows in ORDER-LINE for that order: SELECT o_w_id, o_d_id, o_id, o_ol_cnt, COALESCE(l.present, 0) AS present FROM orders LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS present FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON l.ol_w_id = o_w_id AND l.ol_d_id = o_d_id AND l.ol_o_id = o_id WHERE o_ol_cnt <> COALESCE(l.present, 0)
-- @assert each CR7A, O_CARRIER_ID is null if OL_DELIVERY_D is: SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, o_carrier_id FROM order_line JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id WHERE ol_delivery_d IS NULL AND o_carrier_id IS NOT NULL
-- @assert each CR7B, OL_DELIVERY_D is null if O_CARRIER_ID is: SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, ol_delivery_d FROM order_line JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id WHERE ol_delivery_d IS NOT NULL AND o_carrier_id IS NULL
-- @assert each CR8, W_YTD = sum(H_AMOUNT): SELECT w_id, w_ytd, COALESCE(h.total, 0) AS h_amount FROM warehouse LEFT JOIN (SELECT h_w_id, SUM(h_amount) AS total FROM history GROUP BY h_w_id) h ON h.h_w_id = w_id WHERE w_ytd <> COALESCE(h.total, 0)
-- @assert each CR9, D_YTD = sum(H_AMOUNT): SELECT d_w_id, d_id, d_ytd, COALESCE(h.total, 0) AS h_amount FROM district LEFT JOIN (SELECT h_w_id, h_d_id, SUM(h_amount) AS total FROM history GROUP BY h_w_id, h_d_id) h ON h.h_w_id = d_w_id AND h.h_d_id = d_id WHERE d_ytd <> COALESCE(h.total, 0)
-- @assert each CR10, C_BALANCE = sum(OL_AMOUNT) - sum(H_AMOUNT): SELECT c_w_id, c_d_id, c_id, c_balance, COALESCE(l.total, 0) AS ol_amount, COALESCE(h.total, 0) AS h_amount FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS total FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) l ON l.o_w_id = c_w_id AND l.o_d_id = c_d_id AND l.o_c_id = c_id LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS total FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) h ON h.h_c_w_id = c_w_id AND h.h_c_d_id = c_d_id AND h.h_c_id = c_id WHERE c_balance <> COALESCE(l.total, 0) - COALESCE(h.total, 0)
-- @assert each CR11, count of ORDER - count of NEW-ORDER - sum(C_DELIVERY_CNT) = 2: SELECT o.o_w_id, o.o_d_id, o.present AS orders_present, COALESCE(n.present, 0) AS new_orders, c.delivered AS c_delivery_cnt FROM (SELECT o_w_id, o_d_id, COUNT(*) AS present FROM orders GROUP BY o_w_id, o_d_id) o LEFT JOIN (SELECT no_w_id, no_d_id, COUNT(*) AS present FROM new_order GROUP BY no_w_id, no_d_id) n ON n.no_w_id = o.o_w_id AND n.no_d_id = o.o_d_id JOIN (SELECT c_w_id, c_d_id, SUM(c_delivery_cnt) AS delivered FROM customer GROUP BY c_w_id, c_d_id) c ON c.c_w_id = o.o_w_id AND c.c_d_id = o.o_d_id WHERE o.present - COALESCE(n.present, 0) - c.delivered <> 2
-- @assert each CR12, C_BALANCE + C_YTD_PAYMENT = sum(OL_AMOUNT): SELECT c_w_id, c_d_id, c_id, c_balance, c_ytd_payment, COALESCE(l.total, 0) AS ol_amount FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS total FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) l ON l.o_w_id = c_w_id AND l.o_d_id = c_d_id AND l.o_c_id = c_id WHERE c_balance + c_ytd_payment <> COALESCE(l.total, 0)
-- @assert each NCR1, S_YTD = sum(OL_QUANTITY) of orders that were not there at first: SELECT s_w_id, s_i_id, s_ytd, COALESCE(l.quantity, 0) AS ol_quantity FROM stock LEFT JOIN (SELECT ol_supply_w_id, ol_i_id, SUM(ol_quantity) AS quantity FROM order_line WHERE ol_o_id > 3 GROUP BY ol_supply_w_id, ol_i_id) l ON l.ol_supply_w_id = s_w_id AND l.ol_i_id = s_i_id WHERE s_ytd <> COALESCE(l.quantity, 0)
-- @assert each NCR2, sum(S_ORDER_CNT) = sum(O_OL_CNT) of orders that were not there at first: SELECT s.total AS s_order_cnt, o.total AS o_ol_cnt FROM (SELECT SUM(s_order_cnt) AS total FROM stock) s, (SELECT COALESCE(SUM(o_ol_cnt), 0) AS total FROM orders WHERE o_id > 3) o WHERE s.total <> o.total
-- @assert each NCR4, C_PAYMENT_CNT = number of rows in HISTORY: SELECT c_w_id, c_d_id, c_id, c_payment_cnt, COALESCE(h.present, 0) AS present FROM customer LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, COUNT(*) AS present FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) h ON h.h_c_w_id = c_w_id AND h.h_c_d_id = c_d_id AND h.h_c_id = c_id WHERE c_payment_cnt <> COALESCE(h.present, 0)
-- @assert each NCR5, C_DELIVERY_CNT = number of orders that were delivered since: SELECT c_w_id, c_d_id, c_id, c_delivery_cnt, COALESCE(o.present, 0) AS present FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, COUNT(*) AS present FROM orders WHERE o_id > 2 AND o_carrier_id IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o ON o.o_w_id = c_w_id AND o.o_d_id = c_d_id AND o.o_c_id = c_id WHERE c_delivery_cnt <> COALESCE(o.present, 0)
-- @assert each NCR7, C_YTD_PAYMENT = sum(H_AMOUNT): SELECT c_w_id, c_d_id, c_id, c_ytd_payment, COALESCE(h.total, 0) AS h_amount FROM customer LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS total FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) h ON h.h_c_w_id = c_w_id AND h.h_c_d_id = c_d_id AND h.h_c_id = c_id WHERE c_ytd_payment <> COALESCE(h.total, 0)
