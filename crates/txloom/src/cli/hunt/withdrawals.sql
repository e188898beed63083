-- @case 1
-- Two people withdraw money from one account at the same time. Neither withdrawal may be lost.
-- @isolation snapshot isolation
-- @program withdraw.sql
/*init*/ CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);
/*init*/ CREATE TABLE customers (id INT PRIMARY KEY, account INT NOT NULL);
/*init*/ INSERT INTO accounts VALUES (1, 100);
/*init*/ INSERT INTO accounts VALUES (2, 500);
/*init*/ INSERT INTO customers VALUES (7, 1);
/*a*/ -- call withdraw(account=1, amount=30)
/*b*/ -- call withdraw(account=1, amount=20)
