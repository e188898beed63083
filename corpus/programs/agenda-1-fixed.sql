-- @program 1
-- Example 1 of Deng, Frankl, Chen, "Testing Database Transaction Concurrency", AGENDA 2003: a seat is booked, rightly.
--
-- Looking and booking are one transaction. At SERIALIZABLE that is enough.

CREATE TABLE flights (fltnum INT PRIMARY KEY, avail INT NOT NULL);

INSERT INTO flights (fltnum, avail) VALUES (1, 10), (2, 3), (3, 0);

-- @assert each no flight is overbooked: SELECT * FROM flights WHERE avail < 0

CREATE PROCEDURE choose_seat(flight INT)
BEGIN
  DECLARE avail INT;
  SELECT avail INTO :avail FROM flights WHERE fltnum = :flight;
  IF :avail > 0 THEN
    UPDATE flights SET avail = :avail - 1 WHERE fltnum = :flight;
  END IF;
  COMMIT;
END;
