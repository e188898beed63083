-- @program 1
-- The next number is the greatest one plus one; nothing prevents that two get the same.

CREATE TABLE invoices (id INT PRIMARY KEY, number INT NOT NULL);

CREATE PROCEDURE invoice(id INT)
BEGIN
  DECLARE last INT;
  SELECT COALESCE(MAX(number), 0) INTO :last FROM invoices;
  INSERT INTO invoices (id, number) VALUES (:id, :last + 1);
  COMMIT;
END;
