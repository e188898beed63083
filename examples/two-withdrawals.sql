-- @case 1
-- Two people withdraw 60 and 30 from an account that holds 100. What the ledger says is gone must be gone.
-- @program bank.sql
-- @schedule a a b b a a a b b b
-- @assert end the books balance: SELECT balance AS is_there, 100 - total AS should_be FROM accounts, (SELECT COALESCE(SUM(amount), 0) AS total FROM ledger) AS gone WHERE balance <> 100 - total
/*init*/ CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);
/*init*/ CREATE TABLE ledger (account INT NOT NULL, amount INT NOT NULL);
/*init*/ INSERT INTO accounts VALUES (1, 100);
/*a*/ -- call withdraw(account=1, amount=60)
/*b*/ -- call withdraw(account=1, amount=30)
