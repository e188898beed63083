-- @case 1
-- A lost update of two calls: the network is cut in the middle of the first one.
-- @node a 1
-- @node b 2
-- @program ../programs/withdraw.sql
-- @schedule a a [partition 1|2] a a b b b b [heal]
/*init*/ CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);
/*init*/ CREATE TABLE refusals (account INT, amount INT, PRIMARY KEY (account, amount));
/*init*/ INSERT INTO accounts VALUES (1, 100);
/*a*/ -- call withdraw(account=1, amount=60)
/*b*/ -- call withdraw(account=1, amount=50)
-- @final accounts (1, 50)
-- @final refusals (empty)
