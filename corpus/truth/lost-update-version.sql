-- @program 1
-- Optimistic locking: who finds another version than the one that was read gives up.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL, version INT NOT NULL);

CREATE PROCEDURE deposit(id INT, amount INT)
BEGIN
  DECLARE balance INT;
  DECLARE version INT;
  SELECT balance, version INTO :balance, :version FROM accounts WHERE id = :id;
  UPDATE accounts SET balance = :balance + :amount, version = :version + 1 WHERE id = :id AND version = :version;
  IF ROW_COUNT() = 0 THEN
    ROLLBACK;
    SIGNAL 'somebody else was faster';
  END IF;
  COMMIT;
END;
