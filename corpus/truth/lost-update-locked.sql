-- @program 1
-- The row is locked before it is read.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);

CREATE PROCEDURE deposit(id INT, amount INT)
BEGIN
  DECLARE balance INT;
  SELECT balance INTO :balance FROM accounts WHERE id = :id FOR UPDATE;
  UPDATE accounts SET balance = :balance + :amount WHERE id = :id;
  COMMIT;
END;
