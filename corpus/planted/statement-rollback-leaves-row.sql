-- @case 1
-- A statement that fails changes nothing: 1 is taken, so 2 is not inserted, either. With the bug 2 stays, because b is open
-- beside it.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY);
/*init*/ INSERT INTO t VALUES (1);
/*b*/ BEGIN;
/*a*/ BEGIN;
/*a*/ INSERT INTO t VALUES (2), (1);
-- > error unique
/*a*/ COMMIT;
-- > ok
/*b*/ COMMIT;
-- @final t (1)
