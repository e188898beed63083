-- 2 of 2 statements understood
CREATE PROCEDURE deposit(account INT, amount INT)
BEGIN
  DECLARE choice INT;
  DECLARE id INT DEFAULT :account;
  DECLARE balance INT DEFAULT 0;
  DECLARE is_null SMALLINT DEFAULT 0;
  SELECT balance INTO KEEP :balance FROM accounts WHERE id = :id;
  DECLARE sql_found BOOLEAN DEFAULT FOUND();
  IF :balance IS NULL THEN
    SET choice = -1;
  ELSE
    SET choice = 0;
  END IF;
  SET is_null = :choice;
  IF NOT :sql_found THEN
    RETURN -1;
  END IF;
  IF :is_null < 0 THEN
    SET balance = 0;
  END IF;
  SET balance = :balance + :amount;
  UPDATE accounts SET balance = :balance WHERE id = :id;
  SET sql_found = FOUND();
  IF ROW_COUNT() <> 1 THEN
    ROLLBACK;
    SET sql_found = TRUE;
    RETURN -1;
  END IF;
  COMMIT;
  SET sql_found = TRUE;
  RETURN 0;
END;
