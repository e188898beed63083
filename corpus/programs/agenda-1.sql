-- @program 1
-- Example 1 of Deng, Frankl, Chen, "Testing Database Transaction Concurrency", AGENDA 2003: a seat is booked, wrongly.
--
-- The COMMIT after the SELECT ends the transaction too early: the number that is written back may be old by then. If A
-- looks, B books and then A books, two seats are sold and one is taken off. No isolation level helps.

CREATE TABLE flights (fltnum INT PRIMARY KEY, avail INT NOT NULL);

INSERT INTO flights (fltnum, avail) VALUES (1, 10), (2, 3), (3, 0);

-- @assert each no flight is overbooked: SELECT * FROM flights WHERE avail < 0

CREATE PROCEDURE choose_seat(flight INT)
BEGIN
  DECLARE avail INT;
  SELECT avail INTO :avail FROM flights WHERE fltnum = :flight;
  COMMIT;
  IF :avail > 0 THEN
    UPDATE flights SET avail = :avail - 1 WHERE fltnum = :flight;
    COMMIT;
  END IF;
END;
