-- 4 of 4 statements understood
CREATE PROCEDURE withdraw(account INT, amount INT)
BEGIN
  DECLARE balance INT;
  SELECT balance INTO STRICT :balance FROM accounts WHERE id = :account;
  IF :balance < :amount THEN
    ROLLBACK;
    RETURN 0;
  END IF;
  UPDATE accounts SET balance = balance - :amount WHERE id = :account;
  COMMIT;
  RETURN :amount;
END;

CREATE PROCEDURE guarded(account INT)
BEGIN
  DELETE FROM accounts WHERE id = :account;
  COMMIT;
END;

CREATE PROCEDURE asserted(account INT)
BEGIN
  IF NOT :account > 0 THEN
    SIGNAL 'no such account';
  END IF;
  DELETE FROM log WHERE account = :account;
  COMMIT;
END;
