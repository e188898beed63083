-- 1 of 1 statements understood
-- line 1: this is not C: int fine(int id)
CREATE PROCEDURE fine(id INT)
BEGIN
  DECLARE id_2 INT DEFAULT :id;
  DELETE FROM accounts WHERE id = :id_2;
  COMMIT;
  RETURN 0;
END;
