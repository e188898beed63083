-- @case 1
-- An UPDATE chooses its rows before it changes any. In MariaDB 10.11 this one sees its own changes: the subquery reads the column that is assigned,
-- and the row with key 2 is left out although a SELECT with the same condition finds it. Found by `hunt mariadb --oracle graph --profile txcheck`.
-- Not about transactions: one statement is enough.
/*init*/ CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT, d INT);
/*init*/ INSERT INTO t VALUES (0, 0, 0, 0), (1, 0, 0, 0), (2, 1, 0, 0);
/*a*/ SELECT a FROM t WHERE a NOT IN (SELECT q2.d FROM (SELECT r1.a AS d, SUM(r1.b) OVER (PARTITION BY r1.b ORDER BY r1.a) AS c4 FROM t AS r1 WHERE r1.a > 0) AS q2 JOIN (SELECT DISTINCT r4.a FROM t AS r3 JOIN t AS r4 ON r3.c = r4.a) AS q5 ON q2.c4 = q5.a);
-- > rows (0) (2)
/*a*/ UPDATE t SET c = 1 WHERE a NOT IN (SELECT q2.d FROM (SELECT r1.a AS d, SUM(r1.b) OVER (PARTITION BY r1.b ORDER BY r1.a) AS c4 FROM t AS r1 WHERE r1.a > 0) AS q2 JOIN (SELECT DISTINCT r4.a FROM t AS r3 JOIN t AS r4 ON r3.c = r4.a) AS q5 ON q2.c4 = q5.a);
-- > affected 2
-- > [mariadb] affected 1
