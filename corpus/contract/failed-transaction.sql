-- @case 1
-- A statement that fails inside a transaction undoes itself, or its whole transaction; what COMMIT then says is seen.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY);
/*init*/ INSERT INTO t VALUES (1);
/*a*/ BEGIN;
/*a*/ INSERT INTO t VALUES (2);
/*a*/ INSERT INTO t VALUES (1);
-- > error unique
/*a*/ INSERT INTO t VALUES (3);
-- > affected 1
-- > [postgres] error transaction-aborted
/*a*/ COMMIT;
-- > ok
-- > [postgres] tag ROLLBACK
-- @final t (1) (2) (3)
-- @final [postgres] t (1)
