-- @program 1
-- 3 rounds of counting come before a lost update.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);

CREATE PROCEDURE deposit(id INT, amount INT)
BEGIN
  DECLARE i INT DEFAULT 0;
  DECLARE balance INT;
  WHILE :i < 3 DO
    SET i = :i + 1;
  END WHILE;
  SELECT balance INTO :balance FROM accounts WHERE id = :id;
  UPDATE accounts SET balance = :balance + :amount WHERE id = :id;
  COMMIT;
END;
