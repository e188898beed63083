-- @program 1
-- Numbers without gaps: the next invoice of a year has the greatest number, plus one.
--
-- Two who issue an invoice at once see the same greatest number. At READ COMMITTED, and on PostgreSQL at REPEATABLE READ,
-- too, both write the same one.

CREATE TABLE invoices (id INT PRIMARY KEY, year INT NOT NULL, number INT NOT NULL);

INSERT INTO invoices (id, year, number) VALUES (1001, 1, 1), (1002, 1, 2), (1003, 2, 1);

-- @assert each numbers are different: SELECT year, number FROM invoices GROUP BY year, number HAVING COUNT(*) > 1

CREATE PROCEDURE issue(id INT, year INT, OUT number INT)
BEGIN
  SELECT COALESCE(MAX(number), 0) + 1 INTO :number FROM invoices WHERE year = :year;
  INSERT INTO invoices (id, year, number) VALUES (:id, :year, :number);
  COMMIT;
END;
