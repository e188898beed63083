-- @case 1
-- A transaction may change a table twice. The transaction of b only has to be there.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10), (2, 20), (3, 30);
/*init*/ CREATE TABLE u (id INT PRIMARY KEY);
/*b*/ BEGIN;
/*b*/ SELECT * FROM u;
-- > rows (empty)
/*a*/ BEGIN;
/*a*/ UPDATE t SET v = 0 WHERE id = 1;
-- > affected 1
/*a*/ UPDATE t SET v = v + 1 WHERE id < 3;
-- > affected 2
/*a*/ COMMIT;
/*b*/ COMMIT;
-- @final t (1, 1) (2, 21) (3, 30)
