-- @program 1
-- The next number is the greatest one plus one; a unique key refuses the second that gets it.

CREATE TABLE invoices (id INT PRIMARY KEY, number INT NOT NULL UNIQUE);

CREATE PROCEDURE invoice(id INT)
BEGIN
  DECLARE last INT;
  SELECT COALESCE(MAX(number), 0) INTO :last FROM invoices;
  INSERT INTO invoices (id, number) VALUES (:id, :last + 1);
  COMMIT;
END;
