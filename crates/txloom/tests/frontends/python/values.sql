-- 5 of 5 statements understood
CREATE PROCEDURE choose(account INT, amount INT)
BEGIN
  DECLARE answer_balance INT;
  DECLARE answer_owner VARCHAR(20);
  DECLARE way INT;
  DECLARE chosen INT;
  DECLARE chosen_2 VARCHAR(20);
  DECLARE chosen_3 VARCHAR(20);
  DECLARE choice INT;
  DECLARE choice_2 INT;
  DECLARE way_2 INT;
  DECLARE chosen_4 INT;
  SELECT balance, owner INTO :answer_balance, :answer_owner FROM accounts WHERE id = :account;
  IF FOUND() THEN
    SET way = 1;
  ELSE
    SET way = 2;
  END IF;
  IF :way = 1 THEN
    SET chosen = :answer_balance;
  ELSE
    SET chosen = 0;
  END IF;
  DECLARE balance INT DEFAULT :chosen;
  IF :way = 1 THEN
    SET chosen_2 = :answer_owner;
  END IF;
  IF :way = 1 THEN
    SET chosen_3 = :chosen_2;
  ELSE
    SET chosen_3 = NULL;
  END IF;
  IF :chosen_3 = 'ada' THEN
    SET choice = 100;
  ELSE
    SET choice = -10;
  END IF;
  DECLARE limit INT DEFAULT :choice;
  IF :amount <> 0 THEN
    SET way_2 = 1;
  ELSE
    SET choice_2 = 1;
    SET way_2 = 2;
  END IF;
  IF 0 < :balance AND :balance <= 500 AND NOT (:way = 1 AND :chosen_2 IS NULL OR :way = 2) OR (:amount = 1 OR :amount = 2) THEN
    IF :way_2 = 1 THEN
      SET chosen_4 = :amount;
    ELSE
      SET chosen_4 = :choice_2;
    END IF;
    SET balance = :balance - :chosen_4 * 2;
  ELSEIF :balance DIV 2 > :limit THEN
    SET balance = :balance % 7;
  ELSE
    SET balance = -:balance;
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
