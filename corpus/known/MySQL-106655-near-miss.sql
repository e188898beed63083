-- @case 1
-- Not MySQL 106655: a goes on to write another table. An engine that chose b as the victim of a deadlock would have another bug.
-- @isolation serializable
/*init*/ CREATE TABLE t (k INT PRIMARY KEY, v INT);
/*init*/ CREATE TABLE u (k INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 1), (2, 2);
/*init*/ INSERT INTO u VALUES (1, 1), (2, 2);
/*a*/ BEGIN;
/*a*/ SELECT k FROM t;
-- > rows (1) (2)
/*b*/ BEGIN;
/*b*/ DELETE FROM t WHERE k = 1;
-- > [mariadb, mysql] blocked
-- > affected 1
/*a*/ DELETE FROM u;
-- > affected 2
/*a*/ COMMIT;
-- > [mariadb, mysql] resumes b
/*b*/ COMMIT;
-- @final t (2, 2)
-- @final u (empty)
