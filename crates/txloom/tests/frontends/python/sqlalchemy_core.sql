-- 7 of 8 statements understood
-- line 19: what is sent here is not known, and not analysed
-- line 19: the value is not known here: any value is taken
-- line 22: the value is not known here: any value is taken
CREATE PROCEDURE two_transactions(account INT, amount INT)
BEGIN
  DECLARE balance INT;
  SELECT balance INTO STRICT :balance FROM accounts WHERE id = :account;
  COMMIT;
  DECLARE balance_2 DECIMAL DEFAULT :balance + :amount;
  UPDATE accounts SET balance = :balance_2 WHERE id = :account;
  COMMIT;
END;

CREATE PROCEDURE as_you_go(account INT)
BEGIN
  IF ANY() THEN
    RETURN;
  END IF;
  DECLARE value_b INT DEFAULT ANY();
  INSERT INTO log (account, amount) VALUES (:account, :value_b);
  COMMIT;
END;

CREATE PROCEDURE at_serializable(account INT)
BEGIN
  SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
  DELETE FROM accounts WHERE id = :account;
  COMMIT;
END;

CREATE PROCEDURE by_session(account INT)
BEGIN
  DECLARE owner_2 VARCHAR(20);
  SELECT owner INTO FIRST :owner_2 FROM accounts WHERE id = :account;
  IF :owner_2 IS NOT NULL THEN
    UPDATE accounts SET owner = NULL WHERE id = :account;
  END IF;
  COMMIT;
END;

CREATE PROCEDURE report()
BEGIN
  DECLARE answer_id INT;
  DECLARE answer_balance INT;
  FOR answer_id, answer_balance IN (SELECT id, balance FROM accounts) DO
  END FOR;
  COMMIT;
END;
