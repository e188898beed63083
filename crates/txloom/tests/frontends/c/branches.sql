-- 7 of 7 statements understood
CREATE PROCEDURE act(kind INT, id INT)
BEGIN
  DECLARE id_2 INT;
  DECLARE id_3 INT;
  SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
  IF :kind = 1 THEN
    SET id_2 = :id;
    DELETE FROM accounts WHERE id = :id_2;
  ELSEIF :kind = 2 OR :kind = 3 THEN
    SET id_3 = :id;
    UPDATE accounts SET balance = 0 WHERE id = :id_3;
  ELSE
    RETURN -1;
  END IF;
  COMMIT;
  RETURN 0;
END;

CREATE PROCEDURE rounds(id INT, n INT)
BEGIN
  DECLARE i_2 INT;
  DECLARE id_2 INT;
  DECLARE id_3 INT;
  DECLARE n_2 INT;
  DECLARE i INT DEFAULT 0;
  WHILE :i < :n DO
    SET i_2 = :i;
    SET id_2 = :id;
    UPDATE accounts SET balance = balance + :i_2 WHERE id = :id_2;
    SET i = :i + 1;
  END WHILE;
  LOOP
    SET id_3 = :id;
    SET n_2 = :n;
    DELETE FROM log WHERE account = :id_3 AND amount = :n_2;
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
  DECLARE id_2 INT DEFAULT :id;
  UPDATE accounts SET balance = 0 WHERE id = :id_2;
  DECLARE id_3 INT DEFAULT :id;
  DELETE FROM log WHERE account = :id_3;
  RETURN 0;
END;
