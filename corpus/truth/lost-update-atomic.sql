-- @program 1
-- The row is read and written by one statement.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);

CREATE PROCEDURE deposit(id INT, amount INT)
BEGIN
  UPDATE accounts SET balance = balance + :amount WHERE id = :id;
  COMMIT;
END;
