-- @case 1
-- A row that does not match before a's change and matches after it: does b's UPDATE wait for a? DT², Listing 5. By design: engines
-- that look at the last committed version first (PostgreSQL, TiDB, InnoDB at READ COMMITTED before MariaDB 11.8) do not wait; those that
-- lock every row they look at do.
/*init*/ CREATE TABLE t (c1 INT, c2 INT);
/*init*/ INSERT INTO t VALUES (2, NULL);
/*a*/ BEGIN;
/*a*/ UPDATE t SET c1 = 1, c2 = 1;
-- > affected 1
/*b*/ BEGIN;
/*b*/ UPDATE t SET c1 = 3 WHERE c2 = 1;
-- > [sqlite, mariadb repeatable read, mariadb serializable, mysql repeatable read, mysql serializable, mariadb=11.8] blocked
-- > [sqlite, mariadb repeatable read, mariadb=10.11 serializable, mysql repeatable read, mysql serializable, mariadb=10.5 serializable, mariadb=11.8 read uncommitted, mariadb=11.8 read committed] affected 1
-- > [model, postgres, mariadb=10.11 read uncommitted, mariadb=10.11 read committed, mysql read uncommitted, mysql read committed, mariadb=10.5 read uncommitted, mariadb=10.5 read committed] affected 0
-- > [mariadb=11.8 serializable] error serialization-failure
/*a*/ COMMIT;
-- > [sqlite, mariadb repeatable read, mariadb serializable, mysql repeatable read, mysql serializable, mariadb=11.8] resumes b
/*b*/ COMMIT;
-- @final [sqlite, mariadb repeatable read, mariadb=10.11 serializable, mysql repeatable read, mysql serializable, mariadb=10.5 serializable, mariadb=11.8 read uncommitted, mariadb=11.8 read committed] t (3, 1)
-- @final [model, postgres, mariadb=10.11 read uncommitted, mariadb=10.11 read committed, mysql read uncommitted, mysql read committed, mariadb=10.5 read uncommitted, mariadb=10.5 read committed, mariadb=11.8 serializable] t (1, 1)
