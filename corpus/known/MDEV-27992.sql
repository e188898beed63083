-- @case 1
-- MDEV-27992: b's DELETE waits for a, which moves the row to another primary key, and must then delete it under its new key. InnoDB
-- goes on behind the place where it waited, and leaves the row.
-- @isolation read committed
/*init*/ CREATE TABLE t (k INT PRIMARY KEY);
/*init*/ INSERT INTO t VALUES (3);
/*a*/ BEGIN;
/*a*/ UPDATE t SET k = 2;
-- > affected 1
/*b*/ DELETE FROM t;
-- > blocked
-- > [mariadb, mysql] affected 0
-- > [postgres] affected 1
/*a*/ UPDATE t SET k = 1;
-- > affected 1
/*a*/ COMMIT;
-- > resumes b
-- @final [mariadb, mysql] t (1)
-- @final [postgres] t (empty)
