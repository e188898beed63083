-- 1 of 1 statements understood
-- line 6: this is not Python: def broken(conn, account:
CREATE PROCEDURE fine(account INT)
BEGIN
  DELETE FROM accounts WHERE id = :account;
  COMMIT;
END;
