-- @program 1
-- Example 2 of Deng, Frankl, Chen, "Testing Database Transaction Concurrency", AGENDA 2003: a delivery, wrongly.
--
-- The COMMIT after the sum ends the transaction too early: an order line that comes in between is not in ol_total. The
-- statements are the paper's, with the column c_id of order_line that it forgot, and keys.
--
-- As printed, that leaves the state of a serial run (the delivery, then the new line). It is a failure only if a rule
-- ties the tables together, which the paper has in mind ("inconsistent between the order_line and customer tables") but
-- does not state. This is ours: the lines of a customer are one standing order, each delivery delivers all of it, and
-- once it has been delivered it is not changed any more. So what a customer owes is a multiple of what was ordered. The
-- part of New_order that the paper leaves out keeps the rule: it refuses lines after the first delivery.

CREATE TABLE customer (c_id INT PRIMARY KEY, c_balance INT NOT NULL CHECK (c_balance >= 0));
CREATE TABLE order_line (o_id INT PRIMARY KEY, c_id INT NOT NULL, ol_amount INT NOT NULL CHECK (ol_amount > 0));

INSERT INTO customer (c_id, c_balance) VALUES (1, 0), (2, 0), (3, 40);
INSERT INTO order_line (o_id, c_id, ol_amount) VALUES (1, 1, 10), (2, 1, 20), (3, 2, 5), (4, 3, 20);

-- @assert each what is owed was ordered: SELECT c.c_id, c_balance, o.total FROM customer c JOIN (SELECT c_id, SUM(ol_amount) AS total FROM order_line GROUP BY c_id) o ON o.c_id = c.c_id WHERE c_balance % NULLIF(o.total, 0) <> 0

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
  DECLARE owed INT;
  SELECT c_balance INTO :owed FROM customer WHERE c_id = :c_id;
  IF :owed = 0 THEN
    INSERT INTO order_line (o_id, c_id, ol_amount) VALUES (:o_id, :c_id, :amount);
  END IF;
  COMMIT;
END;
