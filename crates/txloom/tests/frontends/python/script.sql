-- 2 of 2 statements understood
CREATE PROCEDURE script()
BEGIN
  DECLARE answer_id INT;
  FOR answer_id IN (SELECT id FROM accounts WHERE balance < 0) DO
  END FOR;
  UPDATE accounts SET balance = 0 WHERE balance < 0;
  COMMIT;
END;
