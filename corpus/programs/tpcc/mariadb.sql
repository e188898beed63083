-- TPC-C as stored procedures of MariaDB and MySQL. schema.sql says what it is; postgres.sql says the same in PL/pgSQL.
-- The 34 statements of the sample programs in appendix A of the specification, in their order. A loop over lines orders
-- p_ol_cnt items, from p_i_id on, p_quantity each: procedures have no arrays.

DELIMITER //

-- New-Order (clause 2.4). The total is in ten-thousandths of a cent, since tax and discount are percents.
CREATE PROCEDURE new_order(IN p_w_id INT, IN p_d_id INT, IN p_c_id INT, IN p_ol_cnt INT, IN p_i_id INT, IN
  p_supply_w_id INT, IN p_quantity INT, IN p_now BIGINT, OUT p_o_id INT, OUT p_total BIGINT)
BEGIN
  DECLARE v_discount INT;
  DECLARE v_last VARCHAR(16);
  DECLARE v_credit VARCHAR(2);
  DECLARE v_w_tax INT;
  DECLARE v_d_tax INT;
  DECLARE v_all_local INT DEFAULT 1;
  DECLARE v_remote INT DEFAULT 0;
  DECLARE v_number INT DEFAULT 1;
  DECLARE v_item INT;
  DECLARE v_price BIGINT;
  DECLARE v_name VARCHAR(24);
  DECLARE v_data VARCHAR(50);
  DECLARE v_stock INT;
  DECLARE v_dist_info VARCHAR(24);
  DECLARE v_stock_data VARCHAR(50);
  DECLARE v_amount BIGINT;
  DECLARE v_sum BIGINT DEFAULT 0;
  START TRANSACTION;
  SELECT c_discount, c_last, c_credit, w_tax INTO v_discount, v_last, v_credit, v_w_tax
    FROM customer, warehouse
    WHERE w_id = p_w_id AND c_w_id = w_id AND c_d_id = p_d_id AND c_id = p_c_id;
  SELECT d_next_o_id, d_tax INTO p_o_id, v_d_tax FROM district WHERE d_id = p_d_id AND d_w_id = p_w_id;
  UPDATE district SET d_next_o_id = p_o_id + 1 WHERE d_id = p_d_id AND d_w_id = p_w_id;
  IF p_supply_w_id <> p_w_id THEN
    SET v_all_local = 0;
    SET v_remote = 1;
  END IF;
  INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES (p_o_id, p_d_id, p_w_id, p_c_id, p_now, NULL, p_ol_cnt, v_all_local);
  INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (p_o_id, p_d_id, p_w_id);
  WHILE v_number <= p_ol_cnt DO
    SET v_item = p_i_id + v_number - 1;
    SET v_price = NULL;
    SELECT i_price, i_name, i_data INTO v_price, v_name, v_data FROM item WHERE i_id = v_item;
    IF v_price IS NULL THEN
      ROLLBACK;
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no such item';
    END IF;
    SELECT s_quantity, s_data,
        CASE p_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
        WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
        WHEN 9 THEN s_dist_09 ELSE s_dist_10 END
      INTO v_stock, v_stock_data, v_dist_info
      FROM stock WHERE s_i_id = v_item AND s_w_id = p_supply_w_id;
    IF v_stock >= p_quantity + 10 THEN
      SET v_stock = v_stock - p_quantity;
    ELSE
      SET v_stock = v_stock - p_quantity + 91;
    END IF;
    UPDATE stock SET s_quantity = v_stock, s_ytd = s_ytd + p_quantity, s_order_cnt = s_order_cnt + 1,
      s_remote_cnt = s_remote_cnt + v_remote
      WHERE s_i_id = v_item AND s_w_id = p_supply_w_id;
    SET v_amount = p_quantity * v_price;
    SET v_sum = v_sum + v_amount;
    INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
        ol_dist_info)
      VALUES (p_o_id, p_d_id, p_w_id, v_number, v_item, p_supply_w_id, p_quantity, v_amount, v_dist_info);
    SET v_number = v_number + 1;
  END WHILE;
  SET p_total = v_sum * (100 - v_discount) * (100 + v_w_tax + v_d_tax);
  COMMIT;
END //

-- Payment (clause 2.5). The customer is given by number, or, if that is NULL, by name: of those who have it, the one in
-- the middle, by first name.
CREATE PROCEDURE payment(IN p_w_id INT, IN p_d_id INT, IN p_c_w_id INT, IN p_c_d_id INT, IN p_c_id INT, IN p_c_last
  VARCHAR(16), IN p_amount BIGINT, IN p_now BIGINT, OUT p_customer INT, OUT p_balance BIGINT)
BEGIN
  DECLARE v_w_name VARCHAR(10);
  DECLARE v_d_name VARCHAR(10);
  DECLARE v_names INT;
  DECLARE v_n INT DEFAULT 0;
  DECLARE v_credit VARCHAR(2);
  DECLARE v_ytd_payment BIGINT;
  DECLARE v_payment_cnt INT;
  DECLARE v_data VARCHAR(500);
  DECLARE c_byname CURSOR FOR
    SELECT c_id, c_credit, c_balance, c_ytd_payment, c_payment_cnt FROM customer
    WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_last = p_c_last ORDER BY c_first;
  START TRANSACTION;
  UPDATE warehouse SET w_ytd = w_ytd + p_amount WHERE w_id = p_w_id;
  SELECT w_name INTO v_w_name FROM warehouse WHERE w_id = p_w_id;
  UPDATE district SET d_ytd = d_ytd + p_amount WHERE d_w_id = p_w_id AND d_id = p_d_id;
  SELECT d_name INTO v_d_name FROM district WHERE d_w_id = p_w_id AND d_id = p_d_id;
  IF p_c_id IS NULL THEN
    SELECT COUNT(c_id) INTO v_names FROM customer
      WHERE c_last = p_c_last AND c_d_id = p_c_d_id AND c_w_id = p_c_w_id;
    OPEN c_byname;
    WHILE v_n * 2 < v_names DO
      FETCH c_byname INTO p_customer, v_credit, p_balance, v_ytd_payment, v_payment_cnt;
      SET v_n = v_n + 1;
    END WHILE;
    CLOSE c_byname;
  ELSE
    SELECT c_id, c_credit, c_balance, c_ytd_payment, c_payment_cnt
      INTO p_customer, v_credit, p_balance, v_ytd_payment, v_payment_cnt
      FROM customer WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = p_c_id;
  END IF;
  IF p_customer IS NULL THEN
    ROLLBACK;
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no such customer';
  END IF;
  SET p_balance = p_balance - p_amount;
  IF v_credit = 'BC' THEN
    SELECT c_data INTO v_data FROM customer WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = p_customer;
    UPDATE customer SET c_balance = p_balance, c_ytd_payment = v_ytd_payment + p_amount,
      c_payment_cnt = v_payment_cnt + 1,
      c_data = SUBSTR(CONCAT(p_customer, ' ', p_c_d_id, ' ', p_c_w_id, ' ', p_d_id, ' ', p_w_id, ' ', p_amount, ' ',
      v_data), 1, 500)
      WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = p_customer;
  ELSE
    UPDATE customer SET c_balance = p_balance, c_ytd_payment = v_ytd_payment + p_amount,
      c_payment_cnt = v_payment_cnt + 1
      WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = p_customer;
  END IF;
  INSERT INTO history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (p_c_d_id, p_c_w_id, p_customer, p_d_id, p_w_id, p_now, p_amount, CONCAT(v_w_name, '    ', v_d_name));
  COMMIT;
END //

-- Order-Status (clause 2.6): the last order of a customer, who is found as in Payment; how many lines it has, their sum,
-- and when the last one was delivered.
CREATE PROCEDURE order_status(IN p_w_id INT, IN p_d_id INT, IN p_c_id INT, IN p_c_last VARCHAR(16), OUT p_balance
  BIGINT, OUT p_o_id INT, OUT p_carrier_id INT, OUT p_lines INT, OUT p_amount BIGINT, OUT p_delivery_d
  BIGINT)
BEGIN
  DECLARE v_customer INT;
  DECLARE v_names INT;
  DECLARE v_n INT DEFAULT 0;
  DECLARE v_entry_d BIGINT;
  DECLARE v_i_id INT;
  DECLARE v_supply_w_id INT;
  DECLARE v_quantity INT;
  DECLARE v_amount BIGINT;
  DECLARE v_delivery_d BIGINT;
  DECLARE c_byname CURSOR FOR
    SELECT c_id, c_balance FROM customer
    WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_last = p_c_last ORDER BY c_first;
  START TRANSACTION;
  IF p_c_id IS NULL THEN
    SELECT COUNT(c_id) INTO v_names FROM customer WHERE c_last = p_c_last AND c_d_id = p_d_id AND c_w_id = p_w_id;
    OPEN c_byname;
    WHILE v_n * 2 < v_names DO
      FETCH c_byname INTO v_customer, p_balance;
      SET v_n = v_n + 1;
    END WHILE;
    CLOSE c_byname;
  ELSE
    SELECT c_id, c_balance INTO v_customer, p_balance
      FROM customer WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_id = p_c_id;
  END IF;
  IF v_customer IS NULL THEN
    ROLLBACK;
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no such customer';
  END IF;
  SELECT o_id, o_carrier_id, o_entry_d INTO p_o_id, p_carrier_id, v_entry_d
    FROM orders WHERE o_w_id = p_w_id AND o_d_id = p_d_id AND o_c_id = v_customer ORDER BY o_id DESC LIMIT 1;
  SET p_lines = 0;
  SET p_amount = 0;
  BEGIN
    DECLARE v_done INT DEFAULT 0;
    DECLARE c_lines CURSOR FOR
      SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
        FROM order_line WHERE ol_o_id = p_o_id AND ol_d_id = p_d_id AND ol_w_id = p_w_id;
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_done = 1;
    OPEN c_lines;
    FETCH c_lines INTO v_i_id, v_supply_w_id, v_quantity, v_amount, v_delivery_d;
    WHILE v_done = 0 DO
      SET p_lines = p_lines + 1;
      SET p_amount = p_amount + v_amount;
      SET p_delivery_d = v_delivery_d;
      FETCH c_lines INTO v_i_id, v_supply_w_id, v_quantity, v_amount, v_delivery_d;
    END WHILE;
    CLOSE c_lines;
  END;
  COMMIT;
END //

-- Delivery (clause 2.7): the oldest new order of each district. (There are two of them here, not ten.)
CREATE PROCEDURE delivery(IN p_w_id INT, IN p_carrier_id INT, IN p_now BIGINT, OUT p_delivered INT)
BEGIN
  DECLARE v_d_id INT DEFAULT 1;
  DECLARE v_o_id INT;
  DECLARE v_c_id INT;
  DECLARE v_total BIGINT;
  START TRANSACTION;
  SET p_delivered = 0;
  WHILE v_d_id <= 2 DO
    SELECT MIN(no_o_id) INTO v_o_id FROM new_order WHERE no_d_id = v_d_id AND no_w_id = p_w_id;
    IF v_o_id IS NOT NULL THEN
      DELETE FROM new_order WHERE no_o_id = v_o_id AND no_d_id = v_d_id AND no_w_id = p_w_id;
      SELECT o_c_id INTO v_c_id FROM orders WHERE o_id = v_o_id AND o_d_id = v_d_id AND o_w_id = p_w_id;
      UPDATE orders SET o_carrier_id = p_carrier_id WHERE o_id = v_o_id AND o_d_id = v_d_id AND o_w_id = p_w_id;
      UPDATE order_line SET ol_delivery_d = p_now
        WHERE ol_o_id = v_o_id AND ol_d_id = v_d_id AND ol_w_id = p_w_id;
      SELECT SUM(ol_amount) INTO v_total FROM order_line
        WHERE ol_o_id = v_o_id AND ol_d_id = v_d_id AND ol_w_id = p_w_id;
      UPDATE customer SET c_balance = c_balance + v_total, c_delivery_cnt = c_delivery_cnt + 1
        WHERE c_id = v_c_id AND c_d_id = v_d_id AND c_w_id = p_w_id;
      SET p_delivered = p_delivered + 1;
    END IF;
    SET v_d_id = v_d_id + 1;
  END WHILE;
  COMMIT;
END //

-- Stock-Level (clause 2.8): how many items of the last twenty orders are low.
CREATE PROCEDURE stock_level(IN p_w_id INT, IN p_d_id INT, IN p_threshold INT, OUT p_low INT)
BEGIN
  DECLARE v_next INT;
  START TRANSACTION;
  SELECT d_next_o_id INTO v_next FROM district WHERE d_w_id = p_w_id AND d_id = p_d_id;
  SELECT COUNT(DISTINCT s_i_id) INTO p_low FROM order_line, stock
    WHERE ol_w_id = p_w_id AND ol_d_id = p_d_id AND ol_o_id < v_next AND ol_o_id >= v_next - 20
    AND s_w_id = p_w_id AND s_i_id = ol_i_id AND s_quantity < p_threshold;
  COMMIT;
END //

DELIMITER ;

-- @assert kept payment NCR3, C_YTD_PAYMENT + C_BALANCE is changed by deliveries alone: SELECT c_w_id, c_d_id, c_id, c_ytd_payment, c_balance, COALESCE(l.total, 0) AS ol_amount FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS total FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) l ON l.o_w_id = c_w_id AND l.o_d_id = c_d_id AND l.o_c_id = c_id WHERE c_w_id = :p_c_w_id AND c_d_id = :p_c_d_id AND c_id = :p_customer AND c_ytd_payment + c_balance <> COALESCE(l.total, 0)
-- @assert kept delivery NCR6, as many orders have the carrier of a delivery as it delivered: SELECT w_id, :p_carrier_id AS carrier, :p_delivered AS delivered FROM warehouse WHERE w_id = :p_w_id AND (SELECT COUNT(*) FROM orders WHERE o_w_id = :p_w_id AND o_carrier_id = :p_carrier_id AND o_id > 2) < :p_delivered
