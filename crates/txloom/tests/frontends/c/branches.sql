-- 7 of 7 statements understood
CREATE PROCEDURE act(kind INT, id INT)
BEGIN
  SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
  IF :kind = 1 THEN
    DELETE FROM accounts WHERE id = :id;
  ELSEIF :kind = 2 OR :kind = 3 THEN
    UPDATE accounts SET balance = 0 WHERE id = :id;
  ELSE
    RETURN -1;
  END IF;
  COMMIT;
  RETURN 0;
END;

CREATE PROCEDURE rounds(id INT, n INT)
BEGIN
  DECLARE i INT DEFAULT 0;
  WHILE :i < :n DO
    UPDATE accounts SET balance = balance + :i WHERE id = :id;
    SET i = :i + 1;
  END WHILE;
  LOOP
    DELETE FROM log WHERE account = :id AND amount = :n;
    SET n = :n - 1;
    IF NOT :n > 0 THEN
      LEAVE;
    END IF;
  END LOOP;
  COMMIT;
  RETURN :i;
END;

CREATE PROCEDURE each_for_itself(id INT) AUTOCOMMIT
BEGIN
  UPDATE accounts SET balance = 0 WHERE id = :id;
  DELETE FROM log WHERE account = :id;
  RETURN 0;
END;
