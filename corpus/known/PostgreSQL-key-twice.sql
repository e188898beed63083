-- @case 1
-- Unique keys are looked up in what is there now, queries read the snapshot. So a may insert the key that b has deleted, and then sees both
-- rows, the deleted one and its own, with one primary key. InnoDB shows the new row alone.
-- @isolation repeatable read
/*init*/ CREATE TABLE t (k INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 0);
/*a*/ BEGIN;
/*a*/ SELECT k FROM t;
-- > rows (1)
/*b*/ DELETE FROM t;
-- > affected 1
/*a*/ INSERT INTO t VALUES (1, 7);
-- > [mariadb=10.11, mariadb=10.5, mysql, postgres] affected 1
/*a*/ SELECT k, v FROM t;
-- > [postgres] rows (1, 0) (1, 7)
-- > [mariadb=10.11, mariadb=10.5, mysql] rows (1, 7)
/*a*/ COMMIT;
-- @final [mariadb=10.11, mariadb=10.5, mysql, postgres] t (1, 7)
