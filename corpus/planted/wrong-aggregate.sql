-- @case 1
-- A transaction that has written counts as well as anybody.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10), (2, 20), (3, 30);
/*a*/ BEGIN;
/*a*/ UPDATE t SET v = 0 WHERE id = 1;
/*a*/ SELECT COUNT(*), SUM(v) FROM t;
-- > rows (3, 50)
/*a*/ COMMIT;
/*a*/ SELECT COUNT(*), SUM(v) FROM t;
-- > rows (3, 50)
