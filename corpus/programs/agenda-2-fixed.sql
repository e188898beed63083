-- @program 1
-- Example 2 of Deng, Frankl, Chen, "Testing Database Transaction Concurrency", AGENDA 2003: a delivery, rightly.
--
-- The sum and the balance are one transaction. At SERIALIZABLE that is enough; what the assertion means, and why
-- new_order refuses lines, agenda-2.sql says.

CREATE TABLE customer (c_id INT PRIMARY KEY, c_balance INT NOT NULL CHECK (c_balance >= 0));
CREATE TABLE order_line (o_id INT PRIMARY KEY, c_id INT NOT NULL, ol_amount INT NOT NULL CHECK (ol_amount > 0));

INSERT INTO customer (c_id, c_balance) VALUES (1, 0), (2, 0), (3, 40);
INSERT INTO order_line (o_id, c_id, ol_amount) VALUES (1, 1, 10), (2, 1, 20), (3, 2, 5), (4, 3, 20);

-- @assert each what is owed was ordered: SELECT c.c_id, c_balance, o.total FROM customer c JOIN (SELECT c_id, SUM(ol_amount) AS total FROM order_line GROUP BY c_id) o ON o.c_id = c.c_id WHERE c_balance % NULLIF(o.total, 0) <> 0

CREATE PROCEDURE delivery(c_id INT)
BEGIN
  DECLARE ol_total INT;
  SELECT SUM(ol_amount) INTO :ol_total FROM order_line WHERE c_id = :c_id;
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
