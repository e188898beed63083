-- @program 1
-- A dirty read: a report of stock that was never there.
--
-- take takes goods out first and looks afterwards; if there were too few, it rolls back. note writes down what it
-- finds. Where it may read what another transaction has not committed, it writes down less than nothing.

CREATE TABLE stock (item INT PRIMARY KEY, amount INT NOT NULL);
CREATE TABLE reports (report INT PRIMARY KEY, item INT NOT NULL, amount INT NOT NULL);

INSERT INTO stock (item, amount) VALUES (1, 5), (2, 8);

-- @assert each stock is never negative: SELECT * FROM stock WHERE amount < 0
-- @assert each no report of what was never there: SELECT * FROM reports WHERE amount < 0

CREATE PROCEDURE take(item INT, quantity INT)
BEGIN
  DECLARE remaining INT;
  UPDATE stock SET amount = amount - :quantity WHERE item = :item;
  SELECT amount INTO :remaining FROM stock WHERE item = :item;
  IF :remaining < 0 THEN
    ROLLBACK;
  ELSE
    COMMIT;
  END IF;
END;

CREATE PROCEDURE note(report INT, item INT)
BEGIN
  DECLARE found INT;
  SELECT amount INTO :found FROM stock WHERE item = :item;
  INSERT INTO reports (report, item, amount) VALUES (:report, :item, :found);
  COMMIT;
END;
