-- @case 1
-- MySQL 106655: a holds shared locks on what it read and asks for exclusive ones, while b waits for one of the rows. DT²,
-- Listing 2, at SERIALIZABLE: a bug of the MySQL of 2022, which reported a deadlock. Fixed in MySQL 9.7, where b simply waits; MariaDB
-- 10.5 and 10.11 choose b as the victim of a deadlock, and 11.8 refuses it when a has committed.
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
/*a*/ DELETE FROM t;
-- > [sqlite, model, postgres, mariadb read uncommitted, mariadb read committed, mariadb repeatable read, mysql read uncommitted, mysql read committed, mysql repeatable read] blocked
-- > [sqlite, model snapshot isolation, model serializable, postgres repeatable read, postgres serializable, mariadb=11.8 repeatable read] error serialization-failure
-- > [model read committed, postgres read uncommitted, postgres read committed, mariadb read uncommitted, mariadb read committed, mariadb=10.11 repeatable read, mysql read uncommitted, mysql read committed, mysql repeatable read, mariadb=10.5 repeatable read] affected 1
-- > [mariadb=10.11 serializable, mariadb=10.5 serializable] resumes b
-- > [mariadb serializable, mysql serializable] affected 2
/*a*/ COMMIT;
-- > [model snapshot isolation, model serializable] error other
-- > [postgres repeatable read, postgres serializable] tag ROLLBACK
-- > [mysql serializable, mariadb=11.8 serializable] resumes b
/*b*/ COMMIT;
-- > [sqlite, model, postgres, mariadb read uncommitted, mariadb read committed, mariadb repeatable read, mysql read uncommitted, mysql read committed, mysql repeatable read] resumes a
-- @final [sqlite, model snapshot isolation, model serializable, postgres repeatable read, postgres serializable, mariadb=11.8 repeatable read] t (2, 2)
-- @final [model read committed, postgres read uncommitted, postgres read committed, mariadb read uncommitted, mariadb read committed, mariadb=10.11, mariadb serializable, mysql, mariadb=10.5] t (empty)
