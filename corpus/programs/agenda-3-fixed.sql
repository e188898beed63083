-- @program 1
-- Example 3 of Deng, Frankl, Chen, "Testing Database Transaction Concurrency", AGENDA 2003: a transfer, rightly.
--
-- Both updates are one transaction: the money is either moved or not.

CREATE TABLE saving (acctnum INT PRIMARY KEY, balance INT NOT NULL);
CREATE TABLE checking (acctnum INT PRIMARY KEY, balance INT NOT NULL);

INSERT INTO saving (acctnum, balance) VALUES (1, 100), (2, 200), (3, 300);
INSERT INTO checking (acctnum, balance) VALUES (1, 150), (2, 250), (3, 0);

-- @assert each the sum of both accounts does not change: SELECT s.total AS saving, c.total AS checking FROM (SELECT SUM(balance) AS total FROM saving) s, (SELECT SUM(balance) AS total FROM checking) c WHERE s.total + c.total <> 1000

CREATE PROCEDURE transfer(in_acct1 INT, in_acct2 INT, amount INT)
BEGIN
  DECLARE out_balance INT;
  SELECT balance INTO :out_balance FROM saving WHERE acctnum = :in_acct1;
  IF :out_balance > :amount THEN
    UPDATE saving SET balance = balance - :amount WHERE acctnum = :in_acct1;
    UPDATE checking SET balance = balance + :amount WHERE acctnum = :in_acct2;
  END IF;
  COMMIT;
END;
