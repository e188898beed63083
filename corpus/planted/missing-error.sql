-- @case 1
-- A duplicate key is an error. (Where an error fails the whole transaction, nothing of it stays.)
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10), (2, 20), (3, 30);
/*a*/ BEGIN;
/*a*/ INSERT INTO t VALUES (4, 40);
-- > affected 1
/*a*/ INSERT INTO t VALUES (1, 11);
-- > error unique
/*a*/ COMMIT;
-- @final t (1, 10) (2, 20) (3, 30) (4, 40)
-- @final [postgres] t (1, 10) (2, 20) (3, 30)
