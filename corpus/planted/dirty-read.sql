-- @case 1
-- What is not committed is not seen: b reads 10, and 11 never was. With the bug it reads 11.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10);
/*a*/ BEGIN;
/*a*/ UPDATE t SET v = 11 WHERE id = 1;
/*b*/ SELECT v FROM t;
-- > rows (10)
/*a*/ ROLLBACK;
-- @final t (1, 10)
