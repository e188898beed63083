-- @program 1
-- A balance is read and written back: of two deposits that read the same, one is lost.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);

CREATE PROCEDURE deposit(id INT, amount INT)
BEGIN
  DECLARE balance INT;
  SELECT balance INTO :balance FROM accounts WHERE id = :id;
  UPDATE accounts SET balance = :balance + :amount WHERE id = :id;
  COMMIT;
END;
