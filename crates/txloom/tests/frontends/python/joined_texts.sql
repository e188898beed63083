-- 1 of 1 statements understood
CREATE PROCEDURE book(number INT, account INT, owner VARCHAR)
BEGIN
  DECLARE value_3 VARCHAR(100) DEFAULT 'for ' || :owner || ', no. ' || :number || '!';
  INSERT INTO log VALUES (:number, :account, 0, :value_3);
  COMMIT;
END;
