-- @case 1
-- Snapshot isolation with a hole: with innodb_snapshot_isolation (the default since MariaDB 11.6.2), whoever locks a row that has changed since
-- his snapshot gets an error. Where the rows were deleted, and are looked up by a secondary index, there is none: the DELETE of `a` sees
-- no rows, although the transaction has just counted two. Without the index it fails as it should. Found by
-- `hunt --oracle graph --profile txcheck` in MariaDB 11.8: "a3 did not write t(0), which its condition had selected".
/*init*/ CREATE TABLE t (a INT PRIMARY KEY);
/*init*/ INSERT INTO t VALUES (0);
/*init*/ CREATE TABLE u (a INT PRIMARY KEY, b INT);
/*init*/ CREATE INDEX i ON u (b);
/*init*/ INSERT INTO u VALUES (2, 0), (3, 0);
/*a*/ BEGIN;
/*a*/ SELECT COUNT(*) FROM u;
-- > rows (2)
/*b*/ DELETE FROM u;
/*a*/ DELETE FROM t WHERE (SELECT COUNT(*) FROM u) = 2;
-- > [mariadb>=11.6 repeatable read] affected 0
-- > [postgres repeatable read] affected 1
/*a*/ COMMIT;
