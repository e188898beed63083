-- @program 1
-- A bank as many are written: read the balance, decide, write the difference. Every withdrawal is noted in a ledger.
CREATE PROCEDURE withdraw(account INT, amount INT)
BEGIN
  DECLARE balance INT;
  SELECT balance INTO :balance FROM accounts WHERE id = :account;
  IF :balance >= :amount THEN
    UPDATE accounts SET balance = :balance - :amount WHERE id = :account;
    INSERT INTO ledger VALUES (:account, :amount);
  END IF;
  COMMIT;
END;
