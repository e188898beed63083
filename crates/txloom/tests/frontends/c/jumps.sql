-- 4 of 4 statements understood
-- line 31: where goto retry leads is not followed
CREATE PROCEDURE close_account(id INT)
BEGIN
  DECLARE balance INT;
  SELECT balance INTO KEEP :balance FROM accounts WHERE id = :id;
  DECLARE sql_found BOOLEAN DEFAULT FOUND();
  IF NOT :sql_found THEN
    INSERT INTO log (id, account) VALUES (1, :id);
    SET sql_found = FOUND();
    COMMIT;
    SET sql_found = TRUE;
    RETURN 1;
  END IF;
  IF :balance < 0 THEN
    ROLLBACK;
    SET sql_found = TRUE;
    RETURN -1;
  END IF;
  DELETE FROM accounts WHERE id = :id;
  SET sql_found = FOUND();
  IF NOT :sql_found THEN
    INSERT INTO log (id, account) VALUES (1, :id);
    SET sql_found = FOUND();
    COMMIT;
    SET sql_found = TRUE;
    RETURN 1;
  END IF;
  COMMIT;
  SET sql_found = TRUE;
  RETURN 0;
END;

CREATE PROCEDURE again(id INT)
BEGIN
  DECLARE tries INT DEFAULT 0;
  UPDATE accounts SET balance = 0 WHERE id = :id;
  DECLARE before INT DEFAULT :tries;
  SET tries = :tries + 1;
  IF :before < 3 THEN
    RETURN;
  END IF;
  COMMIT;
  RETURN 0;
END;
