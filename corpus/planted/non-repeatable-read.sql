-- @case 1
-- A snapshot does not change: a reads 10 twice. With the bug it sees the 11 that b has committed in between.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10);
/*a*/ BEGIN;
/*a*/ SELECT v FROM t;
-- > rows (10)
/*b*/ UPDATE t SET v = 11;
-- > affected 1
/*a*/ SELECT v FROM t;
-- > rows (10)
/*a*/ COMMIT;
-- > ok
-- @final t (1, 11)
