-- @case 1
-- What is committed is there, all of it. With the bug one of the two rows is lost, because b is open beside it.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10);
/*b*/ BEGIN;
/*a*/ BEGIN;
/*a*/ UPDATE t SET v = 11 WHERE id = 1;
/*a*/ INSERT INTO t VALUES (2, 20);
/*a*/ COMMIT;
-- > ok
/*b*/ COMMIT;
-- @final t (1, 11) (2, 20)
