-- @case 1
-- MDEV-27992: an UPDATE of a primary key must be atomic: b's DELETE waits for a, and must then delete the row under its new key.
-- DT², Figure 3. A bug to MariaDB, expected behaviour to MySQL (bug 106629). DT² announces a fix for 10.8.3; MariaDB 10.5, 10.11,
-- 11.8 and MySQL 9.7 all still leave the row at READ COMMITTED, and answer with a deadlock above it.
/*init*/ CREATE TABLE t (c1 INT PRIMARY KEY);
/*init*/ INSERT INTO t VALUES (3);
/*a*/ BEGIN;
/*a*/ UPDATE t SET c1 = 2;
-- > affected 1
/*b*/ BEGIN;
/*b*/ DELETE FROM t;
-- > blocked
-- > [sqlite, model read committed, postgres read uncommitted, postgres read committed] affected 1
-- > [model snapshot isolation, model serializable, postgres repeatable read, postgres serializable] error serialization-failure
-- > [mariadb read uncommitted, mariadb read committed, mysql read uncommitted, mysql read committed] affected 0
-- > [mariadb repeatable read, mariadb serializable, mysql repeatable read, mysql serializable] error deadlock
/*a*/ UPDATE t SET c1 = 1;
-- > affected 1
-- > [mariadb repeatable read, mariadb serializable, mysql repeatable read, mysql serializable] resumes b
/*a*/ COMMIT;
-- > [sqlite, model, postgres, mariadb read uncommitted, mariadb read committed, mysql read uncommitted, mysql read committed] resumes b
/*b*/ SELECT c1 FROM t;
-- > [sqlite, model read committed, postgres read uncommitted, postgres read committed] rows (empty)
-- > [model snapshot isolation, model serializable, mariadb, mysql] rows (1)
-- > [postgres repeatable read, postgres serializable] error transaction-aborted
/*b*/ COMMIT;
-- > [model snapshot isolation, model serializable] error other
-- > [postgres repeatable read, postgres serializable] tag ROLLBACK
-- @final [sqlite, model read committed, postgres read uncommitted, postgres read committed] t (empty)
-- @final [model snapshot isolation, model serializable, postgres repeatable read, postgres serializable, mariadb, mysql] t (1)
