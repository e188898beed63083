-- @case 1
-- A savepoint undoes what came after it, and nothing else.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY);
/*a*/ BEGIN;
/*a*/ INSERT INTO t VALUES (1);
/*a*/ SAVEPOINT s;
/*a*/ INSERT INTO t VALUES (2);
/*a*/ ROLLBACK TO SAVEPOINT s;
/*a*/ INSERT INTO t VALUES (3);
/*a*/ SELECT id FROM t ORDER BY id;
-- > ordered (1) (3)
/*a*/ COMMIT;
-- @final t (1) (3)
