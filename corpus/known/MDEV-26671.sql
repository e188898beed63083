-- @case 1
-- MDEV-26671: a's UPDATE goes over the row that b has inserted since a's snapshot, and a sees it from then on. MariaDB does so only
-- if the UPDATE changes a value, MySQL in any case.
-- @isolation repeatable read
/*init*/ CREATE TABLE t (k INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 0);
/*a*/ BEGIN;
/*a*/ SELECT k FROM t;
/*b*/ INSERT INTO t SELECT 2, 7;
/*a*/ UPDATE t SET v = 7;
/*a*/ SELECT k FROM t;
/*a*/ COMMIT;
