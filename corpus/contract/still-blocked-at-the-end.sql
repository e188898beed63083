-- @case 1
-- a never ends its transaction. What waits for it at the end is cancelled, and said to be.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10);
/*a*/ BEGIN;
/*a*/ UPDATE t SET v = 11 WHERE id = 1;
/*b*/ UPDATE t SET v = 12 WHERE id = 1;
-- > blocked
-- > cancelled
/*b*/ SELECT v FROM t WHERE id = 1;
-- > rows (10)
-- > [mariadb read uncommitted, mysql read uncommitted] rows (11)
-- @final t (1, 10)
