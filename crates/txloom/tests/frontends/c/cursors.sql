-- 4 of 4 statements understood
CREATE PROCEDURE add_to_all(bonus INT)
BEGIN
  DECLARE cursor_all_accounts_id INT;
  DECLARE cursor_all_accounts_balance INT;
  DECLARE sql_found BOOLEAN;
  DECLARE account INT;
  DECLARE balance INT;
  DECLARE sum INT DEFAULT :bonus;
  DECLARE count INT DEFAULT 0;
  OPEN cursor_all_accounts FOR SELECT id, balance FROM accounts;
  LOOP
    FETCH cursor_all_accounts INTO cursor_all_accounts_id, cursor_all_accounts_balance;
    SET sql_found = FOUND();
    IF :sql_found THEN
      SET account = :cursor_all_accounts_id;
      SET balance = :cursor_all_accounts_balance;
    END IF;
    IF NOT :sql_found THEN
      LEAVE;
    END IF;
    SET balance = :balance + :sum;
    UPDATE accounts SET balance = :balance WHERE id = :account;
    SET sql_found = FOUND();
    SET count = :count + 1;
  END LOOP;
  COMMIT;
  SET sql_found = TRUE;
  RETURN :count;
END;

CREATE PROCEDURE first_owner(owner VARCHAR(20))
BEGIN
  DECLARE cursor_by_owner_id INT;
  DECLARE sql_found BOOLEAN;
  DECLARE id INT;
  OPEN cursor_by_owner FOR SELECT id FROM accounts WHERE owner = :owner ORDER BY id;
  LOOP
    FETCH cursor_by_owner INTO cursor_by_owner_id;
    SET sql_found = FOUND();
    IF :sql_found THEN
      SET id = :cursor_by_owner_id;
    END IF;
    IF NOT :sql_found THEN
      LEAVE;
    END IF;
    DELETE FROM log WHERE account = :id;
    SET sql_found = FOUND();
  END LOOP;
  COMMIT;
  SET sql_found = TRUE;
  RETURN 0;
END;
