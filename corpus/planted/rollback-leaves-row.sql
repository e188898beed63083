-- @case 1
-- ROLLBACK undoes everything. With the bug the first row of a's INSERT stays, because b is open beside it.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10);
/*b*/ BEGIN;
/*a*/ BEGIN;
/*a*/ INSERT INTO t VALUES (2, 20), (3, 30);
/*a*/ ROLLBACK;
-- > ok
/*b*/ COMMIT;
-- @final t (1, 10)
