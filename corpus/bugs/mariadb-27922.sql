-- @case 1
-- MDEV-27922: after b was chosen as the victim of a deadlock its transaction is over, and a later ROLLBACK must not undo its
-- INSERT. DT² (Cui et al.), Figure 1, rebuilt from its text. A bug, critical: MariaDB 10.5 stays in the transaction and loses
-- the 1; fixed in 10.11 and 11.8, which answer as MySQL does.
/*init*/ CREATE TABLE t (c1 INT PRIMARY KEY);
/*init*/ INSERT INTO t VALUES (3);
/*a*/ BEGIN;
/*a*/ UPDATE t SET c1 = 5;
-- > affected 1
/*b*/ BEGIN;
/*b*/ DELETE FROM t;
-- > blocked
-- > [sqlite, model read committed] affected 2
-- > [model snapshot isolation, model serializable, postgres repeatable read, postgres serializable] error serialization-failure
-- > [postgres read uncommitted, postgres read committed, mariadb read uncommitted, mariadb read committed, mysql read uncommitted, mysql read committed] affected 1
-- > [mariadb repeatable read, mariadb serializable, mysql repeatable read, mysql serializable] error deadlock
/*a*/ INSERT INTO t VALUES (2);
-- > affected 1
-- > [mariadb repeatable read, mariadb serializable, mysql repeatable read, mysql serializable] resumes b
/*a*/ COMMIT;
-- > [sqlite, model, postgres, mariadb read uncommitted, mariadb read committed, mysql read uncommitted, mysql read committed] resumes b
/*b*/ INSERT INTO t VALUES (1);
-- > [sqlite, model, postgres read uncommitted, postgres read committed, mariadb, mysql] affected 1
-- > [postgres repeatable read, postgres serializable] error transaction-aborted
/*b*/ ROLLBACK;
-- > [model snapshot isolation, model serializable] error other
-- @final [sqlite, model read committed, postgres, mariadb read uncommitted, mariadb read committed, mysql read uncommitted, mysql read committed, mariadb=10.5] t (2) (5)
-- @final [model snapshot isolation, model serializable, mariadb=10.11 repeatable read, mariadb=10.11 serializable, mysql repeatable read, mysql serializable, mariadb=11.8 repeatable read, mariadb=11.8 serializable] t (1) (2) (5)
