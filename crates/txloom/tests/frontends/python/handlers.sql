-- 3 of 3 statements understood
CREATE PROCEDURE remove(account INT)
BEGIN
  DELETE FROM log WHERE account = :account;
  COMMIT;
END;

CREATE PROCEDURE clean(account INT)
BEGIN
  DELETE FROM log WHERE id = :account;
END;

CREATE PROCEDURE p_close(account INT)
BEGIN
  DELETE FROM accounts WHERE id = :account;
  COMMIT;
END;
