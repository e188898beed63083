-- 2 of 3 statements understood
-- line 6: this is not Python: def broken(conn, account:
CREATE PROCEDURE fine(account INT)
BEGIN
  DELETE FROM accounts WHERE id = :account;
  COMMIT;
END;

CREATE PROCEDURE also_fine(account INT)
BEGIN
  DELETE FROM log WHERE account = :account;
  COMMIT;
END;

CREATE PROCEDURE wrong_column(account INT)
BEGIN
  UPDATE accounts SET nothing = 1 WHERE id = :account;
  COMMIT;
END;
