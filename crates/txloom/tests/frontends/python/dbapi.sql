-- 5 of 5 statements understood
CREATE PROCEDURE total()
BEGIN
  DECLARE answer_sum INT;
  SELECT SUM(balance) INTO STRICT :answer_sum FROM accounts;
  RETURN :answer_sum;
END;

CREATE PROCEDURE deposit(account INT, amount INT)
BEGIN
  DECLARE answer_balance INT;
  DECLARE answer_owner VARCHAR(20);
  SELECT balance, owner INTO :answer_balance, :answer_owner FROM accounts WHERE id = :account;
  IF NOT FOUND() THEN
    SIGNAL 'no account';
  END IF;
  DECLARE cur_1 INT DEFAULT :answer_balance + :amount;
  UPDATE accounts SET balance = :cur_1 WHERE id = :account;
  IF ROW_COUNT() <> 1 THEN
    ROLLBACK;
    RETURN FALSE;
  END IF;
  COMMIT;
  RETURN TRUE;
END;

CREATE PROCEDURE add(account INT, amount INT, note VARCHAR(100))
BEGIN
  UPDATE accounts
        SET balance = balance + :amount
        WHERE id = :account;
  INSERT INTO log (account, amount, note) VALUES (:account, :amount, :note);
  COMMIT;
END;
