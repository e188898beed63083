-- @case 1
-- Two people withdraw money from one account at the same time. Neither withdrawal may be lost.
-- @isolation snapshot isolation
-- @program withdraw.sql
/*init*/ CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);
/*init*/ CREATE TABLE refusals (account INT NOT NULL, amount INT NOT NULL);
/*init*/ INSERT INTO accounts VALUES (1, 100);
/*init*/ INSERT INTO accounts VALUES (2, 500);
/*a*/ -- call withdraw(account=1, amount=80)
/*b*/ -- call withdraw(account=1, amount=80)
