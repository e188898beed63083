-- @program 1
-- A lost update: a balance that is read, added to by the program, and written back.
--
-- The receipts say what was deposited; each call adds one in the same transaction. Where two calls may read before
-- either writes, one of the deposits is missing in the balance.

CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);
CREATE TABLE receipts (receipt INT PRIMARY KEY, account INT NOT NULL, amount INT NOT NULL);

INSERT INTO accounts (id, balance) VALUES (1, 0), (2, 0);

-- @assert each the balance is the sum of the receipts: SELECT id, balance, COALESCE(r.total, 0) AS receipts FROM accounts LEFT JOIN (SELECT account, SUM(amount) AS total FROM receipts GROUP BY account) r ON r.account = id WHERE balance <> COALESCE(r.total, 0)

CREATE PROCEDURE deposit(receipt INT, account INT, amount INT)
BEGIN
  DECLARE balance INT;
  SELECT balance INTO :balance FROM accounts WHERE id = :account;
  INSERT INTO receipts (receipt, account, amount) VALUES (:receipt, :account, :amount);
  UPDATE accounts SET balance = :balance + :amount WHERE id = :account;
  COMMIT;
END;
