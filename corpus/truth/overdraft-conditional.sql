-- @program 1
-- One statement looks at the balance and takes the money.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);

CREATE PROCEDURE withdraw(id INT, amount INT)
BEGIN
  UPDATE accounts SET balance = balance - :amount WHERE id = :id AND balance >= :amount;
  COMMIT;
END;
