-- @case 1
-- Not MDEV-26671: a's UPDATE goes over another table. An engine where a sees b's row would have a bug.
-- @isolation repeatable read
/*init*/ CREATE TABLE t (k INT PRIMARY KEY, v INT);
/*init*/ CREATE TABLE u (k INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 0);
/*init*/ INSERT INTO u VALUES (1, 0);
/*a*/ BEGIN;
/*a*/ SELECT k FROM t;
-- > rows (1)
/*b*/ INSERT INTO t SELECT 2, 7;
-- > affected 1
/*a*/ UPDATE u SET v = 7;
-- > affected 1
/*a*/ SELECT k FROM t;
-- > rows (1)
/*a*/ COMMIT;
-- @final t (1, 0) (2, 7)
-- @final u (1, 7)
