-- @program 1
-- A rule that is asked about, and could be a check: what is in stock may be ordered.
--
-- The UPDATE takes from what is there now, so no order is lost. But the question whether there is enough was asked before:
-- at READ COMMITTED two orders for the last piece both go through. The question is asked of a sum, which PostgreSQL does not
-- lock.

CREATE TABLE stock (item INT PRIMARY KEY, quantity INT NOT NULL);
CREATE TABLE orders (id INT PRIMARY KEY, item INT NOT NULL, quantity INT NOT NULL);

INSERT INTO stock (item, quantity) VALUES (1, 5), (2, 1);

-- @assert each nothing is sold that is not there: SELECT item FROM stock WHERE quantity < 0

CREATE PROCEDURE order_item(id INT, item INT, wanted INT)
BEGIN
  DECLARE available INT;
  SELECT SUM(quantity) INTO :available FROM stock WHERE item = :item;
  IF :available >= :wanted THEN
    INSERT INTO orders (id, item, quantity) VALUES (:id, :item, :wanted);
    UPDATE stock SET quantity = quantity - :wanted WHERE item = :item;
  END IF;
  COMMIT;
END;
