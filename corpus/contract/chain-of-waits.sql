-- @case 1
-- A chain of waits: c waits for b, which waits for a. When a ends, b goes on, and c still waits: for b alone.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10);
/*init*/ INSERT INTO t VALUES (2, 20);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ UPDATE t SET v = 11 WHERE id = 1;
/*b*/ UPDATE t SET v = 22 WHERE id = 2;
-- > [sqlite] blocked
-- > affected 1
/*b*/ UPDATE t SET v = v + 1 WHERE id = 1;
-- > [postgres, model, mariadb, mysql] blocked
-- > affected 1
/*c*/ UPDATE t SET v = v + 3 WHERE id = 2;
-- > blocked
/*a*/ ROLLBACK;
-- > resumes b
/*b*/ ROLLBACK;
-- > resumes c
-- @final t (1, 10) (2, 23)
