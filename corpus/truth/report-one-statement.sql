-- @program 1
-- A report adds all balances in one statement.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);
CREATE TABLE reports (id INT PRIMARY KEY, total INT NOT NULL);

CREATE PROCEDURE report(id INT)
BEGIN
  DECLARE total INT;
  SELECT SUM(balance) INTO :total FROM accounts;
  INSERT INTO reports (id, total) VALUES (:id, :total);
  COMMIT;
END;

CREATE PROCEDURE move(amount INT)
BEGIN
  UPDATE accounts SET balance = balance - :amount WHERE id = 1;
  UPDATE accounts SET balance = balance + :amount WHERE id = 2;
  COMMIT;
END;
