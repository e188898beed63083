-- @case 1
-- A snapshot does not grow: a counts one row twice. With the bug it counts the row that b has committed in between.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10);
/*a*/ BEGIN;
/*a*/ SELECT count(*) FROM t;
-- > rows (1)
/*b*/ INSERT INTO t VALUES (2, 20);
-- > affected 1
/*a*/ SELECT count(*) FROM t;
-- > rows (1)
/*a*/ COMMIT;
-- > ok
-- @final t (1, 10) (2, 20)
