-- @case 1
-- A transaction sees its own changes. With the bug a reads 10 after it has written 11, because b is open beside it.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10);
/*b*/ BEGIN;
/*a*/ BEGIN;
/*a*/ UPDATE t SET v = 11;
/*a*/ SELECT v FROM t;
-- > rows (11)
/*a*/ COMMIT;
-- > ok
/*b*/ COMMIT;
-- @final t (1, 11)
