-- @case 1
-- An UPDATE changes the rows that match, those that a query with the same condition has just shown, and no others. The
-- transaction of b only has to be there.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10), (2, 20), (3, 30);
/*init*/ CREATE TABLE u (id INT PRIMARY KEY);
/*b*/ BEGIN;
/*b*/ SELECT * FROM u;
-- > rows (empty)
/*a*/ BEGIN;
/*a*/ SELECT id FROM t WHERE v < 25;
-- > rows (1) (2)
/*a*/ UPDATE t SET v = 0 WHERE v < 25;
-- > affected 2
/*a*/ COMMIT;
/*b*/ COMMIT;
-- @final t (1, 0) (2, 0) (3, 30)
