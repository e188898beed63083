-- @case 1
-- The same with IN: nobody is in doubt.
/*init*/ CREATE TABLE t (k INT PRIMARY KEY, a INT, d DATE);
/*init*/ INSERT INTO t VALUES (0, 0, '2024-01-01'), (1, 1, NULL);
/*a*/ SELECT k FROM t WHERE d IN (SELECT r.d FROM t AS r GROUP BY r.d HAVING MIN(r.a) > 0);
/*a*/ DELETE FROM t WHERE d IN (SELECT r.d FROM t AS r GROUP BY r.d HAVING MIN(r.a) > 0);
-- @final t (0, 0, '2024-01-01') (1, 1, NULL)
