-- @case 1
-- When is the snapshot taken, at BEGIN or at the first read? DT², Listing 6. By design: TiDB takes it at BEGIN, so that a would
-- still see the row; MySQL, MariaDB and PostgreSQL take it at the first statement.
/*init*/ CREATE TABLE t (c1 INT, c2 INT);
/*init*/ INSERT INTO t VALUES (1, 1);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*b*/ DELETE FROM t WHERE c1 = 1;
-- > affected 1
/*b*/ COMMIT;
/*a*/ SELECT c1, c2 FROM t;
-- > rows (empty)
/*a*/ COMMIT;
-- @final t (empty)
