-- 3 of 3 statements understood
CREATE PROCEDURE note(id INT, account INT, amount INT, text VARCHAR)
BEGIN
  DECLARE choice VARCHAR;
  DECLARE e_account INT DEFAULT :account;
  DECLARE e_amount INT DEFAULT :amount * 2;
  IF :text = '' THEN
    SET choice = 'nothing';
  ELSE
    SET choice = :text;
  END IF;
  DECLARE e_note VARCHAR(100) DEFAULT :choice;
  DECLARE balance_2 INT DEFAULT 0;
  SELECT balance INTO KEEP :balance_2 FROM accounts WHERE id = :account;
  DECLARE balance INT DEFAULT :balance_2;
  IF NOT :balance_2 > 0 THEN
    ROLLBACK;
    RETURN -1;
  END IF;
  IF :balance DIV 2 > :e_amount AND :e_amount <> 0 THEN
    INSERT INTO log (id, account, amount, note) VALUES (:id, :e_account, :e_amount, :e_note);
  END IF;
  COMMIT;
  RETURN 0;
END;

CREATE PROCEDURE pay(e_account INT, e_amount INT)
BEGIN
  UPDATE accounts SET balance = balance + :e_amount WHERE id = :e_account;
  COMMIT;
END;
