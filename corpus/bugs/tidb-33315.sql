-- @case 1
-- TiDB 33315: what b deleted must be gone for b itself. DT², Listing 1: TiDB at REPEATABLE READ still returned the old row
-- after its own DELETE had waited for a. A bug of TiDB. Others differ by design in what the DELETE hits: the row under
-- its new key, or nothing.
/*init*/ CREATE TABLE t (c1 INT PRIMARY KEY, c2 INT);
/*init*/ INSERT INTO t VALUES (1, 1);
/*a*/ BEGIN;
/*a*/ UPDATE t SET c1 = 2, c2 = 2;
/*b*/ BEGIN;
/*b*/ DELETE FROM t;
/*a*/ COMMIT;
/*b*/ SELECT c1, c2 FROM t;
/*b*/ COMMIT;
