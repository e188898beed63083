-- @program 1
-- Each statement is a transaction of its own, so the lock is given back at once.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);

CREATE PROCEDURE deposit(id INT, amount INT) AUTOCOMMIT
BEGIN
  DECLARE balance INT;
  SELECT balance INTO :balance FROM accounts WHERE id = :id FOR UPDATE;
  UPDATE accounts SET balance = :balance + :amount WHERE id = :id;
END;
