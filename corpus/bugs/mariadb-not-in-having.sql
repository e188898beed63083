-- @case 1
-- NOT IN a subquery that returns NULL is never true, so nothing is found and nothing deleted. In MariaDB 10.5 and 10.11 the SELECT finds
-- nothing and the DELETE deletes a row; in 11.8 both are wrong. Found by `hunt --oracle graph --profile txcheck` in MariaDB 10.5:
-- "b1 wrote t1(0), which its condition had not selected". Not about transactions: one statement is enough. Relatives: MDEV-40877.
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
