-- @program 1
-- One statement reads the greatest number and inserts the next one.

CREATE TABLE invoices (id INT PRIMARY KEY, number INT NOT NULL);

CREATE PROCEDURE invoice(id INT)
BEGIN
  INSERT INTO invoices (id, number) SELECT :id, COALESCE(MAX(number), 0) + 1 FROM invoices;
  COMMIT;
END;
