-- 7 of 7 statements understood
CREATE PROCEDURE two_transactions(account INT, amount INT)
BEGIN
  DECLARE balance INT;
  SELECT balance INTO STRICT :balance FROM accounts WHERE id = :account;
  COMMIT;
  DECLARE value_balance INT DEFAULT :balance + :amount;
  UPDATE accounts SET balance = :value_balance WHERE id = :account;
  COMMIT;
END;

CREATE PROCEDURE as_you_go(account INT)
BEGIN
  DECLARE answer_balance INT;
  SELECT balance INTO :answer_balance FROM accounts WHERE id = :account;
  IF NOT FOUND() THEN
    RETURN;
  END IF;
  INSERT INTO log (account, amount) VALUES (:account, :answer_balance);
  COMMIT;
  RETURN :answer_balance;
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
  SELECT owner INTO :owner_2 FROM accounts WHERE id = :account;
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
