-- @case 1
-- What was committed before a transaction began is seen by it. With the bug a reads 10 after c's commit, because b is open beside it.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10);
/*b*/ BEGIN;
/*c*/ UPDATE t SET v = 11;
/*a*/ BEGIN;
/*a*/ SELECT v FROM t;
-- > rows (11)
/*a*/ COMMIT;
/*b*/ COMMIT;
-- @final t (1, 11)
