-- @program 1
-- Money is taken if there is enough: two who look at the same balance take more than there is.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);

CREATE PROCEDURE withdraw(id INT, amount INT)
BEGIN
  DECLARE balance INT;
  SELECT balance INTO :balance FROM accounts WHERE id = :id;
  IF :balance >= :amount THEN
    UPDATE accounts SET balance = balance - :amount WHERE id = :id;
  END IF;
  COMMIT;
END;
