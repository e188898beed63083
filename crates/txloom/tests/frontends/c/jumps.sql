-- 4 of 4 statements understood
-- line 31: where goto retry leads is not followed
CREATE PROCEDURE close_account(id INT)
BEGIN
  DECLARE id_3 INT;
  DECLARE id_5 INT;
  DECLARE balance INT;
  DECLARE id_2 INT DEFAULT :id;
  SELECT balance INTO KEEP :balance               FROM accounts WHERE id = :id_2;
  DECLARE sql_found BOOLEAN DEFAULT FOUND();
  IF NOT :sql_found THEN
    SET id_3 = :id;
    INSERT INTO log (id, account) VALUES (1, :id_3);
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
  DECLARE id_4 INT DEFAULT :id;
  DELETE FROM accounts WHERE id = :id_4;
  SET sql_found = FOUND();
  IF NOT :sql_found THEN
    SET id_5 = :id;
    INSERT INTO log (id, account) VALUES (1, :id_5);
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
  DECLARE id_2 INT DEFAULT :id;
  UPDATE accounts SET balance = 0 WHERE id = :id_2;
  DECLARE before INT DEFAULT :tries;
  SET tries = :tries + 1;
  IF :before < 3 THEN
    RETURN;
  END IF;
  COMMIT;
  RETURN 0;
END;
