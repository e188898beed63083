-- 5 of 6 statements understood
-- line 37: what is sent here is not known, and not analysed
CREATE PROCEDURE by_constant(account INT)
BEGIN
  DECLARE answer_balance INT;
  SELECT balance INTO STRICT :answer_balance FROM accounts WHERE id = :account;
  RETURN :answer_balance;
END;

CREATE PROCEDURE by_value(account INT)
BEGIN
  DECLARE answer_balance INT;
  SELECT balance INTO STRICT :answer_balance FROM accounts WHERE id = :account;
  RETURN :answer_balance;
END;

CREATE PROCEDURE by_sign(account INT, owner VARCHAR(20))
BEGIN
  UPDATE accounts SET owner = :owner WHERE id = :account;
  DELETE FROM log WHERE account = :account;
  COMMIT;
END;

CREATE PROCEDURE by_branch(account INT, only_rich BOOLEAN)
BEGIN
  DECLARE way INT;
  DECLARE count INT;
  IF :only_rich THEN
    SET way = 1;
  ELSE
    SET way = 2;
  END IF;
  IF :way = 1 THEN
    OPEN answer FOR SELECT COUNT(*) FROM accounts WHERE id = :account AND balance > 1000;
  ELSE
    OPEN answer FOR SELECT COUNT(*) FROM accounts WHERE id = :account;
  END IF;
  FETCH answer INTO count;
  RETURN :count;
END;

CREATE PROCEDURE unknown()
BEGIN
  COMMIT;
END;
