-- @case 1
-- Not PostgreSQL-key-twice: b's row is in another table. An engine that showed a two rows of t would have a bug.
-- @isolation repeatable read
/*init*/ CREATE TABLE t (k INT PRIMARY KEY, v INT);
/*init*/ CREATE TABLE u (k INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO u VALUES (1, 0);
/*a*/ BEGIN;
/*a*/ SELECT k FROM t;
-- > rows (empty)
/*b*/ DELETE FROM u;
-- > affected 1
/*a*/ INSERT INTO t VALUES (1, 7);
-- > affected 1
/*a*/ SELECT k, v FROM t;
-- > rows (1, 7)
/*a*/ COMMIT;
-- @final t (1, 7)
-- @final u (empty)
