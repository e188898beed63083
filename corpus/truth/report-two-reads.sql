-- @program 1
-- A report reads two balances one after the other, and writes the sum; money that is moved in between is missing.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);
CREATE TABLE reports (id INT PRIMARY KEY, total INT NOT NULL);

CREATE PROCEDURE report(id INT)
BEGIN
  DECLARE one INT;
  DECLARE other INT;
  SELECT balance INTO :one FROM accounts WHERE id = 1;
  SELECT balance INTO :other FROM accounts WHERE id = 2;
  INSERT INTO reports (id, total) VALUES (:id, :one + :other);
  COMMIT;
END;

CREATE PROCEDURE move(amount INT)
BEGIN
  UPDATE accounts SET balance = balance - :amount WHERE id = 1;
  UPDATE accounts SET balance = balance + :amount WHERE id = 2;
  COMMIT;
END;
