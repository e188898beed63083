-- @program 1
-- One statement, which is one transaction.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);

CREATE PROCEDURE deposit(id INT, amount INT) AUTOCOMMIT
BEGIN
  UPDATE accounts SET balance = balance + :amount WHERE id = :id;
END;
