//! The nine tables, with the foreign keys of the specification. `v` is the version of a row.

/// What makes them, and what finds customers by name and orders by customer.
pub(super) const SCHEMA: &[&str] = &[
    "CREATE TABLE warehouse (w_id INT PRIMARY KEY, w_name VARCHAR(10), w_street_1 VARCHAR(20), \
     w_street_2 VARCHAR(20), w_city VARCHAR(20), w_state VARCHAR(2), w_zip VARCHAR(9), w_tax INT NOT NULL, \
     w_ytd BIGINT NOT NULL, v BIGINT NOT NULL)",
    "CREATE TABLE district (d_id INT, d_w_id INT, d_name VARCHAR(10), d_street_1 VARCHAR(20), d_street_2 VARCHAR(20), \
     d_city VARCHAR(20), d_state VARCHAR(2), d_zip VARCHAR(9), d_tax INT NOT NULL, d_ytd BIGINT NOT NULL, \
     d_next_o_id INT NOT NULL, v BIGINT NOT NULL, PRIMARY KEY (d_w_id, d_id), \
     FOREIGN KEY (d_w_id) REFERENCES warehouse (w_id))",
    "CREATE TABLE customer (c_id INT, c_d_id INT, c_w_id INT, c_first VARCHAR(16), c_middle VARCHAR(2), \
     c_last VARCHAR(16) NOT NULL, c_street_1 VARCHAR(20), c_street_2 VARCHAR(20), c_city VARCHAR(20), \
     c_state VARCHAR(2), c_zip VARCHAR(9), c_phone VARCHAR(16), c_since BIGINT, c_credit VARCHAR(2), \
     c_credit_lim BIGINT, c_discount INT NOT NULL, c_balance BIGINT NOT NULL, c_ytd_payment BIGINT NOT NULL, \
     c_payment_cnt INT NOT NULL, c_delivery_cnt INT NOT NULL, c_data VARCHAR(500), v BIGINT NOT NULL, \
     PRIMARY KEY (c_w_id, c_d_id, c_id), FOREIGN KEY (c_w_id, c_d_id) REFERENCES district (d_w_id, d_id))",
    "CREATE TABLE history (h_id BIGINT PRIMARY KEY, h_c_id INT NOT NULL, h_c_d_id INT NOT NULL, h_c_w_id INT NOT NULL, \
     h_d_id INT NOT NULL, h_w_id INT NOT NULL, h_date BIGINT, h_amount BIGINT NOT NULL, h_data VARCHAR(24), \
     v BIGINT NOT NULL, FOREIGN KEY (h_c_w_id, h_c_d_id, h_c_id) REFERENCES customer (c_w_id, c_d_id, c_id), \
     FOREIGN KEY (h_w_id, h_d_id) REFERENCES district (d_w_id, d_id))",
    "CREATE TABLE orders (o_id INT, o_d_id INT, o_w_id INT, o_c_id INT NOT NULL, o_entry_d BIGINT, o_carrier_id INT, \
     o_ol_cnt INT NOT NULL, o_all_local INT NOT NULL, v BIGINT NOT NULL, PRIMARY KEY (o_w_id, o_d_id, o_id), \
     FOREIGN KEY (o_w_id, o_d_id, o_c_id) REFERENCES customer (c_w_id, c_d_id, c_id))",
    "CREATE TABLE new_order (no_o_id INT, no_d_id INT, no_w_id INT, v BIGINT NOT NULL, \
     PRIMARY KEY (no_w_id, no_d_id, no_o_id), \
     FOREIGN KEY (no_w_id, no_d_id, no_o_id) REFERENCES orders (o_w_id, o_d_id, o_id))",
    "CREATE TABLE item (i_id INT PRIMARY KEY, i_im_id INT, i_name VARCHAR(24), i_price BIGINT NOT NULL, \
     i_data VARCHAR(50), v BIGINT NOT NULL)",
    "CREATE TABLE stock (s_i_id INT, s_w_id INT, s_quantity INT NOT NULL, s_dist_01 VARCHAR(24), \
     s_dist_02 VARCHAR(24), s_dist_03 VARCHAR(24), s_dist_04 VARCHAR(24), s_dist_05 VARCHAR(24), \
     s_dist_06 VARCHAR(24), s_dist_07 VARCHAR(24), s_dist_08 VARCHAR(24), s_dist_09 VARCHAR(24), \
     s_dist_10 VARCHAR(24), s_ytd BIGINT NOT NULL, s_order_cnt INT NOT NULL, s_remote_cnt INT NOT NULL, \
     s_data VARCHAR(50), v BIGINT NOT NULL, PRIMARY KEY (s_w_id, s_i_id), \
     FOREIGN KEY (s_w_id) REFERENCES warehouse (w_id), FOREIGN KEY (s_i_id) REFERENCES item (i_id))",
    "CREATE TABLE order_line (ol_o_id INT, ol_d_id INT, ol_w_id INT, ol_number INT, ol_i_id INT NOT NULL, \
     ol_supply_w_id INT NOT NULL, ol_delivery_d BIGINT, ol_quantity INT NOT NULL, ol_amount BIGINT NOT NULL, \
     ol_dist_info VARCHAR(24), v BIGINT NOT NULL, PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number), \
     FOREIGN KEY (ol_w_id, ol_d_id, ol_o_id) REFERENCES orders (o_w_id, o_d_id, o_id), \
     FOREIGN KEY (ol_supply_w_id, ol_i_id) REFERENCES stock (s_w_id, s_i_id))",
    "CREATE INDEX customer_by_name ON customer (c_w_id, c_d_id, c_last)",
    "CREATE INDEX orders_by_customer ON orders (o_w_id, o_d_id, o_c_id, o_id)",
];
