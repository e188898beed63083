-- @case 1
-- A row that does not match before a's change and matches after it: does b's UPDATE wait for a? DT², Listing 5. By design: engines
-- that look at the last committed version first (TiDB, and MySQL at READ COMMITTED) do not wait; those that lock every row
-- they look at do.
/*init*/ CREATE TABLE t (c1 INT, c2 INT);
/*init*/ INSERT INTO t VALUES (2, NULL);
/*a*/ BEGIN;
/*a*/ UPDATE t SET c1 = 1, c2 = 1;
/*b*/ BEGIN;
/*b*/ UPDATE t SET c1 = 3 WHERE c2 = 1;
/*a*/ COMMIT;
/*b*/ COMMIT;
