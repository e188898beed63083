-- 5 of 5 statements understood
-- line 5: the value is not known here: any value is taken
-- line 6: the value is not known here: any value is taken
-- line 8: the value is not known here: any value is taken
-- line 8: the value is not known here: any value is taken
-- line 13: the value is not known here: any value is taken
CREATE PROCEDURE choose(account INT, amount INT)
BEGIN
  DECLARE answer_balance INT;
  DECLARE answer_owner VARCHAR(20);
  DECLARE choice INT;
  DECLARE choice_2 INT;
  DECLARE way_2 INT;
  DECLARE chosen INT;
  DECLARE balance DECIMAL;
  SELECT balance, owner INTO FIRST :answer_balance, :answer_owner FROM accounts WHERE id = :account;
  IF ANY() THEN
    SET choice = 100;
  ELSE
    SET choice = -10;
  END IF;
  DECLARE limit INT DEFAULT :choice;
  IF :amount THEN
    SET way_2 = 1;
  ELSE
    SET choice_2 = 1;
    SET way_2 = 2;
  END IF;
  IF ANY() AND ANY() AND ANY() OR (:amount = 1 OR :amount = 2) THEN
    IF :way_2 = 1 THEN
      SET chosen = :amount;
    ELSE
      SET chosen = :choice_2;
    END IF;
    SET balance = ANY() - :chosen * 2;
  ELSEIF ANY() DIV 2 > :limit THEN
    SET balance = ANY() % 7;
  ELSE
    SET balance = ANY();
  END IF;
  UPDATE accounts SET balance = :balance WHERE id = :account;
  COMMIT;
END;

CREATE PROCEDURE from_request(request_json_account INT, request_json_amount INT)
BEGIN
  DELETE FROM log WHERE account = :request_json_account AND amount = :request_json_amount;
  COMMIT;
END;

CREATE PROCEDURE matched(kind VARCHAR, account INT)
BEGIN
  DECLARE way INT;
  IF :kind = 'open' OR :kind = 'new' THEN
    SET way = 1;
  ELSEIF :kind = 'close' THEN
    SET way = 2;
  ELSE
    SIGNAL 'what?';
  END IF;
  IF :way = 1 THEN
    INSERT INTO accounts (id, balance) VALUES (:account, 0);
  ELSE
    DELETE FROM accounts WHERE id = :account;
  END IF;
  COMMIT;
END;
