-- @program 1
-- Ten rounds of counting come before an update that locks what it reads.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);

CREATE PROCEDURE deposit(id INT, amount INT)
BEGIN
  DECLARE i INT DEFAULT 0;
  DECLARE balance INT;
  WHILE :i < 10 DO
    SET i = :i + 1;
  END WHILE;
  SELECT balance INTO :balance FROM accounts WHERE id = :id FOR UPDATE;
  UPDATE accounts SET balance = :balance + :amount WHERE id = :id;
  COMMIT;
END;
