-- @program 1
-- Money is taken if there is enough; a CHECK refuses who would overdraw.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL CHECK (balance >= 0));

CREATE PROCEDURE withdraw(id INT, amount INT)
BEGIN
  DECLARE balance INT;
  SELECT balance INTO :balance FROM accounts WHERE id = :id;
  IF :balance >= :amount THEN
    UPDATE accounts SET balance = balance - :amount WHERE id = :id;
  END IF;
  COMMIT;
END;
