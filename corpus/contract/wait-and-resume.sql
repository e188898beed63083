-- @case 1
-- A write waits for the writer before it, is seen waiting, and goes on when that one ends; nothing is asked of a clock.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10);
/*a*/ BEGIN;
/*a*/ UPDATE t SET v = v + 1 WHERE id = 1;
-- > affected 1
/*b*/ UPDATE t SET v = v + 5 WHERE id = 1;
-- > blocked
-- > affected 1
/*c*/ SELECT v FROM t WHERE id = 1;
-- > rows (10)
-- > [mariadb read uncommitted, mysql read uncommitted] rows (11)
/*a*/ ROLLBACK;
-- > resumes b
/*c*/ SELECT v FROM t WHERE id = 1;
-- > rows (15)
-- @final t (1, 15)
