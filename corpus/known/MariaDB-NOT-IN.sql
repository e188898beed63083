-- @case 1
-- NOT IN a subquery that returns NULL is never true: the SELECT finds nothing, and MariaDB deletes a row.
/*init*/ CREATE TABLE t (k INT PRIMARY KEY, a INT, d DATE);
/*init*/ INSERT INTO t VALUES (0, 0, '2024-01-01'), (1, 1, NULL);
/*a*/ SELECT k FROM t WHERE NOT d IN (SELECT r.d FROM t AS r GROUP BY r.d HAVING MIN(r.a) > 0);
-- > rows (empty)
-- > [mariadb>=11] rows (0)
/*a*/ DELETE FROM t WHERE NOT d IN (SELECT r.d FROM t AS r GROUP BY r.d HAVING MIN(r.a) > 0);
-- > affected 0
-- > [mariadb] affected 1
-- > [mysql] error other
-- @final t (0, 0, '2024-01-01') (1, 1, NULL)
-- @final [mariadb] t (1, 1, NULL)
