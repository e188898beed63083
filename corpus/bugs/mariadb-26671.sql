-- @case 1
-- MDEV-26671: at REPEATABLE READ a sees a row that it must not see: the UPDATE changed what b had inserted since the snapshot. Found
-- by Troc. By design of InnoDB: a write looks at the latest rows, and what a transaction wrote it sees. So InnoDB's
-- REPEATABLE READ is not snapshot isolation; MariaDB 11.8 refuses the UPDATE (innodb_snapshot_isolation).
/*init*/ CREATE TABLE t (c1 INT, c2 INT);
/*init*/ INSERT INTO t VALUES (0, 0), (1, 1);
/*a*/ BEGIN;
/*a*/ SELECT c1, c2 FROM t;
/*b*/ BEGIN;
/*b*/ INSERT INTO t VALUES (10, 2);
/*b*/ COMMIT;
/*a*/ SELECT c1, c2 FROM t;
/*a*/ UPDATE t SET c1 = 10;
/*a*/ SELECT c1, c2 FROM t;
/*a*/ COMMIT;
