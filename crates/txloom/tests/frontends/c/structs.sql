-- 3 of 3 statements understood
CREATE PROCEDURE note(id INT, account INT, amount INT, text VARCHAR)
BEGIN
  DECLARE choice VARCHAR;
  DECLARE e_account_2 INT;
  DECLARE e_amount_2 INT;
  DECLARE e_note_2 VARCHAR;
  DECLARE id_4 INT;
  DECLARE e_account INT DEFAULT :account;
  DECLARE e_amount INT DEFAULT :amount * 2;
  IF :text = '' THEN
    SET choice = 'nothing';
  ELSE
    SET choice = :text;
  END IF;
  DECLARE e_note VARCHAR DEFAULT :choice;
  DECLARE balance_2 INT DEFAULT 0;
  DECLARE id_3 INT DEFAULT :account;
  SELECT balance INTO KEEP :balance_2               FROM accounts WHERE id = :id_3;
  DECLARE balance INT DEFAULT :balance_2;
  IF NOT (:balance_2 > 0) <> 0 THEN
    ROLLBACK;
    RETURN -1;
  END IF;
  IF :balance DIV 2 > :e_amount AND :e_amount <> 0 THEN
    SET e_account_2 = :e_account;
    SET e_amount_2 = :e_amount;
    SET e_note_2 = :e_note;
    SET id_4 = :id;
    INSERT INTO log (id, account, amount, note) VALUES (:id_4, :e_account_2, :e_amount_2, :e_note_2);
  END IF;
  COMMIT;
  RETURN 0;
END;

CREATE PROCEDURE pay(e_account VARCHAR, e_amount VARCHAR)
BEGIN
  UPDATE accounts SET balance = balance + :e_amount WHERE id = :e_account;
  COMMIT;
END;
