-- @program 1
-- A withdrawal from a bank account: look at the balance, take the money if there is enough, note a refusal if not.
--
-- Each call is one transaction, and right when it runs alone. It writes the difference of a balance that it has read
-- before: where two calls may read before either writes, one of the withdrawals is lost.
--
-- The schema that it works on:
--
--   CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);
--   CREATE TABLE refusals (account INT NOT NULL, amount INT NOT NULL);

CREATE PROCEDURE withdraw(account INT, amount INT)
BEGIN
  DECLARE balance INT;
  SELECT balance INTO :balance FROM accounts WHERE id = :account;
  IF :balance >= :amount THEN
    UPDATE accounts SET balance = :balance - :amount WHERE id = :account;
  ELSE
    INSERT INTO refusals (account, amount) VALUES (:account, :amount);
  END IF;
  COMMIT;
END;
