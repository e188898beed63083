-- @case 1
-- MDEV-26671: at REPEATABLE READ a sees a row that it must not see: its UPDATE changed what b had inserted since the snapshot. Found
-- by Troc. By design of InnoDB: a write looks at the latest rows, and what a transaction wrote it sees (MySQL 9.7; MariaDB counts the
-- row as not changed). MariaDB 11.8 refuses the UPDATE: innodb_snapshot_isolation.
/*init*/ CREATE TABLE t (c1 INT, c2 INT);
/*init*/ INSERT INTO t VALUES (0, 0), (1, 1);
/*a*/ BEGIN;
/*a*/ SELECT c1, c2 FROM t;
-- > rows (0, 0) (1, 1)
/*b*/ BEGIN;
/*b*/ INSERT INTO t VALUES (10, 2);
-- > affected 1
-- > [mariadb serializable, mysql serializable] blocked
/*b*/ COMMIT;
/*a*/ SELECT c1, c2 FROM t;
-- > [sqlite, model snapshot isolation, model serializable, postgres repeatable read, postgres serializable, mariadb repeatable read, mariadb serializable, mysql repeatable read, mysql serializable] rows (0, 0) (1, 1)
-- > [model read committed, postgres read uncommitted, postgres read committed, mariadb read uncommitted, mariadb read committed, mysql read uncommitted, mysql read committed] rows (0, 0) (1, 1) (10, 2)
/*a*/ UPDATE t SET c1 = 10;
-- > [sqlite, mariadb=11.8 repeatable read] error serialization-failure
-- > [model read committed, postgres read uncommitted, postgres read committed] affected 3
-- > [model snapshot isolation, model serializable, postgres repeatable read, postgres serializable, mariadb read uncommitted, mariadb read committed, mariadb=10.11, mariadb serializable, mysql, mariadb=10.5] affected 2
/*a*/ SELECT c1, c2 FROM t;
-- > [sqlite] rows (0, 0) (1, 1)
-- > [model read committed, postgres read uncommitted, postgres read committed, mariadb read uncommitted, mariadb read committed, mysql read uncommitted, mysql read committed, mysql repeatable read] rows (10, 0) (10, 1) (10, 2)
-- > [model snapshot isolation, model serializable, postgres repeatable read, postgres serializable, mariadb=10.11 repeatable read, mariadb serializable, mysql serializable, mariadb=10.5 repeatable read] rows (10, 0) (10, 1)
-- > [mariadb=11.8 repeatable read] rows (0, 0) (1, 1) (10, 2)
/*a*/ COMMIT;
-- > [model serializable] error serialization-failure
-- > [mariadb serializable, mysql serializable] resumes b
-- @final [sqlite, model serializable, mariadb=11.8 repeatable read] t (0, 0) (1, 1) (10, 2)
-- @final [model read committed, model snapshot isolation, postgres, mariadb read uncommitted, mariadb read committed, mariadb=10.11, mariadb serializable, mysql, mariadb=10.5] t (10, 0) (10, 1) (10, 2)
