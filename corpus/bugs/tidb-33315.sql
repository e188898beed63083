-- @case 1
-- TiDB 33315: what b deleted must be gone for b itself. DT², Listing 1: TiDB at REPEATABLE READ still returned the old row
-- after its own DELETE had waited for a. A bug of TiDB. Others differ by design in what the DELETE hits: the row under
-- its new key, or nothing.
/*init*/ CREATE TABLE t (c1 INT PRIMARY KEY, c2 INT);
/*init*/ INSERT INTO t VALUES (1, 1);
/*a*/ BEGIN;
/*a*/ UPDATE t SET c1 = 2, c2 = 2;
-- > affected 1
/*b*/ BEGIN;
/*b*/ DELETE FROM t;
-- > blocked
-- > [sqlite, model read committed, postgres read uncommitted, postgres read committed, mariadb read uncommitted, mariadb read committed, mariadb repeatable read, mariadb=10.11, mysql, mariadb=10.5] affected 1
-- > [model snapshot isolation, model serializable, postgres repeatable read, postgres serializable, mariadb=11.8 serializable] error serialization-failure
/*a*/ COMMIT;
-- > resumes b
/*b*/ SELECT c1, c2 FROM t;
-- > [sqlite, model read committed, postgres read uncommitted, postgres read committed, mariadb read uncommitted, mariadb read committed, mariadb repeatable read, mariadb=10.11, mysql, mariadb=10.5] rows (empty)
-- > [model snapshot isolation, model serializable, mariadb=11.8 serializable] rows (2, 2)
-- > [postgres repeatable read, postgres serializable] error transaction-aborted
/*b*/ COMMIT;
-- > [model snapshot isolation, model serializable] error other
-- > [postgres repeatable read, postgres serializable] tag ROLLBACK
-- @final [sqlite, model read committed, postgres read uncommitted, postgres read committed, mariadb read uncommitted, mariadb read committed, mariadb repeatable read, mariadb=10.11, mysql, mariadb=10.5] t (empty)
-- @final [model snapshot isolation, model serializable, postgres repeatable read, postgres serializable, mariadb=11.8 serializable] t (2, 2)
