-- 6 of 6 statements understood
-- line 19: the value is not known here: any value is taken
CREATE PROCEDURE pay_all(bonus INT)
BEGIN
  DECLARE account INT;
  DECLARE balance INT;
  DECLARE cur_1 INT;
  DECLARE paid INT DEFAULT 0;
  FOR account, balance IN (SELECT id, balance FROM accounts) DO
    IF :balance < 0 THEN
      ITERATE;
    END IF;
    IF :balance > 1000000 THEN
      LEAVE;
    END IF;
    SET cur_1 = :balance + :bonus;
    UPDATE accounts SET balance = :cur_1 WHERE id = :account;
    SET paid = :paid + 1;
  END FOR;
  COMMIT;
  RETURN :paid;
END;

CREATE PROCEDURE note_all()
BEGIN
  DECLARE cur_any INT;
  WHILE ANY() DO
    SET cur_any = ANY();
    INSERT INTO log (id, account, amount) VALUES (:cur_any, :cur_any, :cur_any);
  END WHILE;
  COMMIT;
END;

CREATE PROCEDURE owners()
BEGIN
  DECLARE answer_owner VARCHAR(20);
  FOR answer_owner IN (SELECT owner FROM accounts WHERE balance > 0) DO
  END FOR;
END;

CREATE PROCEDURE drain()
BEGIN
  DECLARE answer_id INT;
  FOR answer_id IN (SELECT id FROM accounts) DO
    UPDATE accounts SET balance = 0 WHERE id = :answer_id;
  END FOR;
  COMMIT;
END;
