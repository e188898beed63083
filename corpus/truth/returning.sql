-- @program 1
-- PostgreSQL: the number that an UPDATE made comes back from it.

CREATE TABLE numbers (id INT PRIMARY KEY, last INT NOT NULL);
CREATE TABLE invoices (id INT PRIMARY KEY, number INT NOT NULL);

CREATE PROCEDURE invoice(id INT)
BEGIN
  DECLARE last INT;
  UPDATE numbers SET last = last + 1 WHERE id = 1 RETURNING last INTO :last;
  INSERT INTO invoices (id, number) VALUES (:id, :last);
  COMMIT;
END;
