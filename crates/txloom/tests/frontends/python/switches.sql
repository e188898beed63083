-- 7 of 7 statements understood
CREATE PROCEDURE each_for_itself(account INT) AUTOCOMMIT
BEGIN
  DECLARE balance INT;
  SELECT balance INTO STRICT :balance FROM accounts WHERE id = :account;
  DECLARE cur_1_2 INT DEFAULT :balance + 1;
  UPDATE accounts SET balance = :cur_1_2 WHERE id = :account;
END;

CREATE PROCEDURE serializable(account INT)
BEGIN
  SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
  UPDATE accounts SET balance = 0 WHERE id = :account;
  COMMIT;
END;

CREATE PROCEDURE by_words(account INT)
BEGIN
  START TRANSACTION;
  SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
  UPDATE accounts SET balance = 0 WHERE id = :account;
  COMMIT;
END;
