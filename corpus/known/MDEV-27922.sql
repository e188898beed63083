-- @case 1
-- MDEV-27922: b is the victim of a deadlock, so its transaction is over, and its INSERT is one of its own. MariaDB 10.5 puts it into a
-- transaction all the same, and the ROLLBACK undoes it.
-- @isolation repeatable read
/*init*/ CREATE TABLE t (k INT PRIMARY KEY);
/*init*/ INSERT INTO t VALUES (3);
/*a*/ BEGIN;
/*a*/ UPDATE t SET k = 5;
-- > affected 1
/*b*/ BEGIN;
/*b*/ DELETE FROM t;
-- > blocked
-- > [mariadb, mysql] error deadlock
-- > [postgres] error serialization-failure
/*a*/ INSERT INTO t VALUES (2);
-- > [mariadb, mysql] resumes b
-- > affected 1
/*a*/ COMMIT;
-- > [postgres] resumes b
/*b*/ INSERT INTO t VALUES (1);
-- > [mariadb, mysql] affected 1
-- > [postgres] error transaction-aborted
/*b*/ ROLLBACK;
-- @final [mariadb=10.11, mysql, mariadb=11.8] t (1) (2) (5)
-- @final [postgres, mariadb=10.5] t (2) (5)
