-- @case 1
-- A transaction may delete from a table into which it has inserted, while another one waits for it.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10), (2, 20), (3, 30);
/*a*/ BEGIN;
/*a*/ INSERT INTO t VALUES (4, 40);
-- > affected 1
/*b*/ INSERT INTO t VALUES (4, 41);
-- > blocked
-- > affected 1
/*a*/ DELETE FROM t WHERE id = 4;
-- > affected 1
/*a*/ COMMIT;
-- > resumes b
-- @final t (1, 10) (2, 20) (3, 30) (4, 41)
