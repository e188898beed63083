-- @case 1
-- MDEV-27922: b is the victim of a deadlock, so its transaction is over, and its INSERT is one of its own. MariaDB 10.5 puts it into a
-- transaction all the same, and the ROLLBACK undoes it.
-- @isolation repeatable read
/*init*/ CREATE TABLE t (k INT PRIMARY KEY);
/*init*/ INSERT INTO t VALUES (3);
/*a*/ BEGIN;
/*a*/ UPDATE t SET k = 5;
/*b*/ BEGIN;
/*b*/ DELETE FROM t;
/*a*/ INSERT INTO t VALUES (2);
/*a*/ COMMIT;
/*b*/ INSERT INTO t VALUES (1);
/*b*/ ROLLBACK;
