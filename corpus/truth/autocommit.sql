-- @program 1
-- Each statement is a transaction of its own: no level helps.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);

CREATE PROCEDURE deposit(id INT, amount INT) AUTOCOMMIT
BEGIN
  DECLARE balance INT;
  SELECT balance INTO :balance FROM accounts WHERE id = :id;
  UPDATE accounts SET balance = :balance + :amount WHERE id = :id;
END;
