-- @program 1
-- Money goes from one account to another, by two statements that read what they write.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);

CREATE PROCEDURE transfer(source INT, target INT, amount INT)
BEGIN
  UPDATE accounts SET balance = balance - :amount WHERE id = :source AND balance >= :amount;
  IF ROW_COUNT() = 1 THEN
    UPDATE accounts SET balance = balance + :amount WHERE id = :target;
  END IF;
  COMMIT;
END;
