-- @case 1
-- MySQL 105670: at REPEATABLE READ a deletes two rows of which b has deleted one, and then still sees that one: it is in a's snapshot,
-- and a's DELETE did not find it any more. Found by Troc; a duplicate of MDEV-26671. By design of InnoDB; MariaDB 11.8 refuses the
-- DELETE.
/*init*/ CREATE TABLE t (c1 INT PRIMARY KEY, c2 INT);
/*init*/ INSERT INTO t VALUES (1, 1), (2, 2);
/*a*/ BEGIN;
/*a*/ SELECT c1, c2 FROM t;
-- > rows (1, 1) (2, 2)
/*b*/ BEGIN;
/*b*/ DELETE FROM t WHERE c1 = 1;
-- > [sqlite, model, postgres, mariadb read uncommitted, mariadb read committed, mariadb repeatable read, mysql read uncommitted, mysql read committed, mysql repeatable read] affected 1
-- > [mariadb serializable, mysql serializable] blocked
-- > [mariadb=10.11 serializable, mariadb=10.5 serializable] error deadlock
-- > [mysql serializable] affected 0
-- > [mariadb=11.8 serializable] error serialization-failure
/*b*/ COMMIT;
/*a*/ SELECT c1, c2 FROM t;
-- > [sqlite, model snapshot isolation, model serializable, postgres repeatable read, postgres serializable, mariadb repeatable read, mariadb serializable, mysql repeatable read, mysql serializable] rows (1, 1) (2, 2)
-- > [model read committed, postgres read uncommitted, postgres read committed, mariadb read uncommitted, mariadb read committed, mysql read uncommitted, mysql read committed] rows (2, 2)
/*a*/ DELETE FROM t WHERE c1 = 1 OR c1 = 2;
-- > [sqlite, model snapshot isolation, model serializable, postgres repeatable read, postgres serializable, mariadb=11.8 repeatable read] error serialization-failure
-- > [model read committed, postgres read uncommitted, postgres read committed, mariadb read uncommitted, mariadb read committed, mariadb=10.11 repeatable read, mysql read uncommitted, mysql read committed, mysql repeatable read, mariadb=10.5 repeatable read] affected 1
-- > [mariadb=10.11 serializable, mariadb=10.5 serializable] resumes b
-- > [mariadb serializable, mysql serializable] affected 2
/*a*/ SELECT c1, c2 FROM t;
-- > [sqlite] rows (1, 1) (2, 2)
-- > [model read committed, postgres read uncommitted, postgres read committed, mariadb read uncommitted, mariadb read committed, mariadb serializable, mysql read uncommitted, mysql read committed, mysql serializable] rows (empty)
-- > [model snapshot isolation, model serializable, mariadb=11.8 repeatable read] rows (2, 2)
-- > [postgres repeatable read, postgres serializable] error transaction-aborted
-- > [mariadb=10.11 repeatable read, mysql repeatable read, mariadb=10.5 repeatable read] rows (1, 1)
/*a*/ COMMIT;
-- > [model snapshot isolation, model serializable] error other
-- > [postgres repeatable read, postgres serializable] tag ROLLBACK
-- > [mysql serializable, mariadb=11.8 serializable] resumes b
-- @final [sqlite, model snapshot isolation, model serializable, postgres repeatable read, postgres serializable, mariadb=11.8 repeatable read] t (2, 2)
-- @final [model read committed, postgres read uncommitted, postgres read committed, mariadb read uncommitted, mariadb read committed, mariadb=10.11, mariadb serializable, mysql, mariadb=10.5] t (empty)
