-- @program 1
-- The last number is in a row of its own, which is raised and then read.

CREATE TABLE numbers (id INT PRIMARY KEY, last INT NOT NULL);
CREATE TABLE invoices (id INT PRIMARY KEY, number INT NOT NULL);

CREATE PROCEDURE invoice(id INT)
BEGIN
  DECLARE last INT;
  UPDATE numbers SET last = last + 1 WHERE id = 1;
  SELECT last INTO :last FROM numbers WHERE id = 1;
  INSERT INTO invoices (id, number) VALUES (:id, :last);
  COMMIT;
END;
