-- @program 1
-- A withdrawal from a bank account: takes the amount off the balance, if there is enough.

CREATE PROCEDURE withdraw(account INT, amount INT)
BEGIN
  IF :amount > 0 THEN
    UPDATE accounts SET balance = balance - :amount WHERE id = :account AND balance >= :amount;
  END IF;
  COMMIT;
END;
