-- @case 1
-- MDEV-26671: a's UPDATE goes over the row that b has inserted since a's snapshot, and a sees it from then on. MariaDB does so only
-- if the UPDATE changes a value, MySQL in any case.
-- @isolation repeatable read
/*init*/ CREATE TABLE t (k INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 0);
/*a*/ BEGIN;
/*a*/ SELECT k FROM t;
-- > rows (1)
/*b*/ INSERT INTO t SELECT 2, 7;
-- > affected 1
/*a*/ UPDATE t SET v = 7;
-- > [mariadb=10.11, postgres, mysql, mariadb=10.5] affected 1
-- > [mariadb=11.8] error serialization-failure
/*a*/ SELECT k FROM t;
-- > [mariadb=10.11, postgres, mariadb=10.5] rows (1)
-- > [mysql, mariadb=11.8] rows (1) (2)
/*a*/ COMMIT;
-- @final [mariadb=10.11, postgres, mysql, mariadb=10.5] t (1, 7) (2, 7)
-- @final [mariadb=11.8] t (1, 0) (2, 7)
