-- @case 1
-- MDEV-35124: the row that a updates has changed since a's snapshot. InnoDB lets it through, and the change is lost; MariaDB from
-- 11.6.2 on refuses it.
-- @isolation repeatable read
/*init*/ CREATE TABLE t (k INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 0);
/*a*/ BEGIN;
/*a*/ SELECT v FROM t;
-- > rows (0)
/*b*/ UPDATE t SET v = 5;
-- > affected 1
/*a*/ UPDATE t SET v = 1;
-- > [mariadb=10.11, mysql, mariadb=10.5] affected 1
-- > [postgres, mariadb=11.8] error serialization-failure
/*a*/ COMMIT;
-- > [postgres] tag ROLLBACK
-- @final [mariadb=10.11, mysql, mariadb=10.5] t (1, 1)
-- @final [postgres, mariadb=11.8] t (1, 5)
