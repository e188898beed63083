-- @case 1
-- There is no isolation: others see what is not committed, and a ROLLBACK takes it back everywhere.
-- @node a 1
-- @node b 2
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10), (2, 20);
/*a*/ BEGIN;
/*a*/ UPDATE t SET v = 11 WHERE id = 1;
-- > affected 1
/*a*/ DELETE FROM t WHERE id = 2;
-- > affected 1
/*b*/ SELECT * FROM t;
-- > rows (1, 11)
/*b*/ INSERT INTO t VALUES (3, 30);
-- > affected 1
/*a*/ ROLLBACK;
/*b*/ SELECT * FROM t ORDER BY id;
-- > ordered (1, 10) (2, 20) (3, 30)
-- @final t (1, 10) (2, 20) (3, 30)
