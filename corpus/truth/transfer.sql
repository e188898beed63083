-- @program 1
-- Two balances are read, and both written back.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);

CREATE PROCEDURE transfer(source INT, target INT, amount INT)
BEGIN
  DECLARE one INT;
  DECLARE other INT;
  SELECT balance INTO :one FROM accounts WHERE id = :source;
  SELECT balance INTO :other FROM accounts WHERE id = :target;
  IF :one >= :amount THEN
    UPDATE accounts SET balance = :one - :amount WHERE id = :source;
    UPDATE accounts SET balance = :other + :amount WHERE id = :target;
  END IF;
  COMMIT;
END;
