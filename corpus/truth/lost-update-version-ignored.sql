-- @program 1
-- A version is compared, but nobody looks whether the row was there: the log says that both were paid in.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL, version INT NOT NULL);
CREATE TABLE deposits (account INT NOT NULL, amount INT NOT NULL, PRIMARY KEY (account, amount));

CREATE PROCEDURE deposit(id INT, amount INT)
BEGIN
  DECLARE balance INT;
  DECLARE version INT;
  SELECT balance, version INTO :balance, :version FROM accounts WHERE id = :id;
  UPDATE accounts SET balance = :balance + :amount, version = :version + 1 WHERE id = :id AND version = :version;
  INSERT INTO deposits (account, amount) VALUES (:id, :amount);
  COMMIT;
END;
