-- @case 1
-- A lost update: two sessions deposit at two nodes that do not hear of each other, and the later write wins.
-- @node a 1
-- @node b 2
/*init*/ CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL);
/*init*/ INSERT INTO account VALUES (1, 100);
-- @partition 1|2
/*a*/ UPDATE account SET balance = balance + 10 WHERE id = 1;
-- > affected 1
/*b*/ UPDATE account SET balance = balance + 50 WHERE id = 1;
-- > affected 1
/*a*/ SELECT balance FROM account;
-- > rows (110)
/*b*/ SELECT balance FROM account;
-- > rows (150)
-- @heal
/*a*/ SELECT balance FROM account;
-- > rows (150)
/*b*/ SELECT balance FROM account;
-- > rows (150)
-- @final account (1, 150)
