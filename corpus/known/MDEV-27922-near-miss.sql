-- @case 1
-- Not MDEV-27922: after the deadlock b begins a transaction. That the ROLLBACK undoes its INSERT is right; an engine where it did not
-- would have another bug.
-- @isolation repeatable read
/*init*/ CREATE TABLE t (k INT PRIMARY KEY);
/*init*/ INSERT INTO t VALUES (3);
/*a*/ BEGIN;
/*a*/ UPDATE t SET k = 5;
/*b*/ BEGIN;
/*b*/ DELETE FROM t;
/*a*/ INSERT INTO t VALUES (2);
/*a*/ COMMIT;
/*b*/ BEGIN;
/*b*/ INSERT INTO t VALUES (1);
/*b*/ ROLLBACK;
