-- @case 1
-- Not MDEV-27922: after the deadlock b begins a transaction. That the ROLLBACK undoes its INSERT is right; an engine where it did not
-- would have another bug.
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
/*b*/ BEGIN;
-- > [postgres] error transaction-aborted
/*b*/ INSERT INTO t VALUES (1);
-- > [mariadb, mysql] affected 1
-- > [postgres] error transaction-aborted
/*b*/ ROLLBACK;
-- @final t (2) (5)
