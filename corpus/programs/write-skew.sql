-- @program 1
-- Write skew: a rule about two rows, each of which is written by another transaction.
--
-- A customer may overdraw one of her two accounts as long as both together are not below zero. withdraw looks at both
-- and writes one. Under snapshot isolation two withdrawals from different accounts do not notice each other.

CREATE TABLE accounts (customer INT NOT NULL, kind INT NOT NULL, balance INT NOT NULL, PRIMARY KEY (customer, kind));

INSERT INTO accounts (customer, kind, balance) VALUES (1, 1, 60), (1, 2, 40), (2, 1, 100), (2, 2, 0);

-- @assert each both accounts together are not overdrawn: SELECT customer, SUM(balance) AS total FROM accounts GROUP BY customer HAVING SUM(balance) < 0

CREATE PROCEDURE withdraw(customer INT, kind INT, amount INT)
BEGIN
  DECLARE total INT;
  SELECT SUM(balance) INTO :total FROM accounts WHERE customer = :customer;
  IF :total >= :amount THEN
    UPDATE accounts SET balance = balance - :amount WHERE customer = :customer AND kind = :kind;
  END IF;
  COMMIT;
END;
