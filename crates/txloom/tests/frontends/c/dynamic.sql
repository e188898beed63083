-- 4 of 5 statements understood
-- line 27: what is sent here is not known, and not analysed
CREATE PROCEDURE add(id INT, amount INT)
BEGIN
  UPDATE accounts SET balance = balance + :amount WHERE id = :id;
  COMMIT;
  RETURN 0;
END;

CREATE PROCEDURE add_by_text(id INT, amount INT)
BEGIN
  UPDATE accounts SET balance = balance + :amount WHERE id = :id;
  UPDATE accounts SET balance = balance + :amount WHERE id = :id;
  COMMIT;
  RETURN 0;
END;

CREATE PROCEDURE anything()
BEGIN
  COMMIT;
  RETURN 0;
END;

CREATE PROCEDURE by_cursor(id INT)
BEGIN
  DECLARE cursor_answers_balance INT;
  SELECT balance INTO :cursor_answers_balance FROM accounts WHERE id = :id;
  COMMIT;
  RETURN 0;
END;
