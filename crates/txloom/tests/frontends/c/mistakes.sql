-- 2 of 3 statements understood
-- line 8: this is not C: int broken(int id
-- line 26: a } is missing here
CREATE PROCEDURE fine(id INT)
BEGIN
  DELETE FROM accounts WHERE id = :id;
  COMMIT;
  RETURN 0;
END;

CREATE PROCEDURE also_fine(id INT)
BEGIN
  DELETE FROM log WHERE id = :id;
  COMMIT;
  RETURN 0;
END;

CREATE PROCEDURE wrong_column(id INT)
BEGIN
  UPDATE accounts SET nothing = 1 WHERE id = :id;
  COMMIT;
  RETURN 0;
END;
