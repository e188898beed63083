-- @case 1
-- Not MDEV-35124: b's change is rolled back, so the row is what a saw. An engine that refused a's UPDATE would have a bug.
-- @isolation repeatable read
/*init*/ CREATE TABLE t (k INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 0);
/*a*/ BEGIN;
/*a*/ SELECT v FROM t;
-- > rows (0)
/*b*/ BEGIN;
/*b*/ UPDATE t SET v = 5;
-- > affected 1
/*b*/ ROLLBACK;
/*a*/ UPDATE t SET v = 1;
-- > affected 1
/*a*/ COMMIT;
-- @final t (1, 1)
